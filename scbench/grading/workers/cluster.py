"""Grading on a cluster: a worker pool of the threads of a dask scheduler's workers.

``scbench-grade predictions.jsonl --cluster tcp://HOST:8786`` sends every chunk, and every heavy
item, to a worker started with ``dask worker tcp://HOST:8786``. Workers need this package in the
same version, and nothing else: instances travel with the jobs, so release and files may be missing
there. A worker that dies loses nothing, because the scheduler gives its jobs to others.
"""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any

from typing_extensions import override

from scbench.base.errors import ClusterError, EngineError
from scbench.grading.rows.chunks import Chunk
from scbench.grading.workers.pool import Failure, Free, GradingJob, JobResult, Waiting, WorkerPool
from scbench.grading.workers.remote import (
    JobReply,
    Orders,
    Parcel,
    close_run,
    differences,
    installed,
    orders_of,
    protections_here,
    run_job,
)
from scbench.grading.workers.worker import Start

_CONNECT = 5.0
_FIRST_WORKER = 10.0
"""Seconds until a scheduler must answer, and until it must have a worker."""
_NO_WORKERS = 60.0
"""Seconds without any worker after which a run is given up."""
_LOOK = 2.0
"""Seconds between looks at who works."""
_NOTICED = 2.0
_AHEAD = 2
"""Jobs a worker's thread has: one running, one waiting."""
_BARREN = 20
_FETCH = 30.0
_QUIET = {"distributed.admin.large-graph-warning-threshold": "1 GiB"}


def open_cluster(address: str) -> Callable[[Start], WorkerPool]:
    """Return what opens a pool over the workers of a scheduler."""
    return lambda start: ClusterPool(address, start)


class ClusterPool(WorkerPool):
    """The threads of a cluster's workers.

    Args:
        address: of the scheduler, such as ``tcp://10.0.0.5:8786``.
        start: what worker processes are started with.

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
                f"no scheduler answers at {address}: {_first_line(error)}; "
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
                    f"worker {worker} cannot use scbench: {_first_line(here)}; install "
                    f"scbench {versions['scbench']} there"
                )
            self._refuse(differences(versions, here), worker)
        stand = self._client.run(protections_here, list(versions), on_error="ignore").values()
        self.protections = sorted({name for names in stand for name in names})

    def _refuse(self, unlike: str, worker: str) -> None:
        if unlike:
            raise ClusterError(
                f"worker {worker} would grade differently ({unlike}); install scbench "
                f"{self._orders.versions['scbench']} there"
            )

    def _look(self) -> int:
        """Look who works; return the number of threads."""
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
            Free(vacant, threads - heavy) if vacant or light < _AHEAD * (threads - heavy) else None
        )

    @override
    def busy(self) -> bool:
        return bool(self._flight)

    @override
    def submit(self, job: GradingJob) -> None:
        name = f"scbench-{self._client.id}-{next(self._names)}"
        future = self._client.submit(run_job, Parcel(self._orders, job), key=name, pure=False)
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
            yield job, self._broken(future.exception())
            return
        if future.status == "finished":
            try:
                reply: JobReply = future.result(timeout=_FETCH)
            except TimeoutError:  # its worker died with it; the scheduler has it made anew
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
            raise EngineError(f"the cluster could do {_BARREN} jobs in turn not at all: {why}")
        self.note(f"a job is sent again: {why}")
        self.submit(job)

    def _broken(self, error: BaseException) -> Failure:
        if type(error).__name__ == "KilledWorker":
            return Failure("several workers of the cluster died over it")
        return Failure(f"{type(error).__name__}: {_first_line(error)}")

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


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__
