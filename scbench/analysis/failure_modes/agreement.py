"""Agreement of two judges on the same candidates."""

from collections import Counter
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.columns import counts, figures, texts
from scbench.analysis.failure_modes.modes import Mode
from scbench.analysis.failure_modes.squares import square_sheet
from scbench.analysis.layout import Sheet
from scbench.analysis.sheets import points
from scbench.base.errors import ResultsError, printable
from scbench.base.intervals import LEVEL, Floats
from scbench.base.wording import counted

# Columns of `agreement`.
AGREEMENT: Mapping[str, Any] = (
    texts("first_label second_label")
    | counts("count n")
    | figures("agreement kappa kappa_low kappa_high")
)


def agreement(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """Return the confusion matrix and the agreement of two judges.

    Args:
        first: labels of one judge, columns `scbench.analysis.failure_modes.label_files.LABELS`.
        second: labels of the other judge, with the same columns.

    Returns:
        The confusion matrix, a row per pair of labels, with columns `AGREEMENT`: count,
        and three figures that are equal in all rows: n (candidates), agreement (the
        share with the same label) and Cohen's kappa with its interval. Kappa corrects
        for chance agreement; it is null if both judges gave every candidate the same
        label, which leaves it undefined.

    Raises:
        ResultsError: the labels are for different candidates, or there are none.
    """
    only_first = first.join(second, on="candidate", how="anti").height
    only_second = second.join(first, on="candidate", how="anti").height
    if only_first or only_second:
        raise ResultsError(
            "the label files cover different candidates: "
            f"{counted(only_first, 'candidate')} only in the first, {only_second} only in the "
            "second"
        )
    if first.is_empty():
        raise ResultsError("there are no labels to compare")
    first_labels = first.select("candidate", first="failure_mode")
    second_labels = second.select("candidate", second="failure_mode")
    paired = first_labels.join(second_labels, on="candidate")
    counts_of_pairs = Counter(paired.select("first", "second").iter_rows())
    n = paired.height
    agreeing = sum(counts_of_pairs[mode, mode] for mode in Mode)
    first_counts = Counter(paired["first"].to_list())
    second_counts = Counter(paired["second"].to_list())
    # Integers, so that perfect agreement gives exactly 1.
    chance = sum(first_counts[mode] * second_counts[mode] for mode in Mode)
    kappa = None
    low = None
    high = None
    if chance < n * n:
        kappa = (n * agreeing - chance) / (n * n - chance)
        table = [[counts_of_pairs[row, column] for column in Mode] for row in Mode]
        low, high = kappa_interval(np.array(table, dtype=np.float64), kappa)
    overall = {
        "n": n,
        "agreement": agreeing / n,
        "kappa": kappa,
        "kappa_low": low,
        "kappa_high": high,
    }
    rows = []
    for row in Mode:
        for column in Mode:
            pair = {"first_label": str(row), "second_label": str(column)}
            rows.append(pair | {"count": counts_of_pairs[row, column]} | overall)
    return pl.DataFrame(rows, schema=AGREEMENT)


def kappa_interval(
    table: Floats, kappa: float, level: float = LEVEL
) -> tuple[float, float]:
    """Return an interval of Cohen's kappa.

    The variance follows Fleiss, Cohen and Everitt (1969). Two candidates, one agreement
    and one disagreement, are first added to the table and distributed by its margins,
    so that perfect agreement on a few candidates gives a wide interval.

    Args:
        table: square table with the counts of pairs of labels.
        kappa: kappa of the table.
        level: confidence level of the interval.
    """
    total = table.sum()
    margins = (table.sum(axis=0) + table.sum(axis=1)) / (2 * total)
    agreement_added = np.diag(margins)
    off_diagonal = np.outer(margins, margins) * (1 - np.eye(len(table)))
    disagreement_added = off_diagonal / off_diagonal.sum()
    n = total + 2
    p = (table + agreement_added + disagreement_added) / n
    rows = p.sum(axis=1)
    columns = p.sum(axis=0)
    agreed = float(np.trace(p))
    chance = float(rows @ columns)
    smooth = (agreed - chance) / (1 - chance)
    # For each cell, the margins of the other judge.
    weights = columns[:, None] + rows[None, :]
    # The three terms of the variance: agreement, disagreement, and their squared mean.
    diagonal = (1 - chance) - np.diag(weights) * (1 - agreed)
    on = float((np.diag(p) * diagonal**2).sum())
    squares = p * weights.T**2
    off = float(squares.sum() - np.trace(squares)) * (1 - agreed) ** 2
    mean = (agreed * chance - 2 * chance + agreed) ** 2
    error = max(on + off - mean, 0) ** 0.5 / ((1 - chance) ** 2 * n**0.5)
    half_width = NormalDist().inv_cdf((1 + level) / 2) * error
    # The interval contains kappa, although its centre includes the added candidates.
    low = min(smooth - half_width, kappa)
    high = max(smooth + half_width, kappa)
    return max(-1.0, low), min(1.0, high)


def agreement_sheet(frame: pl.DataFrame, first: str, second: str) -> Sheet:
    """Lay out a table of `agreement`.

    Args:
        frame: the table.
        first: judge of the first labels.
        second: judge of the second labels.
    """
    head = frame.row(0, named=True)
    kappa = "-"
    if head["kappa"] is not None:
        kappa = f"{head['kappa']:.3f} (95 %: {head['kappa_low']:.3f} to {head['kappa_high']:.3f})"
    agreed = points(head["agreement"])
    note = f"Agreement: {agreed} % of {head['n']} candidates. Cohen's kappa: {kappa}."
    title = f"Labels by {printable(first)} (rows) and {printable(second)} (columns)"
    return square_sheet(title, "label", list(Mode), frame, note)
