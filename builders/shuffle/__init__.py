"""Shuffle: who has what after people have swapped, among events that move nothing."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from pydantic import Field, JsonValue

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Case,
    Point,
    data_file,
    parameter,
    prompt_template,
    under,
)
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.builders.shared.words import anchor, enumeration
from scbench.schemas.shuffle import AnchorFormat, Answer, Domain, Event, Params

LABELS = "ABCDEFGHIJKL"
_MARKS = "\nWhat stands at the beginning of a line only tells the order."


class Space(Point):
    """Parameters of stories of swaps."""

    people: int = parameter(
        5, "number of people, each with one thing", "scale", ge=3, le=12
    )
    max_depth: int = parameter(
        5,
        "number of swaps; what is asked for moved in some or all of them",
        "depth",
        ge=1,
        le=300,
    )
    confounders: int = parameter(
        2,
        "number of events that mention people but move nothing",
        "interference",
        ge=0,
        le=100,
    )
    anchor_format: AnchorFormat = parameter(
        "none", "what stands before each event", "interference"
    )
    domain: Domain = parameter("balls", "what is swapped", "semantic")


class ShuffleCase(Case):
    """A case of swaps."""

    depth: int = Field(
        ge=0, description="swaps that moved what is asked for, one after the other"
    )
    misleading: int = Field(
        ge=0, description="events that move nothing but name the person asked about"
    )


class Story(NamedTuple):
    """The sentences of a domain, to be filled in, and what people have: names if there are none."""

    openings: list[str]
    start: str
    rule: str
    still: str
    question: str
    things: list[str]
    swaps: list[str]
    idle: list[str]


@cache
def stories() -> Mapping[str, Story]:
    """Return the sentences of every domain, from the data file."""
    texts = data_file(__package__, "texts.json")
    return {domain: Story(**story) for domain, story in texts.items()}


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Stories of swaps. No two people swap twice running, which would undo it.

    People are the more likely to be asked about the more often their thing has moved: with many
    people most things stay where they were.
    """

    task = "shuffle"
    version = 2
    case_model = ShuffleCase
    extremes = (
        {"people": 3, "max_depth": 1, "confounders": 0, "anchor_format": "number"},
        {"people": 12, "max_depth": 100, "confounders": 100, "anchor_format": "clock"},
        {"people": 12, "max_depth": 30, "domain": "dancing", "anchor_format": "letter"},
        {"people": 12, "max_depth": 1, "domain": "soccer", "anchor_format": "ordinal"},
        {"people": 3, "max_depth": 100, "domain": "books", "anchor_format": "hex"},
    )

    def prompt(self, params: Params) -> str:
        """Return the story, what a swap is, the question and the options."""
        story, people = stories()[params.domain], params.people
        starts = [
            story.start.format(person=person, thing=thing)
            for person, thing in zip(people, params.things, strict=True)
        ]
        sentences = [
            (story.swaps if moves else story.idle)[wording].format(
                a=people[a], b=people[b]
            )
            for moves, a, b, wording in params.events
        ]
        form = params.anchor_format
        lines = (
            [" ".join(sentences)]
            if form == "none"
            else [anchor(form, i) + event for i, event in enumerate(sentences, 1)]
        )
        options = zip(LABELS, params.options, strict=False)
        text = prompt_template(__name__).format(
            opening=story.openings[params.opening].format(people=enumeration(people)),
            start=enumeration(starts),
            events="\n".join(lines),
            rule=story.rule,
            still=story.still,
            marks="" if form in {"none", "bullet"} else _MARKS,
            question=story.question.format(person=people[params.asked]),
            options="\n".join(f"({label}) {option}" for label, option in options),
        )
        last = LABELS[len(params.options) - 1]
        return text + reply_short(f"the letter of one option, A to {last}")

    def reference(self, params: Params) -> Answer:
        """Let everyone swap in turn and look at the end."""
        return Answer(
            answer=_label(params, _final(params, params.events)[params.asked])
        )

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return what follows if events are missed or misread, and answers that are no option."""
        person, events = params.asked, params.events
        right = _final(params, events)[person]
        swaps = [i for i, event in enumerate(events) if event[0]]
        last = swaps[-1] if swaps else 0
        mistakes = {
            "nothing_moved": params.things[person],
            "last_swap_missed": _final(params, (*events[:last], *events[last + 1 :]))[
                person
            ],
            "first_swap_missed": _final(params, [events[i] for i in swaps[1:]])[person],
            "backwards": _final(params, events[::-1])[person],
            "all_events_are_swaps": _final(params, [(True, *e[1:]) for e in events])[
                person
            ],
        }
        wrong: dict[str, JsonValue] = {
            name: _label(params, thing)
            for name, thing in mistakes.items()
            if thing != right
        }
        wrong_options = [option for option in params.options if option != right]
        letter = _label(params, right)
        wrong |= {
            "another_option": _label(params, wrong_options[0]),
            "text_of_another": wrong_options[-1],
            "letter_of_one_text_of_another": f"{letter}) {wrong_options[0]}",
            "two_letters": f"{letter} or {_label(params, wrong_options[0])}",
            "letter_beyond_the_last": LABELS[len(params.options) :][:1] or "M",
            "number": LABELS.index(letter) + 1,
            "listed": [letter],
        }
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return how often what is asked for moved, and how many other events may mislead."""
        return {
            "depth": _move_counts(params.people, params.events)[params.asked],
            "misleading": sum(
                1
                for moves, *pair, _ in params.events
                if not moves and params.asked in pair
            ),
        }

    def measure(self, params: Params) -> float:
        """Return the number of events, and one more for each move of what is asked for."""
        return (
            len(params.events)
            + _move_counts(params.people, params.events)[params.asked]
        )

    def blind_floor(self, params: Params) -> float:
        """Return one by the number of options."""
        return 1 / len(params.options)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw who has what, the events, the person asked about and the order of the options."""
        story = stories()[point.domain]
        if story.things:
            people = rng.sample(names(), point.people)
            things = rng.sample(story.things, point.people)
        else:
            both = rng.sample(names(), 2 * point.people)
            people, things = both[: point.people], both[point.people :]
        events = _draw_events(point, story, rng)
        options = list(things)
        rng.shuffle(options)
        return Params(
            domain=point.domain,
            people=tuple(people),
            things=tuple(things),
            events=tuple(events),
            asked=rng.weighted(range(point.people), _move_counts(people, events)),
            options=tuple(options),
            anchor_format=point.anchor_format,
            opening=rng.below(len(story.openings)),
        )


def _draw_events(point: Space, story: Story, rng: Stream) -> list[Event]:
    kinds = [True] * point.max_depth + [False] * point.confounders
    rng.shuffle(kinds)
    events: list[Event] = []
    before = -1
    n = point.people
    for moves in kinds:
        a, b = _draw_pair(n, rng)
        if moves:
            # The same two again would undo the last swap. With three people there are two other
            # pairs of three, so this soon ends.
            while (pair := min(a, b) * n + max(a, b)) == before:
                a, b = _draw_pair(n, rng)
            before = pair
        events.append(
            (moves, a, b, rng.below(len(story.swaps if moves else story.idle)))
        )
    return events


def _draw_pair(n: int, rng: Stream) -> tuple[int, int]:
    a, b = rng.below(n), rng.below(n - 1)
    return a, b + (b >= a)


def _final(params: Params, events: Iterable[Event]) -> list[str]:
    possessions = list(params.things)
    for moves, a, b, _ in events:
        if moves:
            possessions[a], possessions[b] = possessions[b], possessions[a]
    return possessions


def _move_counts(
    people: tuple[str, ...] | list[str], events: Iterable[Event]
) -> list[int]:
    """Return how often what everyone has at the end has moved."""
    counts = [0] * len(people)
    for moves, a, b, _ in events:
        if moves:
            counts[a], counts[b] = counts[b] + 1, counts[a] + 1
    return counts


def _label(params: Params, thing: str) -> str:
    return LABELS[params.options.index(thing)]


@cache
def names() -> tuple[str, ...]:
    """Return first names in order; none is a common word, and no two differ in one letter."""
    return tuple(sorted(data_file(__package__, "names.json")["names"]))
