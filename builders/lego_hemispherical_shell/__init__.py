"""Shells of toy bricks: prompts, fresh targets that can be built, and a greedy bricklayer."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.lego_hemispherical_shell.baselines import baselines
from scbench.builders.lego_hemispherical_shell.brick_layers import Placed, fill, lattice
from scbench.builders.shared.builder import Builder, Point, prompt_template, reply_as
from scbench.builders.shared.number_format import plain
from scbench.builders.shared.parameters import parameter
from scbench.graders import lego_hemispherical_shell as rules
from scbench.graders.lego_hemispherical_shell.bricks import HEIGHT, VOLUME, body
from scbench.schemas.lego_hemispherical_shell import Answer, Params

_TRIES = 10
_OFFSETS = ((0.0, 0.0), (4.0, 4.0), (0.0, 4.0))
_STEPS_PER_CM = 20

_PROMPT = prompt_template(__name__)

_TARGETS = {
    "hemisphere": "A hemispherical shell with its open side down on the table: all points with "
    "z >= 0\nwhose distance from the origin (0, 0, 0) is between {a} and {b}.",
    "dome": "A solid hemisphere, its flat side down on the table: all points with z >= 0 "
    "whose\ndistance from the origin (0, 0, 0) is at most {b}.",
    "wall": "A round wall on the table: all points with z between 0 and {h} whose distance from "
    "the\nz axis is between {a} and {b}.",
    "ring": "The upper half of a ring (a torus) that lies on the table: all points with z >= 0 "
    "whose\ndistance is at most {r} from the circle of radius {m} about the origin in the plane "
    "z = 0.",
}
_STRAYS = {
    "hemisphere": "No brick lies wholly inside the inner sphere, with all 8 corners of its box "
    "nearer to the origin\n   than {a}, nor wholly outside the outer sphere, with every point "
    "of its box farther from the\n   origin than {b}.",
    "dome": "No brick lies wholly outside the sphere, with every point of its box farther from "
    "the origin\n   than {b}.",
    "wall": "No brick lies wholly in the hollow, with its whole box nearer to the z axis than {a}, "
    "nor wholly\n   outside the wall, with its whole box farther from the z axis than {b} or "
    "higher than z = {h}.",
    "ring": "No brick lies wholly in the hole of the ring or outside the ring. It lies in the hole "
    "if its whole\n   box is nearer to the z axis than every point of the ring between the "
    "heights of the box's\n   bottom and top. It lies outside if its whole box is farther from "
    "the z axis than every such\n   point, or higher than z = {r}.",
}


class Space(Point):
    """Parameters of fresh targets. Radii are drawn in steps of 0.5 mm."""

    form: Literal["hemisphere", "dome", "wall", "ring"] = parameter(
        "hemisphere", "hollow hemisphere, solid hemisphere, hollow cylinder, or half a torus"
    )
    min_inner_cm: float = parameter(
        5.0, "least inner radius; of a dome, outer radius", ge=3.0, le=25.0
    )
    max_inner_cm: float = parameter(
        9.0, "largest inner radius; of a dome, outer radius", ge=3.0, le=25.0
    )
    min_thickness_cm: float = parameter(
        2.5, "least difference of the radii; thinner is harder", ge=2.0, le=5.0
    )
    max_thickness_cm: float = parameter(4.0, "largest difference of the radii", ge=2.0, le=5.0)
    height_cm: float = parameter(6.0, "height of a wall", ge=3.0, le=20.0)
    full_marks: float = parameter(
        0.65, "agreement that counts as 1; more is harder", ge=0.5, le=0.7
    )

    @model_validator(mode="after")
    def _in_order(self) -> "Space":
        if self.min_inner_cm > self.max_inner_cm:
            raise ValueError("min_inner_cm is above max_inner_cm")
        if self.min_thickness_cm > self.max_thickness_cm:
            raise ValueError("min_thickness_cm is above max_thickness_cm")
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Round bodies that a simple bricklayer builds well enough for full marks."""

    task = "lego_hemispherical_shell"
    version = 2

    def words(self, params: Params) -> dict[str, object]:
        """Return the target, its volume and what depends on them."""
        kind = "dome" if params.inner_radius_mm == 0 == (params.height_mm or 0) else params.form
        a, b = params.inner_radius_mm, params.outer_radius_mm
        lengths = {"a": a, "b": b, "h": params.height_mm or 0.0, "r": (b - a) / 2, "m": (a + b) / 2}
        shown = {name: plain(value) for name, value in lengths.items()}
        volume = body(params).volume
        return {
            "target": _TARGETS[kind].format(**shown),
            "stray": _STRAYS[kind].format(**shown),
            "volume": volume,
            "bricks": volume / VOLUME,
            "most": rules.MAX_BRICKS,
            "full": plain(params.full_marks),
        }

    def prompt(self, params: Params) -> str:
        """Return the brick, the target, the rules and the score."""
        form = '{"bricks": [{"Centroid": [x, y, z], "RotationDegrees": angle}, ...]}'
        return _PROMPT.format(**self.words(params)) + reply_as(form)

    def reference(self, params: Params) -> Answer:
        """Lay bricks greedily on lattices at three places until one is good enough.

        Raises:
            GenerationError: none is.
        """
        return Answer.model_validate(_listed(_lay(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return structures with one fault each, and what models write instead of one."""
        built = list(_lay(params))
        ideal = body(params).volume / VOLUME
        ground = [brick for brick in built if _level(brick) == 0]
        x, y, z, turn = built[0]
        out = params.outer_radius_mm + 40
        wrong: dict[str, Sequence[Placed]] = {
            "nothing": [],
            "a_single_brick": ground[:1],
            "cut_off": built[: int(0.9 * params.full_marks * ideal)],
            "one_repeated": [*built, built[0]],
            "one_repeated_half_a_turn_on": [*built, (x, y, z, turn + 180)],
            "one_overlaps_another": [*built, (x + 6, y, z, turn)],
            "all_doubled_a_little_aside": [*built, *((x + 1, y, z, r) for x, y, z, r in built)],
            "one_far_outside": [*built, (out, 0.0, HEIGHT / 2, 0.0)],
            "one_high_above": [*built, (0.0, 0.0, HEIGHT * (math.ceil(out / HEIGHT) + 0.5), 0.0)],
            "one_below_the_table": [*built, (x, y, -HEIGHT / 2, turn)],
            "layers_of_10_mm": [
                (x, y, 10.0 * (_level(b) + 1), r) for b in built for x, y, _, r in [b]
            ],
            "bottoms_for_middles": [(x, y, z - HEIGHT / 2, r) for x, y, z, r in built],
            "centimetres": [(x / 10, y / 10, z / 10, r) for x, y, z, r in built],
            "every_other_layer_half_a_stud_aside": [
                (x + 4 * (_level(b) % 2), y, z, r) for b in built for x, y, z, r in [b]
            ],
            "every_other_layer_askew": [
                (x, y, z, r + 2 * (_level(b) % 2)) for b in built for x, y, z, r in [b]
            ],
            "turned_to_follow_the_circle": _circles(params),
            "leaning_stairs": _stairs(params),
        }
        if len(ground) < params.full_marks * ideal:
            wrong["lowest_layer_only"] = ground
        if max(map(_level, built)) >= 2:
            wrong["a_layer_left_out"] = [brick for brick in built if _level(brick) != 1]
        if params.inner_radius_mm > 21:
            wrong["one_in_the_hollow"] = [*built, (0.0, 0.0, HEIGHT / 2, 0.0)]
        answers: dict[str, JsonValue] = {name: _listed(bricks) for name, bricks in wrong.items()}
        whole: list[JsonValue] = [_entry(brick) for brick in built]
        answers["no_list"] = {}
        answers["bare_list"] = whole
        answers["middle_without_z"] = {
            "bricks": [{"Centroid": [x, y], "RotationDegrees": turn}, *whole[1:]]
        }
        answers["without_rotation"] = {"bricks": [{"Centroid": [x, y, z]}, *whole[1:]]}
        answers["strings"] = {
            "bricks": [{"Centroid": [str(x), str(y), str(z)], "RotationDegrees": turn}, *whole[1:]]
        }
        answers["booleans"] = {
            "bricks": [{"Centroid": [x, y, z], "RotationDegrees": False}, *whole[1:]],
            "booleans": True,  # Python holds False for equal to 0; this tells the answers apart
        }
        return answers

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return columns of bricks that stand on the table."""
        return baselines(params)

    def measure(self, params: Params) -> float:
        """Return middle radius over thickness by full marks.

        A thin wall on a wide radius leaves each layer of the roof less of the one below to stand
        on, and fewer places where a brick lies wholly in the target.
        """
        inner, outer = params.inner_radius_mm, params.outer_radius_mm
        return (inner + outer) / 2 / (outer - inner) * params.full_marks

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw radii until the bricklayer gets full marks.

        Raises:
            GenerationError: it never does in 10 draws, or a range holds no multiple of 0.5 mm.
        """
        for _ in range(_TRIES):
            inner = _length(point.min_inner_cm, point.max_inner_cm, rng)
            outer = inner + _length(point.min_thickness_cm, point.max_thickness_cm, rng)
            if point.form == "dome":
                inner, outer = 0.0, inner
            params = Params(
                form="hemisphere" if point.form == "dome" else point.form,
                inner_radius_mm=inner,
                outer_radius_mm=outer,
                height_mm=round(10 * point.height_cm, 1) if point.form == "wall" else None,
                full_marks=point.full_marks,
            )
            try:
                _lay(params)
            except GenerationError:
                continue
            return params
        raise GenerationError(
            f"no {point.form} with these radii was built with an agreement of {point.full_marks:g} "
            f"in {_TRIES} draws; ask for thicker targets or a lower full_marks"
        )


def _length(low: float, high: float, rng: Stream) -> float:
    """Draw a length in millimetres between two in centimetres."""
    first = math.ceil(round(low * _STEPS_PER_CM, 6))
    last = math.floor(round(high * _STEPS_PER_CM, 6))
    if first > last:
        raise GenerationError(f"no multiple of 0.5 mm lies between {low} and {high} cm")
    return rng.between(first, last) * 10 / _STEPS_PER_CM


@lru_cache(maxsize=64)
def _lay(params: Params) -> tuple[Placed, ...]:
    for offset in _OFFSETS:
        bricks = fill(lattice(body(params), params.outer_radius_mm, offset))
        if bricks and rules.grade(params, Answer.model_validate(_listed(bricks))).score == 1:
            return tuple(bricks)
    raise GenerationError("the bricks cannot fill this body well enough; ask for a thicker one")


def _level(brick: Placed) -> int:
    return round(brick[2] / HEIGHT - 0.5)


def _circles(params: Params) -> list[Placed]:
    """Lay two circles of bricks along the middle of the shell, the upper one over the gaps."""
    radius = (params.inner_radius_mm + params.outer_radius_mm) / 2
    count = int(2 * math.pi * (radius - 8) / 32)
    turns = [(level, 360 * (i + level / 2) / count) for level in range(2) for i in range(count)]
    return [
        (
            round(radius * math.cos(math.radians(turn)), 2),
            round(radius * math.sin(math.radians(turn)), 2),
            HEIGHT * (level + 0.5),
            round(turn + 90, 2),
        )
        for level, turn in turns
    ]


def _stairs(params: Params) -> list[Placed]:
    """Lay a flight of three bricks that tips over, outwards from the middle of the shell."""
    x = params.inner_radius_mm
    return [(x + 24 * level, 0.0, HEIGHT * (level + 0.5), 0.0) for level in range(3)]


def _entry(brick: Placed) -> dict[str, JsonValue]:
    x, y, z, turn = brick
    return {"Centroid": [x, y, round(z, 6)], "RotationDegrees": turn}


def _listed(bricks: Sequence[Placed]) -> dict[str, JsonValue]:
    return {"bricks": [_entry(brick) for brick in bricks]}
