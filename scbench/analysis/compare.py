"""Are two runs different? Paired, score by score.

Differences are taken over the scores that both runs have, resampled in pairs, and on tasks with
right-or-wrong scores put to McNemar's exact test.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.paper import Matrix, score_matrix
from scbench.analysis.resample import LEVEL, RESAMPLES, Floats, Sums, interval, resample, total
from scbench.analysis.results import ITEM
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks
from scbench.errors import ResultsError
from scbench.grading.score_tables import OVERALL, RUN

SCHEMA: Mapping[str, Any] = {
    "first": pl.String,
    "second": pl.String,
    "bucket": pl.String,
    "task": pl.String,
    "n": pl.Int64,
    "first_mean": pl.Float64,
    "second_mean": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "binary_n": pl.Int64,
    "only_first": pl.Int64,
    "only_second": pl.Int64,
    "p_value": pl.Float64,
    "p_holm": pl.Float64,
    "verdict": pl.String,
}
"""Columns of `compare_runs`."""


def run_name(model: str, setting: str | None, budget: int | None) -> str:
    """Return how a run is called in comparisons."""
    parts = [
        model,
        *([setting] if setting else []),
        *([f"@{budget}"] if budget is not None else []),
    ]
    return " ".join(parts)


def compare_runs(
    results: pl.DataFrame,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> pl.DataFrame:
    """Compare each pair of runs, overall, by bucket and by task.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, of two or more runs.
        resamples: bootstrap resamples.
        seed: of the bootstrap.
        level: of the intervals, and one minus the level of the tests.

    Returns:
        One row per pair and per task, bucket and overall, with columns `SCHEMA`: n (scores that
        both have), the two means over those, difference (second minus first) with its interval;
        binary_n (those of them that are right or wrong in every sample), only_first and only_second
        (right in one run alone), p_value (McNemar, exact, two-sided; null without such scores),
        p_holm (the same, corrected for the rows of this table that test), and verdict: the name of
        the better run, or "tied" if the interval holds zero.

    Raises:
        ResultsError: there are fewer than two runs, or two have no score in common.
    """
    matrix = score_matrix(results)
    if len(matrix.runs) < 2:
        raise ResultsError("to compare, name the results of two runs or more")
    rows: list[dict[str, Any]] = []
    for a, b in combinations(range(len(matrix.runs)), 2):
        rows += _compare_pair(matrix, a, b, resamples, seed, level)
    _correct(rows)
    return pl.DataFrame(rows, schema=SCHEMA)


def _compare_pair(
    matrix: Matrix, a: int, b: int, resamples: int, seed: int, level: float
) -> list[dict[str, Any]]:
    first, second = run_name(*matrix.runs[a]), run_name(*matrix.runs[b])
    pair = {task: _both(sums, a, b) for task, sums in matrix.scores.items()}
    pair = {task: sums for task, sums in pair.items() if len(sums.sums)}
    if not pair:
        raise ResultsError(f"{first} and {second} have no score in common")
    drawn = resample(pair, resamples, seed)
    rows = []
    for bucket, task, tasks in matrix.groups("task"):
        held = [name for name in tasks if name in pair]
        if not held:
            continue
        means = total(
            Sums(pair[name].sums.sum(axis=0), pair[name].counts.sum(axis=0)) for name in held
        ).means
        draws = total(drawn[name] for name in held).means
        low, high = interval(draws[:, 1] - draws[:, 0], level)
        right = np.concatenate(
            [_settled(pair[name]) for name in held if all_tasks()[name].scoring == "binary"]
            or [np.empty((0, 2))]
        )
        only_first = int(((right[:, 0] == 1) & (right[:, 1] == 0)).sum())
        only_second = int(((right[:, 0] == 0) & (right[:, 1] == 1)).sum())
        rows.append(
            {
                "first": first,
                "second": second,
                "bucket": bucket,
                "task": task,
                "n": sum(len(pair[name].sums) for name in held),
                "first_mean": float(means[0]),
                "second_mean": float(means[1]),
                "difference": float(means[1] - means[0]),
                "low": low,
                "high": high,
                "binary_n": len(right),
                "only_first": only_first,
                "only_second": only_second,
                "p_value": mcnemar(only_first, only_second) if len(right) else None,
                "p_holm": None,
                "verdict": _verdict(low, high, first, second),
            }
        )
    return rows


def _verdict(low: float | None, high: float | None, first: str, second: str) -> str:
    if low is None or high is None or low <= 0 <= high:
        return "tied"
    return second if low > 0 else first


def _both(scores: Sums, a: int, b: int) -> Sums:
    """Return the scores that both runs have, as two columns of means over their samples."""
    both = (scores.counts[:, a] > 0) & (scores.counts[:, b] > 0)
    pair = [a, b]
    means: Floats = scores.sums[both][:, pair] / scores.counts[both][:, pair]
    return Sums(means, np.ones_like(means))


def _settled(pair: Sums) -> Floats:
    """Return the rows in which each run was right in all its samples, or in none."""
    whole = np.abs(pair.sums - np.round(pair.sums)) < 1e-9
    settled: Floats = np.round(pair.sums[whole.all(axis=1)])
    return settled


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of McNemar's exact test.

    Args:
        only_first: scores that only the first run has right.
        only_second: scores that only the second has right.
    """
    n, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(comb(n, k) for k in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**n))


def _correct(rows: Sequence[dict[str, Any]]) -> None:
    """Fill in Holm's correction over all rows of the table that test."""
    tested = sorted((row for row in rows if row["p_value"] is not None), key=lambda r: r["p_value"])
    worst = 0.0
    for i, row in enumerate(tested):
        worst = max(worst, min(1.0, (len(tested) - i) * row["p_value"]))
        row["p_holm"] = worst


SAMPLES_SCHEMA: Mapping[str, Any] = {
    "model": pl.String,
    "setting": pl.String,
    "budget": pl.Int64,
    "bucket": pl.String,
    "task": pl.String,
    "n": pl.Int64,
    "samples": pl.Int64,
    "mean": pl.Float64,
    "error": pl.Float64,
    "k": pl.Int64,
    "pass_at_k": pl.Float64,
}
"""Columns of `pass_at_k`."""


def pass_at_k(
    results: pl.DataFrame, ks: Sequence[int] = (1,), *, passes: float = 1.0
) -> pl.DataFrame:
    """Return, for runs with several samples per item, the mean with its error, and pass@k.

    Args:
        results: as `scbench.analysis.results.read_results` gives them.
        ks: numbers of tries; a k above the samples that every item of a row has is left out.
        passes: the score from which on a sample passes.

    Returns:
        One row per run, per task, bucket and overall, and per k, with columns `SAMPLES_SCHEMA`:
        n (scores of one sample), samples (the least that any of them has), mean of the scores'
        means over samples, error (its standard error, clustered: samples of one item are not
        independent), and pass_at_k: the chance that at least one of k samples, drawn without
        replacement, passes (the unbiased estimate 1 - C(n-c, k) / C(n, k), averaged over scores).
    """
    scored = results.filter(pl.col("score").is_not_null())
    items = scored.group_by(*RUN, "bucket", "task", *ITEM).agg(
        mean=pl.col("score").mean(),
        samples=pl.len().cast(pl.Int64),
        passed=(pl.col("score") >= passes - 1e-9).sum().cast(pl.Int64),
    )
    overall = items.filter(pl.col("bucket") != MANIFOLDS).with_columns(bucket=pl.lit(OVERALL))
    order = [*BUCKETS, OVERALL, MANIFOLDS]
    tasks = list(all_tasks())
    rows: list[dict[str, Any]] = []
    for frame, keys in (
        (items, [*RUN, "bucket", "task"]),
        (items, [*RUN, "bucket"]),
        (overall, [*RUN, "bucket"]),
    ):
        for key, part in frame.group_by(keys):
            head = {"task": None} | dict(zip(keys, key, strict=True))
            n, least = part.height, int(part["samples"].min())  # type: ignore[arg-type]
            spread = float(part["mean"].std()) if n > 1 else None  # type: ignore[arg-type]
            head |= {"n": n, "samples": least, "mean": part["mean"].mean()}
            head["error"] = spread / n**0.5 if spread is not None else None
            counts = list(zip(part["samples"], part["passed"], strict=True))
            for k in ks:
                if k <= least:
                    chance = sum(1 - comb(s - c, k) / comb(s, k) for s, c in counts) / n
                    rows.append(head | {"k": k, "pass_at_k": chance})
    rows.sort(
        key=lambda row: (
            *((row[name] is not None, row[name] or 0) for name in RUN if name != "model"),
            order.index(row["bucket"]),
            tasks.index(row["task"]) if row["task"] else len(tasks),
            row["k"],
        )
    )
    rows.sort(key=lambda row: row["model"])
    return pl.DataFrame(rows, schema=SAMPLES_SCHEMA)
