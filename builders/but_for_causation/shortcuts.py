"""Rules of thumb that name necessary events without the facts of the day.

Each rule returns the events that it considers necessary. These may include events that are not
candidates.
"""

from collections.abc import Callable, Collection, Iterator, Sequence

from scbench.builders.but_for_causation.rules import (
    Condition,
    Rule,
    System,
    events_of,
    flips,
)

# Returns the conditions of a rule through which to walk back.
Way = Callable[[Rule], Sequence[Condition]]


def walk_back(system: System, outcome: int) -> set[int]:
    """Return the events on a walk back from the outcome that stops at every "or"."""
    return _walk(system, outcome, _sole_or_all)


def ancestors(system: System, outcome: int) -> set[int]:
    """Return all events from which rules lead to the outcome."""
    return _walk(system, outcome, lambda rule: rule.conditions)


def walk_back_through_listed(
    system: System, outcome: int, candidates: Collection[int]
) -> set[int]:
    """Return the events on a walk back that passes an "or" if one condition is in the list."""

    def way(rule: Rule) -> Sequence[Condition]:
        if rule.kind == "all":
            return rule.conditions
        conditions = rule.conditions
        listed = [each for each in conditions if each.event in candidates]
        return listed if len(listed) == 1 else ()

    return _walk(system, outcome, way)


def necessary_if_all_happened(system: System, outcome: int) -> set[int]:
    """Return the events that were necessary if all events without a rule happened."""
    all_happened = System(system.rules, dict.fromkeys(system.origins, True))
    return set(events_of(flips(all_happened, outcome)))


def sets_without_facts(
    system: System, outcome: int, candidates: Collection[int]
) -> Iterator[set[int]]:
    """Yield the candidates that each rule of thumb considers necessary."""
    for events in (
        walk_back(system, outcome),
        ancestors(system, outcome),
        walk_back_through_listed(system, outcome, candidates),
        necessary_if_all_happened(system, outcome),
    ):
        yield events.intersection(candidates)


def _sole_or_all(rule: Rule) -> Sequence[Condition]:
    """Return the conditions of a rule if all of them must be met; return none for an "or"."""
    is_choice = rule.kind == "any" and len(rule.conditions) > 1
    return () if is_choice else rule.conditions


def _walk(system: System, outcome: int, way: Way) -> set[int]:
    """Return the events reached by a walk back from the outcome."""
    visited: set[int] = set()
    waiting = [outcome]
    while waiting:
        event = waiting.pop()
        if event in visited:
            continue
        visited.add(event)
        if event in system.rules:
            waiting += [condition.event for condition in way(system.rules[event])]
    return visited
