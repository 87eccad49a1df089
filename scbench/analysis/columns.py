"""Types of the columns that tables share."""

from typing import Any

import polars as pl

# Columns of results that identify one score within a sample of a run.
ITEM = ("id", "subtask")


def texts(*names: str) -> dict[str, Any]:
    """Return the types of columns of texts, for names separated by spaces."""
    return _types(pl.String, names)


def counts(*names: str) -> dict[str, Any]:
    """Return the types of columns of integers, for names separated by spaces."""
    return _types(pl.Int64, names)


def figures(*names: str) -> dict[str, Any]:
    """Return the types of columns of numbers, for names separated by spaces."""
    return _types(pl.Float64, names)


def _types(kind: Any, names: tuple[str, ...]) -> dict[str, Any]:  # noqa: ANN401
    return dict.fromkeys(" ".join(names).split(), kind)


# Columns that identify a run, and a line of a table, made by the functions above.
# `over` has the tasks of a line.
RUN_TYPES = texts("model setting") | counts("budget")
LINE_TYPES = texts("bucket task over")
