"""Checks that the six sides of the cage stop a large block and let a small one through.

A side's face is the part of it that bounds the free space inside. Only material between the inner
space, which no part may enter, and the outer space, which no part may leave, counts here.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from manifold3d import CrossSection, Manifold

from scbench.graders.interlocking_parts.columns import MAX_OUTLINE, dilate
from scbench.graders.interlocking_parts.side_bars import (
    WIDE,
    bars_of,
    has_slot,
    has_strap,
    thickness_fault,
)
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.vectors import Array
from scbench.schemas.interlocking_parts import Params

# Share of a side that the small block must sweep.
OPEN_SHARE = 0.5
_NO_PART = "No part has usable geometry."


class Side(NamedTuple):
    """A side of the cage: the layer in which its material lies."""

    name: str
    axis: int
    """The axis across the side: 0, 1 or 2."""
    low: float
    high: float
    """Ends of the layer along the axis."""


class SideFaults(NamedTuple):
    """The errors in the six sides of a cage."""

    wrong: list[dict[str, Any]]
    """Sides that the large block enters or the small one does not pass, each with the fault."""
    too_long: list[str]
    """Sides whose outline is too long to check."""
    with_straps: list[tuple[str, str]]
    """Sides whose bars are too wide or not of the required thickness, each with the fault."""
    with_slots: list[str]
    """Sides whose bars let a long block in."""


def find_side_faults(
    params: Params, bodies: Sequence[Manifold], cores: Sequence[Manifold]
) -> SideFaults:
    """Return the sides that let the large block in, or the small one in too few places.

    All material of the bodies stops the small block. Only their cores stop the large block and
    count as bars.

    The places where the small block passes, grown by the widest gap and a bar, must cover the side.
    Grown by half the block, they are the area that it sweeps, which must cover a share of the side.
    """
    rules = params.spacing
    reach = params.gap[1] + params.bar
    faults = SideFaults([], [], [], [])
    for side in sides_of(params):
        turn = turn_to_z(side.axis)
        turned_cores = [core.transform(turn) for core in cores]
        shadow = axis_shadow([body.transform(turn) for body in bodies], side)
        core_shadow = axis_shadow(turned_cores, side)
        bars = bars_of(turned_cores, params.bar, side.low, side.high)
        outlines = (shadow, core_shadow, *bars.sections)
        if max(outline.num_vert() for outline in outlines) > MAX_OUTLINE:
            faults.too_long.append(side.name)
            continue
        face = face_of(params, side.axis)
        why = thickness_fault(bars, turned_cores, face, params.thickness.wanted)
        if has_strap(bars.sections, face, params.bar, rules.ignored_area):
            wide = WIDE * params.bar
            why = f"has bars on which a square of {wide:g} x {wide:g} mm fits"
        if why:
            faults.with_straps.append((side.name, why))
        slot_block = (rules.free, rules.blocked)
        if has_slot(bars.sections, face, params.bar, slot_block, rules.ignored_area):
            faults.with_slots.append(side.name)
        stopped = dilate(core_shadow, rules.blocked / 2)
        unblocked = round((face - stopped).area(), 3)
        free = without_specks(face - dilate(shadow, rules.free / 2), rules.ignored_area)
        far = round((face - dilate(free, reach)).area(), 3)
        block = rules.free
        if unblocked > rules.ignored_area:
            block = rules.blocked
            why = "can enter through"
        elif far > rules.ignored_area and free.is_empty():
            why = "cannot pass through any part of"
        elif far > rules.ignored_area:
            why = "can pass through too few places on"
        elif sweeps_too_little(free, face, rules.free):
            why = "sweeps too little of"
        else:
            continue
        faults.wrong.append({"face": side.name, "block": block, "why": why})
    return faults


def check_sides(checks: Checklist, faults: SideFaults | None) -> None:
    """Record the check ``cage`` for a criterion on the assembly; skip it if there is no part."""
    if faults is None:
        checks.skip("cage", _NO_PART)
        return
    if faults.too_long:
        checks.forbid(
            "resource_limit",
            faults.too_long,
            lambda name: f"The outline of the {name} is too long.",
        )
    checks.forbid(
        "cage",
        faults.wrong,
        lambda item: (
            f"A block of {item['block']:g} x {item['block']:g} mm {item['why']} the {item['face']}."
        ),
    )


def check_straps(checks: Checklist, faults: SideFaults | None) -> None:
    """Record the check ``straps`` for the criterion on thickness; skip it if there is no part."""
    if faults is None:
        checks.skip("straps", _NO_PART)
        return
    checks.forbid(
        "straps", faults.with_straps, lambda item: f"The {item[0]} {item[1]}."
    )


def check_slots(checks: Checklist, params: Params, faults: SideFaults | None) -> None:
    """Record the check ``slots`` for the criterion on gaps; skip it if there is no part."""
    if faults is None:
        checks.skip("slots", _NO_PART)
        return
    block = f"A block of {params.spacing.free:g} x {params.spacing.blocked:g} mm"
    checks.forbid(
        "slots",
        faults.with_slots,
        lambda name: f"{block} fits between the bars of the {name}.",
    )


def sides_of(params: Params) -> list[Side]:
    """Return the six sides of the cage."""
    empty = params.empty
    outer = params.outer
    sides = [
        Side("floor", 2, outer.z[0], empty.z[0]),
        Side("roof", 2, empty.z[1], outer.z[1]),
    ]
    for axis, letter in enumerate("xy"):
        near = empty.sides[axis] / 2
        far = outer.sides[axis] / 2
        sides.append(Side(f"wall at -{letter}", axis, -far, -near))
        sides.append(Side(f"wall at +{letter}", axis, near, far))
    return sides


def face_of(params: Params, axis: int) -> CrossSection:
    """Return where the centre of an entering block may be, along the two axes after this one."""
    x, y, z = params.inner
    spans = ((-x / 2, x / 2), (-y / 2, y / 2), (params.bar, params.bar + z))
    west, east = spans[(axis + 1) % 3]
    low, high = spans[(axis + 2) % 3]
    return CrossSection.square((east - west, high - low)).translate((west, low))


def turn_to_z(axis: int) -> Array:
    """Return the matrix (3, 4) that turns an axis to z, and the axes after it to x and y."""
    turn = np.roll(np.eye(3, 4), -(axis + 1), axis=0)
    turn[:, 3] = 0.0
    return np.ascontiguousarray(turn)


def axis_shadow(bodies: Sequence[Manifold], side: Side) -> CrossSection:
    """Return the shadow along z of the material in a side's layer, after `turn_to_z`."""
    shadow = CrossSection()
    for body in bodies:
        box = body.bounding_box()
        if box[2] < side.high and box[5] > side.low:
            above = body.trim_by_plane((0, 0, 1), side.low)
            layer = above.trim_by_plane((0, 0, -1), -side.high)
            shadow += layer.project()
    return shadow


def without_specks(places: CrossSection, ignored: float) -> CrossSection:
    """Return the pieces of an area that are larger than the area that is ignored."""
    pieces = [piece for piece in places.decompose() if round(piece.area(), 3) > ignored]
    return sum(pieces, CrossSection())


def sweeps_too_little(free: CrossSection, face: CrossSection, block: float) -> bool:
    """Whether a block, with its centre at all free places, sweeps less than a share of a face."""
    swept = (dilate(free, block / 2) ^ face).area()
    least = round(OPEN_SHARE * face.area(), 3)
    return bool(swept < least)
