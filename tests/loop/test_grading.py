"""Traces in a predictions file, graded by a run."""

import json

import pytest

from scbench.catalog import get_task
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
    environment, _ = all_stored[LIGHT].played(
        [all_stored[LIGHT].right], setting="probe"
    )
    lines += [environment.prediction(model="m")]
    lines += [
        {
            "id": lines[0]["id"],
            "model": "m",
            "answer": json.loads(all_stored[LIGHT].right),
        }
    ]
    lines += [lines[0] | {"model": "junk", "turns": [5]}]
    folder = tmp_path_factory.mktemp("loop")
    path = folder / "predictions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    limits = WorkerLimits(1, None, 0)
    tasks = [get_task(LIGHT).id, get_task(HEAVY).id]
    options = Options(
        str(path), find_release(), folder / "out", limits, tasks=tasks, partial=True
    )
    return grade_file(options)


def rows_of(report, **of):
    rows = [row for row in report.results.to_dicts() if row["line"] is not None]
    return [row for row in rows if of.items() <= {key: row[key] for key in of}.items()]


@pytest.mark.parametrize("name", [LIGHT, HEAVY])
def test_trace_has_the_scores_of_its_turns(report, all_stored, name):
    (row,) = rows_of(report, task=name, model="m", setting="retry")
    _, steps = all_stored[name].played(
        ["Hm.", all_stored[name].wrong[1], all_stored[name].right]
    )
    assert row["turn_scores"] == [step.info["score"] for step in steps]
    assert row["turn_scores"][0] is None
    assert (row["score"], row["best_score"], row["queries"]) == (1, 1, None)
    assert json.loads(row["loop"])["attempts"] == 3
    assert row["status"] == "answered"


def test_runs_report_the_number_of_truncated_trials(all_stored, tmp_path):
    stored, lines = all_stored[LIGHT], []
    for sample, status in enumerate(("truncated", "refused", "truncated", None)):
        replies = [stored.wrong[1]] if status else [stored.right]
        environment, _ = stored.played(replies)
        said = {"status": status} if status else {}
        lines.append(environment.prediction(model="m", sample=sample, **said))
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    limits = WorkerLimits(1, None, 0)
    tasks = [get_task(LIGHT).id]
    options = Options(
        str(path), find_release(), tmp_path / "out", limits, tasks=tasks, partial=True
    )
    graded = grade_file(options)
    summary = graded.summary
    (run,) = [run for run in summary["runs"] if run["setting"] == "retry"]
    assert run["cut"] == {"refused": 1, "truncated": 2}
    (said,) = [line for line in graded.remarks if "stopped without an answer" in line]
    assert said.endswith("count as 0 (1 refused, 2 truncated).")


def test_forged_traces_are_problems_named_by_line_and_turn(report):
    forged = [problem for problem in report.problems if problem.code == "forged_trace"]
    assert [problem.line for problem in forged] == [2, 4]
    assert all("turn 2: " in str(problem) for problem in forged)
    rows = rows_of(report, model="forger")
    assert [(row["status"], row["score"]) for row in rows] == [("not_run", None)] * 2
    assert report.exit_code == 1


def test_junk_is_bad_input_and_settings_are_separate(report):
    (bad,) = (
        problem for problem in report.problems if problem.code == "bad_prediction"
    )
    assert (bad.line, "turns" in bad.message) == (7, True)
    (probe,) = rows_of(report, setting="probe")
    assert (probe["turn_scores"], probe["queries"]) == ([1.0], 0)
    (plain,) = rows_of(report, model="m", setting=None)
    assert (plain["turn_scores"], plain["best_score"], plain["loop"]) == (
        None,
        None,
        None,
    )
    assert any(said.startswith("Setting probe, retry: ") for said in report.remarks)
    runs = {(run["model"], run["setting"]) for run in report.summary["runs"]}
    assert {("m", None), ("m", "retry"), ("m", "probe")} <= runs
