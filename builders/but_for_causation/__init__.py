"""But-for causation: find the events that an outcome needed, given rules for events.

An example of the puzzle, with the answer yes, because the lever also rings the bell:

    Would the bell still have rung if the drum had not sounded?

    - The lever tips over if the marble rolls down.
    - The bell rings if the lever tips over or the drum sounds (either of them is enough).
    The marble rolled down. The drum sounded. In the end, the bell rang.
"""

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Self

from pydantic import Field, JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.but_for_causation.growth import Graph, grow
from scbench.builders.but_for_causation.rules import (
    Condition,
    Rule,
    System,
    chain_length,
    events_of,
    flips,
)
from scbench.builders.but_for_causation.shortcuts import sets_without_facts, walk_back
from scbench.builders.but_for_causation.stories import (
    LETTERS,
    past_of,
    settings,
    story_of,
)
from scbench.builders.shared.builder import Case, Point, chance, parameter, under
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.schemas.but_for_causation import Answer, Params, Question

# Maximum number of stories drawn until no rule of thumb answers one.
_STORIES = 500
# Maximum number of graphs drawn until one has necessary and unnecessary events. If none has, the
# same number is drawn with a spared outcome.
_TRIES = 200


class Space(Point):
    """Parameters of causal stories."""

    events: int = parameter(
        6,
        "number of events that can matter, including the outcome",
        "scale",
        ge=3,
        le=20,
    )
    max_depth: int = parameter(
        3,
        "number of links from the first event to the outcome; fewer if there are few events",
        "depth",
        ge=1,
        le=8,
    )
    prob_overdetermination: float = chance(
        0.3,
        "probability that an event outside the main chain is a second, sufficient cause",
        "interference",
    )
    prob_preemption: float = chance(
        0.2,
        "probability that an event outside the main chain is a stand-in, which happens only if a "
        "cause does not happen",
        "interference",
    )
    distractors: int = parameter(
        2,
        "number of additional events that lead to nothing",
        "interference",
        ge=0,
        le=8,
    )
    question: Question = parameter(
        "but_for",
        "kind of question: yes or no about one event, or the set of necessary events",
        "semantic",
    )
    facts_matter: bool = parameter(
        False,
        "whether to redraw stories that a rule of thumb (such as walking back from the outcome "
        "to the first choice) solves without using what happened at the beginning; for "
        "necessary_set only",
        "interference",
        later=True,
    )

    @model_validator(mode="after")
    def _story_has_as_many(self) -> Self:
        limit = min(len(setting.events) for setting in settings())
        self._not_above(limit, "events", "distractors")
        if self.facts_matter and self.question != "necessary_set":
            raise ValueError("facts_matter needs the question necessary_set")
        return self


class ButForCausationCase(Case):
    """A case of but-for causation."""

    story: str = Field(description="the setting")
    depth: int = Field(
        ge=1, description="number of links in the longest chain that led to the outcome"
    )
    overdetermined: int = Field(
        ge=0, description="number of events that had two or more sufficient causes"
    )
    stand_ins: int = Field(
        ge=0, description="number of events that happen only if another event does not"
    )


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Stories with rules by which events cause others. Some events are necessary and some are not.

    The rules are drawn first, and then whether the event in question is necessary. So yes and
    no are equally likely, and the rules give no hint.
    """

    task = "but_for_causation"
    version = 3
    draws = 2
    case_model = ButForCausationCase
    extremes = (
        {"events": 3, "max_depth": 1, "distractors": 0},
        {"events": 12, "max_depth": 8, "distractors": 8, "question": "necessary_set"},
        {
            "prob_overdetermination": 0,
            "prob_preemption": 0,
            "distractors": 0,
            "max_depth": 8,
        },
        {
            "prob_overdetermination": 1,
            "prob_preemption": 1,
            "events": 10,
            "max_depth": 3,
        },
        {"question": "necessary_set", "events": 3, "max_depth": 2, "distractors": 0},
        {"question": "necessary_set", "facts_matter": True},
    )

    def prompt(self, params: Params) -> str:
        """Return the question, the story, and the form of the answer."""
        closing = reply_short("yes or no")
        if params.question == "necessary_set":
            closing = (
                "The answer is right only if it names all necessary events and no others, in any "
                "order.\n"
            )
            closing += reply_short(
                "the list of the letters of all necessary events, each as a JSON string",
                quoted=False,
            )
        return story_of(params) + closing

    def reference(self, params: Params) -> Answer:
        """Find, in one pass, all events that would flip the outcome."""
        is_needed = necessity_of(params)
        if params.question == "but_for":
            return Answer(answer="no" if is_needed[0] else "yes")
        return Answer(answer=letters_of(is_needed))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the other answer in several forms, faulty sets, and answers that are neither."""
        is_needed = necessity_of(params)
        if params.question == "but_for":
            wrong = wrong_words(params, is_needed=is_needed[0])
        else:
            wrong = wrong_sets(params, is_needed)
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the depth of the story, and how often one cause replaces another."""
        system = system_of(params)
        lengths: dict[int, int] = {}
        for event in system.rules:
            chain_length(system, event, lengths)
        overdetermined = 0
        stand_ins = 0
        for event, rule in system.rules.items():
            # Events that did not happen have the length -1.
            causes = 0
            is_stand_in = False
            for cause, holds in rule.conditions:
                if not holds:
                    is_stand_in = True
                elif lengths[cause] >= 0:
                    causes += 1
            if lengths[event] >= 0 and rule.kind == "any" and causes > 1:
                overdetermined += 1
            if is_stand_in:
                stand_ins += 1
        return {
            "story": params.story,
            "depth": lengths[params.outcome],
            "overdetermined": overdetermined,
            "stand_ins": stand_ins,
        }

    def measure(self, params: Params) -> float:
        """Return the number of conditions of all rules, times the number of candidates."""
        conditions = sum(len(conditions) for _, _, conditions in params.rules)
        return conditions * len(params.candidates)

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the events on a walk back from the outcome that stops at every "or".

        The question about one event has no baseline, because a guess is right half the time.
        """
        if params.question == "but_for":
            return {}
        events = walk_back(system_of(params), params.outcome)
        letters = letters_of([event in events for event in params.candidates])
        return {"walk back to the first or": {"answer": list(letters)}}

    def blind_floor(self, params: Params) -> float:
        """Return one half, or the chance of guessing a set of one event or of all events but one.

        A set has at least 1 and at most n - 1 of the n events; all sizes are assumed to be equally
        likely.
        """
        n = len(params.candidates)
        return 0.5 if params.question == "but_for" else 1 / (n * (n - 1))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw a story; if its facts must matter, draw until no rule of thumb answers it."""
        for _ in range(_STORIES):
            params = draw_story(point, rng)
            if not point.facts_matter or not is_answered_without_facts(params):
                return params
        raise GenerationError(
            f"but_for_causation: a rule of thumb gives the right answer to each of {_STORIES} "
            "stories; raise events, max_depth, prob_overdetermination or prob_preemption"
        )


def draw_story(point: Space, rng: Stream) -> Params:
    """Draw rules until some event is necessary and some is not, then draw the question."""
    graph, needed = draw_graph(point, rng)
    # Events from this number on are distractors.
    causal = len(graph.levels)
    for _ in range(point.distractors):
        add_distractor(graph, causal, rng)
    needless = []
    for event, happened in enumerate(graph.happened):
        if happened and event != graph.outcome and event not in needed:
            needless.append(event)
    if point.question == "necessary_set":
        candidates = [*needed, *needless]
        rng.shuffle(candidates)
    elif rng.below(2):
        # Yes and no are equally likely.
        candidates = [rng.choice(needed)]
    else:
        # It is usually an event in the causal part, because that is harder than a distractor.
        near = [event for event in needless if event < causal]
        if near and rng.below(4):
            needless = near
        candidates = [rng.choice(needless)]
    return params_of(graph, candidates, point.question, rng)


def is_answered_without_facts(params: Params) -> bool:
    """Return whether a rule of thumb names exactly the necessary events."""
    needed = set(compress(params.candidates, necessity_of(params)))
    system = system_of(params)
    return needed in sets_without_facts(system, params.outcome, params.candidates)


def system_of(params: Params) -> System:
    """Return the rules of an instance, and the events without a rule."""
    rules = {}
    for event, kind, conditions in params.rules:
        rules[event] = Rule(kind, [Condition(*condition) for condition in conditions])
    return System(rules, dict(params.told))


def necessity_of(params: Params) -> list[bool]:
    """Return whether each candidate was necessary."""
    needed = events_of(flips(system_of(params), params.outcome))
    return [event in needed for event in params.candidates]


def letters_of(marks: Sequence[bool]) -> tuple[str, ...]:
    """Return the letters of the candidates with a mark."""
    return tuple(compress(LETTERS, marks))


def wrong_words(params: Params, *, is_needed: bool) -> dict[str, JsonValue]:
    """Return wrong answers to the question about one event."""
    right, opposite = ("no", "yes") if is_needed else ("yes", "no")
    return {
        "other": opposite,
        "other_in_capitals": f"**{opposite.upper()}**.",
        "other_as_json": is_needed,
        "other_as_number": int(is_needed),
        "both": f"{right} {opposite}",
        "listed": [right],
        "event": past_of(params, params.outcome),
    }


def wrong_sets(params: Params, is_needed: Sequence[bool]) -> dict[str, JsonValue]:
    """Return wrong answers to the question about all necessary events."""
    right: list[JsonValue] = list(letters_of(is_needed))
    needless: list[JsonValue] = list(letters_of([not mark for mark in is_needed]))
    everything: list[JsonValue] = list(LETTERS[: len(is_needed)])
    places: list[JsonValue] = [i + 1 for i, mark in enumerate(is_needed) if mark]
    wrong: dict[str, JsonValue] = {
        "all": everything,
        "the_others": needless,
        "one_too_many": [*right, needless[0]],
        "one_exchanged": [*right[1:], needless[0]],
        "nothing": [],
        "none": "none",
        "yes": "yes",
        "outcome": [past_of(params, params.outcome)],
        "places": places,
    }
    if len(right) > 1:
        wrong["one_missing"] = right[1:]
    return wrong


def draw_graph(point: Space, rng: Stream) -> tuple[Graph, list[int]]:
    """Draw a graph and return it with its necessary events, which are some but not all.

    Raises:
        GenerationError: no draw had both necessary and unnecessary events.
    """
    # One event is reserved for something unnecessary, unless there are distractors.
    reserved = 1 if point.distractors else 2
    depth = min(point.max_depth, point.events - reserved)
    for i in range(2 * _TRIES):
        graph = grow(
            point.events,
            depth,
            point.prob_overdetermination,
            point.prob_preemption,
            rng,
            # If second causes replace every cause, the outcome gets no second cause.
            spare_outcome=i >= _TRIES,
        )
        bits = flips(graph.system(), graph.outcome)
        # The outcome needs itself but is not a candidate.
        bits &= ~(1 << graph.outcome)
        needed = events_of(bits)
        candidates = sum(graph.happened) - 1
        if needed and (point.distractors or candidates > len(needed)):
            return graph, needed
    raise GenerationError(
        f"but_for_causation: in {2 * _TRIES} draws either all or none of the {point.events} events "
        "were necessary; raise max_depth or distractors, or lower prob_overdetermination or "
        "prob_preemption"
    )


def add_distractor(graph: Graph, causal: int, rng: Stream) -> None:
    """Add an event that leads to nothing; the first ``causal`` events are not distractors."""
    kind = rng.below(10)
    # The first one happens, because the question may need an event that was not necessary.
    is_first = len(graph.levels) == causal
    if kind < 2 and not is_first:
        graph.add_origin(happened=False)
    elif kind < 6:
        graph.add_origin()
    else:
        causes = [event for event in range(causal) if graph.happened[event]]
        graph.add_effect(rng.choice(causes))


def params_of(
    graph: Graph, candidates: list[int], question: Question, rng: Stream
) -> Params:
    """Give every event a number and words at random, so that neither reveals its place."""
    n = len(graph.levels)
    # New numbers by old number. Words are drawn at the end, because the order of draws is fixed.
    number = rng.sample(range(n), n)
    setting = rng.choice(settings())
    system = graph.system()
    rules = []
    for event, rule in system.rules.items():
        conditions = [(number[cause], holds) for cause, holds in rule.conditions]
        rules.append((number[event], rule.kind, tuple(conditions)))
    origins = [(number[event], happened) for event, happened in system.origins.items()]
    rng.shuffle(rules)
    rng.shuffle(origins)
    return Params(
        story=setting.id,
        opening=setting.opening,
        events=tuple(rng.sample(setting.events, n)),
        rules=tuple(rules),
        told=tuple(origins),
        outcome=number[graph.outcome],
        question=question,
        candidates=tuple(number[event] for event in candidates),
        style=rng.below(60),
    )
