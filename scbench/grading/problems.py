"""Problems of a run: counted, the first ones kept, all of them written down."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from scbench.predictions import Problem

PROBLEMS = "problems.jsonl"
SHOWN = 1000
"""How many problems a summary spells out."""


class Problems:
    """Takes problems in the order of lines.

    Args:
        path: file to write all of them to, one JSON object a line.
    """

    def __init__(self, path: Path) -> None:
        self.counts: Counter[str] = Counter()
        self.first: list[Problem] = []
        self.path = path
        self._file: IO[str] | None = None

    def add(self, problem: Problem, **more: object) -> None:
        """Take one.

        Args:
            problem: what is wrong.
            more: what else the file is to say of it.
        """
        self.counts[problem.code] += 1
        if len(self.first) < SHOWN:
            self.first.append(problem)
        if self._file is None:
            self._file = self.path.open("w", encoding="utf-8")
        fields = {
            "code": problem.code,
            "message": problem.message,
            "line": problem.line,
            "id": problem.id,
            **more,
        }
        self._file.write(json.dumps(fields, ensure_ascii=False) + "\n")

    def extend(self, problems: Iterable[Problem]) -> None:
        """Take several."""
        for problem in problems:
            self.add(problem)

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def place(self, target: Path, *, wanted: bool) -> None:
        """Move the file to its place; remove what an earlier run left there.

        Args:
            target: where it belongs.
            wanted: whether it is to be there, if there is any problem.
        """
        self.close()
        if wanted and self.counts:
            self.path.replace(target)
        else:
            target.unlink(missing_ok=True)
