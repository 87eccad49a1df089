"""How far two judges agree on the same candidates."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from scbench.analysis.failure_modes.labels import Mode
from scbench.errors import ResultsError

AGREEMENT: Mapping[str, Any] = {
    "first_label": pl.String(),
    "second_label": pl.String(),
    "count": pl.Int64(),
    "n": pl.Int64(),
    "agreement": pl.Float64(),
    "kappa": pl.Float64(),
}
"""Columns of `agreement`."""


def agreement(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """Return how far two judges agree on the same candidates.

    Args:
        first: labels of one judge, columns `scbench.analysis.failure_modes.decisions.LABELS`.
        second: those of another.

    Returns:
        The confusion matrix, a row per pair of labels, with columns `AGREEMENT`: count; and the
        same in every row: n (candidates), agreement (the share with the same label) and Cohen's
        kappa, which takes off what would agree by chance (null if both gave one and the same label
        throughout, so that there is no chance to take off).

    Raises:
        ResultsError: the two are not of the same candidates, or there are none.
    """
    lacking = [
        a.join(b, on="candidate", how="anti").height for a, b in ((first, second), (second, first))
    ]
    if any(lacking):
        raise ResultsError(
            f"the labels are of different candidates: {lacking[0]} are in the first file alone, "
            f"{lacking[1]} in the second"
        )
    if first.is_empty():
        raise ResultsError("there are no labels to compare")
    both = first.select("candidate", a="failure_mode").join(
        second.select("candidate", b="failure_mode"), on="candidate"
    )
    counts = Counter(both.select("a", "b").iter_rows())
    n = both.height
    same = sum(counts[mode, mode] for mode in Mode)
    ours, theirs = (Counter(both[side].to_list()) for side in "ab")
    # Whole numbers, so that perfect agreement gives exactly 1.
    chance = sum(ours[mode] * theirs[mode] for mode in Mode)
    kappa = (n * same - chance) / (n * n - chance) if chance < n * n else None
    fixed = {"n": n, "agreement": same / n, "kappa": kappa}
    return pl.DataFrame(
        [
            {"first_label": str(a), "second_label": str(b), "count": counts[a, b]} | fixed
            for a in Mode
            for b in Mode
        ],
        schema=AGREEMENT,
    )
