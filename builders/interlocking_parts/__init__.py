"""Interlocking parts: the prompt, fresh cages, and a design that meets all nine criteria."""

import math
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from scbench.builders.interlocking_parts.cage_parts import (
    Layout,
    Piece,
    layout,
    lifted,
    parts_of,
    plate,
    storey_ends,
    to_binary_stl,
    to_openscad,
)
from scbench.builders.interlocking_parts.counterexamples import (
    crossed_block,
    open_block,
    rim_of,
    thickened,
)
from scbench.builders.shared.builder import Builder, Point, reply_as
from scbench.builders.shared.parameters import parameter
from scbench.errors import GenerationError
from scbench.graders.interlocking_parts.printed_parts import (
    FARTHEST,
    MOST_CHARACTERS,
    MOST_STEPS,
    MOST_TRIANGLES,
)
from scbench.schemas.interlocking_parts import Answer, Params, Part, Spacing, Survey
from scbench.seeding import Stream

_TRIES = 60

_TASK = """\
Design a cage of square bars that is made on a 3D printer, in parts that interlock. All lengths
 are in mm.

The cage
- Inside it is free over {inner}. It is a box: floor, roof and four walls are all grids of
  straight bars of {bar:g} x {bar:g} cross-section. It has no door and no lid.
- The gaps between neighbouring bars are between {gap} wide, and the same everywhere, on all six
  sides.
- It stands on the plane z = 0, with its vertical axis at x = y = 0. Its floor is {bar:g} thick, so
  the inside begins at z = {bar:g}.
- Four {rod_name} go through it from bottom to top, through the middle of the vertical bars at its
  four corners, at x = ±{at:g}, y = ±{at:g}. They are all that holds the parts together: no
  screws, glue, clips or other connectors. The rods are not parts, and nuts on their ends lie
  outside the cage; the parts need plain clearance holes, without threads and without pockets for
  nuts.

The parts
- There are exactly {parts} parts. A part that is used several times is listed once for each copy.
- Each is printed without supports on a bed of {bed_x:g} x {bed_y:g}, at most {bed_z:g} high. You
  give it as it lies on the bed, its lowest point at z = 0 and z upwards; where it lies in x and y
  is free.
- For each you also give the rigid motion from there to its place in the cage: a 4 x 4 matrix that
  acts on columns (x, y, z, 1), as 16 numbers, row by row.

What a part may be ("fileType" and "fileContents")
- "STL": STL text, or a binary STL file in base64. The order of the corners of a facet says where
  outside is: counter-clockwise seen from there. Corners that agree when rounded to six decimals
  are one vertex. Normals in the file are ignored.
- "OpenSCAD": OpenSCAD source. All that it draws is united. include, use, import, surface and roof
  are not available, text() has one font, and a circle may have 5,000 segments, a sphere 800
  around it.
- "Python Generating OpenSCAD" or "Python Generating STL": a Python program that prints one of
  these to standard output. It has the standard library, no files and no network. Such an answer
  is only graded where running code is allowed.
- A part has at most {most_characters:,} characters and {most_triangles:,} triangles, no
  coordinate beyond {farthest:,.0f}, and its OpenSCAD source takes at most {most_steps:,} steps of
  evaluation.

"""

_CRITERIA = """\
How it is graded
There are nine criteria, each 0 or 1; the score is their mean. If criterion 0 fails, all are 0.
 Otherwise each is judged by itself.

0. Valid parts. There are exactly {parts}, each one can be read, and its surface is closed (each
   edge is shared by exactly two facets, which agree on where outside is), in one piece, encloses
   a positive volume, and does not cut through or lie on itself by more than 0.001. Each matrix is
   a turn and a shift: its last row is 0, 0, 0, 1, its 3 x 3 part R has RᵀR equal to the unit
   matrix within {rigid:g} in each entry, and a positive determinant, and no entry is beyond
   {farthest:,.0f}.
1. Printing. For every part as it lies on the bed: its bounding box is at most {bed_x:g} x
   {bed_y:g} x {bed_z:g}, with {slack:g} to spare; its lowest point is within {level:g} of z = 0;
   its contact with the bed is at least {contact:g} mm², where contact is the area of facets whose
   unit normal has z below -{flat:g} and whose corners all lie within {level:g} of z = 0; its
   centre of mass is above the convex hull of the contact; and it has no wide overhang: of the
   facets whose unit normal has z below -{hanging:g} and which are no contact, each patch that is
   connected by edges fits, seen from above, into a strip {bridge:g} wide.
2. Gaps of the parts. Every part is moved in x and y so that its bounding box is centred on 0, and
   only what lies between z = -{height:g} and z = {height:g} counts. Then there is a place with
   |x| and |y| up to {free_reach:g} for the centre of an upright square column {free:g} x
   {free:g}, sides along x and y, where it misses the part; and there is no place with |x| and |y|
   up to {blocked_reach:g} where such a column of {blocked:g} x {blocked:g} misses it. (Places of
   up to {ignored:g} mm² in all do not count.)
3. Size. At most {overlap:g} mm³ of the parts lie in the box |x| < {empty_x:g}, |y| < {empty_y:g},
   {empty_low:g} < z < {empty_high:g}, and at most {overlap:g} mm³ outside of the box |x| <
   {outer_x:g}, |y| < {outer_y:g}, {outer_low:g} < z < {outer_high:g}; both are added up over all
   parts.
4. Rods. At each of the four corners, a cylinder of diameter {rod:g} around the rod's axis, from
   z = {rod_low:g} to {rod_high:g}, shares less than {overlap:g} mm³ with the parts, and one of
   diameter {nut:g} more than {overlap:g} mm³, added up over all parts. (Cylinders are prisms of
   {facets} sides around the true ones.)
5. Interference. No two parts share more than {overlap:g} mm³.
6. Grip. Every part shares more than {overlap:g} mm³ with at least {grips} of the four cylinders
   of diameter {nut:g} around the rods' axes, from z = {grip_low:g} to {grip_high:g}.
7. Thickness, measured on every part. From points {t_offset:g} below its flat faces rays go into
   the part, square to the face, up to the next facet; of the distances on a face that are between
   {t_reach} the median is taken. At least {t_least} faces have one. In a histogram with bins
   {t_bin:g} wide, the first from 0, the fullest bin (the lower of equal ones) has its median
   between {t_low:g} and {t_high:g} and holds at least {t_share:g} % of all.
8. Gaps of the cage, measured on the union of all parts in their places. From points {g_offset:g}
   above its flat faces whose normal is along x or y rays go away from the material, square to the
   face, up to the next facet; of the distances on a face that are between {g_reach} the median is
   taken. At least {g_least} faces have one. In a histogram with bins {g_bin:g} wide, the first
   from 0, the fullest bin (the lower of equal ones) has its median between {g_low:g} and
   {g_high:g}, and at least {g_share:g} % of all are within {g_near:g} of that median.

In 7 and 8 a flat face is a connected region of facets in one plane. It counts if its area is at
 least {area:g} mm², its unit normal makes a cosine of at least {upright:g} with an axis (in 8, x
 or y), and its bounds across that axis have both sides at least {span:g}, and not both at most
 {end:g}, as ends of bars have. Its points are those of a grid: the bounds are cut into equal cells
 up to {cell:g} wide, at most {cells} along a side, and every cell gives its middle, if that is on
 the face.

"""

_FORM = """\
{"parts": [{"fileContents": "cube([10, 20, 30]);",
            "fileType": "OpenSCAD",
            "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}, ...]}"""


class Space(Point):
    """Parameters of fresh cages."""

    side: int = parameter(190, "widest free inside, in mm", ge=150, le=350)
    storey: int = parameter(200, "highest storey, in mm", ge=150, le=350)
    storeys: int = parameter(1, "storeys, of four wall panels each", ge=1, le=3)
    bar: int = parameter(10, "side of the square bars, in mm", ge=8, le=16)
    gap: int = parameter(30, "least gap between bars, in mm", ge=25, le=60)
    rod: int = parameter(6, "thickest rod, in mm", ge=3, le=8)


class TaskBuilder(Builder[Params, Answer, Space]):
    """Cages that divide into two plates and storeys of four panels."""

    task = "interlocking_parts"
    version = 1

    def prompt(self, params: Params) -> str:
        """Return the cage, the rules and the nine criteria."""
        words = _words(params)
        return _wrapped((_TASK + _CRITERIA).format(**words)) + reply_as(_FORM)

    def reference(self, params: Params) -> Answer:
        """Divide the cage into plates and panels, as OpenSCAD source."""
        return Answer(
            parts=tuple(
                Part(fileContents=contents, fileType="OpenSCAD", transform=matrix)
                for contents, matrix in parts_of(params, _plan(params), to_openscad)
            )
        )

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return cages with one fault each, and answers that are not valid parts."""
        plan = _plan(params)
        right: list[Any] = self.reference(params).model_dump(mode="json")["parts"]
        floor = plate(params, plan)

        def changed(*changes: tuple[int, Mapping[str, object]]) -> JsonValue:
            parts: list[Any] = [dict(part) for part in right]
            for i, change in changes:
                parts[i].update(change)
            return {"parts": parts}

        def moved(i: int, entry: int, by: float, *, factor: float = 1.0) -> JsonValue:
            matrix = list(right[i]["transform"])
            matrix[entry] = matrix[entry] * factor + by
            return changed((i, {"transform": matrix}))

        def floors(piece: Piece, shift: float = 0.0) -> JsonValue:
            stl = {"fileContents": to_binary_stl(piece, shift), "fileType": "STL"}
            tops = (0.0, plan.rings * plan.rise)
            return changed(
                *((i, {**stl, "transform": lifted(z - shift)}) for i, z in enumerate(tops))
            )

        thin = floor._replace(radius=params.rods.free / 2 - 0.15)
        frame = floor._replace(boxes=tuple(rim_of(floor.boxes, plan.reach)))
        wide = floor._replace(boxes=tuple(thickened(floor.boxes, plan.reach)))
        return {
            "empty": {"parts": []},
            "one_part_too_many": {"parts": [*right, right[-1]]},
            "one_part_scaled": moved(1, 10, 0.0, factor=1.02),
            "one_part_shifted_into_another": moved(1, 11, -params.bar / 2),
            "roof_too_high": moved(1, 11, params.bar + 11),
            "floor_above_the_bed": floors(floor, 0.5),
            "holes_too_small": floors(thin),
            "bars_too_thick": floors(wide),
            "gap_too_wide": floors(frame),
            "surface_not_closed": changed((0, {"fileContents": open_block(), "fileType": "STL"})),
            "self_intersecting": changed((0, {"fileContents": crossed_block(), "fileType": "STL"})),
            "wants_a_file": changed((0, {"fileContents": 'import("plate.stl");'})),
        }  # fmt: skip

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw sizes until the construction of the reference fits them.

        Raises:
            GenerationError: it fits none in 60 tries; ask for smaller gaps, thinner rods or larger
                sides.
        """
        for _ in range(_TRIES):
            side = point.side - rng.below(30)
            low = point.gap + rng.below(6)
            high = 2 * low + 5 + rng.below(11)
            height = point.storeys * (point.storey - rng.below(30)) - point.bar
            rod = point.rod - rng.below(2)
            bed = max(side + 2 * point.bar, point.storey) + 30
            params = _params(point, (side, height), (low, high), rod, bed)
            plan = layout(params)
            if plan is None:
                continue
            return params.model_copy(update={"spacing": _spacing(params, plan)})
        raise GenerationError(
            f"no cage up to {point.side} mm wide with bars of {point.bar} mm, gaps from "
            f"{point.gap} mm and rods up to {point.rod} mm divides into plates and panels, in "
            f"{_TRIES} tries; ask for smaller gaps, thinner rods or larger sides"
        )


def _spacing(params: Params, plan: Layout) -> Spacing:
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


def _plan(params: Params) -> Layout:
    plan = layout(params)
    if plan is None:
        raise GenerationError("the construction of plates and panels does not fit this cage")
    return plan


def _wrapped(text: str) -> str:
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
        filled.append(textwrap.fill(line, 98, subsequent_indent=indent, break_on_hyphens=False))
    return "\n".join(filled) + "\n"


def _words(params: Params) -> dict[str, Any]:
    """Return everything that the prompt prints."""
    printing, spacing, rods = params.printing, params.spacing, params.rods
    words: dict[str, Any] = {
        "inner": " x ".join(f"{length:g}" for length in params.inner) + " (x, y, z)",
        "gap": f"{params.gap[0]:g} and {params.gap[1]:g}",
        "bar": params.bar,
        "parts": params.parts,
        "rod_name": params.rod_name,
        "rigid": params.rigid,
        "overlap": params.overlap,
        "contact": printing.contact_area,
        "ignored": spacing.ignored_area,
        "at": rods.at,
        "rod": rods.free,
        "nut": rods.gripped,
        "facets": rods.facets,
        "grips": rods.least,
        "most_characters": MOST_CHARACTERS,
        "most_triangles": MOST_TRIANGLES,
        "most_steps": MOST_STEPS,
        "farthest": FARTHEST,
    }
    for name in ("slack", "level", "flat", "hanging", "bridge"):
        words[name] = getattr(printing, name)
    for name in ("height", "free", "free_reach", "blocked", "blocked_reach"):
        words[name] = getattr(spacing, name)
    words |= {f"bed_{axis}": value for axis, value in zip("xyz", printing.bed, strict=True)}
    for name, space in (("empty", params.empty), ("outer", params.outer)):
        words |= {f"{name}_x": space.sides[0] / 2, f"{name}_y": space.sides[1] / 2}
        words |= {f"{name}_low": space.z[0], f"{name}_high": space.z[1]}
    for name, ends in (("rod", rods.free_z), ("grip", rods.gripped_z)):
        words |= {f"{name}_low": ends[0], f"{name}_high": ends[1]}
    for letter, rules in (("t", params.thickness), ("g", params.gaps)):
        reach = f"{rules.reach[0]:g} and {rules.reach[1]:g}"
        words |= {f"{letter}_offset": rules.offset, f"{letter}_reach": reach}
        words |= {f"{letter}_least": rules.least, f"{letter}_bin": rules.bin}
        words |= {f"{letter}_low": rules.wanted[0], f"{letter}_high": rules.wanted[1]}
        words |= {f"{letter}_share": 100 * rules.share, f"{letter}_near": rules.near}
    for name in ("area", "upright", "span", "end", "cell", "cells"):
        words[name] = getattr(params.thickness, name)
    return words


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
        **faces, offset=0.2, reach=(1, 2.5 * gap[1]), least=50, bin=1, wanted=gap, near=5, share=0.2
    )
    return Params.model_validate(
        {
            "inner": (side, side, height),
            "bar": bar,
            "gap": gap,
            "rod_name": f"rods of {rod} mm diameter",
            "parts": 2 + 4 * point.storeys,
            "rigid": 0.001,
            "overlap": 1,
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
