"""Results in other projects' schemas, checked against those schemas."""

import json
import math
from statistics import fmean

import polars as pl
import pytest
from pydantic import TypeAdapter

from scbench.analysis.exported_runs import COLUMNS, runs_in, tries_of_run
from scbench.analysis.results import read_results
from scbench.formats.exports import (
    Schema,
    datastore_folder,
    file_names,
    run_files,
)
from scbench.freezing.example import example_predictions
from scbench.grading.api import grade_file
from scbench.grading.score_tables import score_table
from scbench.release.load import find_release


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Results of two made-up models on two tasks, with rows of every kind."""
    folder = tmp_path_factory.mktemp("graded")
    tasks = ["two_segments", "enumerate_edges"]
    lines = [*example_predictions(find_release(), tasks)]
    second_sample = json.loads(lines[0]) | {"sample": 1}
    second_sample["usage"] = {"input_tokens": 9, "output_tokens": 5}
    path = folder / "example.jsonl"
    path.write_text("\n".join([*lines, json.dumps(second_sample)]) + "\n", "utf-8")
    grade_file(path, folder / "out", tasks=tasks, partial=True, workers=1)
    return read_results([folder / "out"], COLUMNS, partial=True)


@pytest.fixture(scope="module")
def runs(graded):
    return {run.model: run for run in runs_in(graded, "2026-11-22")}


def mean_of(tries) -> float:
    return fmean(one.score for one in tries if one.score is not None)


def test_runs_match_the_tables(graded, runs):
    # Runs are sorted, whatever the order of the rows.
    models = [run.model for run in runs_in(graded.reverse(), "2026-11-22")]
    assert models == sorted(runs)
    table = score_table(graded, "task").filter(pl.col("model") == "sloppy")
    for row in table.iter_rows(named=True):
        tries = tries_of(runs["sloppy"], row["task"])
        assert mean_of(tries) == pytest.approx(row["mean"])
        assert sum(one.score is None for one in tries) == row["n"] - row["scored"]
    assert {one.sample for one in runs["oracle"].tries} == {0, 1}


def tries_of(run, task) -> list:
    return [one for one in run.tries if one.instance.task == task]


def test_each_run_has_its_own_file_name_inside_the_folder():
    models = [
        "openai/gpt-5",
        "a/b",
        "a_b",
        "A_b",
        "..",
        ".",
        "../../x",
        ".env",
        "=",
        "é",
    ]
    runs = [(model, None, None) for model in models] + [("a/b", "tools", 9)]
    names = file_names(runs)
    assert [*names] == runs
    assert names["openai/gpt-5", None, None] == "openai_gpt-5"
    assert names["a/b", "tools", 9] == "a_b-tools-9"
    assert len({name.lower() for name in names.values()}) == len(runs)
    assert not any("/" in name or name.startswith(".") for name in names.values())
    assert names["a/b", None, None].startswith("a_b-")
    assert names[".env", None, None] == "env"


@pytest.mark.parametrize("model", ["oracle", "sloppy"])
def test_every_eval_ever(runs, model):
    run = runs[model]
    (_, whole), (name, lines) = run_files(run, Schema.EVERY_EVAL_EVER, "Acme")
    whole = json.loads(whole)
    assert whole["source_metadata"]["source_organization_name"] == "Acme"
    values = {}
    for one in whole["evaluation_results"]:
        values[one["evaluation_name"]] = one["score_details"]["score"]
    of_task = tries_of(run, "two_segments")
    assert values["two_segments, mean"] == pytest.approx(mean_of(of_task))
    (line,) = [line for line in run.task_lines if line["task"] == "two_segments"]
    # The oracle's score and mean are both 1.
    if model != "oracle":
        assert values["two_segments"] == line["normalized"] != line["mean"]
    has_gaps = any(one.score is None for one in of_task)
    assert (values["two_segments, coverage"] < 1) is has_gaps
    samples = [json.loads(line) for line in lines.splitlines()]
    assert len(samples) == sum(one.score is not None for one in run.tries)
    assert len({one["sample_id"] for one in samples}) == len(samples)
    assert {one["evaluation_id"] for one in samples} == {whole["evaluation_id"]}
    assert name.endswith("_samples.jsonl")


@pytest.mark.parametrize("model", ["oracle", "sloppy"])
def test_every_eval_ever_by_its_own_package(runs, model, tmp_path, monkeypatch, capsys):
    """Run `every_eval_ever validate`; on Python 3.12: ``nox -s harbor``."""
    package = pytest.importorskip(
        "every_eval_ever.validator.validate", reason="nox -s harbor"
    )
    for name, text in run_files(runs[model], Schema.EVERY_EVAL_EVER, "Acme"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    assert package.main(["data/*/*/*/*.json", "data/*/*/*/*.jsonl"]) == 0
    summary = capsys.readouterr().out
    assert "2 passed, 0 warning-only, 0 failed" in summary


@pytest.mark.parametrize("model", ["oracle", "sloppy"])
def test_lm_eval(runs, model):
    from lm_eval.result_schema import EvalResults, SampleResult  # noqa: PLC0415  (heavy)

    run = runs[model]
    (name, whole), *samples = run_files(run, Schema.LM_EVAL, "Acme")
    whole = json.loads(whole)
    counts = whole["n-samples"]
    assert whole["n-shot"] == dict.fromkeys(counts, 0)
    TypeAdapter(EvalResults).validate_python(whole, strict=True)
    assert whole.keys() <= EvalResults.__annotations__.keys()
    assert name.startswith(f"{model}-no_tools/results_2026-11-22T")
    for sample_name, text in samples:
        task = sample_name.partition("samples_")[2].rpartition("_")[0]
        means, ids = [], set()
        for line in map(json.loads, text.splitlines()):
            TypeAdapter(SampleResult).validate_python(line, strict=True)
            for metric in line["metrics"]:
                assert isinstance(line[metric], float)
            own_keys = line.keys() - SampleResult.__annotations__.keys()
            assert own_keys == set(line["metrics"])
            if "mean" in line:
                means.append(line["mean"])
                ids.add(line["doc"]["id"])
        assert whole["results"][task]["mean,none"] == pytest.approx(fmean(means))
        assert counts[task]["effective"] == len(ids)
        assert whole["group_subtasks"]["scbench_axiomatic"].count(task) == 1


def test_inspect_log_is_read_by_its_library(runs, tmp_path):
    log = pytest.importorskip("inspect_ai.log", reason="extra [inspect]")
    run = runs["sloppy"]
    ((name, text),) = run_files(run, Schema.INSPECT, "Acme")
    again = list(run_files(run, Schema.INSPECT, "Acme"))
    assert again == [(name, text)], "the same bytes each time"
    (tmp_path / name).write_text(text, "utf-8")
    loaded = log.read_eval_log(str(tmp_path / name))
    assert loaded.status == "success"
    (score,) = loaded.results.scores
    assert score.unscored_samples == sum(one.score is None for one in run.tries) > 0
    assert score.metrics["axiomatic mean"].value == pytest.approx(mean_of(run.tries))
    tries = {(one.instance.id, one.sample + 1): one for one in run.tries}
    assert len(loaded.samples) == len(tries)
    for sample in loaded.samples:
        one = tries[sample.id, sample.epoch]
        logged = sample.scores["scbench"]
        if one.score is None:
            assert math.isnan(logged.value)
            assert logged.reason == one.status
        else:
            assert logged.value == one.score
        assert sample.output.completion == one.answer


@pytest.mark.parametrize(
    ("model", "folder"),
    [
        ("acme/orb", "data/scbench/acme/orb"),
        ("openai-api/acme/orb:2", "data/scbench/openai-api/acme_orb_2"),
        ("orb", "data/scbench/unnamed/orb"),
        ("../..", "data/scbench/_/_"),
        ("data/a|b.", "data/scbench/_data/a_b"),
    ],
)
def test_datastore_folder_of_a_model(model, folder):
    assert datastore_folder(model) == folder


def test_reason_of_a_wrong_answer_names_the_failed_checks(runs):
    wrong = [one for one in runs["sloppy"].tries if one.status == "answered"]
    wrong = [one for one in wrong if one.score == 0]
    right = [one for one in runs["oracle"].tries if one.score == 1]
    assert wrong
    assert all(one.explanation.startswith("failed: ") for one in wrong)
    assert not any(one.explanation for one in right)


def test_attempts_are_explained_by_their_reason_or_their_failed_checks(make_results):
    refused = {"status": "refused", "reason": "it declines"}
    frame = make_results(
        {"subtask": 0, "score": 0.0, "failed_checks": ["size", "overlap"]},
        {"subtask": 1, "score": 0.0, "failed_checks": ["answer_found"], **refused},
        {"subtask": 2, "score": 1.0},
    )
    instances = dict.fromkeys(frame["id"])
    explanations = [attempt.explanation for attempt in tries_of_run(frame, instances)]
    assert explanations == ["failed: size, overlap", "it declines", ""]
