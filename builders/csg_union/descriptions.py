"""Solids in words and numbers: in full for the prompt, and in brief for the terse prompt."""

from collections.abc import Sequence
from typing import NamedTuple

from scbench.builders.shared.builder import data_file
from scbench.schemas.csg_union import Box, Polyhedron, Prism, Solid, UvSphere


class Filling(NamedTuple):
    """A kind of solid in ``solids.json``, and the values for its texts."""

    kind: str
    values: dict[str, object]


def description_in_own_frame(solid: Solid) -> str:
    """Return a description of a solid in its own frame, with its rotation and translation."""
    steps = []
    if any(solid.rotation_deg_xyz):
        steps.append(f"turned by {point_text(solid.rotation_deg_xyz)}")
    if any(solid.translation):
        steps.append(f"moved by {point_text(solid.translation)}")
    place = ", then ".join(steps) or "left where it is"
    return f"{_text(filling_of(solid), 'full')}; {place}."


def short_description(solid: Solid) -> str:
    """Return a solid's size and place in words; only nameless solids list their corners."""
    filling = filling_of(solid)
    turns = ""
    for axis, angle in zip("xyz", solid.rotation_deg_xyz, strict=True):
        if angle:
            turns += f", turned {digits(angle)} about {axis}"
    place = "centred at"
    if filling.kind == "polyhedron":
        place = "moved by"
    elif isinstance(solid, Prism) and not solid.centred_z:
        place = "the centre of its base at"
    return f"{_text(filling, 'brief')}{turns}, {place} {point_text(solid.translation)}"


def _text(filling: Filling, length: str) -> str:
    text: str = data_file(__package__, "solids.json")[filling.kind][length]
    return text.format(**filling.values)


def filling_of(solid: Solid) -> Filling:
    """Return the kind of a solid, and the values for its texts."""
    match solid:
        case Box():
            x, y, z = solid.size
            return Filling("box", {"x": digits(x), "y": digits(y), "z": digits(z)})
        case Prism():
            return Filling(_kind_of_prism(solid), _prism_values(solid))
        case UvSphere():
            rings = solid.segments // 2
            values = {
                "n": solid.segments,
                "last": solid.segments - 1,
                "rings": rings,
                "top": rings - 1,
                "r": digits(solid.radius),
            }
            return Filling("sphere", values)
        case Polyhedron():
            corners = [point_text(corner) for corner in solid.vertices]
            points = [f"{i} at {corner}" for i, corner in enumerate(corners)]
            faces = [str(list(face)) for face in solid.faces]
            values = {
                "corners": ", ".join(corners),
                "points": ", ".join(points),
                "faces": ", ".join(faces),
            }
            return Filling("polyhedron", values)


def _kind_of_prism(prism: Prism) -> str:
    if not prism.radius_top:
        return "pyramid"
    if prism.radius_top == prism.radius_bottom:
        return "prism"
    return "frustum"


def _prism_values(prism: Prism) -> dict[str, object]:
    low = -prism.height / 2 if prism.centred_z else 0.0
    return {
        "below": digits(prism.radius_bottom),
        "above": digits(prism.radius_top),
        "low": digits(low),
        "high": digits(low + prism.height),
        "height": digits(prism.height),
        "n": prism.segments,
        "last": prism.segments - 1,
    }


def point_text(values: Sequence[float]) -> str:
    """Return coordinates or angles in brackets."""
    return f"({', '.join([digits(value) for value in values])})"


def digits(value: float) -> str:
    """Return a number as JSON would print it; whole numbers have no decimal point."""
    return str(int(value)) if value == int(value) else repr(value)
