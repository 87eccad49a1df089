"""The board: means with intervals and rank ranges, by release, grader versions and setting.

A board is of one release and of one version of each grader; scores of two are never put beside each
other as if they could be compared. Settings have ranks of their own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.resample import Floats, Sums, interval, resample, total
from scbench.canonical import content_hash
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.collect import GRADED, BoardEntry, Collected
from scbench.leaderboard.findings import as_record
from scbench.leaderboard.ranks import Rank, ranks
from scbench.release.manifest import Manifest, version_key
from scbench.version import __version__

SETTINGS = ("no_tools", "tools")
RESAMPLES = 10_000
_ITEM = ("id", "subtask")

SCHEMA: Mapping[str, Any] = {
    "release": pl.String,
    "release_hash": pl.String,
    "graders": pl.String,
    "setting": pl.String,
    "submission": pl.String,
    "organisation": pl.String,
    "model": pl.String,
    "version": pl.String,
    "date": pl.String,
    "bucket": pl.String,
    "task": pl.String,
    "n": pl.Int64,
    "expected": pl.Int64,
    "scored": pl.Int64,
    "mean": pl.Float64,
    "mean_missing_as_zero": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "rank": pl.Int64,
    "rank_low": pl.Int64,
    "rank_high": pl.Int64,
    "receipt": pl.String,
}
"""Columns of ``leaderboard.parquet``: a row per submission and bucket or task, and for overall."""


def make_board(collected: Collected) -> dict[str, Any]:
    """Return the content of ``leaderboard.json``.

    Args:
        collected: graded submissions, and those that were refused.

    Returns:
        format, package_version; boards: newest release first, each with release, graders (versions
        by task), graders_key (their hash), buckets and tasks (with their N), fingerprints (tasks
        that were simulated on machines that compute differently, and whose submissions), and
        settings: for each the entries, ranked ones by mean, then those without full coverage;
        history: the overall score of each model in each release; refused: what is wrong with
        other submissions.
    """
    groups: dict[tuple[str, str], list[BoardEntry]] = {}
    for entry in collected.entries:
        receipt = entry.receipt
        key = (receipt.release.version, content_hash([receipt.release.rows_hash, receipt.graders]))
        groups.setdefault(key, []).append(entry)
    ordered = sorted(groups, key=lambda key: (version_key(key[0]), key[1]), reverse=True)
    boards = [_board(groups[key]) for key in ordered]
    return {
        "format": 1,
        "package_version": __version__,
        "boards": boards,
        "history": _history(boards),
        "refused": [
            {"submission": name, "problems": [as_record(found, name) for found in findings]}
            for name, findings in sorted(collected.refused.items())
        ],
    }


def _board(entries: Sequence[BoardEntry]) -> dict[str, Any]:
    manifest, receipt = entries[0].release.manifest, entries[0].receipt
    shown: dict[str, list[dict[str, Any]]] = {}
    for setting in SETTINGS:
        own = [entry for entry in entries if entry.about.setting == setting]
        if own:
            shown[setting] = _ordered(own, manifest)
    records = manifest.default_records
    buckets = list(dict.fromkeys(record.bucket for record in records.values()))
    sizes = {
        bucket: sum(task.scores for task in records.values() if task.bucket == bucket)
        for bucket in buckets
    }
    return {
        "release": {"version": manifest.version, "rows_hash": manifest.rows_hash},
        "graders": {task: receipt.graders[task] for task in records},
        "graders_key": content_hash(receipt.graders)[:12],
        "buckets": {OVERALL: sum(sizes.values()), **sizes},
        "tasks": {name: record.scores for name, record in records.items()},
        "fingerprints": _fingerprints(entries),
        "settings": shown,
    }


def _fingerprints(entries: Sequence[BoardEntry]) -> dict[str, dict[str, list[str]]]:
    """Return, by task, the submissions of each fingerprint, of tasks with more than one."""
    found: dict[str, dict[str, list[str]]] = {}
    for entry in sorted(entries, key=lambda entry: entry.name):
        for task, names in entry.receipt.fingerprints.items():
            for name in names:
                found.setdefault(task, {}).setdefault(name, []).append(entry.name)
    return {task: by_name for task, by_name in sorted(found.items()) if len(by_name) > 1}


def _ordered(entries: Sequence[BoardEntry], manifest: Manifest) -> list[dict[str, Any]]:
    """Return the entries of one table, best first, those that cannot be ranked last."""
    scores, answers = _matrix(entries, manifest)
    groups: dict[str, list[str]] = {OVERALL: list(scores)}
    for task in scores:
        groups.setdefault(manifest.tasks[task].bucket, []).append(task)
    drawn = resample(scores, RESAMPLES)
    complete = np.array([entry.receipt.complete for entry in entries])
    found: list[dict[str, dict[str, Any]]] = [{} for _ in entries]
    for name, tasks in groups.items():
        draws = total(drawn[task] for task in tasks).means
        placed = _ranks(scores, answers, tasks, complete)
        for i, entry in enumerate(entries):
            low, high = interval(draws[:, i])
            place = placed.get(i)
            found[i][name] = entry.receipt.buckets[name].model_dump() | {
                "low": low,
                "high": high,
                "rank": place.rank if place else None,
                "rank_low": place.low if place else None,
                "rank_high": place.high if place else None,
            }
    rows = [_row(entry, buckets) for entry, buckets in zip(entries, found, strict=True)]
    return sorted(rows, key=_place)


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    overall = row["buckets"][OVERALL]
    return (not row["ranked"], -(overall["mean"] or 0.0), row["model"], row["submission"])


def _matrix(
    entries: Sequence[BoardEntry], manifest: Manifest
) -> tuple[dict[str, Sums], dict[str, list[str]]]:
    """Return scores by task, as arrays of shape (scores, entries), and what each is of."""
    cells = [
        entry.results.group_by("task", *_ITEM)
        .agg(sum=pl.col("score").sum(), count=pl.col("score").count())
        .sort("task", *_ITEM)
        for entry in entries
    ]
    keys = cells[0].select("task", *_ITEM)
    for entry, cell in zip(entries, cells, strict=True):
        if not cell.select("task", *_ITEM).equals(keys):
            raise ValueError(f"{entry.name}: its rows are not those of the release")
    scores, answers = {}, {}
    for task in manifest.default_tasks:
        of_task = (keys["task"] == task).to_numpy()
        sums, counts = (
            np.stack([cell[column].to_numpy()[of_task] for cell in cells], axis=1).astype(float)
            for column in ("sum", "count")
        )
        scores[task] = Sums(sums, counts)
        answers[task] = keys["id"].filter(pl.Series(of_task)).to_list()
    return scores, answers


def _ranks(
    scores: Mapping[str, Sums],
    answers: Mapping[str, list[str]],
    tasks: Sequence[str],
    complete: "np.ndarray[Any, np.dtype[np.bool_]]",
) -> dict[int, Rank]:
    if not complete.any():
        return {}
    means: Floats = np.concatenate(
        [scores[task].sums[:, complete] / scores[task].counts[:, complete] for task in tasks]
    )
    names = [name for task in tasks for name in answers[task]]
    return dict(zip(np.flatnonzero(complete).tolist(), ranks(means, names), strict=True))


def _row(entry: BoardEntry, buckets: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    about, receipt = entry.about, entry.receipt
    return {
        "submission": entry.name,
        "model": about.model.name,
        "version": about.model.version,
        "organisation": about.organisation,
        "date": about.date,
        "tools": list(about.tools),
        "sampling": about.sampling,
        "attempts": about.attempts,
        "links": about.links.model_dump(exclude_none=True),
        "outputs_licence": about.outputs_licence,
        "ranked": receipt.complete,
        "statuses": receipt.statuses,
        "buckets": dict(buckets),
        "tasks": {
            name: receipt.tasks[name].model_dump() for name in entry.release.manifest.default_tasks
        },
        "files": {file: f"{GRADED}/{entry.name}/{file}" for file in entry.files},
        "predictions_sha256": receipt.predictions.sha256,
        "receipt": receipt.digest,
    }


def _history(boards: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each model's overall score in every release that it answered."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for board in boards:
        for setting, rows in board["settings"].items():
            for row in rows:
                names = {name: row[name] for name in ("organisation", "model", "version")}
                key = (*names.values(), setting)
                models = found.setdefault(key, {**names, "setting": setting, "releases": []})
                overall = row["buckets"][OVERALL]
                models["releases"].append(
                    {
                        "release": board["release"]["version"],
                        "graders_key": board["graders_key"],
                        "ranked": row["ranked"],
                        **{name: overall[name] for name in ("mean", "low", "high", "rank")},
                    }
                )
    return [found[key] for key in sorted(found)]


def flat_rows(board: Mapping[str, Any]) -> pl.DataFrame:
    """Return a board as a table with the columns `SCHEMA`."""
    rows: list[dict[str, Any]] = []
    for part in board["boards"]:
        head = {
            "release": part["release"]["version"],
            "release_hash": part["release"]["rows_hash"],
            "graders": part["graders_key"],
        }
        for setting, entries in part["settings"].items():
            for entry in entries:
                said = {key: entry[key] for key in SCHEMA if isinstance(entry.get(key), str)}
                for kind, column in (("buckets", "bucket"), ("tasks", "task")):
                    rows += (
                        dict.fromkeys(SCHEMA)
                        | head
                        | said
                        | {"setting": setting, column: name}
                        | score
                        for name, score in entry[kind].items()
                    )
    return pl.DataFrame(rows, schema=SCHEMA)
