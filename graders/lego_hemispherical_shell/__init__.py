"""Grades bricks by whether they can be built and how well they fill the target.

Every brick is moved exactly to its layer first. Plans are compared as polygons, and studs in the
frame of the brick listed first. Support is passed on along any chain of joints. Volumes
are compared with the ideal body, integrated along z. Indices count from 0 in the
answer's list.
"""

from typing import Any

import numpy as np

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.lego_hemispherical_shell.bricks import (
    CONTACT_GAP,
    HALF,
    HEIGHT,
    VOLUME,
    Bricks,
    Indices,
    Pairs,
    Stance,
    close_pairs,
    groups,
    joints,
    misfits,
    stances,
)
from scbench.graders.lego_hemispherical_shell.target import (
    Body,
    Boxes,
    body,
    boxes_off_target,
    shared_volumes,
)
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.lego_hemispherical_shell import Answer, Params

VERSION = 3

CHECKS = {
    "not_empty": "There is at least one brick.",
    "layers": "Every brick is in a layer: its z is within 0.96 mm of 4.8, 14.4, 24 and so on, and "
    "not below 4.7.",
    "hollow": "No brick is completely in the hollow of the target.",
    "outside": "No brick is completely outside the target.",
    "duplicates": "No brick is listed twice.",
    "overlap": "No two bricks overlap.",
    "studs": "Bricks that are joined, directly or through others, are on one grid of studs.",
    "support": "Every brick is joined to the lowest layer, directly or through others.",
    "balance": "Every group of joined bricks has its centre of gravity over its lowest layer.",
    "volume": "The bricks agree with the target well enough for a score of 1.",
}

# Answers with more bricks are not graded: time grows with their number.
MAX_BRICKS = 20_000
# Maximum number of neighbours per brick; without overlaps there are fewer, about 37 in a solid
# block.
PAIRS_PER_BRICK = 60
# Additional pairs that may be compared for any number of bricks.
PAIRS_FREE = 10_000
# Maximum distance of a centre of gravity outside its support, in millimetres.
TIP_SLACK = 0.001
# Weight of the volume that is only in the bricks or only in the target.
DIFFERENCE_WEIGHT = 0.5
# Bricks farther out are outside every target and are not compared with others.
_ARENA = 10_000.0
_OFF_GRID = ("pair of joined bricks is", "pairs of joined bricks are")
# Maximum length of a list in the metrics.
_MAX_ENTRIES = 1000
_MAX_GROUPS = 50


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the agreement of the volumes over the instance's divisor; 0 if a rule is broken."""
    checks = Checklist(CHECKS)
    count = len(answer.bricks)
    if count > MAX_BRICKS:
        return checks.too_large(
            f"The list has {count:,} bricks; at most {MAX_BRICKS:,} are graded."
        )
    listed = Bricks.of(
        [(*brick.Centroid, brick.RotationDegrees) for brick in answer.bricks]
    )
    checks.expect("not_empty", count > 0, "The list of bricks is empty.")
    judge_layers(checks, listed)
    # Otherwise a z rounded to whole millimetres would make bricks of two layers overlap.
    bricks = listed.in_layers()
    target = body(params)
    boxes = as_boxes(bricks, params.centre_mm)
    judge_places(checks, target, boxes)
    names = judge_repeats(checks, bricks)
    faults = judge_structure(checks, bricks.take(names), names)
    legal = checks.all_passed
    # The volume is measured even if the structure is not legal, for the metrics.
    agreement, figures = volume_agreement(target, boxes)
    score = min(max(round(agreement / params.full_marks, 9), 0.0), 1.0)
    if faults["overlapping"] != [] or len(names) < count:
        checks.skip("volume", "Some bricks overlap, so their volumes do not add up.")
    else:
        wrong = (
            f"The bricks fill {figures['filled']:.2%} of the target; bricks outside it amount to "
            f"{figures['spill']:.2%} of its volume. The agreement is {agreement:.4f}; a score of 1 "
            f"requires {params.full_marks:g}."
        )
        checks.expect("volume", score == 1, wrong)
    return checks.partial(score if legal else 0.0, bricks=count, **figures, **faults)


def as_boxes(bricks: Bricks, centre: tuple[float, ...]) -> Boxes:
    """Return bricks as boxes, each with the place of the target's axis as seen from the brick."""
    # Coordinates may be anything; far bricks stay far away.
    x = np.clip(bricks.x, -_ARENA, _ARENA) - centre[0]
    y = np.clip(bricks.y, -_ARENA, _ARENA) - centre[1]
    z = np.clip(bricks.z, -_ARENA, _ARENA)
    along = np.abs(bricks.cos * x + bricks.sin * y)
    across = np.abs(bricks.cos * y - bricks.sin * x)
    return Boxes(along, across, z - HEIGHT / 2, z + HEIGHT / 2, HALF)


def judge_layers(checks: Checklist, bricks: Bricks) -> None:
    """Check that every brick is in a layer."""
    checks.forbid_many(
        "layers",
        np.flatnonzero(bricks.off_layer()).tolist(),
        "bricks are in no layer",
        lambda i: f"is brick {i}, at z = {bricks.z[i]:g}",
        one="brick is in no layer",
    )


def judge_places(checks: Checklist, target: Body, boxes: Boxes) -> None:
    """Check that every brick is at least partly in the target."""
    hollow, outside = boxes_off_target(target, boxes)
    for check_id, mask, place in (
        ("hollow", hollow, "in the hollow"),
        ("outside", outside, "outside the target"),
    ):
        checks.forbid_many(
            check_id,
            np.flatnonzero(mask).tolist(),
            f"bricks are completely {place}",
            lambda i: f"is brick {i}",
            one=f"brick is completely {place}",
        )


def judge_repeats(checks: Checklist, bricks: Bricks) -> Indices:
    """Check for repeated bricks; return the first of each, except far ones."""
    far = np.max(np.abs(np.stack(bricks[:3])), axis=0) > _ARENA
    near = np.flatnonzero(~far)
    x, y, z, angle = (values[near] for values in bricks[:4])
    # Equal up to a tenth of a millimetre and a degree.
    keys = np.rint(np.stack([10 * x, 10 * y, 10 * z, np.rint(angle) % 180], axis=1))
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    earlier = near[first[group.ravel()]]
    repeats = np.flatnonzero(earlier != near)
    checks.forbid_many(
        "duplicates",
        np.stack([near, earlier], axis=1)[repeats].tolist(),
        "bricks repeat an earlier one",
        lambda pair: f"is brick {pair[0]}, which repeats brick {pair[1]}",
        one="brick repeats an earlier one",
    )
    return np.sort(near[first])


def judge_structure(
    checks: Checklist, bricks: Bricks, names: Indices
) -> dict[str, Any]:
    """Check pairs of different bricks; ``names`` are their indices in the answer.

    Returns:
        The metrics of these checks, all None if the bricks are too crowded.
    """
    count = len(names)
    max_pairs = PAIRS_PER_BRICK * count + PAIRS_FREE
    pairs = close_pairs(bricks, max_pairs)
    if pairs is None:
        wrong = (
            f"The bricks are too crowded: more than {max_pairs:,} pairs of {count:,} bricks are in "
            "the same cell or in cells that touch."
        )
        checks.expect("resource_limit", False, wrong)
        checks.skip(
            ("overlap", "studs", "support", "balance"),
            "The bricks are too crowded.",
        )
        return dict.fromkeys(("overlapping", "misaligned", "floating", "groups"))
    clash = pairs.where(pairs.depth >= CONTACT_GAP)
    overlapping = judge_overlap(checks, clash, names)
    label = groups(count, joints(pairs))
    misaligned = judge_studs(checks, bricks, label, names)
    # A brick that sinks into the table counts as part of the lowest layer; another
    # check reports it.
    ground = bricks.z < HEIGHT
    grounded = np.zeros(count, dtype=bool)
    grounded[label[ground]] = True
    floating = names[~grounded[label]].tolist()
    checks.forbid_many(
        "support",
        floating,
        f"of {count} bricks are not joined to the lowest layer",
        lambda i: f"is brick {i}",
        one=f"of {counted(count, 'brick')} is not joined to the lowest layer",
    )
    balances = stances(bricks, label, ground)
    judge_balance(checks, balances, names)
    figures = []
    for stance in balances[:_MAX_GROUPS]:
        x, y = stance.centre
        group = {
            "brick": int(names[stance.first]),
            "bricks": stance.size,
            "centre": [round(x, 6), round(y, 6)],
            "support": stance.support,
        }
        figures.append(group)
    return {
        "overlapping": overlapping[:_MAX_ENTRIES],
        "misaligned": misaligned,
        "floating": floating[:_MAX_ENTRIES],
        "groups": figures,
    }


def judge_overlap(checks: Checklist, clash: Pairs, names: Indices) -> list[list[int]]:
    """Check that no bricks overlap; return the overlapping pairs."""
    index_pairs = np.stack([names[clash.lower], names[clash.upper]], axis=1)
    overlapping: list[list[int]] = index_pairs.tolist()
    checks.forbid_many(
        "overlap",
        overlapping,
        "pairs of bricks overlap",
        lambda pair: (
            f"is {pair[0]} and {pair[1]}, whose footprints share {clash.area[0]:g} mm²"
        ),
        one="pair of bricks overlaps",
    )
    return overlapping


def judge_studs(
    checks: Checklist, bricks: Bricks, label: Indices, names: Indices
) -> list[list[int]]:
    """Check the stud grid of every group; return the first pairs that do not fit."""
    misaligned = []
    for i, j in misfits(bricks, label, _MAX_ENTRIES):
        pair = [int(names[i]), int(names[j])]
        misaligned.append(pair)
    # The search stops at this many pairs, so there may be more.
    at_least = "At least " if len(misaligned) == _MAX_ENTRIES else ""
    checks.forbid(
        "studs",
        misaligned,
        lambda pair: (
            f"{at_least}{counted(len(misaligned), *_OFF_GRID)} not on one grid of studs, such as "
            f"{pair[0]} and {pair[1]}."
        ),
    )
    return misaligned


def judge_balance(checks: Checklist, balances: list[Stance], names: Indices) -> None:
    """Check that no group of joined bricks tips over."""
    tipping = []
    for stance in balances:
        if stance.outside > TIP_SLACK:
            group = {
                "brick": int(names[stance.first]),
                "bricks": stance.size,
                "outside_mm": stance.outside,
            }
            tipping.append(group)
    checks.forbid_many(
        "balance",
        tipping,
        "groups of bricks fall over",
        lambda group: (
            f"has {group['bricks']} bricks, including brick {group['brick']}, and its centre of "
            f"gravity is {group['outside_mm']:.3f} mm outside its support"
        ),
        one="group of bricks falls over",
    )


def volume_agreement(target: Body, boxes: Boxes) -> tuple[float, dict[str, float]]:
    """Return I / R - D / 2R for bricks that do not overlap, and the shares it is made of.

    R is the volume of the target, I the volume of its part inside bricks, and D the volume that is
    in only one of target and bricks.
    """
    shared = round(float(shared_volumes(target, boxes).sum()), 6)
    filled = shared / target.volume
    spill = max(VOLUME * len(boxes.low) - shared, 0.0) / target.volume
    agreement = filled - DIFFERENCE_WEIGHT * (1 - filled + spill)
    figures = {"agreement": agreement, "filled": filled, "spill": spill}
    return agreement, {name: round(value, 9) for name, value in figures.items()}
