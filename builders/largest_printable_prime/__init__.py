"""Largest printable prime: build a tower of digits, each printed on the one below, that is a prime.

An example of the puzzle: digits have the shapes of a pocket calculator, and no group of three
digits, counted from the end, occurs twice. What is the longest prime that can be printed, in a
tower of more than 50 mm? An answer begins, from the bottom, with

    {"digit": 8, "orientation": "flat"}, {"digit": 8, "orientation": "flat"}, ...
"""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal, get_args

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError, WorkSpentError
from scbench.base.seeding import Stream
from scbench.builders.largest_printable_prime.search import (
    WORK,
    SearchResult,
    greedy_number,
    longest_prime,
)
from scbench.builders.largest_printable_prime.towers import (
    Tower,
    TurnedDigit,
    tallest,
)
from scbench.builders.shared.builder import (
    Builder,
    Point,
    data_file,
    parameter,
    plain,
    under,
)
from scbench.builders.shared.paragraphs import wrapped
from scbench.graders.largest_printable_prime import MAX_DIGITS, pose, rests
from scbench.schemas.largest_printable_prime import Answer, Orientation, Params

# Maximum number of rules that one draw tries.
_TRIES = 40
# Maximum number of searches in one draw that may run out of work; each takes about two seconds.
_LONG_SEARCHES = 10
# If fewer than this ran out of work, work is not the reason for a failure.
_FEW_LONG = 3
# If towers have to be tall, most rules are rejected, so there are more tries but shorter searches.
_TALL_TRIES = 600
_TALL_WORK = 2_000
# Segments of the digits 0 to 9.
_STANDARD = (
    "abcdef",
    "bc",
    "abdeg",
    "abcdg",
    "bcfg",
    "acdfg",
    "acdefg",
    "abc",
    "abcdefg",
    "abcdfg",
)
_TAILLESS = (*_STANDARD[:6], "cdefg", *_STANDARD[7:9], "abcfg")
# Digits whose shapes can be exchanged; the rules for upright digits assume the shapes of 1, 3, 7.
_EXCHANGEABLE = (0, 2, 4, 5, 6, 8, 9)
# Factor of the score of a tower that is not tall enough, as in the paper.
_SHORT_FACTOR = 0.9
# The best answer that the paper reports; it has 42 digits.
_PAPER_LARGEST = "888999996969699696669666333377777711111171"
# Examples of towers that prompts show, with their descriptions.
_SAMPLES = {
    "a flat 1, and on it a 7 on its long side (rotate90Y).": [
        TurnedDigit(1, "flat"),
        TurnedDigit(7, "rotate90Y"),
    ],
    "a flat 3, on it a 3 on its long side (rotate90Y), and on that a 1 on its end (rotate90X).": [
        TurnedDigit(3, "flat"),
        TurnedDigit(3, "rotate90Y"),
        TurnedDigit(1, "rotate90X"),
    ],
}


class Space(Point):
    """Parameters of fresh rules."""

    group: int = parameter(
        3, "number of digits in a group; no group may occur twice", ge=2, le=4
    )
    digits: int = parameter(
        7, "number of permitted digits, drawn at random", ge=4, le=10
    )
    forbidden: int = parameter(
        1, "number of forbidden orientations, out of six", ge=0, le=4
    )
    font: Literal["standard", "tailless", "exchanged"] = parameter(
        "standard",
        "font of the digits; in tailless, 6 and 9 have no outer bar; in exchanged, the digits "
        "except 1, 3 and 7 exchange their shapes at random",
    )
    min_height_mm: float = parameter(
        20.0, "lowest target height; more is harder", ge=0.0, le=150.0
    )
    max_height_mm: float = parameter(70.0, "highest target height", ge=0.0, le=150.0)
    tall: bool = parameter(
        False,
        "whether to choose a target height that the tower of the largest prime misses and that "
        "of another prime of the same length reaches; otherwise, the height is drawn between the "
        "limits",
        later=True,
    )
    short_factor: float = parameter(
        _SHORT_FACTOR,
        "factor applied to the score of a tower that is not tall enough",
        ge=0,
        le=1,
        later=True,
    )
    max_digits: int | None = parameter(
        None, "maximum number of digits, if there is a limit", ge=4, le=200
    )
    fewer_digits: int = parameter(
        0,
        "largest amount by which max_digits is randomly lowered",
        ge=0,
        le=10,
        later=True,
    )
    min_digits: int = parameter(
        1, "minimum number of digits of the longest prime", ge=1, le=200, later=True
    )
    greedy: float = parameter(
        1.0,
        "maximum length of a greedily built prime, as a share of the longest prime's length",
        gt=0,
        le=1,
    )

    @model_validator(mode="after")
    def _in_order(self) -> "Space":
        if self.min_height_mm > self.max_height_mm:
            raise ValueError("min_height_mm is above max_height_mm")
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Rules for towers whose longest prime is known."""

    task = "largest_printable_prime"
    version = 5
    draws = 5
    form = '{"numberSequence": [{"digit": digit, "orientation": "name"}, ...]}'
    extremes = ({"max_digits": 20},)

    def words(self, params: Params) -> dict[str, object]:
        """Return the digits, their orientations and the limits."""
        size = params.group
        up = "1234"[:size]
        down = "4321"[-size:]
        ones = "1" * size
        zeros = "0" * size
        shapes = [f"{i}: {' '.join(params.segments[i])}" for i in params.digits]
        is_exchanged = params.segments not in {_STANDARD, _TAILLESS}
        only_digits = ""
        if len(params.digits) < len(params.segments):
            only_digits = " You may use only\nthese digits:"
        exchanged = ""
        if is_exchanged:
            exchanged = "\nSome digits have the usual shape of another digit.\n"
        only_orientations = ""
        if len(params.orientations) < len(get_args(Orientation)):
            only_orientations = "You may use only these orientations:\n\n"
        texts = data_file(__package__, "orientations.json")
        orientations = []
        for name in params.orientations:
            # The examples compare digits of the usual shapes.
            example = "" if is_exchanged else texts[name].get("example", "")
            text = texts[name]["full"].format(example=example)
            orientations.append(wrapped(f"- {name}: {text}.", "  "))
        turns = [f"- {name}: {text['terse']}." for name, text in texts.items()]
        return {
            "shapes": "\n".join(shapes),
            "only_digits": only_digits,
            "exchanged": exchanged,
            "only_orientations": only_orientations,
            "orientations": "\n".join(orientations),
            "turns": "\n".join(turns),
            "group": size,
            "forbidden": f"{up},{down},{up}",
            "allowed": f"{up},{ones},{up[1:]}1",
            "allowed_zeros": f"{up},{zeros},{zeros[1:]}1,{up[1:]}0",
            "short": "8" * (size - 1),
            "full": "8" * size,
            "most": min(params.max_digits or MAX_DIGITS, MAX_DIGITS),
            "height": plain(params.target_height_mm),
            "best": params.best_digits,
            "factor": plain(params.short_factor),
            "sample": samples(params),
        }

    def reference(self, params: Params) -> Answer:
        """Search all towers, longest first."""
        entries = as_entries(solve(params).tower)
        return Answer.model_validate({"numberSequence": entries})

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return towers with one error each, and answers that older graders accepted."""
        number, tower, _ = solve(params)
        wrong: dict[str, Any] = {}
        for name, faulty in faulty_towers(params).items():
            if faulty is not None:
                wrong[name] = as_entries(faulty)
        entries = as_entries(tower)
        tail = entries[1:]
        wrong |= {
            "plain_digits": [int(digit) for digit in number],
            "whole_number_as_one_digit": [entry(int(number), "flat")],
            "strings": [entry(str(digit), name) for digit, name in tower],
            "negative": [entry(-9, "flat"), *tail],
            "fraction": [entry(8.5, "flat"), *tail],
            "unknown_orientation": [entry(8, "upright"), *tail],
            "without_orientation": [{"digit": digit} for digit, _ in tower],
        }
        answers = under("numberSequence", wrong)
        if any(digit == 1 for digit, _ in tower):
            truths: list[JsonValue] = []
            for digit, name in tower:
                truths.append(entry(True, name) if digit == 1 else entry(digit, name))
            # In Python, True equals 1; the extra key, which graders ignore, makes a difference.
            answers["booleans"] = {"numberSequence": truths, "booleans": True}
        answers["no_list"] = {}
        answers["bare_list"] = entries
        answers["bare_number"] = number
        answers["number_for_list"] = {"numberSequence": number}
        return answers

    def honest_faults(self, params: Params) -> Mapping[str, tuple[JsonValue, float]]:
        """Return shorter primes, and the longest prime in its lowest tower."""
        number = solve(params).number
        towers: dict[str, Tower | None] = {
            "greedy": tallest_tower(params, greedy_number(params))
        }
        low = tallest(params, number, -1)
        if low is not None:
            towers["lowest_tower"] = low.tower
        if params.best_digits > len(_PAPER_LARGEST):
            towers["largest_of_the_paper"] = tallest_tower(params, _PAPER_LARGEST)
        faults: dict[str, tuple[JsonValue, float]] = {}
        for name, tower in towers.items():
            if tower:
                height = sum(height_of(digit, turn) for digit, turn in tower)
                is_tall = round(height, 6) > params.target_height_mm
                score = min(1.0, len(tower) / params.best_digits)
                if not is_tall:
                    score *= params.short_factor
                faults[name] = ({"numberSequence": as_entries(tower)}, score)
        return faults

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the tower that always adds the largest possible group, cut back to a prime."""
        tower = tallest_tower(params, greedy_number(params))
        if not tower:
            return {}
        return under("numberSequence", {"largest group each time": as_entries(tower)})

    def measure(self, params: Params) -> float:
        """Return the number of digits of the longest prime, because each digit is a choice."""
        return params.best_digits

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw digits, orientations and a height until a search proves the longest prime.

        Rules are discarded if always adding the largest possible group gives a prime as long.

        Raises:
            GenerationError: no rules were found in 40 draws, or 600 if towers must be tall.
            WorkSpentError: no rules were found, and several searches took too long.
        """
        long_searches = 0
        tries = _TALL_TRIES if point.tall else _TRIES
        for _ in range(tries):
            params = draw_rules(point, rng)
            try:
                if point.tall:
                    params = raised(params, rng)
                n = len(solve(params).number)
            except WorkSpentError:
                long_searches += 1
                if long_searches == _LONG_SEARCHES and not point.tall:
                    break
                continue
            except GenerationError:
                continue
            if n < point.min_digits:
                continue
            greedy = len(greedy_number(params))
            # With one or two groups, there is little choice.
            if greedy >= n or greedy > point.greedy * n or n <= 2 * point.group:
                continue
            if point.font == "exchanged" and 2 * own_length(params) > n:
                continue
            if not point.tall or reads_orientations(params):
                return params.model_copy(update={"best_digits": n})
        # After several long searches, the error names work as the reason.
        failure = GenerationError if long_searches < _FEW_LONG else WorkSpentError
        raise failure(
            f"{tries} draws gave no rules whose longest prime is known; ask for more digits, a "
            "lower tower, fewer forbidden orientations, or a limit on the digits"
        )


def draw_rules(point: Space, rng: Stream) -> Params:
    """Draw rules, with a placeholder for the number of digits that scores 1."""
    digits = sorted(rng.sample(range(10), point.digits))
    orientations: tuple[Orientation, ...] = get_args(Orientation)
    # All orientations except the first, flat, may be forbidden.
    forbidden = rng.sample(orientations[1:], point.forbidden)
    tenths = rng.between(
        round(10 * point.min_height_mm), round(10 * point.max_height_mm)
    )
    most = point.max_digits
    if most is not None and point.fewer_digits:
        most -= rng.below(point.fewer_digits + 1)
    segments: tuple[str, ...]
    match point.font:
        case "standard":
            segments = _STANDARD
        case "tailless":
            segments = _TAILLESS
        case "exchanged":
            segments = exchanged_shapes(rng)
    return Params(
        segments=segments,
        digits=tuple(digits),
        orientations=tuple(name for name in orientations if name not in forbidden),
        group=point.group,
        max_digits=most,
        target_height_mm=tenths / 10,
        short_factor=point.short_factor,
        best_digits=1,
    )


def exchanged_shapes(rng: Stream) -> tuple[str, ...]:
    """Return the segments of the digits in a font where most have the shape of another digit."""
    segments = [*_STANDARD]
    givers = rng.sample(_EXCHANGEABLE, len(_EXCHANGEABLE))
    for digit, giver in zip(_EXCHANGEABLE, givers, strict=True):
        segments[digit] = _STANDARD[giver]
    return tuple(segments)


def raised(params: Params, rng: Stream) -> Params:
    """Draw a target height that some longest prime reaches, but not the first one found.

    Raises:
        GenerationError: the height would not matter, or `longest_prime` raises it.
    """
    lengths: list[int] = []
    heights = [0]
    # The second number is the largest of those whose tower is taller than that of the first.
    for _ in range(2):
        low = params.model_copy(update={"target_height_mm": heights[-1] / 10})
        number = solve(low, _TALL_WORK).number
        standing = tallest(params, number)
        lengths.append(len(number))
        heights.append(standing.height if standing else 0)
    _, first, second = heights
    if lengths[1] < lengths[0] or second <= first:
        raise GenerationError(
            "no other prime of the greatest length has a taller tower"
        )
    # Shorter primes rarely reach the highest quarter of the range.
    quarter = math.ceil((second - first) / 4)
    tenths = second - 1 - rng.below(quarter)
    return params.model_copy(update={"target_height_mm": tenths / 10})


def reads_orientations(params: Params) -> bool:
    """Return whether the best tower with all orientations allowed breaks these rules."""
    if len(params.orientations) == len(get_args(Orientation)):
        return True
    every = params.model_copy(update={"orientations": get_args(Orientation)})
    try:
        tower = solve(every, _TALL_WORK).tower
    except GenerationError:
        return True
    return any(turn not in params.orientations for _, turn in tower)


def own_length(params: Params) -> int:
    """Return the length of the longest prime of digits whose shapes are never exchanged."""
    digits = tuple(digit for digit in params.digits if digit not in _EXCHANGEABLE)
    try:
        return len(solve(params.model_copy(update={"digits": digits})).number)
    except GenerationError:
        return 0


def solve(params: Params, work: int = WORK) -> SearchResult:
    """Return the longest prime; the search ignores the number of digits that scores 1."""
    return longest_prime(params.model_copy(update={"best_digits": 1}), work)


def tallest_tower(params: Params, number: str) -> Tower | None:
    """Return the digits in the poses of the tallest tower, if there is one."""
    standing = tallest(params, number)
    return standing.tower if standing else None


def samples(params: Params) -> str:
    """Return the example towers that these rules allow."""
    lines = []
    for text, tower in _SAMPLES.items():
        digits = {digit for digit, _ in tower}
        orientations = {name for _, name in tower}
        if digits <= {*params.digits} and orientations <= {*params.orientations}:
            number = "".join(str(digit) for digit, _ in tower)
            lines.append(f"- {number}: {text}")
    return "\n".join(["Examples:\n", *lines]) + "\n\n" if lines else ""


def entry(digit: JsonValue, orientation: str) -> dict[str, JsonValue]:
    """Return a digit of an answer."""
    return {"digit": digit, "orientation": orientation}


def height_of(digit: int, orientation: Orientation) -> float:
    """Return the height in millimetres that a digit adds to a tower, as the prompt prints it."""
    on_long_side = {(3, "rotate90X"), (3, "rotate90Y"), (7, "rotate90Y")}
    on_end = {(1, "rotate90X"), (7, "rotate90X")}
    if (digit, orientation) in on_long_side:
        return 11.2
    return 21.2 if (digit, orientation) in on_end else 1.2


def as_entries(tower: Tower) -> list[JsonValue]:
    """Return the digits of a tower in the form of an answer."""
    return [entry(digit, name) for digit, name in tower]


def faulty_towers(params: Params) -> dict[str, Tower | None]:
    """Return named towers with one error each; None for those that the rules do not allow."""
    number, tower, composite = solve(params)
    towers: dict[str, Tower | None] = {
        "nothing": [],
        "last_digit_left_out": tower[:-1],
        "first_digit_left_out": tower[1:],
        "zero_in_front": [TurnedDigit(0, "flat"), *tower],
        "last_group_repeated": [*tower, *tower[-params.group :]],
        "eight_upright_below": [TurnedDigit(8, "rotate90X"), *tower],
        "spire_of_upright_digits": [
            *tower,
            TurnedDigit(7, "rotate90X"),
            TurnedDigit(3, "rotate90Y"),
        ],
        "flat_one_on_upright_one": [
            *tower,
            TurnedDigit(1, "rotate90X"),
            TurnedDigit(1, "flat"),
        ],
        "composite": tallest_tower(params, composite),
        "greedy": tallest_tower(params, greedy_number(params)),
        "all_named_flat": all_turned(params, tower, "flat"),
        "all_on_their_side": all_turned(params, tower, "rotate90Y"),
    }
    if params.best_digits > len(_PAPER_LARGEST):
        towers["largest_of_the_paper"] = tallest_tower(params, _PAPER_LARGEST)
    low = tallest(params, number, -1)
    if low is not None and low.height <= round(10 * params.target_height_mm):
        towers["lying_down"] = low.tower
    return towers


def all_turned(params: Params, tower: Tower, name: Orientation) -> Tower | None:
    """Return a tower with all digits in this orientation; None if every digit can be printed."""
    turned = [TurnedDigit(digit, name) for digit, _ in tower]
    poses = [pose(digit, name, params.segments[digit]) for digit, _ in tower]
    for lower, upper in pairwise(poses):
        if lower is None or upper is None or not rests(upper, lower):
            return turned
    return None
