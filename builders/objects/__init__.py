"""Objects: count the things of some groups in a list whose quantities are words and digits.

An example of the puzzle, with the answer 6:

    How many fruits are there in the list below?

    a big apple, four pears, 3 hammers and one plum.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Self

from pydantic import Field, JsonValue, model_validator

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Case,
    Point,
    chance,
    parameter,
    prompt_template,
    under,
    without_right,
)
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.builders.shared.words import anchor, enumeration, things
from scbench.schemas.objects import AnchorFormat, Answer, Entry, Params

_MARKS = "\nThe marker at the start of a line{form} is not a quantity."
# Markers that could be mistaken for a quantity, each with an example.
_FORMS = {
    "number": ', such as "1.",',
    "roman": ', such as "I.",',
    "hex": ', such as "0x1:",',
    "letter": ', such as "a)",',
}

# The numbers from 0 to 19, and the tens from 20 on.
_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


class Space(Point):
    """Parameters of lists of things."""

    length: int = parameter(6, "number of entries to count", "scale", ge=1, le=100)
    max_count: int = parameter(
        12, "largest quantity of an entry", "scale", ge=1, le=999
    )
    distractors: int = parameter(
        4,
        "number of entries in other groups, which are not counted",
        "interference",
        ge=0,
        le=100,
    )
    target_groups: int = parameter(
        1, "number of groups to count together", "semantic", ge=1, le=10
    )
    prob_adjective: float = chance(
        0.3, "probability that an entry has an adjective", "interference"
    )
    anchor_format: AnchorFormat = parameter(
        "none", "marker before each entry", "interference"
    )

    @model_validator(mode="after")
    def _every_group_occurs(self) -> Self:
        if self.target_groups > self.length:
            raise ValueError(
                f"target_groups ({self.target_groups}) is above length ({self.length}); each group "
                "needs an entry"
            )
        return self


class ObjectsCase(Case):
    """A case of counting things."""

    adjectives: int = Field(ge=0, description="number of entries with an adjective")
    in_words: int = Field(
        ge=0,
        description="number of entries whose quantity is in words, including a and an",
    )
    repeated: int = Field(
        ge=0, description="number of entries whose noun also occurs in an earlier entry"
    )
    distracting: int = Field(
        ge=0, description="total quantity of the things that are not counted"
    )


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Lists of things in eleven groups. Each requested group has at least one entry.

    A noun is repeated only after all other nouns of its group have been used.
    """

    task = "objects"
    version = 4
    draws = 3
    case_model = ObjectsCase
    extremes = (
        {"length": 1, "distractors": 0, "max_count": 999},
        {"length": 1, "max_count": 1, "distractors": 100, "prob_adjective": 1},
        {"length": 100, "distractors": 100, "target_groups": 10, "max_count": 999,
         "anchor_format": "roman"},
        {"length": 100, "target_groups": 1, "prob_adjective": 0, "anchor_format": "hex"},
        {"length": 2, "target_groups": 2, "max_count": 2, "anchor_format": "letter"},
    )  # fmt: skip

    def prompt(self, params: Params) -> str:
        """Return the groups that count, the list, and the meaning of a quantity."""
        form = params.anchor_format
        entries = [entry_text(entry) for entry in params.entries]
        if form == "none":
            lines = [f"{enumeration(entries)}."]
        else:
            lines = [anchor(form, i) + entry for i, entry in enumerate(entries, 1)]
        marks = ""
        if form in _FORMS:
            marks = _MARKS.format(form=_FORMS[form])
        rules = prompt_template(__name__).format(
            opening=things().openings[params.opening],
            entries="\n".join(lines),
            groups=enumeration(params.groups),
            together=" altogether" if len(params.groups) > 1 else "",
            marks=marks,
            printed_groups=enumeration(printed_groups(params)),
        )
        return rules + reply_short("a whole number", quoted=False)

    def reference(self, params: Params) -> Answer:
        """Look up every quantity and add those that count."""
        return Answer(answer=total(counting_entries(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return sums that are too low or too high, and answers that are not numbers."""
        counting = counting_entries(params)
        in_digits = []
        without_adjective = []
        first_group_entries = []
        for entry in counting:
            quantity, adjective, _, group = entry
            if quantity.isdigit():
                in_digits.append(entry)
            if not adjective:
                without_adjective.append(entry)
            if group == params.groups[0]:
                first_group_entries.append(entry)
        right = total(counting)
        distraction = total(params.entries) - right
        counts = {
            "one_more": right + 1,
            "one_less": right - 1,
            "all_things": right + distraction,
            "only_the_others": distraction,
            "entries_instead_of_things": len(counting),
            "only_digits": total(in_digits),
            "only_words": right - total(in_digits),
            "without_those_with_an_adjective": total(without_adjective),
            "only_the_first_group": total(first_group_entries),
            "last_left_out": total(counting[:-1]),
        }
        wrong = without_right(counts, right)
        # These are not whole numbers.
        wrong["two_numbers"] = f"{right} {right + 1}"
        wrong["listed"] = [right]
        wrong["groups"] = enumeration(params.groups)
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return counts of entries that are harder to read, and of things that do not count."""
        nouns = set()
        adjectives = 0
        in_letters = 0
        for quantity, adjective, name, _ in params.entries:
            nouns.add(singular_of(name))
            if adjective:
                adjectives += 1
            if not quantity.isdigit():
                in_letters += 1
        return {
            "adjectives": adjectives,
            "in_words": in_letters,
            "repeated": len(params.entries) - len(nouns),
            "distracting": total(params.entries) - total(counting_entries(params)),
        }

    def measure(self, params: Params) -> float:
        """Return the number of entries, counting those of the named groups twice."""
        return len(params.entries) + len(counting_entries(params))

    def blind_floor(self, params: Params) -> float:
        """Return the probability of the median sum, assuming a normal distribution.

        Quantities are assumed to go up to the largest one in the list, which is seldom below the
        bound that they were drawn with.
        """
        largest = max(quantity_value(quantity) for quantity, *_ in params.entries)
        # The variance of a uniform whole number from 1 to n is (n * n - 1) / 12.
        variance = len(counting_entries(params)) * (largest * largest - 1) / 12
        if not variance:
            return 1.0
        return min(1 / largest, 1 / math.sqrt(2 * math.pi * variance))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw groups, then entries of those that count and of the others, and shuffle them."""
        groups = rng.sample(list(things().groups), len(things().groups))
        counting = groups[: point.target_groups]
        distracting = groups[point.target_groups :]
        # The group of each entry; each group that counts has at least one entry.
        extra = point.length - len(counting)
        entry_groups = counting + [rng.choice(counting) for _ in range(extra)]
        entry_groups += [rng.choice(distracting) for _ in range(point.distractors)]
        entries: list[Entry] = []
        for group in groups:
            nouns = things().groups[group]
            missing = entry_groups.count(group)
            # Nouns are dealt like cards from a deck: none is repeated before all have been used.
            while missing:
                deck = rng.sample(nouns, min(missing, len(nouns)))
                entries += [draw_entry(noun, group, point, rng) for noun in deck]
                missing -= len(deck)
        rng.shuffle(entries)
        return Params(
            entries=tuple(entries),
            groups=tuple(counting),
            anchor_format=point.anchor_format,
            opening=rng.below(len(things().openings)),
        )


def draw_entry(noun: Sequence[str], group: str, point: Space, rng: Stream) -> Entry:
    """Draw the quantity and the adjective of a noun, given as its singular and plural."""
    n = rng.between(1, point.max_count)
    adjective = ""
    if rng.chance(point.prob_adjective):
        adjective = rng.choice(things().adjectives)
    singular, plural = noun
    if n > 1:
        quantity = in_words(n) if rng.below(2) else str(n)
        return quantity, adjective, plural, group
    # The article depends on the word after it, which may be the adjective.
    article = "an" if (adjective or singular)[0] in "aeiou" else "a"
    quantity = rng.choice((article, article, "one", "1"))
    return quantity, adjective, singular, group


def entry_text(entry: Entry) -> str:
    """Return an entry as the prompt prints it."""
    quantity, adjective, name, _ = entry
    return f"{quantity} {adjective} {name}" if adjective else f"{quantity} {name}"


def printed_groups(params: Params) -> list[str]:
    """Return the groups that the prompt names: those in the list, and at least one not requested.

    Their order does not depend on which ones count.
    """
    names = set(params.groups)
    names.update(group for *_, group in params.entries)
    all_groups = list(things().groups)
    if names == set(params.groups):
        # Without another group, the prompt would say that everything counts.
        other_groups = [group for group in all_groups if group not in names]
        names.update(other_groups[:1])
    return [group for group in all_groups if group in names]


def counting_entries(params: Params) -> list[Entry]:
    """Return the entries of the groups that count."""
    return [entry for entry in params.entries if entry[3] in params.groups]


def total(entries: Iterable[Entry]) -> int:
    """Add up the quantities of entries."""
    return sum(quantity_value(quantity) for quantity, *_ in entries)


def quantity_value(quantity: str) -> int:
    """Return the number meant by digits, words or an article."""
    return int(quantity) if quantity.isdigit() else numbers_in_words()[quantity]


@cache
def singular_of(name: str) -> str:
    """Return the singular of a noun; any other word stays as it is."""
    for nouns in things().groups.values():
        for singular, plural in nouns:
            if name == plural:
                return singular
    return name


@cache
def in_words(n: int) -> str:
    """Return a number from 0 to 999 in words, such as ``one hundred and twenty-one``."""
    hundreds, below_hundred = divmod(n, 100)
    if hundreds:
        text = f"{_SMALL[hundreds]} hundred"
        return f"{text} and {in_words(below_hundred)}" if below_hundred else text
    tens, ones = divmod(n, 10)
    if tens < 2:
        return _SMALL[n]
    text = _TENS[tens - 2]
    return f"{text}-{_SMALL[ones]}" if ones else text


@cache
def numbers_in_words() -> Mapping[str, int]:
    """Return the numbers from 1 to 999, keyed by their words; ``a`` and ``an`` are 1."""
    values = {in_words(n): n for n in range(1, 1000)}
    return {"a": 1, "an": 1, **values}
