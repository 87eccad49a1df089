"""Towers of digits that read as a prime: prompts, fresh rules, and an exhaustive solver."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError, WorkSpentError
from scbench.base.seeding import Stream
from scbench.builders.largest_printable_prime.tower_search import (
    Tower,
    greedy_number,
    longest_prime,
    lowest,
    tallest,
)
from scbench.builders.shared.builder import Builder, Point, data_file, parameter, plain
from scbench.graders.largest_printable_prime import MAX_DIGITS, pose, rests
from scbench.schemas.largest_printable_prime import Answer, Orientation, Params

_TRIES = 40
_LONG_SEARCHES = 10
"""Searches of one draw that may take too long; each is some two seconds."""
_STANDARD = (
    "abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg",
)  # fmt: skip
_TAILLESS = tuple(
    {6: "cdefg", 9: "abcfg"}.get(digit, shape) for digit, shape in enumerate(_STANDARD)
)
_SHORT_FACTOR = 0.9
_PAPER_LARGEST = "888999996969699696669666333377777711111171"


_SAMPLES: tuple[tuple[Tower, str], ...] = (
    ([(1, "flat"), (7, "rotate90Y")], "a 7 on its long side on a flat 1."),
    (
        [(3, "flat"), (3, "rotate90Y"), (1, "rotate90X")],
        "on a flat 3, another on its long side, and on one of its points an upright 1.",
    ),
)


class Space(Point):
    """Parameters of fresh rules."""

    group: int = parameter(3, "digits per group that may not repeat", ge=2, le=4)
    digits: int = parameter(7, "how many digits may be used; which is drawn", ge=4, le=10)
    forbidden: int = parameter(1, "how many of the six orientations may not be used", ge=0, le=4)
    font: Literal["standard", "tailless"] = parameter(
        "standard", "whether 6 and 9 have their outer bar"
    )
    min_height_mm: float = parameter(20.0, "least target height; more is harder", ge=0.0, le=150.0)
    max_height_mm: float = parameter(70.0, "largest target height", ge=0.0, le=150.0)
    max_digits: int | None = parameter(
        None, "most digits that the number may have, if limited", ge=4, le=200
    )

    @model_validator(mode="after")
    def _in_order(self) -> "Space":
        if self.min_height_mm > self.max_height_mm:
            raise ValueError("min_height_mm is above max_height_mm")
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Rules for towers of which the longest prime is known."""

    task = "largest_printable_prime"
    version = 2
    form = '{"numberSequence": [{"digit": digit, "orientation": "name"}, ...]}'
    extremes = ({"max_digits": 20},)

    def words(self, params: Params) -> dict[str, object]:
        """Return the digits, their orientations and the limits."""
        size = params.group
        up, down, ones, zeros = "1234"[:size], "4321"[-size:], "1" * size, "0" * size
        return {
            "shapes": "\n".join(f"{i}: {' '.join(s)}" for i, s in enumerate(params.segments)),
            "orientations": "\n".join(f"- {name}: {text}." for name, text in _meanings().items()),
            "allowed": _allowed(params),
            "group": size,
            "examples": f"So {up},{down},{up} is forbidden, while {up},{ones},{up[1:]}1 "
            f"and\n  {up},{zeros},{zeros[1:]}1,{up[1:]}0 are fine.",
            "short": "8" * (size - 1),
            "full": "8" * size,
            "limit": ""
            if params.max_digits is None
            else f"- It has at most {params.max_digits} digits.\n",
            "height": plain(params.target_height_mm),
            "best": params.best_digits,
            "factor": plain(params.short_factor),
            "most": MAX_DIGITS,
            "sample": _samples(params),
        }

    def reference(self, params: Params) -> Answer:
        """Search all towers, the longest first."""
        return Answer.model_validate(_sequence(_longest_prime(params).tower))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return towers with one fault each, and the holes of older graders."""
        number, tower, composite = _longest_prime(params)
        towers: dict[str, Tower | None] = {
            "nothing": [],
            "last_digit_left_out": tower[:-1],
            "first_digit_left_out": tower[1:],
            "zero_in_front": [(0, "flat"), *tower],
            "last_group_repeated": [*tower, *tower[-params.group :]],
            "eight_upright_below": [(8, "rotate90X"), *tower],
            "spire_of_upright_digits": [*tower, (7, "rotate90X"), (3, "rotate90Y")],
            "flat_one_on_upright_one": [*tower, (1, "rotate90X"), (1, "flat")],
            "composite": _tower(params, composite) if composite else None,
            "greedy": _tower(params, greedy_number(params)),
            "all_named_flat": _unless_it_stands(params, [(digit, "flat") for digit, _ in tower]),
            "all_on_their_side": _unless_it_stands(
                params, [(digit, "rotate90Y") for digit, _ in tower]
            ),
        }
        if params.best_digits > len(_PAPER_LARGEST):
            towers["largest_of_the_paper"] = _tower(params, _PAPER_LARGEST)
        low = lowest(params, number)
        if low is not None and low[1] <= round(10 * params.target_height_mm):
            towers["lying_down"] = low[0]
        answers: dict[str, JsonValue] = {
            name: _sequence(tower) for name, tower in towers.items() if tower is not None
        }
        items: list[JsonValue] = [_item(digit, name) for digit, name in tower]
        wrong: dict[str, list[JsonValue]] = {
            "plain_digits": [int(digit) for digit in number],
            "whole_number_as_one_digit": [_item(int(number), "flat")],
            "strings": [_item(str(digit), name) for digit, name in tower],
            "negative": [_item(-9, "flat"), *items[1:]],
            "fraction": [_item(8.5, "flat"), *items[1:]],
            "unknown_orientation": [_item(8, "upright"), *items[1:]],
            "without_orientation": [{"digit": digit} for digit, _ in tower],
        }
        if any(digit == 1 for digit, _ in tower):
            wrong["booleans"] = [_item(digit == 1 or digit, name) for digit, name in tower]
        answers |= {name: {"numberSequence": example} for name, example in wrong.items()}
        if "booleans" in answers:
            # Python holds True for equal to 1; the key, which is ignored, tells the two apart.
            answers["booleans"] = {"numberSequence": wrong["booleans"], "booleans": True}
        answers["no_list"] = {}
        answers["bare_list"] = items
        answers["bare_number"] = number
        answers["number_for_list"] = {"numberSequence": number}
        return answers

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the tower of the largest next group each time, cut back to a prime."""
        tower = _tower(params, greedy_number(params))
        return {"largest group each time": _sequence(tower)} if tower else {}

    def measure(self, params: Params) -> float:
        """Return how many digits the longest prime has, each of which is a choice."""
        return params.best_digits

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw digits, orientations and a height until a search shows the longest prime.

        Rules are thrown away if always taking the largest next group leads to a longest prime too.

        Raises:
            GenerationError: nothing in 40 draws.
            WorkSpentError: the same, or sooner, after searches that took too long.
        """
        long = 0
        for _ in range(_TRIES):
            digits = sorted(rng.sample(range(10), point.digits))
            forbidden = rng.sample(get_args(Orientation)[1:], point.forbidden)
            tenths = rng.between(round(10 * point.min_height_mm), round(10 * point.max_height_mm))
            params = Params(
                segments=_STANDARD if point.font == "standard" else _TAILLESS,
                digits=tuple(digits),
                orientations=tuple(o for o in get_args(Orientation) if o not in forbidden),
                group=point.group,
                max_digits=point.max_digits,
                target_height_mm=tenths / 10,
                short_factor=_SHORT_FACTOR,
                best_digits=1,
            )
            try:
                number = _longest_prime(params).number
            except WorkSpentError:
                long += 1
                if long == _LONG_SEARCHES:
                    break
                continue
            except GenerationError:
                continue
            if len(number) > max(len(greedy_number(params)), 2 * point.group):
                return params.model_copy(update={"best_digits": len(number)})
        failure = GenerationError if long < 3 else WorkSpentError
        raise failure(
            f"no rules of which the longest prime is known in at most {_TRIES} draws; ask for "
            "more digits, "
            "a lower tower, fewer forbidden orientations, or a limit to the digits"
        )


class _Longest(NamedTuple):
    """The longest prime, its tallest tower, and a composite number that looks as good, or none."""

    number: str
    tower: Tower
    composite: str


def _longest_prime(params: Params) -> _Longest:
    return _cached_search(params.model_copy(update={"best_digits": 1}))


@lru_cache(maxsize=64)
def _cached_search(params: Params) -> _Longest:
    result = longest_prime(params)
    composite = result.first if result.candidates > 1 else ""
    return _Longest(result.number, _tower(params, result.number) or [], composite)


def _tower(params: Params, number: str) -> Tower | None:
    result = tallest(params, number)
    return result[0] if result else None


def _unless_it_stands(params: Params, tower: Tower) -> Tower | None:
    """Return a tower with a digit that cannot be printed where it is; None if all can be."""
    poses = [pose(digit, name, params.segments[digit]) for digit, name in tower]
    for lower, upper in pairwise(poses):
        if lower is None or upper is None or not rests(upper, lower):
            return tower
    return None


def _meanings() -> Mapping[str, str]:
    return data_file(__package__, "orientations.json")  # type: ignore[no-any-return]


def _allowed(params: Params) -> str:
    """Return the paragraph on what may not be used; empty if everything may be."""
    parts: list[str] = []
    if len(params.digits) < 10:
        parts.append(f"Only these digits may be used: {', '.join(map(str, params.digits))}.")
    missing = [name for name in _meanings() if name not in params.orientations]
    if missing:
        parts.append(f"These orientations may not be used: {', '.join(missing)}.")
    return "\n".join(parts) + "\n\n" if parts else ""


def _samples(params: Params) -> str:
    """Return the example towers that these rules allow."""
    lines = [
        f"- {''.join(str(digit) for digit, _ in tower)}: {text}"
        for tower, text in _SAMPLES
        if all(d in params.digits and o in params.orientations for d, o in tower)
    ]
    return "\n".join(["Examples of towers:\n", *lines]) + "\n\n" if lines else ""


def _item(digit: JsonValue, orientation: str) -> dict[str, JsonValue]:
    return {"digit": digit, "orientation": orientation}


def _sequence(tower: Tower) -> dict[str, JsonValue]:
    return {"numberSequence": [_item(digit, name) for digit, name in tower]}
