"""Hide and seek: place people where a building hides them from a sniper.

An example of the puzzle, in metres: the building is 2 x 2 and 10 high, with its centre at the
origin; people are 0.5 x 0.5 and 2 high, and may be up to 30 from the origin; the sniper's eye is at
(100, 100, 20), and 4 people must hide. An answer, as [x, y]:

    [-1.35, -0.15], [-0.15, -1.35], [-1.35, -0.75], [-0.75, -1.35]
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.base.wording import counted
from scbench.builders.hide_and_seek.honest_faults import faulty_crowds
from scbench.builders.hide_and_seek.shadow import (
    Floats,
    are_blocked,
    are_hidden,
    far_side,
    hiding_places,
    packings_without_heights,
    places_of,
)
from scbench.builders.hide_and_seek.views import (
    LEAST_SEEN,
    is_everybody_in_view,
    is_seen_in_the_open,
)
from scbench.builders.shared.builder import Builder, Point, parameter, plain, under
from scbench.graders.hide_and_seek import (
    TOLERANCE,
    boxes,
    fit_camera,
    grade,
    true_camera,
)
from scbench.schemas.hide_and_seek import Answer, Params

# Maximum number of scenes that one call draws.
_DRAWS = 400
# Free space around people in counter-references, in metres.
_GAP = 0.1
# Side of the squares in which hidden ground is counted, in metres.
_PATCH = 0.1
_BASELINE_DECIMALS = 6
# Number of times that the paper's camera is fitted to a crowd and the crowd moved to hide from it.
_FITTINGS = 8


class Space(Point):
    """Parameters of fresh scenes. Lengths are in metres."""

    width: float = parameter(6.0, "width of the building along x", ge=1.0, le=20.0)
    depth: float = parameter(6.0, "width of the building along y", ge=1.0, le=20.0)
    height: float = parameter(10.0, "height of the building", ge=3.0, le=40.0)
    person_width: float = parameter(
        0.5, "side of the square that a person stands on", ge=0.2, le=2.0
    )
    person_height: float = parameter(2.0, "height of a person", ge=0.5, le=2.5)
    radius: float = parameter(
        30.0, "maximum distance of people from the origin", ge=10.0, le=60.0
    )
    sniper_distance: float = parameter(
        141.4,
        "distance of the sniper, measured on the ground; from far away, only wide people are "
        "visible",
        ge=60.0,
        le=350.0,
    )
    sniper_height: float = parameter(
        20.0, "height of the sniper's eye; lower is easier", ge=2.0, le=60.0
    )
    vary: float = parameter(
        0.0,
        "largest amount added to the width and to the depth of the building, in steps of 0.1 m",
        ge=0.0,
        le=5.0,
    )
    fill: float = parameter(
        0.1,
        "number of people as a share of the number of places that the reference finds; more is "
        "harder",
        gt=0.0,
        le=1.0,
    )
    greedy: float = parameter(
        1.0,
        "highest score that a crowd placed without regard to heights may reach; scenes above "
        "this limit are redrawn",
        ge=0.0,
        le=1.0,
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Scenes in which the building can hide more people than have to hide."""

    task = "hide_and_seek"
    version = 4
    draws = 4
    form = '{"people": [{"xy": [x, y]}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return every size and place that the prompt states."""
        values = {
            "radius": params.max_distance,
            "columns": params.image[0],
            "rows": params.image[1],
            "angle": params.field_of_view,
            "penalty": params.penalty_per_pixel,
        }
        # Names of width, person, sniper and target begin with w, p, s and t.
        triples = (params.building, params.person, params.sniper, params.look_at)
        for letter, triple in zip("wpst", triples, strict=True):
            for axis, value in zip("xyz", triple, strict=True):
                values[letter + axis] = value
        words: dict[str, object] = {n: plain(value) for n, value in values.items()}
        words["crowd"] = counted(params.people, "person", "people")
        words["tolerance"] = f"{TOLERANCE:.9f}"
        return words

    def reference(self, params: Params) -> Answer:
        """Fill the building's shadow from the walls outwards."""
        places = places_of(params)
        if len(places) < params.people:
            raise GenerationError(
                f"found only {counted(len(places), 'hiding place')} for "
                f"{counted(params.people, 'person', 'people')}"
            )
        return crowd(places[: params.people].tolist())

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return crowds with one fault each, and layouts that only seem hidden."""
        right: list[Any] = [list(person.xy) for person in self.reference(params).people]
        crowds = single_faults(params, right)
        for name, places in seemingly_hidden(params):
            if grade(params, crowd(places)).score < 1:
                crowds[name] = places
        lists: dict[str, list[Any]] = {}
        for name, places in crowds.items():
            lists[name] = [{"xy": xy} for xy in places]
        lists["bare_pairs"] = right
        return under("people", lists) | {"no_people": {}}

    def honest_faults(self, params: Params) -> Mapping[str, tuple[JsonValue, float]]:
        """Return the crowd rounded, moved a little, and with one person past a corner."""
        answers: dict[str, tuple[JsonValue, float]] = {}
        for name, (places, score) in faulty_crowds(params).items():
            answer = crowd(places).model_dump(mode="json")
            answers[name] = (answer, score)
        return answers

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return a huddle, a file of people, and packings behind the building without heights."""
        answers = {
            "huddle behind the building": rounded_crowd(huddle(params)),
            "file behind the building": rounded_crowd(file_of_people(params)),
        }
        for name, places in packings_without_heights(params):
            answers[name] = rounded_crowd(places[: params.people])
        return answers

    def measure(self, params: Params) -> float:
        """Return the number of people, times the share of the hidden ground that they take up.

        Ground is measured in squares of 10 cm that are hidden up to the height of a person.
        """
        radius = params.max_distance
        steps = np.arange(_PATCH / 2, 2 * radius, _PATCH) - radius
        columns, rows = np.meshgrid(steps, steps)
        x = columns.ravel()
        y = rows.ravel()
        wall_x, wall_y, _ = params.building
        outdoors = (abs(x) > wall_x / 2) | (abs(y) > wall_y / 2)
        free = (x * x + y * y <= radius**2) & outdoors
        width, depth, height = params.person
        tops = (x[free], y[free], np.full(free.sum(), height))
        ground = int(are_blocked(params, params.sniper, tops).sum()) * _PATCH**2
        return params.people**2 * width * depth / ground

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw the sniper's direction; count hiding places and take a share of them."""
        # The extra 0.1 m is for the sniper's place, which is rounded.
        near = point.radius + 2 * point.person_width + 0.1
        if point.sniper_distance <= near:
            raise GenerationError(
                f"the sniper, at {point.sniper_distance:g} m, is too close to the people, who can "
                f"be up to {point.radius:g} m from the origin; ask for a sniper_distance of more "
                f"than {near:g}, or a smaller radius"
            )
        for _ in range(_DRAWS):
            params = draw_scene(point, rng)
            sniper_x, sniper_y, _ = params.sniper
            wall_x, wall_y, _ = params.building
            # Off the axes, so that the sniper sees past a corner of the building.
            if abs(sniper_x) <= wall_x or abs(sniper_y) <= wall_y:
                continue
            if not is_everybody_in_view(params):
                continue
            people = round(point.fill * len(places_of(params)))
            if not 1 <= people <= 1000:
                continue
            scene = params.model_copy(update={"people": people})
            # The slower checks come last.
            if point.greedy < 1 and is_solved_without_heights(scene):
                continue
            if not is_seen_in_the_open(scene):
                continue
            if not self.has_baseline_above(point.greedy, scene, grade):
                return scene
        raise GenerationError(
            f"no usable scene was found in {_DRAWS} draws: everything within {point.radius:g} m "
            f"must be in the picture, people in the open must cover at least {LEAST_SEEN} "
            "pixels, 1 to 1,000 people must hide, and crowds placed without regard to height "
            f"must score at most {point.greedy:g}; ask for a smaller radius, a sniper at "
            "another distance, larger people, another fill or another building"
        )


def draw_scene(point: Space, rng: Stream) -> Params:
    """Draw the walls and the place of the sniper; the number of people is 1 for now."""
    steps = round(10 * point.vary) + 1
    width = round(point.width + rng.below(steps) / 10, 1)
    depth = round(point.depth + rng.below(steps) / 10, 1)
    # Cosine and sine of an angle of 23 to 70 degrees: the sniper sees two walls.
    t = rng.uniform(0.2, 0.7)
    cosine = (1 - t * t) / (1 + t * t)
    sine = 2 * t / (1 + t * t)
    x_sign = rng.choice((-1, 1))
    y_sign = rng.choice((-1, 1))
    sniper_x = round(x_sign * point.sniper_distance * cosine, 1)
    sniper_y = round(y_sign * point.sniper_distance * sine, 1)
    return Params(
        people=1,
        building=(width, depth, point.height),
        person=(point.person_width, point.person_width, point.person_height),
        max_distance=point.radius,
        sniper=(sniper_x, sniper_y, point.sniper_height),
        look_at=(0.0, 0.0, 2.0),
        field_of_view=22.5,
        image=(800, 600),
        penalty_per_pixel=0.005,
    )


def crowd(places: Sequence[Sequence[float]]) -> Answer:
    """Return people at these places."""
    return Answer.model_validate({"people": [{"xy": xy} for xy in places]})


def half_sizes(params: Params) -> tuple[float, float]:
    """Return |x| and |y| of a person who touches the walls from outside."""
    wall_x, wall_y, _ = params.building
    width, depth, _ = params.person
    return (wall_x + width) / 2, (wall_y + depth) / 2


def is_solved_without_heights(params: Params) -> bool:
    """Return whether a packing that ignores heights hides everybody; no picture is drawn."""
    for _, places in packings_without_heights(params):
        people = np.array(places[: params.people]).reshape(-1, 2)
        if (
            len(people) == params.people
            and are_hidden(params, people, params.sniper).all()
        ):
            return True
    return False


# Baselines.


def away_from_sniper(params: Params) -> tuple[float, float]:
    """Return the unit vector from the sniper's eye towards the origin, on the ground."""
    x, y, _ = params.sniper
    distance = math.hypot(x, y)
    return -x / distance, -y / distance


def way_through(sizes: Sequence[float], direction: Sequence[float]) -> float:
    """Return the distance in a direction until x or y has changed by a person's size."""
    return min(n / abs(u) for n, u in zip(sizes, direction, strict=True) if u)


def huddle(params: Params) -> list[tuple[float, float]]:
    """Return the places nearest to the point where the sniper's line of sight leaves the building.

    They are on a grid on which neighbours touch.
    """
    reach_x, reach_y = half_sizes(params)
    u, v = away_from_sniper(params)
    wall = way_through((reach_x, reach_y), (u, v))
    width, depth, _ = params.person
    columns = int(params.max_distance / width) + 1
    rows = int(params.max_distance / depth) + 1
    places = []
    for i, j in product(range(-columns, columns + 1), range(-rows, rows + 1)):
        x = i * width
        y = j * depth
        # The places next to the building leave a gap to it.
        is_clear = abs(x) >= reach_x or abs(y) >= reach_y
        if is_clear and math.hypot(x, y) <= params.max_distance:
            distance = math.hypot(x - wall * u, y - wall * v)
            places.append((round(distance, _BASELINE_DECIMALS), i, j, x, y))
    return [(x, y) for *_, x, y in sorted(places)[: params.people]]


def file_of_people(params: Params) -> list[tuple[float, float]]:
    """Return places in a line from the wall straight away from the sniper."""
    u, v = away_from_sniper(params)
    wall = way_through(half_sizes(params), (u, v))
    pitch = way_through(params.person[:2], (u, v))
    places = []
    for i in range(params.people):
        distance = wall + i * pitch
        if distance <= params.max_distance:
            places.append((distance * u, distance * v))
    return places


def rounded_crowd(places: Sequence[tuple[float, float]]) -> JsonValue:
    """Return an answer with rounded places."""
    rounded = []
    for x, y in places:
        place = (round(x, _BASELINE_DECIMALS), round(y, _BASELINE_DECIMALS))
        rounded.append(place)
    return crowd(rounded).model_dump(mode="json")


# Counter-references.


def single_faults(params: Params, right: Sequence[list[Any]]) -> dict[str, list[Any]]:
    """Return the crowd of the reference with one fault each."""
    x_sign, y_sign = far_side(params.sniper)
    first, *tail = right
    x, y = first
    width, depth, _ = params.person
    wall_x, _, _ = params.building
    # Along the diagonal.
    too_far = (params.max_distance + 1) / math.sqrt(2)
    # A step from the corner on the sniper's side.
    reach_x, reach_y = half_sizes(params)
    in_front = [-x_sign * (reach_x + 1), -y_sign * (reach_y + 1)]
    # An unused hiding place, or else a place that overlaps nobody.
    spare = [params.max_distance - _GAP, 0.0]
    places = places_of(params).tolist()
    if len(places) > len(right):
        spare = places[len(right)]
    crowds: dict[str, list[Any]] = {
        "nobody": [],
        "one_missing": tail,
        "one_too_many": [*right, spare],
        "one_inside_the_building": [[0.0, 0.0], *tail],
        "one_half_in_the_wall": [[x_sign * wall_x / 2, 0.0], *tail],
        "one_too_far": [[x_sign * too_far, y_sign * too_far], *tail],
        "one_nearly_at_infinity": [[1e300, -1e300], *tail],
        "one_in_front": [in_front, *tail],
        "all_in_front": [[-x, -y] for x, y in right],
        "numbers_as_strings": [[str(x), str(y)] for x, y in right],
        "two_letter_strings": ["00"] * len(right),
        "booleans": [[True, False], *tail],
        "three_coordinates": [[x, y, 0.0] for x, y in right],
    }
    if tail:
        # The centres are farther apart than a person is wide, but the boxes still overlap.
        corner = [x + x_sign * 0.72 * width, y + y_sign * 0.72 * depth]
        crowds["diagonal_overlap"] = [first, corner, *tail[1:]]
        crowds["one_place_twice"] = [first, first, *tail[1:]]
    return crowds


def seemingly_hidden(params: Params) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield layouts that follow the rules on placement but may leave people visible."""
    x_sign, y_sign = far_side(params.sniper)
    reach_x, reach_y = half_sizes(params)
    _, wall_y, _ = params.building
    width, depth, _ = params.person
    side = math.isqrt(params.people - 1) + 1
    block = []
    for i, j in product(range(side), range(side)):
        x = x_sign * (reach_x + _GAP + i * (width + _GAP))
        y = y_sign * (reach_y + _GAP + j * (depth + _GAP))
        block.append([x, y])
    yield "square_block_behind_the_corner", block[: params.people]
    right = places_of(params)[: params.people].tolist()
    # The first person is past the end of the wall, wholly or in part.
    shares = {"one_past_the_end_of_the_wall": 1.0, "one_peeking_round_the_end": 0.25}
    for name, share in shares.items():
        x = x_sign * (reach_x + _GAP)
        y = -y_sign * ((wall_y - depth) / 2 + share * depth)
        people = [[x, y]]
        for u, v in right:
            is_apart = abs(u - x) >= width or abs(v - y) >= depth
            if is_apart:
                people.append([u, v])
        yield name, people[: params.people]
    places = hidden_only_from_the_fitted_camera(params)
    if places is not None:
        yield "hidden_only_in_the_published_picture", places


def hidden_only_from_the_fitted_camera(params: Params) -> list[list[float]] | None:
    """Return a crowd hidden from the paper's fitted camera but not the sniper; None without one."""
    n = params.people
    eye = params.sniper
    for _ in range(_FITTINGS):
        places = hiding_places(params, eye)
        is_visible = ~are_hidden(params, places, params.sniper)
        people: Floats = places[-n:]
        if len(places) >= n and is_visible.any():
            # People whom the sniper sees come first, then the others, the farthest first.
            in_order = np.vstack([places[is_visible], places[~is_visible][::-1]])
            people = in_order[:n]
        if len(people) < n:
            return None
        low, high = boxes(params, people)
        camera = fit_camera(true_camera(params), low.min(axis=0), high.max(axis=0))
        is_fooled = are_hidden(params, people, camera.eye).all()
        if is_fooled and not are_hidden(params, people, params.sniper).all():
            fooling: list[list[float]] = people.tolist()
            return fooling
        eye = camera.eye
    return None
