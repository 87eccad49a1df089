"""What runs used, as the provider reports it, and what that bought: per answer, and per budget.

Tokens are those that the provider reports, reasoning included, never an estimate. In a sweep of
budgets a wrong answer is not an invalid one: truncated, empty and unreadable answers are counted
apart.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from scbench.analysis.columns import LINE_TYPES, RUN_TYPES, counts, figures, texts
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import Matrix, score_matrix
from scbench.analysis.runs import run_table
from scbench.analysis.sheets import (
    NORMALIZED_COLUMNS,
    changes_of,
    interval_below,
    line_words,
    mean_cell,
    number,
    points,
    run_words,
    share,
)
from scbench.base.errors import ResultsError
from scbench.base.finish_reasons import finish_status
from scbench.base.intervals import LEVEL
from scbench.base.model import Status
from scbench.grading.means import MEANS, RUN, means_of, usage

# Columns of the results that are needed in addition to
# `scbench.analysis.results.NEEDED`.
COLUMNS = ("usage", "finish_reason")
# The same, for a sweep of budgets.
SWEEP_COLUMNS = (*COLUMNS, "response_characters", "run_metadata", "prompt_sha256")

_AMOUNTS = ("input_tokens", "output_tokens", "reasoning_tokens", "seconds", "cost")

# Columns of `cost_table`.
SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | LINE_TYPES
    | counts("answers")
    | figures(*MEANS)
    | {
        key: value
        for name in _AMOUNTS
        for key, value in (figures(name) | counts(f"{name}_reported")).items()
    }
    | figures("score_per_1000_tokens cut_off")
)


_COST = (
    Column("model", run_words, is_words=True),
    Column("task", line_words, is_words=True),
    Column("answers", "answers"),
    *NORMALIZED_COLUMNS,
    Column("mean", mean_cell),
)
_FORMS = {**dict.fromkeys(_AMOUNTS[:3], ",.0f"), "seconds": ",.1f", "cost": ",.4f"}
_SWEPT = ["accuracy" if name == "mean" else name for name in MEANS]
# Columns of `budget_sweep`.
SWEEP_SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | texts("stated")
    | counts("n answers answered")
    | figures("coverage", *_SWEPT, "mean_output_tokens")
    | counts("token_observations")
    | figures("truncated empty cap_hit unparsed api_error")
)
_SHARES = ("truncated", "empty", "cap_hit", "unparsed", "api_error")
_SWEEP = (
    Column("model", "model", is_words=True),
    Column("setting", "setting", is_words=True),
    Column("budget", number("budget", ",")),
    Column("stated", lambda row: row["stated"] or "-"),
    Column("N", "n"),
    *NORMALIZED_COLUMNS,
    Column("mean", lambda row: points(row["accuracy"]) + interval_below(row)),
    Column("mean tokens", number("mean_output_tokens", ",.1f")),
    Column("reported", lambda row: f"{row['token_observations']}/{row['answers']}"),
    Column("answered", "answered"),
    *(Column(name.replace("_", " "), share(name)) for name in _SHARES),
)


def was_cut_off() -> pl.Expr:
    """Return whether the length limit ended the output."""
    reasons = pl.col("finish_reason").map_batches(_hit_a_limit, return_dtype=pl.Boolean)
    cut = reasons | (pl.col("status") == Status.TRUNCATED.value)
    return cut.fill_null(value=False)


def _hit_a_limit(reasons: pl.Series) -> pl.Series:
    words = [
        word for word in reasons.unique() if finish_status(word) is Status.TRUNCATED
    ]
    return reasons.is_in(words)


def was_answered() -> pl.Expr:
    """Return whether the model said something, if only up to a limit: it was called, and replied.

    A refusal and an answer that cannot be read are replies, too; what was never sent, blocked, or
    lost on the way is none.
    """
    return pl.col("status").is_in([status.value for status in Status if status.scored])


def cost_table(results: pl.DataFrame) -> pl.DataFrame:
    """Return what runs used per answer, and what that bought.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, with `COLUMNS`.

    Returns:
        One row per run, and per task, bucket and overall, with columns `SCHEMA`: answers (lines
        that were replied to; one answer may have several scores), the figures of a line, means of
        tokens, seconds and cost (US dollars) per answer over the answers that report them, with
        their number, score_per_1000_tokens (the sum of scores over the thousands of output tokens,
        both over answers that report output tokens) and cut_off (share of answers that the length
        limit ended).

    Raises:
        ResultsError: no row reports any usage.
    """
    if results["usage"].is_null().all():
        raise ResultsError(
            'no row reports what it used; give predictions what the provider reports as "usage"'
        )
    matrix = score_matrix(results)
    answers = (
        results.filter(was_answered())
        .with_columns(cut=was_cut_off(), **{name: usage(name) for name in _AMOUNTS})
        .group_by(*RUN, "task", "sample", "id")
        .agg(pl.col("score").sort().sum(), pl.col("cut", *_AMOUNTS).first())
        .sort(*RUN, "task", "sample", "id")
    )
    rows = [
        line | dict(zip(RUN, run, strict=True))
        for r, run in enumerate(matrix.runs)
        for line in _cost_lines(matrix, r, answers)
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _cost_lines(
    matrix: Matrix, run: int, answers: pl.DataFrame
) -> list[dict[str, Any]]:
    names = matrix.runs[run]
    of_run = answers.filter(
        pl.col(column).eq_missing(pl.lit(value))
        for column, value in zip(RUN, names, strict=True)
    )
    rows = []
    for bucket, task, tasks in matrix.lines("task"):
        part = of_run.filter(pl.col("task").is_in(tasks))
        if part.is_empty():
            continue
        means = means_of([matrix.blocks[name] for name in tasks]).cells(run)
        row: dict[str, Any] = matrix.labels(bucket, task, run) | means
        row |= {"answers": part.height, "cut_off": part["cut"].mean()}
        for name in _AMOUNTS:
            row |= {name: part[name].mean(), f"{name}_reported": part[name].count()}
        reporting = part.filter(pl.col("output_tokens").is_not_null())
        used = float(reporting["output_tokens"].sum())
        row["score_per_1000_tokens"] = (
            1000 * float(reporting["score"].sum()) / used if used else None
        )
        rows.append(row)
    return rows


def cost_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `cost_table`, without what nobody reports."""
    rows = frame.to_dicts()
    columns = [
        *_COST,
        *(
            Column(name.replace("_", " "), partial(_amount, name, form))
            for name, form in _FORMS.items()
            if frame[f"{name}_reported"].sum()
        ),
        Column("score / 1,000 tokens", number("score_per_1000_tokens", ".3f")),
        Column("cut off", share("cut_off")),
    ]
    breaks = changes_of([*map(run_words, rows)])
    return sheet_of("What answers cost", columns, rows, notes_of("cost"), breaks)


def _amount(name: str, form: str, row: Row) -> str:
    count = row[f"{name}_reported"]
    lacks_some = row[name] is not None and count < row["answers"]
    return number(name, form)(row) + (f"\nof {count}" if lacks_some else "")


def budget_sweep(results: pl.DataFrame, *, level: float = LEVEL) -> pl.DataFrame:
    """Return one point per model, setting and budget.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, with `SWEEP_COLUMNS`; rows
            without a budget are left out.
        level: of the intervals.

    Returns:
        Columns `SWEEP_SCHEMA`: stated (whether the prompt said the budget: yes, no, or null if the
        predictions do not say), n (rows of the point), answers (an answer may have several rows),
        answered (those that were replied to), coverage, the figures of a line, of which accuracy is
        the mean, mean_output_tokens over the token_observations answers that report them, and
        shares of the answered: truncated (the finish reason is a length limit), empty (no visible
        character), cap_hit (as many output tokens as the budget or more) and unparsed; and of all
        answers: api_error. In order of model, setting and tokens used.

    Raises:
        ResultsError: no row has a budget.
    """
    rows = results.filter(pl.col("budget").is_not_null())
    if rows.is_empty():
        raise ResultsError(
            "no row has a budget; give each prediction of a sweep its output-token limit as "
            '"budget", and what the provider reports as "usage"'
        )
    # A line without a text is no empty reply, unless it says that the limit cut it off.
    silent = (pl.col("response_characters") == 0) | (
        pl.col("response_characters").is_null()
        & (pl.col("status") == Status.TRUNCATED.value)
    )
    # Whatever was swept is one whole here, text tasks too.
    matrix = score_matrix(rows)
    totals = means_of(list(matrix.blocks.values()), level)
    means = [
        dict(zip(RUN, run, strict=True))
        | {"n": int(totals.expected[r])}
        | {"coverage": totals.scored[r] / totals.expected[r]}
        | {
            "accuracy" if name == "mean" else name: v
            for name, v in totals.cells(r).items()
        }
        for r, run in enumerate(matrix.runs)
    ]
    figured = pl.DataFrame(
        means, schema=RUN_TYPES | counts("n") | figures("coverage", *_SWEPT)
    )
    stated = run_table(rows).select(*RUN, stated="budget_stated")
    tokens = usage("output_tokens")

    def share_of_answered(what: pl.Expr) -> pl.Expr:
        return what.fill_null(value=False).filter(was_answered()).mean()

    # One answer may have several scores, and was paid for once.
    answers = rows.unique([*RUN, "task", "id", "sample"], maintain_order=True)
    sweep = (
        answers.group_by(RUN)
        .agg(
            answers=pl.len().cast(pl.Int64),
            answered=was_answered().sum().cast(pl.Int64),
            mean_output_tokens=tokens.mean(),
            token_observations=tokens.count().cast(pl.Int64),
            truncated=share_of_answered(was_cut_off()),
            empty=share_of_answered(silent),
            cap_hit=share_of_answered(tokens >= pl.col("budget")),
            unparsed=share_of_answered(pl.col("status") == Status.UNPARSED.value),
            api_error=(pl.col("status") == Status.API_ERROR.value).mean(),
        )
        .join(figured, on=RUN, nulls_equal=True)
        .join(stated, on=RUN, nulls_equal=True)
        .sort("model", "setting", "mean_output_tokens", "budget", nulls_last=True)
    )
    return sweep.select(list(SWEEP_SCHEMA))


def budget_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `budget_sweep`."""
    return sheet_of(
        "Output-token budget sweep", _SWEEP, frame.to_dicts(), notes_of("budget")
    )
