"""Building: the same bytes each time, all or nothing, and only with suitable graders."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
from commands import python
from folders import contents

from scbench.base.canonical import canonical_json
from scbench.base.errors import ReleaseError
from scbench.base.model import Check, Verdict
from scbench.builders.enumerate_edges import TaskBuilder
from scbench.builders.shared.builder import PaperItem
from scbench.catalog import Task, get_task
from scbench.freezing.floors import floor_of
from scbench.freezing.freeze import build_release, own_tasks
from scbench.freezing.frozen_task import freeze_task
from scbench.release.load import find_release

BUILD = """
import os, sys
os.umask(int(sys.argv[2], 8))
from pathlib import Path
from scbench.catalog import get_task
from scbench.freezing.freeze import build_release
build_release("0.0.1", Path(sys.argv[1]), [get_task(task) for task in sys.argv[3:]])
"""


def altered(task_id: str, **members: object) -> Task:
    """A task of the catalogue with some members replaced."""
    base = get_task(task_id)
    values = {field.name: getattr(base, field.name) for field in fields(base)}
    kind = type("Altered", (Task,), {"__slots__": (), **members})
    return kind(**values)


def always(score: float) -> property:
    return property(
        lambda _: lambda *_: Verdict(score, (Check("x", None, "Not looked at."),))
    )


def test_building_twice_gives_the_same_bytes(sound, tmp_path):
    tasks = [get_task("enumerate_edges"), get_task("shikaku_rectangles")]
    build_release("0.0.1", tmp_path / "again", tasks)
    assert contents(tmp_path / "again") == contents(sound)


@pytest.mark.parametrize(
    ("seed", "umask", "folder"), [("1", "022", "a"), ("4242", "077", "deep/er/b")]
)
def test_other_processes_build_the_same_bytes(sound, tmp_path, seed, umask, folder):
    cwd = tmp_path / "elsewhere"
    cwd.mkdir()
    tasks = ("enumerate_edges", "shikaku_rectangles")
    variables = {"PYTHONHASHSEED": seed, "TZ": f"UTC+{seed[0]}", "LC_ALL": "C"}
    python(BUILD, f"../{folder}", umask, *tasks, cwd=cwd, **variables)
    assert contents(tmp_path / folder) == contents(sound)


def raising(_: Task):
    def grade(*_: object) -> Verdict:
        raise ZeroDivisionError("no luck\nsecond line")

    return grade


class Silent(TaskBuilder):
    def counter_references(self, _):
        return {}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"grade": always(1.0)},
            r"enumerate_edges/00: \w+ scores 1.0, but a counter-reference must",
        ),
        (
            {"grade": always(0.0)},
            r"enumerate_edges/00: reference scores 0.0, but a reference must",
        ),
        (
            {"grade": always(0.5)},
            r"enumerate_edges/00: reference scores 0.5, but a reference must",
        ),
        (
            {"grade": property(raising)},
            "00: the grader failed on reference: ZeroDivisionError",
        ),
        (
            {"builder": property(lambda _: Silent)},
            "00: the builder makes no counter-references",
        ),
        (
            {"card_text": property(lambda _: Path("no/such/text").read_text())},
            "needs a text",
        ),
    ],
    ids=[
        "accepts all",
        "rejects all",
        "half",
        "raises",
        "no counter-references",
        "no card text",
    ],
)
def test_unsuitable_task_leaves_nothing_behind(tmp_path, monkeypatch, members, message):
    task = altered("enumerate_edges", **members)
    monkeypatch.setattr("scbench.freezing.card.all_tasks", lambda: {task.id: task})
    with pytest.raises(ReleaseError, match=message):
        build_release("0.0.1", tmp_path / "out", [task])
    assert list(tmp_path.iterdir()) == []


def test_interrupted_build_leaves_nothing_behind(tmp_path):
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_release(
            "0.0.1", tmp_path / "out", [get_task("enumerate_edges")], on_task=interrupt
        )
    assert list(tmp_path.iterdir()) == []


def make_file(path: Path) -> None:
    path.write_text("mine")


def make_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("occupy", [Path.mkdir, make_file, make_link])
def test_existing_files_are_never_built_over(tmp_path, occupy):
    occupy(tmp_path / "out")
    with pytest.raises(ReleaseError, match="out exists, and releases are never edited"):
        build_release("0.0.1", tmp_path / "out", [get_task("enumerate_edges")])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("version", ["1.0", "../1.0.0"])
def test_release_needs_a_version(tmp_path, version):
    message = r"is not a version; use a form such as 2\.0\.0 or 2\.0\.0rc1$"
    with pytest.raises(ReleaseError, match=message):
        build_release(version, tmp_path / "out", [get_task("enumerate_edges")])
    assert list(tmp_path.iterdir()) == []


def test_plugin_tasks_are_not_in_our_releases():
    assert all(task.package == "scbench" for task in own_tasks())
    assert {task.id for task in own_tasks()} >= set(
        find_release().manifest.default_tasks
    )


def test_only_tasks_with_a_list_are_frozen_unless_instances_are_given(tmp_path):
    assert all(task.builder().paper() for task in own_tasks())
    with pytest.raises(ReleaseError, match="arithmetic has no fixed list of instances"):
        build_release("0.0.1", tmp_path / "out", [get_task("arithmetic")])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("task_id", ["boolean", "shikaku_rectangles"])
def test_drawn_instances_are_frozen_with_their_point_and_floor(task_id):
    task = get_task(task_id)
    builder = task.builder()
    cases = [builder.case(builder.space(), seed) for seed in range(3)]
    items = [
        PaperItem(
            task.params_model(**case.instance),
            "medium",
            case.seed,
            builder.point_of(case),
        )
        for case in cases
    ]
    part = freeze_task(task, items)
    for row, case in zip(part.instances, cases, strict=True):
        assert (row.prompt, row.seed, row.bucket) == (
            case.input,
            case.seed,
            task.bucket,
        )
        point = row.whole_point
        assert canonical_json(point) == canonical_json(builder.point_of(case))
        assert json.loads(row.point).keys() == point.keys() - builder.unprinted()
        parameters = {
            name: point[name] for name in builder.space.model_fields.keys() & point
        }
        assert builder.case(builder.space(**parameters), row.seed) == case
        assert point.keys() - parameters.keys() == type(case).model_fields.keys() - {
            "input",
            "target",
            "params",
            "seed",
            "instance",
        }
    right = [ref for ref in part.references if ref.kind == "reference"]
    assert [ref.score for ref in right] == [1.0] * 3
    floors = [floor_of(task, item.params) for item in items]
    assert [(ref.floor, ref.floor_strategy) for ref in right] == floors
    assert [ref.unprinted for ref in right] == [row.unprinted for row in part.instances]
