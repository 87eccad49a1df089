"""Interlocking parts: the prompt, fresh cages, and a design that meets all nine criteria.

The construction works for any size. Two plates are floor and roof. Between them stand storeys of
four equal panels, which lie flat when they are printed. Two neighbouring panels share the bar at
their corner in turns: a panel owns it where its horizontal bars run out to that end, and elsewhere
leaves it to its neighbour, so that a rod in the corner goes through both.
"""

import base64
import json
import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Builder,
    Point,
    parameter,
    prompt_template,
    reply_as,
)
from scbench.graders.interlocking_parts import printed_parts, thickness
from scbench.schemas.interlocking_parts import Answer, Params, Part, Spacing, Survey

_TRIES = 60

_FORM = """\
{"parts": [{"fileContents": "cube([10, 20, 30]);",
            "fileType": "OpenSCAD",
            "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}, ...]}"""

_IN_PLACE = (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)
_CORNERS = [(x, y, z) for x in (0.0, 40.0) for y in (0.0, 40.0) for z in (0.0, 10.0)]
_SIDES = [
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
]
PLATE_SIDES = 48
DROP_SIDES = 24
# By how much the radius of a hole exceeds the rod's.
CLEARANCE = 0.2
# Lowest x, y, z, then highest.
Box = tuple[float, float, float, float, float, float]
Matrix = tuple[float, ...]


class Layout(NamedTuple):
    """Where the bars of a cage are."""

    reach: float
    """Largest |x| and |y| of the axes of bars."""
    gaps: int
    """Gaps along x and along y."""
    pitch: float
    rings: int
    """Gaps along z."""
    rise: float
    """From ring to ring."""
    floors: tuple[int, ...]
    """Ring at which each storey begins, and the last ends."""


class Space(Point):
    """Parameters of fresh cages."""

    side: int = parameter(190, "widest free inside, in mm", ge=150, le=350)
    storey: int = parameter(200, "highest storey, in mm", ge=150, le=350)
    storeys: int = parameter(1, "storeys, of four wall panels each", ge=1, le=3)
    bar: int = parameter(10, "side of the square bars, in mm", ge=8, le=16)
    gap: int = parameter(30, "least gap between bars, in mm", ge=25, le=60)
    rod: int = parameter(6, "thickest rod, in mm", ge=3, le=8)
    vary: int = parameter(
        0,
        "by how many mm more sides and storeys may be smaller; a tenth of it is how much "
        "thicker bars may be",
        ge=0, le=100, later=True,
    )  # fmt: skip
    shown: int = parameter(
        0,
        "parts of a right answer that the prompt shows; more is easier",
        ge=0,
        le=13,
        later=True,
    )

    @model_validator(mode="after")
    def _something_is_left(self) -> "Space":
        parts = 2 + 4 * self.storeys
        if self.shown >= parts:
            raise ValueError(f"of {parts} parts at most {parts - 1} can be shown")
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Cages that divide into two plates and storeys of four panels."""

    task = "interlocking_parts"
    version = 4

    def words(self, params: Params) -> dict[str, object]:
        """Return every number of the cage and of the criteria."""
        return {
            "p": params,
            "limits": printed_parts,
            "one_face": thickness.ONE_FACE,
            "window": params.gap[1] + params.bar,
            "empty": [side / 2 for side in params.empty.sides],
            "outer": [side / 2 for side in params.outer.sides],
            "face": [side / 2 for side in params.inner],
            "face_high": params.bar + params.inner[2],
            "thickness_share": 100 * params.thickness.share,
            "gaps_share": 100 * params.gaps.share,
        }

    def prompt(self, params: Params) -> str:
        """Return the cage, the rules and the nine criteria."""
        text = _rewrapped(prompt_template(__name__).format(**self.words(params)))
        if params.shown:
            parts = self.reference(params).model_dump(mode="json")["parts"][
                : params.shown
            ]
            hint = prompt_template(__package__, "prompt_shown.txt")
            text += hint.format(n=len(parts), parts=json.dumps(parts, indent=1)) + "\n"
        return text + reply_as(_FORM)

    def reference(self, params: Params) -> Answer:
        """Divide the cage into plates and panels, as OpenSCAD source."""
        return Answer(
            parts=tuple(
                Part(fileContents=contents, fileType="OpenSCAD", transform=matrix)
                for contents, matrix in parts_of(
                    params, _layout_of(params), to_openscad
                )
            )
        )

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return cages with one fault each, and answers that are not valid parts."""
        plan = _layout_of(params)
        right: list[Any] = self.reference(params).model_dump(mode="json")["parts"]
        floor = plate(params, plan)

        def changed(*changes: tuple[int, Mapping[str, object]]) -> JsonValue:
            parts: list[Any] = [dict(part) for part in right]
            for i, change in changes:
                parts[i].update(change)
            return {"parts": parts}

        def shifted(i: int, entry: int, by: float, *, factor: float = 1.0) -> JsonValue:
            matrix = list(right[i]["transform"])
            matrix[entry] = matrix[entry] * factor + by
            return changed((i, {"transform": matrix}))

        def floors(piece: Piece, shift: float = 0.0) -> JsonValue:
            stl = {"fileContents": to_binary_stl(piece, shift), "fileType": "STL"}
            tops = (0.0, plan.rings * plan.rise)
            return changed(
                *(
                    (i, {**stl, "transform": lifted(z - shift)})
                    for i, z in enumerate(tops)
                )
            )

        thin = floor._replace(radius=params.rods.free / 2 - 0.15)
        frame = floor._replace(boxes=tuple(rim_of(floor.boxes, plan.reach)))
        thick = floor._replace(boxes=tuple(thickened(floor.boxes, plan.reach)))
        return {
            "empty": {"parts": []},
            "one_part_too_many": {"parts": [*right, right[-1]]},
            "one_part_scaled": shifted(1, 10, 0.0, factor=1.02),
            "one_part_shifted_into_another": shifted(1, 11, -params.bar / 2),
            "roof_too_high": shifted(1, 11, 2 * params.bar + 1),
            "roof_in_the_air": shifted(1, 11, 2 * params.bar),
            "floor_above_the_bed": floors(floor, 0.5),
            "holes_too_small": floors(thin),
            "bars_too_thick": floors(thick),
            "gap_too_wide": floors(frame),
            "surface_not_closed": changed((0, {"fileContents": open_block(), "fileType": "STL"})),
            "self_intersecting": changed((0, {"fileContents": crossed_block(), "fileType": "STL"})),
            "wants_a_file": changed((0, {"fileContents": 'import("plate.stl");'})),
        }  # fmt: skip

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return one plain grid of bars, as often as there are parts."""
        bar, (low, high) = params.bar, params.gap
        pitch = bar + (low + high) / 2
        room = min(params.printing.bed[:2]) - bar
        gaps = int(room // pitch)
        end = gaps * pitch / 2
        source = prompt_template(__package__, "grid_scad.txt").format(
            gaps=gaps, pitch=pitch, end=end, bar=bar, half=bar / 2, out=end + bar / 2,
            length=2 * end + bar,
        )  # fmt: skip
        part: dict[str, JsonValue] = {
            "fileContents": source,
            "fileType": "OpenSCAD",
            "transform": list(_IN_PLACE),
        }
        return {"the same grid for every part": {"parts": [part] * params.parts}}

    def measure(self, params: Params) -> float:
        """Return how many bars the parts have that the prompt does not show."""
        plan = _layout_of(params)
        bars = [len(plate(params, plan).boxes)] * 2
        for storey in range(len(plan.floors) - 1):
            bars += [len(panel(params, plan, storey).boxes)] * 4
        return sum(bars[params.shown :])

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw sizes until the construction of the reference fits them."""
        for _ in range(_TRIES):
            side = point.side - rng.below(30 + point.vary)
            bar = point.bar + (rng.below(1 + point.vary // 10) if point.vary else 0)
            low = point.gap + rng.below(6)
            high = 2 * low + 5 + rng.below(11)
            height = point.storeys * (point.storey - rng.below(30 + point.vary)) - bar
            rod = point.rod - rng.below(2)
            bed = max(side + 2 * bar, point.storey) + 30
            cage = point.model_copy(update={"bar": bar})
            params = _params(cage, (side, height), (low, high), rod, bed)
            plan = layout(params)
            if plan is None:
                continue
            return params.model_copy(update={"spacing": _column_spacing(params, plan)})
        raise GenerationError(
            f"no cage up to {point.side} mm wide with bars of {point.bar} mm, gaps from "
            f"{point.gap} mm and rods up to {point.rod} mm divides into plates and panels, in "
            f"{_TRIES} tries; ask for smaller gaps, thinner rods or larger sides"
        )


def _column_spacing(params: Params, plan: Layout) -> Spacing:
    """Return how far out columns are tried: as far as every part has bars to stop the large one."""
    storeys = range(len(plan.floors) - 1)
    ends = [storey_ends(params, plan, storey) for storey in storeys]
    height = min(top - bottom for bottom, top in ends) / 2
    blocked, out = params.spacing.blocked / 2, plan.reach + params.bar / 2
    far = min(out - plan.pitch, height) + blocked - 2
    reach = {
        "free_reach": math.floor(0.7 * min(out, height)),
        "blocked_reach": math.floor(min(far, out - 12)),
    }
    return params.spacing.model_copy(update=reach)


def _layout_of(params: Params) -> Layout:
    plan = layout(params)
    if plan is None:
        raise GenerationError(
            "the construction of plates and panels does not fit this cage"
        )
    return plan


def _rewrapped(text: str) -> str:
    """Return text with its lines wrapped again, after the numbers are filled in."""
    lines: list[str] = []
    for line in text.splitlines():
        if line[:1] == " ":  # goes on with what the line before began
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    filled = []
    for line in lines:
        mark = re.match(r"- |\d\. |", line)
        indent = " " * (len(mark[0]) if mark else 0)
        filled.append(
            textwrap.fill(line, 98, subsequent_indent=indent, break_on_hyphens=False)
        )
    return "\n".join(filled) + "\n"


def _params(
    point: Space, inside: tuple[int, int], gap: tuple[int, int], rod: int, bed: int
) -> Params:
    """Return a cage whose limits follow from its sizes as those of the paper's cage do."""
    side, height = inside
    bar, outer = point.bar, inside[1] + 2 * point.bar
    faces: dict[str, Any] = {
        "area": 3 * bar,
        "upright": 0.9,
        "span": bar / 2,
        "end": bar + 2,
        "cell": 6,
        "cells": 6,
    }
    thickness = Survey(
        **faces, offset=0.05, reach=(0.05, 300), least=25, bin=0.5, wanted=(bar - 0.5, bar + 0.5),
        near=None, share=0.15,
    )  # fmt: skip
    gaps = Survey(
        **faces,
        offset=0.2,
        reach=(1, 2.5 * gap[1]),
        least=50,
        bin=1,
        wanted=gap,
        near=5,
        share=0.2,
    )
    return Params.model_validate(
        {
            "inner": (side, side, height),
            "bar": bar,
            "gap": gap,
            "rod_name": f"rods of {rod} mm diameter",
            "parts": 2 + 4 * point.storeys,
            "shown": point.shown,
            "rigid": 0.001,
            "overlap": 1,
            "touch": 2,
            "printing": {
                "bed": (bed, bed, 50), "slack": 0.01, "level": 0.1, "flat": 0.99, "hanging": 0.9,
                "contact_area": 500, "bridge": 8,
            },
            "spacing": {
                "height": 2 * bar, "free": gap[0] - 10, "free_reach": 1, "blocked": gap[1] + 1,
                "blocked_reach": 1, "ignored_area": 0.01,
            },
            "empty": {"sides": (side - bar, side - bar), "z": (2 * bar, height)},
            "outer": {"sides": (side + 3 * bar, side + 3 * bar), "z": (0, outer + 2 * bar)},
            "rods": {
                "at": (side + bar) / 2, "free": rod, "free_z": (-50, outer + 180),
                "gripped": rod + 10, "gripped_z": (0, outer + 80), "facets": 64, "least": 2,
            },
            "thickness": thickness,
            "gaps": gaps,
        }
    )  # fmt: skip


def rim_of(boxes: Sequence[Box], reach: float) -> list[Box]:
    """Return the bars at the rim of a plate."""
    return [b for b in boxes if max(abs(b[0] + b[3]), abs(b[1] + b[4])) > 2 * reach - 1]


def thickened(boxes: Sequence[Box], reach: float) -> list[Box]:
    """Return the bars of a plate, the inner ones wider by 2 in its plane."""
    rim = set(rim_of(boxes, reach))
    grown = []
    for box in boxes:
        x0, y0, z0, x1, y1, z1 = box
        growth = (1.0, 0.0) if x1 - x0 < y1 - y0 else (0.0, 1.0)
        by = (0.0, 0.0) if box in rim else growth
        grown.append((x0 - by[0], y0 - by[1], z0, x1 + by[0], y1 + by[1], z1))
    return grown


def _block_stl(corners: Sequence[tuple[float, float, float]]) -> str:
    halves = [(a, b, c) for a, b, c, _ in _SIDES] + [(a, c, d) for a, _, c, d in _SIDES]
    return to_ascii_stl([[corners[i] for i in three] for three in halves])


def open_block() -> str:
    """Return a block with one facet left out."""
    text = _block_stl(_CORNERS)
    start, end = text.index("facet"), text.index("endfacet") + len("endfacet\n")
    return text[:start] + text[end:]


def crossed_block() -> str:
    """Return a block one of whose lower corners is pushed out through its top."""
    return _block_stl(
        [(20.0, 20.0, 15.0) if i == 0 else corner for i, corner in enumerate(_CORNERS)]
    )


class Piece(NamedTuple):
    """A part as it is printed: boxes united, holes cut."""

    boxes: tuple[Box, ...]
    holes: tuple[tuple[float, float], ...]
    """Where holes go through: x and y of upright ones, x and z of those along y."""
    radius: float
    """Of the circle that fits into a hole."""
    upright: bool


def layout(params: Params) -> Layout | None:
    """Return where to put the bars; None if the construction does not fit."""
    bar, storeys = params.bar, (params.parts - 2) // 4
    side, height = params.inner[0] + bar, params.inner[2] + bar
    least = params.gap[0] + 0.2 * (params.gap[1] - params.gap[0]) + bar
    count, rings = int(side // least), int(height // least)
    if (
        params.inner[0] != params.inner[1]
        or params.parts != 2 + 4 * storeys
        or storeys < 1
    ):
        return None
    floors = tuple(round(i * rings / storeys) for i in range(storeys + 1))
    bars = [b - a for a, b in zip(floors, (*floors[1:-1], rings - 1), strict=False)]
    if count < 3 or min(bars) < 2:
        return None
    widest = max(side / count, height / rings) - bar
    drop = (
        (params.rods.free / 2 + CLEARANCE)
        / math.cos(math.pi / DROP_SIDES)
        * math.sqrt(2)
    )
    tallest = max(b - a for a, b in pairwise(floors)) * height / rings
    bed = params.printing.bed
    if widest > params.gap[1] or drop > bar / 2 - 0.2 or side + bar > min(bed[:2]):
        return None
    if tallest > min(bed[:2]) or bar > bed[2]:
        return None
    return Layout(side / 2, count, side / count, rings, height / rings, floors)


def plate(params: Params, plan: Layout) -> Piece:
    """Return the floor, which is also the roof."""
    half, out = params.bar / 2, plan.reach + params.bar / 2
    boxes: list[Box] = []
    for i in range(plan.gaps + 1):
        at = i * plan.pitch - plan.reach
        boxes.append((at - half, -out, 0, at + half, out, params.bar))
        boxes.append((-out, at - half, 0, out, at + half, params.bar))
    corners = tuple(
        (x, y) for x in (-plan.reach, plan.reach) for y in (-plan.reach, plan.reach)
    )
    return Piece(tuple(boxes), corners, params.rods.free / 2 + CLEARANCE, upright=True)


def storey_ends(params: Params, plan: Layout, storey: int) -> tuple[float, float]:
    """Return the lowest and highest z of a storey's panels."""
    last = storey == len(plan.floors) - 2
    bottom = plan.floors[storey] * plan.rise + params.bar
    return bottom, plan.floors[storey + 1] * plan.rise + (0 if last else params.bar)


def panel(params: Params, plan: Layout, storey: int) -> Piece:
    """Return a wall of a storey as printed: x along it, y its height, z its thickness outwards."""
    half, bar = params.bar / 2, params.bar
    bottom, top = storey_ends(params, plan, storey)
    middle = (bottom + top) / 2
    low, high = bottom - middle, top - middle
    last = storey == len(plan.floors) - 2
    rings = range(plan.floors[storey] + 1, plan.floors[storey + 1] + (0 if last else 1))
    edges = [ring * plan.rise - middle for ring in rings]
    # The corners change hands twice, or once where there are only two horizontal bars.
    turns = [len(edges) // 3, 2 * len(edges) // 3] if len(edges) > 2 else [1]
    cuts = [(edges[i - 1] + bar + edges[i]) / 2 for i in turns]
    boxes: list[Box] = []
    for i in range(1, plan.gaps):
        at = i * plan.pitch - plan.reach
        boxes.append((at - half, low, 0, at + half, high, bar))
    for k, (start, end) in enumerate(zip([low, *cuts], [*cuts, high], strict=True)):
        side = 1 if k % 2 == 0 else -1
        at = side * plan.reach
        boxes.append((at - half, start, 0, at + half, end, bar))
        for y in edges:
            if start < y < end:
                ends = sorted((at + side * half, -(at - side * half)))
                boxes.append((ends[0], y, 0, ends[1], y + bar, bar))
    sides = ((-plan.reach, half), (plan.reach, half))
    return Piece(tuple(boxes), sides, params.rods.free / 2 + CLEARANCE, upright=False)


def panel_place(params: Params, plan: Layout, storey: int, wall: int) -> Matrix:
    """Return the transform of a panel: stood up, then turned about z by quarter turns."""
    middle = sum(storey_ends(params, plan, storey)) / 2
    cos, sin = ((1, 0), (0, 1), (-1, 0), (0, -1))[wall]
    inside = plan.reach - params.bar / 2
    rows = (
        (cos, 0, sin, sin * inside),
        (sin, 0, -cos, -cos * inside),
        (0, 1, 0, middle),
    )
    return tuple(float(value) + 0.0 for row in (*rows, (0, 0, 0, 1)) for value in row)


def lifted(z: float) -> Matrix:
    """Return the transform that only lifts."""
    return (
        1.0,
        0.0,
        0.0,
        0.0,
        0.0,
        1.0,
        0.0,
        0.0,
        0.0,
        0.0,
        1.0,
        z,
        0.0,
        0.0,
        0.0,
        1.0,
    )


def teardrop(radius: float) -> list[tuple[float, float]]:
    """Return the outline of a hole that prints lying: a circle under a roof of 45 degrees."""
    around = radius / math.cos(math.pi / DROP_SIDES)
    turns = [2 * math.pi * i / DROP_SIDES for i in range(DROP_SIDES)]
    upper = DROP_SIDES // 8, 3 * DROP_SIDES // 8
    circle = [(around * math.cos(t), around * math.sin(t)) for t in turns]
    roof = [(0.0, around * math.sqrt(2))]
    points = [*circle[: upper[0] + 1], *roof, *circle[upper[1] :]]
    return [(round(x, 4) + 0.0, round(y, 4) + 0.0) for x, y in points]


def to_openscad(piece: Piece, shift: float = 0.0) -> str:
    """Return OpenSCAD source that draws a piece, lifted by ``shift``."""
    rows = ",\n  ".join(
        "[" + ", ".join(f"{v:.9g}" for v in box) + "]" for box in piece.boxes
    )
    places = ", ".join(f"[{a:.9g}, {b:.9g}]" for a, b in piece.holes)
    if piece.upright:
        hole = (
            f"translate([h[0], h[1], -1]) cylinder(h = {piece.boxes[0][5] + 2:g}, "
            f"r = {piece.radius:g} / cos(180 / {PLATE_SIDES}), $fn = {PLATE_SIDES});"
        )
    else:
        outline = ", ".join(f"[{x:g}, {y:g}]" for x, y in teardrop(piece.radius))
        length = 2 * max(box[4] for box in piece.boxes) + 2
        hole = (
            "translate([h[0], 0, h[1]]) rotate([90, 0, 0])\n"
            f"    linear_extrude(height = {length:.9g}, center = true) polygon([{outline}]);"
        )
    template = prompt_template(__package__, "piece_scad.txt")
    return template.format(rows=rows, shift=shift, places=places, hole=hole)


def to_triangles(piece: Piece, shift: float = 0.0) -> NDArray[np.float64]:
    """Return the triangles (m, 3, 3) of a piece, lifted by ``shift``."""
    from manifold3d import CrossSection, Manifold  # noqa: PLC0415  (only for parts as STL)

    body = Manifold()
    for x0, y0, z0, x1, y1, z1 in piece.boxes:
        body += Manifold.cube((x1 - x0, y1 - y0, z1 - z0)).translate((x0, y0, z0))
    for a, b in piece.holes:
        if piece.upright:
            around = piece.radius / math.cos(math.pi / PLATE_SIDES)
            tool = Manifold.cylinder(1000, around, around, PLATE_SIDES, True).translate(
                (a, b, 0)
            )
        else:
            outline = CrossSection([np.array(teardrop(piece.radius))])
            tool = Manifold.extrude(outline, 2000).translate((0, 0, -1000))
            tool = tool.rotate((90, 0, 0)).translate((a, 0, b))
        body -= tool
    mesh = body.as_original().simplify(1e-5).translate((0, 0, shift)).to_mesh64()
    triangles: NDArray[np.float64] = np.asarray(mesh.vert_properties)[:, :3][
        mesh.tri_verts
    ]
    return triangles


def to_binary_stl(piece: Piece, shift: float = 0.0) -> str:
    """Return a piece as a binary STL file in base64."""
    corners = to_triangles(piece, shift)
    rows = np.zeros((len(corners), 50), dtype=np.uint8)
    rows[:, 12:48] = np.ascontiguousarray(corners.reshape(-1, 9), dtype="<f4").view(
        np.uint8
    )
    data = b"\0" * 80 + len(corners).to_bytes(4, "little") + rows.tobytes()
    return base64.b64encode(data).decode()


def to_ascii_stl(corners: Sequence[Sequence[Sequence[float]]]) -> str:
    """Return triangles as STL text."""
    lines = ["solid part"]
    for triangle in corners:
        lines.append("facet normal 0 0 0\nouter loop")
        lines += (f"vertex {x:.9g} {y:.9g} {z:.9g}" for x, y, z in triangle)
        lines.append("endloop\nendfacet")
    return "\n".join([*lines, "endsolid part\n"])


def parts_of(
    params: Params, plan: Layout, write: Callable[[Piece], str]
) -> list[tuple[str, Matrix]]:
    """Return the contents and transform of every part of the cage."""
    floor = write(plate(params, plan))
    parts = [(floor, lifted(0.0)), (floor, lifted(plan.rings * plan.rise))]
    for storey in range(len(plan.floors) - 1):
        wall = write(panel(params, plan, storey))
        parts += [(wall, panel_place(params, plan, storey, k)) for k in range(4)]
    return parts
