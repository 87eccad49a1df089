"""A grading run: one predictions file against one release, into one output folder.

The path of a line: `rows.chunks` cuts the file into chunks, `workers.scheduler` hands each to a
worker, where `rows.survey` parses its lines, `outcome` finds and judges the answers of light tasks
and `rows.columns` makes their rows. `collector` enters what comes back into the coverage, in the
order of the file, and queues the lines of heavy tasks; `checkpoint` keeps all of it and puts it
together.
"""

import hashlib
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scbench.base.errors import MachineError, PredictionsError, refused
from scbench.base.progress import no_progress
from scbench.formats.predictions import is_empty, open_predictions, unread_keys
from scbench.grading.checkpoint import WORK, Checkpoint, ResultsWriter, assemble, missing
from scbench.grading.collector import Collector
from scbench.grading.options import Options, choose_tasks
from scbench.grading.output import (
    PROBLEMS,
    RESULTS,
    SUMMARISED,
    Problems,
    check_place,
    write_results,
)
from scbench.grading.rows.chunks import ALL_LINES, Chunk
from scbench.grading.rows.columns import Completer
from scbench.grading.rows.coverage import NOTHING_READ, Coverage
from scbench.grading.rows.index import index_of
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.summary import RunFacts, RunReport, remarks, summarize, tally
from scbench.grading.workers.scheduler import OnWait, Scheduler
from scbench.grading.workers.worker import WorkItem
from scbench.machine.work_folder import interrupted

if TYPE_CHECKING:
    from scbench.grading.workers.pool import WorkerPool
    from scbench.grading.workers.worker import Start

__all__ = ["Options", "RunReport", "choose_tasks", "grade_file"]


def grade_file(
    options: Options,
    on_progress: Callable[[int, int], object] = no_progress,
    on_wait: OnWait = no_progress,
) -> RunReport:
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
    if options.imported is None and is_empty(options.predictions):
        raise PredictionsError(f"{options.predictions} holds no predictions; nothing is written")
    check_place(
        options.out,
        options.predictions,
        options.release.version,
        begun=interrupted(options.out / WORK),
        restart=options.restart,
    )
    index = index_of(
        options.release,
        tasks,
        exclude_withdrawn=options.exclude_withdrawn,
        described=options.described,
    )
    completer = Completer(index)
    shard = options.shard or ALL_LINES
    checkpoint = Checkpoint(
        options.out,
        index.identity(options.limits.allow_code, *shard),
        resume=options.resume,
        restart=options.restart,
    )
    imported = options.imported
    coverage = Coverage(index.known_ids, imported.origin if imported else None)
    digest = hashlib.sha256()
    problems = Problems(checkpoint.folder / PROBLEMS, imported.with_origin if imported else None)
    try:
        for problem in imported.problems if imported else ():
            problems.add(problem)
        scheduler = Scheduler(
            index.keys(), options.limits, index.heavy, index, _pool_of(options.cluster)
        )
        scheduler.incidents += checkpoint.remarks
        collector = Collector(completer, coverage, checkpoint, problems, scheduler, on_progress)
        with (
            open_predictions(options.predictions) as stream,
            closing(scheduler.work(collector.queue(stream, digest, shard), on_wait)) as done,
        ):
            for work, result in done:
                if isinstance(work, WorkItem) and isinstance(result, WireOutcome):
                    collector.take_outcome(work, result)
                elif isinstance(work, Chunk) and not isinstance(result, WireOutcome):
                    collector.take_chunk(work, result)
        for problem in sorted(collector.forged, key=lambda problem: problem.line or 0):
            problems.add(problem)
        facts = RunFacts(
            options,
            tasks,
            digest.hexdigest(),
            started,
            collector.resumed,
            scheduler.incidents,
            scheduler.protections,
        )
        rows = ResultsWriter(checkpoint.folder / "rows")
        rows.add(assemble(checkpoint, completer, collector.chunks))
        report = finish(facts, completer, rows, problems, coverage)
    except BaseException as error:
        with suppress(OSError):  # of a full disk; what could be written is kept
            problems.close()
        resumable = checkpoint.close()
        reason = refused(error)
        if reason:
            hint = "; what was graded is kept there, continue with --resume" if resumable else ""
            raise MachineError(f"{options.out}: {reason}{hint}") from None
        raise
    checkpoint.remove()
    return report


def finish(
    facts: RunFacts,
    completer: Completer,
    rows: ResultsWriter,
    problems: Problems,
    coverage: Coverage,
) -> RunReport:
    """Write what a run came to, and return it.

    Args:
        facts: what was graded, and how.
        completer: for what was graded against.
        rows: those of all lines.
        problems: those of all lines.
        coverage: that took every line.

    Raises:
        ResultsError: the folder cannot be written.
    """
    options = facts.options
    if not options.shard:
        if not coverage.lines:
            problems.add(NOTHING_READ)
        nothing = coverage.nothing_graded()
        if nothing is not None:
            problems.add(nothing)
        if not options.partial:
            for problem in coverage.incomplete():
                problems.add(problem)
        rows.add(missing(completer, coverage))
    results = problems.path.with_name(RESULTS)
    rows.write(results)
    problems.close()
    report = RunReport(
        options.out / RESULTS,
        tally(results),
        problems.first,
        problems.counts,
        facts.incidents,
        facts.resumed,
        coverage.not_chosen,
        [],
        list(unread_keys(coverage.unread)),
    )
    report.summary = summarize(facts, report, coverage)
    summary = report.summary
    report.remarks += remarks(
        options.release, facts.tasks, summary["withdrawn"], summary["fingerprints"], summary["runs"]
    )
    write_results(options.out, results, report.summary)
    keep = options.shard is not None or problems.counts.total() > SUMMARISED
    problems.place(options.out / PROBLEMS, keep=keep)
    return report


def _pool_of(cluster: str | None) -> "Callable[[Start], WorkerPool] | None":
    if cluster is None:
        return None
    from scbench.grading.workers.cluster import open_cluster  # noqa: PLC0415  (an extra)

    return open_cluster(cluster)
