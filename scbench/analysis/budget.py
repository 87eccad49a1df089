"""What a larger output-token budget buys: accuracy against the tokens really used.

Tokens are those that the provider reports, reasoning included, never an estimate. A wrong answer is
not an invalid one: truncated, empty and unreadable answers are counted apart.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from scbench.analysis.paper import paper_table
from scbench.analysis.resample import LEVEL, RESAMPLES
from scbench.errors import ResultsError
from scbench.grading.outcome import CUT_OFF
from scbench.grading.score_tables import OVERALL, RUN
from scbench.model import Status

COLUMNS = ("usage", "finish_reason", "response_characters")
"""Columns of the results that a sweep needs in addition to `scbench.analysis.results.NEEDED`."""

SCHEMA: Mapping[str, Any] = {
    "model": pl.String,
    "setting": pl.String,
    "budget": pl.Int64,
    "n": pl.Int64,
    "coverage": pl.Float64,
    "accuracy": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "mean_output_tokens": pl.Float64,
    "token_observations": pl.Int64,
    "truncated": pl.Float64,
    "empty": pl.Float64,
    "cap_hit": pl.Float64,
    "unparsed": pl.Float64,
    "api_error": pl.Float64,
}
"""Columns of `budget_sweep`."""


def budget_sweep(
    results: pl.DataFrame,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> pl.DataFrame:
    """Return one point per model, setting and budget.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, with `COLUMNS`; rows
            without a budget are left out.
        resamples: bootstrap resamples; 0 for no intervals.
        seed: of the bootstrap.
        level: of the intervals.

    Returns:
        Columns `SCHEMA`: n (rows of the point), coverage, accuracy (mean of the scored rows) with
        its interval, mean_output_tokens over the token_observations rows that report them, and
        shares of n: truncated (the finish reason is a length limit), empty (no visible character),
        cap_hit (as many output tokens as the budget or more), unparsed and api_error. In order of
        model, setting and tokens used.

    Raises:
        ResultsError: no row has a budget.
    """
    rows = results.filter(pl.col("budget").is_not_null())
    if rows.is_empty():
        raise ResultsError(
            "no row has a budget; give each prediction of a sweep its output-token limit as "
            '"budget", and what the provider reports as "usage"'
        )
    tokens = pl.col("usage").str.json_path_match("$.output_tokens").cast(pl.Int64, strict=False)
    reasons = (
        pl.col("finish_reason").str.strip_chars().str.to_lowercase().str.split(".").list.last()
    )
    # A line without a text is no empty reply, unless it says that the limit cut it off.
    silent = (pl.col("response_characters") == 0) | (
        pl.col("response_characters").is_null() & (pl.col("status") == Status.TRUNCATED.value)
    )
    # Whatever was swept is one whole here, text tasks too.
    whole = rows.with_columns(bucket=pl.lit(OVERALL))
    means = paper_table(whole, resamples=resamples, seed=seed, level=level)
    points = (
        rows.with_columns(tokens=tokens)
        .group_by(RUN)
        .agg(
            n=pl.len().cast(pl.Int64),
            mean_output_tokens=pl.col("tokens").mean(),
            token_observations=pl.col("tokens").count().cast(pl.Int64),
            truncated=(reasons.is_in(CUT_OFF) | (pl.col("status") == Status.TRUNCATED.value))
            .fill_null(value=False)
            .mean(),
            empty=silent.fill_null(value=False).mean(),
            cap_hit=(pl.col("tokens") >= pl.col("budget")).fill_null(value=False).mean(),
            unparsed=(pl.col("status") == Status.UNPARSED.value).mean(),
            api_error=(pl.col("status") == Status.API_ERROR.value).mean(),
        )
        .join(
            means.filter(pl.col("bucket") == OVERALL).select(
                *RUN, "coverage", "low", "high", accuracy="mean"
            ),
            on=RUN,
            nulls_equal=True,
        )
        .sort("model", "setting", "mean_output_tokens", "budget", nulls_last=True)
    )
    return points.select(list(SCHEMA))
