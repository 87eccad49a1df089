"""Grades a tower of digits: whether it can be printed, whether it is a prime, and its length.

Every digit is graded in the orientation given in the answer; a 3 on its long side has
two names. The score compares the number of digits with that of the longest known number.
Heights are in tenths of a millimetre; positions count from 0 at the bottom.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise

import gmpy2

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.largest_printable_prime.poses import Pose, Stand
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.largest_printable_prime import (
    Answer,
    Orientation,
    Params,
    PrintedDigit,
)

VERSION = 1

CHECKS = {
    "not_empty": "The tower has at least one digit.",
    "allowed": "The item permits every digit of the tower and its orientation.",
    "leading_zero": "The number does not begin with 0.",
    "max_digits": "The number has no more digits than allowed.",
    "groups": "No two groups of digits are equal.",
    "printable": "Every digit can be printed in its orientation.",
    "prime": "The number is a prime.",
    "stack": "Every digit can be printed on the one below it.",
    "height": "The tower is taller than the target height.",
    "length": "The number is as long as the longest known one.",
}

# Far more than any tower can have; longer numbers are not tested for primality.
MAX_DIGITS = 1000
_LETTERS = "abcdefg"
# Ends of each of the segments a to g.
_TURNS: Mapping[str, str] = {
    "flat": "abcdefg",
    "flippedX": "afedcbg",
    "flippedY": "dcbafeg",
    "rotate180Z": "defabcg",
}
# Height that each pose adds to the tower, including the air above, in tenths of a
# millimetre.
HEIGHTS: Mapping[Stand, int] = {
    Stand.FLAT: 12,
    Stand.ON_SIDE: 112,
    Stand.ON_HEAD: 212,
    Stand.ON_END: 212,
}
# Digits that can be printed upright. A 3 has one upright pose, known by both names.
_UPRIGHT: Mapping[tuple[int, str], Stand] = {
    (1, "rotate90X"): Stand.ON_END,
    (7, "rotate90X"): Stand.ON_HEAD,
    (7, "rotate90Y"): Stand.ON_SIDE,
    (3, "rotate90X"): Stand.ON_SIDE,
    (3, "rotate90Y"): Stand.ON_SIDE,
}


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the share of the best length, reduced if the tower is short; 0 if a rule is broken."""
    checks = Checklist(CHECKS)
    items = answer.numberSequence
    count = len(items)
    if count > MAX_DIGITS:
        return checks.too_large(
            f"The number has {count:,} digits; at most {MAX_DIGITS:,} are graded."
        )
    checks.expect("not_empty", count > 0, "The list of digits is empty.")
    banned = []
    for i, item in enumerate(items):
        is_allowed = item.orientation in params.orientations
        if item.digit not in params.digits or not is_allowed:
            banned.append(i)
    checks.forbid_many(
        "allowed",
        banned,
        "digits are not permitted, or not in their orientation",
        lambda i: f"is the {digit_at(items, i)}",
        one="digit is not permitted, or not in its orientation",
    )
    number = "".join(str(item.digit) for item in items)
    judge_number(checks, params, number)
    tenths = judge_tower(checks, params, items)
    legal = checks.all_passed
    if tenths is None:
        checks.skip("height", "Not every digit can be printed.")
    else:
        wrong = (
            f"The tower is {tenths / 10:g} mm tall; it must be taller than "
            f"{params.target_height_mm:g} mm."
        )
        checks.expect("height", tenths > round(10 * params.target_height_mm), wrong)
    factor = 1.0 if checks.all_passed else params.short_factor
    wrong = f"The number has {counted(count, 'digit')}; the longest known one has "
    wrong += f"{params.best_digits}."
    checks.expect("length", count >= params.best_digits, wrong)
    score = min(1.0, count / params.best_digits) * factor
    return checks.partial(
        score if legal else 0.0,
        number=number,
        digits=count,
        height_mm=None if tenths is None else tenths / 10,
    )


def judge_number(checks: Checklist, params: Params, number: str) -> None:
    """Check the number independently of the tower."""
    checks.expect(
        "leading_zero", not number.startswith("0"), "The number begins with 0."
    )
    if params.max_digits is not None:
        wrong = f"The number has {counted(len(number), 'digit')}; the limit is {params.max_digits}."
        checks.expect("max_digits", len(number) <= params.max_digits, wrong)
    counts = Counter(groups(number, params.group))
    repeated = sorted(group for group, times in counts.items() if times > 1)
    checks.forbid_many(
        "groups",
        repeated,
        f"groups of {params.group} digits occur more than once",
        lambda group: f"is {group} ({counts[group]} times)",
        one=f"group of {params.group} digits occurs more than once",
    )
    if number:
        checks.expect("prime", is_prime(number), "The number is not a prime.")
    else:
        checks.skip("prime", "There is no number.")


def judge_tower(
    checks: Checklist, params: Params, items: Sequence[PrintedDigit]
) -> int | None:
    """Check how digits are printed; return the height in tenths of a mm, None if one cannot."""
    poses = []
    for item in items:
        segments = params.segments[item.digit]
        poses.append(pose(item.digit, item.orientation, segments))
    unprintable = [i for i, printed in enumerate(poses) if printed is None]
    checks.forbid_many(
        "printable",
        unprintable,
        "digits cannot be printed in their orientation",
        lambda i: f"is the {digit_at(items, i)}",
        one="digit cannot be printed in its orientation",
    )
    unsupported = []
    for i, (lower, upper) in enumerate(pairwise(poses), start=1):
        if lower is None or upper is None:
            continue
        if not rests(upper, lower):
            unsupported.append(i)
    checks.forbid_many(
        "stack",
        unsupported,
        "digits cannot be printed on the one below",
        lambda i: (
            f"is the {digit_at(items, i)}, on a {items[i - 1].digit} ({items[i - 1].orientation})"
        ),
        one="digit cannot be printed on the one below",
    )
    if unprintable:
        return None
    return sum(HEIGHTS[printed.stand] for printed in poses if printed is not None)


def digit_at(items: Sequence[PrintedDigit], i: int) -> str:
    """Return a description of the digit at a position."""
    return f"{items[i].digit} ({items[i].orientation}) at position {i}"


@cache
def pose(digit: int, orientation: Orientation, segments: str) -> Pose | None:
    """Return the pose of a digit; None if it cannot be printed.

    ``segments`` are the digit's segments before turning, as letters.
    """
    if orientation in _TURNS:
        goes = dict(zip(_LETTERS, _TURNS[orientation], strict=True))
        return Pose(Stand.FLAT, frozenset(goes[segment] for segment in segments))
    # A 1 turned like this is the same bar as a flat one.
    if (digit, orientation) == (1, "rotate90Y"):
        return Pose(Stand.FLAT, frozenset(segments))
    stand = _UPRIGHT.get((digit, orientation))
    return None if stand is None else Pose(stand)


def rests(upper: Pose, lower: Pose) -> bool:
    """Whether a digit can be printed on another."""
    if lower.stand is not Stand.FLAT:
        return upper.stand is Stand.ON_END
    match upper.stand:
        case Stand.FLAT:
            # Every bar needs a bar below it.
            return upper.segments <= lower.segments
        case Stand.ON_SIDE:
            return {"b", "c"} <= lower.segments or {"e", "f"} <= lower.segments
        case Stand.ON_HEAD:
            return not lower.segments.isdisjoint("adg")
        case _:
            return True


def groups(number: str, length: int) -> list[str]:
    """Split a number into groups from its end; the first one may be shorter."""
    first = len(number) % length
    full_groups = [number[i : i + length] for i in range(first, len(number), length)]
    if first:
        return [number[:first], *full_groups]
    return full_groups


@lru_cache(maxsize=1024)
def is_prime(number: str) -> bool:
    """Whether a number is a prime, by the test of Baillie, Pomerance, Selfridge and Wagstaff.

    No known composite number passes it, and no composite number below 2**64 does.
    """
    value = gmpy2.mpz(number)
    return value > 1 and bool(gmpy2.is_strong_bpsw_prp(value))
