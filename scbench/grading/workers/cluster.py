"""Grading on a cluster: a worker pool made of the threads of a dask scheduler's workers.

``scbench-grade predictions.jsonl --cluster tcp://HOST:8786`` sends every chunk, and every heavy
item, to a worker started with ``dask worker tcp://HOST:8786``. Workers need only the
same version of this package: jobs contain the instances, so workers need no release or
files. If a worker dies, the scheduler gives its jobs to others, so nothing is lost.

A cluster's worker may run several jobs in threads. Each job has a separate process that
can be killed, so that an item that hangs or crashes costs only one row. Processes are
reused for later jobs of the same run.

The first half of this module runs in the client, the second in the cluster's workers.
"""

import contextlib
import json
import logging
import multiprocessing
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal, NamedTuple

from typing_extensions import override

from scbench.base import __version__
from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import ClusterError, EngineError
from scbench.catalog import all_tasks
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.index import IndexEntry, ReleaseIndex
from scbench.grading.run_file import DescribedRun
from scbench.grading.workers.jobs import Failure, GradingJob, JobResult, Start
from scbench.grading.workers.pool import (
    FinishedJob,
    Free,
    Waiting,
    Worker,
    WorkerPool,
    is_fatal,
)
from scbench.machine.package import loaded_package

# Seconds until a scheduler must answer, and until it must have a worker.
_CONNECT_SECONDS = 5.0
_FIRST_WORKER_SECONDS = 10.0
# Seconds without any worker after which a run is given up.
_NO_WORKERS_SECONDS = 60.0
# Seconds between checks of the current workers.
_UPDATE_SECONDS = 2.0
# Seconds after which an item counts as slow.
_SLOW_SECONDS = 2.0
# Jobs of a worker's thread: one running, one waiting.
_JOBS_PER_THREAD = 2
# Number of consecutive failed jobs after which a run is given up.
_MOST_FAILURES = 20
# Dask warns about large graphs, but jobs of several megabytes are normal.
_QUIET = {"distributed.admin.large-graph-warning-threshold": "1 GiB"}

# Maximum number of a worker's processes that may die before they do anything.
_TRIES = 3
# Seconds after which another run's idle processes are stopped.
_IDLE_SECONDS = 60.0
# Seconds between checks of a running process.
_POLL_SECONDS = 5.0

# Version of the package, as ``scbench``, and of each grader, by task.
Versions = dict[str, str | int]


class Orders(NamedTuple):
    """Everything about a run that is sent with every job.

    Attributes:
        key: the key of the run.
        start: start data of its processes, as JSON.
        versions: versions of package and graders, which the worker must match.
    """

    key: str
    start: bytes
    versions: Versions


@dataclass(frozen=True, slots=True)
class Parcel:
    """A job to send. Not a tuple, because dask inspects tuples."""

    orders: Orders
    job: GradingJob


class JobReply(NamedTuple):
    """The reply to a job: refused if versions differ, broken if no process could start."""

    kind: Literal["done", "refused", "broken"]
    result: JobResult


class Flight(NamedTuple):
    """A running job, and the monotonic time at which it was sent."""

    job: GradingJob
    since: float


def orders_of(start: Start) -> Orders:
    """Return the orders for a run.

    Raises:
        TypeError: the run has no release.
    """
    if start.release is None:
        raise TypeError("a cluster needs a release")
    index = {}
    for field in fields(ReleaseIndex):
        index[field.name] = getattr(start.release, field.name)
    data = canonical_json([start.memory_bytes, start.allow_code, index]).encode()
    versions: Versions = {**package_versions(), **start.release.versions}
    return Orders(sha256(data), data, versions)


class ClusterPool(WorkerPool):
    """The worker threads of a scheduler at an address such as ``tcp://10.0.0.5:8786``.

    Raises:
        ClusterError: there is no scheduler or no worker, or a worker has other versions.
    """

    def __init__(self, address: str, start: Start) -> None:
        import dask  # noqa: PLC0415  (an extra, and heavy)
        from distributed import Client  # noqa: PLC0415  (the same)

        super().__init__()
        self._address = address
        self._orders: Orders = orders_of(start)
        self._flight: dict[Future[Any], Flight] = {}
        # Threads by address of the worker.
        self._threads: dict[str, int] = {}
        self._updated_at = time.monotonic()
        self._last_present = self._updated_at
        self._failures_in_a_row = 0
        # It reports repairs on standard error.
        silence_libraries()
        dask.config.set(_QUIET)
        try:
            self._client: Any = Client(
                address, timeout=_CONNECT_SECONDS, set_as_default=False
            )  # type: ignore[no-untyped-call]
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"no scheduler answers at {address}: {error_line(error)}; start one with "
                "`dask scheduler`, and workers with `dask worker ADDRESS`"
            ) from None
        self._executor = executor_of(self._client)
        try:
            self._check_workers()
        except BaseException:
            self.close()
            raise

    def _check_workers(self) -> None:
        """Wait for a worker, and compare versions with all workers."""
        until = time.monotonic() + _FIRST_WORKER_SECONDS
        while not self._update_workers():
            if time.monotonic() > until:
                raise ClusterError(
                    f"the scheduler at {self._address} has no workers; "
                    f"start some with `dask worker {self._address}`"
                )
            time.sleep(0.1)
        versions = self._orders.versions
        replies = self._client.run(installed_versions, versions, on_error="return")
        for worker, reply in sorted(replies.items()):
            if isinstance(reply, BaseException):
                raise ClusterError(
                    f"worker {worker} cannot use scbench: {error_line(reply)}; install "
                    f"scbench {versions['scbench']} there"
                )
            self._refuse_differences(differences(versions, reply), worker)
        names_by_worker = self._client.run(
            protections_here, list(versions), on_error="ignore"
        )
        self.protections = sorted(set().union(*names_by_worker.values()))

    def _refuse_differences(self, different: str, worker: str) -> None:
        """Raise an error if versions differ from ours."""
        if different:
            raise ClusterError(
                f"worker {worker} would grade differently ({different}); install scbench "
                f"{self._orders.versions['scbench']} there"
            )

    def _update_workers(self) -> int:
        """Look up the current workers; return their total number of threads."""
        self._updated_at = time.monotonic()
        try:
            threads = dict(self._client.nthreads())
        except (OSError, TimeoutError, AttributeError) as error:
            raise self._connection_error() from error
        # The scheduler gives their jobs to others; this only informs the user.
        for worker in sorted(self._threads.keys() - threads.keys()):
            self.note(f"the cluster lost worker {worker}")
        self._threads = threads
        if threads:
            self._last_present = self._updated_at
        elif self._updated_at - self._last_present > _NO_WORKERS_SECONDS:
            raise ClusterError(
                f"the scheduler at {self._address} had no workers for {_NO_WORKERS_SECONDS:.0f} s; "
                "start some, then continue with --resume"
            )
        return sum(threads.values())

    def _connection_error(self) -> ClusterError:
        return ClusterError(
            f"lost the connection to the scheduler at {self._address}; results so far "
            "are saved; continue with --resume"
        )

    @override
    def free(self) -> Free | None:
        heavy = sum(flight.job.heavy for flight in self._flight.values())
        light = len(self._flight) - heavy
        threads = sum(self._threads.values())
        is_vacant = len(self._flight) < threads
        if is_vacant or light < _JOBS_PER_THREAD * (threads - heavy):
            return Free(is_vacant, threads - heavy)
        return None

    @override
    def busy(self) -> bool:
        return bool(self._flight)

    @override
    def submit(self, job: GradingJob) -> None:
        future = self._executor.submit(run_job, Parcel(self._orders, job))
        self._flight[future] = Flight(job, time.monotonic())

    @override
    def done(self, seconds: float) -> list[FinishedJob]:
        if time.monotonic() - self._updated_at > _UPDATE_SECONDS:
            self._update_workers()
        if self._client.status != "running":
            raise self._connection_error()
        wait(self._flight, timeout=seconds, return_when=FIRST_COMPLETED)
        finished: list[FinishedJob] = []
        # A copy, because the loop changes it.
        for future in list(self._flight):
            if not future.done():
                continue
            job = self._flight.pop(future).job
            result = self._result_of(job, reply_of(future))
            if result is not None:
                finished.append(FinishedJob(job, result))
        return finished

    def _result_of(self, job: GradingJob, reply: JobReply) -> JobResult | None:
        """Return the result in a reply; None if the job is sent again."""
        if reply.kind == "done":
            self._failures_in_a_row = 0
            return reply.result
        why = reply.result.why if isinstance(reply.result, Failure) else "unknown"
        # Workers with any version may join at any time.
        if reply.kind == "refused":
            self._refuse_differences(why, "that joined")
        self._failures_in_a_row += 1
        if self._client.status != "running":
            raise self._connection_error()
        if self._failures_in_a_row >= _MOST_FAILURES:
            raise EngineError(
                f"the cluster failed on {_MOST_FAILURES} jobs in a row: {why}"
            )
        self.note(f"sending a job again: {why}")
        self.submit(job)
        return None

    @override
    def waited_for(self) -> Iterator[Waiting]:
        # Steps of remote jobs are unknown.
        now = time.monotonic()
        for job, since in self._flight.values():
            seconds = now - since
            if (
                job.heavy
                and not isinstance(job.work, Chunk)
                and seconds > _SLOW_SECONDS
            ):
                yield Waiting(job.work[0].instance_id, seconds, 0, 0)

    @override
    def resize(self, *, single: bool) -> None:
        """Do nothing: there is nothing to restore."""

    @override
    def close(self) -> None:
        self._flight.clear()
        if self._client.status == "running":
            # Cancel jobs first, or workers would start the waiting ones.
            with contextlib.suppress(Exception):
                self._executor.shutdown(wait=False)
            with contextlib.suppress(Exception):
                self._client.run(close_run, self._orders.key, on_error="ignore")
        with contextlib.suppress(Exception):
            self._client.close(timeout=_CONNECT_SECONDS)


def silence_libraries() -> None:
    """Silence dask and its dependencies, because our errors are clearer."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        # Dask sets separate log levels for several of its parts.
        if name.partition(".")[0] in {"distributed", "tornado", "asyncio"}:
            logging.getLogger(name).setLevel(logging.CRITICAL)
    # Coroutines of a lost connection end with errors that nobody waits for, at level ERROR.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)


def executor_of(client: Any) -> Executor:  # noqa: ANN401  (untyped library)
    """Return a `concurrent.futures` executor that makes its calls on a cluster."""
    # Equal jobs must not be merged.
    executor: Executor = client.get_executor(pure=False)
    return executor


def reply_of(future: "Future[JobReply]") -> JobReply:
    """Return the reply in a finished future."""
    if future.cancelled():
        return JobReply("broken", Failure("the scheduler dropped it"))
    error = future.exception()
    if error is None:
        return future.result()
    name = type(error).__name__
    # Dask's error for a job that was running each time that a worker died.
    if name == "KilledWorker":
        failure = Failure("several workers of the cluster died while grading this item")
    else:
        failure = Failure(f"{name}: {error_line(error)}")
    return JobReply("done", failure)


def error_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type."""
    return str(error).partition("\n")[0][:200] or type(error).__name__


@cache
def unpack_start(data: bytes) -> Start:
    """Return the start data that `orders_of` packed."""
    memory_bytes, allow_code, index_fields = json.loads(data)
    entries = [IndexEntry(*values) for values in index_fields["entries"]]
    described = tuple(DescribedRun(*values) for values in index_fields["described"])
    index = ReleaseIndex(**index_fields | {"entries": entries, "described": described})
    return Start(index.keys(), memory_bytes, allow_code, index)


def package_versions() -> Versions:
    """Return the version of the package, and the hash of its files.

    Two copies of one version may differ, for example an edited checkout.
    """
    return {
        "scbench": __version__,
        "files of scbench": loaded_package().digest[:12],
    }


def installed_versions(versions: Mapping[str, str | int]) -> Versions:
    """Return the local versions of the package and graders named in a client's versions."""
    tasks = all_tasks()
    local_versions = package_versions()
    for name in versions:
        if name in tasks:
            task = tasks[name]
            local_versions[name] = task.grader_version if task.available else "none"
    return local_versions


def protections_here(tasks: Iterable[str]) -> list[str]:
    """Return the local protection for child programs, if graders of these tasks start any."""
    catalog = all_tasks()
    if not any(catalog[name].isolated for name in tasks if name in catalog):
        return []
    from scbench.machine import sandbox  # noqa: PLC0415  (few runs have children)

    return list(sandbox.protections())


def differences(
    versions: Mapping[str, str | int], worker_versions: Mapping[str, str | int]
) -> str:
    """Return the versions that differ; empty if none do."""
    phrases = []
    for name, version in versions.items():
        if worker_versions.get(name) == version:
            continue
        part = f"grader of {name}" if name in all_tasks() else name
        phrases.append(
            f"{part}: client {version}, worker {worker_versions.get(name, 'none')}"
        )
    return "; ".join(phrases)


@cache
def version_differences(versions: tuple[tuple[str, str | int], ...]) -> str:
    """Return a client's versions that differ from the local ones, which never change."""
    return differences(dict(versions), installed_versions(dict(versions)))


def run_job(parcel: Parcel) -> JobReply:
    """Do a job in a process of this worker."""
    orders = parcel.orders
    job = parcel.job
    different = version_differences(tuple(orders.versions.items()))
    if different:
        return JobReply("refused", Failure(different))
    # Clusters start their workers as daemons, which may have no children. Our children
    # end with us: they notice the closed connection.
    if multiprocessing.current_process().daemon:
        multiprocessing.current_process().daemon = False
    # A process that died while idle fails the job before it starts; then another
    # process tries.
    for _ in range(_TRIES):
        worker = processes.take(orders)
        attempt = wait_for_job(worker, job)
        error = attempt.error
        processes.put_back(orders, worker, spoilt=error is not None and is_fatal(error))
        if error is None and attempt.result is not None:
            return JobReply("done", attempt.result)
        if error is not None and not isinstance(error, BrokenProcessPool):
            failure = Failure(worker.why(error, job.seconds))
            return JobReply("done", attempt.result or failure)
    return JobReply(
        "broken", Failure("worker processes die before they can grade anything")
    )


class Attempt(NamedTuple):
    """The end of a job in a process: its result, or its error, which may have a message."""

    error: BaseException | None
    result: JobResult | None


def wait_for_job(worker: Worker, job: GradingJob) -> Attempt:
    """Run a job in a process, and wait for it up to its time limit."""
    future = worker.submit(job)
    while True:
        try:
            error = future.exception(timeout=_POLL_SECONDS)
        except TimeoutError:
            # Only this wait is over; the job fails if its process does not answer in
            # time.
            stuck = worker.stuck()
            if stuck or worker.overdue():
                return Attempt(TimeoutError(), stuck)
            continue
        except BaseException as cancelled:  # noqa: BLE001  (the run is over)
            return Attempt(BrokenProcessPool(str(cancelled)), None)
        worker.flight.clear()
        if error is None:
            return Attempt(None, future.result())
        return Attempt(error, None)


class Processes:
    """The processes of a cluster's worker, by the key of their run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.idle: dict[str, list[Worker]] = {}
        self._busy: dict[str, set[Worker]] = {}
        # Monotonic time of the last job of each run.
        self._used: dict[str, float] = {}

    def take(self, orders: Orders) -> Worker:
        """Return an idle or new process for a run; stop those of runs that seem to have ended."""
        now = time.monotonic()
        with self._lock:
            old = self._forget_old(orders.key, now)
            workers = self.idle.setdefault(orders.key, [])
            worker = workers.pop() if workers else Worker(unpack_start(orders.start))
            self._busy.setdefault(orders.key, set()).add(worker)
            self._used[orders.key] = now
        # Outside the lock, because closing a process takes a while.
        for idle_worker in old:
            idle_worker.close()
        return worker

    def _forget_old(self, current: str, now: float) -> list[Worker]:
        """Return the processes of other runs that have been idle too long."""
        old: list[Worker] = []
        for key, last_use in list(self._used.items()):
            is_idle = now - last_use > _IDLE_SECONDS and not self._busy.get(key)
            if is_idle and key != current:
                old += self.idle.pop(key, [])
                del self._used[key]
        return old

    def put_back(self, orders: Orders, worker: Worker, *, spoilt: bool) -> None:
        """Take a process back; stop it if it is unusable."""
        with self._lock:
            self._busy[orders.key].discard(worker)
            self._used[orders.key] = time.monotonic()
            if not spoilt:
                self.idle.setdefault(orders.key, []).append(worker)
        if spoilt:
            worker.close()

    def close(self, key: str) -> None:
        """Stop the processes of a run, busy or not."""
        with self._lock:
            workers = [*self.idle.pop(key, []), *self._busy.get(key, ())]
            self._used.pop(key, None)
        for worker in workers:
            worker.close()


# The processes of this worker, if this runs in one.
processes = Processes()


def close_run(key: str) -> None:
    """Stop the processes of a run in this worker."""
    processes.close(key)
