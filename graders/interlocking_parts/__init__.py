"""Checks whether parts print, fit, interlock and make the cage: nine criteria, nine verdicts.

`dataset_card/tasks/interlocking_parts.md` says how the criteria differ from the paper's. The first
criterion, valid parts, is a gate: if it fails, all nine score 0. The other checks still run
wherever there is geometry, so that the verdicts show all faults of an answer. Volumes are computed
with Manifold's boolean operations and rounded before they are compared.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scbench.base.model import Verdict
from scbench.graders.interlocking_parts.cage_checks import (
    PlacedPart,
    are_crowded,
    check_gaps,
    check_grip,
    check_held,
    check_interference,
    check_rods,
    check_size,
    find_grips,
    place_part,
    rigidity_fault,
)
from scbench.graders.interlocking_parts.cage_sides import (
    check_sides,
    check_slots,
    find_side_faults,
)
from scbench.graders.interlocking_parts.part_checks import (
    Examined,
    check_printing,
    check_spacing,
    check_thickness,
    check_validity,
    examine,
    size_of,
    unread,
)
from scbench.graders.interlocking_parts.printed_parts import machine_facts, read_parts
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.interlocking_parts import Answer, Params

__all__ = ["CHECKS", "VERSION", "grade", "machine_facts"]

VERSION = 7

# The checks, grouped by criterion; the numbers are positions in the result of `grade`.
CHECKS = {
    # 0. Valid parts.
    "part_count": "The answer has the required number of parts.",
    "readable": "Every part can be read.",
    "closed": "Every part's surface is closed: each edge is on two facets that agree which side is "
    "outside.",
    "one_body": "Every part's surface is in one piece.",
    "right_side_out": "Every part encloses a volume, and its facets face outwards.",
    "self_intersection": "No two facets of a part cut through or lie on each other.",
    "rigid": "Every transform is a rotation and a translation: no scaling, no mirroring.",
    # First check of each of the criteria 1 to 8.
    "gate": "Every part is valid (first criterion).",
    # Second and third check of each criterion on the assembly: 3, 4, 5, 6 and 8. Criterion 6 makes
    # the third itself.
    "cage": "On each of the six sides, a block larger than the widest gap does not fit through "
    "anywhere, and a block smaller than the narrowest gap fits through everywhere.",
    "held": "Every part goes all the way around the required number of rods.",
    # 1. Printing.
    "bed_size": "Every part fits the printer.",
    "bed_level": "Every part's lowest point is on the bed.",
    "bed_contact": "Every part has enough contact area with the bed.",
    "balance": "Every part's centre of mass is above its contact area with the bed.",
    "overhangs": "No part has an overhang that is too wide to bridge.",
    # 2. Gaps in parts.
    "gap_wide_enough": "In every part, a column of the smaller size fits through a gap.",
    "gap_narrow_enough": "In no part does a column of the larger size fit through a gap.",
    # 3. Size.
    "inside_free": "No part reaches into the space inside the cage.",
    "outer_size": "No part reaches beyond the outer size of the cage.",
    # 4. Rods.
    "rod_passes": "A rod fits through at every corner.",
    "nut_held": "A cylinder as wide as a nut does not fit through at any corner.",
    # 5. Interference.
    "interference": "No two parts overlap.",
    "one_assembly": "All parts are connected, with only small gaps between neighbours.",
    # 6. Grip.
    "rods_gripped": "Every part goes all the way around the required number of rods.",
    # 7. Thickness.
    "thickness_faces": "Every part has enough faces to measure its bars.",
    "thickness": "The bars of every part have the required thickness.",
    "straps": "On every side of the cage the bars are as thick as required and not hollow, and no "
    "square much wider than a bar fits on them.",
    # 8. Gaps in the cage.
    "gap_faces": "The cage has enough faces to measure its gaps.",
    "gaps": "The gaps of the cage have the required width, and none is too wide.",
    "slots": "The bars of every side stop a block as long as the widest gap, in both orientations.",
}
_CRITERIA = 9

# The geometry of an answer with more parts is not examined.
_MAX_PARTS = 64


class Assembly(NamedTuple):
    """The parts in their places.

    Attributes:
        cage: the parts that have a body and a place.
        non_rigid: index of each part whose transform is not rigid, with the reason.
    """

    cage: list[PlacedPart]
    non_rigid: list[tuple[int, str]]


# Expensive; the last result is kept, because callers may ask for it several times in a row.
@lru_cache(maxsize=1)
def grade(params: Params, answer: Answer) -> tuple[Verdict, ...]:
    """Return nine verdicts of 1 or 0; the first is a gate for the others.

    Raises:
        scbench.base.errors.CannotGrade: a part is a program, which must not or cannot be run here.
    """
    if len(answer.parts) > _MAX_PARTS:
        return too_many_parts(params, answer)
    parts = examine_all(params, answer)
    cage, non_rigid = assemble(params, answer, parts)
    grips = find_grips(params, cage)
    # The surface of a faulty part may intersect itself.
    has_faults = any(part.fault.check for part in parts)
    too_many_overlaps = are_crowded(cage, tangled=has_faults)
    # Without any part in place there are no sides.
    sides = None
    if cage:
        bodies = [part.body for part in cage]
        sides = find_side_faults(params, bodies, [part.core for part in cage])
    validity = Checklist(CHECKS)
    # Fills the checklist; the verdict comes last, because it also records the paper's score.
    check_validity(validity, params, parts, non_rigid)

    def new_part_checks() -> Checklist:
        """Return the checks of a criterion on single parts, the gate first."""
        checks = Checklist(CHECKS)
        wrong = "Not every part is valid, so this criterion scores 0."
        checks.expect("gate", validity.all_passed, wrong)
        return checks

    def new_cage_checks() -> Checklist:
        """Return the checks of a criterion on the cage, beginning with the gate and the sides."""
        checks = new_part_checks()
        check_sides(checks, sides)
        return checks

    def new_assembly_checks() -> Checklist:
        """Return the same checks, and whether the rods hold every part."""
        checks = new_cage_checks()
        check_held(checks, params, grips)
        return checks

    gap_checks = new_assembly_checks()
    check_slots(gap_checks, params, sides)
    # Criteria 1 to 8, in the order of `CHECKS`.
    verdicts = [
        check_printing(new_part_checks(), params, parts),
        check_spacing(new_part_checks(), params, parts),
        check_size(new_assembly_checks(), params, cage),
        check_rods(new_assembly_checks(), params, grips),
        check_interference(
            new_assembly_checks(), params, cage, too_many=too_many_overlaps
        ),
        check_grip(new_cage_checks(), params, grips),
        check_thickness(new_part_checks(), params, parts, sides),
        check_gaps(gap_checks, params, cage, too_many=too_many_overlaps),
    ]
    sizes = [None if part.shell is None else size_of(part.shell) for part in parts]
    paper_score = paper_mean(verdicts) if validity.all_passed else 0.0
    # The keywords become metrics of the first verdict.
    return (validity.binary(parts=sizes, stop_rule=paper_score), *verdicts)


def too_many_parts(params: Params, answer: Answer) -> tuple[Verdict, ...]:
    """Return the verdicts on an answer with too many parts to be examined."""
    checks = Checklist(CHECKS)
    count = len(answer.parts)
    wrong_count = f"The answer has {count} parts; the task asks for {params.parts}."
    checks.expect("part_count", False, wrong_count)
    refusal = f"Answers with more than {_MAX_PARTS} parts are not examined."
    return (checks.too_large(refusal),) * _CRITERIA


def examine_all(params: Params, answer: Answer) -> list[Examined]:
    """Return the facts about each part alone."""
    files = [(part.fileType, part.fileContents) for part in answer.parts]
    # All parts are read together first; `examine` then finds them in the cache.
    examined = []
    for part, (kind, contents) in zip(read_parts(files), files, strict=True):
        # The limit on work is shared by all parts, so a part that exceeded it is not read again.
        if part.too_much:
            examined.append(unread(part))
        else:
            examined.append(examine(params, kind, contents))
    return examined


def assemble(params: Params, answer: Answer, parts: Sequence[Examined]) -> Assembly:
    """Place the parts; those without a body or a place are left out of the cage."""
    assembly = Assembly([], [])
    for i, (part, examined) in enumerate(zip(answer.parts, parts, strict=True)):
        matrix = np.array(part.transform).reshape(4, 4)
        # A part whose transform is not rigid is invalid, but it is placed anyway.
        non_rigid_reason = rigidity_fault(matrix, params.rigid)
        if non_rigid_reason:
            assembly.non_rigid.append((i, non_rigid_reason))
        if examined.body is None:
            continue
        placed_part = place_part(i, examined.body, examined.core, matrix)
        if placed_part is not None:
            assembly.cage.append(placed_part)
    return assembly


def paper_mean(verdicts: Sequence[Verdict]) -> float:
    """Return the paper's score of a valid answer: criteria after the first failure do not count."""
    # The first criterion, validity, has passed.
    passed = 1
    for verdict in verdicts:
        if verdict.score != 1:
            break
        passed += 1
    return round(passed / _CRITERIA, 6)
