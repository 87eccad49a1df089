"""Changes between two releases, instance by instance."""

import shutil
from pathlib import Path

import pytest
from commands import run
from folders import rewrite

from scbench.catalog import get_task
from scbench.freezing.freeze import build_release
from scbench.release.diff import diff_releases, reasons_of
from scbench.release.load import open_release

DATA = "data/enumerate_edges.parquet"


def diff(old: Path, new: Path) -> list[str]:
    return list(diff_releases(open_release(old), open_release(new)).lines())


def test_tasks_added_and_removed_are_listed_by_instance(sound, tmp_path):
    build_release("0.0.2", tmp_path / "one", [get_task("enumerate_edges")])
    ids = [f"shikaku_rectangles/{i:02d}" for i in range(6)]
    assert diff(tmp_path / "one", sound) == [f"added {name}" for name in ids]
    assert diff(sound, tmp_path / "one") == [f"removed {name}" for name in ids]


def test_changed_rows_are_listed_with_their_columns(sound, copy, forge):
    changes = {2: {"prompt": "Other."}, 5: {"difficulty": "?", "seed": "7"}}
    rewrite(
        copy / DATA,
        lambda rows: [row | changes.get(i, {}) for i, row in enumerate(rows)],
    )
    forge(copy)
    assert diff(sound, copy) == [
        "changed enumerate_edges/02: prompt",
        "changed enumerate_edges/05: difficulty, seed",
    ]


def test_withdrawn_instances_and_other_graders_are_listed(sound, copy, forge):
    forge(
        copy,
        lambda record: (
            record.update(withdrawn={"enumerate_edges/01": "a side is missing"}),
            record["tasks"]["shikaku_rectangles"].update(grader_version=9),
        ),
    )
    old = open_release(sound).manifest.tasks["shikaku_rectangles"].grader_version
    assert diff(sound, copy) == [
        "withdrawn enumerate_edges/01: a side is missing",
        f"grader shikaku_rectangles: v{old} to v9",
    ]
    assert diff(copy, sound)[0] == "reinstated enumerate_edges/01"


@pytest.mark.parametrize("other", ["nowhere", "sound"])
def test_command_prints_differences(sound, tmp_path, other):
    name = sound if other == "sound" else tmp_path / other
    done = run("scbench", "release", "diff", sound, name)
    if other == "sound":
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == "0.0.1 to 0.0.1: 0 differences\n"
    else:
        assert done.returncode == 2
        assert "no release" in done.stderr


def test_ladder_and_terse_prompts_are_compared(whole, tmp_path, forge):
    copy = Path(shutil.copytree(whole, tmp_path / "copy"))
    for folder in ("ladder", "terse"):
        rewrite(
            copy / folder / "enumerate_edges.parquet",
            lambda rows: [rows[0] | {"prompt": "Other."}, *rows[1:]],
        )
    forge(copy)
    assert diff(whole, copy) == [
        "changed enumerate_edges/00: terse prompt",
        "changed enumerate_edges/ladder-01-1: prompt",
    ]


def test_counts_come_with_the_reason_of_a_task(sound, copy, forge):
    rewrite(
        copy / DATA,
        lambda rows: [rows[0] | {"prompt": "Other."}, *rows[1:]],
    )
    forge(copy, lambda record: record.update(version="4.0.0"))
    changes = diff_releases(open_release(sound), open_release(copy))
    reason = changes.reasons["enumerate_edges"]
    assert list(changes.by_task()) == [f"enumerate_edges: 1 changed ({reason})"]


def test_reasons_name_tasks_of_the_release(whole):
    tasks = open_release(whole).manifest.tasks
    reasons = reasons_of(open_release(whole))
    assert reasons
    assert reasons.keys() - {"all"} <= tasks.keys()
