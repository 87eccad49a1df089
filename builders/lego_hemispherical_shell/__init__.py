"""Shells of toy bricks: prompts, fresh targets that can be built, and a greedy bricklayer.

Bricks lie on one lattice of studs, layer by layer: a greedy choice, then exchanges of one brick for
two. With I and V as the grader has them, a brick of which the share f lies in the target adds
2 f - 1/2 of its volume to the agreement, so it is worth placing from a quarter on.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, data_file, parameter, plain
from scbench.graders import lego_hemispherical_shell as rules
from scbench.graders.lego_hemispherical_shell.bricks import (
    HEIGHT,
    STUD,
    VOLUME,
    Body,
    Boxes,
    body,
    shared_volumes,
)
from scbench.schemas.lego_hemispherical_shell import Answer, Params

_TRIES = 10
_OFFSETS = ((0.0, 0.0), (4.0, 4.0), (0.0, 4.0))
_STEPS_PER_CM = 20
# x, y, z of the middle and the rotation in degrees.
Brick = tuple[float, float, float, float]
_LEAST_GAIN = 0.02
# Cells along the long side of a brick.
_SIDES = ((4, 2), (2, 4))


class Space(Point):
    """Parameters of fresh targets. Radii are drawn in steps of 0.5 mm."""

    form: Literal["hemisphere", "bowl", "dome", "wall", "ring"] = parameter(
        "hemisphere",
        "hollow hemisphere, open below or as a bowl above, solid hemisphere, hollow cylinder, or "
        "half a torus",
    )
    min_inner_cm: float = parameter(
        5.0, "least inner radius; of a dome, outer radius", ge=1.0, le=25.0
    )
    max_inner_cm: float = parameter(
        9.0, "largest inner radius; of a dome, outer radius", ge=1.0, le=25.0
    )
    min_thickness_cm: float = parameter(
        2.5, "least difference of the radii; thinner is harder", ge=2.0, le=5.0
    )
    max_thickness_cm: float = parameter(
        4.0, "largest difference of the radii", ge=2.0, le=5.0
    )
    height_cm: float = parameter(6.0, "height of a wall", ge=3.0, le=20.0)
    aside_mm: int = parameter(
        0,
        "how far x and y of the axis may be from 0, in whole mm",
        ge=0, le=100, later=True,
    )  # fmt: skip
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
    version = 3
    form = '{"bricks": [{"Centroid": [x, y, z], "RotationDegrees": angle}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the target, its volume and what depends on them."""
        kind = (
            "dome"
            if params.inner_radius_mm == 0 == (params.height_mm or 0)
            else params.form
        )
        a, b, (x, y) = params.inner_radius_mm, params.outer_radius_mm, params.centre_mm
        lengths = {
            "a": a,
            "b": b,
            "h": params.height_mm or 0.0,
            "r": (b - a) / 2,
            "m": (a + b) / 2,
        }
        lengths |= {"x": x, "y": y}
        numbers = {name: plain(value) for name, value in lengths.items()}
        texts = data_file(__package__, "targets.json")[kind + "_aside" * any((x, y))]
        volume = body(params).volume
        return {
            **{name: text.format(**numbers) for name, text in texts.items()},
            "volume": volume,
            "bricks": volume / VOLUME,
            "most": rules.MAX_BRICKS,
            "full": plain(params.full_marks),
        }

    def reference(self, params: Params) -> Answer:
        """Lay bricks greedily on lattices at three places until one is good enough."""
        return Answer.model_validate(_structure(_lay(params), params.centre_mm))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return structures with one fault each, and what models write instead of one."""
        built = list(_lay(params))
        ideal, centre = body(params).volume / VOLUME, params.centre_mm
        ground = [brick for brick in built if _brick_level(brick) == 0]
        x, y, z, turn = built[0]
        out = params.outer_radius_mm + 40
        wrong: dict[str, Sequence[Brick]] = {
            "nothing": [],
            "a_single_brick": ground[:1],
            "cut_off": built[: int(0.9 * params.full_marks * ideal)],
            "one_repeated": [*built, built[0]],
            "one_repeated_half_a_turn_on": [*built, (x, y, z, turn + 180)],
            "one_overlaps_another": [*built, (x + 6, y, z, turn)],
            "all_doubled_a_little_aside": [
                *built,
                *((x + 1, y, z, r) for x, y, z, r in built),
            ],
            "one_far_outside": [*built, (out, 0.0, HEIGHT / 2, 0.0)],
            "one_high_above": [
                *built,
                (0.0, 0.0, HEIGHT * (math.ceil(out / HEIGHT) + 0.5), 0.0),
            ],
            "one_below_the_table": [*built, (x, y, -HEIGHT / 2, turn)],
            "layers_of_10_mm": [
                (x, y, 10.0 * (_brick_level(b) + 1), r)
                for b in built
                for x, y, _, r in [b]
            ],
            "bottoms_for_middles": [(x, y, z - HEIGHT / 2, r) for x, y, z, r in built],
            "centimetres": [(x / 10, y / 10, z / 10, r) for x, y, z, r in built],
            "every_other_layer_half_a_stud_aside": [
                (x + 4 * (_brick_level(b) % 2), y, z, r)
                for b in built
                for x, y, z, r in [b]
            ],
            "every_other_layer_askew": [
                (x, y, z, r + 2 * (_brick_level(b) % 2))
                for b in built
                for x, y, z, r in [b]
            ],
            "turned_to_follow_the_circle": _circles(params),
            # A flight of three bricks that tips over, outwards from the middle of the shell.
            "leaning_stairs": [
                (params.inner_radius_mm + 24 * i, 0.0, HEIGHT * (i + 0.5), 0.0)
                for i in range(3)
            ],
        }
        if len(ground) < params.full_marks * ideal:
            wrong["lowest_layer_only"] = ground
        if max(map(_brick_level, built)) >= 2:
            wrong["a_layer_left_out"] = [
                brick for brick in built if _brick_level(brick) != 1
            ]
        if params.inner_radius_mm > 21:
            wrong["one_in_the_hollow"] = [*built, (0.0, 0.0, HEIGHT / 2, 0.0)]
        answers: dict[str, JsonValue] = {
            name: _structure(bricks, centre) for name, bricks in wrong.items()
        }
        entries: list[JsonValue] = [_brick_entry(brick, centre) for brick in built]
        answers["no_list"] = {}
        answers["bare_list"] = entries
        answers["middle_without_z"] = {
            "bricks": [{"Centroid": [x, y], "RotationDegrees": turn}, *entries[1:]]
        }
        answers["without_rotation"] = {
            "bricks": [{"Centroid": [x, y, z]}, *entries[1:]]
        }
        strings: JsonValue = {
            "Centroid": [str(x), str(y), str(z)],
            "RotationDegrees": turn,
        }
        answers["strings"] = {"bricks": [strings, *entries[1:]]}
        answers["booleans"] = {
            "bricks": [{"Centroid": [x, y, z], "RotationDegrees": False}, *entries[1:]],
            "booleans": True,  # Python holds False for equal to 0; this tells the answers apart
        }
        return answers

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return columns in rows, and columns put greedily wherever one adds most."""
        return {
            "rows of brick columns": _brick_columns(params, in_rows=True),
            "brick columns": _brick_columns(params, in_rows=False),
        }

    def measure(self, params: Params) -> float:
        """Return middle radius over thickness by full marks.

        A thin wall on a wide radius leaves each layer of the roof less of the one below to stand
        on, and fewer places where a brick lies wholly in the target.
        """
        inner, outer = params.inner_radius_mm, params.outer_radius_mm
        return (inner + outer) / 2 / (outer - inner) * params.full_marks

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw radii until the bricklayer gets full marks."""

        def aside() -> float:
            return (
                float(rng.between(-point.aside_mm, point.aside_mm))
                if point.aside_mm
                else 0.0
            )

        for _ in range(_TRIES):
            inner = _length(point.min_inner_cm, point.max_inner_cm, rng)
            outer = inner + _length(point.min_thickness_cm, point.max_thickness_cm, rng)
            if point.form == "dome":
                inner, outer = 0.0, inner
            params = Params(
                form="hemisphere" if point.form == "dome" else point.form,
                inner_radius_mm=inner,
                outer_radius_mm=outer,
                height_mm=round(10 * point.height_cm, 1)
                if point.form == "wall"
                else None,
                centre_mm=(aside(), aside()),
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
def _lay(params: Params) -> tuple[Brick, ...]:
    """Return bricks about the z axis."""
    for offset in _OFFSETS:
        bricks = fill(lattice(body(params), params.outer_radius_mm, offset))
        answer = _structure(bricks, params.centre_mm)
        if bricks and rules.grade(params, Answer.model_validate(answer)).score == 1:
            return tuple(bricks)
    raise GenerationError(
        "the bricks cannot fill this body well enough; ask for a thicker one"
    )


def _brick_level(brick: Brick) -> int:
    return round(brick[2] / HEIGHT - 0.5)


def _circles(params: Params) -> list[Brick]:
    """Lay two circles of bricks along the middle of the shell, the upper one over the gaps."""
    radius = (params.inner_radius_mm + params.outer_radius_mm) / 2
    count = int(2 * math.pi * (radius - 8) / 32)
    turns = [
        (level, 360 * (i + level / 2) / count)
        for level in range(2)
        for i in range(count)
    ]
    return [
        (
            round(radius * math.cos(math.radians(turn)), 2),
            round(radius * math.sin(math.radians(turn)), 2),
            HEIGHT * (level + 0.5),
            round(turn + 90, 2),
        )
        for level, turn in turns
    ]


def _brick_entry(brick: Brick, centre: tuple[float, ...]) -> dict[str, JsonValue]:
    x, y, z, turn = brick
    return {
        "Centroid": [x + centre[0], y + centre[1], round(z, 6)],
        "RotationDegrees": turn,
    }


def _structure(
    bricks: Sequence[Brick], centre: tuple[float, ...]
) -> dict[str, JsonValue]:
    return {"bricks": [_brick_entry(brick, centre) for brick in bricks]}


def _brick_columns(params: Params, *, in_rows: bool) -> JsonValue:
    """Stack bricks where that adds to the score, as high as it does, on one grid of studs."""
    cells = lattice(body(params), params.outer_radius_mm, (0.0, 0.0))
    columns = []
    for turned, (a, b) in enumerate(_SIDES[:1] if in_rows else _SIDES):
        windows = np.lib.stride_tricks.sliding_window_view(
            cells.shares, (a, b), axis=(1, 2)
        )
        # What a brick adds if its share f lies in the target is 2 f - 1/2, see above.
        # A column ends below the first brick that lies in none of it.
        shares = windows.mean(axis=(3, 4)).round(6)
        standing = np.logical_and.accumulate(shares > 0, axis=0)
        gains = np.where(standing, 2 * shares - 0.5, -np.inf).cumsum(axis=0)
        highest, best = gains.argmax(axis=0), gains.max(axis=0)
        columns += [
            (-best[i, j], turned, i, j, int(highest[i, j]) + 1)
            for i, j in np.argwhere(best > 0).tolist()
            if not in_rows or (i % a == 0 and j % b == 0)
        ]
    occupied = np.zeros((cells.width, cells.width), bool)
    bricks: list[Brick] = []
    for _, turned, i, j, height in sorted(columns):
        a, b = _SIDES[turned]
        if occupied[i : i + a, j : j + b].any():
            continue
        occupied[i : i + a, j : j + b] = True
        x, y = ((k - cells.width / 2) * STUD for k in (i + a / 2, j + b / 2))
        bricks += [
            (x, y, HEIGHT * (level + 0.5), 90.0 * turned) for level in range(height)
        ]
    return _structure(bricks, params.centre_mm)


class _Spot(NamedTuple):
    """A place for a brick in a layer: its gain in bricks, its cells as bits, the first of them."""

    gain: float
    cells: int
    column: int
    row: int
    turned: int


class Lattice(NamedTuple):
    """Cells of one stud by one layer, ``width`` along x and y, ``offset`` mm from the axis.

    ``shares`` (layers, width, width) is how much of each lies in the target.
    """

    width: int
    offset: tuple[float, float]
    shares: NDArray[np.float64]


def lattice(target: Body, radius: float, offset: tuple[float, float]) -> Lattice:
    """Measure the cells of a lattice this far from the axis, out to the radius; lengths in mm."""
    width = 2 * (int(radius / STUD) + 2)
    layers = int(target.outer.top / HEIGHT) + 1
    middle = (np.arange(width) - width / 2 + 0.5) * STUD
    level, x, y = np.meshgrid(
        np.arange(layers), middle + offset[0], middle + offset[1], indexing="ij"
    )
    low = HEIGHT * level.ravel()
    cells = Boxes(
        np.abs(x).ravel(), np.abs(y).ravel(), low, low + HEIGHT, (STUD / 2, STUD / 2)
    )
    shares = shared_volumes(target, cells) / (STUD * STUD * HEIGHT)
    return Lattice(width, offset, shares.reshape(layers, width, width))


def fill(cells: Lattice) -> list[Brick]:
    """Place bricks that are all joined to the ground."""
    spots = [_free_spots(cells, level) for level in range(len(cells.shares))]
    layers: list[list[_Spot]] = []
    below = 0
    for level, candidates in enumerate(spots):
        standing = [spot for spot in candidates if spot.cells & below or not level]
        layer = _exchange(_greedy_layer(standing, below, level % 2), standing)
        layers.append(layer)
        below = _cell_union(layer)
    _hang(layers, spots)
    return [
        (*_middle(cells, spot), HEIGHT * (level + 0.5), 90.0 * spot.turned)
        for level, layer in enumerate(layers)
        for spot in sorted(layer, key=lambda spot: (spot.row, spot.column))
    ]


def _free_spots(cells: Lattice, level: int) -> list[_Spot]:
    spots: list[_Spot] = []
    width = cells.width
    for turned, (a, b) in enumerate(_SIDES):
        windows = np.lib.stride_tricks.sliding_window_view(cells.shares[level], (a, b))
        gains = windows.mean(axis=(2, 3)) * 2 - 0.5
        block = sum(1 << (i * width + j) for i in range(a) for j in range(b))
        worth = gains > _LEAST_GAIN
        for (column, row), gain in zip(
            np.argwhere(worth).tolist(), gains[worth].tolist(), strict=True
        ):
            cells_under = block << (column * width + row)
            spots.append(_Spot(round(gain, 6), cells_under, column, row, turned))
    return spots


def _greedy_layer(spots: list[_Spot], below: int, first: int) -> list[_Spot]:
    """Take spots from the best down, of equal ones those that bridge most cells below."""
    occupied = 0
    layer: list[_Spot] = []
    for spot in sorted(
        spots,
        key=lambda spot: (
            -round(spot.gain, 2),
            -(spot.cells & below).bit_count(),
            spot.turned ^ first,
            spot.row,
            spot.column,
        ),
    ):
        if not spot.cells & occupied:
            occupied |= spot.cells
            layer.append(spot)
    return layer


def _exchange(layer: list[_Spot], spots: list[_Spot]) -> list[_Spot]:
    """Take one brick out and put two in, or a better one, until that helps no more."""
    begins = np.array([(spot.column, spot.row) for spot in spots]).reshape(-1, 2)
    ends = begins + np.array(_SIDES)[[spot.turned for spot in spots]]
    touching: dict[int, list[_Spot]] = {}
    improved = True
    while improved:
        improved = False
        occupied = _cell_union(layer)
        for old in list(layer):
            obstacles = occupied & ~old.cells
            if old.cells not in touching:
                begin = np.array((old.column, old.row))
                touch = (begins < begin + _SIDES[old.turned]) & (begin < ends)
                touching[old.cells] = [
                    spots[i] for i in touch.all(axis=1).nonzero()[0].tolist()
                ]
            free = [s for s in touching[old.cells] if not s.cells & obstacles]
            best = max(_sets(free), key=_gain, default=(old,))
            if _gain(best) > old.gain + 1e-6:
                layer = [spot for spot in layer if spot is not old] + list(best)
                occupied = _cell_union(layer)
                improved = True
    return layer


def _sets(spots: list[_Spot]) -> Iterator[tuple[_Spot, ...]]:
    for i, first in enumerate(spots):
        yield (first,)
        for second in spots[:i]:
            if not first.cells & second.cells:
                yield (first, second)


def _gain(spots: tuple[_Spot, ...]) -> float:
    return sum(spot.gain for spot in spots)


def _cell_union(spots: list[_Spot]) -> int:
    return reduce(or_, (spot.cells for spot in spots), 0)


def _hang(layers: list[list[_Spot]], spots: list[list[_Spot]]) -> None:
    """Add bricks that hang from the layer above, or stand on what hangs, until none is left."""
    growing = True
    while growing:
        growing = False
        for level in reversed(range(len(layers))):
            occupied = _cell_union(layers[level])
            beside = [
                layer for layer in (level - 1, level + 1) if 0 <= layer < len(layers)
            ]
            hold = _cell_union(
                [spot for adjacent in beside for spot in layers[adjacent]]
            )
            free = [
                s for s in spots[level] if s.cells & hold and not s.cells & occupied
            ]
            added = _exchange(_greedy_layer(free, hold, level % 2), free)
            layers[level] += added
            growing |= bool(added)


def _middle(cells: Lattice, spot: _Spot) -> tuple[float, float]:
    a, b = _SIDES[spot.turned]
    x = (spot.column + a / 2 - cells.width / 2) * STUD + cells.offset[0]
    y = (spot.row + b / 2 - cells.width / 2) * STUD + cells.offset[1]
    return x, y
