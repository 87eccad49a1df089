"""Checks whether an outcome would still have happened, or which events were necessary for it.

Each event is removed in turn, and the rules are applied repeatedly until the state of
every event is known.
"""

import re
from functools import lru_cache

from scbench.base.model import Verdict
from scbench.graders.shared.answer_text import MAX_LENGTH, Value, quote, tidy
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.named_options import OptionNames, option
from scbench.graders.shared.short_answers import entries, truth
from scbench.schemas.but_for_causation import Answer, Params

VERSION = 4

CHECKS = {
    "readable": "The answer is yes or no, or a list of letters, as the prompt asks.",
    "value": "The answer follows from the story.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("readable",)

# A bullet or words before a list, and a word after it.
_AROUND = re.compile(
    r"\A(?:[-*\u2022]\s|(?:the\s)?(?:necessary\s)?events?\b:?\s|(?:both|only)\s)|\sonly\Z",
    re.IGNORECASE,
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer is right, else 0; the order of letters does not matter."""
    checks = Checklist(CHECKS)
    needed = necessary(params)
    why = "There is no answer to compare."
    if params.question == "but_for":
        happens = truth(answer.answer)
        wrong = f"{quote(answer.answer)} is not a yes-or-no answer."
        if checks.readable(happens, wrong, why):
            right = "no" if needed else "yes"
            wrong = f"The answer is {right}, not {quote(answer.answer)}."
            checks.expect("value", happens != bool(needed), wrong)
    else:
        events = events_in(params, answer.answer)
        wrong = f"{quote(answer.answer)} is not a list of event letters."
        if checks.readable(events, wrong, why):
            letters = [_LETTERS[place] for place in sorted(needed)]
            right = ", ".join(letters) or "none"
            subject = "The necessary events are"
            if len(letters) == 1:
                subject = "The only necessary event is"
            wrong = f"{subject} {right}, not {quote(answer.answer)}."
            checks.expect("value", events == needed, wrong)
    return checks.binary()


def events_in(params: Params, value: Value) -> frozenset[int] | None:
    """Return the positions of the events that an answer names; None if it names anything else."""
    texts = []
    for event in params.candidates:
        subject, _, _, past, _ = params.events[event]
        texts.append(f"{subject} {past}")
    if isinstance(value, str) and len(value) <= MAX_LENGTH:
        value = _AROUND.sub("", tidy(value))
        only = OptionNames(texts, _LETTERS).place_by_text(value)
        if only is not None:
            return frozenset({only})
    words = entries(value) or ()
    places = [option(word, texts) for word in words if word.casefold() != "and"]
    events = frozenset(place for place in places if place is not None)
    return events if places and None not in places else None


@lru_cache(maxsize=1024)
def necessary(params: Params) -> frozenset[int]:
    """Return the positions of the candidates that were necessary for the outcome.

    Raises:
        ValueError: the rules are circular, or the outcome did not happen.
    """
    if not outcome_happens(params, None):
        raise ValueError("the outcome did not happen")
    needed = set()
    for place, event in enumerate(params.candidates):
        if not outcome_happens(params, event):
            needed.add(place)
    return frozenset(needed)


def outcome_happens(params: Params, without: int | None) -> bool:
    """Return whether the outcome happens if an event is removed."""
    happened = dict(params.told)
    waiting = {event: (kind, conditions) for event, kind, conditions in params.rules}
    if without is not None:
        happened[without] = False
        waiting.pop(without, None)
    while waiting:
        ready = []
        for event, (_, conditions) in waiting.items():
            is_ready = all(cause in happened for cause, _ in conditions)
            if is_ready:
                ready.append(event)
        if not ready:
            raise ValueError(f"the rules of events {sorted(waiting)} are circular")
        for event in ready:
            kind, conditions = waiting.pop(event)
            conditions_met = [happened[cause] == needed for cause, needed in conditions]
            happened[event] = (
                all(conditions_met) if kind == "all" else any(conditions_met)
            )
    return happened[params.outcome]
