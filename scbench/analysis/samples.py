"""Several samples per item: what one, k and a vote of them come to, and where scores vary."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from math import comb
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import Matrix, score_matrix
from scbench.analysis.results import ITEM, LINE_TYPES, RUN_TYPES, counts, figures
from scbench.analysis.sheets import (
    NORMALIZED_COLUMNS,
    interval,
    line_words,
    mean_cell,
    number,
    points,
    run_words,
)
from scbench.base.intervals import QUANTILE, Part, condense, ends
from scbench.grading.means import MEANS, RUN, means_of, normalized_answers

# Columns of the results that are needed in addition to
# `scbench.analysis.results.NEEDED`.
COLUMNS = ("answer",)

# Columns of `pass_at_k`.
SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | LINE_TYPES
    | counts("n samples")
    | figures(*MEANS, "same_items", "majority")
    | counts("majority_n")
    | figures("within between")
    | counts("k pass_n")
    | figures("pass_at_k pass_low pass_high")
)

_EXACT = 1e-9
# Share of the items without an answer given twice above which a vote says nothing.
_MOST_UNSETTLED = 0.1


_VOTE = pl.Struct({"vote": pl.Float64, "settled": pl.Boolean})


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
        the figures of a line; same_items (to either side of the normalized score, what other
        samples of the same items would come to with a chance of 95 %; null where none has two);
        majority (the mean score of the answer that most samples gave, of all of them where several
        tie; null where more than a tenth of the items have no answer that was given twice, of which
        majority_n have one), within (variance between samples of one item, unbiased; null with one
        sample) and between (variance between items beyond that; at least 0), and pass_at_k with its
        interval: the chance that at least one of k samples, drawn without replacement, passes (the
        unbiased estimate 1 - C(n-c, k) / C(n, k), averaged over the pass_n scores with k samples or
        more).
    """
    matrix = score_matrix(results)
    items = _item_samples(results, passes)
    noise = _sampling_noise(results)
    rows: list[dict[str, Any]] = []
    for bucket, task, tasks in matrix.lines("task"):
        means = means_of([matrix.blocks[name] for name in tasks])
        by_run = items.filter(pl.col("task").is_in(tasks)).partition_by(
            RUN, as_dict=True
        )
        for r, run in enumerate(matrix.runs):
            part = by_run.get(run)
            if part is None:
                continue
            row: dict[str, Any] = dict(zip(RUN, run, strict=True))
            row |= matrix.labels(bucket, task, r) | _line_spread(part) | means.cells(r)
            row["same_items"] = _same_items(matrix, tasks, r, noise)
            rows += (row | of_k for k in ks if (of_k := _passes_of(part, k)))
    order = {run: i for i, run in enumerate(matrix.runs)}
    rows.sort(key=lambda row: order[tuple(row[name] for name in RUN)])
    return pl.DataFrame(rows, schema=SCHEMA)


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
                _vote, return_dtype=_VOTE, returns_scalar=True
            ),
        )
        .unnest("vote")
        .sort(*RUN, "task", *ITEM)
    )


def _vote(samples: pl.Series) -> pl.Series:
    """Return the score of the answer given most often, and whether one was given twice.

    Answers that tie share the vote; where nothing could be read, that is the vote. Answers are
    compared as canonical JSON: equal for short answers and labels, hardly ever for solids, and
    then nothing is settled.
    """
    votes = [(row["answer"], row["score"]) for row in samples.to_list()]
    given = Counter(answer for answer, _ in votes if answer is not None)
    most = max(given.values(), default=0)
    scores = sorted(score for answer, score in votes if given.get(answer, 0) == most)
    vote = sum(scores) / len(scores)
    settled = most > 1 or (not most and not vote)
    return pl.Series([{"vote": vote, "settled": settled}], dtype=_VOTE)


def _line_spread(part: pl.DataFrame) -> dict[str, Any]:
    """Return counts, the vote and the variances of a line's items."""
    repeated = part.filter(pl.col("samples") > 1)
    within = repeated["variance"].mean()
    noise = (repeated["variance"] / repeated["samples"]).mean()
    spread = repeated["mean"].var() if repeated.height > 1 else None
    between = None if spread is None else max(0.0, float(spread) - float(noise))  # type: ignore[arg-type]
    settled = int(part["settled"].sum())
    is_settled = settled >= (1 - _MOST_UNSETTLED) * part.height
    return {
        "n": part.height,
        "samples": part["samples"].min(),
        "majority": part["vote"].mean() if is_settled else None,
        "majority_n": settled,
        "within": within,
        "between": between,
    }


def _passes_of(part: pl.DataFrame, k: int) -> dict[str, Any]:
    """Return pass@k of a line's items with its interval; nothing where none has k samples."""
    parts: list[Part] = []
    total = tried = 0.0
    for (_,), of_task in part.filter(pl.col("samples") >= k).group_by(
        "task", maintain_order=True
    ):
        pairs = zip(of_task["samples"], of_task["passed"], strict=True)
        chances = [1 - comb(s - c, k) / comb(s, k) for s, c in pairs]
        total, tried = total + sum(chances), tried + len(chances)
        by_answer = (
            of_task.select("id", chance=pl.Series(chances))
            .group_by("id", maintain_order=True)
            .agg(pl.col("chance").mean(), pl.len())
        )
        weights = by_answer["len"].to_numpy().astype(float)
        parts.append(condense(by_answer["chance"].to_numpy(), weights))
    if not tried:
        return {}
    low, high = map(float, ends(parts))
    return {
        "k": k,
        "pass_n": round(tried),
        "pass_at_k": total / tried,
        "pass_low": low,
        "pass_high": high,
    }


_Noise = Mapping[tuple[Any, ...], float | None]


def _sampling_noise(results: pl.DataFrame) -> _Noise:
    """Return by run and task the variance of the mean of u that comes from samples alone.

    An answer with one sample varies like the others of its task.
    """
    by_item = (
        normalized_answers(results)
        .group_by(*RUN, "task", "id")
        .agg(variance=pl.col("u").sort().var(), samples=pl.len())
        .sort(*RUN, "task", "id")
    )
    variance = pl.col("variance").fill_null(pl.col("variance").mean()) / pl.col(
        "samples"
    )
    noise = by_item.group_by(*RUN, "task", maintain_order=True).agg(
        noise=variance.sum() / pl.len() ** 2,
        known=pl.col("variance").is_not_null().any(),
    )
    return {
        (*key, task): v if known else None for *key, task, v, known in noise.iter_rows()
    }


def _same_items(
    matrix: Matrix, tasks: Sequence[str], run: int, noise: _Noise
) -> float | None:
    """Return how far other samples of the same items would lie from the normalized score."""
    total = variance = 0.0
    for task in tasks:
        weight = float(matrix.blocks[task].weights()[run])
        if not weight:
            continue
        of_task = noise.get((*matrix.runs[run], task))
        if of_task is None:
            return None
        total, variance = total + weight, variance + weight**2 * of_task
    return QUANTILE * float(np.sqrt(variance)) / total if total else None


def _with_count(row: Row, share: str, count: str, *, counted: bool) -> str:
    return points(row[share]) + (f"\nof {row[count]}" if counted else "")


def _same_items_cell(row: Row) -> str:
    return "-" if row["same_items"] is None else f"± {points(row['same_items'])}"


_SAMPLES = (
    Column("model", run_words, is_words=True),
    Column("task", line_words, is_words=True),
    Column("N", "n"),
    Column("samples", "samples"),
    *NORMALIZED_COLUMNS,
    Column("on the same items", _same_items_cell),
    Column("mean of n", mean_cell),
    Column("majority", lambda row: points(row["majority"])),
    Column("var. within", number("within", ".3f")),
    Column("var. between", number("between", ".3f")),
)


def samples_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `pass_at_k`, a line for all k."""
    lines: dict[tuple[Any, ...], dict[Any, Any]] = {}
    for row in frame.iter_rows(named=True):
        key = tuple(row[name] for name in (*RUN, "bucket", "task"))
        passes = _with_count(
            row, "pass_at_k", "pass_n", counted=row["pass_n"] < row["n"]
        )
        passes += f"\n{interval(row, 'pass_')}"
        lines.setdefault(key, row)[f"pass@{row['k']}"] = passes
    names = [f"pass@{k}" for k in sorted(frame["k"].unique())]
    columns = [*_SAMPLES, *(Column(name, partial(_passes, name)) for name in names)]
    return sheet_of(
        "Several samples per item", columns, lines.values(), notes_of("samples")
    )


def _passes(name: str, row: Row) -> str:
    return str(row.get(name, "-"))
