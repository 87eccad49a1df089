"""Checks of all parts in their places: size, sides, rods, interference, grip, and the cage's gaps.

Spec: interlocking_parts, "Verification" 3 to 6 and 8, in their correct form. Each function records
its criterion's checks and returns figures worth reporting. A side's face is the part of it that
bounds the free space inside. Of the material, what counts there is what lies between the space that
no part may enter and the one that none may leave.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from manifold3d import CrossSection, Manifold

from scbench.graders.interlocking_parts.print_checks import MAX_OUTLINE, Shell, grown
from scbench.graders.interlocking_parts.printed_parts import FARTHEST
from scbench.graders.interlocking_parts.thickness import Distances, survey
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.meshes import (
    Array,
    Indices,
    components,
    is_crowded,
    unite,
    volume,
)
from scbench.schemas.interlocking_parts import Params, Space, Survey

# What share of a side the small block sweeps, wherever it passes.
OPEN_SHARE = 0.5
_MAX_TRIANGLES = 120_000
# Pairs of triangles of different parts whose boxes meet: in a right cage some 60,000.
# Where there are more, to find out what the parts share would take minutes, sooner so
# if parts are tangled.
_MAX_MEETING = {False: 1_000_000, True: 200_000}
_SEAM = 1e-5
_SPECK = 1e-4
_NOTHING = "No part has the geometry for this."
_CROWDED = "The parts cut each other in too many places."
_EXACT = 1e-6


class Faces(NamedTuple):
    """What is wrong with the six sides of a cage."""

    wrong: list[dict[str, Any]]
    too_long: list[str]
    """Sides whose outline is too long to be looked at."""


def find_faces(params: Params, bodies: Sequence[Manifold]) -> Faces:
    """Return the sides that let the large block in, or the small one in too few places.

    Those places, grown by the widest gap and a bar, must cover the side, and grown by half the
    block, which is what it sweeps, a share of it.
    """
    rules, faces = params.spacing, Faces([], [])
    reach = params.gap[1] + params.bar
    for name, axis, low, high in _side_layers(params):
        shadow = _axis_shadow(bodies, axis, low, high)
        if shadow.num_vert() > MAX_OUTLINE:
            faces.too_long.append(name)
            continue
        face = _face(params, axis)
        unblocked = round((face - grown(shadow, rules.blocked / 2)).area(), 3)
        free = _without_specks(face - grown(shadow, rules.free / 2), rules.ignored_area)
        far = face - grown(free, reach)
        if unblocked > rules.ignored_area:
            faces.wrong.append(
                {"face": name, "block": rules.blocked, "why": "gets in through"}
            )
        elif round(far.area(), 3) > rules.ignored_area:
            why = (
                "passes nowhere through"
                if free.is_empty()
                else "passes in too few places of"
            )
            faces.wrong.append({"face": name, "block": rules.free, "why": why})
        elif (grown(free, rules.free / 2) ^ face).area() < round(
            OPEN_SHARE * face.area(), 3
        ):
            why = "sweeps too little of"
            faces.wrong.append({"face": name, "block": rules.free, "why": why})
    return faces


def _without_specks(places: CrossSection, ignored: float) -> CrossSection:
    """Return the pieces of an area that are larger than what is ignored."""
    pieces = [piece for piece in places.decompose() if round(piece.area(), 3) > ignored]
    return sum(pieces, CrossSection())


def check_faces(checks: Checklist, faces: Faces | None) -> None:
    """Record the check ``cage`` for a criterion on the assembly; None where there is no part."""
    if faces is None:
        checks.skip("cage", "No part has the geometry for this.")
        return
    if faces.too_long:
        checks.forbid(
            "resource_limit",
            faces.too_long,
            lambda name: f"The outline of the {name} is too long.",
        )
    checks.forbid(
        "cage",
        faces.wrong,
        lambda item: (
            f"A block of {item['block']:g} x {item['block']:g} mm {item['why']} the {item['face']}."
        ),
    )


def _side_layers(params: Params) -> list[tuple[str, int, float, float]]:
    """Return name, axis, and ends along it of the layer in which a side's material lies."""
    empty, outer = params.empty, params.outer
    sides = [("floor", 2, outer.z[0], empty.z[0]), ("roof", 2, empty.z[1], outer.z[1])]
    for axis, letter in enumerate("xy"):
        near, far = empty.sides[axis] / 2, outer.sides[axis] / 2
        sides += [
            (f"wall at -{letter}", axis, -far, -near),
            (f"wall at +{letter}", axis, near, far),
        ]
    return sides


def _face(params: Params, axis: int) -> CrossSection:
    """Return where the centre of a block that comes in may be, in the axes after this one."""
    x, y, z = params.inner
    spans = ((-x / 2, x / 2), (-y / 2, y / 2), (params.bar, params.bar + z))
    (west, east), (low, high) = spans[(axis + 1) % 3], spans[(axis + 2) % 3]
    return CrossSection.square((east - west, high - low)).translate((west, low))


def _axis_shadow(
    bodies: Sequence[Manifold], axis: int, low: float, high: float
) -> CrossSection:
    """Return the shadow, along an axis, of what lies between two planes across it."""
    forward = np.zeros(3)
    forward[axis] = 1.0
    # The axes in turn, so that this one comes last and the shadow falls along it.
    turn = np.roll(np.eye(3, 4), -(axis + 1), axis=0)
    turn[:, 3] = 0.0
    shadow = CrossSection()
    for body in bodies:
        box = body.bounding_box()
        if box[axis] < high and box[axis + 3] > low:
            layer = body.trim_by_plane(forward, low).trim_by_plane(-forward, -high)
            shadow += layer.transform(np.ascontiguousarray(turn)).project()
    return shadow


def groups(
    bodies: Sequence[Manifold],
    joined: Sequence[tuple[int, int]],
    touch: float | None = None,
) -> list[list[int]]:
    """Return the positions of bodies that hang together.

    ``joined`` are positions of two that are known to touch; others do up to the distance ``touch``,
    and are not looked at if that is None.
    """
    pairs = list(joined)

    def labels() -> Indices:
        return components(len(bodies), np.array(pairs, dtype=np.int64).reshape(-1, 2))

    label = labels()
    if touch is not None:
        boxes = [np.array(body.bounding_box()) for body in bodies]
        for i, j in combinations(range(len(bodies)), 2):
            apart = np.maximum(
                boxes[i][:3] - boxes[j][3:], boxes[j][:3] - boxes[i][3:]
            ).max()
            if label[i] == label[j] or apart > touch + _EXACT:
                continue
            if bodies[i].min_gap(bodies[j], touch + 1) <= touch + _EXACT:
                pairs.append((i, j))
                label = labels()
    return [np.flatnonzero(label == k).tolist() for k in range(int(label.max()) + 1)]


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
    wrong = [
        {"part": i, "why": why, **show(item)}
        for i, item in items
        if (why := fault(item))
    ]
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


def _upright_box(space: Space) -> Manifold:
    size = (*space.sides, space.z[1] - space.z[0])
    low = (-space.sides[0] / 2, -space.sides[1] / 2, space.z[0])
    return Manifold.cube(size).translate(low)


def _common(body: PlacedPart, tool: Manifold) -> float:
    low, high = np.array(body.box), np.array(tool.bounding_box())
    shared = np.minimum(low[3:], high[3:]) - np.maximum(low[:3], high[:3])
    if np.any(shared <= 0) or np.prod(shared) < _SPECK:
        return 0.0  # parts that only touch do so up to rounding errors
    return volume(body.body ^ tool)


def _volume_outside(body: PlacedPart, box: Manifold) -> float:
    ends = box.bounding_box()
    if all(a <= b for a, b in zip(ends[:3], body.box[:3], strict=True)) and all(
        a >= b for a, b in zip(ends[3:], body.box[3:], strict=True)
    ):
        return 0.0
    return max(0.0, round(volume(body.body) - _common(body, box), 6))


def crowded(cage: Sequence[PlacedPart], margin: float = 0.0, *, tangled: bool) -> bool:
    """Whether parts cut each other in too many places for their overlaps to be computed.

    ``margin`` is how far apart those may be whose distance is asked for; ``tangled`` says whether
    the surface of one of them cuts itself, as it may.
    """
    meshes = [part.body.to_mesh64() for part in cage]
    points = [np.asarray(mesh.vert_properties)[:, :3] for mesh in meshes]
    corners = [np.asarray(mesh.tri_verts).astype(np.int64) for mesh in meshes]
    bodies = [p[c] for p, c in zip(points, corners, strict=True) if len(c)]
    return is_crowded(bodies, _MAX_MEETING[tangled], margin)


def check_size(
    checks: Checklist, params: Params, cage: Sequence[PlacedPart]
) -> dict[str, Any]:
    """Criterion 3: the inside is free, and the outside is not too large."""
    if not cage:
        checks.skip(("inside_free", "outer_size"), _NOTHING)
        return {}
    empty, outer = _upright_box(params.empty), _upright_box(params.outer)
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
def _cylinders(
    at: float, diameter: float, z: tuple[float, ...], facets: int
) -> list[Manifold]:
    """Return prisms around the cylinders at the four corners of a square."""
    radius = diameter / 2 / np.cos(np.pi / facets)
    rod = Manifold.cylinder(z[1] - z[0], radius, radius, facets)
    return [rod.translate((x, y, z[0])) for x, y in _rod_places(at)]


def _rod_places(at: float) -> list[list[float]]:
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
            z[0] <= part.box[2] and part.box[5] <= z[1]
            for z in (rods.free_z, rods.gripped_z)
        )
        gripped = nuts if same else [_common(part, tool) for tool in short]
        grips.append(
            Grip(part.number, [_common(part, tool) for tool in thin], nuts, gripped)
        )
    return grips


def check_rods(
    checks: Checklist, params: Params, grips: Sequence[Grip]
) -> dict[str, Any]:
    """Criterion 4: rods pass at the corners, nuts do not."""
    if not grips:
        checks.skip(("rod_passes", "nut_held"), _NOTHING)
        return {}
    blocked, open_ = [], []
    for k, corner in enumerate(_rod_places(params.rods.at)):
        in_way = round(sum(grip.rods[k] for grip in grips), 6)
        if in_way >= params.overlap:
            parts = [
                grip.number for grip in grips if grip.rods[k] > params.overlap / 100
            ]
            blocked.append(
                {"corner": corner, "volume": round(in_way, 3), "parts": parts}
            )
        met = round(sum(grip.nuts[k] for grip in grips), 6)
        if met <= params.overlap:
            open_.append({"corner": corner, "volume": round(met, 3)})
    checks.forbid(
        "rod_passes",
        blocked,
        lambda item: (
            f"The rod at {item['corner']} has {item['volume']:g} mm³ in its way."
        ),
    )
    checks.forbid(
        "nut_held", open_, lambda item: f"Nothing holds a nut at {item['corner']}."
    )
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
    if len(groups(bodies, overlapping)) > 1 and crowded(
        cage, params.touch, tangled=False
    ):
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


def check_grip(
    checks: Checklist, params: Params, grips: Sequence[Grip]
) -> dict[str, Any]:
    """Criterion 6: the rods hold every part."""
    least = params.rods.least
    counts = [
        (grip.number, sum(size > params.overlap for size in grip.gripped))
        for grip in grips
    ]
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
            Shell(points, np.asarray(mesh.tri_verts).astype(np.int64)),
            rules,
            "out",
            (0, 1),
        )
    if distances is None:
        if cage:
            checks.expect(
                "resource_limit", False, "The cage has too many facets to measure."
            )
        checks.skip(("gap_faces", "gaps"), "There is no cage that can be measured.")
        return {}
    checks.expect(
        "gap_faces",
        len(distances.values) >= rules.least,
        f"The cage has {len(distances.values)} faces to measure gaps from, not {rules.least}.",
    )
    wrong = mode_is_off(distances, rules)
    checks.expect(
        "gaps", not wrong, f"The cage {wrong}.", **distance_figures(distances)
    )
    return {"gap": distances.mode}
