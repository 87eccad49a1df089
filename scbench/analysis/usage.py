"""What runs used, as the provider reports it, and what that bought."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from scbench.analysis.layout import Column, Row, Sheet, sheet_of
from scbench.analysis.matrix import MEANS, Matrix, means_of, score_matrix
from scbench.analysis.results import LINE_TYPES, RUN_TYPES, counts, figures
from scbench.analysis.sheets import (
    above_notes,
    changes_of,
    line_words,
    mean_cell,
    number,
    run_words,
    share,
)
from scbench.base.errors import ResultsError
from scbench.base.model import Status
from scbench.grading.score_tables import RUN
from scbench.scoring.outcomes import CUT_OFF

COLUMNS = ("usage", "finish_reason")
"""Columns of the results that are needed in addition to `scbench.analysis.results.NEEDED`."""

_AMOUNTS = ("input_tokens", "output_tokens", "reasoning_tokens", "seconds", "cost")

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
"""Columns of `cost_table`."""


def usage(name: str) -> pl.Expr:
    """Return an amount that the provider reports; null where it does not."""
    amount = pl.col("usage").str.json_path_match(f"$.{name}").cast(pl.Float64, strict=False)
    return amount.alias(name)


def was_cut_off() -> pl.Expr:
    """Return whether the length limit ended the output."""
    reasons = (
        pl.col("finish_reason").str.strip_chars().str.to_lowercase().str.split(".").list.last()
    )
    cut = reasons.is_in(CUT_OFF) | (pl.col("status") == Status.TRUNCATED.value)
    return cut.fill_null(value=False)


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
        that were replied to; one answer may have several scores), mean of the scores with its
        interval and what lies above the floor, means of tokens, seconds and cost (US dollars) per
        answer over the answers that report them, with their number, score_per_1000_tokens (the sum
        of scores over the thousands of output tokens, both over answers that report output tokens)
        and cut_off (share of answers that the length limit ended).

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


def _cost_lines(matrix: Matrix, run: int, answers: pl.DataFrame) -> list[dict[str, Any]]:
    names = matrix.runs[run]
    of_run = answers.filter(
        pl.col(column).eq_missing(pl.lit(value)) for column, value in zip(RUN, names, strict=True)
    )
    rows = []
    for bucket, task, tasks in matrix.lines("task"):
        part = of_run.filter(pl.col("task").is_in(tasks))
        if part.is_empty():
            continue
        means = means_of([matrix.blocks[name] for name in tasks]).cells(run)
        row: dict[str, Any] = {
            "bucket": bucket,
            "task": task,
            "over": matrix.over(bucket, task, run),
        }
        row |= {"answers": part.height, "cut_off": part["cut"].mean()}
        row |= {name: means[name] for name in MEANS}
        for name in _AMOUNTS:
            row |= {name: part[name].mean(), f"{name}_reported": part[name].count()}
        reporting = part.filter(pl.col("output_tokens").is_not_null())
        used = float(reporting["output_tokens"].sum())
        row["score_per_1000_tokens"] = (
            1000 * float(reporting["score"].sum()) / used if used else None
        )
        rows.append(row)
    return rows


_COST = (
    Column("model", run_words, is_words=True),
    Column("task", line_words, is_words=True),
    Column("answers", "answers"),
    Column("mean", mean_cell),
)
_FORMS = {**dict.fromkeys(_AMOUNTS[:3], ",.0f"), "seconds": ",.1f", "cost": ",.4f"}
_COST_NOTE = (
    "Per answer, as the provider reports it; below a figure that not all answers have, their "
    "number. Cost is in US dollars; cut off: share of the answers that the length limit ended, "
    "in points. Score per 1,000 tokens: scores over output tokens, where these are reported."
)


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
    notes = [_COST_NOTE, *above_notes(frame)]
    return sheet_of("What answers cost", columns, rows, notes, changes_of([*map(run_words, rows)]))


def _amount(name: str, form: str, row: Row) -> str:
    count = row[f"{name}_reported"]
    lacks_some = row[name] is not None and count < row["answers"]
    return number(name, form)(row) + (f"\nof {count}" if lacks_some else "")
