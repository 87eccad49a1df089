"""A grading run: one predictions file against one release, into one output folder.

How a line is processed:

1. read: `scbench.formats.predictions` reads blocks of the file;
2. split: `rows.chunks` cuts them into chunks of lines;
3. worker: `workers.scheduler` hands each chunk to a process, where `workers.worker`
parses the lines, extracts the answers, and grades the answers to light tasks;
4. collector: `collector` decides in file order which lines count, marks their items as
   covered, and queues the lines of heavy tasks;
5. store: `checkpoint` stores everything that is finished;
6. results: `results` joins the rows, and `summary` computes tables and warnings from them.
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
    CHANGED_FILE,
    is_empty,
    open_predictions,
    unread_keys,
)
from scbench.grading.checkpoint import FORMAT, WORK, Checkpoint
from scbench.grading.collector import Collector
from scbench.grading.expected_work import extra_work
from scbench.grading.options import Options, choose_tasks
from scbench.grading.output import (
    PROBLEMS,
    RESULTS,
    SUMMARISED,
    Problems,
    check_place,
    write_results,
    write_sources,
)
from scbench.grading.results import ResultsWriter, assemble, missing
from scbench.grading.rows.chunks import Shard
from scbench.grading.rows.coverage import NOTHING_READ, Coverage
from scbench.grading.rows.index import ReleaseIndex, index_of
from scbench.grading.workers.jobs import Start
from scbench.grading.workers.scheduler import OnWait, Scheduler
from scbench.machine.files import file_state
from scbench.machine.signals import watched
from scbench.machine.work_folder import interrupted

if TYPE_CHECKING:
    from scbench.grading.summary import RunFacts, RunReport
    from scbench.grading.workers.pool import WorkerPool


def grade_file(
    options: Options,
    on_progress: Callable[[int, int], object] = no_progress,
    on_wait: OnWait = no_progress,
) -> "RunReport":
    """Grade a predictions file and write the results.

    Args:
        options: options of the run.
        on_progress: called with the number of lines graded so far and the work done, see
            `scbench.grading.expected_work`.
        on_wait: called about once a second with each slow item.

    Raises:
        ScbenchError: the file, the release, the output folder or the cluster cannot be used.
        KeyboardInterrupt: raised after everything was closed, so that ``--resume`` can
            continue.
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
    shard = options.shard or Shard()
    # Only a run with the same identity may resume from the checkpoint.
    run_identity = index.identity(FORMAT, options.limits.allow_code, *shard)
    checkpoint = Checkpoint(
        options.out, run_identity, resume=options.resume, restart=options.restart
    )
    write_sources(checkpoint.work.path, options.out, options.files)
    imported = options.imported
    coverage = Coverage(index.known_ids, imported.origin if imported else None)
    # Every block that is read is added to this hash.
    file_hash = hashlib.sha256()
    problems = Problems(
        checkpoint.folder / PROBLEMS, imported.with_origin if imported else None
    )
    with resumable_on_error(options, checkpoint, problems):
        # Import problems belong to no line of the stream, so they are reported first.
        import_problems = imported.problems if imported else ()
        for problem in import_problems:
            problems.add(problem)
        # This import loads polars while the server that forks workers starts.
        from scbench.grading.summary import RunFacts  # noqa: PLC0415

        with watched() as interrupts:
            scheduler = Scheduler(
                instances=index.keys(),
                limits=options.limits,
                heavy=index.heavy,
                index=index,
                open_pool=pool_opener(options.cluster),
            )
            scheduler.incidents += checkpoint.remarks
            collector = Collector(
                index,
                coverage,
                checkpoint,
                problems,
                scheduler,
                on_progress,
                extra_work(tasks),
            )
            state_before = file_state(options.predictions)
            with open_predictions(options.predictions) as stream:
                queue = collector.queue(stream, file_hash, shard)
                collector.collect(queue, interrupts, on_wait)
            if file_state(options.predictions) != state_before:
                problems.add(CHANGED_FILE)
            facts = RunFacts(
                options=options,
                tasks=tasks,
                digest=file_hash.hexdigest(),
                started=started,
                resumed=collector.resumed,
                incidents=scheduler.incidents,
                protections=scheduler.protections,
            )
            rows = ResultsWriter(checkpoint.folder / "rows")
            rows.add(assemble(checkpoint, index, collector.chunks))
            report = finish(facts, index, rows, problems, coverage)
            # If a library swallowed a signal, end the run as interrupted and keep its
            # checkpoint.
            interrupts.check()
    checkpoint.remove()
    return report


def check_inputs(options: Options) -> None:
    """Refuse a file without predictions, and a folder with results that would be overwritten."""
    if options.predictions != "-" and not Path(options.predictions).exists():
        raise PredictionsError(f"no such file: {options.predictions}")
    # An import may give no predictions; then the report lists the problems of its
    # files.
    if options.imported is None and is_empty(options.predictions):
        raise PredictionsError(
            f"{options.predictions} contains no predictions; nothing was written"
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
def resumable_on_error(
    options: Options, checkpoint: Checkpoint, problems: Problems
) -> Iterator[None]:
    """Close everything if the block fails, so that the run can be resumed.

    Raises:
        MachineError: raised instead of an error caused by the machine, such as a full
            disk. All other errors are raised again.
    """
    try:
        yield
    except BaseException as error:
        # On a full disk, closing can fail as well; everything written so far remains.
        with suppress(OSError):
            problems.close()
        is_resumable = checkpoint.close()
        machine_refusal = refused(error)
        if not machine_refusal:
            raise
        hint = ""
        if not options.has_resume:
            hint = "; run the same command again"
        elif is_resumable:
            hint = "; results so far are saved; continue with --resume"
        raise MachineError(f"{options.out}: {machine_refusal}{hint}") from None


def pool_opener(cluster: str | None) -> "Callable[[Start], WorkerPool] | None":
    """Return the function that opens the pool of a cluster; None to use this machine's pool."""
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
    # A shard does not know which items the other shards cover; `scbench merge` checks
    # that.
    if not options.shard:
        if not coverage.lines:
            problems.add(NOTHING_READ)
        # All lines are for other tasks, other releases or withdrawn items.
        nothing_graded = coverage.nothing_graded()
        if nothing_graded is not None:
            problems.add(nothing_graded)
        if not options.partial:
            for problem in coverage.incomplete():
                problems.add(problem)
        rows.add(missing(index, coverage, partial=options.partial))
    # Written next to the checkpoint; `write_results` then moves the finished file to --out.
    results = problems.path.with_name(RESULTS)
    rows.write(results)
    problems.close()
    report = RunReport(
        path=options.out / RESULTS,
        tally=tally(results, options.release.weights()),
        problems=problems.first,
        problem_counts=problems.counts,
        incidents=facts.incidents,
        resumed=facts.resumed,
        left_alone=coverage.not_chosen,
        remarks=[],
        warnings=list(unread_keys(coverage.unread)),
    )
    # The summary is computed from the report, and the remarks from the summary.
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
    # The summary has only the first problems, but a merge needs all of them.
    is_needed = options.shard is not None or problems.counts.total() > SUMMARISED
    problems.place(options.out / PROBLEMS, keep=is_needed)
    return report
