"""Every editor: a robot solves an item by mouse and keys and gets full marks."""

import json
from functools import cache

import pytest

pytest.importorskip("selenium")

import play_robot as hands
from selenium.webdriver.support.ui import WebDriverWait

from scbench.catalog import MANIFOLDS
from scbench.play.page_files import editor_names
from scbench.release.examples import examples
from scbench.release.load import find_release

# Seconds of a whole simulation on a busy machine.
PATIENCE = 300


@cache
def right_answers(task):
    """Right answers to the items of rung 1, by id."""
    release = find_release()
    if task == "pipe_loop_fitting":
        ladder = release.ladder()
        # The regular hexagon in the middle of the room solves it.
        row = ladder.instances([task])["pipe_loop_fitting/ladder-01-2"]
        return row, {}
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


@pytest.mark.parametrize("task", editor_names())
def test_a_right_answer_can_be_drawn(browser, address, task):
    instance, answer = open_item(browser, address, task)
    getattr(hands, task)(hands.Robot(browser), json.loads(instance.params), answer)
    assert score_of(browser) == "Score 1"


@pytest.mark.parametrize("task", ["arithmetic", "word_sorting", "movies"])
def test_the_answer_to_a_text_task_can_be_typed(browser, address, task):
    _, answer = open_item(browser, address, task)
    hands.text(hands.Robot(browser), {}, answer)
    assert score_of(browser) == "Score 1"


def test_a_wrong_move_is_shown_where_it_is_wrong(browser, address):
    instance, answer = open_item(browser, address, "shikaku_rectangles")
    robot = hands.Robot(browser)
    wrong = {"rectangles": answer["rectangles"][:-1]}
    hands.shikaku_rectangles(robot, json.loads(instance.params), wrong)
    assert score_of(browser) == "Score 0"
    assert robot.all("#checks .failed")
    assert robot.all("#picture svg .f-wrong, #picture svg [class*=wrong]")
    assert browser.get_log("browser") == []
