"""Interlocking parts: the prompt, fresh cages, and a design that meets all nine criteria."""

import json
import math
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.interlocking_parts.baselines import baselines
from scbench.builders.interlocking_parts.cage_parts import (
    Layout,
    Piece,
    layout,
    lifted,
    panel,
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
from scbench.builders.shared.builder import Builder, Point, prompt_template, reply_as
from scbench.builders.shared.parameters import parameter
from scbench.graders.interlocking_parts.printed_parts import (
    FARTHEST,
    MOST_CHARACTERS,
    MOST_STEPS,
    MOST_TRIANGLES,
)
from scbench.schemas.interlocking_parts import Answer, Params, Part, Spacing, Survey

_TRIES = 60

_PROMPT = prompt_template(__name__)


_FORM = """\
{"parts": [{"fileContents": "cube([10, 20, 30]);",
            "fileType": "OpenSCAD",
            "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}, ...]}"""

_HINT = """
You need not design all of it. A right answer may begin with the {n} below; parts that are shown may
also be used again, in other places. Your answer still lists every part.

{parts}
"""


class Space(Point):
    """Parameters of fresh cages."""

    side: int = parameter(190, "widest free inside, in mm", ge=150, le=350)
    storey: int = parameter(200, "highest storey, in mm", ge=150, le=350)
    storeys: int = parameter(1, "storeys, of four wall panels each", ge=1, le=3)
    bar: int = parameter(10, "side of the square bars, in mm", ge=8, le=16)
    gap: int = parameter(30, "least gap between bars, in mm", ge=25, le=60)
    rod: int = parameter(6, "thickest rod, in mm", ge=3, le=8)
    shown: int = parameter(
        0,
        "parts of a right answer that the prompt shows; more is easier",
        ge=0,
        le=13,
        exclude_if=lambda count: count == 0,
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
    version = 2

    def words(self, params: Params) -> dict[str, object]:
        """Return every number of the cage and of the criteria."""
        return _words(params)

    def prompt(self, params: Params) -> str:
        """Return the cage, the rules and the nine criteria."""
        text = _wrapped(_PROMPT.format(**self.words(params)))
        if params.shown:
            parts = self.reference(params).model_dump(mode="json")["parts"][: params.shown]
            text += _HINT.format(n=len(parts), parts=json.dumps(parts, indent=1)) + "\n"
        return text + reply_as(_FORM)

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

        def shifted(i: int, entry: int, by: float, *, factor: float = 1.0) -> JsonValue:
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
        """Return one grid of bars, as often as there are parts."""
        return baselines(params)

    def measure(self, params: Params) -> float:
        """Return how many bars the parts have that the prompt does not show."""
        plan = _plan(params)
        bars = [len(plate(params, plan).boxes)] * 2
        for storey in range(len(plan.floors) - 1):
            bars += [len(panel(params, plan, storey).boxes)] * 4
        return sum(bars[params.shown :])

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
        "touch": params.touch,
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
    words |= {"face_x": params.inner[0] / 2, "face_y": params.inner[1] / 2}
    words |= {"face_low": params.bar, "face_high": params.bar + params.inner[2]}
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
