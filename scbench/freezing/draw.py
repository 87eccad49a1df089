"""Drawing the cases of an experiment, with the same result for any number of processes.

The seeds of a point come from a stream named by the base seed, the task and the point,
so adding a point never changes another point's seeds. Except for cases that are dropped,
the cases are those of ``builder(Stream("generate", seed, task,
parameters)).generate_random(count, **parameters)``. A case that was drawn before,
anywhere in the experiment, is dropped and drawn again, a bounded number of times. So is
a case whose group is complete (`Builder.group`). If a point does not have enough cases, it
gives fewer, with the reason. The cases of a job can be stored, see
`scbench.freezing.proofs`.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import ScbenchError, WorkSpentError
from scbench.base.model import Instance
from scbench.base.progress import no_progress
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder
from scbench.catalog import MANIFOLDS, Task, get_task
from scbench.freezing.experiment import Planned
from scbench.freezing.groups import Groups
from scbench.freezing.proofs import builder_memo
from scbench.machine.processes import Executor, PendingResult

# A point is given up after this many repeated cases since its last new one.
REPEATS = 200
# Maximum number of jobs of one point that are submitted but not yet used.
_MOST_JOBS = 16

# A case as `generate_random` returns it.
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DrawnPoint:
    """The cases of a point.

    Attributes:
        planned: the point.
        cases: cases in the order of their seeds.
        reason: why there are fewer cases than the point asks for; empty if there are enough.
    """

    planned: Planned
    cases: tuple[Row, ...]
    reason: str


class Failure(NamedTuple):
    """The reason why a seed gave no case.

    Attributes:
        reason: the error.
        is_final: whether the builder reached its work limit, so that other seeds would
            fail, too.
    """

    reason: str
    is_final: bool = False


class _Job(NamedTuple):
    """A call that creates cases."""

    call: PendingResult
    size: int


def draw(
    planned: Sequence[Planned],
    seed: int,
    executor: Executor,
    keys: set[str],
    ahead: int = 0,
    proofs: Path | None = None,
    on_turn: Callable[[Planned], object] = no_progress,
) -> Iterator[DrawnPoint]:
    """Draw cases point by point.

    Args:
        planned: the points.
        seed: base seed.
        executor: makes the cases.
        keys: keys (see `key_of`) of cases to skip. The keys of new cases are added to
            them.
        ahead: number of points whose jobs start before their turn.
        proofs: see `scbench.freezing.proofs`.
        on_turn: called with each point before its cases are chosen; it may add keys.
    """
    waiting = iter(planned)
    started: deque[_PointSource] = deque()
    for current in planned:
        # Seeds of a point do not depend on other points, so its jobs can start ahead of its turn.
        # Which cases are repeats is decided in its turn.
        for point in islice(waiting, ahead + 1 - len(started)):
            started.append(_PointSource(point, seed, executor, proofs))
        on_turn(current)
        yield started.popleft().choose(keys)


def keys_of(rows: Iterable[Instance]) -> set[str]:
    """Return the keys of instances."""
    return {key_of(row.task, row.prompt, row.all_params) for row in rows}


def key_of(task_id: str, prompt: str, params: str) -> str:
    """Return the key of a case; cases that look the same to a model have equal keys."""
    # Images depend on the parameters only. Without images, a model sees the prompt alone. A
    # builder whose cases have images overrides the method.
    has_images = get_task(task_id).builder.images is not Builder.images
    return sha256(f"{prompt}\n{params}" if has_images else prompt)


class _PointSource:
    """Cases of one point, in the order of its seeds. The first jobs start in the constructor."""

    def __init__(
        self, planned: Planned, seed: int, executor: Executor, proofs: Path | None
    ) -> None:
        self._planned = planned
        self._proofs = proofs
        self._executor = executor
        self._stream = Stream("generate", seed, planned.task.id, planned.parameters)
        self._jobs: deque[_Job] = deque()
        self.submit_jobs(planned.point.count)

    def choose(self, keys: set[str]) -> DrawnPoint:
        """Return the first cases whose keys are not in ``keys``, and add their keys to it."""
        task = self._planned.task
        count = self._planned.point.count
        groups = Groups(task.builder(), self._planned.point, count)
        cases: list[Row] = []
        # Counts since the last new case. A case whose group is complete counts as a repeat.
        repeats = 0
        failures = 0
        failure_reason = ""
        while True:
            # At least one case is missing (a point has one or more), so there is a job.
            self.submit_jobs(count - len(cases))
            for attempt in self._jobs.popleft().call.result():
                if isinstance(attempt, Failure):
                    failures += 1
                    failure_reason = attempt.reason
                    # If other seeds gave cases, the point is possible, and more are tried.
                    if attempt.is_final and not cases:
                        return DrawnPoint(self._planned, (), failure_reason)
                else:
                    params = canonical_json(attempt["instance"])
                    key = key_of(task.id, attempt["input"], params)
                    if key in keys or not groups.has_room(attempt["instance"]):
                        repeats += 1
                    else:
                        keys.add(key)
                        groups.add(attempt["instance"])
                        cases.append(attempt)
                        repeats = 0
                        failures = 0
                # Tested after each attempt, because the rest of the job may not be
                # needed.
                if len(cases) == count:
                    return DrawnPoint(self._planned, tuple(cases), "")
                if repeats == REPEATS or failures == most_failures(task):
                    reason = _reason(task, failures, failure_reason)
                    return DrawnPoint(self._planned, tuple(cases), reason)

    def submit_jobs(self, missing: int) -> None:
        """Submit jobs for the missing cases, up to `_MOST_JOBS`."""
        under_way = sum(job.size for job in self._jobs)
        while under_way < missing and len(self._jobs) < _MOST_JOBS:
            size = min(cases_per_job(self._planned.task), missing - under_way)
            seeds = [self._stream.getrandbits(63) for _ in range(size)]
            call = self._executor.submit(
                attempt_seeds, self._planned, seeds, self._proofs
            )
            self._jobs.append(_Job(call, size))
            under_way += size


def cases_per_job(task: Task) -> int:
    """Return the number of a task's cases per job."""
    # The faster cases are made, the more of them a job needs to be worth sending to
    # another process.
    if task.bucket == MANIFOLDS:
        return 100
    return 1 if task.heavy else 5


def most_failures(task: Task) -> int:
    """Return the number of consecutive failures after which a task's point is given up."""
    # The builders of spatial tasks work for seconds before they fail. With 8 failures, a rung of
    # six items on which a third of the draws fail is still complete in 999 of 1,000 cases.
    return 25 if task.bucket == MANIFOLDS else 8


def _reason(task: Task, failures: int, failure_reason: str) -> str:
    """Return the reason why a point was given up: too many failures or too many repeats."""
    if failures == most_failures(task):
        return f"{failures} attempts in a row failed, the last with: {failure_reason}"
    also = ""
    if failures:
        also = f"; {failures} attempts failed, the last with: {failure_reason}"
    return (
        f"{REPEATS} attempts in a row gave no new item; these parameters allow "
        f"too few different items{also}"
    )


def attempt_seeds(
    planned: Planned, seeds: Sequence[int], proofs: Path | None = None
) -> list[Row | Failure]:
    """Return the case of each seed, or the reason for a missing one; use ``proofs`` if possible."""
    task = planned.task
    if task.bucket == MANIFOLDS:
        # These cases take no longer to make than to read.
        return cases_of_seeds(planned, seeds)
    memo_key: JsonValue = ["cases", planned.parameters, list(seeds)]
    memo = builder_memo(proofs, task, memo_key)
    stored = memo.read()
    if stored is None:
        attempts = cases_of_seeds(planned, seeds)
        memo.write(attempts)
        return attempts
    # In JSON, a case is an object, and a failure is a list of its fields.
    return [
        attempt if isinstance(attempt, dict) else Failure(*attempt)
        for attempt in stored
    ]


def cases_of_seeds(planned: Planned, seeds: Sequence[int]) -> list[Row | Failure]:
    """Return the builder's case for each seed, or the reason for a missing one.

    Raises:
        ModuleNotFoundError: an optional library is missing.
    """
    make_case = planned.task.builder().rows_at(planned.point)
    attempts: list[Row | Failure] = []
    for seed in seeds:
        try:
            attempts.append(make_case(seed))
        except WorkSpentError as error:
            attempts.append(Failure(_failure_text(error), is_final=True))
        except ModuleNotFoundError:
            # An optional dependency is missing, so no seed will work.
            raise
        except Exception as error:  # noqa: BLE001  (whatever fails, other seeds are tried)
            attempts.append(Failure(_failure_text(error)))
    return attempts


def _failure_text(error: Exception) -> str:
    text = " ".join(str(error).split())[:500]
    if isinstance(error, ScbenchError):
        return text
    return f"{type(error).__name__}: {text}"
