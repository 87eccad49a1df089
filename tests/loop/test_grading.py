"""Traces in a predictions file, graded by a run."""

import json

import polars as pl
import pytest

from scbench.grading.options import Options
from scbench.grading.run import grade_file
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.release.load import find_release

LIGHT, HEAVY = "tetrahedra_shadow_projection", "fluid_simulation"


@pytest.fixture(scope="module")
def report(all_stored, tmp_path_factory):
    """A run over sound and forged traces of a light and a heavy task, and one plain answer."""
    lines = []
    for name in (LIGHT, HEAVY):
        stored = all_stored[name]
        environment, _ = stored.played(["Hm.", stored.wrong[1], stored.right])
        line = environment.prediction(model="m")
        forged = json.loads(json.dumps(line)) | {"model": "forger"}
        forged["turns"][1]["observation"] += " "
        lines += [line, forged]
    right = all_stored[LIGHT].right
    environment, _ = all_stored[LIGHT].played([right], setting="probe")
    row_id = lines[0]["id"]
    lines += [
        environment.prediction(model="m"),
        {"id": row_id, "model": "m", "answer": json.loads(right)},
        lines[0] | {"model": "junk", "turns": [5]},
    ]
    return graded(tmp_path_factory.mktemp("loop"), lines, [LIGHT, HEAVY])


def graded(folder, lines, tasks):
    path = folder / "predictions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    limits = WorkerLimits(1, None, 0)
    options = Options(
        str(path), find_release(), folder / "out", limits, tasks=tasks, partial=True
    )
    return grade_file(options)


def rows_of(report, **facts):
    rows = report.results.filter(pl.col("line").is_not_null())
    return rows.filter(
        *(pl.col(name).eq_missing(fact) for name, fact in facts.items())
    ).to_dicts()


@pytest.mark.parametrize("name", [LIGHT, HEAVY])
def test_trace_has_the_scores_of_its_turns(report, all_stored, name):
    (row,) = rows_of(report, task=name, model="m", setting="retry")
    stored = all_stored[name]
    _, steps = stored.played(["Hm.", stored.wrong[1], stored.right])
    assert row["turn_scores"] == [step.info["score"] for step in steps]
    assert row["turn_scores"][0] is None
    assert (row["score"], row["best_score"], row["queries"]) == (1, 1, None)
    assert json.loads(row["loop"])["attempts"] == 3
    assert row["status"] == "answered"


def test_runs_report_the_number_of_truncated_trials(all_stored, tmp_path):
    stored = all_stored[LIGHT]
    lines = []
    for sample, status in enumerate(("truncated", "refused", "truncated")):
        environment, _ = stored.played([stored.wrong[1]])
        line = environment.prediction(model="m", sample=sample, status=status)
        lines.append(line)
    environment, _ = stored.played([stored.right])
    lines.append(environment.prediction(model="m", sample=3))
    report = graded(tmp_path, lines, [LIGHT])
    (run,) = [run for run in report.summary["runs"] if run["setting"] == "retry"]
    assert run["cut"] == {"refused": 1, "truncated": 2}
    (remark,) = [text for text in report.remarks if "stopped without an answer" in text]
    assert remark.endswith("count as 0 (1 refused, 2 truncated).")


def test_forged_traces_are_problems_named_by_line_and_turn(report):
    forged = [problem for problem in report.problems if problem.code == "forged_trace"]
    assert [problem.line for problem in forged] == [2, 4]
    assert all("turn 2: " in str(problem) for problem in forged)
    rows = rows_of(report, model="forger")
    assert [(row["status"], row["score"]) for row in rows] == [("not_run", None)] * 2
    assert report.exit_code == 1


def test_junk_is_bad_input_and_settings_are_separate(report):
    (bad,) = [one for one in report.problems if one.code == "bad_prediction"]
    assert bad.line == 7
    assert "turns" in bad.message
    (probe,) = rows_of(report, setting="probe")
    assert (probe["turn_scores"], probe["queries"]) == ([1.0], 0)
    (plain,) = rows_of(report, model="m", setting=None)
    assert plain["turn_scores"] is plain["best_score"] is plain["loop"] is None
    assert any(text.startswith("Setting probe, retry: ") for text in report.remarks)
    runs = {(run["model"], run["setting"]) for run in report.summary["runs"]}
    assert {("m", None), ("m", "retry"), ("m", "probe")} <= runs
