"""Every editor: a robot solves an item by mouse and keyboard and gets full marks."""

import json
from functools import cache

import pytest

pytest.importorskip("selenium")

import play_robot as hands
from play_commands import play_server, run_command
from selenium.webdriver.support.ui import WebDriverWait

from scbench.catalog import MANIFOLDS
from scbench.play.page_files import editor_names
from scbench.release.examples import examples
from scbench.release.load import find_release

# Seconds of a whole simulation on a busy machine.
PATIENCE = 300

# No regular polygon solves an item with pipes, and a robot finds no other loop.
DRAWN = sorted({*editor_names()} - {"pipe_loop_fitting"})


@cache
def right_answers(task):
    """Right answers to the items of rung 1, by id."""
    release = find_release()
    example = examples(release, [task])[task]
    return example.instance, json.loads(example.answer)


@cache
def text_tasks():
    manifest = find_release().manifest
    return [name for name, task in manifest.tasks.items() if task.bucket == MANIFOLDS]


def wait_for(browser, condition):
    WebDriverWait(browser, PATIENCE).until(condition)


def open_item(browser, address, task):
    instance, answer = right_answers(task)
    browser.get(f"{address}?item={instance.id}")
    wait_for(browser, lambda page: title_of(page) == instance.id)
    return instance, answer


def title_of(page):
    script = "return document.getElementById('item').value"
    return page.execute_script(script)


def score_of(browser):
    robot = hands.Robot(browser)
    robot.click(robot.all("#check")[0])
    wait_for(browser, lambda _: robot.all("#result .score"))
    return robot.all("#result .score")[0].text


@pytest.mark.parametrize("task", DRAWN)
def test_right_answer_can_be_drawn(browser, address, task):
    instance, answer = open_item(browser, address, task)
    getattr(hands, task)(hands.Robot(browser), json.loads(instance.params), answer)
    assert score_of(browser) == "Score 1"


def test_pipes_keep_their_lengths_when_a_joint_moves(browser, address):
    open_item(browser, address, "pipe_loop_fitting")
    hands.pipe_loop_fitting(hands.Robot(browser), {}, {})
    assert score_of(browser) == "Score 0"
    failed = [check.text for check in hands.Robot(browser).all("#checks .failed")]
    assert failed
    assert not any("length" in text for text in failed), failed


def test_grid_is_as_large_as_its_column_or_the_window_allows(browser, address):
    open_item(browser, address, "hamiltonian_loop")
    board = hands.Robot(browser).all("#editor svg.e-grid")[0]
    own_width = float(board.get_dom_attribute("viewBox").split()[2])
    script = """
        const column = document.getElementById("editor").clientWidth;
        return Math.min(column, 0.8 * window.innerHeight);
    """
    limit = browser.execute_script(script)
    assert board.rect["width"] == pytest.approx(min(limit, 2 * own_width), abs=1)


@pytest.mark.parametrize("task", ["arithmetic", "word_sorting", "movies"])
def test_answer_to_a_text_task_can_be_typed(browser, address, task):
    _, answer = open_item(browser, address, task)
    hands.text(hands.Robot(browser), {}, answer)
    assert score_of(browser) == "Score 1"


def test_wrong_move_is_marked_in_place(browser, address):
    instance, answer = open_item(browser, address, "shikaku_rectangles")
    robot = hands.Robot(browser)
    wrong = {"rectangles": answer["rectangles"][:-1]}
    hands.shikaku_rectangles(robot, json.loads(instance.params), wrong)
    assert score_of(browser) == "Score 0"
    assert robot.all("#checks .failed")
    # The picture follows the verdict.
    marks = "#picture svg .f-wrong, #picture svg [class*=wrong]"
    wait_for(browser, lambda _: robot.all(marks))
    assert browser.get_log("browser") == []


def test_human_session_becomes_a_human_line(browser, tmp_path):
    options = ("--tasks", "shikaku_rectangles", "--rungs", "1", "--per-rung", "2")
    people = []
    for player in ("p01", "p02"):
        out = tmp_path / f"{player}.jsonl"
        with play_server(
            tmp_path, "--measure", "--player", player, "--out", str(out), *options
        ) as address:
            answer_all(browser, address, wrong=player == "p02")
        people += out.read_text("utf-8").splitlines()
    assert len(people) == 4
    (tmp_path / "people.jsonl").write_text("\n".join(people) + "\n", "utf-8")
    run_command(
        "grade",
        "people.jsonl",
        "--tasks",
        "ladder",
        "--partial",
        "--out",
        "people",
        "--quiet",
        cwd=tmp_path,
    )
    for command in ("tables", "ladder"):
        output = run_command(command, "people", "--human", "people", cwd=tmp_path)
        (line,) = (
            line
            for line in output.splitlines()
            if line.startswith("constructive  ") and "/" not in line
        )
        # One player is right twice, the other once.
        assert line.split()[1:4] == ["2", "2.0", "75.0"]
    run_command(
        "report", "people", "--human", "people", "--items", "none", cwd=tmp_path
    )
    assert "<h3>People</h3>" in (tmp_path / "report.html").read_text("utf-8")
    (tmp_path / "submissions").mkdir()
    run_command(
        "leaderboard",
        "build",
        "submissions",
        "--human",
        "people",
        "--no-report",
        cwd=tmp_path,
    )
    board = (tmp_path / "leaderboard" / "index.html").read_text("utf-8")
    assert "Normalized scores and levels of people" in board


def answer_all(browser, address, *, wrong):
    """Answer both items of a session by mouse, the second one possibly wrong.

    The page is reloaded in the middle; the session continues with the same item.
    """
    browser.get(address)
    robot = hands.Robot(browser)
    for number in (1, 2):
        wait_for_item(browser, robot, number)
        if number == 2:
            browser.refresh()
            wait_for_item(browser, robot, number)
        instance = shown_item(browser)
        answer = ladder_answers()[instance.id]
        if wrong and number == 2:
            answer = {"rectangles": answer["rectangles"][:-1]}
        hands.shikaku_rectangles(robot, json.loads(instance.params), answer)
        assert not robot.all("#result .score")
        robot.click(robot.button("Submit and continue", "#session"))
    wait_for(browser, lambda _: "Thank you" in robot.all("#session")[0].text)


def wait_for_item(browser, robot, number):
    """Wait until the page of a session shows its first or second item."""
    heading = f"Item {number} of 2"
    wait_for(browser, lambda _: heading in robot.all("#session")[0].text)


def shown_item(browser):
    """The item of a session, by its prompt: the page does not print its id."""
    prompt = browser.find_element("id", "prompt").get_attribute("textContent")
    items = find_release().ladder().instances(["shikaku_rectangles"]).values()
    (instance,) = (item for item in items if item.prompt == prompt)
    return instance


@cache
def ladder_answers():
    references = find_release().ladder().references()
    return {
        ref.id: json.loads(ref.answer) for ref in references if ref.kind == "reference"
    }
