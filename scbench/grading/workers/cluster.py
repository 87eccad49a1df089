"""Grading on a cluster: a worker pool of the threads of a dask scheduler's workers.

``scbench-grade predictions.jsonl --cluster tcp://HOST:8786`` sends every chunk, and every heavy
item, to a worker started with ``dask worker tcp://HOST:8786``. Workers need this package in the
same version, and nothing else: instances travel with the jobs, so release and files may be missing
there. A worker that dies loses nothing, because the scheduler gives its jobs to others.

A cluster's worker may run several jobs in threads. Each has a process of its own that can be
killed, so that an item that hangs or crashes costs one row there, too. Processes are kept for the
jobs that follow, and told apart by the run that they were started for.
"""

import contextlib
import json
import logging
import multiprocessing
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, fields
from functools import cache
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, Literal, NamedTuple

from typing_extensions import override

from scbench.base import __version__
from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import ClusterError, EngineError
from scbench.catalog import all_tasks
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.index import IndexEntry, ReleaseIndex
from scbench.grading.workers.jobs import Start
from scbench.grading.workers.pool import (
    Failure,
    Free,
    GradingJob,
    JobResult,
    Waiting,
    Worker,
    WorkerPool,
    is_fatal,
)

# Processes that may die before they do anything.
_TRIES = 3
# Seconds after which another run's idle processes are given up.
_IDLE = 60.0
_POLL = 5.0

# Version of the package, as ``scbench``, and of each grader, by task.
Versions = dict[str, str | int]


_CONNECT = 5.0
# Seconds until a scheduler must answer, and until it must have a worker.
_FIRST_WORKER = 10.0
# Seconds without any worker after which a run is given up.
_NO_WORKERS = 60.0
# Seconds between looks at who works.
_LOOK = 2.0
_NOTICED = 2.0
# Jobs a worker's thread has: one running, one waiting.
_AHEAD = 2
_BARREN = 20
_FETCH = 30.0
_QUIET = {"distributed.admin.large-graph-warning-threshold": "1 GiB"}


class Orders(NamedTuple):
    """What a run, known by its key, tells every worker with every job, such as its versions."""

    key: str
    start: bytes
    versions: Versions


class JobReply(NamedTuple):
    """What came of a job: refused if versions differ, broken if no process could start, and why."""

    kind: Literal["done", "refused", "broken"]
    result: JobResult


_lock = threading.Lock()
_idle: dict[str, list[Worker]] = {}
_used: dict[str, float] = {}
_busy: dict[str, set[Worker]] = {}


@cache
def unpack_start(data: bytes) -> Start:
    """Return what `orders_of` packed."""
    memory_bytes, allow_code, index_fields = json.loads(data)
    index_fields["entries"] = [
        IndexEntry(*values) for values in index_fields["entries"]
    ]
    index_fields["described"] = tuple(map(tuple, index_fields["described"]))
    index = ReleaseIndex(**index_fields)
    return Start(index.keys(), memory_bytes, allow_code, index)


def orders_of(start: Start) -> Orders:
    """Return what workers must be told of a run.

    Raises:
        TypeError: it holds no release.
    """
    if start.release is None:
        raise TypeError("a cluster needs a release")
    index = {
        field.name: getattr(start.release, field.name) for field in fields(ReleaseIndex)
    }
    data = canonical_json([start.memory_bytes, start.allow_code, index]).encode()
    return Orders(
        sha256(data), data, {"scbench": __version__, **start.release.versions}
    )


def installed(versions: Mapping[str, str | int]) -> Versions:
    """Return the versions here of what is wanted: the package, and graders by task."""
    tasks = all_tasks()
    return {
        "scbench": __version__,
        **{
            name: tasks[name].grader_version if tasks[name].available else "none"
            for name in versions
            if name in tasks
        },
    }


def protections_here(tasks: Iterable[str]) -> list[str]:
    """Return the protections around child programs here, if a grader of these tasks starts any."""
    catalog = all_tasks()
    if not any(catalog[name].isolated for name in tasks if name in catalog):
        return []
    from scbench.machine import sandbox  # noqa: PLC0415  (few runs have children)

    return list(sandbox.protections())


def differences(
    versions: Mapping[str, str | int], here: Mapping[str, str | int]
) -> str:
    """Say which versions differ; empty if none does."""
    return "; ".join(
        f"{name if name == 'scbench' else f'grader of {name}'}: client {version}, "
        f"worker {here.get(name, 'none')}"
        for name, version in versions.items()
        if here.get(name) != version
    )


@cache
def _version_differences(versions: tuple[tuple[str, str | int], ...]) -> str:
    return differences(dict(versions), installed(dict(versions)))


@dataclass(frozen=True, slots=True)
class Parcel:
    """A job on its way. No tuple, because a cluster looks into those."""

    orders: Orders
    job: GradingJob


def run_job(parcel: Parcel) -> JobReply:
    """Do a job in a process of this worker."""
    orders, job = parcel.orders, parcel.job
    unlike = _version_differences(tuple(orders.versions.items()))
    if unlike:
        return JobReply("refused", Failure(unlike))
    # Clusters start their workers as daemons, which may have no children. Ours end with us: they
    # notice that nobody speaks to them.
    if multiprocessing.current_process().daemon:
        multiprocessing.current_process().daemon = False
    for _ in range(_TRIES):
        worker = _take_worker(orders)
        error, result = _wait_for_job(worker, job)
        _put_back(orders, worker, spoilt=error is not None and is_fatal(error))
        if error is None and result is not None:
            return JobReply("done", result)
        if error is not None and not isinstance(error, BrokenProcessPool):
            return JobReply("done", result or Failure(worker.why(error, job.seconds)))
    return JobReply(
        "broken", Failure("worker processes die before they can grade anything")
    )


def _wait_for_job(
    worker: Worker, job: GradingJob
) -> tuple[BaseException | None, JobResult | None]:
    future = worker.submit(job)
    while True:
        try:
            error = future.exception(timeout=_POLL)
        except TimeoutError:
            stuck = worker.stuck()
            if stuck or worker.overdue():
                return TimeoutError(), stuck
            continue
        except BaseException as cancelled:  # noqa: BLE001  (the run is over)
            return BrokenProcessPool(str(cancelled)), None
        worker.flight.clear()
        return (None, future.result()) if error is None else (error, None)


def _take_worker(orders: Orders) -> Worker:
    now = time.monotonic()
    old: list[Worker] = []
    with _lock:
        for key in [key for key, used in _used.items() if now - used > _IDLE]:
            if key != orders.key and not _busy.get(key):
                old += _idle.pop(key, [])
                del _used[key]
        workers = _idle.setdefault(orders.key, [])
        worker = workers.pop() if workers else Worker(unpack_start(orders.start))
        _busy.setdefault(orders.key, set()).add(worker)
        _used[orders.key] = now
    for idle_worker in old:
        idle_worker.close()
    return worker


def _put_back(orders: Orders, worker: Worker, *, spoilt: bool) -> None:
    with _lock:
        _busy[orders.key].discard(worker)
        _used[orders.key] = time.monotonic()
        if not spoilt:
            _idle.setdefault(orders.key, []).append(worker)
    if spoilt:
        worker.close()


def close_run(key: str) -> None:
    """Stop the processes of a run, and what they are at."""
    with _lock:
        workers = [*_idle.pop(key, []), *_busy.get(key, ())]
        _used.pop(key, None)
    for worker in workers:
        worker.close()


class ClusterPool(WorkerPool):
    """The threads of the workers of a scheduler, such as that at ``tcp://10.0.0.5:8786``.

    Raises:
        ClusterError: nobody answers there, nobody works there, or a worker has other versions.
    """

    def __init__(self, address: str, start: Start) -> None:
        import dask  # noqa: PLC0415  (an extra, and heavy)
        from distributed import Client  # noqa: PLC0415  (the same)

        super().__init__()
        self._address = address
        self._orders: Orders = orders_of(start)
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._flight: dict[str, tuple[Any, GradingJob, float]] = {}
        self._names = count()
        self._threads: dict[str, int] = {}
        self._looked = self._last_present = time.monotonic()
        self._barren = 0
        # It reports on standard error what it mends by itself.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        dask.config.set(_QUIET)
        try:
            self._client: Any = Client(address, timeout=_CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"no scheduler answers at {address}: {_error_line(error)}; "
                "start one with `dask scheduler`, and workers with `dask worker ADDRESS`"
            ) from None
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def _greet(self) -> None:
        """Wait for a worker, and compare versions with every one that is there."""
        until = time.monotonic() + _FIRST_WORKER
        while not self._look():
            if time.monotonic() > until:
                raise ClusterError(
                    f"the scheduler at {self._address} has no workers; "
                    f"start some with `dask worker {self._address}`"
                )
            time.sleep(0.1)
        versions = self._orders.versions
        replies = self._client.run(installed, versions, on_error="return")
        for worker, here in sorted(replies.items()):
            if isinstance(here, BaseException):
                raise ClusterError(
                    f"worker {worker} cannot use scbench: {_error_line(here)}; install "
                    f"scbench {versions['scbench']} there"
                )
            self._refuse(differences(versions, here), worker)
        stand = self._client.run(
            protections_here, list(versions), on_error="ignore"
        ).values()
        self.protections = sorted({name for names in stand for name in names})

    def _refuse(self, unlike: str, worker: str) -> None:
        if unlike:
            raise ClusterError(
                f"worker {worker} would grade differently ({unlike}); install scbench "
                f"{self._orders.versions['scbench']} there"
            )

    def _look(self) -> int:
        self._looked = time.monotonic()
        try:
            now = dict(self._client.nthreads())
        except (OSError, TimeoutError, AttributeError) as error:
            raise self._lost() from error
        for worker in sorted(self._threads.keys() - now.keys()):
            self.note(f"the cluster lost worker {worker}")
        self._threads = now
        if now:
            self._last_present = self._looked
        elif self._looked - self._last_present > _NO_WORKERS:
            raise ClusterError(
                f"the scheduler at {self._address} has had no workers for {_NO_WORKERS:.0f} s; "
                "start some, then continue it with --resume"
            )
        return sum(now.values())

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"lost the connection to the scheduler at {self._address}; what was graded is kept, "
            "continue it with --resume"
        )

    @override
    def free(self) -> Free | None:
        heavy = sum(job.heavy for _, job, _ in self._flight.values())
        threads, light = sum(self._threads.values()), len(self._flight) - heavy
        vacant = len(self._flight) < threads
        return (
            Free(vacant, threads - heavy)
            if vacant or light < _AHEAD * (threads - heavy)
            else None
        )

    @override
    def busy(self) -> bool:
        return bool(self._flight)

    @override
    def submit(self, job: GradingJob) -> None:
        name = f"scbench-{self._client.id}-{next(self._names)}"
        future = self._client.submit(
            run_job, Parcel(self._orders, job), key=name, pure=False
        )
        self._flight[name] = (future, job, time.monotonic())
        future.add_done_callback(self._done.put)

    @override
    def done(self, seconds: float) -> list[tuple[GradingJob, JobResult]]:
        if time.monotonic() - self._looked > _LOOK:
            self._look()
        if self._client.status != "running":
            raise self._lost()
        results: list[tuple[GradingJob, JobResult]] = []
        with contextlib.suppress(Empty):
            future = self._done.get(timeout=seconds)
            while True:
                results += self._take(future)
                future = self._done.get_nowait()
        return results

    def _take(self, future: Any) -> Iterator[tuple[GradingJob, JobResult]]:  # noqa: ANN401  (untyped library)
        if future.key not in self._flight:
            return
        _, job, _ = self._flight[future.key]
        if future.status == "error":
            del self._flight[future.key]
            error = future.exception()
            why = f"{type(error).__name__}: {_error_line(error)}"
            killed = type(error).__name__ == "KilledWorker"
            yield (
                job,
                Failure(
                    "several workers of the cluster died over it" if killed else why
                ),
            )
            return
        if future.status == "finished":
            try:
                reply: JobReply = future.result(timeout=_FETCH)
            except (
                TimeoutError
            ):  # its worker died with it; the scheduler has it made anew
                future.add_done_callback(self._done.put)
                return
            except Exception:  # noqa: BLE001  (whatever befell the result, the job is still there)
                reply = JobReply("broken", Failure("its result was lost"))
        else:
            reply = JobReply("broken", Failure("the scheduler dropped it"))
        del self._flight[future.key]
        match reply.kind:
            case "done":
                self._barren = 0
                yield job, reply.result
            case "refused" if isinstance(reply.result, Failure):
                self._refuse(reply.result.why, "that joined")
            case _:
                self._again(job, reply)

    def _again(self, job: GradingJob, reply: JobReply) -> None:
        self._barren += 1
        why = reply.result.why if isinstance(reply.result, Failure) else "unknown"
        if self._client.status != "running":
            raise self._lost()
        if self._barren >= _BARREN:
            raise EngineError(
                f"the cluster could do {_BARREN} jobs in turn not at all: {why}"
            )
        self.note(f"a job is sent again: {why}")
        self.submit(job)

    @override
    def waited_for(self) -> Iterator[Waiting]:
        # Steps are not known from afar.
        now = time.monotonic()
        for _, job, since in self._flight.values():
            if job.heavy and not isinstance(job.work, Chunk) and now - since > _NOTICED:
                yield Waiting(job.work[0].instance_id, now - since, 0, 0)

    @override
    def resize(self, *, single: bool) -> None:
        """There is nothing to give back."""

    @override
    def close(self) -> None:
        self._flight.clear()
        if self._client.status == "running":
            with contextlib.suppress(Exception):
                self._client.run(close_run, self._orders.key, on_error="ignore")
        with contextlib.suppress(Exception):
            self._client.close(timeout=_CONNECT)


def _error_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__
