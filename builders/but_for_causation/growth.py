"""Grows a graph of events and rules, in which one event leads to another.

A graph begins as one chain that leads to the outcome; each further event makes it less obvious
which events the outcome needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from scbench.base.seeding import Stream
from scbench.builders.but_for_causation.rules import Condition, Kind, Rule, System

# Longer rules would be hard to read as one sentence.
_MOST_CONDITIONS = 4


@dataclass(slots=True)
class Graph:
    """Events by number, with their rules if they have any.

    Attributes:
        rules: the rules by event.
        happened: whether each event happened.
        levels: the length of the longest chain of events that leads to each event.
        outcome: the event that the question is about.
    """

    rules: dict[int, Rule] = field(default_factory=dict)
    happened: list[bool] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    outcome: int = 0

    def add_origin(self, *, happened: bool = True) -> int:
        """Add an event without a rule, and return its number."""
        self.levels.append(0)
        self.happened.append(happened)
        return len(self.levels) - 1

    def add_effect(self, cause: int) -> int:
        """Add an event that another one causes, and return its number."""
        event = len(self.levels)
        self.rules[event] = Rule("all", [Condition(cause, holds=True)])
        self.levels.append(self.levels[cause] + 1)
        self.happened.append(True)
        return event

    def add_condition(self, event: int, kind: Kind, cause: int) -> None:
        """Add a cause to the rule of an event, and change the rule to this kind."""
        conditions = [*self.rules[event].conditions, Condition(cause, holds=True)]
        self.rules[event] = Rule(kind, conditions)

    def extensible(self, events: Sequence[int], kind: Kind) -> list[int]:
        """Return the events whose rule can have another condition of this kind."""
        matches = []
        for event in events:
            rule = self.rules[event]
            # A single condition is both all and any.
            is_single = len(rule.conditions) == 1
            has_room = len(rule.conditions) < _MOST_CONDITIONS
            if is_single or (rule.kind == kind and has_room):
                matches.append(event)
        return matches

    def up_to(self, highest: int) -> list[int]:
        """Return the events that happened and have at most this level."""
        events = []
        for event, level in enumerate(self.levels):
            if self.happened[event] and level <= highest:
                events.append(event)
        return events

    def system(self) -> System:
        """Return the rules, and whether the events without a rule happened."""
        origins = dict(enumerate(self.happened))
        for event in self.rules:
            del origins[event]
        return System(self.rules, origins)


def grow(
    events: int,
    depth: int,
    prob_overdetermination: float,
    prob_preemption: float,
    rng: Stream,
    *,
    spare_outcome: bool = False,
) -> Graph:
    """Return a graph whose longest chain has ``depth`` links, and whose outcome happened.

    It begins as one chain. Each further event is a second cause that is enough on its own
    (overdetermination), a stand-in that happens only if a cause does not (pre-emption), a second
    cause that is needed as well, a cause that failed to happen, or a by-product. With
    ``spared``, the outcome gets no second cause, so that its cause is necessary.
    """
    graph = Graph()
    graph.add_origin()
    for cause in range(depth):
        graph.add_effect(cause)
    graph.outcome = depth
    # The events that can get further causes.
    effects = list(range(1, depth + 1))
    if spare_outcome:
        effects.remove(depth)
    while len(graph.levels) < events:
        overdetermines = rng.chance(prob_overdetermination)
        stands_in = rng.chance(prob_preemption)
        # Both chances are drawn every time; if both succeed, only one is used.
        if overdetermines and stands_in:
            overdetermines = rng.below(2) == 1
        if overdetermines:
            is_added = add_second_cause(graph, effects, "any", rng)
        elif stands_in:
            is_added = add_stand_in(graph, effects, rng)
        else:
            is_added = add_ordinary(graph, effects, rng)
        if not is_added:
            # A by-product, which leads to nothing, needs no room in a rule.
            graph.add_effect(rng.below(depth))
    return graph


def add_ordinary(graph: Graph, effects: list[int], rng: Stream) -> bool:
    """Add a second cause that is needed, or a cause that failed; return whether one was added."""
    turn = rng.below(5)
    if turn < 3:
        return add_second_cause(graph, effects, "all", rng)
    if turn == 3:
        return add_failed_cause(graph, effects, rng)
    return False


def add_second_cause(graph: Graph, effects: list[int], kind: Kind, rng: Stream) -> bool:
    """Add another cause, which happened, of some event; return whether there was room for one."""
    targets = graph.extensible(effects, kind)
    if not targets:
        return False
    event = rng.choice(targets)
    # The cause may itself be an effect if that keeps the levels of the graph.
    highest = graph.levels[event] - 2
    earlier = graph.up_to(highest)
    if earlier and rng.below(2):
        cause = graph.add_effect(rng.choice(earlier))
        effects.append(cause)
    else:
        cause = graph.add_origin()
    graph.add_condition(event, kind, cause)
    return True


def add_failed_cause(graph: Graph, effects: Sequence[int], rng: Stream) -> bool:
    """Add a sufficient cause that did not happen; return whether there was room for one."""
    targets = graph.extensible(effects, "any")
    if not targets:
        return False
    event = rng.choice(targets)
    cause = graph.add_origin(happened=False)
    graph.add_condition(event, "any", cause)
    return True


def add_stand_in(graph: Graph, effects: Sequence[int], rng: Stream) -> bool:
    """Add a stand-in: an event that causes another one only if one of that event's causes fails.

    Returns:
        Whether an event was added.
    """
    targets = graph.extensible(effects, "any")
    if not targets:
        return False
    event = rng.choice(targets)
    conditions = graph.rules[event].conditions
    cause = rng.choice([cause for cause, _ in conditions if graph.happened[cause]])
    level = graph.levels[cause]
    replacing = [Condition(cause, holds=False)]
    # An event whose level is not above the cause's does not depend on the cause.
    independent = [origin for origin in graph.up_to(level) if origin != cause]
    if independent and rng.below(2):
        replacing.insert(0, Condition(rng.choice(independent), holds=True))
    stand_in = graph.add_origin(happened=False)
    graph.levels[stand_in] = level + 1
    graph.rules[stand_in] = Rule("all", replacing)
    graph.add_condition(event, "any", stand_in)
    return True
