"""Acyclic systems of events and rules: how to draw them, and what follows if one is struck out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from scbench.base.seeding import Stream

Rule = tuple[Literal["all", "any"], Sequence[tuple[int, bool]]]
"""Whether all or any conditions are needed, and each: an event, and whether it has to happen."""
_MOST_CONDITIONS = 4


@dataclass(slots=True)
class Graph:
    """Events by number, with their rules if they have one, and whether they happened.

    The level of an event is the length of the longest chain of events that leads to it.
    """

    rules: dict[int, Rule] = field(default_factory=dict)
    happened: list[bool] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    outcome: int = 0

    def add(self, level: int, rule: Rule | None, *, happened: bool = True) -> int:
        """Add an event and return its number."""
        if rule:
            self.rules[len(self.levels)] = rule
        self.levels.append(level)
        self.happened.append(happened)
        return len(self.levels) - 1


def flips(rules: Mapping[int, Rule], origins: Mapping[int, bool], event: int) -> int:
    """Return the events that, struck out, would change whether an event happens, as bits.

    No supposition is played through: what flips a condition flips all that hangs on it, unless
    another condition makes up for it.
    """
    return _flips(rules, origins, event, {})[1]


def _flips(
    rules: Mapping[int, Rule],
    origins: Mapping[int, bool],
    event: int,
    results: dict[int, tuple[bool, int]],
) -> tuple[bool, int]:
    """Return whether an event happens, and what would change that."""
    if event in results:
        return results[event]
    if event not in rules:
        results[event] = origins[event], (1 << event) * origins[event]
        return results[event]
    kind, conditions = rules[event]
    # An event happens unless all is needed and something fails, or nothing of any holds. Either way
    # one sort of condition decides by itself: a failing one of all, a holding one of any.
    decides = kind == "any"
    deciding, opposing = -1, 0
    is_decided = False
    for cause, holds in conditions:
        value, by = _flips(rules, origins, cause, results)
        if (value == holds) == decides:
            is_decided = True
            deciding &= by
        else:
            opposing |= by
    happens = is_decided == decides
    changed = deciding & ~opposing if is_decided else opposing
    # Struck out, the event itself does not happen, whatever else does.
    changed = changed | 1 << event if happens else changed & ~(1 << event)
    results[event] = happens, changed
    return results[event]


def depth_of(
    rules: Mapping[int, Rule], origins: Mapping[int, bool], event: int, lengths: dict[int, int]
) -> int:
    """Return the length of the longest chain that led to an event; -1 if it did not happen.

    Args:
        rules: of the events that have one.
        origins: whether the others happened.
        event: the event.
        lengths: results so far, by event; filled on the way.
    """
    if event not in lengths:
        if event not in rules:
            lengths[event] = 0 if origins[event] else -1
            return lengths[event]
        kind, conditions = rules[event]
        depths = [(depth_of(rules, origins, cause, lengths), holds) for cause, holds in conditions]
        fulfilled = [(depth >= 0) == holds for depth, holds in depths]
        happens = all(fulfilled) if kind == "all" else any(fulfilled)
        lengths[event] = 1 + max(-1, *(depth for depth, _ in depths)) if happens else -1
    return lengths[event]


def grow(
    events: int,
    depth: int,
    prob_overdetermination: float,
    prob_preemption: float,
    rng: Stream,
    *,
    spare_outcome: bool = False,
) -> Graph:
    """Return a graph whose longest chain has a given length, and whose outcome happened.

    It begins as one chain. Each further event is a second cause that is enough by itself
    (overdetermination), a stand-in that happens only if a cause does not (pre-emption), a second
    cause that is needed as well, a cause that failed to happen, or a by-product.

    Args:
        events: number of events, more than `depth`.
        depth: number of links of the chain.
        prob_overdetermination: chance that a further event overdetermines another.
        prob_preemption: chance that it is a stand-in.
        rng: where chance comes from.
        spare_outcome: whether the outcome has no second cause, so that its cause is necessary.
    """
    graph = Graph()
    for level in range(depth + 1):
        graph.add(level, ("all", [(level - 1, True)]) if level else None)
    graph.outcome = depth
    effects = list(range(1, depth + 1 - spare_outcome))
    while len(graph.levels) < events:
        over, stand_in = rng.chance(prob_overdetermination), rng.chance(prob_preemption)
        if over and stand_in:
            over = rng.below(2) == 1
        if over:
            done = _second_cause(graph, effects, "any", rng)
        elif stand_in:
            done = _stand_in(graph, effects, rng)
        else:
            turn = rng.below(5)
            done = turn < 4 and (
                _second_cause(graph, effects, "all", rng)
                if turn < 3
                else _failed_cause(graph, effects, rng)
            )
        if not done:
            by_product(graph, rng.below(depth))
    return graph


def by_product(graph: Graph, cause: int) -> None:
    """Add an event that follows from another and leads to nothing."""
    graph.add(graph.levels[cause] + 1, ("all", [(cause, True)]))


def _open(graph: Graph, effects: Sequence[int], kind: str) -> list[int]:
    """Return the events whose rule can take another condition of this kind."""
    return [
        event
        for event in effects
        if len(graph.rules[event][1]) == 1
        or (graph.rules[event][0] == kind and len(graph.rules[event][1]) < _MOST_CONDITIONS)
    ]


def _second_cause(
    graph: Graph, effects: list[int], kind: Literal["all", "any"], rng: Stream
) -> bool:
    targets = _open(graph, effects, kind)
    if not targets:
        return False
    event = rng.choice(targets)
    earlier = [i for i in range(len(graph.levels))
               if graph.happened[i] and graph.levels[i] <= graph.levels[event] - 2]  # fmt: skip
    if earlier and rng.below(2):
        origin = rng.choice(earlier)
        cause = graph.add(graph.levels[origin] + 1, ("all", [(origin, True)]))
        effects.append(cause)
    else:
        cause = graph.add(0, None)
    graph.rules[event] = kind, [*graph.rules[event][1], (cause, True)]
    return True


def _failed_cause(graph: Graph, effects: Sequence[int], rng: Stream) -> bool:
    targets = _open(graph, effects, "any")
    if not targets:
        return False
    event = rng.choice(targets)
    cause = graph.add(0, None, happened=False)
    graph.rules[event] = "any", [*graph.rules[event][1], (cause, True)]
    return True


def _stand_in(graph: Graph, effects: Sequence[int], rng: Stream) -> bool:
    """Add an event that would have brought about another if one of its causes had not."""
    targets = _open(graph, effects, "any")
    if not targets:
        return False
    event = rng.choice(targets)
    causes = [cause for cause, _ in graph.rules[event][1] if graph.happened[cause]]
    cause = rng.choice(causes)
    level = graph.levels[cause]
    conditions = [(cause, False)]
    # What happens no later than the cause does not depend on it.
    independent = [i for i in range(len(graph.levels))
              if i != cause and graph.happened[i] and graph.levels[i] <= level]  # fmt: skip
    if independent and rng.below(2):
        conditions.insert(0, (rng.choice(independent), True))
    spare = graph.add(level + 1, ("all", conditions), happened=False)
    graph.rules[event] = "any", [*graph.rules[event][1], (spare, True)]
    return True
