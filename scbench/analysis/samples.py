"""Several samples per item: what one, k and a vote of them come to, and where scores vary."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from math import comb
from typing import Any

import polars as pl

from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import means_of, score_matrix
from scbench.analysis.results import ITEM, LINE_TYPES, RUN_TYPES, counts, figures
from scbench.analysis.sheets import above_notes, line_words, mean_cell, number, points, run_words
from scbench.base.model import Status
from scbench.grading.score_tables import ABOVE, RUN, lifted, with_floors

COLUMNS = ("answer",)
"""Columns of the results that are needed in addition to `scbench.analysis.results.NEEDED`."""

SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | LINE_TYPES
    | counts("n samples")
    | figures("mean low high", *ABOVE, "majority")
    | counts("majority_n")
    | figures("within between")
    | counts("k pass_n")
    | figures("pass_at_k")
)
"""Columns of `pass_at_k`."""

_EXACT = 1e-9


def pass_at_k(
    results: pl.DataFrame, ks: Sequence[int] = (1,), *, passes: float = 1.0
) -> pl.DataFrame:
    """Return what several samples per item come to.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, with `COLUMNS`.
        ks: numbers of tries; a k above the samples that any item of a row has is left out.
        passes: the score from which on a sample passes.

    Returns:
        One row per run, per task, bucket and overall, and per k, with columns `SCHEMA`: n (scores
        of one sample that have a sample with a score), samples (the least that any of them has),
        mean of the scores' means over samples, with its interval and what lies above the floor;
        majority (the mean score of the answer that most samples gave, over the majority_n scores
        where an answer was given twice and no other as often; null if there is none), within
        (variance between samples of one item, unbiased; null with one sample) and between (variance
        between items beyond that; at least 0), and pass_at_k: the chance that at least one of k
        samples, drawn without replacement, passes (the unbiased estimate 1 - C(n-c, k) / C(n, k),
        averaged over the pass_n scores with k samples or more).
    """
    results = with_floors(results)
    matrix = score_matrix(_one_each(results, pl.col("score")))
    raised = score_matrix(_one_each(results, lifted()))
    items = _item_samples(results, passes)
    rows: list[dict[str, Any]] = []
    for bucket, task, tasks in matrix.lines("task"):
        means, above = (means_of([m.blocks[name] for name in tasks]) for m in (matrix, raised))
        by_run = items.filter(pl.col("task").is_in(tasks)).partition_by(RUN, as_dict=True)
        for r, run in enumerate(matrix.runs):
            part = by_run.get(run)
            if part is None:
                continue
            row: dict[str, Any] = dict(zip(RUN, run, strict=True))
            row |= matrix.labels(bucket, task, r) | _line_spread(part)
            row |= means.cells(r) | {name: above.cells(r)[name] for name in ABOVE}
            counts = list(zip(part["samples"], part["passed"], strict=True))
            for k in ks:
                tried = [1 - comb(s - c, k) / comb(s, k) for s, c in counts if s >= k]
                if tried:
                    chance = sum(tried) / len(tried)
                    rows.append(row | {"k": k, "pass_n": len(tried), "pass_at_k": chance})
    order = {run: i for i, run in enumerate(matrix.runs)}
    rows.sort(key=lambda row: order[tuple(row[name] for name in RUN)])
    return pl.DataFrame(rows, schema=SCHEMA)


def _one_each(results: pl.DataFrame, score: pl.Expr) -> pl.DataFrame:
    """Return results with one row per item, of the mean score of its samples, as if answered."""
    return results.group_by(*RUN, "bucket", "task", *ITEM).agg(
        score.sort().mean().alias("score"),
        pl.col("floor", "release", "release_hash").first(),
        status=pl.lit(Status.ANSWERED.value),
    )


def _item_samples(results: pl.DataFrame, passes: float) -> pl.DataFrame:
    """Return each item's samples: how many, how many pass, their variance, and what a vote says."""
    scored = results.filter(pl.col("score").is_not_null()).with_columns(
        answer=pl.col("answer").drop_nulls().first().over(*RUN, "sample", "id")
    )
    return (
        scored.group_by(*RUN, "task", *ITEM)
        .agg(
            mean=pl.col("score").sort().mean(),
            variance=pl.col("score").sort().var(),
            samples=pl.len().cast(pl.Int64),
            passed=(pl.col("score") >= passes - _EXACT).sum().cast(pl.Int64),
            vote=pl.struct("answer", "score").map_batches(
                _vote, return_dtype=pl.Float64, returns_scalar=True
            ),
        )
        .sort(*RUN, "task", *ITEM)
    )


def _vote(samples: pl.Series) -> pl.Series:
    """Return the score of the answer given most often; null if none was given twice, or two tie.

    Answers are compared as canonical JSON: equal for short answers and labels, hardly ever for
    solids, so the vote counts where answers can be compared.
    """
    votes = [(row["answer"], row["score"]) for row in samples.to_list()]
    counts = Counter(answer for answer, _ in votes if answer is not None).most_common(2)
    settled = counts and counts[0][1] > 1 and (len(counts) == 1 or counts[0][1] > counts[1][1])
    vote = next((s for answer, s in votes if answer == counts[0][0]), None) if settled else None
    return pl.Series([vote], dtype=pl.Float64)


def _line_spread(part: pl.DataFrame) -> dict[str, Any]:
    """Return counts, the vote and the variances of a line's items."""
    votes, repeated = part["vote"].drop_nulls(), part.filter(pl.col("samples") > 1)
    within = repeated["variance"].mean()
    noise = (repeated["variance"] / repeated["samples"]).mean()
    spread = repeated["mean"].var() if repeated.height > 1 else None
    between = None if spread is None else max(0.0, float(spread) - float(noise))  # type: ignore[arg-type]
    return {
        "n": part.height,
        "samples": part["samples"].min(),
        "majority": votes.mean(),
        "majority_n": len(votes),
        "within": within,
        "between": between,
    }


def _with_count(row: Row, share: str, count: str, *, counted: bool) -> str:
    return points(row[share]) + (f"\nof {row[count]}" if counted else "")


_SAMPLES = (
    Column("model", run_words, is_words=True),
    Column("task", line_words, is_words=True),
    Column("N", "n"),
    Column("samples", "samples"),
    Column("mean of n", mean_cell),
    Column(
        "majority",
        lambda row: _with_count(row, "majority", "majority_n", counted=row["majority_n"] > 0),
    ),
    Column("var. within", number("within", ".3f")),
    Column("var. between", number("between", ".3f")),
)


def samples_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `pass_at_k`, a line for all k."""
    lines: dict[tuple[Any, ...], dict[Any, Any]] = {}
    for row in frame.iter_rows(named=True):
        key = tuple(row[name] for name in (*RUN, "bucket", "task"))
        passes = _with_count(row, "pass_at_k", "pass_n", counted=row["pass_n"] < row["n"])
        lines.setdefault(key, row)[f"pass@{row['k']}"] = passes
    names = [f"pass@{k}" for k in sorted(frame["k"].unique())]
    columns = [*_SAMPLES, *(Column(name, partial(_passes, name)) for name in names)]
    notes = [*notes_of("samples"), *above_notes(frame)]
    return sheet_of("Several samples per item", columns, lines.values(), notes)


def _passes(name: str, row: Row) -> str:
    return str(row.get(name, "-"))
