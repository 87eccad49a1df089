"""Rules that make events happen, and the effects of removing an event.

An event with a rule happens if all, or any, of its conditions are met. A condition is that another
event happens, or that it does not. Rules have no cycles.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

Kind = Literal["all", "any"]


class Condition(NamedTuple):
    """An event, and whether it must happen or must not happen."""

    event: int
    holds: bool


class Rule(NamedTuple):
    """Whether all conditions or any of them are needed, and the conditions."""

    kind: Kind
    conditions: Sequence[Condition]


class System(NamedTuple):
    """The rules by event, and whether the events without a rule happen."""

    rules: Mapping[int, Rule]
    origins: Mapping[int, bool]


class Effect(NamedTuple):
    """Whether an event happens, and the events whose removal would change that.

    The events are bits: bit i is set for event i.
    """

    happens: bool
    flips: int


def flips(system: System, event: int) -> int:
    """Return the events whose removal would change whether an event happens, as bits.

    Nothing is simulated: an event that flips a condition flips everything that depends
    on it, unless another condition compensates.
    """
    return _effect(system, event, {}).flips


def events_of(bits: int) -> list[int]:
    """Return the events whose bits are set, in order."""
    return [event for event in range(bits.bit_length()) if bits >> event & 1]


def _effect(system: System, event: int, results: dict[int, Effect]) -> Effect:
    """Return the effect of an event; ``results`` caches the effects computed so far, by event."""
    if event not in results:
        if event in system.rules:
            results[event] = _ruled_effect(system, event, results)
        elif system.origins[event]:
            results[event] = Effect(happens=True, flips=1 << event)
        else:
            results[event] = Effect(happens=False, flips=0)
    return results[event]


def _ruled_effect(system: System, event: int, results: dict[int, Effect]) -> Effect:
    rule = system.rules[event]
    # A condition can decide alone: for "any", a condition that is met; for "all", one that fails.
    deciding_value = rule.kind == "any"
    is_decided = False
    # To undo the decision, an event has to flip every deciding condition and no opposing one.
    # Without a decision, flipping one of the opposing conditions is enough.
    flips_every_deciding = -1
    flips_an_opposing = 0
    for condition in rule.conditions:
        cause = _effect(system, condition.event, results)
        is_met = cause.happens == condition.holds
        if is_met == deciding_value:
            is_decided = True
            flips_every_deciding &= cause.flips
        else:
            flips_an_opposing |= cause.flips
    changes = flips_an_opposing
    if is_decided:
        changes = flips_every_deciding & ~flips_an_opposing
    # If the event itself is removed, it does not happen, whatever else happens.
    happens = is_decided == deciding_value
    if happens:
        changes |= 1 << event
    else:
        changes &= ~(1 << event)
    return Effect(happens, changes)


def chain_length(system: System, event: int, lengths: dict[int, int]) -> int:
    """Return the length of the longest chain that led to an event; -1 if it did not happen.

    ``lengths`` caches the lengths computed so far, by event.
    """
    if event in lengths:
        return lengths[event]
    length = -1
    if event not in system.rules:
        if system.origins[event]:
            length = 0
    else:
        rule = system.rules[event]
        causes = [chain_length(system, cause, lengths) for cause, _ in rule.conditions]
        conditions_met = []
        for condition, cause_length in zip(rule.conditions, causes, strict=True):
            happened = cause_length >= 0
            conditions_met.append(happened == condition.holds)
        happens = all(conditions_met) if rule.kind == "all" else any(conditions_met)
        if happens:
            length = 1 + max(causes)
    lengths[event] = length
    return length
