"""Shells of toy bricks: build a round body from 2 x 4 bricks.

An example of an answer has three bricks on top of each other. Lengths are in mm, a layer is 9.6 mm
high, and the long side of a brick that is not turned is along x:

    {"bricks": [{"Centroid": [0, 0, 4.8], "RotationDegrees": 90},
                {"Centroid": [0, 0, 14.4], "RotationDegrees": 180},
                {"Centroid": [24, 0, 24], "RotationDegrees": 0}]}

Fresh targets are those that a simple bricklayer builds well enough for a score of 1.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.lego_hemispherical_shell.bricklaying import (
    SIDES,
    Brick,
    fill,
    lattice,
)
from scbench.builders.lego_hemispherical_shell.honest_faults import faulty_structures
from scbench.builders.shared.builder import Builder, Point, data_file, parameter, plain
from scbench.builders.shared.paragraphs import wrapped
from scbench.graders import lego_hemispherical_shell as rules
from scbench.graders.lego_hemispherical_shell.bricks import CELL, HEIGHT, VOLUME
from scbench.graders.lego_hemispherical_shell.target import body
from scbench.schemas.lego_hemispherical_shell import Answer, Params

# Maximum number of targets that one draw tries.
_TRIES = 10
# Places of the lattice that the bricklayer tries, in mm from the axis.
_OFFSETS = ((0.0, 0.0), (4.0, 4.0), (0.0, 4.0))
_STEPS_PER_CM = 20
# Thicknesses in mm of thin bowls that a blind guess may have.
_THIN_GUESSES = (11.0, 14.0, 17.0)
# The inner radius of a nearly solid bowl that a blind guess has, as a share of the outer one.
_SOLID_GUESS = 1 / 3
# Decimals of a score, as the grader rounds it.
_SCORE_DECIMALS = 9
# Decimals of a value of full marks that is a share of the bricklayer's agreement.
_DECIMALS = 3


class Space(Point):
    """Parameters of fresh targets. Radii are drawn in steps of 0.5 mm."""

    form: Literal["hemisphere", "bowl", "dome", "wall", "ring"] = parameter(
        "hemisphere",
        "form of the target: hollow hemisphere, open below (hemisphere) or above (bowl); solid "
        "hemisphere (dome); hollow cylinder (wall); or half a torus (ring)",
    )
    min_inner_cm: float = parameter(
        5.0, "smallest inner radius; for a dome, smallest outer radius", ge=1.0, le=25.0
    )
    max_inner_cm: float = parameter(
        9.0, "largest inner radius; for a dome, largest outer radius", ge=1.0, le=25.0
    )
    min_thickness_cm: float = parameter(
        2.5, "smallest difference between the radii; thinner is harder", ge=1.0, le=5.0
    )
    max_thickness_cm: float = parameter(
        4.0, "largest difference between the radii", ge=1.0, le=5.0
    )
    thick_share: float = parameter(
        0.0,
        "share of thick targets; their outer radii come from the same range as those of thin "
        "targets",
        ge=0.0, le=1.0, later=True,
    )  # fmt: skip
    thick_inner_cm: float = parameter(
        2.0,
        "largest inner radius of thick targets; the smallest inner radius is 1 cm less",
        ge=1.0, le=10.0, later=True,
    )  # fmt: skip
    height_cm: float = parameter(6.0, "height of a wall", ge=3.0, le=20.0)
    aside_mm: int = parameter(
        0,
        "largest absolute value of x and y of the axis, in whole mm",
        ge=0, le=100, later=True,
    )  # fmt: skip
    full_marks: float = parameter(
        0.65, "agreement that gives a score of 1; more is harder", ge=0.5, le=0.7
    )
    marks_share: float = parameter(
        0.0,
        "share of a simple bricklayer's agreement that gives a score of 1; if above 0, it "
        "replaces full_marks",
        ge=0.0, le=1.0, later=True,
    )  # fmt: skip

    @model_validator(mode="after")
    def _in_order(self) -> "Space":
        if self.min_inner_cm > self.max_inner_cm:
            raise ValueError("min_inner_cm is above max_inner_cm")
        if self.min_thickness_cm > self.max_thickness_cm:
            raise ValueError("min_thickness_cm is above max_thickness_cm")
        if self.thick_share and self.form == "dome":
            raise ValueError("a dome has no inner radius, so thick_share must be 0")
        if self.thick_share and self.thick_inner_cm > self.min_inner_cm:
            raise ValueError("thick_inner_cm is above min_inner_cm")
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Round bodies that a simple bricklayer builds well enough for a score of 1."""

    task = "lego_hemispherical_shell"
    version = 4
    draws = 3
    form = '{"bricks": [{"Centroid": [x, y, z], "RotationDegrees": angle}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the target, its volume, and the limits."""
        is_dome = params.inner_radius_mm == 0 and not params.height_mm
        texts = data_file(__package__, "targets.json")[
            "dome" if is_dome else params.form
        ]
        names = target_names(params)
        volume = body(params).volume
        return {
            "target": wrapped(texts["target"].format(**names)),
            "stray": wrapped(texts["stray"].format(**names), "   "),
            "volume": volume,
            "bricks": volume / VOLUME,
            "full": plain(params.full_marks),
            "most": rules.MAX_BRICKS,
            "most_pairs": rules.PAIRS_PER_BRICK,
            "free_pairs": rules.PAIRS_FREE,
            "cell": CELL,
        }

    def reference(self, params: Params) -> Answer:
        """Lay bricks greedily on lattices at three places until one is good enough."""
        return Answer.model_validate(structure(right_bricks(params), params))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return structures with one error each, and other forms that models write."""
        built = list(right_bricks(params))
        ground = [brick for brick in built if brick.level == 0]
        first = built[0]
        x, y, z, turn = first
        ideal = body(params).volume / VOLUME
        out = params.outer_radius_mm + 40
        beyond = Brick(out, 0.0, HEIGHT / 2, 0.0)
        # The middle of the first layer that is completely above the target.
        top = HEIGHT * (math.ceil(out / HEIGHT) + 0.5)
        wrong: dict[str, Sequence[Brick]] = {
            "nothing": [],
            "a_single_brick": ground[:1],
            "cut_off": built[: int(0.9 * params.full_marks * ideal)],
            "one_repeated": [*built, first],
            "one_repeated_half_a_turn_on": [*built, first._replace(turn=turn + 180)],
            "one_overlaps_another": [*built, first._replace(x=x + 6)],
            "all_doubled_a_little_aside": [
                *built,
                *[brick._replace(x=brick.x + 1) for brick in built],
            ],
            "one_far_outside": [*built, beyond],
            "one_high_above": [*built, Brick(0.0, 0.0, top, 0.0)],
            "one_below_the_table": [*built, first._replace(z=-HEIGHT / 2)],
            "layers_of_10_mm": [
                brick._replace(z=10.0 * (brick.level + 1)) for brick in built
            ],
            "bottoms_for_middles": [
                brick._replace(z=brick.z - HEIGHT / 2) for brick in built
            ],
            "centimetres": [Brick(x / 10, y / 10, z / 10, r) for x, y, z, r in built],
            "every_other_layer_half_a_stud_aside": [
                brick._replace(x=brick.x + 4 * (brick.level % 2)) for brick in built
            ],
            "every_other_layer_askew": [
                brick._replace(turn=brick.turn + 2 * (brick.level % 2))
                for brick in built
            ],
            "turned_to_follow_the_circle": circles_of_bricks(params),
            # A flight of three bricks that tips over, outwards from the middle of the shell.
            "leaning_stairs": [
                Brick(params.inner_radius_mm + 24 * i, 0.0, HEIGHT * (i + 0.5), 0.0)
                for i in range(3)
            ],
        }
        if len(ground) < params.full_marks * ideal:
            wrong["lowest_layer_only"] = ground
        if max(brick.level for brick in built) >= 2:
            wrong["a_layer_left_out"] = [brick for brick in built if brick.level != 1]
        # The half diagonal of a brick's plan is 17.9 mm.
        if params.inner_radius_mm > 21:
            wrong["one_in_the_hollow"] = [*built, Brick(0.0, 0.0, HEIGHT / 2, 0.0)]
        answers: dict[str, JsonValue] = {
            name: structure(bricks, params) for name, bricks in wrong.items()
        }
        entries = brick_list(built, params)
        answers["no_list"] = {}
        answers["bare_list"] = entries
        faulty_entries: dict[str, dict[str, JsonValue]] = {
            "middle_without_z": {"Centroid": [x, y], "RotationDegrees": turn},
            "without_rotation": {"Centroid": [x, y, z]},
            "strings": {
                "Centroid": [str(x), str(y), str(z)],
                "RotationDegrees": turn,
            },
        }
        for name, entry in faulty_entries.items():
            answers[name] = {"bricks": [entry, *entries[1:]]}
        answers["booleans"] = {
            "bricks": [{"Centroid": [x, y, z], "RotationDegrees": False}, *entries[1:]],
            # Python takes False as equal to 0; this makes the answers different.
            "booleans": True,
        }
        return answers

    def honest_faults(self, params: Params) -> Mapping[str, tuple[JsonValue, float]]:
        """Return the structure with other z, moved, turned, and without its top layer."""
        structures = faulty_structures(params, right_bricks(params))
        return {
            name: (structure(bricks, params), score)
            for name, (bricks, score) in structures.items()
        }

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return columns of bricks in rows, and columns placed where one adds most."""
        bricks = {
            "rows of brick columns": brick_columns(params, in_rows=True),
            "brick columns": brick_columns(params, in_rows=False),
        }
        return {name: structure(built, params) for name, built in bricks.items()}

    def blind_floor(self, params: Params) -> float:
        """Return the mean score of a bowl whose inner radius is a guess.

        The guess is a thin or a nearly solid bowl, each half of the time, because the outer radius
        of a bowl does not show which of them it is. The better of several thin bowls counts.
        """
        if params.form != "bowl":
            return 0.0
        outer = params.outer_radius_mm
        thin = max(guess_score(params, outer - wall) for wall in _THIN_GUESSES)
        return (thin + guess_score(params, outer * _SOLID_GUESS)) / 2

    def carried_over(self, answer: Answer, params: Params, onto: Params) -> JsonValue:
        """Return the bricks, moved from the axis of one target to that of the other."""
        x, y = params.centre_mm
        new_x, new_y = onto.centre_mm
        bricks: list[JsonValue] = []
        for brick in answer.bricks:
            brick_x, brick_y, z = brick.Centroid
            moved_x = round(brick_x - x + new_x, 6)
            moved_y = round(brick_y - y + new_y, 6)
            middle: list[JsonValue] = [moved_x, moved_y, z]
            bricks.append(
                {"Centroid": middle, "RotationDegrees": brick.RotationDegrees}
            )
        return {"bricks": bricks}

    def measure(self, params: Params) -> float:
        """Return the agreement for full marks, in percent of a simple bricklayer's.

        The nearer it is to 100, the fewer bricks may be missing or misplaced.
        """
        return 100 * params.full_marks / best_agreement(params)

    def group(self, point: Space, instance: Mapping[str, Any]) -> tuple[str, float]:
        """Return whether a target is thick, and the share of such targets at the point."""
        if not point.thick_share:
            return "", 1.0
        if instance["inner_radius_mm"] <= 10 * point.thick_inner_cm:
            return "thick", point.thick_share
        return "thin", 1 - point.thick_share

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw radii until the bricklayer scores 1."""
        is_dome = point.form == "dome"
        # Drawn once, so that the share is kept even if more thin targets than thick ones fail.
        is_thick = point.thick_share > 0 and rng.chance(point.thick_share)
        for _ in range(_TRIES):
            inner = draw_length(point.min_inner_cm, point.max_inner_cm, rng)
            thickness = draw_length(point.min_thickness_cm, point.max_thickness_cm, rng)
            centre = (0.0, 0.0)
            if point.aside_mm:
                x = rng.between(-point.aside_mm, point.aside_mm)
                y = rng.between(-point.aside_mm, point.aside_mm)
                centre = (float(x), float(y))
            outer = inner if is_dome else inner + thickness
            if is_dome:
                inner = 0.0
            elif is_thick:
                largest = point.thick_inner_cm
                inner = draw_length(largest - 1, largest, rng)
            height = round(10 * point.height_cm, 1)
            params = Params(
                form="hemisphere" if point.form == "dome" else point.form,
                inner_radius_mm=inner,
                outer_radius_mm=outer,
                height_mm=height if point.form == "wall" else None,
                centre_mm=centre,
                full_marks=point.full_marks,
            )
            try:
                if point.marks_share:
                    marks = full_marks(params, point.marks_share)
                    params = params.model_copy(update={"full_marks": marks})
                right_bricks(params)
            except GenerationError:
                continue
            return params
        raise GenerationError(
            f"no {point.form} with these radii was built with an agreement of {point.full_marks:g} "
            f"in {_TRIES} draws; ask for thicker targets or a lower full_marks"
        )


def target_names(params: Params) -> dict[str, str]:
    """Return the lengths, the centre and the axis of the target as texts."""
    inner = params.inner_radius_mm
    outer = params.outer_radius_mm
    x, y = map(plain, params.centre_mm)
    height = plain(outer) if params.form == "bowl" else "0"
    is_centred = params.centre_mm == (0.0, 0.0)
    return {
        "a": plain(inner),
        "b": plain(outer),
        "h": plain(params.height_mm or 0.0),
        "r": plain((outer - inner) / 2),
        "m": plain((inner + outer) / 2),
        "centre": f"({x}, {y}, {height})",
        "axis": "the z axis" if is_centred else f"the line x = {x}, y = {y}",
    }


def draw_length(low: float, high: float, rng: Stream) -> float:
    """Draw a length in millimetres between two in centimetres."""
    first = math.ceil(round(low * _STEPS_PER_CM, 6))
    last = math.floor(round(high * _STEPS_PER_CM, 6))
    if first > last:
        raise GenerationError(f"no multiple of 0.5 mm lies between {low} and {high} cm")
    return rng.between(first, last) * 10 / _STEPS_PER_CM


@lru_cache(maxsize=64)
def right_bricks(params: Params) -> tuple[Brick, ...]:
    """Return bricks around the z axis that score 1."""
    target = centred_target(params)
    for place in range(len(_OFFSETS)):
        score = round(agreement(target, place) / params.full_marks, _SCORE_DECIMALS)
        if score >= 1:
            return bricks_in(target, place)
    raise GenerationError(
        "the bricks cannot fill this body well enough; ask for a thicker one"
    )


def centred_target(params: Params) -> Params:
    """Return a target around the z axis whose score is the agreement."""
    return params.model_copy(update={"centre_mm": (0.0, 0.0), "full_marks": 1.0})


@lru_cache(maxsize=64)
def bricks_in(params: Params, place: int) -> tuple[Brick, ...]:
    """Return the bricklayer's structure in a centred target, on the lattice at one place."""
    cells = lattice(body(params), params.outer_radius_mm, _OFFSETS[place])
    return tuple(fill(cells))


@lru_cache(maxsize=64)
def agreement(target: Params, place: int) -> float:
    """Return the agreement of `bricks_in` with a centred target; 0 if it breaks a rule."""
    bricks = bricks_in(target, place)
    answer = Answer.model_validate(structure(bricks, target))
    return rules.grade(target, answer).score


def best_agreement(params: Params) -> float:
    """Return the highest agreement with the target among the bricklayer's structures.

    Raises:
        GenerationError: no structure is legal.
    """
    target = centred_target(params)
    best = max(agreement(target, place) for place in range(len(_OFFSETS)))
    if best <= 0:
        raise GenerationError(
            "the bricklayer cannot build a structure that fits this body"
        )
    return best


def full_marks(params: Params, share: float) -> float:
    """Return a share of the bricklayer's best agreement, rounded down."""
    unit = 10.0**_DECIMALS
    marks = math.floor(unit * share * best_agreement(params)) / unit
    if marks <= 0:
        raise GenerationError("the bricklayer fills almost none of this body")
    return marks


def guess_score(params: Params, inner: float) -> float:
    """Return the score of the bricklayer's structure for another inner radius."""
    guess = params.model_copy(update={"inner_radius_mm": max(0.0, inner)})
    bricks = bricks_in(centred_target(guess), 0)
    answer = Answer.model_validate(structure(bricks, params))
    return rules.grade(params, answer).score


def structure(bricks: Sequence[Brick], params: Params) -> dict[str, JsonValue]:
    """Return bricks about the z axis as an answer, moved to the axis of the target."""
    return {"bricks": brick_list(bricks, params)}


def brick_list(bricks: Sequence[Brick], params: Params) -> list[JsonValue]:
    """Return bricks about the z axis as an answer lists them."""
    centre_x, centre_y = params.centre_mm
    entries: list[JsonValue] = []
    for x, y, z, turn in bricks:
        middle: list[JsonValue] = [x + centre_x, y + centre_y, round(z, 6)]
        entries.append({"Centroid": middle, "RotationDegrees": turn})
    return entries


def circles_of_bricks(params: Params) -> list[Brick]:
    """Lay two circles of bricks along the middle of the shell, the upper one over the gaps."""
    # At the inner edge, bricks of 32 mm have to fit side by side.
    radius = (params.inner_radius_mm + params.outer_radius_mm) / 2
    count = int(2 * math.pi * (radius - 8) / 32)
    bricks = []
    for level in range(2):
        for i in range(count):
            turn = 360 * (i + level / 2) / count
            x = radius * math.cos(math.radians(turn))
            y = radius * math.sin(math.radians(turn))
            z = HEIGHT * (level + 0.5)
            bricks.append(Brick(round(x, 2), round(y, 2), z, round(turn + 90, 2)))
    return bricks


class BrickColumn(NamedTuple):
    """Bricks on top of each other, from the ground up; sorted, the best column comes first."""

    loss: float
    """The gain in score, negated."""
    turned: int
    """Position of the bricks' sides in `SIDES`."""
    i: int
    """First cell along x."""
    j: int
    """First cell along y."""
    height: int
    """Number of bricks."""


def brick_columns(params: Params, *, in_rows: bool) -> list[Brick]:
    """Stack bricks on one grid of studs: each column that adds to the score, at its best height."""
    cells = lattice(body(params), params.outer_radius_mm, (0.0, 0.0))
    columns: list[BrickColumn] = []
    for turned, (a, b) in enumerate(SIDES[:1] if in_rows else SIDES):
        windows = np.lib.stride_tricks.sliding_window_view(
            cells.shares, (a, b), axis=(1, 2)
        )
        # With the share f in the target, a brick adds 2 f - 1/2, see `bricklaying`.
        # A column ends below the first brick that is completely outside the target.
        shares = windows.mean(axis=(3, 4)).round(6)
        reaches_target = np.logical_and.accumulate(shares > 0, axis=0)
        gains = np.where(reaches_target, 2 * shares - 0.5, -np.inf).cumsum(axis=0)
        best = gains.max(axis=0)
        heights = gains.argmax(axis=0) + 1
        for i, j in np.argwhere(best > 0).tolist():
            if not in_rows or (i % a == 0 and j % b == 0):
                gain = float(best[i, j])
                columns.append(BrickColumn(-gain, turned, i, j, int(heights[i, j])))
    occupied = np.zeros((cells.width, cells.width), bool)
    bricks: list[Brick] = []
    # The column with the largest gain comes first.
    for column in sorted(columns):
        turned = column.turned
        i = column.i
        j = column.j
        a, b = SIDES[turned]
        plan = occupied[i : i + a, j : j + b]
        if not plan.any():
            plan[:] = True
            levels = range(column.height)
            bricks += [cells.brick(i, j, turned, level) for level in levels]
    return bricks
