"""Coverage: the items of a release that have a line, for each run in a file.

`Coverage.admit` is the one rule for the fate of a line. It must see lines in the order
of the file: if two lines answer the same item in the same run, the first one counts.
"""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from scbench.base.errors import did_you_mean
from scbench.base.model import LADDER, PICTURES, TERSE, task_of
from scbench.base.wording import counted
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
from scbench.grading.rows.lines import run_of

# Prefix of the ids of generated items, which no release contains.
_GENERATED = re.compile("^[0-9a-f]{8}:")
# Maximum number of unknown keys that are counted; a file may contain any number.
_MOST_KEYS = 100
# Maximum number of unknown ids compared with known ones.
_HINTS = 200
# Maximum number of runs in a file: each needs memory for every item, and a row for
# every missing item.
_MOST_RUNS = 20_000


NOTHING_READ = Problem("empty", "the file contains no predictions")


class Admission(NamedTuple):
    """The fate of a line: its instance's position if it is graded, or its problem."""

    kind: LineKind
    position: int | None = None
    problem: Problem | None = None


class Coverage:
    """The line number of every instance in each run: eight bytes per item.

    Converted lines may have an origin: a file and line.

    Attributes:
        known_ids: the ids of the release.
        lines: number of lines.
        graded: number of these lines that are graded.
        not_chosen: lines of tasks that were not selected.
        excluded: lines of excluded instances.
        outside: lines of tasks that the release does not contain.
        unread: number of lines with each unknown key, of up to a hundred keys.
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
        self.lines = 0
        self.graded = 0
        self.not_chosen = 0
        self.excluded = 0
        self.outside = 0
        self.unread: Counter[str] = Counter()

    def read(
        self, path: str, digest: Digest
    ) -> Iterator[tuple[Admission, Line | None]]:
        """Yield the fate of every line of a file, or ``-``; invalid lines have no `Line`.

        The digest is updated with every byte.

        Raises:
            PredictionsError: the file cannot be opened.
        """
        with open_predictions(path) as stream:
            for entry in read_predictions(stream, digest):
                line = entry
                if isinstance(entry, Line):
                    line = self.known_ids.of_another(entry) or entry
                if isinstance(line, Problem):
                    yield self.refuse(line), None
                else:
                    yield self.admit_line(line), line
        if not self.lines:
            yield Admission(LineKind.BAD, problem=NOTHING_READ), None

    def admit_line(self, line: Line) -> Admission:
        """Decide the fate of a line; see `admit`."""
        self.note(Counter(line.unread))
        row_id = line.prediction.id
        place = self.known_ids.place(row_id)
        run = self.run(run_of(line.prediction)) if has_row(place) else None
        return self.admit(line.number, place, run, row_id)

    def note(self, unread: Mapping[str, int]) -> None:
        """Count the unknown keys of lines."""
        for key, lines in unread.items():
            if key in self.unread or len(self.unread) < _MOST_KEYS:
                self.unread[key] += lines

    def run(self, key: RunKey) -> "array[int] | None":
        """Register a run; return the line of each instance in it, 0 for none.

        Returns None if the file already has the maximum number of runs.
        """
        lines = self._runs.get(key)
        if lines is None:
            if len(self._runs) >= _MOST_RUNS:
                return None
            # Line numbers begin at 1, so 0 means that there is none.
            lines = array("Q", bytes(8 * len(self.known_ids.ids)))
            self._runs[key] = lines
        return lines

    def admit(
        self, number: int, place: int, run: "array[int] | None" = None, row_id: str = ""
    ) -> Admission:
        """Decide the fate of a line, and record it.

        Args:
            number: number of the line.
            place: see `KnownIds.place`.
            run: see `run`; None also for a line without a row.
            row_id: its id; needed only for unknown ids.
        """
        self.lines += 1
        if place >= 0:
            if run is None:
                return self.refuse_run(number, place)
            if run[place]:
                return self.refuse_duplicate(number, place, run[place])
            run[place] = number
            self.graded += 1
            return Admission(LineKind.GRADED, place)
        if place == LineKind.UNKNOWN:
            message = f"no item {row_id!r} in this release.{self.hint(row_id)}"
            problem = Problem("unknown_id", message, number, row_id)
            return Admission(LineKind.UNKNOWN, problem=problem)
        if place == LineKind.NOT_CHOSEN:
            self.not_chosen += 1
        elif place == LineKind.EXCLUDED:
            self.excluded += 1
        elif place == LineKind.NOT_IN_RELEASE:
            self.outside += 1
        return Admission(LineKind(place))

    def refuse_duplicate(self, number: int, place: int, earlier: int) -> Admission:
        """Return the fate of a line whose instance an earlier line answers."""
        row_id = self.known_ids.ids[place]
        earlier_line = f"line {earlier}"
        if self._origin is not None:
            file, line = self._origin(earlier)
            earlier_line = f"line {line} of {file}"
        message = (
            f"{earlier_line} already answers {row_id} (same model, setting, sample and budget); "
            f"only {earlier_line} is graded"
        )
        problem = Problem("duplicate", message, number, row_id)
        return Admission(LineKind.DUPLICATE, place, problem)

    def refuse_run(self, number: int, place: int) -> Admission:
        """Return the fate of a line in a run beyond the limit; its row does not count."""
        message = (
            f"the file has more than {_MOST_RUNS:,} runs (model, setting, sample and budget); "
            "lines of further runs are not graded, so split the file"
        )
        row_id = self.known_ids.ids[place]
        problem = Problem("too_many_runs", message, number, row_id)
        return Admission(LineKind.DUPLICATE, place, problem)

    def refuse(self, problem: Problem) -> Admission:
        """Record a line that is not a prediction."""
        self.lines += 1
        return Admission(LineKind.BAD, problem=problem)

    def hint(self, row_id: str) -> str:
        """Suggest the intended id, similar ids, or the id format of its task."""
        if self._hints_left == 0:  # a file of foreign ids must not be slow to read
            return ""
        self._hints_left -= 1
        ids = [*self.known_ids.ids, *self.known_ids.unchosen]
        prefix = generated_prefix(ids[0]) if ids else ""
        if generated_prefix(row_id) != prefix:
            # Ids from other sources have nothing in common with these.
            if prefix:
                return f" This release was generated: its ids begin with {prefix!r}."
            return " It is a generated item; grade it against its folder with --release FOLDER."
        name, number = id_parts(row_id)
        likely = row_id if number is None else f"{prefix}{name}/{number:02d}"
        if likely in ids:
            return f" Did you mean {likely!r}?"
        if name in self.known_ids.tasks:
            of_task = [candidate for candidate in ids if task_of(candidate) == name]
            return f" Ids of this task run from {of_task[0]} to {of_task[-1]}."
        if name in all_tasks():
            return (
                f" Ids of this task look like '{name}/00', but this release does not contain "
                "the task."
            )
        # If the id has a number, only the task name can be misspelt, so few candidates
        # suffice.
        candidates = ids
        if number is not None:
            tasks = self.known_ids.tasks
            candidates = [f"{prefix}{task}/{number:02d}" for task in tasks]
        return did_you_mean(likely, [row_id for row_id in candidates if row_id in ids])

    def nothing_graded(self) -> Problem | None:
        """Return the problem that no line of a file is graded, with its remedy.

        None if every line has a problem of its own.
        """
        if self.graded:
            return None
        reasons = []
        if self.not_chosen:
            names = ", ".join([*self.buckets_not_chosen(), LADDER, TERSE])
            reasons.append(
                f"{counted(self.not_chosen, 'line')} for other tasks or prompts; select them with "
                f"--tasks {names} or {PICTURES}"
            )
        if self.excluded:
            reasons.append(
                f"{counted(self.excluded, 'line')} for withdrawn items; leave out "
                "--exclude-withdrawn to grade them"
            )
        if self.outside:
            reasons.append(
                f"{counted(self.outside, 'line')} for tasks that this release does not contain; "
                "give their release or folder with --release"
            )
        if not reasons:
            return None
        lines = f"none of {self.lines:,} lines was graded"
        if self.lines == 1:
            lines = "the only line was not graded"
        return Problem("nothing_graded", f"{lines}: {'; '.join(reasons)}")

    def buckets_not_chosen(self) -> list[str]:
        """Return the distinct buckets of tasks that are not graded."""
        catalog = all_tasks()
        buckets: dict[str, None] = {}
        for task in self.known_ids.tasks:
            if task not in self.known_ids.graded and task in catalog:
                buckets[catalog[task].bucket] = None
        return list(buckets)

    def incomplete(self) -> Iterator[Problem]:
        """Yield a problem for each run that has no line for some selected instance."""
        for run, ids in self.missing():
            if ids:
                yield Problem(
                    "incomplete",
                    f"{run} has no prediction for {len(ids):,} of {len(self.known_ids.ids):,} "
                    f"items (the first is {ids[0]}); add --partial if this is intended",
                )

    def missing(self, *, partial: bool = False) -> Iterator[tuple[RunKey, list[str]]]:
        """Yield each run with the ids that have no line in it.

        In a partial file, tasks without lines are left out.
        """
        ids = self.known_ids.ids
        tasks = [task_of(row_id) for row_id in ids]
        expected = self.tasks_with_lines(tasks) if partial else set(tasks)
        for run, lines in sorted(self._runs.items(), key=lambda pair: pair[0].order):
            absent = []
            for row_id, task, line in zip(ids, tasks, lines, strict=True):
                if not line and task in expected:
                    absent.append(row_id)
            yield run, absent

    def tasks_with_lines(self, tasks: list[str]) -> set[str]:
        """Return the tasks for which any run has a line; `tasks` has the task of each instance."""
        present = set()
        for lines in self._runs.values():
            for task, line in zip(tasks, lines, strict=True):
                if line:
                    present.add(task)
        return present


def generated_prefix(row_id: str) -> str:
    """Return the prefix of a generated id; empty for others."""
    match = _GENERATED.match(row_id)
    return match.group() if match else ""


def id_parts(row_id: str) -> tuple[str, int | None]:
    """Return the task and number that a misspelt id seems to mean."""
    text = _GENERATED.sub("", row_id.strip().lower())
    name = text.rstrip("0123456789")
    digits = text[len(name) :]
    number = int(digits) if is_number(digits) else None
    if number is None:
        name = text.partition("/")[0]
    # Spaces, hyphens and slashes between the words of a task's name mean an underscore.
    return re.sub(r"[\W_]+", "_", name).strip("_"), number
