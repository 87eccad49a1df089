"""Do these joints make one closed loop of 1 m pipes in the square that keeps every constraint?

Any loop that does is right. Contact between pipes is decided exactly on the doubles given; every
other measure is compared with its limit with a slack of `SLACK`. Positions in messages and details
are those of the answer's list; pipe i leads from joint i to the next one.
"""

from collections.abc import Sequence

import numpy as np

from scbench.base.model import Verdict
from scbench.graders.pipe_loop_fitting.contacts import Pair, contacts
from scbench.graders.pipe_loop_fitting.loop_constraints import (
    CONSTRAINT_CHECKS,
    JUDGES,
    MAX_ENTRIES,
    SLACK,
    Loop,
    judge_joints,
    measure,
)
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.pipe_loop_fitting import Answer, Params

VERSION = 1
# Largest cosine of an interior angle.
HAIRPIN = 0.99
# Joints that agree when rounded to so many decimals are the same.
DECIMALS = 6

CHECKS = {
    "count": "Exactly the asked-for number of joints is listed.",
    "inside": "Every joint lies in the square.",
    "length": "Every pipe has the right length.",
    "repeats": "No two joints are the same.",
    "crossings": "The loop crosses itself exactly as often as asked.",
    "touches": "No two pipes touch without crossing, neighbours apart.",
    "hairpins": "No pipe folds back on the one before.",
    **CONSTRAINT_CHECKS,
}

# Checks of a loop that can be measured, before those of the instance's constraints.
_PIPES = ("length", "repeats", "crossings", "touches", "hairpins")


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the joints make a loop that keeps all rules, else 0."""
    checks = Checklist(CHECKS)
    n, side = len(answer.points), params.side
    if n > 2 * params.pipes + 16:
        return checks.too_large(
            f"{n} joints are listed where {params.pipes} are asked for."
        )
    wrong = f"{n} joints are listed; {params.pipes} pipes have {params.pipes}."
    checks.expect("count", n == params.pipes, wrong, listed=n, wanted=params.pipes)
    points = [(point.x, point.y) for point in answer.points]
    low, high = -SLACK, side + SLACK
    outside = [
        i
        for i, (x, y) in enumerate(points)
        if not (low <= min(x, y) <= max(x, y) <= high)
    ]
    fault = f"of {n} joints lie outside the square of side {side} m"
    checks.forbid_many("inside", outside, fault, lambda i: f"is joint {i}")
    why = ""
    if n < 3:
        why = "Fewer than three joints are listed."
    elif any(max(abs(x), abs(y)) > 10 * side + 10 for x, y in points):
        # Coordinates without a bound would overflow.
        why = "Joints far outside the square are not measured."
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
        lambda i: f"Pipe {i} folds back on the pipe before it at joint {i}.",
    )
    for constraint in params.constraints:
        JUDGES[constraint.type](checks, side, constraint, loop)
    return checks.binary(
        shortest=round(float(loop.length.min()), 6),
        longest=round(float(loop.length.max()), 6),
    )


def judge_lengths(checks: Checklist, params: Params, loop: Loop) -> None:
    """Check that every pipe is 1 m long, within the tolerance."""
    tolerance = params.length_tolerance + SLACK
    checks.forbid_many(
        "length",
        np.nonzero(np.abs(loop.length - 1.0) > tolerance)[0].tolist(),
        f"of {len(loop.length)} pipes are not 1 m long within {params.length_tolerance:g} m",
        lambda i: f"is pipe {i}, from joint {i}, with {loop.length[i]:.4f} m",
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
        lambda pair: (
            f"Joints {pair[0]} and {pair[1]} are the same; {len(again)} joints repeat."
        ),
    )


def judge_contacts(checks: Checklist, params: Params, loop: Loop) -> None:
    """Check how often the loop crosses itself, and that nothing else of it meets."""
    crossings, touches = contacts(loop.points)
    checks.expect(
        "crossings",
        len(crossings) == params.crossings,
        f"The loop crosses itself {len(crossings)} times instead of {params.crossings}.",
        count=len(crossings),
        wanted=params.crossings,
        pipes=crossings[:MAX_ENTRIES],
    )
    checks.forbid_many(
        "touches",
        touches,
        "pairs of pipes touch",
        lambda pair: f"are pipes {pair[0]} and {pair[1]}",
    )
