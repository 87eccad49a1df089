"""Checks whether joints form a closed loop of 1 m pipes that meets every constraint.

Any such loop is right. Contact between pipes is decided exactly on the given doubles;
every other limit has a tolerance of `SLACK`. Positions in messages and details refer to
the answer's list, counted from 0; pipe i leads from joint i to the next one.
"""

from collections.abc import Sequence

import numpy as np

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.pipe_loop_fitting.contacts import Pair, contacts
from scbench.graders.pipe_loop_fitting.loop_constraints import (
    CONSTRAINT_CHECKS,
    MAX_ENTRIES,
    SLACK,
    Loop,
    judge_constraint,
    judge_joints,
    measure,
)
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.sentences import with_total
from scbench.schemas.pipe_loop_fitting import Answer, Params

VERSION = 2
# Largest cosine of an interior angle.
HAIRPIN = 0.99
# Joints that agree when rounded to this many decimals are the same.
DECIMALS = 6

CHECKS = {
    "count": "The list has the required number of joints.",
    "inside": "Every joint lies in the room.",
    "length": "Every pipe is 1 m long, within the tolerance.",
    "repeats": "No two joints are the same.",
    "crossings": "The loop has the required number of crossings.",
    "touches": "No two pipes touch unless they cross or are neighbours.",
    "hairpins": "The loop does not fold back on itself at any joint.",
    **CONSTRAINT_CHECKS,
}

# Checks of a loop that can be measured, before those of the instance's constraints.
_PIPES = ("length", "repeats", "crossings", "touches", "hairpins")


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the joints form a loop that follows all rules, else 0."""
    checks = Checklist(CHECKS)
    n = len(answer.points)
    side = params.side
    if n > 2 * params.pipes + 16:
        return checks.too_large(
            f"The answer lists {n} joints for {params.pipes} pipes."
        )
    wrong = f"The answer lists {counted(n, 'joint')} for {params.pipes} pipes."
    checks.expect("count", n == params.pipes, wrong, listed=n, wanted=params.pipes)
    points = [(point.x, point.y) for point in answer.points]
    low = -SLACK
    high = side + SLACK
    outside = []
    for i, (x, y) in enumerate(points):
        is_inside = low <= min(x, y) <= max(x, y) <= high
        if not is_inside:
            outside.append(i)
    checks.forbid(
        "inside",
        outside,
        lambda i: with_total(
            f"Joint {i}, at ({points[i][0]:g}, {points[i][1]:g}), lies outside the room, whose "
            f"side is {side} m",
            len(outside),
            "joints",
        ),
    )
    why = ""
    if n < 3:
        why = "The answer has fewer than three joints."
    elif any(max(abs(x), abs(y)) > 10 * side + 10 for x, y in points):
        # Unbounded coordinates would overflow.
        why = "The loop is not measured: a joint lies too far outside the room."
    if why:
        checks.skip(_PIPES, why)
        checks.skip((constraint.type for constraint in params.constraints), why)
        return checks.binary()
    loop = measure(points)
    judge_lengths(checks, params, loop)
    judge_repeats(checks, points)
    judge_contacts(checks, params, loop)
    judge_joints(
        checks,
        "hairpins",
        loop,
        loop.cosines > HAIRPIN + SLACK,
        lambda i: f"At joint {i}, pipe {i} folds back on the pipe before it.",
    )
    for constraint in params.constraints:
        judge_constraint(checks, side, constraint, loop)
    return checks.binary(
        shortest=round(float(loop.length.min()), 6),
        longest=round(float(loop.length.max()), 6),
    )


def judge_lengths(checks: Checklist, params: Params, loop: Loop) -> None:
    """Check that every pipe is 1 m long, within the tolerance."""
    tolerance = params.length_tolerance + SLACK
    offenders = np.nonzero(np.abs(loop.length - 1.0) > tolerance)[0].tolist()
    checks.forbid(
        "length",
        offenders,
        lambda i: with_total(
            f"Pipe {i}, from joint {i}, is {loop.length[i]:.4f} m long instead of 1 m, give or "
            f"take {params.length_tolerance:g} m",
            len(offenders),
            "pipes",
        ),
    )


def judge_repeats(checks: Checklist, points: Sequence[tuple[float, float]]) -> None:
    """Check that no two joints are the same."""
    first_at: dict[tuple[float, float], int] = {}
    again: list[Pair] = []
    for i, (x, y) in enumerate(points):
        first = first_at.setdefault((round(x, DECIMALS), round(y, DECIMALS)), i)
        if first != i:
            again.append((first, i))
    checks.forbid(
        "repeats",
        again,
        lambda pair: with_total(
            f"Joint {pair[1]} repeats joint {pair[0]}", len(again), "joints"
        ),
    )


def judge_contacts(checks: Checklist, params: Params, loop: Loop) -> None:
    """Check the number of crossings, and that no other pipes touch."""
    crossings, touches = contacts(loop.points)
    checks.expect(
        "crossings",
        len(crossings) == params.crossings,
        f"The loop has {counted(len(crossings), 'crossing')} instead of {params.crossings}.",
        count=len(crossings),
        wanted=params.crossings,
        pipes=crossings[:MAX_ENTRIES],
    )
    checks.forbid(
        "touches",
        touches,
        lambda pair: with_total(
            f"Pipes {pair[0]} and {pair[1]} touch without crossing",
            len(touches),
            "pairs",
        ),
    )
