"""Types of the columns that tables share."""

from typing import Any

import polars as pl

# Columns of results that identify one score within a sample of a run.
ITEM = ("id", "subtask")
# Columns that identify a run.
RUN_TYPES: dict[str, Any] = {
    "model": pl.String,
    "setting": pl.String,
    "budget": pl.Int64,
}
# Columns that identify a line of a table; `over` names the tasks of the line.
LINE_TYPES: dict[str, Any] = dict.fromkeys(("bucket", "task", "over"), pl.String)


def texts(*names: str) -> dict[str, Any]:
    """Return the types of text columns with these names, which are separated by spaces."""
    return _types(pl.String, names)


def counts(*names: str) -> dict[str, Any]:
    """Return the types of integer columns with these names, which are separated by spaces."""
    return _types(pl.Int64, names)


def figures(*names: str) -> dict[str, Any]:
    """Return the types of float columns with these names, which are separated by spaces."""
    return _types(pl.Float64, names)


def filled_columns(frame: pl.DataFrame) -> set[str]:
    """Return the columns of a table that have a value in any row."""
    return {name for name in frame.columns if frame[name].is_not_null().any()}


def _types(kind: Any, names: tuple[str, ...]) -> dict[str, Any]:  # noqa: ANN401
    return dict.fromkeys(" ".join(names).split(), kind)
