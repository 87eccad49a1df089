"""Writing the output of a run: every file whole or not at all."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scbench.errors import ResultsError

RESULTS = "results.parquet"
SUMMARY = "summary.json"


def write_results(folder: Path, results: Path, summary: Mapping[str, Any]) -> None:
    """Put results and summary into their places, each whole or not at all.

    The finished results are moved there, on the same file system; the summary is written as JSON.

    Raises:
        ResultsError: the folder cannot be written.
    """
    text = json.dumps(summary, indent=1, ensure_ascii=False) + "\n"
    try:
        results.replace(folder / RESULTS)
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
