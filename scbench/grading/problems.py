"""Problems of a run: counted, the first ones kept, all of them written down."""

import json
from collections import Counter
from pathlib import Path
from typing import IO

from scbench.formats.predictions import Problem
from scbench.grading.imported import Imported
from scbench.grading.rows.columns import RunKey

FORGED = "forged_trace"
"""Code of the problem that a trace is not what the environment gives; such come last."""
SUMMARISED = 1000
"""How many problems a summary spells out."""


class Problems:
    """Takes problems in the order of lines.

    Args:
        path: file to write all of them to, one JSON object a line.
        imported: what the lines were made of, if they are not the user's own.
    """

    def __init__(self, path: Path, imported: Imported | None = None) -> None:
        self._imported = imported
        self.counts: Counter[str] = Counter()
        self.first: list[Problem] = []
        self.path = path
        self._file: IO[str] | None = None

    def add(self, problem: Problem, run: RunKey | None = None) -> None:
        """Take one; of a line that gets a row, with its run."""
        if self._imported is not None:
            problem = self._imported.with_origin(problem)
        self.counts[problem.code] += 1
        if len(self.first) < SUMMARISED:
            self.first.append(problem)
        if self._file is None:
            self._file = self.path.open("w", encoding="utf-8")
        fields = problem.fields() if run is None else problem.fields() | {"run": run}
        self._file.write(json.dumps(fields, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def place(self, target: Path, *, keep: bool) -> None:
        """Move the file to its place if it is to be kept, or remove what an earlier run left."""
        self.close()
        if keep and self.counts:
            self.path.replace(target)
        else:
            target.unlink(missing_ok=True)
