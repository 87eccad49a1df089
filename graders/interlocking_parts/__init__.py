"""Do these parts print, fit, interlock and make the cage? One answer, nine criteria, nine verdicts.

`dataset_card/tasks/interlocking_parts.md` says how the criteria differ from the paper's. The first,
valid parts, is a gate: if it fails, all nine score 0. Everything whose geometry exists is still
judged, so that one answer shows all its faults. Volumes come from Manifold's booleans and are
rounded before they decide.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scbench.base.model import Verdict
from scbench.graders.interlocking_parts.cage_checks import (
    PlacedPart,
    check_gaps,
    check_grip,
    check_interference,
    check_rods,
    check_size,
    crowded,
    find_grips,
    not_rigid,
    place,
)
from scbench.graders.interlocking_parts.cage_sides import (
    check_sides,
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

VERSION = 5

# By criterion, numbered by the position of its verdict.
CHECKS = {
    # 0. Valid parts.
    "part_count": "There are as many parts as asked for.",
    "readable": "Every part can be read.",
    "closed": "Every part's surface is closed: each edge is on two facets that agree which side is "
    "outside.",
    "one_body": "Every part's surface is in one piece.",
    "right_side_out": "Every part encloses a volume, its facets facing outwards.",
    "self_intersection": "No two facets of a part cut through or lie on each other.",
    "rigid": "Every transform is a turn and a shift: no scaling, no mirroring.",
    # Of all further criteria, and of those on the assembly.
    "gate": "Every part is valid, as the first criterion asks.",
    "cage": "On each of the six sides a block larger than the widest gap gets in nowhere, and one "
    "smaller than the narrowest passes in places that reach all over the side.",
    # 1. Printing.
    "bed_size": "Every part fits the printer.",
    "bed_level": "Every part's lowest point is on the bed.",
    "bed_contact": "Every part has enough area on the bed.",
    "balance": "Every part's centre of mass is above its area on the bed.",
    "overhangs": "No part has an overhang that is too wide to bridge.",
    # 2. Gaps of parts.
    "gap_wide_enough": "Every part leaves room for a column of the smaller size.",
    "gap_narrow_enough": "No part leaves room for a column of the larger size.",
    # 3. Size.
    "inside_free": "No part reaches into the cage.",
    "outer_size": "No part reaches out of the cage.",
    # 4. Rods.
    "rod_passes": "A rod passes at every corner.",
    "nut_held": "A cylinder as wide as a nut does not pass at any corner.",
    # 5. Interference.
    "interference": "No two parts are in the same place.",
    "one_assembly": "The parts hang together: from each to any other it is only short steps.",
    # 6. Grip.
    "rods_gripped": "Every part grips enough rods.",
    # 7. Thickness.
    "thickness_faces": "Every part has enough faces to measure its bars.",
    "thickness": "Every part's bars are as thick as asked for.",
    # 8. Gaps of the cage.
    "gap_faces": "The cage has enough faces to measure its gaps.",
    "gaps": "The gaps of the cage are as wide as asked for, and alike.",
}
_CRITERIA = 9

# An answer with more parts is not looked at.
_MAX_PARTS = 64


class Assembly(NamedTuple):
    """The parts in their places."""

    cage: list[PlacedPart]
    bent: list[tuple[int, str]]
    """Numbers of the parts whose transforms are not rigid, with the reason."""


@lru_cache(maxsize=1)  # costly, and whoever asks for a verdict again asks at once
def grade(params: Params, answer: Answer) -> tuple[Verdict, ...]:
    """Return nine verdicts of 1 or 0; the first is a gate for the others.

    Raises:
        scbench.base.errors.CannotGrade: a part is a program, which must not or cannot be run here.
    """
    if len(answer.parts) > _MAX_PARTS:
        return too_many_parts(params, answer)
    parts = examine_all(params, answer)
    cage, bent = assemble(params, answer, parts)
    grips = find_grips(params, cage)
    tangled = any(part.fault.check for part in parts)
    too_many = crowded(cage, tangled=tangled)
    sides = find_side_faults(params, [part.body for part in cage]) if cage else None
    validity = Checklist(CHECKS)
    check_validity(validity, params, parts, bent)

    def on_parts() -> Checklist:
        """Return the checks of a criterion on single parts, the gate first."""
        checks = Checklist(CHECKS)
        wrong = "Not every part is valid, so this scores 0."
        checks.expect("gate", validity.all_passed, wrong)
        return checks

    def on_assembly() -> Checklist:
        """Return the checks of a criterion on the assembly, the gate and the sides first."""
        checks = on_parts()
        check_sides(checks, sides)
        return checks

    verdicts = [
        check_printing(on_parts(), params, parts),
        check_spacing(on_parts(), params, parts),
        check_size(on_assembly(), params, cage),
        check_rods(on_assembly(), params, grips),
        check_interference(on_assembly(), params, cage, too_many=too_many),
        check_grip(on_assembly(), params, grips),
        check_thickness(on_parts(), params, parts),
        check_gaps(on_assembly(), params, cage, too_many=too_many),
    ]
    sizes = [None if part.shell is None else size_of(part.shell) for part in parts]
    stop_rule = paper_mean(verdicts) if validity.all_passed else 0.0
    return (validity.binary(parts=sizes, stop_rule=stop_rule), *verdicts)


def too_many_parts(params: Params, answer: Answer) -> tuple[Verdict, ...]:
    """Return the verdicts on an answer with too many parts to be looked at."""
    checks = Checklist(CHECKS)
    text = f"There are {len(answer.parts)} parts; {params.parts} are asked for."
    checks.expect("part_count", False, text)
    text = f"More than {_MAX_PARTS} parts are not looked at."
    return (checks.too_large(text),) * _CRITERIA


def examine_all(params: Params, answer: Answer) -> list[Examined]:
    """Return the facts about each part by itself."""
    files = [(part.fileType, part.fileContents) for part in answer.parts]
    examined = []
    for part, (kind, contents) in zip(read_parts(files), files, strict=True):
        # Work that is too much is so for all parts together, and is not tried again for one.
        if part.too_much:
            examined.append(unread(part))
        else:
            examined.append(examine(params, kind, contents))
    return examined


def assemble(params: Params, answer: Answer, parts: Sequence[Examined]) -> Assembly:
    """Return the parts in their places, without those that have no body or no place."""
    assembly = Assembly([], [])
    for i, (part, examined) in enumerate(zip(answer.parts, parts, strict=True)):
        matrix = np.array(part.transform).reshape(4, 4)
        why = not_rigid(matrix, params.rigid)
        if why:
            assembly.bent.append((i, why))
        if examined.body is None:
            continue
        placed_part = place(i, examined.body, matrix)
        if placed_part is not None:
            assembly.cage.append(placed_part)
    return assembly


def paper_mean(verdicts: Sequence[Verdict]) -> float:
    """Return the mean as the paper took it: the criteria up to the first that fails count."""
    passed = 1  # the first criterion, validity
    for verdict in verdicts:
        if verdict.score != 1:
            break
        passed += 1
    return round(passed / _CRITERIA, 6)
