"""Square tables with counts of pairs of states."""

from collections.abc import Sequence

import polars as pl

from scbench.analysis.failure_modes.modes import Mode, meaning_of
from scbench.analysis.layout import Sheet


def state_title(state: str) -> str:
    """Return the display name of a state; states without a label are named by their status."""
    return meaning_of(Mode(state)).short if state in set(Mode) else state


def square_sheet(
    title: str, head: str, states: Sequence[str], pairs: pl.DataFrame, note: str
) -> Sheet:
    """Lay out counts of pairs of states, with their sums.

    Args:
        title: title of the table.
        head: heading of the column of states.
        states: states in their order.
        pairs: frame whose first columns are the row's state, the column's state, and
            the count.
        note: note below the table.
    """
    counts = {}
    for row_state, column_state, count in pairs.select(pairs.columns[:3]).iter_rows():
        counts[row_state, column_state] = count
    table = [[counts[row, column] for column in states] for row in states]
    table.append([sum(column) for column in zip(*table, strict=True)])
    titles = [*map(state_title, states), "all"]
    rows = []
    for name, row in zip(titles, table, strict=True):
        rows.append([name, *map(str, row), str(sum(row))])
    return Sheet(
        title,
        [head, *titles],
        rows,
        words=frozenset({head}),
        notes=[note],
        breaks=frozenset({len(states)}),
    )
