"""Checks of all parts in their places: size, rods, interference, grip, and the cage's gaps.

Spec: interlocking_parts, "Verification" 3 to 6 and 8, in their correct form. Each function records
its criterion's checks and returns figures worth reporting.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from manifold3d import Manifold

from scbench.graders.interlocking_parts.cage_faces import groups
from scbench.graders.interlocking_parts.printed_parts import FARTHEST
from scbench.graders.interlocking_parts.thickness import Distances, survey
from scbench.graders.interlocking_parts.triangle_meshes import Shell
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.mesh_booleans import unite, volume
from scbench.graders.shared.meshes import Array
from scbench.graders.shared.triangle_contacts import is_crowded
from scbench.schemas.interlocking_parts import Params, Space, Survey

_MAX_TRIANGLES = 120_000
_MAX_MEETING = {False: 1_000_000, True: 200_000}
"""Pairs of triangles of different parts whose boxes meet: in a right cage some 60,000. Where there
are more, to find out what the parts share would take minutes, sooner so if parts are tangled."""
_SEAM = 1e-5
_SPECK = 1e-4
_NOTHING = "No part has the geometry for this."
_CROWDED = "The parts cut each other in too many places."


class PlacedPart(NamedTuple):
    """A part in its place in the cage."""

    number: int
    body: Manifold
    box: tuple[float, ...]
    """Lowest x, y, z, then highest."""


def place(index: int, body: Manifold, matrix: Array) -> PlacedPart | None:
    """Return a part where its transform (4, 4) puts it; None if that is no place."""
    if np.max(np.abs(matrix)) > FARTHEST or abs(np.linalg.det(matrix[:3, :3])) < 1e-9:
        return None
    shifted = body.transform(np.ascontiguousarray(matrix[:3]))
    return PlacedPart(index, shifted, tuple(shifted.bounding_box()))


def not_rigid(matrix: Array, tolerance: float) -> str:
    """Return why a matrix (4, 4) is not a turn and a shift, or an empty text."""
    if not np.array_equal(matrix[3], (0, 0, 0, 1)):
        return "its last row is not 0, 0, 0, 1"
    if np.max(np.abs(matrix)) > FARTHEST:
        return f"it moves the part by more than {FARTHEST:,.0f} mm"
    turn = matrix[:3, :3]
    if np.max(np.abs(turn)) > 1 + tolerance:
        return "it scales"
    if np.max(np.abs(turn.T @ turn - np.eye(3))) > tolerance:
        return "its columns are not square to each other and of length 1"
    return "it mirrors" if np.linalg.det(turn) < 0 else ""


def for_each(
    checks: Checklist,
    check: str,
    items: Sequence[tuple[int, Any]],
    fault: Callable[[Any], str],
    show: Callable[[Any], dict[str, Any]],
) -> None:
    """Record one check over all parts that can be looked at."""
    if not items:
        checks.skip(check, _NOTHING)
        return
    wrong = [{"part": i, "why": why, **show(item)} for i, item in items if (why := fault(item))]
    checks.forbid(check, wrong, lambda item: f"Part {item['part']} {item['why']}.")


def mode_is_off(distances: Distances, rules: Survey) -> str:
    """Return what is wrong with the distances found, to follow the name of what was measured."""
    if distances.mode is None:
        return "has no distances"
    if not rules.wanted[0] <= distances.mode <= rules.wanted[1]:
        return f"mostly measures {distances.mode:g} mm"
    if distances.share < rules.share:
        return f"measures {distances.mode:g} mm in only {100 * distances.share:.3g} % of the places"
    return ""


def distance_figures(distances: Distances) -> dict[str, Any]:
    """Return what a picture needs of the distances found."""
    share = round(distances.share, 4)
    return {"mode": distances.mode, "share": share, "faces": len(distances.values)}


def _box(space: Space) -> Manifold:
    size = (*space.sides, space.z[1] - space.z[0])
    low = (-space.sides[0] / 2, -space.sides[1] / 2, space.z[0])
    return Manifold.cube(size).translate(low)


def _common(body: PlacedPart, tool: Manifold) -> float:
    """Return the volume that a part shares with a body."""
    low, high = np.array(body.box), np.array(tool.bounding_box())
    shared = np.minimum(low[3:], high[3:]) - np.maximum(low[:3], high[:3])
    if np.any(shared <= 0) or np.prod(shared) < _SPECK:
        return 0.0  # parts that only touch do so up to rounding errors
    return volume(body.body ^ tool)


def _volume_outside(body: PlacedPart, box: Manifold) -> float:
    """Return the volume that a part has outside of a box."""
    ends = box.bounding_box()
    if all(a <= b for a, b in zip(ends[:3], body.box[:3], strict=True)) and all(
        a >= b for a, b in zip(ends[3:], body.box[3:], strict=True)
    ):
        return 0.0
    return max(0.0, round(volume(body.body) - _common(body, box), 6))


def crowded(cage: Sequence[PlacedPart], margin: float = 0.0, *, tangled: bool) -> bool:
    """Whether parts cut each other in too many places for their overlaps to be computed.

    Args:
        cage: the parts in their places.
        margin: how far apart those may be whose distance is asked for.
        tangled: whether there is one among them whose surface cuts itself, as it may.
    """
    meshes = [part.body.to_mesh64() for part in cage]
    points = [np.asarray(mesh.vert_properties)[:, :3] for mesh in meshes]
    corners = [np.asarray(mesh.tri_verts).astype(np.int64) for mesh in meshes]
    bodies = [p[c] for p, c in zip(points, corners, strict=True) if len(c)]
    return is_crowded(bodies, _MAX_MEETING[tangled], margin)


def check_size(checks: Checklist, params: Params, cage: Sequence[PlacedPart]) -> dict[str, Any]:
    """Criterion 3: the inside is free, and the outside is not too large."""
    if not cage:
        checks.skip(("inside_free", "outer_size"), _NOTHING)
        return {}
    empty, outer = _box(params.empty), _box(params.outer)
    inside = [(part.number, _common(part, empty)) for part in cage]
    outside = [(part.number, _volume_outside(part, outer)) for part in cage]
    for check, volumes, where in (
        ("inside_free", inside, "inside the cage"),
        ("outer_size", outside, "outside of the cage"),
    ):
        total = round(sum(size for _, size in volumes), 3)
        checks.expect(
            check,
            total <= params.overlap,
            f"{total:g} mm³ of the parts are {where}.",
            volume=total,
            parts=[i for i, size in volumes if size > params.overlap / 100],
        )
    return {}


@lru_cache(maxsize=64)
def _cylinders(at: float, diameter: float, z: tuple[float, ...], facets: int) -> list[Manifold]:
    """Return prisms around the cylinders at the four corners of a square."""
    radius = diameter / 2 / np.cos(np.pi / facets)
    rod = Manifold.cylinder(z[1] - z[0], radius, radius, facets)
    return [rod.translate((x, y, z[0])) for x, y in _corners(at)]


def _corners(at: float) -> list[list[float]]:
    return [[-at, -at], [at, -at], [at, at], [-at, at]]


class Grip(NamedTuple):
    """What a part shares with the cylinders around the four rods."""

    number: int
    rods: list[float]
    nuts: list[float]
    gripped: list[float]
    """As ``nuts``, but between the heights at which parts are to be gripped."""


def find_grips(params: Params, cage: Sequence[PlacedPart]) -> list[Grip]:
    """Return what every part shares with the cylinders around the rods, corner by corner."""
    rods = params.rods
    thin = _cylinders(rods.at, rods.free, rods.free_z, rods.facets)
    thick = _cylinders(rods.at, rods.gripped, rods.free_z, rods.facets)
    short = _cylinders(rods.at, rods.gripped, rods.gripped_z, rods.facets)
    grips = []
    for part in cage:
        nuts = [_common(part, tool) for tool in thick]
        same = all(
            z[0] <= part.box[2] and part.box[5] <= z[1] for z in (rods.free_z, rods.gripped_z)
        )
        gripped = nuts if same else [_common(part, tool) for tool in short]
        grips.append(Grip(part.number, [_common(part, tool) for tool in thin], nuts, gripped))
    return grips


def check_rods(checks: Checklist, params: Params, grips: Sequence[Grip]) -> dict[str, Any]:
    """Criterion 4: rods pass at the corners, nuts do not."""
    if not grips:
        checks.skip(("rod_passes", "nut_held"), _NOTHING)
        return {}
    blocked, open_ = [], []
    for k, corner in enumerate(_corners(params.rods.at)):
        in_way = round(sum(grip.rods[k] for grip in grips), 6)
        if in_way >= params.overlap:
            parts = [grip.number for grip in grips if grip.rods[k] > params.overlap / 100]
            blocked.append({"corner": corner, "volume": round(in_way, 3), "parts": parts})
        met = round(sum(grip.nuts[k] for grip in grips), 6)
        if met <= params.overlap:
            open_.append({"corner": corner, "volume": round(met, 3)})
    checks.forbid(
        "rod_passes",
        blocked,
        lambda item: f"The rod at {item['corner']} has {item['volume']:g} mm³ in its way.",
    )
    checks.forbid("nut_held", open_, lambda item: f"Nothing holds a nut at {item['corner']}.")
    return {}


def check_interference(
    checks: Checklist, params: Params, cage: Sequence[PlacedPart], *, too_many: bool
) -> dict[str, Any]:
    """Criterion 5: no two parts are in the same place, and all hang together."""
    if too_many:
        checks.expect("resource_limit", False, _CROWDED)
        checks.skip(("interference", "one_assembly"), _CROWDED)
        return {}
    if not cage:
        checks.skip(("interference", "one_assembly"), _NOTHING)
        return {}
    clashes, overlapping = [], []
    for (k, a), (m, b) in combinations(enumerate(cage), 2):
        size = _common(a, b.body)
        if size > params.overlap:
            box = [round(value, 3) + 0.0 for value in (a.body ^ b.body).bounding_box()]
            clash = {"parts": [a.number, b.number], "volume": round(size, 3)}
            clashes.append(clash | {"low": box[:3], "high": box[3:]})
            overlapping.append((k, m))
    fault = "pairs of parts overlap"
    checks.forbid_many(
        "interference",
        clashes,
        fault,
        lambda item: f"is {item['parts']}, by {item['volume']:g} mm³",
    )
    _check_together(checks, params, cage, overlapping)
    return {"pairs": len(cage) * (len(cage) - 1) // 2}


def _check_together(
    checks: Checklist,
    params: Params,
    cage: Sequence[PlacedPart],
    overlapping: Sequence[tuple[int, int]],
) -> None:
    bodies = [part.body for part in cage]
    if len(groups(bodies, overlapping)) > 1 and crowded(cage, params.touch, tangled=False):
        close = "Parts are close to each other in too many places."
        checks.expect("resource_limit", False, close)
        checks.skip("one_assembly", close)
        return
    assemblies = groups(bodies, overlapping, params.touch)
    numbers = [[cage[k].number for k in group] for group in assemblies]
    wrong = (
        f"The parts fall into {len(assemblies)} groups that come nowhere within {params.touch:g} "
        f"mm of each other: {numbers}."
    )
    checks.expect("one_assembly", len(assemblies) == 1, wrong, groups=numbers)


def check_grip(checks: Checklist, params: Params, grips: Sequence[Grip]) -> dict[str, Any]:
    """Criterion 6: the rods hold every part."""
    least = params.rods.least
    counts = [(grip.number, sum(size > params.overlap for size in grip.gripped)) for grip in grips]
    for_each(
        checks,
        "rods_gripped",
        counts,
        lambda count: "" if count >= least else f"grips {count} rods",
        lambda count: {"rods": count},
    )
    return {"rods": [list(pair) for pair in counts]}


def check_gaps(
    checks: Checklist, params: Params, cage: Sequence[PlacedPart], *, too_many: bool
) -> dict[str, Any]:
    """Criterion 8: from bar to bar, along x and y, it is about as far everywhere."""
    rules = params.gaps
    distances = None
    if too_many:
        cage = ()
        checks.expect("resource_limit", False, _CROWDED)
    if cage and sum(part.body.num_tri() for part in cage) <= _MAX_TRIANGLES:
        # What was cut where parts touch is put together again.
        union = unite(part.body for part in cage).as_original().simplify(_SEAM)
        mesh = union.to_mesh64()
        points = np.asarray(mesh.vert_properties)[:, :3]
        distances = survey(
            Shell(points, np.asarray(mesh.tri_verts).astype(np.int64)), rules, "out", (0, 1)
        )
    if distances is None:
        if cage:
            checks.expect("resource_limit", False, "The cage has too many facets to measure.")
        checks.skip(("gap_faces", "gaps"), "There is no cage that can be measured.")
        return {}
    checks.expect(
        "gap_faces",
        len(distances.values) >= rules.least,
        f"The cage has {len(distances.values)} faces to measure gaps from, not {rules.least}.",
    )
    wrong = mode_is_off(distances, rules)
    checks.expect("gaps", not wrong, f"The cage {wrong}.", **distance_figures(distances))
    return {"gap": distances.mode}
