"""A grading run: one predictions file against one release, into one output folder."""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scbench.catalog import Task, get_task
from scbench.errors import CatalogError, PredictionsError
from scbench.grading.checkpoint.assemble import Sheets, missing, weave
from scbench.grading.checkpoint.parts import Store
from scbench.grading.collector import Intake
from scbench.grading.output import RESULTS, write_results
from scbench.grading.problems import PROBLEMS, SHOWN, Problems
from scbench.grading.remarks import remarks
from scbench.grading.rows.chunks import WHOLE, Chunk, Shard
from scbench.grading.rows.columns import Completer
from scbench.grading.rows.coverage import Ledger
from scbench.grading.rows.index import contents_of
from scbench.grading.rows.wire import Packed
from scbench.grading.summary import Facts, summarize
from scbench.grading.tally import Tally, tally
from scbench.grading.workers.scheduler import Engine, Limits, Waiting
from scbench.grading.workers.worker import Item
from scbench.predictions import Problem, open_predictions
from scbench.release.load import Release

if TYPE_CHECKING:
    import polars as pl

    from scbench.grading.workers.pool import Lanes
    from scbench.grading.workers.worker import Start

__all__ = ["Options", "Report", "choose_tasks", "grade_file"]


@dataclass(frozen=True, slots=True)
class Options:
    """What to grade, and how.

    Attributes:
        predictions: path of the file, or ``-`` for standard input.
        release: what to grade against.
        out: folder for the results.
        tasks: ids or buckets of the tasks to grade; None for those of the default config.
        partial: whether a file that does not answer every item is meant to be so.
        limits: workers, seconds and memory.
        resume: go on with an interrupted run.
        restart: throw an interrupted run away.
        exclude_withdrawn: leave instances out that the release withdraws.
        shard: grade only one of several equal parts of the lines; None for all.
        cluster: address of a dask scheduler whose workers do the work; None for this machine's.
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
    shard: Shard | None = None
    cluster: str | None = None


@dataclass
class Report:
    """What a run came to.

    Attributes:
        path: of ``results.parquet``.
        tally: counts and tables of it.
        problems: what is wrong with the input: the first thousand; `problem_counts` has all.
        problem_counts: number of problems by code.
        incidents: what happened to workers.
        resumed: lines taken over from an interrupted run.
        left_alone: lines of tasks that were not chosen.
        remarks: sentences without which the tables could be misread.
        summary: the content of ``summary.json``.
    """

    path: Path
    tally: Tally
    problems: list[Problem]
    problem_counts: Counter[str]
    incidents: list[str]
    resumed: int
    left_alone: int
    remarks: list[str]
    summary: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def results(self) -> "pl.DataFrame":
        """All rows, read from the file when first asked for: a large run's are gigabytes."""
        import polars as pl  # noqa: PLC0415  (heavy; few callers want the rows)

        return pl.read_parquet(self.path)

    @property
    def tables(self) -> "dict[Literal['bucket', 'task'], pl.DataFrame]":
        """Score tables by bucket and by task, see `scbench.grading.score_tables`."""
        return self.tally.tables

    @property
    def grader_errors(self) -> int:
        """Number of rows that a grader failed on."""
        return self.tally.grader_errors

    @property
    def exit_code(self) -> int:
        """0 graded, 1 problems in the input, 3 grader errors."""
        return 3 if self.grader_errors else 1 if self.problem_counts else 0


def choose_tasks(release: Release, tasks: Sequence[str] | None) -> list[Task]:
    """Return the tasks to grade, in the release's order.

    Args:
        release: what is graded against.
        tasks: ids of tasks, and buckets that stand for all of theirs; None for those of the
            release's default config, which has no text tasks beside spatial ones.

    Raises:
        CatalogError: a name is not a task or bucket of the release, or this installation cannot
            grade it.
    """
    chosen = [get_task(name) for name in release.manifest.named_tasks(tasks)]
    for task in chosen:
        if not task.available:
            raise CatalogError(f"this installation has no grader for {task.id}")
    return chosen


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
        ScbenchError: the file, the release, the output folder or the cluster cannot be used.
        KeyboardInterrupt: after everything was closed, so that ``--resume`` can go on.
    """
    started = time.monotonic()
    tasks = choose_tasks(options.release, options.tasks)
    if options.predictions != "-" and not Path(options.predictions).exists():
        raise PredictionsError(f"no such file: {options.predictions}")
    contents = contents_of(options.release, tasks, exclude_withdrawn=options.exclude_withdrawn)
    known = contents.known
    completer = Completer(contents)
    shard = options.shard or WHOLE
    store = Store(
        options.out,
        contents.identity(options.limits.allow_code, *shard),
        resume=options.resume,
        restart=options.restart,
    )
    ledger = Ledger(known.positions, known.tasks, known.chosen, known.excluded)
    digest = hashlib.sha256()
    problems = Problems(store.folder / PROBLEMS)
    try:
        engine = Engine(
            contents.keys(),
            options.limits,
            contents.heavy,
            contents,
            _lanes_of(options.cluster),
        )
        intake = Intake(completer, ledger, store, problems, engine, on_progress)
        with (
            open_predictions(options.predictions) as stream,
            closing(engine.work(intake.agenda(stream, digest, shard), on_wait)) as done,
        ):
            for work, result in done:
                if isinstance(work, Item) and isinstance(result, Packed):
                    intake.take_outcome(work, result)
                elif isinstance(work, Chunk) and not isinstance(result, Packed):
                    intake.take_chunk(work, result)
        if not (ledger.lines or options.shard):
            problems.add(Problem("empty", "the file holds no predictions"))
        if not (options.partial or options.shard):
            problems.extend(ledger.incomplete())
        facts = Facts(options, tasks, digest.hexdigest(), engine.walls)
        rows = Sheets(store.folder / "sheets")
        rows.add(weave(store, completer, intake.sheets, intake.dropped))
        if not options.shard:
            rows.add(missing(completer, ledger))
        report = finish(facts, rows, problems, ledger, engine.incidents, intake.resumed, started)
    except BaseException:
        problems.close()
        store.close()
        raise
    store.remove()
    return report


def finish(
    facts: Facts,
    rows: Sheets,
    problems: Problems,
    ledger: Ledger,
    incidents: list[str],
    resumed: int,
    started: float,
) -> Report:
    """Write what a run came to, and return it.

    Args:
        facts: what was graded, and how.
        rows: all of them.
        problems: all of them.
        ledger: that took every line.
        incidents: what happened to workers.
        resumed: lines taken over from an interrupted run.
        started: on the monotonic clock.

    Raises:
        ResultsError: the folder cannot be written.
    """
    options = facts.options
    written = problems.path.with_name(RESULTS)
    rows.write(written)
    problems.close()
    report = Report(
        options.out / RESULTS,
        tally(written),
        problems.first,
        problems.counts,
        incidents,
        resumed,
        ledger.left_alone,
        [],
    )
    report.summary = summarize(facts, report, ledger, time.monotonic() - started)
    report.remarks += remarks(options.release, facts.tasks, report.summary["withdrawn"])
    write_results(options.out, written, report.summary)
    wanted = options.shard is not None or problems.counts.total() > SHOWN
    problems.place(options.out / PROBLEMS, wanted=wanted)
    return report


def _lanes_of(cluster: str | None) -> "Callable[[Start], Lanes] | None":
    if cluster is None:
        return None
    from scbench.grading.workers.cluster import open_lanes  # noqa: PLC0415  (an extra)

    return open_lanes(cluster)
