"""Writing the output of a run: every file whole or not at all."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scbench.errors import ResultsError

if TYPE_CHECKING:
    import polars as pl

RESULTS = "results.parquet"
SUMMARY = "summary.json"


def write_results(folder: Path, frame: "pl.DataFrame", summary: Mapping[str, Any]) -> None:
    """Write results and summary, each whole or not at all.

    Raises:
        ResultsError: the folder cannot be written.
    """
    text = json.dumps(summary, indent=1, ensure_ascii=False) + "\n"
    try:
        write_whole(folder / RESULTS, lambda path: frame.write_parquet(path, compression="zstd"))
        write_whole(folder / SUMMARY, lambda path: path.write_text(text, "utf-8"))
    except OSError as error:
        raise ResultsError(f"cannot write to {folder}: {error.strerror}") from None


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place and move it there, so that nobody ever sees half of it."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
