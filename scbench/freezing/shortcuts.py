"""Programs that see only part of an item, tried on fresh items of a rung.

A rung measures what its items ask for only if such programs score little more than the floor:

- *emptied*: our solver's answer to the item without the entries of one list;
- *exchanged*: our solver's answer to the item with one parameter of another item;
- *transferred*: the right answer to another item, in the item's coordinates
  (`Builder.carried_over`);
- *empty*: an answer of the right form without content.

The builders' named baselines, and their constructions that ignore the item, are the floor itself.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from statistics import mean, stdev
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError

from scbench.builders.shared.builder import Builder
from scbench.catalog import Task
from scbench.freezing.floors import floor_of, mean_score
from scbench.freezing.trials import Draws

# A program may score this much above the mean floor.
MOST_ABOVE = 0.1
# An exchanged parameter may be as good as the item's own, but must lower the score on
# at least this share of items.
LEAST_COST = 0.5
# A result beyond a limit is a problem if its probability is lower than this for a true
# value at the limit.
CHANCE = 0.01
# Fresh items of a rung.
ITEMS = 12
# Items whose right answers are tried on all others.
_DONORS = 4
_SURE = 1 - 1e-9
# The ending of the name of a program that is given a parameter of another item.
EXCHANGED = " of another item"

Values = dict[str, JsonValue]
Solver = Builder[Any, Any, Any]


class FreshItem(NamedTuple):
    """A fresh item of a rung."""

    params: Any
    values: Values
    """The parameters as JSON values."""
    answer: JsonValue
    """Our solver's answer."""
    floor: float
    """Score of the best baseline."""


class Shortcut(NamedTuple):
    """The result of a program on the fresh items of a rung."""

    name: str
    score: float
    """Mean score."""
    floor: float
    """Mean floor of the same items."""
    costs: float
    """Share of the items on which it scores less than 1."""
    items: int
    """Number of items."""
    is_exchanged: bool = False
    """Whether it is given a parameter of another item."""

    @property
    def above(self) -> float:
        """Difference between its mean score and the mean floor."""
        return self.score - self.floor

    @property
    def chance(self) -> float:
        """Bound on the chance of such a score if the true mean is at the limit.

        Of all scores from 0 to 1 with this mean, scores of only 0 and 1 vary most.
        """
        full_scores = math.floor(self.items * self.score + 1e-9)
        return chance_of(full_scores, self.items, min(1.0, self.floor + MOST_ABOVE))

    @property
    def problem(self) -> str:
        """The problem with the rung if the program does too well; empty if it may be chance."""
        if self.is_exchanged:
            successes = round(self.items * (1 - self.costs))
            if chance_of(successes, self.items, 1 - LEAST_COST) >= CHANCE:
                return ""
            return (
                f"{self.name!r} lowers the score on {100 * self.costs:.0f} % of fresh items; "
                f"at least {100 * LEAST_COST:.0f} % are needed"
            )
        if self.above <= MOST_ABOVE or self.chance >= CHANCE:
            return ""
        return (
            f"{self.name!r} scores {self.score:.2f} on average on fresh items with a mean floor of "
            f"{self.floor:.2f}; the limit is {MOST_ABOVE} above the floor"
        )


class Answered(NamedTuple):
    """An item, and a program's answer to it: None if the program finds none."""

    item: FreshItem
    answer: JsonValue | None


def shortcuts_of(
    draws: Draws, count: int = ITEMS, *, implied: Collection[str] = ()
) -> list[Shortcut]:
    """Try programs on fresh items of a rung, and return their results, the best first.

    Args:
        draws: items of the rung.
        count: number of items, at least 2.
        implied: parameters that are not hidden (`TaskLadder.implied`).

    Raises:
        GenerationError: the rung does not give this many items.
    """
    task = draws.task
    items = fresh_items(draws, count)
    results = []
    for name, pairs in programs(task, items, implied):
        results.append(result_of(task, name, pairs))
    return sorted(results, key=lambda result: (-result.above, result.name))


def best_of(results: Sequence[Shortcut]) -> Shortcut:
    """Return the program to show for a rung: one with a problem if any has one, else the best."""
    return next((result for result in results if result.problem), results[0])


def fresh_items(draws: Draws, count: int) -> list[FreshItem]:
    """Solve drawn items of a rung.

    Raises:
        GenerationError: the rung does not give this many items.
    """
    builder: Solver = draws.builder
    items: list[FreshItem] = []
    for params in draws.fresh(count):
        answer = answer_of(builder, params)
        floor = floor_of(draws.task, params).score
        items.append(FreshItem(params, builder.as_json(params), answer, floor))
    return items


def answer_of(builder: Solver, params: Any) -> JsonValue:  # noqa: ANN401  (of any task)
    """Return a right answer as JSON values."""
    answer: JsonValue = builder.reference(params).model_dump(mode="json")
    return answer


def programs(
    task: Task, items: Sequence[FreshItem], implied: Collection[str]
) -> Iterator[tuple[str, list[Answered]]]:
    """Yield the programs by name, each with its answers."""
    builder: Solver = task.builder()
    for name in items[0].values:
        if name in implied:
            continue
        # A parameter that is the same in every item is part of the task.
        if len({json.dumps(item.values[name]) for item in items}) == 1:
            continue
        if all(isinstance(item.values[name], list) for item in items):
            yield (
                f"{name} emptied",
                masked_answers(builder, items, name, is_emptied=True),
            )
        yield (
            f"{name}{EXCHANGED}",
            masked_answers(builder, items, name, is_emptied=False),
        )
    yield from transfer_programs(task, items)
    yield (
        "empty answer",
        [Answered(item, without_content(item.answer)) for item in items],
    )


def masked_answers(
    builder: Solver, items: Sequence[FreshItem], name: str, *, is_emptied: bool
) -> list[Answered]:
    """Return our solver's answers to items in which one parameter is hidden from it."""
    answered = []
    for k, item in enumerate(items):
        value: JsonValue = [] if is_emptied else other_value(items, k, name)
        answered.append(Answered(item, masked_answer(builder, item, name, value)))
    return answered


def other_value(items: Sequence[FreshItem], k: int, name: str) -> JsonValue:
    """Return the value of a parameter in the next item in which it differs from item k."""
    value_of_k = items[k].values[name]
    following = [*items[k + 1 :], *items[:k]]
    return next(
        item.values[name] for item in following if item.values[name] != value_of_k
    )


def masked_answer(
    builder: Solver, item: FreshItem, name: str, value: JsonValue
) -> JsonValue | None:
    """Return our solver's answer to an item with another value of one parameter, or None."""
    try:
        params = builder.params_of({**item.values, name: value})
    except ValidationError:
        return None
    # Solvers rely on the guarantees of `draw`, which such an item may break in any way.
    try:
        return answer_of(builder, params)
    except Exception:  # noqa: BLE001
        return None


def transfer_programs(
    task: Task, items: Sequence[FreshItem]
) -> Iterator[tuple[str, list[Answered]]]:
    """Yield the right answers of some items, each given to all others.

    The first is the most frequent one, which is the best constant.
    """
    counts = Counter(json.dumps(item.answer) for item in items)
    donors: dict[str, FreshItem] = {}
    by_frequency = sorted(items, key=lambda item: -counts[json.dumps(item.answer)])
    for donor in by_frequency:
        donors.setdefault(json.dumps(donor.answer), donor)
    for k, donor in enumerate(list(donors.values())[:_DONORS], 1):
        answered = [
            Answered(item, carried_over(task, donor, item))
            for item in items
            if item is not donor
        ]
        yield f"answer to another item, {k}", answered


def carried_over(task: Task, donor: FreshItem, item: FreshItem) -> JsonValue:
    """Return the right answer to one item in the coordinates of another."""
    answer = task.answer_model.model_validate(donor.answer)
    return task.builder().carried_over(answer, donor.params, item.params)


def without_content(answer: JsonValue) -> JsonValue:
    """Return an answer of the same form without content."""
    match answer:
        case dict():
            return {name: without_content(value) for name, value in answer.items()}
        case list():
            return []
        case bool():
            return False
        case int() | float():
            return 0
        case str():
            return ""
        case None:
            return None


def result_of(task: Task, name: str, pairs: Sequence[Answered]) -> Shortcut:
    """Grade the answers of a program."""
    scores = []
    for item, answer in pairs:
        score = 0.0
        if answer is not None:
            score = mean_score(task, item.params, name, answer, where=task.id)
        scores.append(score)
    losses = [float(score < _SURE) for score in scores]
    return Shortcut(
        name,
        mean(scores),
        mean(item.floor for item, _ in pairs),
        mean(losses),
        len(pairs),
        name.endswith(EXCHANGED),
    )


def chance_of(successes: int, trials: int, rate: float) -> float:
    """Return the chance of this many successes or more in independent trials with this rate."""
    return math.fsum(
        math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k)
        for k in range(successes, trials + 1)
    )


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of at least two values."""
    return stdev(values) / math.sqrt(len(values))
