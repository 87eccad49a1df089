"""Several samples per item: mean, majority, pass@k and variances."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from math import comb
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.columns import ITEM, LINE_TYPES, RUN_TYPES, counts, figures
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import Matrix, score_matrix
from scbench.analysis.sheets import (
    interval,
    line_words,
    mean_cell,
    normalized_columns,
    number,
    points,
    run_words,
)
from scbench.base.intervals import QUANTILE, Part, condense, mean_interval
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

# Scores that are closer than this are equal up to rounding.
_EXACT = 1e-9
# Share of items without a repeated answer above which a vote is meaningless.
_MOST_UNSETTLED = 0.1
_VOTE = pl.Struct({"vote": pl.Float64, "settled": pl.Boolean})
# Sampling variance by run and task; None where no answer has two samples.
_Noise = Mapping[tuple[Any, ...], float | None]


def pass_at_k(
    results: pl.DataFrame, ks: Sequence[int] = (1,), *, passes: float = 1.0
) -> pl.DataFrame:
    """Return mean, majority, pass@k and variances of several samples per item.

    Args:
        results: as returned by `scbench.analysis.results.read_results`, with `COLUMNS`.
        ks: numbers of samples; a line has no row for a k if none of its items has
            enough samples.
        passes: the lowest score that passes.

    Returns:
        One row per run, per task, bucket and overall, and per k, with columns `SCHEMA`:

        - n: scores of one sample that the run has rows for;
        - samples: the smallest number of samples of any item with a score;
        - the figures of a line;
        - same_items: half the width of the 95 % range of the normalized score for new
          samples of the same items; null if a task has no item with two samples;
        - majority: the mean score of the most frequent answer, averaged over ties; null
          if more than a tenth of the items have no answer that occurs twice;
        - majority_n: number of items with such an answer;
        - within: variance between samples of one item, unbiased; null with one sample;
        - between: variance between items beyond that; at least 0;
        - pass_at_k, with its interval: the chance that at least one of k samples, drawn
          without replacement, passes. It is the unbiased estimate 1 - C(n-c, k) / C(n,
          k), averaged over the pass_n scores with k samples or more.
    """
    matrix = score_matrix(results)
    items = item_samples(results, passes)
    noise = sampling_noise(results)
    by_run: dict[Any, list[dict[str, Any]]] = {run: [] for run in matrix.runs}
    for bucket, task, tasks in matrix.lines("task"):
        means = means_of([matrix.blocks[name] for name in tasks])
        of_line = items.filter(pl.col("task").is_in(tasks))
        items_of_runs = of_line.partition_by(RUN, as_dict=True)
        for r, run in enumerate(matrix.runs):
            if run not in items_of_runs:
                continue
            of_run = items_of_runs[run]
            row: dict[str, Any] = dict(zip(RUN, run, strict=True))
            row |= matrix.labels(bucket, task, r)
            row |= {"n": int(means.scores[r]), **line_spread(of_run)}
            row |= means.cells(r)
            row["same_items"] = same_items_range(matrix, tasks, r, noise)
            for k in ks:
                of_k = pass_cells(of_run, k)
                if of_k:
                    by_run[run].append(row | of_k)
    rows = list(chain.from_iterable(by_run.values()))
    return pl.DataFrame(rows, schema=SCHEMA)


def item_samples(results: pl.DataFrame, passes: float) -> pl.DataFrame:
    """Return each item's number of samples, how many of them pass, their variance, and the vote."""
    # Only the first row of an answer contains it.
    answer = pl.col("answer").drop_nulls().first().over(*RUN, "sample", "id")
    scored = results.filter(pl.col("score").is_not_null()).with_columns(answer=answer)
    passed = (pl.col("score") >= passes - _EXACT).sum()
    vote = pl.struct("answer", "score").map_batches(
        _vote, return_dtype=_VOTE, returns_scalar=True
    )
    by_item = scored.group_by(*RUN, "task", *ITEM).agg(
        mean=pl.col("score").sort().mean(),
        variance=pl.col("score").sort().var(),
        samples=pl.len().cast(pl.Int64),
        passed=passed.cast(pl.Int64),
        vote=vote,
    )
    return by_item.unnest("vote").sort(*RUN, "task", *ITEM)


def _vote(samples: pl.Series) -> pl.Series:
    """Return the score of the most frequent answer, and whether any answer was repeated.

    Tied answers share the vote; if no reply was readable, all samples share it. Answers
    are compared as canonical JSON: short answers and labels are often equal, solids
    hardly ever, so a vote on solids is meaningless.
    """
    rows = samples.to_list()
    counts_of_answers = Counter(row["answer"] for row in rows)
    # An unreadable reply gives no answer.
    del counts_of_answers[None]
    highest = max(counts_of_answers.values(), default=0)
    scores = [
        row["score"] for row in rows if counts_of_answers[row["answer"]] == highest
    ]
    vote = sum(sorted(scores)) / len(scores)
    settled = highest > 1 or (highest == 0 and not vote)
    return pl.Series([{"vote": vote, "settled": settled}], dtype=_VOTE)


def sampling_noise(results: pl.DataFrame) -> _Noise:
    """Return, by run and task, the variance of the mean of u caused by sampling alone.

    An answer with one sample gets the mean variance of its task.
    """
    by_item = (
        normalized_answers(results)
        .group_by(*RUN, "task", "id")
        .agg(variance=pl.col("u").sort().var(), samples=pl.len())
        .sort(*RUN, "task", "id")
    )
    filled = pl.col("variance").fill_null(pl.col("variance").mean())
    by_task = by_item.group_by(*RUN, "task", maintain_order=True).agg(
        noise=(filled / pl.col("samples")).sum() / pl.len() ** 2,
        is_known=pl.col("variance").is_not_null().any(),
    )
    noise = {}
    for *run, task, variance, is_known in by_task.iter_rows():
        noise[*run, task] = variance if is_known else None
    return noise


def line_spread(items: pl.DataFrame) -> dict[str, Any]:
    """Return counts, the vote and the variances of a line's items."""
    repeated = items.filter(pl.col("samples") > 1)
    within = repeated["variance"].mean()
    noise = (repeated["variance"] / repeated["samples"]).mean()
    spread = repeated["mean"].var() if repeated.height > 1 else None
    between = None if spread is None else max(0.0, float(spread) - float(noise))  # type: ignore[arg-type]
    settled = int(items["settled"].sum())
    is_settled = settled >= (1 - _MOST_UNSETTLED) * items.height
    return {
        "samples": items["samples"].min(),
        "majority": items["vote"].mean() if is_settled else None,
        "majority_n": settled,
        "within": within,
        "between": between,
    }


def same_items_range(
    matrix: Matrix, tasks: Sequence[str], run: int, noise: _Noise
) -> float | None:
    """Return half the width of the 95 % range of a normalized score for new samples."""
    total = 0.0
    variance = 0.0
    for task in tasks:
        # The mean uses the weights of tasks, its variance their squares.
        weight = float(matrix.blocks[task].weights()[run])
        if not weight:
            continue
        task_variance = noise.get((*matrix.runs[run], task))
        if task_variance is None:
            return None
        total += weight
        variance += weight**2 * task_variance
    return QUANTILE * float(np.sqrt(variance)) / total if total else None


def pass_cells(items: pl.DataFrame, k: int) -> dict[str, Any]:
    """Return pass@k of a line's items with its interval; empty if none has k samples."""
    parts: list[Part] = []
    total = 0.0
    item_count = 0.0
    # Items with fewer samples have no estimate.
    with_k = items.filter(pl.col("samples") >= k)
    for task_items in with_k.partition_by("task", maintain_order=True):
        chances = []
        for n, passed in zip(task_items["samples"], task_items["passed"], strict=True):
            all_fail = comb(n - passed, k) / comb(n, k)
            chances.append(1 - all_fail)
        total += sum(chances)
        item_count += len(chances)
        by_answer = (
            task_items.select("id", chance=pl.Series(chances))
            .group_by("id", maintain_order=True)
            .agg(pl.col("chance").mean(), pl.len())
        )
        weights = by_answer["len"].to_numpy().astype(float)
        parts.append(condense(by_answer["chance"].to_numpy(), weights))
    if not item_count:
        return {}
    low, high = map(float, mean_interval(parts))
    return {
        "k": k,
        "pass_n": round(item_count),
        "pass_at_k": total / item_count,
        "pass_low": low,
        "pass_high": high,
    }


def samples_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `pass_at_k` with one line for all k."""
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in frame.iter_rows(named=True):
        key = tuple(row[name] for name in (*RUN, "bucket", "task"))
        line = lines.setdefault(key, row)
        line[f"pass@{row['k']}"] = pass_cell(row)
    columns = [
        Column("model", run_words, is_words=True),
        Column("task", line_words, is_words=True),
        Column("N", "n"),
        Column("samples", "samples"),
        *normalized_columns(),
        Column("on the same items", same_items_cell),
        Column("mean of n", mean_cell),
        Column("majority", lambda row: points(row["majority"])),
        Column("var. within", number("within", ".3f")),
        Column("var. between", number("between", ".3f")),
    ]
    heads = [f"pass@{k}" for k in sorted(frame["k"].unique())]
    columns += [Column(head, partial(cell_or_dash, head)) for head in heads]
    return sheet_of(
        "Several samples per item", columns, lines.values(), notes_of("samples")
    )


def pass_cell(row: Row) -> str:
    """Return pass@k with its interval, and the number of its scores if it is not over all."""
    lines = [points(row["pass_at_k"])]
    if row["pass_n"] < row["n"]:
        lines.append(f"of {row['pass_n']}")
    lines.append(interval(row, "pass_"))
    return "\n".join(lines)


def same_items_cell(row: Row) -> str:
    """Return the range for new samples of the same items; a dash if unknown."""
    return "-" if row["same_items"] is None else f"± {points(row['same_items'])}"


def cell_or_dash(name: str, row: Row) -> str:
    """Return a cell that exists only in some rows."""
    return str(row.get(name, "-"))
