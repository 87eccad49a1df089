"""Objects: count the things of some groups in a list with quantities in words and digits."""

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
)
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.builders.shared.words import anchor, enumeration, things
from scbench.schemas.objects import AnchorFormat, Answer, Entry, Params

_MARKS = "\nWhat stands at the beginning of a line{form} only marks the line and is no quantity."
_FORMS = {
    "number": ', such as "1.",',
    "roman": ', such as "I.",',
    "hex": ', such as "0x1:",',
    "letter": ', such as "a)",',
}

_SMALL = (
    *(
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
    ),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)

_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


class Space(Point):
    """Parameters of lists of things."""

    length: int = parameter(6, "number of entries that count", "scale", ge=1, le=100)
    max_count: int = parameter(
        12, "largest quantity of an entry", "scale", ge=1, le=999
    )
    distractors: int = parameter(
        4,
        "number of entries of other groups, which do not count",
        "interference",
        ge=0,
        le=100,
    )
    target_groups: int = parameter(
        1, "number of groups to be counted together", "semantic", ge=1, le=10
    )
    prob_adjective: float = chance(
        0.3, "chance that an entry has an adjective", "interference"
    )
    anchor_format: AnchorFormat = parameter(
        "none", "what stands before each entry", "interference"
    )

    @model_validator(mode="after")
    def _every_group_occurs(self) -> Self:
        if self.target_groups > self.length:
            raise ValueError(
                f"target_groups ({self.target_groups}) is more than length ({self.length}), but "
                "each group needs an entry"
            )
        return self


class ObjectsCase(Case):
    """A case of counting things."""

    adjectives: int = Field(ge=0, description="entries with an adjective")
    in_words: int = Field(
        ge=0, description="entries whose quantity is in words, a and an too"
    )
    repeated: int = Field(
        ge=0, description="entries whose noun stood in an entry before"
    )
    distracting: int = Field(
        ge=0, description="things that do not count, by their quantities"
    )


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Lists of things of eleven groups. Each group asked for has at least one entry.

    A noun comes again only after all others of its group.
    """

    task = "objects"
    version = 3
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
        """Return the list, the groups that count, and what a quantity is."""
        entries = [_entry_text(entry) for entry in params.entries]
        form = params.anchor_format
        lines = (
            [f"{enumeration(entries)}."]
            if form == "none"
            else [anchor(form, i) + entry for i, entry in enumerate(entries, 1)]
        )
        rules = prompt_template(__name__).format(
            opening=things().openings[params.opening],
            entries="\n".join(lines),
            groups=enumeration(params.groups),
            together=" altogether" if len(params.groups) > 1 else "",
            marks=_MARKS.format(form=_FORMS[form]) if form in _FORMS else "",
            all_groups=enumeration(list(things().groups)),
        )
        return rules + reply_short("a whole number", quoted=False)

    def reference(self, params: Params) -> Answer:
        """Look every quantity up and add those that count."""
        return Answer(answer=_total(_counting(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return sums that miss or add something, and answers that are not numbers."""
        counting = _counting(params)
        right = _total(counting)
        wrong: dict[str, JsonValue] = {
            "one_more": right + 1,
            "one_less": right - 1,
            "all_things": _total(params.entries),
            "only_the_others": _total(params.entries) - right,
            "entries_instead_of_things": len(counting),
            "only_digits": sum(int(q) for q, *_ in counting if q.isdigit()),
            "only_words": sum(
                _quantity_value(q) for q, *_ in counting if not q.isdigit()
            ),
            "without_those_with_an_adjective": _total(e for e in counting if not e[1]),
            "only_the_first_group": _total(
                e for e in counting if e[3] == params.groups[0]
            ),
            "last_left_out": _total(counting[:-1]),
        }
        return under(
            "answer",
            {name: value for name, value in wrong.items() if value != right}
            | {"two_numbers": f"{right} {right + 1}", "listed": [right]}
            | {"groups": enumeration(params.groups)},
        )

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return how many entries are dressed up in which way, and what does not count."""
        return {
            "adjectives": sum(1 for entry in params.entries if entry[1]),
            "in_words": sum(1 for entry in params.entries if not entry[0].isdigit()),
            "repeated": len(params.entries)
            - len({_singulars().get(e[2], e[2]) for e in params.entries}),
            "distracting": _total(
                e for e in params.entries if e[3] not in params.groups
            ),
        }

    def measure(self, params: Params) -> float:
        """Return the number of entries, and one more for each that counts."""
        return len(params.entries) + len(_counting(params))

    def blind_floor(self, params: Params) -> float:
        """Return the chance of the middle one of all sums, as if they were spread normally.

        The quantities are taken to go up to the largest one of the list, which is seldom less than
        what they were drawn from.
        """
        largest = max(_quantity_value(quantity) for quantity, *_ in params.entries)
        spread = len(_counting(params)) * (largest * largest - 1) / 12
        return min(1 / largest, 1 / math.sqrt(2 * math.pi * spread)) if spread else 1.0

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw groups, then entries of those that count and of the others, and shuffle them."""
        groups = rng.sample(list(things().groups), len(things().groups))
        counting, distracting = (
            groups[: point.target_groups],
            groups[point.target_groups :],
        )
        of_entries = counting + [
            rng.choice(counting) for _ in range(point.length - len(counting))
        ]
        of_entries += [rng.choice(distracting) for _ in range(point.distractors)]
        entries: list[Entry] = []
        for group in groups:
            nouns, missing = things().groups[group], of_entries.count(group)
            while missing:
                deck = rng.sample(nouns, min(missing, len(nouns)))
                entries += [_draw_entry(noun, group, point, rng) for noun in deck]
                missing -= len(deck)
        rng.shuffle(entries)
        return Params(
            entries=tuple(entries),
            groups=tuple(counting),
            anchor_format=point.anchor_format,
            opening=rng.below(len(things().openings)),
        )


def _draw_entry(noun: Sequence[str], group: str, point: Space, rng: Stream) -> Entry:
    n = rng.between(1, point.max_count)
    adjective = (
        rng.choice(things().adjectives) if rng.chance(point.prob_adjective) else ""
    )
    name = noun[0] if n == 1 else noun[1]
    if n == 1:
        article = "an" if (adjective or name)[0] in "aeiou" else "a"
        quantity = rng.choice((article, article, "one", "1"))
    else:
        quantity = in_words(n) if rng.below(2) else str(n)
    return quantity, adjective, name, group


def _entry_text(entry: Entry) -> str:
    quantity, adjective, name, _ = entry
    return f"{quantity} {adjective} {name}" if adjective else f"{quantity} {name}"


def _counting(params: Params) -> list[Entry]:
    return [entry for entry in params.entries if entry[3] in params.groups]


def _total(entries: Iterable[Entry]) -> int:
    return sum(_quantity_value(entry[0]) for entry in entries)


def _quantity_value(quantity: str) -> int:
    return int(quantity) if quantity.isdigit() else numbers_in_words()[quantity]


@cache
def _singulars() -> Mapping[str, str]:
    return {name: singular for nouns in things().groups.values() for singular, plural in nouns
            for name in (singular, plural)}  # fmt: skip


@cache
def in_words(n: int) -> str:
    """Return a number from 0 to 999 in words, such as ``one hundred and twenty-one``."""
    hundreds, remainder = divmod(n, 100)
    if hundreds:
        return f"{_SMALL[hundreds]} hundred" + (
            f" and {in_words(remainder)}" if remainder else ""
        )
    tens, ones = divmod(n, 10)
    if tens < 2:
        return _SMALL[n]
    return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")


@cache
def numbers_in_words() -> Mapping[str, int]:
    """Return every number from 1 to 999 by its words; ``a`` and ``an`` are 1."""
    return {"a": 1, "an": 1, **{in_words(n): n for n in range(1, 1000)}}
