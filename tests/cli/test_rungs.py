"""Command-line tests of ``generate ladder``, ``release rungs``, ``gallery --rungs``, ``tasks``."""

import json

import pytest
from PIL import Image

from scbench.base.model import rung_of
from scbench.cli.releases import summary_sheet
from scbench.freezing.ladder_check import RungReport
from scbench.freezing.shortcuts import Shortcut
from scbench.freezing.trials import Capacity, Trials
from scbench.release.load import open_release
from scbench.release.sources import read_manifest

TABLE = """
seed = 5
count = 2
[maze_3d]
measure = "cells"
words = "Longer routes."
rungs = [
  { size = 6, jumps = 1, max_height_percent = 60, min_route_percent = 14, placed = true },
  { size = 8, jumps = 2, max_height_percent = 60, min_route_percent = 14, placed = true },
  { size = 7, jumps = 1, max_height_percent = 60, min_route_percent = 14, placed = true },
]
"""


@pytest.fixture
def custom_table(tmp_path):
    path = tmp_path / "custom.toml"
    path.write_text(TABLE, "utf-8")
    return path


def test_private_ladder_is_drawn_and_verified(inside, tmp_path):
    args = (
        "generate",
        "ladder,two_segments,enumerate_edges",
        "--private",
        "--count",
        1,
    )
    done = inside(*args, "--prompts-only", "--out", "secret", "--workers", 1)
    assert done.returncode == 0, done.stderr
    (public,) = (tmp_path / "secret-prompts").iterdir()
    lines = [json.loads(line) for line in public.read_text("utf-8").splitlines()]
    items = open_release(tmp_path / "secret").instances()
    assert {line["id"]: line["prompt"] for line in lines} == {
        name: item.prompt for name, item in items.items()
    }
    answers = [ref.answer for ref in open_release(tmp_path / "secret").references()]
    assert not any(answer in public.read_text("utf-8") for answer in answers)
    done_again = inside(*args, "--prompts-only", "--out", "secret")
    assert done_again.returncode == 2
    assert "secret-prompts, which exists" in done_again.stderr
    seed = next(
        line for line in done.stderr.splitlines() if "private seed: " in line
    ).split()[-1]
    names = list(open_release(tmp_path / "secret").instances())
    assert sorted({rung_of(name) for name in names}) == list(range(1, 9))
    assert all(
        seed not in path.read_text("utf-8")
        for path in (tmp_path / "secret").glob("*.*")
    )
    assert (
        inside("release", "verify", "secret", "--seed", seed, "--workers", 1).returncode
        == 0
    )
    again = inside(*args, "--out", "again", "--seed", seed, "--workers", 1)
    assert again.returncode == 0
    hashes = {read_manifest(tmp_path / name).rows_hash for name in ("secret", "again")}
    assert len(hashes) == 1


def test_custom_table_is_checked_and_drawn(inside, custom_table, tmp_path):
    done = inside("release", "rungs", custom_table)
    assert done.returncode == 1
    assert "maze_3d: cells" in done.stdout
    wrong = [line for line in done.stdout.splitlines() if "WRONG" in line]
    assert all("different items can be drawn" in line for line in wrong[:-2])
    assert any(line.startswith("WRONG, rung 3: the mean measure is") for line in wrong)
    assert (
        inside("release", "rungs", custom_table, "--rung", 2, "--draws", 0).returncode
        == 0
    )
    assert (
        inside(
            "generate", f"ladder,{custom_table}", "--out", "drawn", "--workers", 1
        ).returncode
        == 0
    )
    first = next(iter(open_release(tmp_path / "drawn").ladder().instances()))
    assert first.endswith("ladder-01-1")
    custom_table.write_text(TABLE.replace("size = 8", "sise = 8"), "utf-8")
    done = inside("generate", f"ladder,{custom_table}", "--out", "x")
    assert done.returncode == 2
    assert (
        "maze_3d, rung 2: maze_3d has no parameter 'sise'. Did you mean 'size'?"
        in done.stderr
    )


def test_contact_sheet_of_a_drawn_ladder(inside, custom_table, tmp_path):
    custom_table.write_text(
        TABLE.replace("count = 2", "count = 1").replace("size = 8", "size = 7"), "utf-8"
    )
    assert (
        inside(
            "generate", f"ladder,{custom_table}", "--out", "drawn", "--workers", 1
        ).returncode
        == 0
    )
    sheet = ("gallery", "sheet.svg", "--release", "drawn", "--rungs", "1,3")
    assert inside(*sheet).returncode == 0
    text = (tmp_path / "sheet.svg").read_text("utf-8")
    assert text.count("<image ") == 2
    assert "3D Maze: cells" in text
    assert inside("gallery", "sheet.png", *sheet[2:]).returncode == 0
    with Image.open(tmp_path / "sheet.png") as image:
        assert min(image.size) > 200
    for wrong, message in (
        (("x.pdf", "--rungs", "1", "--release", "drawn"), "give a .svg or .png file"),
        (
            ("x.svg", "--release", "drawn", "--rungs", "1;2"),
            "--rungs must be whole numbers",
        ),
        (("x.svg", "--release", "drawn", "--rungs", "7"), "none of the rungs 7"),
    ):
        done = inside("gallery", *wrong)
        assert done.returncode == 2
        assert message in done.stderr


def test_table_shows_floors_programs_and_failures_of_all_tasks():
    wrong = Shortcut("walls emptied", 0.8, 0.2, 1.0, 12)
    fine = Shortcut("empty answer", 0.0, 0.2, 1.0, 12)
    trials = Trials(203, 3, 0, Capacity(199 * 100, 0))
    reports = [
        RungReport(
            "maze_3d",
            3,
            {},
            floors=(0.1, 0.3),
            shortcuts=(fine, wrong),
            trials=trials,
            problems=("a problem",),
        ),
        RungReport("hyper_snake", 1, {}, shortcuts=(fine,)),
        RungReport("hyper_snake", 2, {}),
    ]
    assert summary_sheet(reports).rows == [
        ["maze_3d", "3", "0.20", "walls emptied", "0.80", "0.20", "203", "3", "WRONG"],
        ["hyper_snake", "1", "", "empty answer", "0.00", "0.20", "", "", ""],
        ["hyper_snake", "2", "", "", "", "", "", "", ""],
    ]
