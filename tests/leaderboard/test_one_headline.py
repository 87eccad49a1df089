"""Every export of one results file gives the same score."""

import json
import runpy
from importlib.resources import files
from types import SimpleNamespace

import polars as pl
import pytest
import yaml

from scbench.analysis.exported_runs import COLUMNS, runs_in
from scbench.analysis.results import read_results
from scbench.catalog import get_task
from scbench.formats.exports import Schema, run_files
from scbench.grading.means import normalized_answers
from scbench.grading.summary import tally
from scbench.integrations.trackers import tracked_runs
from scbench.leaderboard.board import make_board
from scbench.leaderboard.board_table import flat_rows
from scbench.leaderboard.publish import hub_results
from scbench.leaderboard.receipt import read_receipt
from scbench.release.load import find_release

MODELS = ("guesser", "weak", "fair", "strong", "perfect")
BUCKETS = ("overall", "axiomatic", "constructive", "planning")
FIGURES = ("normalized", "mean")


def model_of(share: float, floors: dict) -> dict:
    """A model that earns, by chance, a share of the room above the floors."""

    def score(row, rng):
        floor = floors[row["id"]]
        scores = get_task(row["task"]).scores
        if scores > 1:
            # Each of several scores is 0 or 1; the floor is their mean.
            floor = float(row["subtask"] < scores * floor - 0.5)
        elif get_task(row["task"]).scoring == "binary":
            # The floor is the chance of a guess, and this one misses.
            floor = float(floor == 1)
        gain = float(rng.random() < share) if 0 < share < 1 else share
        return floor + gain * (1 - floor)

    return {"scores": score, "floors": floors}


@pytest.fixture(scope="module")
def documents():
    """The functions of the lm-evaluation-harness tasks, loaded by path like the harness does."""
    path = files("scbench.integrations") / "lm_eval" / "documents.py"
    return SimpleNamespace(**runpy.run_path(str(path)))


@pytest.fixture(scope="module")
def exported(synthetic, kit, tmp_path_factory):
    """Five models on all tasks: their results, and the score and mean of each line."""
    root = tmp_path_factory.mktemp("headline")
    release = find_release()
    floors = release.floors()
    shares = dict(zip(MODELS, (0.0, 0.2, 0.5, 0.8, 1.0), strict=True))
    models = {name: model_of(share, floors) for name, share in shares.items()}
    synthetic(root, release, models)
    folders = {name: root / "site/graded" / name for name in MODELS}
    rows = read_results([*folders.values()], (*COLUMNS, "instance_hash"))
    truth = {name: weighted_mean(rows, name, release.weights()) for name in MODELS}
    return SimpleNamespace(
        root=root, release=release, folders=folders, rows=rows, truth=truth
    )


def weighted_mean(rows, name, weights) -> dict:
    """The score of each bucket and overall, computed from its definition."""
    answers = normalized_answers(rows.filter(pl.col("model") == name))
    by_task = answers.group_by("bucket", "task").agg(pl.col("u").mean()).to_dicts()
    truth = {}
    for bucket in BUCKETS:
        tasks = [row for row in by_task if bucket in {"overall", row["bucket"]}]
        total = sum(weights[row["task"]] for row in tasks)
        weighted = sum(weights[row["task"]] * row["u"] for row in tasks)
        truth[bucket] = pytest.approx(weighted / total, abs=1e-9)
    return truth


def test_guesser_scores_0_and_perfect_model_1(exported):
    assert exported.truth["guesser"] == dict.fromkeys(BUCKETS, 0.0)
    assert exported.truth["perfect"] == dict.fromkeys(BUCKETS, 1.0)
    for name in MODELS[1:-1]:
        assert 0.05 < exported.truth[name]["overall"].expected < 0.95


def tables_of(exported, name):
    return tally(
        exported.folders[name] / "results.parquet", exported.release.weights()
    ).tables


@pytest.mark.parametrize("name", MODELS)
def test_tables_and_trackers(exported, name):
    """Weights & Biases and MLflow receive the metrics of the same run."""
    tables = tables_of(exported, name)
    lines = tables["bucket"].rows_by_key("bucket", named=True, unique=True)
    truth = exported.truth[name]
    assert {bucket: lines[bucket]["normalized"] for bucket in BUCKETS} == truth
    (run,) = tracked_runs(tables, {})
    for bucket in BUCKETS:
        prefix = "" if bucket == "overall" else f"{bucket}/"
        for figure in FIGURES:
            assert run.metrics[f"{prefix}{figure}"] == lines[bucket][figure]


@pytest.mark.parametrize("name", MODELS)
def test_exports(exported, name):
    lines = tables_of(exported, name)["bucket"].rows_by_key(
        "bucket", named=True, unique=True
    )
    means = {bucket: pytest.approx(lines[bucket]["mean"]) for bucket in BUCKETS}
    runs = {run.model: run for run in runs_in(exported.rows, "2026-11-22")}
    # every-eval-ever
    whole = json.loads(next(run_files(runs[name], Schema.EVERY_EVAL_EVER, "Acme"))[1])
    values = {
        one["evaluation_name"]: one["score_details"]["score"]
        for one in whole["evaluation_results"]
    }
    assert {bucket: values[bucket] for bucket in BUCKETS} == exported.truth[name]
    assert {bucket: values[f"{bucket}, mean"] for bucket in BUCKETS} == means
    # lm-evaluation-harness
    whole = json.loads(next(run_files(runs[name], Schema.LM_EVAL, "Acme"))[1])
    groups = {bucket: whole["groups"][f"scbench_{bucket}"] for bucket in BUCKETS}
    scores = {bucket: group["score,none"] for bucket, group in groups.items()}
    assert scores == exported.truth[name]
    assert {bucket: group["mean,none"] for bucket, group in groups.items()} == means
    # Inspect
    pytest.importorskip("inspect_ai", reason="extra [inspect]")
    log = json.loads(next(run_files(runs[name], Schema.INSPECT, "Acme"))[1])
    metrics = log["results"]["scores"][0]["metrics"]
    scores = {bucket: metrics[bucket]["value"] for bucket in BUCKETS}
    assert scores == exported.truth[name]
    assert {bucket: metrics[f"{bucket} mean"]["value"] for bucket in BUCKETS} == means


def answers_of(exported, name):
    """Id, row and scores of each answer."""
    rows = exported.rows.filter(pl.col("model") == name)
    for (row_id,), part in rows.group_by("id", maintain_order=True):
        yield row_id, part.row(0, named=True), part["score"].to_list()


@pytest.mark.parametrize("name", MODELS)
def test_metrics_inside_other_harnesses(exported, documents, name):
    weights = exported.release.weights()
    facts = ("id", "sample", "task", "bucket", "status", "floor")
    stored = []
    for _, row, scores in answers_of(exported, name):
        answer = {fact: row[fact] for fact in facts}
        weight = weights[row["task"]]
        stored.append(answer | {"scores": scores, "weight": weight})
    truth = exported.truth[name]
    assert documents.score(stored) == truth["overall"]
    planning = [answer for answer in stored if answer["bucket"] == "planning"]
    assert documents.score(planning) == truth["planning"]
    inspect = pytest.importorskip("inspect_ai.scorer", reason="extra [inspect]")
    from scbench.integrations.inspect.scorer import by_bucket  # noqa: PLC0415

    samples = []
    for answer in stored:
        metadata = {name: answer[name] for name in ("status", "floor", "scores")}
        score = inspect.Score(value=0.0, metadata=metadata)
        about = {"task": answer["task"], "bucket": answer["bucket"]}
        sample = inspect.SampleScore(
            score=score, sample_id=answer["id"], sample_metadata=about
        )
        samples.append(sample)
    values = by_bucket(None, weights)(samples)
    assert {bucket: values[bucket] for bucket in BUCKETS} == truth
    assert values["overall mean"] == pytest.approx(documents.mean(stored))


def test_board_and_hub(exported, kit):
    board = make_board(kit.collected(exported.root, exported.release))
    rows = {
        row["submission"]: row["buckets"]
        for row in board["boards"][0]["settings"]["no_tools"]
    }
    flat = flat_rows(board).filter(pl.col("task").is_null())
    parquet = {
        (row["submission"], row["bucket"]): row["normalized"]
        for row in flat.iter_rows(named=True)
    }
    for name, truth in exported.truth.items():
        assert {bucket: rows[name][bucket]["normalized"] for bucket in BUCKETS} == truth
        assert {bucket: parquet[name, bucket] for bucket in BUCKETS} == truth
        receipt = read_receipt(exported.folders[name] / "receipt.json")
        scores = {bucket: receipt.buckets[bucket].normalized for bucket in BUCKETS}
        assert scores == truth
        entries = yaml.safe_load(hub_results(receipt, "scbench/scbench"))
        values = {entry["dataset"]["task_id"]: entry["value"] for entry in entries}
        for bucket in BUCKETS:
            place = "default" if bucket == "overall" else bucket
            rounded = pytest.approx(100 * truth[bucket].expected, abs=0.0501)
            assert values[place] == rounded
    history = {row["model"]: row["releases"][0] for row in board["history"]}
    for name, truth in exported.truth.items():
        assert history[name]["normalized"] == truth["overall"]
