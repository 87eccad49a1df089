"""A grading run: one predictions file against one release, into one output folder.

The path of a line:

1. read: `scbench.formats.predictions` reads blocks of the file;
2. split: `rows.chunks` cuts them into chunks of lines;
3. worker: `workers.scheduler` hands each chunk to a process, where `workers.worker` parses the
   lines, extracts the answers, and judges those of light tasks;
4. collector: `collector` enters the results into the coverage, in the order of the file, and
   queues the lines of heavy tasks;
5. store: `checkpoint` keeps everything that is finished;
6. results: `results` joins the rows, and `summary` says what they amount to.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scbench.base.errors import MachineError, PredictionsError, refused
from scbench.base.progress import no_progress
from scbench.formats.predictions import (
    Problem,
    is_empty,
    open_predictions,
    unread_keys,
)
from scbench.grading.checkpoint import FORMAT, WORK, Checkpoint
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
from scbench.grading.results import ResultsWriter, assemble, missing
from scbench.grading.rows.chunks import ALL_LINES
from scbench.grading.rows.coverage import NOTHING_READ, Coverage
from scbench.grading.rows.index import ReleaseIndex, index_of
from scbench.grading.workers.jobs import Start
from scbench.grading.workers.scheduler import OnWait, Scheduler
from scbench.machine.signals import watched
from scbench.machine.work_folder import interrupted

if TYPE_CHECKING:
    from scbench.grading.summary import RunFacts, RunReport
    from scbench.grading.workers.pool import WorkerPool

__all__ = ["Options", "choose_tasks", "finish", "grade_file"]

_CHANGED = (
    "the file was written to while it was read, so these may not be the answers that it holds now; "
    "grade it again with --restart when nobody writes to it"
)


def grade_file(
    options: Options,
    on_progress: Callable[[int, int], object] = no_progress,
    on_wait: OnWait = no_progress,
) -> "RunReport":
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
    check_inputs(options)
    index = index_of(
        options.release,
        tasks,
        exclude_withdrawn=options.exclude_withdrawn,
        described=options.described,
    )
    shard = options.shard or ALL_LINES
    checkpoint = Checkpoint(
        options.out,
        index.identity(FORMAT, options.limits.allow_code, *shard),
        resume=options.resume,
        restart=options.restart,
    )
    imported = options.imported
    coverage = Coverage(index.known_ids, imported.origin if imported else None)
    digest = hashlib.sha256()
    problems = Problems(
        checkpoint.folder / PROBLEMS, imported.with_origin if imported else None
    )
    with left_resumable(options.out, checkpoint, problems):
        # Entries without a place in the stream have no turn: they come first.
        for problem in imported.problems if imported else ():
            problems.add(problem)
        # Loads polars, while the server that workers are forked from starts.
        from scbench.grading.summary import RunFacts  # noqa: PLC0415

        with watched() as interrupts:
            scheduler = Scheduler(
                index.keys(),
                options.limits,
                index.heavy,
                index,
                pool_opener(options.cluster),
            )
            scheduler.incidents += checkpoint.remarks
            collector = Collector(
                index, coverage, checkpoint, problems, scheduler, on_progress
            )
            state = file_state(options.predictions)
            with open_predictions(options.predictions) as stream:
                queue = collector.queue(stream, digest, shard)
                collector.collect(queue, interrupts, on_wait)
            if file_state(options.predictions) != state:
                problems.add(Problem("changed_file", _CHANGED))
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
            rows.add(assemble(checkpoint, index, collector.chunks))
            report = finish(facts, index, rows, problems, coverage)
            interrupts.check()
    checkpoint.remove()
    return report


def check_inputs(options: Options) -> None:
    """Refuse a file without predictions, and a folder whose results would be lost."""
    if options.predictions != "-" and not Path(options.predictions).exists():
        raise PredictionsError(f"no such file: {options.predictions}")
    if options.imported is None and is_empty(options.predictions):
        raise PredictionsError(
            f"{options.predictions} holds no predictions; nothing is written"
        )
    shard = str(options.shard) if options.shard else None
    check_place(
        options.out,
        options.files,
        options.release.version,
        options.stored | {"shard": shard},
        begun=interrupted(options.out / WORK),
        restart=options.restart,
    )


@contextmanager
def left_resumable(
    out: Path, checkpoint: Checkpoint, problems: Problems
) -> Iterator[None]:
    """Close everything if the block fails, so that the run can be resumed.

    Raises:
        MachineError: the machine refused something, such as space on a disk.
    """
    try:
        yield
    except BaseException as error:
        with suppress(OSError):  # of a full disk; whatever could be written is kept
            problems.close()
        resumable = checkpoint.close()
        reason = refused(error)
        if not reason:
            raise
        hint = ""
        if resumable:
            hint = "; what was graded is kept there, continue with --resume"
        raise MachineError(f"{out}: {reason}{hint}") from None


def file_state(path: str) -> tuple[int, ...] | None:
    """Return inode, size and time of change: all differ if a file was replaced; None of a pipe."""
    try:
        about = Path(path).stat()
    except OSError:
        return None
    return about.st_ino, about.st_size, about.st_mtime_ns


def pool_opener(cluster: str | None) -> "Callable[[Start], WorkerPool] | None":
    """Return the function that opens the pool of a cluster; None for this machine's."""
    if cluster is None:
        return None
    from scbench.grading.workers.cluster import ClusterPool  # noqa: PLC0415  (an extra)

    return partial(ClusterPool, cluster)


def finish(
    facts: "RunFacts",
    index: ReleaseIndex,
    rows: ResultsWriter,
    problems: Problems,
    coverage: Coverage,
) -> "RunReport":
    """Write the results of a run, its summary and its problems; return the report.

    Raises:
        ResultsError: the folder cannot be written.
    """
    from scbench.grading.summary import RunReport, remarks, summarize, tally  # noqa: PLC0415

    options = facts.options
    # A shard cannot know what the others hold.
    if not options.shard:
        if not coverage.lines:
            problems.add(NOTHING_READ)
        nothing = coverage.nothing_graded()
        if nothing is not None:
            problems.add(nothing)
        if not options.partial:
            for problem in coverage.incomplete():
                problems.add(problem)
        rows.add(missing(index, coverage, partial=options.partial))
    results = problems.path.with_name(RESULTS)
    rows.write(results)
    problems.close()
    report = RunReport(
        options.out / RESULTS,
        tally(results, options.release.weights()),
        problems.first,
        problems.counts,
        facts.incidents,
        facts.resumed,
        coverage.not_chosen,
        [],
        list(unread_keys(coverage.unread)),
    )
    summary = summarize(facts, report, coverage)
    report.summary = summary
    report.remarks += remarks(
        options.release,
        facts.tasks,
        summary["withdrawn"],
        summary["fingerprints"],
        summary["runs"],
    )
    write_results(options.out, results, summary)
    keep = options.shard is not None or problems.counts.total() > SUMMARISED
    problems.place(options.out / PROBLEMS, keep=keep)
    return report
