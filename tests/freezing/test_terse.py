"""The config terse: the paper's information on the same instances, and results of its own."""

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from scbench.analysis.compare import compare_runs
from scbench.analysis.results import ON_TERSE, read_results
from scbench.base.model import terse_id
from scbench.catalog import paper_tasks
from scbench.cli import grade, main
from scbench.freezing.example import example_predictions
from scbench.freezing.frozen_task import fixed_list
from scbench.freezing.verify import verify_release
from scbench.grading.rows.index import KnownIds, LineKind
from scbench.release.load import find_release, open_release
from scbench.release.manifest import terse_file

SPATIAL = paper_tasks()


@pytest.mark.parametrize("task", SPATIAL, ids=str)
def test_terse_differs_in_prompt_and_id_alone(task):
    part = fixed_list(task)
    assert len(part.terse) == len(part.instances) > 0
    for full, terse in zip(part.instances, part.terse, strict=True):
        one, other = full.model_dump(), terse.model_dump()
        differing = {name for name in one if one[name] != other[name]}
        assert differing == {"id", "prompt", "content_hash"}
        assert terse.id == f"{full.id}-terse"
        assert terse.with_terse(terse.prompt).content_hash != terse.content_hash, "of another id"


def test_terse_is_found_as_a_release(sound):
    terse = find_release(f"{sound}+terse")
    assert terse.version == "0.0.1+terse"
    assert {*terse.instances()} == {*map(terse_id, open_release(sound).instances())}
    assert {ref.id for ref in terse.references()} == {*terse.instances()}
    assert not terse.manifest.is_generated
    assert terse.choose(["terse", "enumerate_edges"]) == (terse, ["enumerate_edges"])


def test_verify_makes_terse_rows_anew(copy, forge):
    path = copy / terse_file("enumerate_edges")
    table = pl.read_parquet(path)
    table.with_columns(prompt=pl.col("prompt") + " Good luck!").write_parquet(path)
    forge(copy)
    assert any(terse_file("enumerate_edges") in found for found in verify_release(copy))


def test_ids_of_the_other_prompts_are_left_alone():
    full = KnownIds(["csg_union/03"], ["csg_union"], ["csg_union"])
    terse = KnownIds(["csg_union/03-terse"], ["csg_union"], ["csg_union"])
    assert full.place("csg_union/03") == terse.place("csg_union/03-terse") == 0
    assert full.place("csg_union/03-terse") == LineKind.NOT_CHOSEN
    assert terse.place("csg_union/03") == LineKind.NOT_CHOSEN
    assert full.place("csg_union/04-terse") == full.place("csg_union/03-terse-terse")
    assert full.place("csg_union/04-terse") == LineKind.UNKNOWN


@pytest.fixture(scope="module")
def results(sound, tmp_path_factory):
    """Results of one file that answers both prompts; the model slips on three terse items."""
    folder = tmp_path_factory.mktemp("terse")
    release = open_release(sound)
    full = [line for line in example_predictions(release) if '"oracle"' in line]
    terse = [line for line in example_predictions(release.terse()) if '"oracle"' in line]
    slips = {"enumerate_edges/01-terse", "enumerate_edges/04-terse", "shikaku_rectangles/00-terse"}
    lines = [
        json.dumps({"id": json.loads(line)["id"], "model": "oracle", "setting": "no_tools",
                    "response": "I cannot tell."}) if json.loads(line)["id"] in slips else line
        for line in [*full, *terse]
    ]  # fmt: skip
    path = folder / "both.jsonl"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    for name, tasks in (("full", []), ("terse", ["--tasks", "terse"])):
        ran = CliRunner().invoke(
            grade.app,
            [str(path), "--release", str(sound), "--out", str(folder / name), "--workers", "1",
             *tasks],
        )  # fmt: skip
        assert ran.exit_code == 0, ran.output
    return folder


def test_each_run_grades_one_kind_of_prompt(results):
    full, terse = (
        pl.read_parquet(results / name / "results.parquet") for name in ("full", "terse")
    )
    assert full.height == terse.height > 0
    assert not full["id"].str.ends_with("-terse").any()
    assert terse["id"].str.ends_with("-terse").all()
    assert terse["release"].unique().to_list() == ["0.0.1+terse"]
    assert full["score"].sum() - terse["score"].sum() == 3
    same = ["task", "bucket", "subtask", "grader_version"]
    assert full.select(same).equals(terse.select(same))


def test_compare_says_what_a_full_specification_is_worth(results):
    rows = read_results([results / "terse", results / "full"], tell_apart=True, both_prompts=True)
    table = compare_runs(rows, draws=500)
    assert table["first"].unique().to_list() == [f"oracle{ON_TERSE} no_tools"]
    worth = {row["task"]: row for row in table.iter_rows(named=True) if row["task"]}
    edges = worth["enumerate_edges"]
    assert edges["n"] == 8
    assert edges["difference"] == pytest.approx(2 / 8)
    assert edges["low"] <= 2 / 8 <= edges["high"]
    assert worth["shikaku_rectangles"]["difference"] == pytest.approx(1 / 6)
    shown = CliRunner().invoke(main.app, ["compare", str(results / "full"), str(results / "terse")])
    assert "what a full specification is worth" in shown.output
