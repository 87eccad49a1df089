"""Text compared with pictures of the same instances: how much a model loses on pictures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from scbench.analysis.columns import LINE_TYPES, counts, figures, texts
from scbench.analysis.compare import compare_runs
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
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
# Draws of the test; this table does not show its outcome.
_DRAWS = 200


def modality_table(
    paths: Sequence[str | Path], *, partial: bool = False
) -> pl.DataFrame:
    """Return the gap between text and pictures of the same instances, by task and overall.

    Args:
        paths: results of the config ``pictures``, and of ``default`` or ``ladder`` or both.
        partial: whether whole tasks may be missing.

    Returns:
        A row per run, style, rung (null for the fixed lists), task, bucket and overall,
        with columns `SCHEMA`: n (scores in both), normalized scores, and the gap (text
        minus picture, paired by instance) with its interval.

    Raises:
        ResultsError: there are no results for pictures or none for text; see also
            `read_results`.
    """
    by_config: dict[str, list[str | Path]] = {}
    for path in dict.fromkeys(paths):
        by_config.setdefault(config_in(path), []).append(path)
    pictures = by_config.get(PICTURES, [])
    # The fixed lists share no table with the ladder.
    texts_of_configs = [by_config[name] for name in ("", LADDER) if name in by_config]
    if not pictures or not texts_of_configs:
        missing = (
            "for text" if pictures else "for the config pictures (--tasks pictures)"
        )
        raise ResultsError(
            f"this needs results for both text and pictures; there are none {missing}"
        )
    rows: list[dict[str, Any]] = []
    for files in texts_of_configs:
        results = read_results(
            [*files, *pictures], partial=partial, add_file_names=True, both_prompts=True
        )
        rows += gap_lines(results)
    if not rows:
        raise ResultsError("no run has scores of both text and pictures")
    return pl.DataFrame(rows, schema=SCHEMA)


def gap_lines(results: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of `modality_table` from results read with ``both_prompts``."""
    ids: dict[int | None, list[str]] = {}
    for name in results["id"].unique():
        ids.setdefault(rung_of(name), []).append(name)
    lines: list[dict[str, Any]] = []
    for rung in sorted(ids, key=lambda value: value or 0):
        on_rung = results.filter(pl.col("id").is_in(ids[rung]))
        lines += gap_lines_of_rung(on_rung, rung)
    return lines


def gap_lines_of_rung(
    results: pl.DataFrame, rung: int | None
) -> Iterator[dict[str, Any]]:
    """Yield lines for runs that answered text and pictures, over the instances in both."""
    for style, words in ON_PICTURES.items():
        seeing = {name for name in results["model"].unique() if words in name}
        if not seeing:
            continue
        reading = {without_prompt(name) for name in seeing}
        paired = results.filter(pl.col("model").is_in([*reading, *seeing]))
        # No model answered both.
        if paired["model"].n_unique() < 2:
            continue
        for line in compare_runs(paired, draws=_DRAWS).iter_rows(named=True):
            cells = {name: line[name] for name in (*LINE_TYPES, "n", "low", "high")}
            yield cells | {
                "run": line["second"],
                "style": style,
                "rung": rung,
                "text": line["second_normalized"],
                "picture": line["first_normalized"],
                "gap": line["difference"],
            }


def modality_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `modality_table` as a sheet for each run, style and rung."""
    columns = (
        Column("task", line_words, is_words=True),
        Column("N both", "n"),
        Column("text", share("text")),
        Column("picture", share("picture")),
        Column("gap", gap_cell),
    )
    sheets = []
    parts = frame.partition_by("run", "style", "rung", maintain_order=True)
    for part in parts:
        rows = part.to_dicts()
        run = rows[0]["run"]
        style = rows[0]["style"]
        rung = rows[0]["rung"]
        place = "" if rung is None else f", rung {rung}"
        title = f"{printable(run)}: text or pictures ({style}){place}"
        # Notes go only below the last table.
        notes = notes_of("modality") if part is parts[-1] else []
        sheets.append(sheet_of(title, columns, rows, notes, after_sums(rows)))
    return sheets


def gap_cell(row: Row) -> str:
    """Return a gap with its interval below."""
    return signed(row["gap"]) + interval_below(row, form=signed)
