"""What a worker of a cluster does: the same as this machine's engine, one job at a time.

A cluster's worker may run several jobs in threads. Each has a lane of its own, a process that can
be killed, so that an item that hangs or crashes costs one row there, too. Lanes are kept for the
jobs that follow, and told apart by the run that they were started for.
"""

import json
import multiprocessing
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from scbench.canonical import canonical_json, sha256
from scbench.catalog import all_tasks
from scbench.grading.rows.index import Contents, Entry, Known
from scbench.grading.workers.pool import Failure, Job, Lane, Result, is_fatal
from scbench.grading.workers.worker import Start
from scbench.version import __version__

_TRIES = 3
"""Lanes that may die before they do anything."""
_IDLE = 60.0
"""Seconds after which another run's idle lanes are given up."""
_POLL = 5.0

Versions = dict[str, str | int]
"""Version of the package, as ``scbench``, and of each grader, by task."""


class Orders(NamedTuple):
    """What a run tells every worker with every job.

    Attributes:
        key: of the run.
        start: what lanes are started with, as `pack_start` gives it.
        versions: what must be installed.
    """

    key: str
    start: bytes
    versions: Versions


class Answer(NamedTuple):
    """What came of a job on a cluster's worker.

    Attributes:
        kind: ``done``; ``refused`` if the versions differ; ``broken`` if no lane could be started.
        result: of the job; why not, in words, if it is not done.
    """

    kind: Literal["done", "refused", "broken"]
    result: Result


_lock = threading.Lock()
_idle: dict[str, list[Lane]] = {}
_used: dict[str, float] = {}
_busy: dict[str, set[Lane]] = {}


def pack_start(start: Start) -> bytes:
    """Return what lanes are started with, as JSON.

    Raises:
        TypeError: it holds no contents.
    """
    contents = start.contents
    if contents is None:
        raise TypeError("a cluster needs contents")
    known = contents.known
    fields = {
        "memory_bytes": start.memory_bytes,
        "allow_code": start.allow_code,
        "release": contents.release,
        "release_hash": contents.release_hash,
        "entries": list(contents.entries),
        "versions": dict(contents.versions),
        "heavy": list(contents.heavy.items()),
        "tasks": list(known.tasks),
        "chosen": sorted(known.chosen),
        "excluded": sorted(known.excluded),
    }
    return canonical_json(fields).encode()


@cache
def unpack_start(data: bytes) -> Start:
    """Return what `pack_start` packed."""
    given = json.loads(data)
    entries = [Entry(*values) for values in given["entries"]]
    positions = {entry.id: i for i, entry in enumerate(entries)}
    known = Known(
        positions, tuple(given["tasks"]), frozenset(given["chosen"]), frozenset(given["excluded"])
    )
    contents = Contents(
        given["release"],
        given["release_hash"],
        entries,
        known,
        given["versions"],
        dict(given["heavy"]),
    )
    return Start(contents.keys(), given["memory_bytes"], given["allow_code"], contents)


def orders_of(start: Start) -> Orders:
    """Return what workers must be told of a run."""
    data = pack_start(start)
    versions: Versions = dict(start.contents.versions) if start.contents else {}
    return Orders(sha256(data), data, {"scbench": __version__, **versions})


def installed(wanted: Mapping[str, str | int]) -> Versions:
    """Return the versions here of what is wanted: the package, and graders by task."""
    tasks = all_tasks()
    return {
        "scbench": __version__,
        **{
            name: tasks[name].grader_version if tasks[name].available else "none"
            for name in wanted
            if name in tasks
        },
    }


def walls_here(tasks: Iterable[str]) -> list[str]:
    """Return the walls that stand around child programs here, if a grader of these starts any."""
    known = all_tasks()
    if not any(known[name].isolated for name in tasks if name in known):
        return []
    from scbench import sandbox  # noqa: PLC0415  (few runs have children)

    return list(sandbox.walls())


def differences(wanted: Mapping[str, str | int], here: Mapping[str, str | int]) -> str:
    """Say which versions differ; empty if none does."""
    return "; ".join(
        f"{name if name == 'scbench' else f'grader of {name}'}: client {version}, "
        f"worker {here.get(name, 'none')}"
        for name, version in wanted.items()
        if here.get(name) != version
    )


@cache
def _differences(wanted: tuple[tuple[str, str | int], ...]) -> str:
    return differences(dict(wanted), installed(dict(wanted)))


@dataclass(frozen=True, slots=True)
class Parcel:
    """A job on its way. No tuple, because a cluster looks into those."""

    orders: Orders
    job: Job


def run_job(parcel: Parcel) -> Answer:
    """Do a job in a lane of this worker."""
    orders, job = parcel.orders, parcel.job
    unlike = _differences(tuple(orders.versions.items()))
    if unlike:
        return Answer("refused", Failure(unlike))
    # Clusters start their workers as daemons, which may have no children. Ours end with us: they
    # notice that nobody speaks to them.
    if multiprocessing.current_process().daemon:
        multiprocessing.current_process().daemon = False
    for _ in range(_TRIES):
        lane = _take_lane(orders)
        error, result = _finish(lane, job)
        _put_back(orders, lane, spoilt=error is not None and is_fatal(error))
        if error is None and result is not None:
            return Answer("done", result)
        if error is not None and not isinstance(error, BrokenProcessPool):
            return Answer("done", result or Failure(lane.why(error, job.seconds)))
    return Answer("broken", Failure("worker processes die before they can grade anything"))


def _finish(lane: Lane, job: Job) -> tuple[BaseException | None, Result | None]:
    future = lane.submit(job)
    while True:
        try:
            error = future.exception(timeout=_POLL)
        except TimeoutError:
            stuck = lane.stuck()
            if stuck or lane.overdue():
                return TimeoutError(), stuck
            continue
        except BaseException as cancelled:  # noqa: BLE001  (the run is over)
            return BrokenProcessPool(str(cancelled)), None
        lane.flight.clear()
        return (None, future.result()) if error is None else (error, None)


def _take_lane(orders: Orders) -> Lane:
    now = time.monotonic()
    old: list[Lane] = []
    with _lock:
        for key in [key for key, used in _used.items() if now - used > _IDLE]:
            if key != orders.key and not _busy.get(key):
                old += _idle.pop(key, [])
                del _used[key]
        lanes = _idle.setdefault(orders.key, [])
        lane = lanes.pop() if lanes else Lane(unpack_start(orders.start))
        _busy.setdefault(orders.key, set()).add(lane)
        _used[orders.key] = now
    for lane_of_another in old:
        lane_of_another.close()
    return lane


def _put_back(orders: Orders, lane: Lane, *, spoilt: bool) -> None:
    with _lock:
        _busy[orders.key].discard(lane)
        _used[orders.key] = time.monotonic()
        if not spoilt:
            _idle.setdefault(orders.key, []).append(lane)
    if spoilt:
        lane.close()


def close_run(key: str) -> None:
    """Stop the lanes of a run, and what they are at."""
    with _lock:
        lanes = [*_idle.pop(key, []), *_busy.get(key, ())]
        _used.pop(key, None)
    for lane in lanes:
        lane.close()
