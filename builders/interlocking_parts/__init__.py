"""Interlocking parts: a cage of square bars, made of printed parts that four rods hold together.

An example of the puzzle, in mm:

    The space inside, 190 x 190 x 190, is empty. Bars are 10 x 10, gaps between 30 and 65 wide.
    There are exactly 6 parts, each printed on a bed of 240 x 240.

An answer has a file for each part, and the matrix that moves it to its place:

    {"fileContents": "cube([10, 20, 30]);", "fileType": "OpenSCAD", "transform": [1, 0, 0, ...]}
"""

import json
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.interlocking_parts.cage import (
    Layout,
    Piece,
    layout,
    lifted,
    parts_of,
    plate,
    rim_of,
    storey_ends,
    thicken_bars,
)
from scbench.builders.interlocking_parts.part_files import (
    crossed_block,
    open_block,
    to_binary_stl,
    to_openscad,
)
from scbench.builders.interlocking_parts.weak_pieces import (
    bars_on_hairs,
    eyelets_on_hairs,
    hairs_across,
    hollow,
    sheet,
)
from scbench.builders.shared.builder import (
    Builder,
    Point,
    parameter,
    prompt_template,
    reply_as,
    under,
)
from scbench.graders.interlocking_parts.columns import MAX_OUTLINE
from scbench.graders.interlocking_parts.core import (
    CUBE,
    MOST_CORNERS,
    MOST_REGIONS,
    MOST_SLABS,
)
from scbench.graders.interlocking_parts.printed_parts import (
    MOST_CHARACTERS,
    MOST_STEPS,
    MOST_STEPS_TOGETHER,
)
from scbench.graders.interlocking_parts.rod_holes import AROUND_SHARE, HOLE_SLACK
from scbench.graders.interlocking_parts.side_bars import (
    BAR_SLACK,
    DEPTH,
    FILLED,
    NARROW,
    PLANE,
    WIDE,
)
from scbench.graders.interlocking_parts.stl_files import FARTHEST, MOST_TRIANGLES
from scbench.graders.interlocking_parts.thickness import ONE_FACE
from scbench.schemas.interlocking_parts import Answer, Params, Part, Spacing

# Maximum number of cages that one draw tries.
_TRIES = 60
_FORM = """\
{"parts": [{"fileContents": "cube([10, 20, 30]);",
            "fileType": "OpenSCAD",
            "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}, ...]}"""
# The heading in the prompt that follows the data.
_SCORE = "SCORE\n"
# Entries of a 4 x 4 matrix, row by row: the shifts along x and z, and the scale along z.
_X_SHIFT = 3
_Z_SCALE = 10
_Z_SHIFT = 11
# Maximum number of characters in a line of the prompt.
_LINE = 98


class Space(Point):
    """Parameters of fresh cages."""

    side: int = parameter(190, "maximum inner width, in mm", ge=150, le=350)
    storey: int = parameter(200, "maximum height of a storey, in mm", ge=150, le=350)
    storeys: int = parameter(
        1, "number of storeys, each with four wall panels", ge=1, le=3
    )
    bar: int = parameter(10, "side of the square bars, in mm", ge=8, le=16)
    gap: int = parameter(30, "minimum gap between bars, in mm", ge=25, le=60)
    rod: int = parameter(6, "maximum diameter of the rods, in mm", ge=3, le=8)
    vary: int = parameter(
        0,
        "maximum additional reduction of sides and storeys, in mm; bars may be thicker by a "
        "tenth of this amount, rods thinner by up to 3 mm, and their grip is tight",
        ge=0,
        le=100,
        later=True,
    )
    shown: int = parameter(
        0,
        "number of parts of a right answer that the prompt shows; more is easier",
        ge=0,
        le=13,
        later=True,
    )

    @model_validator(mode="after")
    def _something_is_left(self) -> "Space":
        parts = 2 + 4 * self.storeys
        if self.shown >= parts:
            raise ValueError(f"shown must be below {parts}, the number of parts")
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Cages that divide into two plates and storeys of four panels."""

    task = "interlocking_parts"
    version = 5
    draws = 4

    def words(self, params: Params) -> dict[str, object]:
        """Return every number of the cage and of the criteria."""
        printing = params.printing
        spacing = params.spacing
        rods = params.rods
        thickness = params.thickness
        gaps = params.gaps
        numbers = {
            "parts": params.parts,
            "bar": params.bar,
            "gap_low": params.gap[0],
            "gap_high": params.gap[1],
            "rod_at": rods.at,
            "rod": rods.free,
            "rod_low": rods.free_z[0],
            "rod_high": rods.free_z[1],
            "gripped": rods.gripped,
            "least_rods": rods.least,
            "held_low": rods.gripped_z[0],
            "held_high": rods.gripped_z[1],
            "held_height": params.bar / 2,
            "held_radius": rods.gripped / 2 + HOLE_SLACK,
            "around": 100 * AROUND_SHARE,
            "cube": CUBE,
            "facets": rods.facets,
            "contact": printing.contact_area,
            "bridge": printing.bridge,
            "slack": printing.slack,
            "level": printing.level,
            "flat": printing.flat,
            "hanging": printing.hanging,
            "free": spacing.free,
            "free_reach": spacing.free_reach,
            "blocked": spacing.blocked,
            "blocked_reach": spacing.blocked_reach,
            "height": spacing.height,
            "ignored": spacing.ignored_area,
            "overlap": params.overlap,
            "touch": params.touch,
            "rigid": params.rigid,
            "window": params.gap[1] + params.bar,
            "wide": WIDE * params.bar,
            "narrow": NARROW * params.bar - BAR_SLACK,
            "depth": DEPTH * params.bar,
            "filled": 100 * FILLED,
            "plane": PLANE,
            "one_face": ONE_FACE,
            "thick_low": thickness.wanted[0],
            "thick_high": thickness.wanted[1],
            "in_offset": thickness.offset,
            "in_low": thickness.reach[0],
            "in_high": thickness.reach[1],
            "in_least": thickness.least,
            "in_bin": thickness.bin,
            "in_share": 100 * thickness.share,
            "out_offset": gaps.offset,
            "out_low": gaps.reach[0],
            "out_high": gaps.reach[1],
            "out_least": gaps.least,
            "out_bin": gaps.bin,
            "out_share": 100 * gaps.share,
            "near": 0.0 if gaps.near is None else gaps.near,
            "area": thickness.area,
            "upright": thickness.upright,
            "span": thickness.span,
            "end": thickness.end,
            "cell": thickness.cell,
            "cells": thickness.cells,
        }
        return {name: f"{value:g}" for name, value in numbers.items()} | {
            "inner": joined_by_x(params.inner),
            "inside": box(params.inner[:2], (params.bar, params.bar + params.inner[2])),
            "empty": box(params.empty.sides, params.empty.z),
            "outer": box(params.outer.sides, params.outer.z),
            "bed": joined_by_x(printing.bed),
            "rods": params.rod_name,
            "most_characters": MOST_CHARACTERS,
            "most_triangles": MOST_TRIANGLES,
            "most_steps": MOST_STEPS,
            "most_steps_together": MOST_STEPS_TOGETHER,
            "farthest": FARTHEST,
            "most_slabs": MOST_SLABS,
            "most_corners": MOST_CORNERS,
            "most_regions": MOST_REGIONS,
            "most_outline": MAX_OUTLINE,
        }

    def prompt(self, params: Params) -> str:
        """Return the cage, the rules and the nine criteria."""
        text = rewrapped(prompt_template(__name__).format(**self.words(params)))
        if params.shown:
            parts = self.reference(params).model_dump(mode="json")["parts"]
            parts = parts[: params.shown]
            hint = prompt_template(__package__, "prompt_shown.txt")
            shown = hint.format(n=len(parts), parts=json.dumps(parts, indent=1))
            # The data come before the score. They are added here so that they are not wrapped.
            cage, score, after_score = text.partition(_SCORE)
            text = f"{cage}{shown}\n{score}{after_score}"
        return text + reply_as(_FORM)

    def reference(self, params: Params) -> Answer:
        """Divide the cage into plates and panels, as OpenSCAD source."""
        parts = [
            Part(fileContents=source, fileType="OpenSCAD", transform=matrix)
            for source, matrix in parts_of(params, layout_of(params), to_openscad)
        ]
        return Answer(parts=tuple(parts))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return cages with one fault each, and answers that are not valid parts."""
        right: list[Any] = self.reference(params).model_dump(mode="json")["parts"]
        floor, roof, *panels = right
        plan = layout_of(params)
        height = plan.rings * plan.rise

        def with_floor(contents: str, kind: str = "STL") -> list[Any]:
            return [floor | {"fileContents": contents, "fileType": kind}, roof, *panels]

        def with_roof(entry: int, value: float) -> list[Any]:
            """Return the parts with another entry in the matrix of the roof."""
            matrix = list(roof["transform"])
            matrix[entry] = value
            return [floor, roof | {"transform": matrix}, *panels]

        def with_plates(piece: Piece, shift: float = 0.0) -> list[Any]:
            """Return the parts with another floor and roof, printed ``shift`` above the bed."""
            stl = {"fileContents": to_binary_stl(piece, shift), "fileType": "STL"}
            low = floor | stl | {"transform": lifted(0.0 - shift)}
            high = roof | stl | {"transform": lifted(height - shift)}
            return [low, high, *panels]

        def on_hairs(piece: Piece) -> str:
            """Return a piece as a file; in panels, the corner bars hang on hairs."""
            if not piece.upright:
                piece = eyelets_on_hairs(piece, plan, params.bar)
            return to_binary_stl(piece)

        eyelets = [
            {"fileContents": contents, "fileType": "STL", "transform": matrix}
            for contents, matrix in parts_of(params, plan, on_hairs)
        ]
        right_plate = plate(params, plan)
        scale = roof["transform"][_Z_SCALE]
        lift = roof["transform"][_Z_SHIFT]
        tight_holes = right_plate._replace(radius=params.rods.free / 2 - 0.15)
        thin_walls = right_plate._replace(radius=params.bar / 2 - 0.02)
        rim = right_plate._replace(boxes=tuple(rim_of(right_plate.boxes, plan.reach)))
        thick = right_plate._replace(
            boxes=tuple(thicken_bars(right_plate.boxes, plan.reach))
        )
        lists = {
            "empty": [],
            "one_part_too_many": [*right, right[-1]],
            "one_part_scaled": with_roof(_Z_SCALE, scale * 1.02),
            "one_part_shifted_into_another": with_roof(_Z_SHIFT, lift - params.bar / 2),
            "roof_too_high": with_roof(_Z_SHIFT, lift + (2 * params.bar + 1)),
            "roof_in_the_air": with_roof(_Z_SHIFT, lift + 2 * params.bar),
            "floor_above_the_bed": with_plates(right_plate, 0.5),
            "holes_too_small": with_plates(tight_holes),
            "bars_too_thick": with_plates(thick),
            "gap_too_wide": with_plates(rim),
            "gap_with_hairs": with_plates(hairs_across(right_plate, plan)),
            "bars_joined_by_hairs": with_plates(bars_on_hairs(right_plate, plan)),
            "eyelets_on_hairs": eyelets,
            "walls_around_rods_too_thin": with_plates(thin_walls),
            "bars_are_sheets": with_plates(sheet(right_plate, plan)),
            "bars_are_hollow": with_plates(hollow(right_plate, plan)),
            "surface_not_closed": with_floor(open_block()),
            "self_intersecting": with_floor(crossed_block()),
            "wants_a_file": with_floor('import("plate.stl");', "OpenSCAD"),
        }
        return under("parts", lists)

    def honest_faults(self, params: Params) -> Mapping[str, tuple[JsonValue, float]]:
        """Return cages whose parts are slightly out of place, but within every tolerance."""
        right: list[Any] = self.reference(params).model_dump(mode="json")["parts"]
        floor, roof, *panels = right

        faults = {
            "all_a_little_to_one_side": [moved_part(part, x=0.05) for part in right],
            "roof_a_little_high": [floor, moved_part(roof, z=1.0), *panels],
        }
        answers = under("parts", faults)
        return {name: (answer, 1.0) for name, answer in answers.items()}

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return one plain grid of bars, repeated for every part."""
        bar = params.bar
        pitch = bar + sum(params.gap) / 2
        room = min(params.printing.bed[:2]) - bar
        gaps = int(room // pitch)
        end = gaps * pitch / 2
        source = prompt_template(__package__, "grid_scad.txt").format(
            gaps=gaps,
            pitch=pitch,
            end=end,
            bar=bar,
            half=bar / 2,
            out=end + bar / 2,
            length=2 * end + bar,
        )
        part: JsonValue = {
            "fileContents": source,
            "fileType": "OpenSCAD",
            "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
        }
        return {"the same grid for every part": {"parts": [part] * params.parts}}

    def measure(self, params: Params) -> float:
        """Return the number of bars in the parts that the prompt does not show."""
        bars = parts_of(params, layout_of(params), lambda piece: len(piece.boxes))
        return sum(count for count, _ in bars[params.shown :])

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw sizes until the reference's construction fits them."""
        for _ in range(_TRIES):
            params = draw_cage(point, rng)
            plan = layout(params)
            if plan is not None:
                spacing = column_spacing(params, plan)
                return params.model_copy(update={"spacing": spacing})
        raise GenerationError(
            f"{_TRIES} tries found no cage up to {point.side} mm wide with bars of {point.bar} mm, "
            f"gaps from {point.gap} mm and rods up to {point.rod} mm that divides into plates and "
            "panels; ask for smaller gaps, thinner rods or larger sides"
        )


def moved_part(part: Any, x: float = 0.0, z: float = 0.0) -> Any:  # noqa: ANN401
    """Return a part of an answer that is moved along x and z."""
    matrix = list(part["transform"])
    matrix[_X_SHIFT] += x
    matrix[_Z_SHIFT] += z
    return part | {"transform": matrix}


def joined_by_x(lengths: Sequence[float]) -> str:
    """Return lengths joined by " x "."""
    return " x ".join(f"{length:g}" for length in lengths)


def box(sides: Sequence[float], heights: Sequence[float]) -> str:
    """Return the bounds of a box that is centred in x and y."""
    x, y = (f"±{side / 2:g}" for side in sides)
    across = f"x, y = {x}" if x == y else f"x = {x}, y = {y}"
    return f"{across}, z = {heights[0]:g}–{heights[1]:g}"


def layout_of(params: Params) -> Layout:
    """Return the places of the bars.

    Raises:
        GenerationError: the construction does not fit.
    """
    plan = layout(params)
    if plan is None:
        raise GenerationError("no arrangement of plates and panels fits this cage")
    return plan


def rewrapped(text: str) -> str:
    """Wrap the lines of a text again after its numbers are filled in."""
    paragraphs: list[str] = []
    for line in text.splitlines():
        # An indented line continues the one before it.
        if line.startswith(" "):
            paragraphs[-1] += f" {line.strip()}"
        else:
            paragraphs.append(line)
    lines = []
    for paragraph in paragraphs:
        # The dash or number of a list item.
        mark = re.match(r"- |\d\. |", paragraph)
        indent = " " * (len(mark[0]) if mark else 0)
        lines.append(
            textwrap.fill(
                paragraph, _LINE, subsequent_indent=indent, break_on_hyphens=False
            )
        )
    return "\n".join(lines) + "\n"


def draw_cage(point: Space, rng: Stream) -> Params:
    """Draw sizes up to those of a point, and derive the limits from them as in the paper's cage."""
    side = point.side - rng.below(30 + point.vary)
    bar = point.bar
    if point.vary:
        bar += rng.below(1 + point.vary // 10)
    low = point.gap + rng.below(6)
    high = 2 * low + 5 + rng.below(11)
    height = point.storeys * (point.storey - rng.below(30 + point.vary)) - bar
    rod, gripped = draw_rod(point, rng)
    bed = max(side + 2 * bar, point.storey) + 30
    outer_side = side + 3 * bar
    outer_height = height + 2 * bar
    faces = {
        "area": 3 * bar,
        "upright": 0.9,
        "span": bar / 2,
        "end": bar + 2,
        "cell": 6,
        "cells": 6,
    }
    return Params.model_validate(
        {
            "inner": (side, side, height),
            "bar": bar,
            "gap": (low, high),
            "rod_name": f"rods of {rod:g} mm diameter",
            "parts": 2 + 4 * point.storeys,
            "shown": point.shown,
            "rigid": 0.001,
            "overlap": 1,
            "touch": 2,
            "printing": {
                "bed": (bed, bed, 50),
                "slack": 0.01,
                "level": 0.1,
                "flat": 0.99,
                "hanging": 0.9,
                "contact_area": 500,
                "bridge": 8,
            },
            "spacing": {
                "height": 2 * bar,
                "free": low - 10,
                "free_reach": 1,
                "blocked": high + 1,
                "blocked_reach": 1,
                "ignored_area": 0.01,
            },
            "empty": {"sides": (side - bar, side - bar), "z": (2 * bar, height)},
            "outer": {
                "sides": (outer_side, outer_side),
                "z": (0, outer_height + 2 * bar),
            },
            "rods": {
                "at": (side + bar) / 2,
                "free": rod,
                "free_z": (-50, outer_height + 180),
                "gripped": gripped,
                "gripped_z": (0, outer_height + 80),
                "facets": 64,
                "least": 2,
            },
            "thickness": {
                **faces,
                "offset": 0.05,
                "reach": (0.05, 300),
                "least": 25,
                "bin": 0.5,
                "wanted": (bar - 0.5, bar + 0.5),
                "near": None,
                "share": 0.15,
            },
            "gaps": {
                **faces,
                "offset": 0.2,
                "reach": (1, 2.5 * high),
                "least": 50,
                "bin": 1,
                "wanted": (low, high),
                "near": 5,
                "share": 0.2,
            },
        }
    )


def draw_rod(point: Space, rng: Stream) -> tuple[float, float]:
    """Draw the diameter of the rods, and the diameter within which parts must grip them."""
    if not point.vary:
        rod = point.rod - rng.below(2)
        return rod, rod + 10
    # A hole for much thicker rods does not grip, so the diameter of the rods matters.
    thinnest = max(2, point.rod - 3)
    varied_rod = point.rod - rng.below(1 + 2 * (point.rod - thinnest)) / 2
    return varied_rod, varied_rod + 2


def column_spacing(params: Params, plan: Layout) -> Spacing:
    """Return how far out columns are tried: as far as every part stops the large column."""
    storeys = range(len(plan.floors) - 1)
    ends = [storey_ends(params, plan, storey) for storey in storeys]
    half_height = min(top - bottom for bottom, top in ends) / 2
    edge = plan.reach + params.bar / 2
    far = min(edge - plan.pitch, half_height) + params.spacing.blocked / 2 - 2
    reach = {
        "free_reach": math.floor(0.7 * min(edge, half_height)),
        "blocked_reach": math.floor(min(far, edge - 12)),
    }
    return params.spacing.model_copy(update=reach)
