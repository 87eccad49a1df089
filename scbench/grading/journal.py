"""The journal: finished rows, kept while a run goes on, so that a cut-off run can be resumed."""

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from scbench import __version__
from scbench.catalog import Task
from scbench.errors import ResultsError
from scbench.grading.rows import Row
from scbench.model import Instance

JOURNAL = "journal.jsonl"


def journal_key(number: int, prediction_hash: str, instance: Instance, task: Task, run: str) -> str:
    """Return what the rows of a line depend on.

    Args:
        number: of the line.
        prediction_hash: SHA-256 of its bytes.
        instance: that it answers.
        task: of the instance; its grader's version counts.
        run: what is the same for the whole run, such as the release.
    """
    versions = f"{task.grader_version} {__version__}"
    return f"{number} {prediction_hash} {instance.content_hash} {versions} {run}"


class Journal:
    """Rows finished so far, one JSON line per graded line of input.

    Args:
        folder: the output folder; made if it does not exist.
        resume: take over rows of an interrupted run.
        restart: throw the rows of an interrupted run away.

    Raises:
        ResultsError: the folder holds an interrupted run and neither is said, or it is not
            writable.
    """

    def __init__(self, folder: Path, *, resume: bool, restart: bool) -> None:
        self.path = folder / JOURNAL
        self.done: dict[str, list[Row]] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and not (resume or restart):
                raise ResultsError(
                    f"{folder} holds an interrupted run; go on with --resume, "
                    "throw it away with --restart, or choose another --out"
                )
            if resume and self.path.exists():
                self._load()
            self._file: IO[str] = self.path.open("a" if resume else "w", encoding="utf-8")
        except OSError as error:
            raise ResultsError(f"cannot write to {folder}: {error.strerror}") from None

    def _load(self) -> None:
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):  # the last line was cut off by the kill
            os.truncate(self.path, len(whole))
        for line in whole.splitlines():
            # Lines of another version, or damaged ones, are graded anew.
            with contextlib.suppress(ValueError, TypeError):
                key, rows = json.loads(line)
                self.done[key] = [Row(*values) for values in rows]

    def add(self, key: str, rows: Iterable[Row]) -> None:
        """Append the rows of one line and hand them to the operating system."""
        values = [[getattr(row, name) for name in Row.__slots__] for row in rows]
        self._file.write(json.dumps([key, values]) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the journal and leave it for a later run, unless nothing was graded."""
        self._file.close()
        if self.path.stat().st_size == 0:
            self.path.unlink()

    def remove(self) -> None:
        """Close the journal and take it away: the results are written."""
        self._file.close()
        self.path.unlink()
