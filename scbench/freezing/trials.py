"""Items of a rung that are drawn with many seeds: how often draws fail, and how often items repeat.

The same draws give the fresh items on which `shortcuts` are tried.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from pydantic import BaseModel, JsonValue

from scbench.base.canonical import canonical_json
from scbench.base.errors import GenerationError, ScbenchError, WorkSpentError
from scbench.base.seeding import Stream
from scbench.catalog import Task
from scbench.freezing.draw import key_of
from scbench.freezing.groups import Groups

# Items drawn to estimate the capacity: if no two are equal, it is at least 10,000 in 19
# of 20 cases.
DRAWS = 250
# Maximum number of draws per fresh item, on average.
_MOST_DRAWS = 20


class Capacity(NamedTuple):
    """An estimate of how many items a rung has, from the equal pairs among drawn items."""

    pairs: int
    """Number of pairs of drawn items."""
    alike: int
    """Number of these pairs whose items are equal."""

    @property
    def items(self) -> int:
        """Number of different items; if no two are equal, a lower bound with 95 % confidence."""
        # If the number of items is a third of the number of pairs, the chance of no
        # equal pair is exp(-3), or 5 %.
        return self.pairs // (self.alike or 3)

    def __str__(self) -> str:
        return f"{'' if self.alike else '>'}{self.items}"


class Trials(NamedTuple):
    """The results of drawing items at a point, each with its own seed and without solving it."""

    attempts: int
    """Number of seeds."""
    failures: int
    """Number of seeds that gave no item."""
    final_failures: int
    """Number of these failures after which no other seed is tried (`WorkSpentError`)."""
    capacity: Capacity

    @property
    def failure_rate(self) -> float:
        """Share of seeds that gave no item."""
        return self.failures / max(self.attempts, 1)

    def unfinished(self, items: int, limit: int) -> float:
        """Return a bound on the chance that a point ends before it has enough items.

        Args:
            items: number of items that the point asks for.
            limit: number of failures in a row that end the point.
        """
        final_rate = self.final_failures / max(self.attempts, 1)
        return min(1.0, items * self.failure_rate**limit + final_rate)


class Draws:
    """Items of a rung, unsolved, in the order of their seeds. Each is drawn when first needed.

    Args:
        task: the task.
        point: parameters of the rung.
        seed: seed of all draws.
    """

    def __init__(
        self, task: Task, point: Mapping[str, JsonValue], seed: int = 0
    ) -> None:
        self.task = task
        self.builder: Any = task.builder()
        self.space: Any = self.builder.space.model_validate(point)
        space = self.space.model_dump(mode="json")
        self._stream = Stream("fresh", task.id, self.builder.draws, space, seed)
        self._attempts: list[BaseModel | ScbenchError] = []

    def attempts(self) -> Iterator[BaseModel | ScbenchError]:
        """Yield the parameters of each item, or the error if its seed gave none, without end."""
        k = 0
        while True:
            if k == len(self._attempts):
                self._attempts.append(self._attempt())
            yield self._attempts[k]
            k += 1

    def _attempt(self) -> BaseModel | ScbenchError:
        rng = Stream("fresh", self._stream.getrandbits(63))
        try:
            params: BaseModel = self.builder.draw(self.space, rng)
        except ScbenchError as error:
            return error
        return params

    def trials(self, count: int = DRAWS) -> Trials:
        """Return how often draws fail until there are this many items, and how many are equal."""
        keys: Counter[str] = Counter()
        failures = 0
        final_failures = 0
        for attempt in self.attempts():
            if isinstance(attempt, ScbenchError):
                failures += 1
                final_failures += isinstance(attempt, WorkSpentError)
            else:
                keys[self._key(attempt)] += 1
            if count in {keys.total(), failures}:
                break
        # n items make n * (n - 1) / 2 pairs.
        n = keys.total()
        alike = sum(k * (k - 1) // 2 for k in keys.values())
        capacity = Capacity(n * (n - 1) // 2, alike)
        return Trials(n + failures, failures, final_failures, capacity)

    def _key(self, params: BaseModel) -> str:
        params_text = canonical_json(self.builder.as_json(params))
        return key_of(self.task.id, self.builder.prompt(params), params_text)

    def fresh(self, count: int) -> list[BaseModel]:
        """Return the parameters of the first items, with no more of a group than its share.

        Raises:
            GenerationError: too few of the draws give such an item.
        """
        groups = Groups(self.builder, self.space, count)
        items: list[BaseModel] = []
        for attempt in islice(self.attempts(), _MOST_DRAWS * count):
            if isinstance(attempt, ScbenchError):
                continue
            values = self.builder.as_json(attempt)
            # A generated rung has as many items of each group.
            if not groups.has_room(values):
                continue
            groups.add(values)
            items.append(attempt)
            if len(items) == count:
                return items
        raise GenerationError(
            f"{self.task.id}: only {len(items)} of {count} fresh items could be drawn"
        )
