"""Which items of a release have a line, in each run that a file holds."""

import re
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence

from scbench.catalog import all_tasks
from scbench.errors import did_you_mean
from scbench.grading.reading import Digest, Line, Problem, open_predictions, read_predictions
from scbench.grading.rows import RunKey
from scbench.model import Instance

_HINTS = 200
"""How many unknown ids are compared with the known ones."""


def run_key(line: Line) -> RunKey:
    """Return the run a line belongs to."""
    prediction = line.prediction
    return RunKey(prediction.model, prediction.setting, prediction.sample, prediction.budget)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _parts(row_id: str) -> tuple[str, int | None]:
    """Return the task and number an id seems to mean, however it is written."""
    text = row_id.strip().lower()
    name = text.rstrip("0123456789")
    number = int(text[len(name) :]) if _is_number(text[len(name) :]) else None
    if number is None:
        name = text.partition("/")[0]
    return re.sub(r"[\W_]+", "_", name).strip("_"), number


class Ledger:
    """Keeps, for each run, the line number of every instance: eight bytes per item.

    Args:
        instances: the release's instances by id.
        tasks: ids of the tasks the release holds.
        chosen: ids of the tasks that are to be graded; other lines are left alone.
        excluded: ids of instances that are not to be graded; their lines are counted only.
    """

    def __init__(
        self,
        instances: Mapping[str, Instance],
        tasks: Sequence[str],
        chosen: Sequence[str],
        excluded: Collection[str] = (),
    ) -> None:
        self._position = {instance_id: i for i, instance_id in enumerate(instances)}
        self._ids = list(instances)
        self._tasks = tasks
        self._chosen = set(chosen)
        self._excluded = excluded
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
        if row_id in self._excluded:
            self.left_out += 1
            return None
        if row_id not in self._position:
            return self._unknown(line)
        if row_id.partition("/")[0] not in self._chosen:
            self.left_alone += 1
            return None
        run = self._runs.setdefault(run_key(line), array("Q", bytes(8 * len(self._ids))))
        earlier = run[self._position[row_id]]
        if earlier:
            return Problem(
                "duplicate",
                f"{row_id} was answered on line {earlier} already (same model, setting, sample and "
                f"budget); line {earlier} is graded, this one is not",
                line.number,
                row_id,
            )
        run[self._position[row_id]] = line.number
        return row_id

    def _unknown(self, line: Line) -> Problem | str:
        row_id = line.prediction.id
        task_id, _, subtask = row_id.partition("/")
        if task_id in all_tasks() and task_id not in self._tasks and _is_number(subtask):
            return f":{task_id}"
        return Problem(
            "unknown_id",
            f"no instance {row_id!r} in this release.{self._hint(row_id)}",
            line.number,
            row_id,
        )

    def _hint(self, row_id: str) -> str:
        """Name the id that was meant, near ones, or how the ids of its task run."""
        if self._hints_left == 0:  # a file of other ids must not be slow to read
            return ""
        self._hints_left -= 1
        name, number = _parts(row_id)
        meant = row_id if number is None else f"{name}/{number:02d}"
        if meant in self._position:
            return f" Did you mean {meant!r}?"
        if name in self._tasks:
            of_task = [known for known in self._ids if known.startswith(f"{name}/")]
            return f" Ids of this task run from {of_task[0]} to {of_task[-1]}."
        if name in all_tasks():
            return f" Ids of that task are like '{name}/00'; this release does not hold it."
        alike = self._ids if number is None else [f"{task}/{number:02d}" for task in self._tasks]
        return did_you_mean(meant, [known for known in alike if known in self._position])

    def open_run(self, run: RunKey) -> None:
        """Make a run known that has lines but none for this release."""
        self._runs.setdefault(run, array("Q", bytes(8 * len(self._ids))))

    def incomplete(self) -> Iterator[Problem]:
        """Yield a problem for each run that does not answer every chosen instance."""
        chosen = sum(row_id.partition("/")[0] in self._chosen for row_id in self._ids)
        for run, ids in self.missing():
            if ids:
                yield Problem(
                    "incomplete",
                    f"{run} has no prediction for {len(ids)} of {chosen} instances, the first is "
                    f"{ids[0]}; add --partial if that is intended",
                )

    def missing(self) -> Iterator[tuple[RunKey, list[str]]]:
        """Yield each run with the ids it has no line for."""
        for run, lines in sorted(self._runs.items(), key=lambda pair: repr(pair[0])):
            yield (
                run,
                [
                    row_id
                    for row_id, number in zip(self._ids, lines, strict=True)
                    if not number and row_id.partition("/")[0] in self._chosen
                ],
            )
