"""Text against pictures of the same instances: what seeing costs a model."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from scbench.analysis.columns import LINE_TYPES, counts, figures, texts
from scbench.analysis.compare import compare_runs
from scbench.analysis.layout import Column, Sheet, notes_of, sheet_of
from scbench.analysis.prompts import ON_PICTURES, without_prompt
from scbench.analysis.results import config_in, read_results
from scbench.analysis.sheets import (
    after_sums,
    interval_below,
    line_words,
    share,
    signed,
)
from scbench.base.errors import ResultsError, printable
from scbench.base.model import LADDER, PICTURES, rung_of

# Columns of `modality_table`.
SCHEMA: Mapping[str, Any] = (
    texts("run style")
    | counts("rung")
    | LINE_TYPES
    | counts("n")
    | figures("text picture gap low high")
)
# Draws of the test, whose outcome this table does not show.
_FEW = 200


_COLUMNS = (
    Column("task", line_words, is_words=True),
    Column("N", "n"),
    Column("text", share("text")),
    Column("picture", share("picture")),
    Column("gap", lambda row: signed(row["gap"]) + interval_below(row, form=signed)),
)


def modality_table(
    paths: Sequence[str | Path], *, partial: bool = False
) -> pl.DataFrame:
    """Return the gap between text and pictures of the same instances, by task and overall.

    Args:
        paths: results of the config ``pictures``, and of ``default`` or ``ladder`` or both.
        partial: whether tasks may lack as a whole.

    Returns:
        A row per run, style, rung (null for the fixed lists), task, bucket and overall, with
        columns `SCHEMA`: n (scores in both), normalized scores, and the gap, text minus picture,
        with its interval, from the differences of the same instances.

    Raises:
        ResultsError: there are no results of pictures, or none of text, or see `read_results`.
    """
    configs = {path: config_in(path) for path in paths}
    drawn = [path for path, config in configs.items() if config == PICTURES]
    plain = {
        config: [path for path in configs if configs[path] == config]
        for config in ("", LADDER)
    }
    if not drawn or not any(plain.values()):
        lacking = "of text" if drawn else "of the config pictures (--tasks pictures)"
        raise ResultsError(
            f"name results of text and of pictures; there are none {lacking}"
        )
    rows: list[dict[str, Any]] = []
    for own in filter(None, plain.values()):
        results = read_results(
            [*own, *drawn], partial=partial, tell_apart=True, both_prompts=True
        )
        rows += gap_lines(results)
    if not rows:
        raise ResultsError("no run has scores of text and of pictures")
    return pl.DataFrame(rows, schema=SCHEMA)


def gap_lines(results: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of `modality_table` from results read with ``both_prompts``."""
    rungs = {name: rung_of(name) for name in results["id"].unique()}
    lines: list[dict[str, Any]] = []
    for rung in sorted({*rungs.values()}, key=lambda value: value or 0):
        on_rung = [name for name, place in rungs.items() if place == rung]
        lines += _gap_lines_of(results.filter(pl.col("id").is_in(on_rung)), rung)
    return lines


def _gap_lines_of(results: pl.DataFrame, rung: int | None) -> Iterator[dict[str, Any]]:
    """Yield the lines of the runs that answered both, over the instances that both have."""
    for style, words in ON_PICTURES.items():
        models = {name for name in results["model"].unique() if words in name}
        pairs = {without_prompt(name): name for name in models}
        both = results.filter(pl.col("model").is_in([*pairs, *pairs.values()]))
        if not pairs or both["model"].n_unique() < 2:
            continue
        for line in compare_runs(both, draws=_FEW).iter_rows(named=True):
            yield {name: line[name] for name in (*LINE_TYPES, "n", "low", "high")} | {
                "run": line["second"],
                "style": style,
                "rung": rung,
                "text": line["second_normalized"],
                "picture": line["first_normalized"],
                "gap": line["difference"],
            }


def modality_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `modality_table`, a sheet for each run, style and rung."""
    sheets = []
    parts = [*frame.group_by("run", "style", "rung", maintain_order=True)]
    for number, ((run, style, rung), part) in enumerate(parts, 1):
        rows = part.to_dicts()
        notes = (
            notes_of("modality") if number == len(parts) else []
        )  # once, below the last table
        where = "" if rung is None else f", rung {rung}"
        title = f"{printable(str(run))}: text against pictures ({style}){where}"
        sheets.append(sheet_of(title, _COLUMNS, rows, notes, after_sums(rows)))
    return sheets
