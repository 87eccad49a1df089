"""The engine: spreads work over lanes that can be killed, and loses none of it.

Lines of light tasks travel in chunks, items of heavy tasks singly. A job whose worker crashes, runs
out of memory or hits the time limit is taken apart, and its items are tried once more, one at a
time with nothing else running. An item that fails again is a ``grader_error``: one row, never the
run.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from scbench.catalog import SECONDS, Task
from scbench.grading.outcome import Outcome
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.index import Contents, InstanceKey
from scbench.grading.rows.wire import Packed, pack
from scbench.grading.workers.pool import Failure, Job, Lanes, LocalLanes, Waiting
from scbench.grading.workers.worker import Item, Start
from scbench.model import Instance, Status

__all__ = ["Engine", "Limits", "Waiting"]

_BATCH_ITEMS = 128
_BATCH_BYTES = 2**20
_SUSPECTS = 1000
_SUSPECT_BYTES = 2**26
"""Items that wait to be tried alone; if more do, everything else waits until they were."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use.

    Attributes:
        workers: worker processes.
        seconds: wall-clock limit for one item, and for 128 light ones together; None for each
            task's own, and `SECONDS` for light ones.
        memory_bytes: limit on a worker's address space; 0 for none.
        allow_code: whether programs among the answers may run, in a sandbox; if not, such rows are
            ``not_run``.
    """

    workers: int
    seconds: float | None
    memory_bytes: int
    allow_code: bool = False


class Source(Protocol):
    """Where jobs come from."""

    def take(self, *, vacant: bool, light: int) -> Job | None:
        """Return the next job; None if there is none now.

        Args:
            vacant: whether a lane is idle; a heavy job must not be returned else.
            light: lanes that hold no heavy item.
        """
        ...


@dataclass
class Engine:
    """Grades items, and chunks of lines, in worker processes.

    Attributes:
        instances: task id and parameters by instance id.
        limits: what the run may use.
        heavy: seconds that an item may take, for tasks whose items are scheduled singly.
        contents: what chunks are graded against; None if there are none.
        open_lanes: what makes the lanes; None for worker processes of this machine.
        incidents: what happened to workers, in words; filled while running.
        walls: that stand around child programs where the work is done; None for those of this
            machine.
    """

    instances: Mapping[str, InstanceKey]
    limits: Limits
    heavy: Mapping[str, float] = field(default_factory=dict)
    contents: Contents | None = None
    open_lanes: Callable[[Start], Lanes] | None = None
    incidents: list[str] = field(default_factory=list)
    walls: list[str] | None = None
    _suspects: deque[tuple[Item, str]] = field(default_factory=deque, init=False)
    _suspect_bytes: int = field(default=0, init=False)

    @classmethod
    def over(
        cls, instances: Mapping[str, Instance], tasks: Iterable[Task], limits: Limits
    ) -> "Engine":
        """Return an engine for instances of a release, by id, and their tasks."""
        keys = {key: (value.task, value.params) for key, value in instances.items()}
        return cls(keys, limits, {task.id: task.seconds for task in tasks if task.heavy})

    def run(
        self, items: Iterable[Item], on_wait: Callable[[Sequence[Waiting]], object] = id
    ) -> Iterator[tuple[Item, Packed]]:
        """Yield each item with its outcome, in the order they are done.

        Items are drawn from the iterable only as fast as they are graded. While items take long,
        ``on_wait`` is called about once a second with each of them.
        """
        for work, outcome in self.work(_Batches(self, items), on_wait):
            if isinstance(work, Item) and isinstance(outcome, Packed):
                yield work, outcome

    def work(
        self, source: Source, on_wait: Callable[[Sequence[Waiting]], object] = id
    ) -> Generator[tuple[Item, Packed] | tuple[Chunk, bytes | None]]:
        """Yield what the jobs of a source came to, in the order they are done.

        A chunk comes with its packed part; or with None if it failed, and its lines should then be
        given to `suspect` one by one.
        """
        start = Start(
            self.instances, self.limits.memory_bytes, self.limits.allow_code, self.contents
        )
        if self.open_lanes is None:
            lanes: Lanes = LocalLanes(start, self.limits.workers)
        else:
            lanes = self.open_lanes(start)
        lanes.incidents = self.incidents
        self.walls = lanes.walls
        try:
            while True:
                yield from self._drain(lanes, source, on_wait)
                if not self._suspects:
                    return
                lanes.shrink()
                while self._suspects:
                    yield from self._alone(lanes, *self._suspects.popleft(), on_wait)
                self._suspect_bytes = 0
                lanes.grow()
        finally:
            lanes.close()

    def suspect(self, item: Item, why: str = "") -> None:
        """Have an item tried alone, later.

        Args:
            item: what failed, or was in a chunk that did.
            why: what happened, if it is known to be the item's.
        """
        self._suspects.append((item, why))
        self._suspect_bytes += len(item.data)

    def _drain(
        self, lanes: Lanes, source: Source, on_wait: Callable[[Sequence[Waiting]], object]
    ) -> Iterator[tuple[Item, Packed] | tuple[Chunk, bytes | None]]:
        """Run jobs until there is none now; what fails goes to the suspects with its reason."""
        told = time.monotonic()
        while True:
            while lanes.room() and not self._too_many_suspects():
                job = source.take(vacant=lanes.vacant(), light=lanes.light())
                if job is None:
                    break
                lanes.submit(job)
            if not lanes.busy():
                return
            for job, result in lanes.done(1.0):
                if isinstance(job.work, Chunk):
                    if isinstance(result, Failure):
                        self._note(f"{result.why}; a chunk of lines is tried again one by one")
                    yield job.work, result if isinstance(result, bytes) else None
                elif isinstance(result, list):
                    by_line = dict(result)
                    for item in job.work:
                        yield item, by_line[item.line]
                elif isinstance(result, Failure):
                    count = len(job.work)
                    self._note(f"{result.why}; {count} items are tried again one by one")
                    for item in job.work:
                        self.suspect(item, result.why)
            if time.monotonic() - told > 1.0:
                told = time.monotonic()
                on_wait(tuple(lanes.waited_for()))

    def _alone(
        self,
        lanes: Lanes,
        item: Item,
        why: str,
        on_wait: Callable[[Sequence[Waiting]], object],
    ) -> Iterator[tuple[Item, Packed]]:
        lanes.submit(self.job((item,)))
        while lanes.busy():
            for _, result in lanes.done(1.0):
                if isinstance(result, list):
                    yield item, result[0][1]
                elif isinstance(result, Failure):
                    reason = result.why
                    self._note(f"{reason}; tried alone: {item.instance_id}")
                    reasons = reason if why in {reason, ""} else f"{why}, then {reason}"
                    failure = Outcome(Status.GRADER_ERROR, reason=f"{reasons}; tried twice")
                    yield item, pack(failure)
            on_wait(tuple(lanes.waited_for()))

    def _too_many_suspects(self) -> bool:
        return len(self._suspects) >= _SUSPECTS or self._suspect_bytes >= _SUSPECT_BYTES

    def is_heavy(self, item: Item) -> bool:
        """Return whether an item is to be scheduled singly."""
        return self.instances[item.instance_id][0] in self.heavy

    def job(self, work: Chunk | tuple[Item, ...]) -> Job:
        """Return work with the time it may take."""
        given = self.limits.seconds
        light = SECONDS if given is None else given
        if isinstance(work, Chunk):
            return Job(work, light * max(1.0, work.length / _BATCH_ITEMS), each=light)
        own = self.heavy.get(self.instances[work[0].instance_id][0])
        if own is None:
            return Job(work, light)
        return Job(work, own if given is None else given, heavy=True)

    def _note(self, incident: str) -> None:
        self.incidents.append(incident)


class _Batches:
    """Items as jobs: those of light tasks in batches, those of heavy tasks singly."""

    def __init__(self, engine: Engine, items: Iterable[Item]) -> None:
        self._engine = engine
        self._batches = self._cut(items)
        self._held: Job | None = None

    def _cut(self, items: Iterable[Item]) -> Iterator[Job]:
        batch: list[Item] = []
        size = 0
        for item in items:
            if self._engine.is_heavy(item):
                yield self._engine.job((item,))
                continue
            batch.append(item)
            size += len(item.data)
            if len(batch) >= _BATCH_ITEMS or size >= _BATCH_BYTES:
                yield self._engine.job(tuple(batch))
                batch, size = [], 0
        if batch:
            yield self._engine.job(tuple(batch))

    def take(self, *, vacant: bool, light: int) -> Job | None:  # noqa: ARG002  (see `Source`)
        """See `Source.take`."""
        job = self._held or next(self._batches, None)
        self._held = None
        if job is not None and job.heavy and not vacant:
            self._held, job = job, None
        return job
