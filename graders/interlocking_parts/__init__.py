"""Do these parts print, fit, interlock and make the cage? One answer, nine criteria, nine verdicts.

`dataset_card/tasks/interlocking_parts.md` says how the criteria differ from the paper's. The first,
valid parts, is a gate: if it fails, all nine score 0. Everything whose geometry exists is still
judged, so that one answer shows all its faults. Volumes come from Manifold's booleans and are
rounded before they decide.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from manifold3d import Manifold

from scbench.base.model import Verdict
from scbench.graders.interlocking_parts.cage_checks import (
    PlacedPart,
    check_faces,
    check_gaps,
    check_grip,
    check_interference,
    check_rods,
    check_size,
    crowded,
    distance_figures,
    find_faces,
    find_grips,
    for_each,
    mode_is_off,
    not_rigid,
    place,
)
from scbench.graders.interlocking_parts.print_checks import (
    Lie,
    Openings,
    Shell,
    count_edges,
    lie_on_bed,
    neighbours,
    openings,
    signed_volume,
    triangles_of,
)
from scbench.graders.interlocking_parts.printed_parts import PrintedPart, read_parts
from scbench.graders.interlocking_parts.printed_parts import (
    machine_facts as machine_facts,
)
from scbench.graders.interlocking_parts.thickness import Distances, survey
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.meshes import (
    close_pairs,
    components,
    find_contacts,
    to_body,
)
from scbench.schemas.interlocking_parts import Answer, FileType, Params

VERSION = 5

CHECKS = {
    "part_count": "There are as many parts as asked for.",
    "readable": "Every part can be read.",
    "closed": "Every part's surface is closed: each edge is on two facets that agree which side is "
    "outside.",
    "one_body": "Every part's surface is in one piece.",
    "right_side_out": "Every part encloses a volume, its facets facing outwards.",
    "self_intersection": "No two facets of a part cut through or lie on each other.",
    "rigid": "Every transform is a turn and a shift: no scaling, no mirroring.",
    "gate": "Every part is valid, as the first criterion asks.",
    "cage": "On each of the six sides a block larger than the widest gap gets in nowhere, and one "
    "smaller than the narrowest passes in places that reach all over the side.",
    "bed_size": "Every part fits the printer.",
    "bed_level": "Every part's lowest point is on the bed.",
    "bed_contact": "Every part has enough area on the bed.",
    "balance": "Every part's centre of mass is above its area on the bed.",
    "overhangs": "No part has an overhang that is too wide to bridge.",
    "gap_wide_enough": "Every part leaves room for a column of the smaller size.",
    "gap_narrow_enough": "No part leaves room for a column of the larger size.",
    "inside_free": "No part reaches into the cage.",
    "outer_size": "No part reaches out of the cage.",
    "rod_passes": "A rod passes at every corner.",
    "nut_held": "A cylinder as wide as a nut does not pass at any corner.",
    "interference": "No two parts are in the same place.",
    "one_assembly": "The parts hang together: from each to any other it is only short steps.",
    "rods_gripped": "Every part grips enough rods.",
    "thickness_faces": "Every part has enough faces to measure its bars.",
    "thickness": "Every part's bars are as thick as asked for.",
    "gap_faces": "The cage has enough faces to measure its gaps.",
    "gaps": "The gaps of the cage are as wide as asked for, and alike.",
}

_MAX_PATCHES = 12
_MAX_PARTS = 64
_MAX_PAIRS = 3_000_000
# Pairs of triangles of a part that is no single body whose boxes meet; with more of
# them, solid operations on it would take too long, and so it is left out of the cage.
_MAX_TANGLED = 300_000
# The same for pairs of triangles of one body that cut each other.
_MAX_CROSSING = 20_000
# How deep facets may cut each other, in mm.
_CONTACT = 1e-3
_VALID = (
    "part_count",
    "readable",
    "closed",
    "one_body",
    "right_side_out",
    "self_intersection",
)


class _Examined(NamedTuple):
    """What there is to say about one part by itself."""

    fault: tuple[str, str]
    """The check of `_VALID` that it fails and why; two empty texts if none."""
    body: Manifold | None
    shell: Shell | None
    lie: Lie | None
    openings: Openings | None
    thickness: Distances | None


@lru_cache(maxsize=128)
def _examine(params: Params, kind: FileType, contents: str) -> _Examined:
    part = read_parts([(kind, contents)])[0]
    shell = part.shell
    if shell is None:
        return _unread(part)
    fault, body = _as_body(shell)
    thickness = survey(shell, params.thickness, "in", (0, 1, 2))
    if body is None:
        return _Examined(fault, None, shell, None, None, thickness)
    lie = lie_on_bed(shell, params.printing)
    return _Examined(fault, body, shell, lie, openings(body, params.spacing), thickness)


def _unread(part: PrintedPart) -> _Examined:
    check = "resource_limit" if part.too_much else "readable"
    return _Examined((check, part.problem), None, None, None, None, None)


def _as_body(shell: Shell) -> tuple[tuple[str, str], Manifold | None]:
    """Return what keeps a mesh from being a valid part, and its body if it bounds one."""
    edges = count_edges(shell)
    if any(edges):
        counts = f"{edges.open} open edges, {edges.crowded} on more than two facets"
        return ("closed", f"{counts}, {edges.unwound} where facets disagree"), None
    pieces = int(components(len(shell.corners), neighbours(shell)).max()) + 1
    try:
        body = to_body(shell.points, shell.corners)
    except ValueError:
        return ("closed", "it bounds no solid"), None
    size = round(signed_volume(shell), 6)
    if size <= 0:
        return ("right_side_out", f"its volume is {size:g} mm³"), None
    triangles = triangles_of(shell)
    if pieces > 1:
        tangled = close_pairs(triangles, _CONTACT, _MAX_TANGLED) is None
        return (
            "one_body",
            f"its surface is in {pieces} pieces",
        ), None if tangled else body
    pairs = close_pairs(triangles, _CONTACT, _MAX_PAIRS)
    if pairs is None:
        return (
            "resource_limit",
            "too many of its facets are close to each other",
        ), None
    contacts = find_contacts(triangles, pairs, _CONTACT)
    if len(contacts.crossing) or len(contacts.covering):
        counts = f"{len(contacts.crossing)} pairs of facets cut each other"
        text = f"{counts}, {len(contacts.covering)} lie on each other"
        tangled = len(contacts.crossing) > _MAX_CROSSING
        return ("self_intersection", text), None if tangled else body
    return ("", ""), body


@lru_cache(maxsize=1)  # costly, and whoever asks for a verdict again asks at once
def grade(params: Params, answer: Answer) -> tuple[Verdict, ...]:
    """Return nine verdicts of 1 or 0; the first is a gate for the others.

    Raises:
        scbench.base.errors.CannotGrade: a part is a program, which must not or cannot be run here.
    """
    if len(answer.parts) > _MAX_PARTS:
        checks = Checklist(CHECKS)
        text = f"There are {len(answer.parts)} parts; {params.parts} are asked for."
        checks.expect("part_count", False, text)
        checks.expect(
            "resource_limit", False, f"More than {_MAX_PARTS} parts are not looked at."
        )
        return (checks.binary(),) * 9
    files = [(part.fileType, part.fileContents) for part in answer.parts]
    parts = [
        # What is too much is so for all parts together, and not looked at again by itself.
        _unread(part) if part.too_much else _examine(params, *file)
        for part, file in zip(read_parts(files), files, strict=True)
    ]
    cage, bent = _assemble(params, answer, parts)
    grips = find_grips(params, cage)
    too_many = crowded(cage, tangled=any(part.fault[0] for part in parts))
    first = Checklist(CHECKS)
    _judge_validity(first, params, parts, bent)
    faces = find_faces(params, [part.body for part in cage]) if cage else None
    criteria: tuple[tuple[Callable[[Checklist], dict[str, Any]], bool], ...] = (
        (lambda checks: _printing(checks, params, parts), False),
        (lambda checks: _check_spacing(checks, params, parts), False),
        (lambda checks: check_size(checks, params, cage), True),
        (lambda checks: check_rods(checks, params, grips), True),
        (
            lambda checks: check_interference(checks, params, cage, too_many=too_many),
            True,
        ),
        (lambda checks: check_grip(checks, params, grips), True),
        (lambda checks: _thickness(checks, params, parts), False),
        (lambda checks: check_gaps(checks, params, cage, too_many=too_many), True),
    )
    verdicts = []
    for criterion, of_assembly in criteria:
        checks = Checklist(CHECKS)
        checks.expect(
            "gate", first.all_passed, "Not every part is valid, so this scores 0."
        )
        if of_assembly:
            check_faces(checks, faces)
        verdicts.append(checks.binary(**criterion(checks)))
    sizes = [part.shell and _size_of(part.shell) for part in parts]
    stop_rule = _stop_rule(first.all_passed, verdicts)
    return (first.binary(parts=sizes, stop_rule=stop_rule), *verdicts)


def _size_of(shell: Shell) -> dict[str, float]:
    return {"volume": round(signed_volume(shell), 3), "triangles": len(shell.corners)}


def _stop_rule(valid: bool, verdicts: Sequence[Verdict]) -> float:  # noqa: FBT001
    """Return the mean as the paper took it: the criteria up to the first that fails count."""
    passed = list(takewhile(lambda verdict: verdict.score == 1, verdicts))
    return round((1 + len(passed)) / (1 + len(verdicts)), 6) if valid else 0.0


def _assemble(
    params: Params, answer: Answer, parts: Sequence[_Examined]
) -> tuple[list[PlacedPart], list[tuple[int, str]]]:
    """Return the parts in their places, and the transforms that are none, with the reason."""
    cage, bent = [], []
    for i, (part, examined) in enumerate(zip(answer.parts, parts, strict=True)):
        matrix = np.array(part.transform).reshape(4, 4)
        why = not_rigid(matrix, params.rigid)
        if why:
            bent.append((i, why))
        there = None if examined.body is None else place(i, examined.body, matrix)
        if there is not None:
            cage.append(there)
    return cage, bent


def _judge_validity(
    checks: Checklist,
    params: Params,
    parts: Sequence[_Examined],
    bent: Sequence[tuple[int, str]],
) -> None:
    wrong = f"There are {len(parts)} parts; {params.parts} are asked for."
    checks.expect("part_count", len(parts) == params.parts, wrong, count=len(parts))
    for check in (*_VALID[1:], "resource_limit"):
        faulty = [
            {"part": i, "why": part.fault[1]}
            for i, part in enumerate(parts)
            if part.fault[0] == check
        ]
        if faulty or check != "resource_limit":
            checks.forbid(
                check, faulty, lambda item: f"Part {item['part']}: {item['why']}."
            )
    checks.forbid(
        "rigid",
        [{"part": i, "why": why} for i, why in bent],
        lambda item: (
            f"The transform of part {item['part']} is not rigid: {item['why']}."
        ),
    )


def _printing(
    checks: Checklist, params: Params, parts: Sequence[_Examined]
) -> dict[str, Any]:
    rules = params.printing
    lies = [(i, part.lie) for i, part in enumerate(parts) if part.lie is not None]

    def too_large(lie: Lie) -> str:
        fits = all(
            a <= b + rules.slack for a, b in zip(lie.size, rules.bed, strict=True)
        )
        return (
            ""
            if fits
            else "is " + " x ".join(f"{length:g}" for length in lie.size) + " mm"
        )

    def adrift(lie: Lie) -> str:
        on_bed = abs(lie.lowest) <= rules.level
        return "" if on_bed else f"has its lowest point at z = {lie.lowest:g}"

    def loose(lie: Lie) -> str:
        enough = lie.contact >= rules.contact_area
        return "" if enough else f"touches the bed with {lie.contact:g} mm²"

    def hanging(lie: Lie) -> str:
        widest = f"the widest {lie.overhangs[0].width:g} mm" if lie.overhangs else ""
        return f"has {len(lie.overhangs)} overhangs, {widest}" if widest else ""

    for_each(checks, "bed_size", lies, too_large, lambda lie: {"size": lie.size})
    for_each(checks, "bed_level", lies, adrift, lambda lie: {"lowest": lie.lowest})
    for_each(checks, "bed_contact", lies, loose, lambda lie: {"contact": lie.contact})
    for_each(
        checks,
        "balance",
        lies,
        lambda lie: "" if lie.steady else "falls over",
        lambda lie: {"centre": lie.centre},
    )
    for_each(
        checks,
        "overhangs",
        lies,
        hanging,
        lambda lie: {
            "patches": [patch._asdict() for patch in lie.overhangs[:_MAX_PATCHES]]
        },
    )
    return {"contact": [part.lie.contact if part.lie else None for part in parts]}


def _check_spacing(
    checks: Checklist, params: Params, parts: Sequence[_Examined]
) -> dict[str, Any]:
    rules = params.spacing
    bodies = [(i, part) for i, part in enumerate(parts) if part.body is not None]
    complex_ = [i for i, part in bodies if part.openings is None]
    if complex_:
        checks.forbid(
            "resource_limit",
            complex_,
            lambda i: f"The outline of part {i} is too long.",
        )
    opened = [(i, part.openings) for i, part in bodies if part.openings is not None]

    def lacks_narrow(gaps: Openings) -> str:
        if gaps.free > rules.ignored_area:
            return ""
        return f"leaves no room for a column of {rules.free:g} x {rules.free:g} mm"

    def has_wide(gaps: Openings) -> str:
        if gaps.unblocked <= rules.ignored_area:
            return ""
        return f"leaves room for a column of {rules.blocked:g} x {rules.blocked:g} mm"

    for_each(
        checks,
        "gap_wide_enough",
        opened,
        lacks_narrow,
        lambda gaps: {"area": gaps.free},
    )
    for_each(
        checks,
        "gap_narrow_enough",
        opened,
        has_wide,
        lambda gaps: {"area": gaps.unblocked, "place": gaps.place},
    )
    return {"free": [part.openings.free if part.openings else None for part in parts]}


def _thickness(
    checks: Checklist, params: Params, parts: Sequence[_Examined]
) -> dict[str, Any]:
    rules = params.thickness
    shells = [(i, part) for i, part in enumerate(parts) if part.shell is not None]
    large = [i for i, part in shells if part.thickness is None]
    if large:
        checks.forbid(
            "resource_limit",
            large,
            lambda i: f"The faces of part {i} take too long to measure.",
        )
    distances = [
        (i, part.thickness) for i, part in shells if part.thickness is not None
    ]
    for_each(
        checks,
        "thickness_faces",
        distances,
        lambda item: (
            ""
            if len(item.values) >= rules.least
            else f"has {len(item.values)} faces to measure, not {rules.least}"
        ),
        distance_figures,
    )
    for_each(
        checks,
        "thickness",
        distances,
        lambda item: mode_is_off(item, rules),
        distance_figures,
    )
    return {
        "thickness": [
            None if part.thickness is None else part.thickness.mode for part in parts
        ]
    }
