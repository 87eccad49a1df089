"""Text against pictures of the same instances: grading, pairing, the gap, and the report."""

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from scbench.analysis.modality import modality_sheets, modality_table
from scbench.analysis.results import config_in
from scbench.base.model import DRAWN, SYMBOLS
from scbench.cli import grade, main
from scbench.release.load import find_release

TASKS = "shikaku_rectangles,enumerate_edges"
# The model cannot read these pictures; it reads all texts.
BLIND = {
    "enumerate_edges/01-picture", "shikaku_rectangles/00-picture", "shikaku_rectangles/04-picture",
    "shikaku_rectangles/04-picture-symbols", "shikaku_rectangles/ladder-08-2-picture",
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of one file that answers text, rungs and pictures of two tasks."""
    folder, release = tmp_path_factory.mktemp("modality"), find_release("4.0.0")
    lines = []
    for config in (release, release.ladder(), release.pictures()):
        for ref in config.references():
            if ref.kind != "reference" or ref.id.partition("/")[0] not in TASKS:
                continue
            line = {"id": ref.id, "model": "m", "setting": "no_tools"}
            if ref.id in BLIND:
                line["response"] = "No idea."
            else:
                line["answer"] = json.loads(ref.answer)
            lines.append(line)
    path = folder / "lines.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    folders = {}
    for name, config in (("text", ""), ("rungs", "ladder,"), ("seen", "pictures,")):
        folders[name] = folder / name
        words = [path, "--tasks", f"{config}{TASKS}", "--out", folders[name]]
        words += ["--workers", "1", "--partial"]
        done = CliRunner().invoke(grade.app, list(map(str, words)))
        assert done.exit_code == 0, done.output
    return folders


def test_each_run_grades_one_config(results):
    assert {name: config_in(path) for name, path in results.items()} == {
        "text": "", "rungs": "ladder", "seen": "pictures",
    }  # fmt: skip
    pictured = pl.read_parquet(results["seen"] / "results.parquet")
    assert pictured["release"].unique().to_list() == ["4.0.0+pictures"]
    # 8 items of enumerate_edges; of shikaku_rectangles 6 items and 18 on rungs, in two styles.
    assert pictured.height == 8 + 2 * 6 + 2 * 18
    assert pictured["score"].sum() == pictured.height - len(BLIND)


def test_gap_is_over_the_same_instances(results):
    table = modality_table([*results.values()], partial=True)
    gaps = {}
    for row in table.filter(pl.col("task") != "").iter_rows(named=True):
        gaps[row["style"], row["rung"], row["task"]] = row
    assert {key: (row["n"], round(row["gap"], 6)) for key, row in gaps.items()} == {
        (DRAWN, None, "enumerate_edges"): (8, 0.125),
        (DRAWN, None, "shikaku_rectangles"): (6, round(2 / 6, 6)),
        (SYMBOLS, None, "shikaku_rectangles"): (6, round(1 / 6, 6)),
        (DRAWN, 1, "shikaku_rectangles"): (6, 0.0),
        (DRAWN, 4, "shikaku_rectangles"): (6, 0.0),
        (DRAWN, 8, "shikaku_rectangles"): (6, round(1 / 6, 6)),
        (SYMBOLS, 1, "shikaku_rectangles"): (6, 0.0),
        (SYMBOLS, 4, "shikaku_rectangles"): (6, 0.0),
        (SYMBOLS, 8, "shikaku_rectangles"): (6, 0.0),
    }
    row = gaps[DRAWN, None, "shikaku_rectangles"]
    assert row["low"] <= row["gap"] <= row["high"]
    assert row["text"] - row["picture"] == pytest.approx(row["gap"])
    overall = table.filter(pl.col("bucket") == "overall", style=DRAWN)
    assert overall.filter(pl.col("rung").is_null())["n"].to_list() == [14]
    titles = [sheet.title for sheet in modality_sheets(table)]
    assert "m no_tools: text or pictures (drawn), rung 8" in titles


def test_commands_print_the_gap(results):
    paths = [str(path) for path in results.values()]
    shown = CliRunner().invoke(main.app, ["tables", *paths, "--by", "modality"])
    assert (shown.exit_code, "rung 8" in shown.output) == (0, True), shown.output
    pair = [str(results["text"]), str(results["seen"])]
    compared = CliRunner().invoke(main.app, ["compare", *pair])
    assert "effect of text instead of pictures" in compared.output
    text_only = CliRunner().invoke(main.app, ["tables", paths[0], "--by", "modality"])
    assert text_only.exit_code == 2
    assert "none for the config pictures" in text_only.output
    mixed = CliRunner().invoke(main.app, ["tables", *pair])
    unwrapped = " ".join(mixed.output.split())
    assert "full prompts and pictures, which cannot share a table" in unwrapped
