"""Criteria on all parts in their places: size, rods, interference, grip, and the cage's gaps.

Spec: interlocking_parts, "Verification" 3 to 6 and 8, in their correct form. Each function makes
the checks of its criterion and returns its verdict.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from manifold3d import Manifold

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.interlocking_parts.part_meshes import shell_of
from scbench.graders.interlocking_parts.rod_holes import rods_around
from scbench.graders.interlocking_parts.stl_files import FARTHEST
from scbench.graders.interlocking_parts.thickness import Distances, survey
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.mesh_bodies import unite, volume
from scbench.graders.shared.mesh_topology import components
from scbench.graders.shared.triangle_pairs import is_crowded
from scbench.graders.shared.vectors import Array, Indices
from scbench.schemas.interlocking_parts import Params, Space, Survey

# Maximum number of facets of a cage whose gaps are measured.
_MAX_TRIANGLES = 120_000
# Maximum number of pairs of triangles of different parts whose boxes meet; a correct cage has about
# 60,000. With more, computing what the parts share would take minutes. The limit is lower if a part
# intersects itself.
_MAX_MEETING = 1_000_000
_MAX_MEETING_TANGLED = 200_000
# Where parts touch, corners this close together are merged when the parts are united.
_SEAM = 1e-5
# Boxes that share less volume than this only touch, up to rounding.
_SPECK = 1e-4
# Error that rounding may add to a distance.
_EXACT = 1e-6
# Decimals to which the most common distance is compared with its limits.
_MODE_DECIMALS = 2
# A matrix with a smaller determinant makes a part flat.
_FLAT = 1e-9
_NOTHING = "No part has usable geometry."
_CROWDED = "The parts touch or cut each other in too many places."


class PlacedPart(NamedTuple):
    """A part in its place in the cage."""

    number: int
    body: Manifold
    core: Manifold
    """Empty if the part is too complex."""
    box: tuple[float, ...]
    """Lowest x, y, z, then highest."""


class Grip(NamedTuple):
    """How a part holds on to the four rods: the volumes that it shares with their cylinders."""

    number: int
    rods: list[float]
    nuts: list[float]
    around: int
    """Number of rods that the part goes all the way around."""


# Placing parts


def place_part(
    index: int, body: Manifold, core: Manifold | None, matrix: Array
) -> PlacedPart | None:
    """Return a part placed by its transform (4, 4); None if it cannot be placed."""
    if np.max(np.abs(matrix)) > FARTHEST or abs(np.linalg.det(matrix[:3, :3])) < _FLAT:
        return None
    to_place = np.ascontiguousarray(matrix[:3])
    shifted = body.transform(to_place)
    shifted_core = Manifold() if core is None else core.transform(to_place)
    return PlacedPart(index, shifted, shifted_core, tuple(shifted.bounding_box()))


def rigidity_fault(matrix: Array, tolerance: float) -> str:
    """Return why a 4 x 4 matrix is not a rigid transform; empty if it is one."""
    if not np.array_equal(matrix[3], (0, 0, 0, 1)):
        return "its last row is not 0, 0, 0, 1"
    if np.max(np.abs(matrix)) > FARTHEST:
        return f"it moves the part more than {FARTHEST:,.0f} mm"
    turn = matrix[:3, :3]
    if np.max(np.abs(turn)) > 1 + tolerance:
        return "it scales"
    if np.max(np.abs(turn.T @ turn - np.eye(3))) > tolerance:
        return "its columns are not perpendicular to each other, or not of length 1"
    return "it mirrors" if np.linalg.det(turn) < 0 else ""


def are_crowded(
    cage: Sequence[PlacedPart], margin: float = 0.0, *, tangled: bool
) -> bool:
    """Whether parts cut each other in too many places for their overlaps to be computed.

    ``margin`` is the largest distance that is measured; ``tangled`` says whether the surface of a
    part may intersect itself.
    """
    bodies = []
    for part in cage:
        shell = shell_of(part.body)
        if len(shell.corners):
            bodies.append(shell.points[shell.corners])
    max_meeting = _MAX_MEETING_TANGLED if tangled else _MAX_MEETING
    return is_crowded(bodies, max_meeting, margin)


def shared_volume(part: PlacedPart, tool: Manifold) -> float:
    """Return the volume that a part shares with another body."""
    return volume(overlap(part, tool))


def overlap(part: PlacedPart, tool: Manifold) -> Manifold:
    """Return what a part shares with another body; empty if it is at most a speck."""
    box = np.array(part.box)
    tool_box = np.array(tool.bounding_box())
    sides = np.minimum(box[3:], tool_box[3:]) - np.maximum(box[:3], tool_box[:3])
    if np.any(sides <= 0) or np.prod(sides) < _SPECK:
        return Manifold()
    return part.body ^ tool


# Criterion 3


def check_size(
    checks: Checklist, params: Params, cage: Sequence[PlacedPart]
) -> Verdict:
    """Criterion 3: the inside is free, and the outside is not too large."""
    if not cage:
        checks.skip(("inside_free", "outer_size"), _NOTHING)
        return checks.binary()
    empty = body_of_space(params.empty)
    outer = body_of_space(params.outer)
    inside = {part.number: shared_volume(part, empty) for part in cage}
    outside = {part.number: volume_outside(part, outer) for part in cage}
    for check, volumes, where in (
        ("inside_free", inside, "inside the cage"),
        ("outer_size", outside, "outside of the cage"),
    ):
        total = round(sum(volumes.values()), 3)
        # Only parts with at least a hundredth of the excess volume are listed.
        parts = [i for i, size in volumes.items() if size > params.overlap / 100]
        checks.expect(
            check,
            total <= params.overlap,
            f"{total:g} mm³ of the parts are {where}.",
            volume=total,
            parts=parts,
        )
    return checks.binary()


def body_of_space(space: Space) -> Manifold:
    """Return a space as a body."""
    size = (*space.sides, space.z[1] - space.z[0])
    low = (-space.sides[0] / 2, -space.sides[1] / 2, space.z[0])
    return Manifold.cube(size).translate(low)


def volume_outside(part: PlacedPart, box: Manifold) -> float:
    """Return the volume of a part that lies outside a box."""
    part_box = np.array(part.box)
    ends = np.array(box.bounding_box())
    is_inside = np.all(ends[:3] <= part_box[:3]) and np.all(ends[3:] >= part_box[3:])
    if is_inside:
        return 0.0
    return max(0.0, round(volume(part.body) - shared_volume(part, box), 6))


# Criteria 4 and 6


def find_grips(params: Params, cage: Sequence[PlacedPart]) -> list[Grip]:
    """Return how each part holds on to the rods, with volumes for each corner."""
    rods = params.rods
    thin = cylinders(rods.at, rods.free, rods.free_z, rods.facets)
    thick = cylinders(rods.at, rods.gripped, rods.free_z, rods.facets)
    grips = []
    for part in cage:
        nuts = [shared_volume(part, tool) for tool in thick]
        rod_volumes = [shared_volume(part, tool) for tool in thin]
        around = rods_around(params, part.core, rod_places(rods.at))
        grips.append(Grip(part.number, rod_volumes, nuts, around))
    return grips


@lru_cache(maxsize=64)
def cylinders(
    at: float, diameter: float, z: tuple[float, ...], facets: int
) -> list[Manifold]:
    """Return prisms around the cylinders at the four corners of a square."""
    # Sides touch the cylinder from outside.
    radius = diameter / 2 / np.cos(np.pi / facets)
    rod = Manifold.cylinder(z[1] - z[0], radius, radius, facets)
    return [rod.translate((x, y, z[0])) for x, y in rod_places(at)]


def rod_places(at: float) -> list[list[float]]:
    """Return x and y of the four rods."""
    return [[-at, -at], [at, -at], [at, at], [-at, at]]


def check_rods(checks: Checklist, params: Params, grips: Sequence[Grip]) -> Verdict:
    """Criterion 4: rods pass at the corners, nuts do not."""
    if not grips:
        checks.skip(("rod_passes", "nut_held"), _NOTHING)
        return checks.binary()
    blocked = []
    loose = []
    for k, corner in enumerate(rod_places(params.rods.at)):
        rod_overlap = round(sum(grip.rods[k] for grip in grips), 6)
        if rod_overlap >= params.overlap:
            parts = [
                grip.number for grip in grips if grip.rods[k] > params.overlap / 100
            ]
            blocked.append(
                {"corner": corner, "volume": round(rod_overlap, 3), "parts": parts}
            )
        nut_overlap = round(sum(grip.nuts[k] for grip in grips), 6)
        if nut_overlap <= params.overlap:
            loose.append({"corner": corner, "volume": round(nut_overlap, 3)})
    checks.forbid(
        "rod_passes",
        blocked,
        lambda item: (
            f"{item['volume']:g} mm³ of material block the rod at {item['corner']}."
        ),
    )
    checks.forbid(
        "nut_held", loose, lambda item: f"Nothing holds a nut at {item['corner']}."
    )
    return checks.binary()


def check_grip(checks: Checklist, params: Params, grips: Sequence[Grip]) -> Verdict:
    """Criterion 6: every part goes all the way around the required number of rods."""
    judge_grips(checks, "rods_gripped", params, grips)
    return checks.binary(rods=[[grip.number, grip.around] for grip in grips])


def check_held(checks: Checklist, params: Params, grips: Sequence[Grip]) -> None:
    """Record the same check as ``held`` for another criterion on the assembly."""
    judge_grips(checks, "held", params, grips)


def judge_grips(
    checks: Checklist, check_id: str, params: Params, grips: Sequence[Grip]
) -> None:
    """Record a check that every part goes all the way around the required number of rods."""
    least = params.rods.least
    for_each(
        checks,
        check_id,
        [(grip.number, grip.around) for grip in grips],
        lambda count: (
            ""
            if count >= least
            else f"goes all the way around {counted(count, 'rod')}; at least {least} are required"
        ),
        lambda count: {"rods": count},
    )


# Criterion 5


def check_interference(
    checks: Checklist, params: Params, cage: Sequence[PlacedPart], *, too_many: bool
) -> Verdict:
    """Criterion 5: no two parts overlap, and all are connected."""
    if too_many:
        checks.expect("resource_limit", False, _CROWDED)
        checks.skip(("interference", "one_assembly"), _CROWDED)
        return checks.binary()
    if not cage:
        checks.skip(("interference", "one_assembly"), _NOTHING)
        return checks.binary()
    clashes = []
    overlapping = []
    for (k, a), (m, b) in combinations(enumerate(cage), 2):
        shared = overlap(a, b.body)
        size = volume(shared)
        if size > params.overlap:
            box = [round(value, 3) + 0.0 for value in shared.bounding_box()]
            clashes.append(
                {
                    "parts": [a.number, b.number],
                    "volume": round(size, 3),
                    "low": box[:3],
                    "high": box[3:],
                }
            )
            overlapping.append((k, m))
    checks.forbid(
        "interference",
        clashes,
        lambda item: (
            f"Pairs of parts that overlap: {len(clashes)}. The first is {item['parts']}, by "
            f"{item['volume']:g} mm³."
        ),
    )
    check_assembly(checks, params, cage, overlapping)
    return checks.binary(pairs=len(cage) * (len(cage) - 1) // 2)


def check_assembly(
    checks: Checklist,
    params: Params,
    cage: Sequence[PlacedPart],
    overlapping: Sequence[tuple[int, int]],
) -> None:
    """Check that all parts are connected, given the positions of pairs that overlap."""
    bodies = [part.body for part in cage]
    apart = len(groups(bodies, overlapping)) > 1
    if apart and are_crowded(cage, params.touch, tangled=False):
        close = "Parts come close to each other in too many places."
        checks.expect("resource_limit", False, close)
        checks.skip("one_assembly", close)
        return
    assemblies = groups(bodies, overlapping, params.touch)
    numbers = [[cage[k].number for k in group] for group in assemblies]
    wrong = (
        f"The parts form {len(assemblies)} groups that are more than {params.touch:g} mm apart: "
        f"{numbers}."
    )
    checks.expect("one_assembly", len(assemblies) == 1, wrong, groups=numbers)


def groups(
    bodies: Sequence[Manifold],
    joined: Sequence[tuple[int, int]],
    touch: float | None = None,
) -> list[list[int]]:
    """Return the positions of connected bodies, group by group.

    ``joined`` has the positions of pairs that are known to touch. Other pairs touch if they are at
    most ``touch`` apart; if it is None, they are not measured.
    """
    pairs = list(joined)
    label = group_labels(len(bodies), pairs)
    if touch is not None:
        boxes = [np.array(body.bounding_box()) for body in bodies]
        for i, j in combinations(range(len(bodies)), 2):
            gaps = np.maximum(boxes[i][:3] - boxes[j][3:], boxes[j][:3] - boxes[i][3:])
            # Cheap tests first: the distance of two bodies is costly.
            if label[i] == label[j] or gaps.max() > touch + _EXACT:
                continue
            if bodies[i].min_gap(bodies[j], touch + 1) <= touch + _EXACT:
                pairs.append((i, j))
                label = group_labels(len(bodies), pairs)
    return [np.flatnonzero(label == k).tolist() for k in range(int(label.max()) + 1)]


def group_labels(count: int, pairs: Sequence[tuple[int, int]]) -> Indices:
    """Return a label (count,) for each body, equal for bodies that pairs connect."""
    return components(count, np.array(pairs, dtype=np.int64).reshape(-1, 2))


# Criterion 8


def check_gaps(
    checks: Checklist, params: Params, cage: Sequence[PlacedPart], *, too_many: bool
) -> Verdict:
    """Criterion 8: along x and y, the gaps between bars are nearly equal."""
    rules = params.gaps
    distances = None
    if too_many:
        checks.expect("resource_limit", False, _CROWDED)
    elif cage:
        distances = cage_distances(cage, rules)
        if distances is None:
            checks.expect(
                "resource_limit", False, "The cage has too many facets to measure."
            )
    if distances is None:
        checks.skip(("gap_faces", "gaps"), "There is no cage that can be measured.")
        return checks.binary()
    checks.expect(
        "gap_faces",
        len(distances.values) >= rules.least,
        f"The cage has {counted(len(distances.values), 'face')} to measure gaps from; at least "
        f"{rules.least} are required.",
    )
    wrong = mode_is_off(distances, rules)
    checks.expect(
        "gaps", not wrong, f"The cage {wrong}.", **distance_figures(distances)
    )
    return checks.binary(gap=distances.mode)


def cage_distances(cage: Sequence[PlacedPart], rules: Survey) -> Distances | None:
    """Return the gaps of a cage along x and y; None if it has too many facets."""
    if sum(part.body.num_tri() for part in cage) > _MAX_TRIANGLES:
        return None
    # Pieces of a plane that come from different parts are joined again.
    union = unite(part.body for part in cage).as_original().simplify(_SEAM)
    return survey(shell_of(union), rules, "out", (0, 1))


# Used by criteria on single parts, too


def for_each(
    checks: Checklist,
    check: str,
    items: Sequence[tuple[int, Any]],
    fault: Callable[[Any], str],
    figures: Callable[[Any], dict[str, Any]],
) -> None:
    """Record one check over all parts that can be examined.

    Args:
        checks: records the check.
        check: its id.
        items: the number of each part, and the object that the check looks at.
        fault: returns the fault of an object, to follow the words "Part 3", or an empty text.
        figures: returns the figures that are reported with a fault.
    """
    if not items:
        checks.skip(check, _NOTHING)
        return
    wrong = []
    for number, item in items:
        why = fault(item)
        if why:
            wrong.append({"part": number, "why": why, **figures(item)})
    checks.forbid(check, wrong, lambda item: f"Part {item['part']} {item['why']}.")


def mode_is_off(distances: Distances, rules: Survey) -> str:
    """Return the fault of measured distances, to follow the name of the part, or an empty text."""
    if distances.mode is None:
        return "has no distances that can be measured"
    # Places of parts are rounded, so a distance of exactly the limit may be a little off.
    if not rules.wanted[0] <= round(distances.mode, _MODE_DECIMALS) <= rules.wanted[1]:
        return f"mostly measures {distances.mode:g} mm"
    if distances.share < rules.share:
        return f"measures {distances.mode:g} mm in only {100 * distances.share:.3g} % of the places"
    return ""


def distance_figures(distances: Distances) -> dict[str, Any]:
    """Return the figures of measured distances that a picture needs."""
    share = round(distances.share, 4)
    return {"mode": distances.mode, "share": share, "faces": len(distances.values)}
