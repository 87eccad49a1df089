"""The metadata of runs, as in the paper's table of runs."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from scbench.analysis.columns import RUN_TYPES, counts, filled_columns, texts
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.base.errors import printable
from scbench.grading.means import RUN
from scbench.grading.score_tables import metadata_by_run

# Columns of the results that are needed in addition to
# `scbench.analysis.results.NEEDED`.
COLUMNS = ("run_metadata", "prompt_sha256")

# Fields of a run's metadata.
_FIELDS = (
    "model_version",
    "effort",
    "temperature",
    "tools",
    "system_prompt_sha256",
    "date",
    "budget_stated",
)

# Columns of `run_table`.
SCHEMA: Mapping[str, Any] = RUN_TYPES | texts(*_FIELDS) | counts("rows prompts_hashed")
# Digits of a hash in a table.
_DIGITS = 12


def run_table(results: pl.DataFrame) -> pl.DataFrame:
    """Return one row per run, with the metadata of its predictions.

    Args:
        results: as returned by `scbench.analysis.results.read_results`, with `COLUMNS`.

    Returns:
        Columns `SCHEMA`. A missing field is null; a field that differs between lines of
        the run contains all its values, joined by " / ". rows is the number of scores
        of the run, and prompts_hashed is the number of scores whose line has the hash
        of the sent prompt.
    """
    metadata = metadata_by_run(results)
    by_run = results.group_by(RUN).agg(
        rows=pl.len().cast(pl.Int64),
        prompts_hashed=pl.col("prompt_sha256").count().cast(pl.Int64),
    )
    rows = []
    for row in by_run.sort(*RUN, nulls_last=False).iter_rows(named=True):
        lines = metadata.get(tuple(row[name] for name in RUN), [])
        rows.append(row | {name: joined_values(lines, name) for name in _FIELDS})
    return pl.DataFrame(rows, schema=SCHEMA)


def joined_values(lines: Sequence[Mapping[str, Any]], name: str) -> str | None:
    """Return the values of a field in all lines of a run; None if there is none."""
    values = dict.fromkeys(value_words(line[name]) for line in lines if name in line)
    return " / ".join(values) or None


def value_words(value: Any) -> str:  # noqa: ANN401
    """Return a value of a run's metadata as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(value) or "none"
    # JSON would print this as true.
    if isinstance(value, bool):
        return "yes" if value else "no"
    return json.dumps(value)


def runs_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `run_table`, without fields that are missing for all runs."""
    filled = filled_columns(frame)
    columns = [
        Column(name, name, is_words=name != "budget") for name in RUN if name in filled
    ]
    for name in _FIELDS:
        if name in filled:
            head = name.replace("_", " ").removesuffix(" sha256")
            cell = partial(field_cell, name)
            columns.append(Column(head, cell, is_words=name != "temperature"))
    columns += [Column("rows", "rows"), Column("prompts hashed", "prompts_hashed")]
    return sheet_of("Runs", columns, frame.to_dicts(), notes_of("runs"))


def field_cell(name: str, row: Row) -> str:
    """Return a field of a run, hashes shortened; a dash if it is missing."""
    if row[name] is None:
        return "-"
    if not name.endswith("sha256"):
        return printable(row[name])
    return " / ".join(digest[:_DIGITS] for digest in row[name].split(" / "))
