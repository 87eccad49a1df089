"""Which items of a release have a line, in each run that a file holds."""

import re
from array import array
from collections.abc import Collection, Iterable, Iterator

from scbench.catalog import all_tasks
from scbench.errors import did_you_mean
from scbench.grading.rows.index import Kind, Known, is_number
from scbench.grading.rows.schema import RunKey
from scbench.predictions import Digest, Line, Problem, open_predictions, read_predictions

_HINTS = 200
"""How many unknown ids are compared with the known ones."""


def run_key(line: Line) -> RunKey:
    """Return the run a line belongs to."""
    prediction = line.prediction
    return RunKey(prediction.model, prediction.setting, prediction.sample, prediction.budget)


def _parts(row_id: str) -> tuple[str, int | None]:
    """Return the task and number an id seems to mean, however it is written."""
    text = row_id.strip().lower()
    name = text.rstrip("0123456789")
    number = int(text[len(name) :]) if is_number(text[len(name) :]) else None
    if number is None:
        name = text.partition("/")[0]
    return re.sub(r"[\W_]+", "_", name).strip("_"), number


def _task(row_id: str) -> str:
    return row_id.partition("/")[0]


class Ledger:
    """Keeps, for each run, the line number of every instance: eight bytes per item.

    Args:
        instances: ids of the release's instances, in order.
        tasks: ids of the tasks the release holds.
        chosen: ids of the tasks that are to be graded; other lines are left alone.
        excluded: ids of instances that are not to be graded; their lines are counted only.
    """

    def __init__(
        self,
        instances: Iterable[str],
        tasks: Collection[str],
        chosen: Collection[str],
        excluded: Collection[str] = (),
    ) -> None:
        self._ids = list(instances)
        positions = {instance_id: i for i, instance_id in enumerate(self._ids)}
        self.known = Known(positions, tasks, frozenset(chosen), excluded)
        self._wanted = [
            (i, row_id) for i, row_id in enumerate(self._ids) if _task(row_id) in self.known.chosen
        ]
        self._size = self._wanted[-1][0] + 1 if self._wanted else 0
        self._runs: dict[RunKey, array[int]] = {}
        self._hints_left = _HINTS
        self.lines = 0
        self.left_alone = 0
        self.left_out = 0

    def read(self, path: str, digest: Digest) -> Iterator[Problem | tuple[Line, str]]:
        """Yield what is wrong with a predictions file, and its lines with what `admit` says.

        Lines of tasks that were not chosen are passed over. ``lines`` counts all.

        Args:
            path: of the file, or ``-`` for standard input.
            digest: is given every byte that is read.

        Raises:
            PredictionsError: the file cannot be opened.
        """
        with open_predictions(path) as stream:
            for entry in read_predictions(stream, digest):
                self.lines += 1
                if isinstance(entry, Problem):
                    yield entry
                    continue
                admitted = self.admit(entry)
                if isinstance(admitted, Problem):
                    yield admitted
                elif admitted is not None:
                    yield entry, admitted
        if not self.lines:
            yield Problem("empty", "the file holds no predictions")

    def admit(self, line: Line) -> Problem | str | None:
        """Decide what a line is.

        Returns:
            An instance id to grade; a problem; a task id the release does not hold, with a colon
            before it; or None if the line's task was not chosen, or its instance is excluded.
        """
        row_id = line.prediction.id
        place = self.known.place(row_id)
        match place:
            case Kind.LEFT_OUT:
                self.left_out += 1
                return None
            case Kind.LEFT_ALONE:
                self.left_alone += 1
                return None
            case Kind.UNKNOWN:
                return self.unknown(line.number, row_id)
            case Kind.OUTSIDE:
                return f":{_task(row_id)}"
        earlier = self.enter(run_key(line), place, line.number)
        return self.duplicate(line.number, place, earlier) if earlier else row_id

    def enter(self, run: RunKey, position: int, number: int) -> int:
        """Note the line of an instance; return that of an earlier one instead, or 0."""
        lines = self.open_run(run)
        earlier = lines[position]
        if not earlier:
            lines[position] = number
        return earlier

    def duplicate(self, number: int, position: int, earlier: int) -> Problem:
        """Return the problem of a line whose item has one already."""
        row_id = self._ids[position]
        return Problem(
            "duplicate",
            f"{row_id} was answered on line {earlier} already (same model, setting, sample and "
            f"budget); line {earlier} is graded, this one is not",
            number,
            row_id,
        )

    def unknown(self, number: int, row_id: str) -> Problem:
        """Return the problem of a line that names no instance."""
        return Problem(
            "unknown_id",
            f"no instance {row_id!r} in this release.{self._hint(row_id)}",
            number,
            row_id,
        )

    def _hint(self, row_id: str) -> str:
        """Name the id that was meant, near ones, or how the ids of its task run."""
        if self._hints_left == 0:  # a file of other ids must not be slow to read
            return ""
        self._hints_left -= 1
        name, number = _parts(row_id)
        meant = row_id if number is None else f"{name}/{number:02d}"
        if meant in self.known.positions:
            return f" Did you mean {meant!r}?"
        if name in self.known.tasks:
            of_task = [known for known in self._ids if known.startswith(f"{name}/")]
            return f" Ids of this task run from {of_task[0]} to {of_task[-1]}."
        if name in all_tasks():
            return f" Ids of that task are like '{name}/00'; this release does not hold it."
        alike = (
            self._ids if number is None else [f"{task}/{number:02d}" for task in self.known.tasks]
        )
        return did_you_mean(meant, [known for known in alike if known in self.known.positions])

    def open_run(self, run: RunKey) -> "array[int]":
        """Make a run known; return the line of each instance in it, 0 for those without one.

        It ends with the last instance that is to be graded.
        """
        lines = self._runs.get(run)
        if lines is None:
            lines = self._runs[run] = array("Q", bytes(8 * self._size))
        return lines

    def incomplete(self) -> Iterator[Problem]:
        """Yield a problem for each run that does not answer every chosen instance."""
        for run, ids in self.missing():
            if ids:
                yield Problem(
                    "incomplete",
                    f"{run} has no prediction for {len(ids)} of {len(self._wanted)} instances, the "
                    f"first is {ids[0]}; add --partial if that is intended",
                )

    def missing(self) -> Iterator[tuple[RunKey, list[str]]]:
        """Yield each run with the ids it has no line for."""
        for run, lines in sorted(self._runs.items(), key=lambda pair: pair[0].order):
            yield run, [row_id for i, row_id in self._wanted if not lines[i]]
