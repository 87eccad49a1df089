"""Criteria on single parts: validity, printing, gaps and thickness.

Spec: interlocking_parts, "Verification" 1, 2 and 7, in their correct form. A part is examined once,
and all criteria use the result.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from manifold3d import Manifold

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.interlocking_parts.cage_checks import (
    distance_figures,
    for_each,
    mode_is_off,
)
from scbench.graders.interlocking_parts.cage_sides import SideFaults, check_straps
from scbench.graders.interlocking_parts.columns import Openings, openings
from scbench.graders.interlocking_parts.core import core_of
from scbench.graders.interlocking_parts.part_meshes import (
    Shell,
    count_edges,
    neighbours,
    signed_volume,
    triangles_of,
)
from scbench.graders.interlocking_parts.print_checks import Lie, lie_on_bed
from scbench.graders.interlocking_parts.printed_parts import read_parts
from scbench.graders.interlocking_parts.stl_files import PrintedPart
from scbench.graders.interlocking_parts.thickness import Distances, survey
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.mesh_bodies import to_body
from scbench.graders.shared.mesh_topology import components
from scbench.graders.shared.triangle_contacts import find_contacts
from scbench.graders.shared.triangle_pairs import close_pairs
from scbench.schemas.interlocking_parts import FileType, Params

# Checks of a single part, in the order in which it can fail them.
VALIDITY_CHECKS = (
    "readable",
    "closed",
    "one_body",
    "right_side_out",
    "self_intersection",
)

# How deep facets may cut each other, in mm.
_CONTACT = 1e-3
# Maximum number of pairs of triangles of one part whose boxes meet.
_MAX_PAIRS = 3_000_000
# The same for a part that is not a single body; with more pairs, solid operations on it would take
# too long, so it is left out of the cage.
_MAX_TANGLED = 300_000
# The same for pairs of triangles of one body that cut each other.
_MAX_CROSSING = 20_000
# Maximum number of overhangs that a check lists.
_MAX_PATCHES = 12


class Fault(NamedTuple):
    """The reason why a part is not valid."""

    check: str
    """The check of `VALIDITY_CHECKS` that it fails, or ``resource_limit``; empty if none."""
    why: str


class Examined(NamedTuple):
    """All facts about a single part."""

    fault: Fault
    body: Manifold | None = None
    """None if the part bounds no solid, or one that is too tangled."""
    core: Manifold | None = None
    """None if there is no body, or a body that is too complex."""
    shell: Shell | None = None
    """None if it cannot be read."""
    lie: Lie | None = None
    openings: Openings | None = None
    thickness: Distances | None = None


@lru_cache(maxsize=128)
def examine(params: Params, kind: FileType, contents: str) -> Examined:
    """Return all facts about the part in a file."""
    part = read_parts([(kind, contents)])[0]
    shell = part.shell
    if shell is None:
        return unread(part)
    fault, body = as_body(shell)
    thickness = survey(shell, params.thickness, "in", (0, 1, 2))
    if body is None:
        return Examined(fault, shell=shell, thickness=thickness)
    lie = lie_on_bed(shell, params.printing)
    core = core_of(body)
    gaps = None if core is None else openings(body, core, params.spacing)
    return Examined(fault, body, core, shell, lie, gaps, thickness)


def unread(part: PrintedPart) -> Examined:
    """Return the facts about a part that was not read."""
    check = "resource_limit" if part.too_much else "readable"
    return Examined(Fault(check, part.problem))


def as_body(shell: Shell) -> tuple[Fault, Manifold | None]:
    """Return the first fault that makes a mesh an invalid part, and its body if it bounds one."""
    edges = count_edges(shell)
    if any(edges):
        counts = (
            f"open edges: {edges.open}, edges on more than two facets: {edges.crowded}"
        )
        why = f"{counts}, edges where the orientations of facets disagree: {edges.unwound}"
        return Fault("closed", why), None
    try:
        body = to_body(shell.points, shell.corners)
    except ValueError:
        return Fault("closed", "it bounds no solid"), None
    size = round(signed_volume(shell), 6)
    if size <= 0:
        return Fault("right_side_out", f"its volume is {size:g} mm³"), None
    triangles = triangles_of(shell)
    pieces = int(components(len(shell.corners), neighbours(shell)).max()) + 1
    if pieces > 1:
        fault = Fault("one_body", f"its surface consists of {pieces} separate pieces")
        tangled = close_pairs(triangles, _CONTACT, _MAX_TANGLED) is None
        return fault, None if tangled else body
    pairs = close_pairs(triangles, _CONTACT, _MAX_PAIRS)
    if pairs is None:
        why = "too many of its facets are close to each other"
        return Fault("resource_limit", why), None
    contacts = find_contacts(triangles, pairs, _CONTACT)
    crossing = len(contacts.crossing)
    covering = len(contacts.covering)
    if crossing or covering:
        why = f"pairs of facets that cut each other: {crossing}, that lie on each other: {covering}"
        tangled = crossing > _MAX_CROSSING
        return Fault("self_intersection", why), None if tangled else body
    return Fault("", ""), body


def size_of(shell: Shell) -> dict[str, float]:
    """Return the size of a part, for the metrics."""
    return {"volume": round(signed_volume(shell), 3), "triangles": len(shell.corners)}


def check_validity(
    checks: Checklist,
    params: Params,
    parts: Sequence[Examined],
    bent: Sequence[tuple[int, str]],
) -> None:
    """Criterion 0: every part is valid; ``bent`` are invalid transforms, and why."""
    wrong = f"The answer has {counted(len(parts), 'part')}; the task asks for {params.parts}."
    checks.expect("part_count", len(parts) == params.parts, wrong, count=len(parts))
    for check in (*VALIDITY_CHECKS, "resource_limit"):
        faulty = [
            {"part": i, "why": part.fault.why}
            for i, part in enumerate(parts)
            if part.fault.check == check
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


def check_printing(
    checks: Checklist, params: Params, parts: Sequence[Examined]
) -> Verdict:
    """Criterion 1: every part can be printed as it lies."""
    rules = params.printing
    lies = [(i, part.lie) for i, part in enumerate(parts) if part.lie is not None]

    def too_large(lie: Lie) -> str:
        for length, most in zip(lie.size, rules.bed, strict=True):
            if length > most + rules.slack:
                return "is " + " x ".join(f"{side:g}" for side in lie.size) + " mm"
        return ""

    def off_bed(lie: Lie) -> str:
        if abs(lie.lowest) <= rules.level:
            return ""
        return f"has its lowest point at z = {lie.lowest:g}"

    def loose(lie: Lie) -> str:
        if lie.contact >= rules.contact_area:
            return ""
        return f"touches the bed with {lie.contact:g} mm²"

    def unsteady(lie: Lie) -> str:
        return "" if lie.steady else "falls over"

    def hanging(lie: Lie) -> str:
        if not lie.overhangs:
            return ""
        widest = lie.overhangs[0].width
        overhangs = counted(len(lie.overhangs), "overhang")
        return f"has {overhangs} too wide to bridge (widest: {widest:g} mm)"

    def patches(lie: Lie) -> dict[str, object]:
        return {"patches": [patch._asdict() for patch in lie.overhangs[:_MAX_PATCHES]]}

    for_each(checks, "bed_size", lies, too_large, lambda lie: {"size": lie.size})
    for_each(checks, "bed_level", lies, off_bed, lambda lie: {"lowest": lie.lowest})
    for_each(checks, "bed_contact", lies, loose, lambda lie: {"contact": lie.contact})
    for_each(checks, "balance", lies, unsteady, lambda lie: {"centre": lie.centre})
    for_each(checks, "overhangs", lies, hanging, patches)
    contact = [None if part.lie is None else part.lie.contact for part in parts]
    return checks.binary(contact=contact)


def check_spacing(
    checks: Checklist, params: Params, parts: Sequence[Examined]
) -> Verdict:
    """Criterion 2: a small column passes each part somewhere, a large one nowhere."""
    rules = params.spacing
    opened = []
    too_complex = []
    for i, part in enumerate(parts):
        if part.openings is not None:
            opened.append((i, part.openings))
        elif part.body is not None:
            too_complex.append(i)
    if too_complex:
        checks.forbid(
            "resource_limit",
            too_complex,
            lambda i: f"The outline of part {i} is too long.",
        )

    def too_narrow(gaps: Openings) -> str:
        if gaps.free > rules.ignored_area:
            return ""
        return f"leaves no room for a column of {rules.free:g} x {rules.free:g} mm"

    def too_wide(gaps: Openings) -> str:
        if gaps.unblocked <= rules.ignored_area:
            return ""
        return f"leaves room for a column of {rules.blocked:g} x {rules.blocked:g} mm"

    for_each(
        checks,
        "gap_wide_enough",
        opened,
        too_narrow,
        lambda gaps: {"area": gaps.free},
    )
    for_each(
        checks,
        "gap_narrow_enough",
        opened,
        too_wide,
        lambda gaps: {"area": gaps.unblocked, "place": gaps.place},
    )
    free = [None if part.openings is None else part.openings.free for part in parts]
    return checks.binary(free=free)


def check_thickness(
    checks: Checklist,
    params: Params,
    parts: Sequence[Examined],
    sides: SideFaults | None,
) -> Verdict:
    """Criterion 7: the bars of every part and of the cage are as thick as required."""
    rules = params.thickness
    distances = []
    too_large = []
    for i, part in enumerate(parts):
        if part.thickness is not None:
            distances.append((i, part.thickness))
        elif part.shell is not None:
            too_large.append(i)
    if too_large:
        checks.forbid(
            "resource_limit",
            too_large,
            lambda i: f"The faces of part {i} take too long to measure.",
        )

    def too_few(measured: Distances) -> str:
        count = len(measured.values)
        if count >= rules.least:
            return ""
        return f"has {counted(count, 'measurable face')}; at least {rules.least} are required"

    def wrong_mode(measured: Distances) -> str:
        return mode_is_off(measured, rules)

    for_each(checks, "thickness_faces", distances, too_few, distance_figures)
    for_each(checks, "thickness", distances, wrong_mode, distance_figures)
    check_straps(checks, sides)
    modes = [None if part.thickness is None else part.thickness.mode for part in parts]
    return checks.binary(thickness=modes)
