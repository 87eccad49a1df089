"""Drawing the cases of points: seeds in the order of their stream, and no case twice.

Seeds are tried in jobs that several processes share; a job's cases are remembered where that is
wanted, see `scbench.freezing.proofs`.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import ScbenchError, WorkSpentError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder
from scbench.catalog import MANIFOLDS, Task, get_task
from scbench.freezing.experiment import Planned
from scbench.freezing.proofs import made_before
from scbench.machine.processes import Executor, PendingResult

REPEATS = 200
"""A point is given up after so many cases in a row that were drawn already."""
Row = dict[str, Any]
"""A case as `generate_random` gives it."""


@dataclass(frozen=True, slots=True)
class DrawnPoint:
    """The cases of a point, and why they are fewer than asked for; no reason if they are not."""

    planned: Planned
    cases: tuple[Row, ...]
    reason: str


def draw(
    planned: Sequence[Planned],
    seed: int,
    executor: Executor,
    keys: set[str],
    ahead: int = 0,
    proofs: Path | None = None,
) -> Iterator[DrawnPoint]:
    """Draw cases point by point.

    Args:
        planned: the points, in order.
        seed: the base seed.
        executor: who draws.
        keys: of cases that are not to be drawn (see `key_of`); those drawn are added.
        ahead: how many points are begun before their turn.
        proofs: where cases are remembered, see `scbench.freezing.proofs`; None to draw all now.
    """
    begun: deque[_Source] = deque()
    for i in range(len(planned)):
        while len(begun) <= ahead and i + len(begun) < len(planned):
            begun.append(_Source(planned[i + len(begun)], seed, executor, proofs))
        yield begun.popleft().choose(keys)


def key_of(task_id: str, prompt: str, params: str) -> str:
    """Return what tells cases apart: the text put to a model, and its images if it has any.

    Args:
        task_id: id of the task.
        prompt: the text.
        params: parameters as canonical JSON, which images are drawn from.
    """
    has_images = get_task(task_id).builder.images is not Builder.images
    return sha256(f"{prompt}\n{params}" if has_images else prompt)


class _Source:
    """Cases of one point, in the order of its seeds."""

    def __init__(
        self, planned: Planned, seed: int, executor: Executor, proofs: Path | None
    ) -> None:
        self._planned = planned
        self._proofs = proofs
        self._executor = executor
        self._stream = Stream("generate", seed, planned.task.id, planned.parameters)
        self._jobs: deque[tuple[PendingResult, int]] = deque()
        self._refill(planned.point.count)

    def _refill(self, missing: int) -> None:
        """Hand out jobs until the missing cases are under way, but not too many at a time."""
        under_way = sum(size for _, size in self._jobs)
        while under_way < missing and len(self._jobs) < _MOST_JOBS:
            size = min(at_once(self._planned.task), missing - under_way)
            seeds = [self._stream.getrandbits(63) for _ in range(size)]
            job = self._executor.submit(_attempts, self._planned, seeds, self._proofs)
            self._jobs.append((job, size))
            under_way += size

    def choose(self, keys: set[str]) -> DrawnPoint:
        """Return the first cases that are new, and remember them."""
        task, count = self._planned.task, self._planned.point.count
        cases: list[Row] = []
        repeated = failed = 0
        failure = ""
        while True:
            self._refill(count - len(cases))
            for case in self._jobs.popleft()[0].result():
                if isinstance(case, _Failure):
                    failed, failure = failed + 1, case.reason
                    if case.last and not cases:
                        return DrawnPoint(self._planned, (), failure)
                else:
                    key = key_of(task.id, case["input"], canonical_json(case["instance"]))
                    if key in keys:
                        repeated += 1
                    else:
                        keys.add(key)
                        cases.append(case)
                        repeated = failed = 0
                if len(cases) == count:
                    return DrawnPoint(self._planned, tuple(cases), "")
                if repeated == REPEATS or failed == most_failures(task):
                    reason = _reason(task, failed, failure)
                    return DrawnPoint(self._planned, tuple(cases), reason)


_MOST_JOBS = 16
"""Jobs of one point that are under way at a time."""


def at_once(task: Task) -> int:
    """Return how many cases of a task one job makes."""
    return 100 if task.bucket == MANIFOLDS else 1 if task.heavy else 5


class _Failure(NamedTuple):
    """Why there is no case of a seed, and whether others are not worth the work."""

    reason: str
    last: bool = False


def _attempts(
    planned: Planned, seeds: Sequence[int], proofs: Path | None = None
) -> list[Row | _Failure]:
    """Make cases; where the builder fails, say why instead."""
    task = planned.task
    if task.bucket == MANIFOLDS:  # made as quickly as read
        proofs = None
    key: JsonValue = ["cases", planned.parameters, list(seeds)]
    attempts = made_before(proofs, task, key, lambda: _try_seeds(planned, seeds))
    return [attempt if isinstance(attempt, dict) else _Failure(*attempt) for attempt in attempts]


def _try_seeds(planned: Planned, seeds: Sequence[int]) -> list[Row | _Failure]:
    make = planned.task.builder().rows_at(planned.point)
    attempts: list[Row | _Failure] = []
    for seed in seeds:
        try:
            attempts.append(make(seed))
        except WorkSpentError as error:
            attempts.append(_Failure(_failure_text(error), last=True))
        except ModuleNotFoundError:  # an extra; other seeds need it as well
            raise
        except Exception as error:  # noqa: BLE001  (whatever fails, other seeds are tried)
            attempts.append(_Failure(_failure_text(error)))
    return attempts


def _failure_text(error: Exception) -> str:
    text = " ".join(str(error).split())[:500]
    return text if isinstance(error, ScbenchError) else f"{type(error).__name__}: {text}"


def most_failures(task: Task) -> int:
    """Return after how many failures in a row a point of a task is given up.

    Builders of spatial tasks work for seconds before they fail.
    """
    return 25 if task.bucket == MANIFOLDS else 5


def _reason(task: Task, failed: int, failure: str) -> str:
    if failed == most_failures(task):
        return f"{failed} tries without a new case failed; the last: {failure}"
    also = f", and {failed} failed; the last: {failure}" if failed else ""
    return (
        f"{REPEATS} tries without a new case gave what was drawn already; the space at this point "
        f"is too small{also}"
    )
