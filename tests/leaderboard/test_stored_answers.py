"""Answers copied from the release are counted; a model's own correct answers are not."""

import json
from pathlib import Path

import pytest

from scbench.base.canonical import canonical_json
from scbench.catalog import available_tasks, get_task
from scbench.freezing.freeze import build_release
from scbench.leaderboard.board import make_board
from scbench.leaderboard.copied_answers import count_copies, telling_answers
from scbench.leaderboard.page import render_board
from scbench.release.load import find_release
from scbench.scoring.judge import judge

ONE_ANSWER = {task.id for task in available_tasks() if task.one_answer}

REWRITES = {
    "turned": lambda parts: parts[::-1],
    "shifted": lambda parts: parts[1:] + parts[:1],
    "exchanged": lambda parts: [parts[1], parts[0], *parts[2:]],
}


@pytest.fixture(scope="module")
def frozen():
    """The newest release, its references of the default config, and the marker of copies."""
    release = find_release()
    right = [
        (ref.id, ref.answer)
        for ref in release.references()
        if ref.kind == "reference"
        and ref.id.partition("/")[0] in release.manifest.default_tasks
    ]
    return release, right, telling_answers(release)


def another_answer(text: str) -> str:
    """Another answer of the same form: every list reversed, every text longer."""

    def turned(value):
        if isinstance(value, dict):
            return {key: turned(part) for key, part in value.items()}
        if isinstance(value, str):
            return f"{value} "
        return (
            [turned(part) for part in value[::-1]] if isinstance(value, list) else value
        )

    answer = turned(json.loads(text))
    return canonical_json(answer | {"told": "apart"})


def test_submission_of_references_is_marked_with_counts_by_task(frozen):
    _, right, telling = frozen
    overlap = count_copies(right, telling)
    assert overlap.marked
    assert (
        overlap.references["hamiltonian_loop"] == overlap.of["hamiltonian_loop"] == 10
    )
    assert overlap.references.keys() & ONE_ANSWER == set()
    assert overlap.count >= 100
    assert "hamiltonian_loop 10 of 10" in str(overlap)


def test_model_with_its_own_correct_answers_is_not_marked(frozen):
    _, right, telling = frozen
    # Items with one correct answer get the reference; items with many get another one.
    own = [
        (row, text if row.partition("/")[0] in ONE_ANSWER else another_answer(text))
        for row, text in right
    ]
    overlap = count_copies(own, telling)
    assert overlap.count == 0
    assert sum(overlap.of.values()) >= 100


def test_reference_is_recognized_in_any_spelling(frozen):
    _, right, telling = frozen

    def respelt(text: str) -> str:
        answer = json.loads(text, parse_int=float)  # 1.0 for 1
        return json.dumps({"why": "padding", **dict(reversed(answer.items()))})

    loops = [
        (row, respelt(text))
        for row, text in right
        if row.startswith("hamiltonian_loop")
    ]
    assert count_copies(loops, telling).references == {"hamiltonian_loop": 10}


def test_counter_references_are_counted_separately(frozen):
    release, _, telling = frozen
    wrong = [
        (ref.id, ref.answer)
        for ref in release.references()
        if ref.name == "one_missing" and ref.id.startswith("hamiltonian_loop/")
    ]
    overlap = count_copies(wrong, telling)
    assert overlap.references == {}
    assert overlap.counter_references == {"hamiltonian_loop": 10}
    assert overlap.count == 10


@pytest.mark.parametrize("task_id", sorted(ONE_ANSWER))
def test_answers_assumed_unique_differ_only_in_order(frozen, task_id):
    release, right, _ = frozen
    task = get_task(task_id)
    instances = release.instances([task_id])
    tried = 0
    for row, text in [pair for pair in right if pair[0].startswith(f"{task_id}/")][::5]:
        params = task.params_model.model_validate_json(instances[row].all_params)
        ((key, parts),) = json.loads(text).items()
        for rewrite in REWRITES.values():
            new = rewrite(parts) if len(parts) > 1 else parts
            (verdict,) = judge(task, params, {key: new}, 10**6)
            assert verdict.score < 1 or sorted(map(str, new)) == sorted(map(str, parts))
            tried += 1
        (verdict,) = judge(task, params, {key: parts[:-1]}, 10**6)
        assert verdict.score < 1
    assert tried


@pytest.fixture(scope="module")
def loops(tmp_path_factory):
    """A release of one task with many correct answers."""
    folder = tmp_path_factory.mktemp("loops") / "0.0.1"
    build_release("0.0.1", folder, [get_task("hamiltonian_loop")])
    return find_release(str(folder))


def test_marked_row_is_shown_with_a_warning_and_without_a_rank(
    loops, kit, tmp_path: Path
):
    lines = kit.answers(loops)
    own = [
        line | {"answer": {"steps": line["answer"]["steps"][::-1]}} for line in lines
    ]
    for name, rows in (("copy", lines), ("own", own)):
        about = kit.about.format(release="0.0.1").replace("Aurora", name)
        kit.submit(tmp_path / "submissions" / name, about, rows)
    done = kit.collected(tmp_path, loops)
    (warned,) = done.warnings["copy"]
    assert warned.code == "references"
    assert "own" not in done.warnings
    board = make_board(done)
    own_row, copy_row = board["boards"][0]["settings"]["no_tools"]
    assert (own_row["submission"], own_row["buckets"]["overall"]["rank"]) == ("own", 1)
    assert own_row["copied"] is None
    assert (copy_row["ranked"], copy_row["buckets"]["overall"]["rank"]) == (False, None)
    assert copy_row["copied"]["references"] == {"hamiltonian_loop": 10}
    assert (own_row["overlap"]["same"], copy_row["overlap"]) == (
        0,
        {"same": 10, "of": 10},
    )
    assert "10 answers equal stored answers of the release" in render_board(board)
    assert 'title="10 of 10">100%' in render_board(board)
