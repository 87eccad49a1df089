"""How far two judges agree on the same candidates."""

from collections import Counter
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.failure_modes.labels import Mode
from scbench.analysis.failure_modes.shares import square_sheet
from scbench.analysis.layout import Sheet
from scbench.analysis.results import counts, figures, texts
from scbench.analysis.sheets import points
from scbench.base.errors import ResultsError, printable
from scbench.base.intervals import LEVEL, Floats

AGREEMENT: Mapping[str, Any] = (
    texts("first_label second_label")
    | counts("count n")
    | figures("agreement kappa kappa_low kappa_high")
)
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
        throughout, so that there is no chance to take off) with its interval.

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
    table = np.array([[counts[a, b] for b in Mode] for a in Mode], dtype=np.float64)
    low, high = (None, None) if kappa is None else kappa_interval(table, kappa)
    fixed = {"n": n, "agreement": same / n, "kappa": kappa, "kappa_low": low, "kappa_high": high}
    return pl.DataFrame(
        [
            {"first_label": str(a), "second_label": str(b), "count": counts[a, b]} | fixed
            for a in Mode
            for b in Mode
        ],
        schema=AGREEMENT,
    )


def kappa_interval(table: Floats, kappa: float, level: float = LEVEL) -> tuple[float, float]:
    """Return an interval of Cohen's kappa.

    Its variance is that of Fleiss, Cohen and Everitt (1969), of a table to which two candidates
    are added, one that agrees and one that does not, by the margins: perfect agreement on a few
    candidates is no proof of agreement.

    Args:
        table: counts of pairs of labels, square.
        kappa: of the table.
        level: chance with which the interval is to hold the true kappa.
    """
    n = table.sum() + 2
    shares = (table.sum(axis=0) + table.sum(axis=1)) / (2 * table.sum())
    apart = np.outer(shares, shares) * (1 - np.eye(len(table)))
    p = (table + np.diag(shares) + apart / apart.sum()) / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    agreed, chance = float(np.trace(p)), float(rows @ columns)
    smooth = (agreed - chance) / (1 - chance)
    weights = columns[:, None] + rows[None, :]  # of each cell, the margins of the other judge
    on = float((np.diag(p) * ((1 - chance) - np.diag(weights) * (1 - agreed)) ** 2).sum())
    off = p * weights.T**2
    apart_sum = float(off.sum() - np.trace(off)) * (1 - agreed) ** 2
    last = (agreed * chance - 2 * chance + agreed) ** 2
    spread = max(on + apart_sum - last, 0) ** 0.5 / ((1 - chance) ** 2 * n**0.5)
    half = NormalDist().inv_cdf((1 + level) / 2) * spread
    return max(-1.0, min(smooth - half, kappa)), min(1.0, max(smooth + half, kappa))


def agreement_sheet(frame: pl.DataFrame, first: str, second: str) -> Sheet:
    """Lay out a table of `agreement`.

    Args:
        frame: the table.
        first: who gave the first labels.
        second: who gave the others.
    """
    head = frame.row(0, named=True)
    kappa = "-"
    if head["kappa"] is not None:
        kappa = f"{head['kappa']:.3f} (95 %: {head['kappa_low']:.3f} to {head['kappa_high']:.3f})"
    agreed = points(head["agreement"])
    note = f"Agreement {agreed} % of {head['n']} candidates, Cohen's kappa {kappa}."
    title = f"Labels by {printable(first)} (rows) and {printable(second)} (columns)"
    return square_sheet(title, "label", list(Mode), frame, note)
