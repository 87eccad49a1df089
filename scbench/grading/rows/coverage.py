"""Which items of a release have a line, in each run that a file holds; and what each line is.

`Coverage.admit` is the one rule for what becomes of a line. It must see lines in the order of the
file: of two that answer the same item in the same run, the first counts.
"""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from scbench.base.errors import did_you_mean
from scbench.base.model import LADDER, PICTURES, TERSE, task_of
from scbench.catalog import all_tasks
from scbench.formats.predictions import (
    Digest,
    Line,
    Problem,
    open_predictions,
    read_predictions,
)
from scbench.grading.rows.columns import RunKey
from scbench.grading.rows.index import KnownIds, LineKind, has_row, is_number

# How ids begin that no release has.
_GENERATED = re.compile("^[0-9a-f]{8}:")
_MOST_KEYS = 100
# How many unknown ids are compared with the known ones.
_HINTS = 200


NOTHING_READ = Problem("empty", "the file holds no predictions")


class Admission(NamedTuple):
    """What became of a line: its instance's position if it is graded, or a problem of it."""

    kind: LineKind
    position: int | None = None
    problem: Problem | None = None


class Coverage:
    """Keeps, for each run, the line number of every instance: eight bytes per item.

    All lines are counted, those that are graded, those of tasks that are not chosen or not in the
    release, and those of excluded instances; and by key those with unknown ones, up to a hundred
    keys. Lines may have an origin in other files: file and line.
    """

    def __init__(
        self,
        known_ids: KnownIds,
        origin: Callable[[int], tuple[str, int]] | None = None,
    ) -> None:
        self.known_ids = known_ids
        self._origin = origin
        self._runs: dict[RunKey, array[int]] = {}
        self._hints_left = _HINTS
        self.lines = self.not_chosen = self.excluded = self.graded = self.outside = 0
        self.unread: Counter[str] = Counter()

    def read(
        self, path: str, digest: Digest
    ) -> Iterator[tuple[Admission, Line | None]]:
        """Yield what became of every line of a predictions file, or ``-``; bad ones have no `Line`.

        The digest is given every byte.

        Raises:
            PredictionsError: the file cannot be opened.
        """
        with open_predictions(path) as stream:
            for line in read_predictions(stream, digest):
                if isinstance(line, Line):
                    line = self.known_ids.of_another(line) or line  # noqa: PLW2901
                if isinstance(line, Problem):
                    yield self.refuse(line), None
                else:
                    yield self.admit_line(line), line
        if not self.lines:
            yield Admission(LineKind.BAD, problem=NOTHING_READ), None

    def admit_line(self, line: Line) -> Admission:
        """Decide what becomes of a line; see `admit`."""
        prediction = line.prediction
        self.note(Counter(line.unread))
        place = self.known_ids.place(prediction.id)
        key = RunKey(
            prediction.model, prediction.setting, prediction.sample, prediction.budget
        )
        return self.admit(
            line.number, place, self.run(key) if has_row(place) else None, prediction.id
        )

    def note(self, unread: Mapping[str, int]) -> None:
        """Count the unknown keys of lines."""
        for key, lines in unread.items():
            if key in self.unread or len(self.unread) < _MOST_KEYS:
                self.unread[key] += lines

    def nothing_graded(self) -> Problem | None:
        """Return the problem that nothing of a file was wanted, and what to do about it.

        Lines with problems of their own need no more words.
        """
        if self.graded:
            return None
        reasons = []
        if self.not_chosen:
            tasks = [
                task
                for task in self.known_ids.tasks
                if task not in self.known_ids.graded
            ]
            buckets = dict.fromkeys(
                all_tasks()[task].bucket for task in tasks if task in all_tasks()
            )
            reasons.append(
                f"{_of_tasks(self.not_chosen)} that were not chosen; choose them by name or "
                f"bucket, --tasks {', '.join([*buckets, LADDER, TERSE])} or {PICTURES}"
            )
        if self.excluded:
            reasons.append(
                f"{self.excluded} of withdrawn items; leave --exclude-withdrawn out to grade them"
            )
        if self.outside:
            reasons.append(
                f"{_of_tasks(self.outside)} that are not in what is graded against; name their "
                "release or folder with --release"
            )
        if not reasons:
            return None
        lines = (
            "the only line was not"
            if self.lines == 1
            else f"none of {self.lines} lines was"
        )
        message = f"{lines} graded: {'; '.join(reasons)}"
        return Problem("nothing_graded", message)

    def run(self, key: RunKey) -> "array[int]":
        """Make a run known; return the line of each instance in it, 0 for those without one."""
        lines = self._runs.get(key)
        if lines is None:
            lines = self._runs[key] = array("Q", bytes(8 * len(self.known_ids.ids)))
        return lines

    def admit(
        self, number: int, place: int, run: "array[int] | None" = None, row_id: str = ""
    ) -> Admission:
        """Decide what becomes of a line, and note it; of a run if it has a row, see `run`.

        The place is what `KnownIds.place` says of its id, which is needed of unknown ones only.
        """
        self.lines += 1
        if place >= 0 and run is not None:
            earlier = run[place]
            if earlier:
                row_id = self.known_ids.ids[place]
                there = f"line {earlier}"
                if self._origin is not None:
                    there = "line {1} of {0}".format(*self._origin(earlier))
                message = (
                    f"{row_id} was answered on {there} already (same model, setting, sample "
                    f"and budget); {there} is graded, this one is not"
                )
                problem = Problem("duplicate", message, number, row_id)
                return Admission(LineKind.DUPLICATE, place, problem)
            run[place] = number
            self.graded += 1
            return Admission(LineKind.GRADED, place)
        if place == LineKind.UNKNOWN:
            message = f"no item {row_id!r} in this release.{self._hint(row_id)}"
            problem = Problem("unknown_id", message, number, row_id)
            return Admission(LineKind.UNKNOWN, problem=problem)
        self.not_chosen += place == LineKind.NOT_CHOSEN
        self.excluded += place == LineKind.EXCLUDED
        self.outside += place == LineKind.NOT_IN_RELEASE
        return Admission(LineKind(place))

    def refuse(self, problem: Problem) -> Admission:
        """Note a line that is no prediction."""
        self.lines += 1
        return Admission(LineKind.BAD, problem=problem)

    def _hint(self, row_id: str) -> str:
        """Name the id that was meant, near ones, or how the ids of its task run."""
        if self._hints_left == 0:  # a file of other ids must not be slow to read
            return ""
        self._hints_left -= 1
        ids = [*self.known_ids.ids, *self.known_ids.unchosen]
        prefix = "".join(_GENERATED.findall(ids[0])) if ids else ""
        if "".join(_GENERATED.findall(row_id)) != prefix:
            if prefix:
                return f" What is graded against was generated: its ids begin with {prefix!r}."
            return " It was generated; grade it against its folder: --release FOLDER."
        name, number = _id_parts(row_id)
        likely = row_id if number is None else f"{prefix}{name}/{number:02d}"
        if likely in ids:
            return f" Did you mean {likely!r}?"
        if name in self.known_ids.tasks:
            of_task = [candidate for candidate in ids if task_of(candidate) == name]
            return f" Ids of this task run from {of_task[0]} to {of_task[-1]}."
        if name in all_tasks():
            return f" Ids of that task are like '{name}/00'; this release does not hold it."
        alike = (
            ids
            if number is None
            else [f"{prefix}{task}/{number:02d}" for task in self.known_ids.tasks]
        )
        return did_you_mean(
            likely, [candidate for candidate in alike if candidate in ids]
        )

    def incomplete(self) -> Iterator[Problem]:
        """Yield a problem for each run that does not answer every chosen instance."""
        for run, ids in self.missing():
            if ids:
                yield Problem(
                    "incomplete",
                    f"{run} has no prediction for {len(ids)} of {len(self.known_ids.ids)} "
                    f"instances, the first is {ids[0]}; add --partial if that is intended",
                )

    def missing(self, *, partial: bool = False) -> Iterator[tuple[RunKey, list[str]]]:
        """Yield each run with the ids it has no line for.

        Of a partial file, those of tasks that no line is of are left out.
        """
        ids = self.known_ids.ids
        tasks = [task_of(row_id) for row_id in ids]
        wanted = {*tasks}
        if partial:
            every = self._runs.values()
            wanted = {
                task
                for lines in every
                for task, line in zip(tasks, lines, strict=True)
                if line
            }
        for run, lines in sorted(self._runs.items(), key=lambda pair: pair[0].order):
            rows = zip(ids, tasks, lines, strict=True)
            yield (
                run,
                [row_id for row_id, task, line in rows if not line and task in wanted],
            )


def _of_tasks(lines: int) -> str:
    return f"{lines} {'is' if lines == 1 else 'are'} of tasks or prompts"


def _id_parts(row_id: str) -> tuple[str, int | None]:
    """Return the task and number an id seems to mean, however it is written."""
    text = _GENERATED.sub("", row_id.strip().lower())
    name = text.rstrip("0123456789")
    number = int(text[len(name) :]) if is_number(text[len(name) :]) else None
    if number is None:
        name = text.partition("/")[0]
    return re.sub(r"[\W_]+", "_", name).strip("_"), number
