"""Command-line tests of ``scbench ladder`` and of ``compare`` on levels."""

import json
import re

import polars as pl
import pytest
from ladders import ladder_results
from rich.cells import cell_len

from scbench.cli.main import app

TASKS = ["two_segments", "csg_union"]
TABLES = [
    "tables two.parquet",
    "tables two.parquet --by task",
    "compare two.parquet --by task",
    "ladder two.parquet --by task",
    "ladder two.parquet --rungs",
    "ladder two.parquet --model boreal --private private.parquet --by task",
    "tasks",
    "tasks csg_union",
]
"""Commands that print a table, in addition to those of docs/analyse.md."""


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.parquet"
    ladder_results({"aurora": 3.0, "boreal": 5.0}, TASKS).write_parquet(path)
    return path


@pytest.fixture
def begun(tmp_path):
    """Results of a model that has answered some of the items."""
    ids = [f"{task}/ladder-{rung:02d}-1" for task in TASKS for rung in (3, 4, 5)]
    path = tmp_path / "begun.parquet"
    ladder_results({"aurora": 4.0}, TASKS, asked={"aurora": ids}).write_parquet(path)
    return path, ids


def test_levels_as_json_and_by_rung(inside, two):
    table = json.loads(inside("ladder", two, "--format", "json").stdout)
    assert {row["model"] for row in table} == {"aurora", "boreal"}
    assert all(row["low"] < row["level"] < row["high"] for row in table)
    rungs = inside("ladder", two, "--rungs", "--format", "csv").stdout.splitlines()
    assert len(rungs) == 1 + 2 * 2 * 8
    inside("ladder", two, "--by", "task", "--plot", "l.svg")
    assert "Two Segments" in (two.parent / "l.svg").read_text("utf-8")


def test_level_is_shown_next_to_the_normalized_score(inside, two):
    text = inside("tables", two).stdout
    assert re.search(r"normalized +95 % .*level +readable", text)
    assert len(re.findall(r" \d\.\d \(\d\.\d to \d\.\d\) +100\.0", text)) == 2
    assert "run `scbench ladder`" in text


@pytest.mark.parametrize("table", TABLES)
def test_tables_fit_a_terminal_and_shorten_no_figure(table, inside, two, terminal_of):
    twin = ladder_results({"boreal": 5.0}, TASKS, luck=2, prefix="c0ffee:")
    twin.with_columns(release_hash=pl.lit("p")).write_parquet("private.parquet")
    words = table.split()
    for width in (80, 160):
        text = terminal_of(
            width, lambda: app(words, prog_name="scbench", standalone_mode=False)
        )
        # Paths are not wrapped.
        lines = [line for line in text.split("\n") if not line.startswith("Picture:")]
        assert max(map(cell_len, lines)) <= width
        if "Hidden at this width" not in text:
            figures = re.findall(r"\S*\d\S*", inside(*words).stdout)
            assert figures
            # A long word may continue on the next line.
            compact_text = "".join(text.split())
            assert [figure for figure in figures if figure not in compact_text] == []


def test_levels_need_ladder_results(inside, paper_results, tmp_path):
    path = tmp_path / "paper.parquet"
    paper_results.write_parquet(path)
    for arguments in (
        ["ladder", path],
        ["compare", path, "--levels"],
        ["ladder", path, "--next", 3],
    ):
        done = inside(*arguments)
        assert done.returncode == 2
        assert "scbench-grade --tasks ladder" in done.stderr
    assert "Levels" not in inside("compare", path).stdout


def test_next_prints_only_ids(command, begun, tmp_path):
    path, ids = begun
    done = command("scbench", "ladder", path, "--next", 5)
    assert done.returncode == 0, done.stderr
    result = done.stdout.split()
    assert len(set(result)) == 5
    assert not set(result) & set(ids)
    assert {name.partition("/")[0] for name in result} == set(TASKS)
    assert done.stdout == command("scbench", "ladder", path, "--next", 5).stdout
    command("scbench", "ladder", path, "--next", 5, "--out", tmp_path / "ids.txt")
    assert (tmp_path / "ids.txt").read_text("utf-8") == done.stdout
