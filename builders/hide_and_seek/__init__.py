"""Hide and seek: prompts, fresh buildings and snipers, and a crowd in the building's shadow.

The places hidden by a convex body are a convex set, so a box is hidden if its corners are: if the
line of sight to each of them meets the building.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, parameter, plain, under
from scbench.graders.hide_and_seek import (
    TOLERANCE,
    boxes,
    fitted,
    grade,
    picture,
    true_camera,
)
from scbench.schemas.hide_and_seek import Answer, Params

_DRAWS = 50
# On how many pixels a person in the open shows; with fewer, not to hide would cost
# little.
_LEAST_SEEN = 100
_PLACES = 40
# Side of the squares that hidden ground is counted in.
_PATCH = 0.1
_BASELINE_DECIMALS = 6
Floats = NDArray[np.float64]
# Free space between neighbours, and between the first row and the walls.
SPACE = 0.1
_MARGIN = 0.05
_DECIMALS = 3


class Space(Point):
    """Parameters of fresh scenes. Lengths are in metres."""

    width: float = parameter(6.0, "width of the building along x", ge=1.0, le=20.0)
    depth: float = parameter(6.0, "width of the building along y", ge=1.0, le=20.0)
    height: float = parameter(10.0, "height of the building", ge=3.0, le=40.0)
    person_width: float = parameter(
        0.5, "sides of the square that a person stands on", ge=0.2, le=2.0
    )
    person_height: float = parameter(2.0, "height of a person", ge=0.5, le=2.5)
    radius: float = parameter(
        30.0, "largest distance of people from the origin", ge=10.0, le=60.0
    )
    sniper_distance: float = parameter(
        141.4,
        "distance of the sniper, measured on the map; from far away only broad people can be seen",
        ge=60.0,
        le=350.0,
    )
    sniper_height: float = parameter(
        20.0, "height of the sniper's eye; lower is easier", ge=2.0, le=60.0
    )
    vary: float = parameter(
        0.0, "how much wider walls may be, drawn in steps of 10 cm", ge=0.0, le=5.0
    )
    fill: float = parameter(
        0.1,
        "people as a share of the places that the reference finds; the paper's "
        "instances lie between 0.02 and 0.27, more is harder",
        gt=0.0,
        le=1.0,
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Scenes in which the building hides more people than have to hide."""

    task = "hide_and_seek"
    version = 3
    form = '{"people": [{"xy": [x, y]}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return every size and place."""
        names = ["wx", "wy", "wz", "px", "py", "pz", "sx", "sy", "sz", "tx", "ty", "tz"]
        places = (params.building, params.person, params.sniper, params.look_at)
        (wx, wy, _), (px, py, _) = places[:2]
        values = {
            "people": params.people,
            "radius": params.max_distance,
            "rx": (wx + px) / 2,
            "ry": (wy + py) / 2,
            "columns": params.image[0],
            "rows": params.image[1],
            "angle": params.field_of_view,
            "penalty": params.penalty_per_pixel,
            **dict(zip(names, chain(*places), strict=True)),
        }
        return {
            "tolerance": f"{TOLERANCE:.9f}",
            **{n: plain(v) for n, v in values.items()},
        }

    def reference(self, params: Params) -> Answer:
        """Fill the building's shadow from the walls outwards."""
        places = _places(params)
        if len(places) < params.people:
            raise GenerationError(
                f"{params.people} people do not fit into the {len(places)} places that were found"
            )
        return _crowd(places[: params.people])

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return crowds with one fault each, and layouts that only seem hidden."""
        right: list[Any] = [list(person.xy) for person in self.reference(params).people]
        width, depth, _ = params.person
        back = [-1 if e > 0 else 1 for e in params.sniper[:2]]
        far = [b * (params.max_distance + 1) / math.sqrt(2) for b in back]
        (x, y), tail = right[0], right[1:]
        wrong: dict[str, list[Any]] = {
            "nobody": [],
            "one_missing": tail,
            "one_too_many": [*right, _spare(params, right)],
            "one_inside_the_building": [[0.0, 0.0], *tail],
            "one_half_in_the_wall": [[back[0] * params.building[0] / 2, 0.0], *tail],
            "one_too_far": [far, *tail],
            "one_nearly_at_infinity": [[1e300, -1e300], *tail],
            "one_in_front": [_in_front(params), *tail],
            "all_in_front": [[-u, -v] for u, v in right],
            "numbers_as_strings": [[str(u), str(v)] for u, v in right],
            "two_letter_strings": ["00" for _ in right],
            "booleans": [[True, False], *tail],
            "three_coordinates": [[u, v, 0.0] for u, v in right],
        }
        if tail:
            # The centres are farther apart than a person is wide, and still the boxes overlap.
            corner = [x + back[0] * 0.72 * width, y + back[1] * 0.72 * depth]
            wrong["diagonal_overlap"] = [[x, y], corner, *tail[1:]]
            wrong["one_place_twice"] = [[x, y], [x, y], *tail[1:]]
        wrong |= {
            name: places
            for name, places in _seeming(params)
            if grade(params, _crowd(np.array(places))).score < 1
        }
        lists = {name: [{"xy": xy} for xy in places] for name, places in wrong.items()}
        return under("people", {**lists, "bare_pairs": right}) | {"no_people": {}}

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return a huddle at the wall away from the sniper, and a file that leads straight away."""
        x, y, _ = params.sniper
        away = (-x / math.hypot(x, y), -y / math.hypot(x, y))
        half = [
            (b + p) / 2
            for b, p in zip(params.building[:2], params.person[:2], strict=True)
        ]
        # Where a person touches the building on the line from the sniper through its middle.
        wall = min(h / abs(a) for h, a in zip(half, away, strict=True) if a)
        places = []
        spans = [int(params.max_distance / p) + 1 for p in params.person[:2]]
        for i, j in product(*(range(-n, n + 1) for n in spans)):
            spot = (i * params.person[0], j * params.person[1])
            # Neighbours touch; beside the building the grid keeps clear of it.
            if any(abs(v) >= h for v, h in zip(spot, half, strict=True)) and (
                math.hypot(*spot) <= params.max_distance
            ):
                far = math.hypot(spot[0] - wall * away[0], spot[1] - wall * away[1])
                places.append((round(far, _BASELINE_DECIMALS), i, j, spot))
        huddle = [spot for *_, spot in sorted(places)]
        pitch = min(
            p / abs(a) for p, a in zip(params.person[:2], away, strict=True) if a
        )
        file = [
            tuple((wall + i * pitch) * a for a in away)
            for i in range(params.people)
            if wall + i * pitch <= params.max_distance
        ]
        return {
            "huddle behind the building": _crowd_answer(huddle[: params.people]),
            "file behind the building": _crowd_answer(file),
        }

    def measure(self, params: Params) -> float:
        """Return which share of the hidden ground people have to take up.

        The ground counts in squares of 10 cm, hidden up to the height of a person.
        """
        steps = (
            np.arange(_PATCH / 2, 2 * params.max_distance, _PATCH) - params.max_distance
        )
        x, y = (axis.ravel() for axis in np.meshgrid(steps, steps))
        walls = [wall / 2 for wall in params.building[:2]]
        free = (x * x + y * y <= params.max_distance**2) & (
            (abs(x) > walls[0]) | (abs(y) > walls[1])
        )
        spots = x[free], y[free], np.full(free.sum(), params.person[2])
        ground = int(blocked(params, params.sniper, spots).sum()) * _PATCH**2
        return params.people * params.person[0] * params.person[1] / ground

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw the sniper's direction; count hiding places and take a share of them."""
        # A tenth for the sniper's place, which is rounded.
        near = point.radius + 2 * point.person_width + 0.1
        if point.sniper_distance <= near:
            raise GenerationError(
                f"the sniper, at {point.sniper_distance:g} m, stands among the people, who can be "
                f"up to {point.radius:g} m from the origin; ask for a sniper_distance of more than "
                f"{near:g}, or a smaller radius"
            )
        for _ in range(_DRAWS):
            walls = [
                round(wall + rng.below(round(10 * point.vary) + 1) / 10, 1)
                for wall in (point.width, point.depth)
            ]
            t = rng.uniform(0.2, 0.7)
            cosine, sine = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
            signs = rng.choice((-1, 1)), rng.choice((-1, 1))
            sniper = [
                round(s * point.sniper_distance * u, 1)
                for s, u in zip(signs, (cosine, sine), strict=True)
            ]
            params = Params(
                people=1,
                building=(*walls, point.height),
                person=(point.person_width, point.person_width, point.person_height),
                max_distance=point.radius,
                sniper=(*sniper, point.sniper_height),
                look_at=(0.0, 0.0, 2.0),
                field_of_view=22.5,
                image=(800, 600),
                penalty_per_pixel=0.005,
            )
            beyond = all(
                abs(s) > b for s, b in zip(sniper, params.building, strict=False)
            )
            if not (beyond and _in_picture(params) and _is_seen_in_the_open(params)):
                continue
            people = round(point.fill * len(_places(params)))
            if 1 <= people <= 1000:
                return params.model_copy(update={"people": people})
        raise GenerationError(
            f"in {_DRAWS} draws the picture did not hold everybody within {point.radius:g} m, "
            f"showed somebody in the open on fewer than {_LEAST_SEEN} pixels, or not between 1 and "
            "1,000 people were to hide; ask for a smaller radius, a sniper at another distance, "
            "larger people, another fill or another building"
        )


def _crowd(places: Floats) -> Answer:
    return Answer.model_validate({"people": [{"xy": xy} for xy in places.tolist()]})


def _places(params: Params) -> Floats:
    """Return the hiding places of a scene, which do not depend on the number of people."""
    return _cached_places(params.model_copy(update={"people": 1}))


def _spare(params: Params, right: Sequence[Sequence[float]]) -> list[float]:
    """Return one hiding place more, or a place that at least overlaps nobody."""
    places = _places(params).tolist()
    if len(places) > len(right):
        return list(places[len(right)])
    return [params.max_distance - SPACE, 0.0]


def _in_front(params: Params) -> list[float]:
    """Return a place on the sniper's side of the building, a step from its corner."""
    return [
        math.copysign((b + p) / 2 + 1, s)
        for b, p, s in zip(
            params.building, params.person[:2], params.sniper, strict=False
        )
    ]


def _seeming(params: Params) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield layouts that keep the rules for bodies but may show people."""
    x_sign, y_sign = (-1 if e > 0 else 1 for e in params.sniper[:2])
    wall_x, wall_y, _ = params.building
    width, depth, _ = params.person
    side = math.isqrt(params.people - 1) + 1
    block = [
        [
            x_sign * ((wall_x + width) / 2 + SPACE + i * (width + SPACE)),
            y_sign * ((wall_y + depth) / 2 + SPACE + j * (depth + SPACE)),
        ]
        for i, j in product(range(side), range(side))
    ]
    yield "square_block_behind_the_corner", block[: params.people]
    right = _places(params)[: params.people].tolist()
    # Past the end of the wall: wholly or half out of the shadow, along the row behind the wall.
    for name, past in (
        ("one_past_the_end_of_the_wall", 1.0),
        ("one_peeking_round_the_end", 0.25),
    ):
        y = -y_sign * ((wall_y - depth) / 2 + past * depth)
        x = x_sign * ((wall_x + width) / 2 + SPACE)
        apart = [p for p in right if abs(p[0] - x) >= width or abs(p[1] - y) >= depth]
        yield name, [[x, y], *apart[: params.people - 1]]
    crowd = _hidden_only_from_the_fitted_camera(params)
    if crowd is not None:
        yield "hidden_only_in_the_published_picture", crowd


def _hidden_only_from_the_fitted_camera(params: Params) -> list[list[float]] | None:
    """Return a crowd that only the paper's camera, fitted to it in a few rounds, does not see."""
    eye = params.sniper
    for _ in range(8):
        places = hiding_places(params, eye)
        visible = ~hidden(params, places, params.sniper)
        if len(places) < params.people or not visible.any():
            far = places[-params.people :]
        else:
            far = np.vstack([places[visible], places[~visible][::-1]])[: params.people]
        if len(far) < params.people:
            return None
        low, high = boxes(params, far)
        nearer_eye = fitted(true_camera(params), low.min(axis=0), high.max(axis=0)).eye
        if (
            hidden(params, far, nearer_eye).all()
            and not hidden(params, far, params.sniper).all()
        ):
            crowd: list[list[float]] = far.tolist()
            return crowd
        eye = nearer_eye
    return None


def _is_seen_in_the_open(params: Params) -> bool:
    """Whether a person shows on enough pixels wherever nothing is in the way.

    Looked at are places along the far rim, where people are smallest. How the edges of a person
    fall between pixels makes a difference of some, so they are many.
    """
    x, y, _ = params.sniper
    far = math.atan2(-y, -x)
    for i in range(_PLACES):
        angle = far + math.pi * ((i + 0.5) / _PLACES - 0.5)
        spot = params.max_distance * np.array([[math.cos(angle), math.sin(angle)]])
        low, high = boxes(params, spot)
        if (picture(true_camera(params), low[1:], high[1:]) == 0).sum() < _LEAST_SEEN:
            return False
    return True


def _in_picture(params: Params) -> bool:
    """Whether the picture holds everybody within the allowed distance."""
    camera = true_camera(params)
    columns, rows = camera.image
    # An octagon around the disc of the centres, grown by a person.
    size = params.max_distance + max(params.person[:2])
    near = size * (math.sqrt(2) - 1)
    around = [
        (a, b)
        for u, v in ((size, near), (near, size))
        for a in (-u, u)
        for b in (-v, v)
    ]
    for (x, y), z in product(around, (0.0, params.person[2])):
        way = [p - e for p, e in zip((x, y, z), camera.eye, strict=True)]
        ahead, aside, above = (
            sum(a * b for a, b in zip(way, d, strict=True))
            for d in (camera.forward, camera.right, camera.up)
        )
        if ahead <= 0 or abs(above) > ahead * camera.tangent:
            return False
        if abs(aside) > ahead * camera.tangent * columns / rows:
            return False
    return True


def _crowd_answer(places: Sequence[tuple[float, ...]]) -> JsonValue:
    return {
        "people": [
            {"xy": [round(v, _BASELINE_DECIMALS) for v in place]} for place in places
        ]
    }


def hiding_places(params: Params, eye: Sequence[float] | None = None) -> Floats:
    """Return places (n, 2) where a person is hidden from the sniper or another eye, nearest first.

    They lie on a grid that starts at the walls turned away from the eye, and do not overlap. Each
    is hidden with 5 cm to spare, and at least 10 cm inside the allowed distance.
    """
    eye = params.sniper if eye is None else eye
    away = [-1 if e > 0 else 1 for e in eye[:2]]
    axes = []
    for axis in (0, 1):
        start = (params.building[axis] + params.person[axis]) / 2 + SPACE
        pitch = params.person[axis] + SPACE
        back, front = ((params.max_distance + sign * start) / pitch for sign in (-1, 1))
        steps = np.arange(-int(front), int(back) + 1)
        axes.append(away[axis] * (start + pitch * steps))
    grid = (
        np.round(np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2), _DECIMALS) + 0.0
    )
    x, y = grid.T
    near = x * x + y * y <= (params.max_distance - SPACE) ** 2
    reach = [
        (b + p) / 2 + SPACE / 2
        for b, p in zip(params.building, params.person, strict=True)
    ]
    apart = (np.abs(grid) > reach[:2]).any(axis=1)
    grid = grid[near & apart]
    grid = grid[hidden(params, grid, eye)]
    order = np.lexsort((grid[:, 0], -(grid[:, 0] * eye[0] + grid[:, 1] * eye[1])))
    places: Floats = grid[order]
    return places


_cached_places = lru_cache(maxsize=64)(hiding_places)


def hidden(params: Params, xy: Floats, eye: Sequence[float]) -> NDArray[np.bool_]:
    """Return which people the building hides completely from an eye, with 5 cm to spare."""
    hides = np.ones(len(xy), dtype=bool)
    half_x, half_y = (size / 2 + _MARGIN for size in params.person[:2])
    heights = (0.0, params.person[2] + _MARGIN)
    for dx, dy, z in product((-half_x, half_x), (-half_y, half_y), heights):
        hides &= blocked(
            params, eye, (xy[:, 0] + dx, xy[:, 1] + dy, np.full(len(xy), z))
        )
    return hides


def blocked(
    params: Params, eye: Sequence[float], point: tuple[Floats, Floats, Floats]
) -> NDArray[np.bool_]:
    """Return which lines of sight to points meet the building."""
    wall_x, wall_y, roof = params.building
    slabs = ((-wall_x / 2, wall_x / 2), (-wall_y / 2, wall_y / 2), (0.0, roof))
    enter, leave = np.zeros(len(point[0])), np.ones(len(point[0]))
    for axis, (low, high) in enumerate(slabs):
        way = point[axis] - eye[axis]
        way = np.where(way == 0, 1e-300, way)
        with np.errstate(over="ignore"):
            first, second = (low - eye[axis]) / way, (high - eye[axis]) / way
        enter = np.maximum(enter, np.minimum(first, second))
        leave = np.minimum(leave, np.maximum(first, second))
    blocked: NDArray[np.bool_] = enter <= leave
    return blocked
