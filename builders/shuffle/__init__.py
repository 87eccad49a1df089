"""Shuffle: people swap things, and other events move nothing.

An example of the puzzle, with the answer B:

    Which gift does Zoe have at the end of the story?    (A) clock    (B) kite    (C) vase

    Amir gets the vase, Nora gets the kite, and Zoe gets the clock.
    Nora and Amir swap gifts. Zoe admires the gift of Nora. Zoe swaps gifts with Amir.
"""

from collections.abc import Iterable, Mapping, Sequence
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
from scbench.builders.shared.text_task import TextBuilder, options_text, reply_short
from scbench.builders.shared.words import anchor, enumeration
from scbench.schemas.shuffle import AnchorFormat, Answer, Domain, Event, Params

LABELS = "ABCDEFGHIJKL"
# Explains markers that could be mistaken for part of the story.
_MARKS = "\nThe marker at the start of a line only shows the order of events."


class Space(Point):
    """Parameters of stories of swaps."""

    people: int = parameter(
        5, "number of people, each with one thing", "scale", ge=3, le=12
    )
    max_depth: int = parameter(
        5,
        "number of swaps; some or all of them move the thing that the question asks about",
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
        "none", "marker before each event", "interference"
    )
    domain: Domain = parameter("balls", "what is swapped", "semantic")


class ShuffleCase(Case):
    """A case of swaps."""

    depth: int = Field(
        ge=0,
        description="number of swaps that move the thing that the question asks about",
    )
    misleading: int = Field(
        ge=0,
        description="number of events that move nothing but name the person in the question",
    )


class Story(NamedTuple):
    """The sentences of a domain, with blanks for names, and the things that people can have.

    In a domain without things, people dance with people, so their partners are also names.
    """

    openings: list[str]
    start: str
    rule: str
    still: str
    question: str
    things: list[str]
    swaps: list[str]
    idle: list[str]


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Stories of swaps. No two people swap twice in a row, which would undo the swap.

    A person whose thing has moved more often is more likely to be asked about. Otherwise, with many
    people, most answers would be things that never moved.
    """

    task = "shuffle"
    version = 3
    draws = 2
    case_model = ShuffleCase
    extremes = (
        {"people": 3, "max_depth": 1, "confounders": 0, "anchor_format": "number"},
        {"people": 12, "max_depth": 100, "confounders": 100, "anchor_format": "clock"},
        {"people": 12, "max_depth": 30, "domain": "dancing", "anchor_format": "letter"},
        {"people": 12, "max_depth": 1, "domain": "soccer", "anchor_format": "ordinal"},
        {"people": 3, "max_depth": 100, "domain": "books", "anchor_format": "hex"},
    )

    def prompt(self, params: Params) -> str:
        """Return the question, the story, the meaning of a swap, and the options."""
        story = stories()[params.domain]
        people = params.people
        starts = []
        for person, thing in zip(people, params.things, strict=True):
            start = story.start.format(person=person, thing=thing)
            starts.append(start)
        marks = "" if params.anchor_format in {"none", "bullet"} else _MARKS
        text = prompt_template(__name__).format(
            opening=story.openings[params.opening].format(people=enumeration(people)),
            start=enumeration(starts),
            events=events_text(params, story),
            rule=story.rule,
            still=story.still,
            marks=marks,
            question=story.question.format(person=people[params.asked]),
            options=options_text(params.options),
        )
        last = LABELS[len(params.options) - 1]
        return text + reply_short(f"the letter of one option, A to {last}")

    def reference(self, params: Params) -> Answer:
        """Carry out all swaps, and return the thing at the end."""
        return Answer(answer=label(params, thing_at_end(params, params.events)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the results of missed or misread events, and answers that are not options."""
        events = params.events
        # Positions of the swaps among the events.
        swaps = [i for i, (moves, *_) in enumerate(events) if moves]
        last = swaps[-1] if swaps else 0
        misread_stories: dict[str, Sequence[Event]] = {
            "nothing_moved": [],
            "last_swap_missed": [*events[:last], *events[last + 1 :]],
            "first_swap_missed": [events[i] for i in swaps[1:]],
            "backwards": events[::-1],
            "all_events_are_swaps": [(True, a, b, w) for _, a, b, w in events],
        }
        right = thing_at_end(params, events)
        letter = label(params, right)
        wrong: dict[str, JsonValue] = {}
        for name, story in misread_stories.items():
            thing = thing_at_end(params, story)
            # Some mistakes make no difference.
            if thing != right:
                wrong[name] = label(params, thing)
        wrong_options = [option for option in params.options if option != right]
        first_wrong = wrong_options[0]
        wrong |= {
            "another_option": label(params, first_wrong),
            "text_of_another": wrong_options[-1],
            "letter_of_one_text_of_another": f"{letter}) {first_wrong}",
            "two_letters": f"{letter} or {label(params, first_wrong)}",
            # The thirteenth letter, if all of LABELS are options.
            "letter_beyond_the_last": f"{LABELS}M"[len(params.options)],
            "number": LABELS.index(letter) + 1,
            "listed": [letter],
        }
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the numbers of moves of the thing asked about and of misleading events."""
        misleading = 0
        for moves, a, b, _ in params.events:
            if not moves and params.asked in {a, b}:
                misleading += 1
        depth = move_counts(len(params.people), params.events)[params.asked]
        return {"depth": depth, "misleading": misleading}

    def measure(self, params: Params) -> float:
        """Return the number of events plus the number of moves of the thing asked about."""
        counts = move_counts(len(params.people), params.events)
        return len(params.events) + counts[params.asked]

    def blind_floor(self, params: Params) -> float:
        """Return 1 divided by the number of options."""
        return 1 / len(params.options)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw people, things, events, the person asked about, and the order of the options."""
        story = stories()[point.domain]
        n = point.people
        # The order of draws is fixed: changing it changes the cases of a seed.
        if story.things:
            people = rng.sample(names(), n)
            things = rng.sample(story.things, n)
        else:
            drawn_names = rng.sample(names(), 2 * n)
            people = drawn_names[:n]
            things = drawn_names[n:]
        events = draw_events(point, story, rng)
        options = list(things)
        rng.shuffle(options)
        return Params(
            domain=point.domain,
            people=tuple(people),
            things=tuple(things),
            events=tuple(events),
            asked=rng.weighted(range(n), move_counts(n, events)),
            options=tuple(options),
            anchor_format=point.anchor_format,
            opening=rng.below(len(story.openings)),
        )


@cache
def stories() -> Mapping[str, Story]:
    """Return the sentences of every domain, from the data file."""
    texts = data_file(__package__, "texts.json")
    return {domain: Story(**story) for domain, story in texts.items()}


@cache
def names() -> tuple[str, ...]:
    """Return first names in order. None is a common word, and no two differ in only one letter."""
    return tuple(sorted(data_file(__package__, "names.json")["names"]))


def events_text(params: Params, story: Story) -> str:
    """Return the events as running text, or one per line after its anchor."""
    sentences = []
    # Each event has the number of its wording among the wordings of swaps or of idle events.
    for moves, a, b, wording in params.events:
        template = (story.swaps if moves else story.idle)[wording]
        sentences.append(template.format(a=params.people[a], b=params.people[b]))
    form = params.anchor_format
    if form == "none":
        return " ".join(sentences)
    return "\n".join(anchor(form, i) + event for i, event in enumerate(sentences, 1))


def thing_at_end(params: Params, events: Iterable[Event]) -> str:
    """Return what the person in the question has after these events."""
    things = list(params.things)
    for moves, a, b, _ in events:
        if moves:
            things[a], things[b] = things[b], things[a]
    return things[params.asked]


def label(params: Params, thing: str) -> str:
    """Return the letter of the option with this thing."""
    return LABELS[params.options.index(thing)]


def move_counts(people: int, events: Iterable[Event]) -> list[int]:
    """Return, for each person, the number of moves of the thing that they have at the end."""
    counts = [0] * people
    for moves, a, b, _ in events:
        if moves:
            # The counts move with the things.
            counts[a], counts[b] = counts[b] + 1, counts[a] + 1
    return counts


def draw_events(point: Space, story: Story, rng: Stream) -> list[Event]:
    """Draw swaps and idle events in any order, each with two people and a wording."""
    kinds = [True] * point.max_depth + [False] * point.confounders
    rng.shuffle(kinds)
    events: list[Event] = []
    last_pair: set[int] = set()
    for moves in kinds:
        a, b = _draw_pair(point.people, rng)
        if moves:
            # The same two people again would undo the last swap. With three people, two of the
            # three pairs remain, so this loop ends soon.
            while {a, b} == last_pair:
                a, b = _draw_pair(point.people, rng)
            last_pair = {a, b}
        wordings = story.swaps if moves else story.idle
        events.append((moves, a, b, rng.below(len(wordings))))
    return events


def _draw_pair(n: int, rng: Stream) -> tuple[int, int]:
    """Draw two different people of n."""
    a = rng.below(n)
    b = rng.below(n - 1)
    if b >= a:
        # The second person is drawn from the others, so numbers skip the first person.
        b += 1
    return a, b
