"""Stories for but-for causation: settings, and sentences for rules, for what happened, to ask."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from scbench.builders.shared.builder import prompt_template
from scbench.schemas.but_for_causation import Params

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_RULES_FIRST = (
    "{opening} These are its rules:",
    "{opening} The rules are these:",
    "{opening} This is how it works:",
)
_WORKINGS = prompt_template(__package__, "prompt_workings.txt")


class Setting(NamedTuple):
    """A setting with events, each in five forms; see the schema."""

    id: str
    opening: str
    events: tuple[tuple[str, str, str, str, str], ...]


@cache
def settings() -> tuple[Setting, ...]:
    """Return all settings."""
    text = files(__package__).joinpath("stories.json").read_text("utf-8")
    return tuple(
        Setting(item["id"], item["opening"], tuple(map(tuple, item["events"])))
        for item in json.loads(text)["themes"]
    )


def story_of(params: Params) -> str:
    """Return the rules, what happened, what supposing means, and the question."""
    head = _RULES_FIRST[params.style % 3].format(opening=params.opening)
    rules = "\n".join(f"- {sentence}" for sentence in _rules(params))
    first = " ".join(_capital(_past(params, event, did=did)) for event, did in params.told)
    end = f"Everything else followed from the rules. In the end, {_past(params, params.outcome)}"
    facts = f"One day, this happened at the beginning: {first} {end}"
    parts = [f"{head}\n\n{rules}", facts, _WORKINGS.rstrip(), _question(params)]
    return "\n\n".join(parts) + "\n\n"


def happened(params: Params, event: int) -> str:
    """Return an event in the past, such as "the bell rang"."""
    subject, _, _, past, _ = params.events[event]
    return f"{subject} {past}"


def _past(params: Params, event: int, *, did: bool = True) -> str:
    subject, base, *_ = params.events[event]
    return f"{happened(params, event)}." if did else f"{subject} did not {base}."


def _question(params: Params) -> str:
    subject, *_, participle = params.events[params.outcome]
    if params.question == "but_for":
        (event,) = params.candidates
        struck, *_, gone = params.events[event]
        return (
            f"Suppose that {struck} had not {gone}. Would {subject} still have {participle}? "
            "Yes or no?"
        )
    options = "\n".join(
        f"{letter}) {happened(params, event)}"
        for letter, event in zip(LETTERS, params.candidates, strict=False)
    )
    return (
        f"An event was necessary if, supposing that it alone had not happened, {subject} would not "
        f"have {participle}. Which of these events were necessary?\n\n{options}"
    )


def _rules(params: Params) -> Iterator[str]:
    for i, (event, kind, conditions) in enumerate(params.rules):
        subject, _, present, *_ = params.events[event]
        effect = f"{subject} {present}"
        holding = [_condition(params, cause, holds=True) for cause, holds in conditions if holds]
        failing = [
            _condition(params, cause, holds=False) for cause, holds in conditions if not holds
        ]
        if holding and failing and kind == "all":
            premise, note = f"{_join_with(holding, 'and')} but {_join_with(failing, 'and')}", ""
        else:
            premise = _join_with([*holding, *failing], "and" if kind == "all" else "or")
            note = _note(kind, len(conditions))
        if (params.style + i) % 3 == 0:
            yield _capital(f"if {premise}, then {effect}{note}.")
        else:
            yield _capital(f"{effect} if {premise}{note}.")


def _note(kind: str, conditions: int) -> str:
    if conditions == 1:
        return ""
    if kind == "all":
        return f" ({'both are' if conditions == 2 else 'all of that is'} needed)"
    return f" ({'either' if conditions == 2 else 'any one'} of them is enough)"


def _condition(params: Params, event: int, *, holds: bool) -> str:
    subject, base, present, *_ = params.events[event]
    return f"{subject} {present}" if holds else f"{subject} does not {base}"


def _join_with(parts: Sequence[str], word: str) -> str:
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}" if len(parts) > 1 else parts[0]


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
