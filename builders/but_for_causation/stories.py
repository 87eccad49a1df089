"""The text of a prompt: the question, a setting, and rules in plain sentences."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from scbench.builders.but_for_causation.rules import Condition, Kind, Rule
from scbench.builders.shared.builder import data_file, prompt_template
from scbench.builders.shared.words import capitalised
from scbench.schemas.but_for_causation import Params

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Ways to introduce the rules of a story.
_INTRODUCTIONS = (
    "{opening} These are its rules:",
    "{opening} The rules are as follows:",
    "{opening} It works like this:",
)


class Phrase(NamedTuple):
    """An event in words, such as "the bell", "ring", "rings", "rang" and "rung"."""

    subject: str
    infinitive: str
    present: str
    past: str
    participle: str


class Setting(NamedTuple):
    """A setting with events, each in the five forms of a `Phrase`."""

    id: str
    opening: str
    events: tuple[tuple[str, str, str, str, str], ...]


@cache
def settings() -> tuple[Setting, ...]:
    """Return all settings."""
    items = []
    for item in data_file(__package__, "stories.json")["themes"]:
        events = tuple(tuple(event) for event in item["events"])
        items.append(Setting(item["id"], item["opening"], events))
    return tuple(items)


def story_of(params: Params) -> str:
    """Return the question, the rules, the facts, the events to choose from, and how rules work."""
    # Remainders of one number determine the wordings of a story.
    introduction = _INTRODUCTIONS[params.style % 3].format(opening=params.opening)
    sentences = []
    for i, (event, kind, conditions) in enumerate(params.rules):
        rule = Rule(kind, [Condition(*condition) for condition in conditions])
        sentences.append(f"- {rule_sentence(params, event, rule, i)}")
    paragraphs = [
        question_of(params),
        introduction,
        "\n".join(sentences),
        facts_of(params),
    ]
    if params.question == "necessary_set":
        paragraphs.append(f"Choose from these events:\n\n{candidates_of(params)}")
    workings = prompt_template(__package__, "prompt_workings.txt").rstrip()
    paragraphs.append(workings)
    return "\n\n".join(paragraphs) + "\n\n"


def rule_sentence(params: Params, event: int, rule: Rule, i: int) -> str:
    """Return the i-th rule, such as "The bell rings if the lever tips over."."""
    phrase = phrase_of(params, event)
    effect = f"{phrase.subject} {phrase.present}"
    positive = []
    negative = []
    for condition in rule.conditions:
        cause = phrase_of(params, condition.event)
        if condition.holds:
            positive.append(f"{cause.subject} {cause.present}")
        else:
            negative.append(f"{cause.subject} does not {cause.infinitive}")
    if positive and negative and rule.kind == "all":
        # "but" already means that both sides are needed.
        premise = f"{_joined(positive, 'and')} but {_joined(negative, 'and')}"
        note = ""
    else:
        premise = _joined([*positive, *negative], "and" if rule.kind == "all" else "or")
        note = _note(rule.kind, len(rule.conditions))
    if (params.style + i) % 3 == 0:
        return capitalised(f"if {premise}, then {effect}{note}.")
    return capitalised(f"{effect} if {premise}{note}.")


def _joined(parts: Sequence[str], word: str) -> str:
    """Return parts joined by commas, with a word before the last one."""
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def _note(kind: Kind, conditions: int) -> str:
    """Return the note on how many of the conditions are needed."""
    if conditions == 1:
        return ""
    if kind == "all":
        all_of_them = "both" if conditions == 2 else "all"
        return f" ({all_of_them} are needed)"
    one_of_them = "either" if conditions == 2 else "any one"
    return f" ({one_of_them} is enough)"


def facts_of(params: Params) -> str:
    """Return the paragraph on events that did or did not happen at first, and on the outcome."""
    sentences = []
    for event, happened in params.told:
        phrase = phrase_of(params, event)
        if happened:
            sentences.append(capitalised(f"{phrase.subject} {phrase.past}."))
        else:
            denial = f"{phrase.subject} did not {phrase.infinitive}."
            sentences.append(capitalised(denial))
    end = f"Everything else followed from the rules. In the end, {past_of(params, params.outcome)}."
    return f"It began like this: {' '.join(sentences)} {end}"


def question_of(params: Params) -> str:
    """Return the question about one event, or about a list of events with letters."""
    outcome = phrase_of(params, params.outcome)
    if params.question == "but_for":
        (event,) = params.candidates
        removed = phrase_of(params, event)
        return (
            f"Would {outcome.subject} still have {outcome.participle} if {removed.subject} had not "
            f"{removed.participle}? Answer yes or no."
        )
    last = LETTERS[len(params.candidates) - 1]
    return (
        f"In the story below, {past_of(params, params.outcome)} in the end. "
        f"Which of the events A to {last} were necessary for that?\n"
        f"An event was necessary if {outcome.subject} would not have {outcome.participle} had this "
        "event alone not happened."
    )


def candidates_of(params: Params) -> str:
    """Return the events to choose from, one per line after its letter."""
    pairs = zip(LETTERS, params.candidates, strict=False)
    return "\n".join([f"{letter}) {past_of(params, event)}" for letter, event in pairs])


def phrase_of(params: Params, event: int) -> Phrase:
    """Return the words of an event."""
    return Phrase(*params.events[event])


def past_of(params: Params, event: int) -> str:
    """Return an event in the past, such as "the bell rang"."""
    phrase = phrase_of(params, event)
    return f"{phrase.subject} {phrase.past}"
