"""What a larger output-token budget buys: accuracy against the tokens really used.

Tokens are those that the provider reports, reasoning included, never an estimate. A wrong answer is
not an invalid one: truncated, empty and unreadable answers are counted apart.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from scbench.analysis.layout import Column, Sheet, sheet_of
from scbench.analysis.matrix import means_of, score_matrix
from scbench.analysis.results import RUN_TYPES, counts, figures, texts
from scbench.analysis.runs import run_table
from scbench.analysis.sheets import above_notes, figure, number, share
from scbench.analysis.usage import usage, was_answered, was_cut_off
from scbench.base.errors import ResultsError
from scbench.base.intervals import LEVEL
from scbench.base.model import Status
from scbench.grading.score_tables import ABOVE, RUN

COLUMNS = ("usage", "finish_reason", "response_characters", "run_metadata", "prompt_sha256")
"""Columns of the results that a sweep needs in addition to `scbench.analysis.results.NEEDED`."""

SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | texts("stated")
    | counts("n answered")
    | figures("coverage accuracy low high", *ABOVE, "mean_output_tokens")
    | counts("token_observations")
    | figures("truncated empty cap_hit unparsed api_error")
)
"""Columns of `budget_sweep`."""


def budget_sweep(results: pl.DataFrame, *, level: float = LEVEL) -> pl.DataFrame:
    """Return one point per model, setting and budget.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, with `COLUMNS`; rows
            without a budget are left out.
        level: of the intervals.

    Returns:
        Columns `SCHEMA`: stated (whether the prompt said the budget: yes, no, or null if the
        predictions do not say), n (rows of the point), answered (those that were replied to),
        coverage, accuracy (mean of the scored rows) with its interval and what lies above the
        floor, mean_output_tokens over the token_observations rows that report them, and shares of
        the answered: truncated (the finish reason is a length limit), empty (no visible character),
        cap_hit (as many output tokens as the budget or more) and unparsed; and of all rows:
        api_error. In order of model, setting and
        tokens used.

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
        pl.col("response_characters").is_null() & (pl.col("status") == Status.TRUNCATED.value)
    )
    # Whatever was swept is one whole here, text tasks too.
    matrix = score_matrix(rows)
    totals = means_of(list(matrix.blocks.values()), level)
    means = [
        dict(zip(RUN, run, strict=True))
        | {"coverage": totals.scored[r] / totals.expected[r]}
        | {"accuracy" if name == "mean" else name: v for name, v in totals.cells(r).items()}
        for r, run in enumerate(matrix.runs)
    ]
    names = ("coverage", "accuracy", "low", "high", *ABOVE)
    types = {"model": pl.String, "setting": pl.String, "budget": pl.Int64}
    accuracy = pl.DataFrame(
        [{name: row[name] for name in (*types, *names)} for row in means],
        schema=types | dict.fromkeys(names, pl.Float64),
    )
    stated = run_table(rows).select(*RUN, stated="budget_stated")
    tokens = usage("output_tokens")

    def share(what: pl.Expr) -> pl.Expr:
        return what.fill_null(value=False).filter(was_answered()).mean()

    points = (
        rows.group_by(RUN)
        .agg(
            n=pl.len().cast(pl.Int64),
            answered=was_answered().sum().cast(pl.Int64),
            mean_output_tokens=tokens.mean(),
            token_observations=tokens.count().cast(pl.Int64),
            truncated=share(was_cut_off()),
            empty=share(silent),
            cap_hit=share(tokens >= pl.col("budget")),
            unparsed=share(pl.col("status") == Status.UNPARSED.value),
            api_error=(pl.col("status") == Status.API_ERROR.value).mean(),
        )
        .join(accuracy, on=RUN, nulls_equal=True)
        .join(stated, on=RUN, nulls_equal=True)
        .sort("model", "setting", "mean_output_tokens", "budget", nulls_last=True)
    )
    return points.select(list(SCHEMA))


_SHARES = ("truncated", "empty", "cap_hit", "unparsed", "api_error")
_SWEEP = (
    Column("model", "model", is_words=True),
    Column("setting", "setting", is_words=True),
    Column("budget", number("budget", ",")),
    Column("stated", lambda row: row["stated"] or "-"),
    Column("N", "n"),
    Column("accuracy", lambda row: figure({**row, "mean": row["accuracy"]}, row["n"])),
    Column("mean tokens", number("mean_output_tokens", ",.1f")),
    Column("reported", lambda row: f"{row['token_observations']}/{row['n']}"),
    Column("answered", "answered"),
    *(Column(name.replace("_", " "), share(name)) for name in _SHARES),
)
_SWEEP_NOTE = (
    "Stated: whether the prompt said the budget. Shares are of the answered, in points; API "
    "errors are of all rows. Tokens: as the provider reports them, where it does."
)


def budget_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `budget_sweep`."""
    notes = [_SWEEP_NOTE, *above_notes(frame)]
    return sheet_of("Output-token budget sweep", _SWEEP, frame.to_dicts(), notes)
