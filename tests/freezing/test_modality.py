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
BLIND = {
    "enumerate_edges/01-picture", "shikaku_rectangles/00-picture", "shikaku_rectangles/04-picture",
    "shikaku_rectangles/04-picture-symbols", "shikaku_rectangles/ladder-08-2-picture",
}  # fmt: skip
"""What the model cannot tell from a picture; it reads all texts."""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of one file that answers text, rungs and pictures of two tasks."""
    folder, release = tmp_path_factory.mktemp("modality"), find_release("4.0.0")
    lines = []
    for config in (release, release.ladder(), release.pictures()):
        lines += [
            {"id": ref.id, "model": "m", "setting": "no_tools"}
            | (
                {"response": "No idea."}
                if ref.id in BLIND
                else {"answer": json.loads(ref.answer)}
            )
            for ref in config.references()
            if ref.kind == "reference" and ref.id.partition("/")[0] in TASKS
        ]
    path = folder / "lines.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    for name, config in (("text", ""), ("rungs", "ladder,"), ("seen", "pictures,")):
        options = ["--out", str(folder / name), "--workers", "1", "--partial"]
        ran = CliRunner().invoke(
            grade.app, [str(path), "--tasks", f"{config}{TASKS}", *options]
        )
        assert ran.exit_code == 0, ran.output
    return {name: folder / name for name in ("text", "rungs", "seen")}


def test_each_run_grades_one_config(results):
    assert {name: config_in(path) for name, path in results.items()} == {
        "text": "", "rungs": "ladder", "seen": "pictures",
    }  # fmt: skip
    pictured = pl.read_parquet(results["seen"] / "results.parquet")
    assert pictured["release"].unique().to_list() == ["4.0.0+pictures"]
    assert (pictured.height, pictured["score"].sum()) == (
        8 + 2 * 6 + 2 * 18,
        56 - len(BLIND),
    )


def test_gap_is_over_the_same_instances(results):
    table = modality_table([*results.values()], partial=True)
    gaps = {
        (r["style"], r["rung"], r["task"]): r
        for r in table.iter_rows(named=True)
        if r["task"]
    }
    assert {key: (row["n"], round(row["gap"], 6)) for key, row in gaps.items()} == {
        (DRAWN, None, "enumerate_edges"): (8, 0.125),
        (DRAWN, None, "shikaku_rectangles"): (6, round(2 / 6, 6)),
        (SYMBOLS, None, "shikaku_rectangles"): (6, round(1 / 6, 6)),
        (DRAWN, 1, "shikaku_rectangles"): (6, 0.0),
        (DRAWN, 4, "shikaku_rectangles"): (6, 0.0),
        (DRAWN, 8, "shikaku_rectangles"): (6, round(1 / 6, 6)),
        **{(SYMBOLS, rung, "shikaku_rectangles"): (6, 0.0) for rung in (1, 4, 8)},
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
    lacking = CliRunner().invoke(main.app, ["tables", paths[0], "--by", "modality"])
    assert lacking.exit_code == 2
    assert "none for the config pictures" in lacking.output
    mixed = CliRunner().invoke(main.app, ["tables", *pair])
    assert "full prompts and of pictures, which cannot share a table" in " ".join(
        mixed.output.split()
    )
