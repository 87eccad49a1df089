"""What a worker of a cluster does: the same as this machine's pool, one job at a time.

A cluster's worker may run several jobs in threads. Each has a process of its own that can be
killed, so that an item that hangs or crashes costs one row there, too. Processes are kept for the
jobs that follow, and told apart by the run that they were started for.
"""

import json
import multiprocessing
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, fields
from functools import cache
from typing import Literal, NamedTuple

from scbench.base.canonical import canonical_json, sha256
from scbench.base.version import __version__
from scbench.catalog import all_tasks
from scbench.grading.rows.index import IndexEntry, ReleaseIndex
from scbench.grading.workers.pool import Failure, GradingJob, JobResult, Worker, is_fatal
from scbench.grading.workers.worker import Start

_TRIES = 3
"""Processes that may die before they do anything."""
_IDLE = 60.0
"""Seconds after which another run's idle processes are given up."""
_POLL = 5.0

Versions = dict[str, str | int]
"""Version of the package, as ``scbench``, and of each grader, by task."""


class Orders(NamedTuple):
    """What a run tells every worker with every job.

    Attributes:
        key: of the run.
        start: what processes are started with, as `pack_start` gives it.
        versions: what must be installed.
    """

    key: str
    start: bytes
    versions: Versions


class JobReply(NamedTuple):
    """What came of a job on a cluster's worker.

    Attributes:
        kind: ``done``; ``refused`` if the versions differ; ``broken`` if no process could start.
        result: of the job; why not, in words, if it is not done.
    """

    kind: Literal["done", "refused", "broken"]
    result: JobResult


_lock = threading.Lock()
_idle: dict[str, list[Worker]] = {}
_used: dict[str, float] = {}
_busy: dict[str, set[Worker]] = {}


def pack_start(start: Start) -> bytes:
    """Return what worker processes are started with, as JSON.

    Raises:
        TypeError: it holds no release.
    """
    if start.release is None:
        raise TypeError("a cluster needs a release")
    index = {field.name: getattr(start.release, field.name) for field in fields(ReleaseIndex)}
    return canonical_json([start.memory_bytes, start.allow_code, index]).encode()


@cache
def unpack_start(data: bytes) -> Start:
    """Return what `pack_start` packed."""
    memory_bytes, allow_code, index_fields = json.loads(data)
    index_fields["entries"] = [IndexEntry(*values) for values in index_fields["entries"]]
    index_fields["described"] = tuple(map(tuple, index_fields["described"]))
    index = ReleaseIndex(**index_fields)
    return Start(index.keys(), memory_bytes, allow_code, index)


def orders_of(start: Start) -> Orders:
    """Return what workers must be told of a run."""
    data = pack_start(start)
    versions: Versions = dict(start.release.versions) if start.release else {}
    return Orders(sha256(data), data, {"scbench": __version__, **versions})


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


def differences(versions: Mapping[str, str | int], here: Mapping[str, str | int]) -> str:
    """Say which versions differ; empty if none does."""
    return "; ".join(
        f"{name if name == 'scbench' else f'grader of {name}'}: client {version}, "
        f"worker {here.get(name, 'none')}"
        for name, version in versions.items()
        if here.get(name) != version
    )


@cache
def _differences(versions: tuple[tuple[str, str | int], ...]) -> str:
    return differences(dict(versions), installed(dict(versions)))


@dataclass(frozen=True, slots=True)
class Parcel:
    """A job on its way. No tuple, because a cluster looks into those."""

    orders: Orders
    job: GradingJob


def run_job(parcel: Parcel) -> JobReply:
    """Do a job in a process of this worker."""
    orders, job = parcel.orders, parcel.job
    unlike = _differences(tuple(orders.versions.items()))
    if unlike:
        return JobReply("refused", Failure(unlike))
    # Clusters start their workers as daemons, which may have no children. Ours end with us: they
    # notice that nobody speaks to them.
    if multiprocessing.current_process().daemon:
        multiprocessing.current_process().daemon = False
    for _ in range(_TRIES):
        worker = _take_worker(orders)
        error, result = _finish(worker, job)
        _put_back(orders, worker, spoilt=error is not None and is_fatal(error))
        if error is None and result is not None:
            return JobReply("done", result)
        if error is not None and not isinstance(error, BrokenProcessPool):
            return JobReply("done", result or Failure(worker.why(error, job.seconds)))
    return JobReply("broken", Failure("worker processes die before they can grade anything"))


def _finish(worker: Worker, job: GradingJob) -> tuple[BaseException | None, JobResult | None]:
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
