"""The text of a story: a setting, rules in plain sentences, and the question."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from scbench.builders.but_for_causation.rules import Condition, Kind, Rule
from scbench.builders.shared.builder import data_file, prompt_template
from scbench.builders.shared.words import capitalised
from scbench.schemas.but_for_causation import Params

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Ways to begin a story.
_RULES_FIRST = (
    "{opening} These are its rules:",
    "{opening} The rules are these:",
    "{opening} This is how it works:",
)


class Phrase(NamedTuple):
    """An event in words: the bell, ring, rings, rang, rung."""

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
    """Return the rules, the facts, the meaning of supposing, and the question."""
    # Remainders of one number choose the wordings of a story.
    introduction = _RULES_FIRST[params.style % 3].format(opening=params.opening)
    sentences = []
    for i, (event, kind, conditions) in enumerate(params.rules):
        rule = Rule(kind, [Condition(*condition) for condition in conditions])
        sentences.append(f"- {rule_sentence(params, event, rule, i)}")
    workings = prompt_template(__package__, "prompt_workings.txt").rstrip()
    paragraphs = [
        introduction,
        "\n".join(sentences),
        facts_of(params),
        workings,
        question_of(params),
    ]
    return "\n\n".join(paragraphs) + "\n\n"


def rule_sentence(params: Params, event: int, rule: Rule, i: int) -> str:
    """Return the i-th rule, such as "The bell rings if the lever tips over."."""
    phrase = phrase_of(params, event)
    effect = f"{phrase.subject} {phrase.present}"
    met = []
    failing = []
    for condition in rule.conditions:
        cause = phrase_of(params, condition.event)
        if condition.holds:
            met.append(f"{cause.subject} {cause.present}")
        else:
            failing.append(f"{cause.subject} does not {cause.infinitive}")
    if met and failing and rule.kind == "all":
        # "but" says by itself that both sides are needed.
        premise = f"{_joined(met, 'and')} but {_joined(failing, 'and')}"
        note = ""
    else:
        premise = _joined([*met, *failing], "and" if rule.kind == "all" else "or")
        note = _note(rule.kind, len(rule.conditions))
    if (params.style + i) % 3 == 0:
        return capitalised(f"if {premise}, then {effect}{note}.")
    return capitalised(f"{effect} if {premise}{note}.")


def _joined(parts: Sequence[str], word: str) -> str:
    """Return parts with commas between, and a word before the last."""
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def _note(kind: Kind, conditions: int) -> str:
    """Return the note that says how many of the conditions are needed."""
    if conditions == 1:
        return ""
    if kind == "all":
        all_of_them = "both are" if conditions == 2 else "all of that is"
        return f" ({all_of_them} needed)"
    one_of_them = "either" if conditions == 2 else "any one"
    return f" ({one_of_them} of them is enough)"


def facts_of(params: Params) -> str:
    """Return the paragraph on the events that happened or not at the beginning, and at the end."""
    sentences = []
    for event, happened in params.told:
        phrase = phrase_of(params, event)
        if happened:
            sentences.append(capitalised(f"{phrase.subject} {phrase.past}."))
        else:
            denial = f"{phrase.subject} did not {phrase.infinitive}."
            sentences.append(capitalised(denial))
    end = f"Everything else followed from the rules. In the end, {past_of(params, params.outcome)}."
    return f"One day, this happened at the beginning: {' '.join(sentences)} {end}"


def question_of(params: Params) -> str:
    """Return the question about one event, or about a list of events with letters."""
    outcome = phrase_of(params, params.outcome)
    if params.question == "but_for":
        (event,) = params.candidates
        struck = phrase_of(params, event)
        return (
            f"Suppose that {struck.subject} had not {struck.participle}. Would {outcome.subject} "
            f"still have {outcome.participle}? Yes or no?"
        )
    options = []
    for letter, event in zip(LETTERS, params.candidates, strict=False):
        options.append(f"{letter}) {past_of(params, event)}")
    listing = "\n".join(options)
    return (
        f"An event was necessary if, supposing that it alone had not happened, {outcome.subject} "
        f"would not have {outcome.participle}. Which of these events were necessary?\n\n{listing}"
    )


def phrase_of(params: Params, event: int) -> Phrase:
    """Return the words of an event."""
    return Phrase(*params.events[event])


def past_of(params: Params, event: int) -> str:
    """Return an event in the past, such as "the bell rang"."""
    phrase = phrase_of(params, event)
    return f"{phrase.subject} {phrase.past}"
