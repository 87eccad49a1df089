"""The expected work of a file is measured in time, not in bytes."""

import gzip
import json

import pytest

from scbench.catalog import all_tasks, get_task
from scbench.grading.expected_work import extra_work, work_to_come
from scbench.grading.options import answers_of_tasks

TASKS = [get_task("two_segments"), get_task("terrain_levelling")]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "predictions.jsonl"
    ids = ["terrain_levelling/00", *[f"two_segments/{i:02d}" for i in range(20)]]
    lines = [json.dumps({"id": row, "response": "x" * 200}) for row in ids]
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_line_of_a_heavy_task_is_most_of_the_work(file):
    size = file.stat().st_size
    work = work_to_come(str(file), TASKS)
    assert work == size + extra_work(TASKS)["terrain_levelling"]
    assert work > 100 * size
    assert work_to_come(str(file), TASKS[:1]) == size
    assert work_to_come(str(file), TASKS, 4) == work // 4


def test_every_heavy_task_states_its_duration():
    heavy = [task for task in all_tasks().values() if task.heavy and task.origin]
    assert heavy
    assert all(task.typical > 0 for task in heavy)


def test_work_of_compressed_or_piped_files_is_unknown(file):
    packed = file.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert work_to_come(str(packed), TASKS) is None
    assert work_to_come("-", TASKS) is None


def test_changed_file_is_counted_again(file):
    before = work_to_come(str(file), TASKS)
    with file.open("a", encoding="utf-8") as stream:
        stream.write('\n{"id": "terrain_levelling/01", "response": "x"}')
    assert work_to_come(str(file), TASKS) > before + 1_000_000


def test_lines_without_an_answer_count_only_their_bytes(file):
    answered = work_to_come(str(file), TASKS) - file.stat().st_size
    unanswered = [
        {"id": "terrain_levelling/01", "status": "not_run"},
        {"status": "blocked", "id": "terrain_levelling/02"},
        {"id": "csg_union/00", "status": "missing"},
    ]
    message = {"id": "two_segments/20", "response": '"status": "not_run"'}
    with file.open("a", encoding="utf-8") as stream:
        for line in (*unanswered, message):
            stream.write(f"\n{json.dumps(line)}")
    tasks = [*TASKS, get_task("csg_union")]
    assert work_to_come(str(file), tasks) - file.stat().st_size == answered
    counts = answers_of_tasks(str(file))
    assert counts == {"terrain_levelling": 1, "two_segments": 21, "csg_union": 0}


def test_line_longer_than_a_portion_is_one_answer(tmp_path):
    path = tmp_path / "long.jsonl"
    lines = [
        {"id": "two_segments/00", "response": "x" * 3 * 2**20},
        {"response": "x" * 3 * 2**20, "id": "two_segments/01"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert answers_of_tasks(str(path)) == {"two_segments": 2}
