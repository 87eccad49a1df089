"""What a submission spent on an answer, as its predictions say."""

from typing import Any

import polars as pl

from scbench.analysis.usage import usage, was_answered

AMOUNTS = ("output_tokens", "cost")


def spent(results: pl.DataFrame) -> dict[str, Any]:
    """Return mean output tokens and mean cost in US dollars of an answer.

    Args:
        results: all rows of a submission, with id, sample, status and usage.

    Returns:
        Each of `AMOUNTS` over the answers that report it (None if none does), and
        ``AMOUNT_reported``, their number.
    """
    answers = results.filter(was_answered()).unique(["id", "sample"], maintain_order=True)
    told = answers.select(usage(name) for name in AMOUNTS)
    told = told.select(pl.when(pl.all().is_finite() & (pl.all() >= 0)).then(pl.all()))
    return {name: told[name].mean() for name in AMOUNTS} | {
        f"{name}_reported": int(told[name].count()) for name in AMOUNTS
    }
