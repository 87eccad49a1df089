"""Which items of a release have a line, in each run that a file holds."""

from array import array
from collections.abc import Iterator, Mapping, Sequence

from scbench.catalog import all_tasks
from scbench.errors import did_you_mean
from scbench.grading.reading import Line, Problem
from scbench.grading.rows import RunKey
from scbench.model import Instance


def run_key(line: Line) -> RunKey:
    """Return the run a line belongs to."""
    prediction = line.prediction
    return RunKey(prediction.model, prediction.setting, prediction.sample, prediction.budget)


class Ledger:
    """Keeps, for each run, the line number of every instance: eight bytes per item.

    Args:
        instances: the release's instances by id.
        tasks: ids of the tasks the release holds.
        chosen: ids of the tasks that are to be graded; other lines are left alone.
    """

    def __init__(
        self, instances: Mapping[str, Instance], tasks: Sequence[str], chosen: Sequence[str]
    ) -> None:
        self._position = {instance_id: i for i, instance_id in enumerate(instances)}
        self._ids = list(instances)
        self._tasks = tasks
        self._chosen = set(chosen)
        self._runs: dict[RunKey, array[int]] = {}
        self.left_alone = 0

    def admit(self, line: Line) -> Problem | str | None:
        """Decide what a line is.

        Returns:
            An instance id to grade; a problem; a task id the release does not hold, with a colon
            before it; or None if the line's task was not chosen.
        """
        row_id = line.prediction.id
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
        if task_id in all_tasks() and task_id not in self._tasks and subtask.isdecimal():
            return f":{task_id}"
        of_task = [known for known in self._ids if known.startswith(f"{task_id}/")]
        hint = did_you_mean(row_id, of_task or self._ids)
        if of_task and not hint:
            hint = f" Ids of this task run from {of_task[0]} to {of_task[-1]}."
        return Problem(
            "unknown_id",
            f"no instance {row_id!r} in this release.{hint}",
            line.number,
            row_id,
        )

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
