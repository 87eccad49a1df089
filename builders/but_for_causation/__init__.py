"""But-for causation: events that bring about one another, and one struck out in thought."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple, Self

from pydantic import Field, JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Case,
    Point,
    chance,
    data_file,
    parameter,
    prompt_template,
    under,
)
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.builders.shared.words import capitalised
from scbench.schemas.but_for_causation import Answer, Params, Question

_TRIES = 200
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_RULES_FIRST = (
    "{opening} These are its rules:",
    "{opening} The rules are these:",
    "{opening} This is how it works:",
)

# Whether all or any conditions are needed, and each: an event, and whether it has to
# happen.
Rule = tuple[Literal["all", "any"], Sequence[tuple[int, bool]]]
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


class Space(Point):
    """Parameters of causal stories."""

    events: int = parameter(
        6,
        "number of events that can matter, the outcome included",
        "scale",
        ge=3,
        le=20,
    )
    max_depth: int = parameter(
        3,
        "most links from the first event to the outcome; fewer if there are few events",
        "depth",
        ge=1,
        le=8,
    )
    prob_overdetermination: float = chance(
        0.3,
        "chance that an event off the main chain is a second cause, enough by itself",
        "interference",
    )
    prob_preemption: float = chance(
        0.2,
        "chance that it is a stand-in, which happens only if a cause does not",
        "interference",
    )
    distractors: int = parameter(
        2, "number of further events that lead to nothing", "interference", ge=0, le=8
    )
    question: Question = parameter(
        "but_for", "yes or no for one event, or the set of necessary events", "semantic"
    )

    @model_validator(mode="after")
    def _story_has_as_many(self) -> Self:
        limit = min(len(setting.events) for setting in settings())
        self._not_above(limit, "events", "distractors")
        return self


class ButForCausationCase(Case):
    """A case of but-for causation."""

    story: str = Field(description="the setting")
    depth: int = Field(
        ge=1, description="links of the longest chain that led to the outcome"
    )
    overdetermined: int = Field(
        ge=0, description="events that had two or more sufficient causes"
    )
    stand_ins: int = Field(
        ge=0, description="events that would happen only if another did not"
    )


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Rules that one event follows another by. Some event is necessary and some is not.

    Whether the event asked about is one of the necessary ones is drawn after the rules, so that yes
    and no are equally likely and the rules do not tell.
    """

    task = "but_for_causation"
    version = 2
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
    )

    def prompt(self, params: Params) -> str:
        """Return the story, what supposing means, and the question."""
        if params.question == "but_for":
            return story_of(params) + reply_short("yes or no")
        return story_of(params) + reply_short(
            "the list of the letters of all necessary events, each as a JSON string",
            quoted=False,
        )

    def reference(self, params: Params) -> Answer:
        """Work out at once all events that would flip the outcome."""
        needed = _necessary(params)
        if params.question == "but_for":
            return Answer(answer="no" if needed[0] else "yes")
        return Answer(answer=_event_letters(needed))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the other answer in several forms, faulty sets, and answers that are neither."""
        needed = _necessary(params)
        wrong: dict[str, JsonValue]
        if params.question == "but_for":
            word, opposite = ("no", "yes") if needed[0] else ("yes", "no")
            wrong = {
                "other": opposite,
                "other_in_capitals": f"**{opposite.upper()}**.",
                "other_as_json": needed[0],
                "other_as_number": int(needed[0]),
                "both": f"{word} {opposite}",
                "listed": [word],
                "event": happened(params, params.outcome),
            }
        else:
            first = needed.index(True)
            spare = needed.index(False)
            right: list[JsonValue] = [*_event_letters(needed)]
            wrong = {
                "all": [*_event_letters((True,) * len(needed))],
                "the_others": [
                    *_event_letters([not is_needed for is_needed in needed])
                ],
                "one_too_many": [*right, LETTERS[spare]],
                "one_exchanged": [x for x in right if x != LETTERS[first]]
                + [LETTERS[spare]],
                "nothing": [],
                "none": "none",
                "yes": "yes",
                "outcome": [happened(params, params.outcome)],
                "places": [i + 1 for i, is_needed in enumerate(needed) if is_needed],
            }
            if len(right) > 1:
                wrong["one_missing"] = right[1:]
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return how deep the story is, and how often one cause makes up for another."""
        rules, origins = _system(params)
        depths: dict[int, int] = {}
        for event in rules:
            depth_of(rules, origins, event, depths)
        causes = [
            (kind, sum(holds and depths[cause] >= 0 for cause, holds in conditions))
            for event, (kind, conditions) in rules.items()
            if depths[event] >= 0
        ]
        return {
            "story": params.story,
            "depth": depths[params.outcome],
            "overdetermined": sum(
                kind == "any" and number > 1 for kind, number in causes
            ),
            "stand_ins": sum(
                not all(holds for _, holds in conditions)
                for _, conditions in rules.values()
            ),
        }

    def measure(self, params: Params) -> float:
        """Return the number of conditions of all rules, by the events to be struck out."""
        return sum(len(rule[2]) for rule in params.rules) * len(params.candidates)

    def blind_floor(self, params: Params) -> float:
        """Return one half, or the chance of one set of a single event, or of all but one.

        Sets of n events hold some and not all; each size is taken to be as likely as any other.
        """
        n = len(params.candidates)
        return 0.5 if params.question == "but_for" else 1 / (n * (n - 1))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw rules until something is necessary and something is not, then the question."""
        graph, needed = _draw_graph(point, rng)
        causal = len(graph.levels)
        for _ in range(point.distractors):
            _add_distractor(graph, causal, rng)
        needless = [
            event
            for event, did in enumerate(graph.happened)
            if did and event != graph.outcome and event not in needed
        ]
        if point.question == "necessary_set":
            candidates = [*needed, *needless]
            rng.shuffle(candidates)
        elif rng.below(2):
            candidates = [rng.choice(needed)]
        else:
            near = [event for event in needless if event < causal]
            candidates = [rng.choice(near if near and rng.below(4) else needless)]
        return _params_of(graph, candidates, point.question, rng)


def _draw_graph(point: Space, rng: Stream) -> tuple[Graph, list[int]]:
    """Return a graph and its necessary events, which are some but not all."""
    # One event off the chain, if nothing else does, is what is not necessary.
    depth = min(point.max_depth, point.events - (1 if point.distractors else 2))
    chances = point.prob_overdetermination, point.prob_preemption
    for i in range(2 * _TRIES):
        # Where chance makes up for every cause, the last link of the chain is spared from it.
        graph = grow(point.events, depth, *chances, rng, spare_outcome=i >= _TRIES)
        origins = {
            i: did for i, did in enumerate(graph.happened) if i not in graph.rules
        }
        bits = flips(graph.rules, origins, graph.outcome)
        needed = [
            i for i in range(point.events) if bits >> i & 1 and i != graph.outcome
        ]
        if needed and (
            point.distractors or sum(graph.happened) - 1 > len(needed)
        ):  # the outcome is no candidate
            return graph, needed
    raise GenerationError(
        f"but_for_causation: in {2 * _TRIES} draws either all or none of the {point.events} events "
        "were necessary; raise max_depth or distractors, or lower prob_overdetermination or "
        "prob_preemption"
    )


def _add_distractor(graph: Graph, causal: int, rng: Stream) -> None:
    kind = rng.below(10)
    # The first one happens: the question may need an event that was not necessary.
    if kind < 2 and len(graph.levels) > causal:
        graph.add(0, None, happened=False)
    elif kind < 6:
        graph.add(0, None)
    else:
        by_product(graph, rng.choice([i for i in range(causal) if graph.happened[i]]))


def _params_of(
    graph: Graph, candidates: list[int], question: Question, rng: Stream
) -> Params:
    """Give every event a number and words that tell nothing of its place in the rules."""
    n = len(graph.levels)
    number = rng.sample(range(n), n)
    setting = rng.choice(settings())
    rules = [
        (
            number[event],
            kind,
            tuple([(number[cause], holds) for cause, holds in conditions]),
        )
        for event, (kind, conditions) in graph.rules.items()
    ]
    origins = [
        (number[i], did) for i, did in enumerate(graph.happened) if i not in graph.rules
    ]
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
        candidates=tuple([number[event] for event in candidates]),
        style=rng.below(60),
    )


def _system(params: Params) -> tuple[dict[int, Rule], dict[int, bool]]:
    rules: dict[int, Rule] = {
        event: (kind, conditions) for event, kind, conditions in params.rules
    }
    return rules, dict(params.told)


def _necessary(params: Params) -> tuple[bool, ...]:
    bits = flips(*_system(params), params.outcome)
    return tuple(bits >> event & 1 == 1 for event in params.candidates)


def _event_letters(marks: Sequence[bool]) -> tuple[str, ...]:
    return tuple(letter for letter, mark in zip(LETTERS, marks, strict=False) if mark)


class Setting(NamedTuple):
    """A setting with events, each in five forms; see the schema."""

    id: str
    opening: str
    events: tuple[tuple[str, str, str, str, str], ...]


@cache
def settings() -> tuple[Setting, ...]:
    """Return all settings."""
    return tuple(
        Setting(item["id"], item["opening"], tuple(map(tuple, item["events"])))
        for item in data_file(__package__, "stories.json")["themes"]
    )


def story_of(params: Params) -> str:
    """Return the rules, what happened, what supposing means, and the question."""
    head = _RULES_FIRST[params.style % 3].format(opening=params.opening)
    rules = "\n".join(f"- {sentence}" for sentence in _rule_sentences(params))
    first = " ".join(
        capitalised(_past(params, event, did=did)) for event, did in params.told
    )
    end = f"Everything else followed from the rules. In the end, {_past(params, params.outcome)}"
    facts = f"One day, this happened at the beginning: {first} {end}"
    parts = [
        f"{head}\n\n{rules}",
        facts,
        prompt_template(__name__, "prompt_workings.txt").rstrip(),
        _causal_question(params),
    ]
    return "\n\n".join(parts) + "\n\n"


def happened(params: Params, event: int) -> str:
    """Return an event in the past, such as "the bell rang"."""
    subject, _, _, past, _ = params.events[event]
    return f"{subject} {past}"


def _past(params: Params, event: int, *, did: bool = True) -> str:
    subject, base, *_ = params.events[event]
    return f"{happened(params, event)}." if did else f"{subject} did not {base}."


def _causal_question(params: Params) -> str:
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


def _rule_sentences(params: Params) -> Iterator[str]:
    for i, (event, kind, conditions) in enumerate(params.rules):
        subject, _, present, *_ = params.events[event]
        effect = f"{subject} {present}"
        holding = [
            _condition(params, cause, holds=True)
            for cause, holds in conditions
            if holds
        ]
        failing = [
            _condition(params, cause, holds=False)
            for cause, holds in conditions
            if not holds
        ]
        if holding and failing and kind == "all":
            premise, note = (
                f"{_join_with(holding, 'and')} but {_join_with(failing, 'and')}",
                "",
            )
        else:
            premise = _join_with([*holding, *failing], "and" if kind == "all" else "or")
            note = _note(kind, len(conditions))
        if (params.style + i) % 3 == 0:
            yield capitalised(f"if {premise}, then {effect}{note}.")
        else:
            yield capitalised(f"{effect} if {premise}{note}.")


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
    rules: Mapping[int, Rule],
    origins: Mapping[int, bool],
    event: int,
    lengths: dict[int, int],
) -> int:
    """Return the length of the longest chain that led to an event; -1 if it did not happen.

    ``lengths`` holds results so far, by event, and is filled on the way.
    """
    if event not in lengths:
        if event not in rules:
            lengths[event] = 0 if origins[event] else -1
            return lengths[event]
        kind, conditions = rules[event]
        depths = [
            (depth_of(rules, origins, cause, lengths), holds)
            for cause, holds in conditions
        ]
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
    """Return a graph whose longest chain has ``depth`` links, and whose outcome happened.

    It begins as one chain. Each further event is a second cause that is enough by itself
    (overdetermination), a stand-in that happens only if a cause does not (pre-emption), a second
    cause that is needed as well, a cause that failed to happen, or a by-product. An outcome that is
    spared has no second cause, so that its cause is necessary.
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
        or (
            graph.rules[event][0] == kind
            and len(graph.rules[event][1]) < _MOST_CONDITIONS
        )
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
    if not (targets := _open(graph, effects, "any")):
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
