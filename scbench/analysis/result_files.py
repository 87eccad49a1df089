"""Reading one file of results, and its summary."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError, ResultsError
from scbench.grading.output import SUMMARY
from scbench.grading.rows.columns import column_types
from scbench.machine.children import checked_parquet
from scbench.machine.files import open_regular, read_regular

# Columns that results of earlier versions do not have; they are null there.
NEWER = (
    "floor",
    "run_metadata",
    "prompt_sha256",
    "reasoning_characters",
    "loop",
    "turn_scores",
    "turn_floors",
    "best_score",
    "queries",
)
# Maximum number of folders named in a message.
_MAX_FOLDERS = 5


def read_results_file(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Return some columns of a results file in this order.

    Args:
        path: the file, or the folder that contains it.
        columns: names of the columns.

    Raises:
        ResultsError: the file cannot be read or is not a results file.
    """
    file = results_file(path)
    types = column_types()
    with checked_parquet(file, ResultsError) as lazy:
        stored = lazy.collect_schema()
        missing = [name for name in columns if name not in stored]
        required = [name for name in missing if name not in NEWER]
        if required:
            raise ResultsError(
                f"{file} is not a results file: it has no column {required[0]!r}"
            )
        frame = lazy.select(name for name in columns if name in stored).collect()
    frame = frame.with_columns(pl.lit(None).alias(name) for name in missing)
    frame = frame.select(columns)
    for name in columns:
        if frame.schema[name] not in {types[name], pl.Null}:
            raise ResultsError(
                f"{file}: column {name!r} has the type {frame.schema[name]} instead of "
                f"{types[name]}"
            )
    return frame.cast({name: types[name] for name in columns})


def results_file(path: Path) -> Path:
    """Return the file of results at a path.

    Raises:
        ResultsError: there is no such file, or it is not a Parquet file.
    """
    file = path / "results.parquet" if path.is_dir() else path
    if not file.is_file():
        below = sorted(
            results.parent.name for results in path.glob("*/results.parquet")
        )
        if below:
            raise ResultsError(
                f"{path} contains no results itself, but folders in it do "
                f"({', '.join(below[:_MAX_FOLDERS])}); name those you want, or all: {path}/*"
            )
        raise ResultsError(
            f"no such file: {file}; scbench-grade writes one into its --out folder"
        )
    try:
        with open_regular(file) as opened:
            is_parquet = opened.read(4) == b"PAR1"
    except OSError as error:
        raise ResultsError(f"cannot read {file}: {error.strerror}") from None
    if not is_parquet:
        raise ResultsError(
            f"{file} is not a results file (not Parquet); if it contains predictions, grade it "
            f"first: scbench-grade {file}"
        )
    return file


def is_partial(path: Path) -> bool:
    """Whether predictions were graded as partial, according to the summary of their results."""
    folder = path if path.is_dir() else path.parent
    try:
        summary = parse_json(read_regular(folder / SUMMARY))
    except (OSError, JsonError):
        return False
    return isinstance(summary, dict) and bool(summary.get("partial"))
