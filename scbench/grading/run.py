"""A grading run: one predictions file against one release, into one output folder."""

import hashlib
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scbench import __version__
from scbench.canonical import sha256
from scbench.catalog import Task, all_tasks, get_task
from scbench.errors import CatalogError, PredictionsError, did_you_mean
from scbench.grading.engine import Engine, Limits, Waiting
from scbench.grading.journal import Journal, journal_key
from scbench.grading.ledger import Ledger, run_key
from scbench.grading.output import write_results
from scbench.grading.packed import Packed
from scbench.grading.reading import Line, Problem
from scbench.grading.remarks import grader_differences, remarks
from scbench.grading.rows import Row, RowMaker, results_frame
from scbench.grading.twins import Pending, Twins, pending
from scbench.grading.worker import Item
from scbench.model import Status
from scbench.release.load import Release

if TYPE_CHECKING:
    import polars as pl

_SHOWN_PROBLEMS = 1000
"""How many problems the summary spells out; the count is always whole."""
_TRIED_AGAIN = {Status.GRADER_ERROR, Status.NOT_RUN}
"""A resumed run tries these once more: it may be allowed more, or find an engine installed."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to grade, and how.

    Attributes:
        predictions: path of the file, or ``-`` for standard input.
        release: what to grade against.
        out: folder for the results.
        tasks: ids of the tasks to grade; None for all of the release.
        partial: whether a file that does not answer every item is meant to be so.
        limits: workers, seconds and memory.
        resume: go on with an interrupted run.
        restart: throw an interrupted run away.
        exclude_withdrawn: leave instances out that the release withdraws.
    """

    predictions: str
    release: Release
    out: Path
    limits: Limits
    tasks: Sequence[str] | None = None
    partial: bool = False
    resume: bool = False
    restart: bool = False
    exclude_withdrawn: bool = False


@dataclass(slots=True)
class Report:
    """What a run came to.

    Attributes:
        results: rows as in ``results.parquet``.
        tables: score tables by bucket and by task, see `scbench.analysis.tables`.
        problems: what is wrong with the input.
        incidents: what happened to workers.
        resumed: rows taken over from an interrupted run.
        left_alone: lines of tasks that were not chosen.
        remarks: sentences without which the tables could be misread.
        summary: the content of ``summary.json``.
    """

    results: "pl.DataFrame"
    tables: "dict[Literal['bucket', 'task'], pl.DataFrame]"
    problems: list[Problem]
    incidents: list[str]
    resumed: int
    left_alone: int
    remarks: list[str]
    summary: dict[str, Any] = field(default_factory=dict)

    @property
    def grader_errors(self) -> int:
        """Number of rows that a grader failed on."""
        return int((self.results["status"] == Status.GRADER_ERROR.value).sum())

    @property
    def exit_code(self) -> int:
        """0 graded, 1 problems in the input, 3 grader errors."""
        return 3 if self.grader_errors else 1 if self.problems else 0


def choose_tasks(release: Release, tasks: Sequence[str] | None) -> list[Task]:
    """Return the tasks to grade, in the release's order.

    Raises:
        CatalogError: a name is not a task of the release, or this installation cannot grade it.
    """
    held = release.manifest.tasks
    for name in tasks or ():
        if name not in held:
            raise CatalogError(
                f"task {name!r} is not in release {release.version}.{did_you_mean(name, held)}"
            )
    chosen = [get_task(name) for name in held if tasks is None or name in tasks]
    for task in chosen:
        if not task.available:
            raise CatalogError(f"this installation has no grader for {task.id}")
    return chosen


class _Intake:
    """Turns lines into items to grade, and everything else into rows and problems."""

    def __init__(self, options: Options, tasks: Sequence[Task], journal: Journal) -> None:
        release = options.release
        self.tasks = {task.id: task for task in tasks}
        rows = release.instances()
        withdrawn = release.manifest.withdrawn
        self.withdrawn = [row for row in rows.values() if row.id in withdrawn]
        self.excluded = options.exclude_withdrawn
        excluded = withdrawn if self.excluded else {}
        self.instances = {name: row for name, row in rows.items() if name not in excluded}
        self.ledger = Ledger(
            self.instances, list(release.manifest.tasks), list(self.tasks), excluded
        )
        self.maker = RowMaker(release.version, release.manifest.rows_hash)
        self.journal = journal
        self.waiting: dict[int, Pending] = {}
        self.twins = Twins()
        self.problems: list[Problem] = []
        self.rows: list[Row] = []
        self.resumed = 0
        self.digest = hashlib.sha256()
        self._path = options.predictions

    def summary_of_withdrawn(self) -> dict[str, Any]:
        held = [row for row in self.withdrawn if row.task in self.tasks]
        return {
            "excluded": self.excluded,
            "instances": [row.id for row in held],
            "scores": sum(row.scores for row in held),
            "lines": self.ledger.left_out,
        }

    def items(self) -> Iterator[Item]:
        for entry in self.ledger.read(self._path, self.digest):
            if isinstance(entry, Problem):
                self.problems.append(entry)
            else:
                yield from self._take(*entry)

    def _take(self, line: Line, admitted: str) -> Iterator[Item]:
        if admitted.startswith(":"):
            self._outside(line, all_tasks()[admitted[1:]])
            return
        instance = self.instances[admitted]
        task = self.tasks[instance.task]
        digest = sha256(line.data)
        key = journal_key(line.number, digest, instance, task, self.maker.release_hash)
        done = self.journal.done.get(key)
        if done is not None:
            self.rows += done
            self.resumed += 1
            return
        entry = pending(line, instance, task, digest, key)
        known = self.twins.known(entry)
        if known is not None:
            self._finish(entry, known)
        elif not self.twins.hold(entry):
            self.waiting[line.number] = entry
            yield Item(line.number, line.data, instance.id)

    def _outside(self, line: Line, task: Task) -> None:
        reason = f"release {self.maker.release} does not hold {task.id}"
        subtask = int(line.prediction.id.partition("/")[2][:9])
        self.ledger.open_run(run_key(line))
        self.rows.append(
            self.maker.absent(task, subtask, run_key(line), Status.NOT_RUN, reason, line=line)
        )

    def finish(self, item: Item, outcome: Packed) -> int:
        """Take an outcome; return how many lines have theirs now, twins included."""
        entry = self.waiting.pop(item.line)
        twins = self.twins.release(entry, outcome)
        for line, its_outcome in ((entry, outcome), *twins):
            self._finish(line, its_outcome)
        return 1 + len(twins)

    def _finish(self, entry: Pending, outcome: Packed) -> None:
        task = self.tasks[entry.instance.task]
        rows = self.maker.graded(entry.line, entry.digest, entry.instance, task, outcome)
        if outcome.status not in _TRIED_AGAIN:
            self.journal.add(entry.key, rows)
        self.rows += rows

    def close(self, *, partial: bool) -> None:
        """Add a row for every item without a line; if none may lack, name the runs that do."""
        for run, ids in self.ledger.missing():
            for row_id in ids:
                instance = self.instances[row_id]
                self.rows += (
                    self.maker.absent(
                        self.tasks[instance.task],
                        instance.subtask + i,
                        run,
                        Status.MISSING,
                        "no prediction",
                        instance=instance,
                    )
                    for i in range(instance.scores)
                )
        if not partial:
            self.problems += self.ledger.incomplete()


def grade_file(
    options: Options,
    on_progress: Callable[[int, int], object] = max,
    on_wait: Callable[[Sequence[Waiting]], object] = id,
) -> Report:
    """Grade a predictions file and write the results.

    Args:
        options: what to grade, and how.
        on_progress: called with the number of lines graded so far and the bytes they had.
        on_wait: called now and then with the items that take long.

    Raises:
        ScbenchError: the file, the release or the output folder cannot be used at all.
        KeyboardInterrupt: after the journal was closed, so that ``--resume`` can go on.
    """
    started = time.monotonic()
    tasks = choose_tasks(options.release, options.tasks)
    if options.predictions != "-" and not Path(options.predictions).exists():
        raise PredictionsError(f"no such file: {options.predictions}")
    journal = Journal(options.out, resume=options.resume, restart=options.restart)
    try:
        intake = _Intake(options, tasks, journal)
        engine = Engine.over(intake.instances, tasks, options.limits)
        rows = size = 0
        for item, outcome in engine.run(intake.items(), on_wait):
            lines = intake.finish(item, outcome)
            rows, size = rows + lines, size + lines * len(item.data)
            on_progress(rows, size)
        intake.close(partial=options.partial)
    except BaseException:
        journal.close()
        raise
    from scbench.analysis.tables import score_table  # noqa: PLC0415  (polars)

    results = results_frame(intake.rows)
    report = Report(
        results,
        {"bucket": score_table(results, "bucket"), "task": score_table(results, "task")},
        intake.problems,
        engine.incidents,
        intake.resumed,
        intake.ledger.left_alone,
        list(remarks(options.release, tasks, intake.summary_of_withdrawn())),
    )
    report.summary = _summary(options, intake, report, tasks, time.monotonic() - started)
    write_results(options.out, report.results, report.summary)
    journal.remove()
    return report


def _walls(report: Report, tasks: Sequence[Task]) -> list[str]:
    """Return the walls that stood around child programs; none if there were no children."""
    isolated = [task.id for task in tasks if task.isolated]
    if not report.results["task"].is_in(isolated).any():
        return []
    from scbench import isolation  # noqa: PLC0415  (few runs have children)

    return list(isolation.walls())


def _summary(
    options: Options, intake: _Intake, report: Report, tasks: Sequence[Task], seconds: float
) -> dict[str, Any]:
    from scbench.analysis.tables import outside_release  # noqa: PLC0415  (polars)

    name = options.predictions
    return {
        "scbench": __version__,
        "release": {
            "version": options.release.version,
            "rows_hash": options.release.manifest.rows_hash,
        },
        "graders": {task.id: task.grader_version for task in tasks},
        "grader_differences": grader_differences(options.release, tasks),
        "withdrawn": intake.summary_of_withdrawn(),
        "predictions": {
            "file": "-" if name == "-" else Path(name).name,
            "sha256": intake.digest.hexdigest(),
            "lines": intake.ledger.lines,
        },
        "partial": options.partial or options.tasks is not None,
        "exit_code": report.exit_code,
        "buckets": report.tables["bucket"].to_dicts(),
        "tasks": report.tables["task"].to_dicts(),
        "not_in_release": outside_release(report.results).to_dicts(),
        "problem_counts": dict(Counter(problem.code for problem in report.problems)),
        "problems": [asdict(problem) for problem in report.problems[:_SHOWN_PROBLEMS]],
        "grader_errors": report.grader_errors,
        "incidents": report.incidents,
        "walls": _walls(report, tasks),
        "resumed": report.resumed,
        "left_alone": report.left_alone,
        "seconds": round(seconds, 3),
        "workers": options.limits.workers,
        "platform": f"{platform.system()} {platform.machine()} Python {platform.python_version()}",
    }
