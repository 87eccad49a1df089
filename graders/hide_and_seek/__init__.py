"""Does the sniper see anybody?

Rays through the middles of the pixels of a picture taken from the sniper's eye decide; people
overlap if their boxes do. The picture that the paper graded, from a camera moved to fit the scene,
is for comparison. Rays take only sums, products, quotients and square roots of doubles, one array
element at a time, so that every machine decides every pixel alike.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.hide_and_seek import Answer, Params

VERSION = 2

CHECKS = {
    "count": "Exactly as many people are placed as asked for.",
    "distance": "Everybody is within the allowed distance of the origin.",
    "people_apart": "No two people overlap.",
    "clear_of_building": "Nobody overlaps the building.",
    "hidden": "The sniper sees nobody.",
}

TOLERANCE = 1e-9
MAX_PEOPLE = 2000
_NAMED = 10
_MAX_PAIRS = 50
_MAX_PLACES = 2000
Floats = NDArray[np.float64]
XYZ = tuple[float, float, float]
NOTHING = -1
_TANGENT_DIGITS = 12
_TINY = 1e-300


class Camera(NamedTuple):
    """A pinhole camera with three directions of length 1, its picture upright.

    The tangent is of half the angle between the picture's top and bottom; the image is columns
    and rows.
    """

    eye: XYZ
    forward: XYZ
    right: XYZ
    up: XYZ
    tangent: float
    image: tuple[int, int]


def camera(
    eye: Sequence[float], look_at: Sequence[float], angle: float, image: Sequence[int]
) -> Camera:
    """Return a camera at ``eye`` with ``look_at``, not straight above or below it, in the middle.

    ``angle`` is that between top and bottom of the picture, in degrees; ``image`` columns and rows.
    """
    fx, fy, fz = forward = _unit_vector(
        [t - e for t, e in zip(look_at, eye, strict=True)]
    )
    rx, ry, _ = right = _unit_vector([fy, -fx, 0.0])
    up = (ry * fz, -rx * fz, rx * fy - ry * fx)
    # The last digits of a tangent differ between libraries.
    tangent = round(math.tan(math.radians(angle / 2)), _TANGENT_DIGITS)
    return Camera(
        _rounded_point(eye), forward, right, up, tangent, (image[0], image[1])
    )


def fitted(
    view: Camera, low: Sequence[float] | Floats, high: Sequence[float] | Floats
) -> Camera:
    """Return a camera moved so that the sphere around a box just fits between top and bottom.

    It looks in the same direction, at the middle of the box: this is the paper's camera.
    """
    diagonal = math.sqrt(sum((b - a) ** 2 for a, b in zip(low, high, strict=True)))
    distance = diagonal / 2 * math.sqrt(1 + view.tangent**2) / view.tangent
    eye = [
        (a + b) / 2 - distance * f
        for a, b, f in zip(low, high, view.forward, strict=True)
    ]
    return view._replace(eye=_rounded_point(eye))


def picture(view: Camera, low: Floats, high: Floats) -> NDArray[np.int32]:
    """Return (rows, columns) which box each pixel shows: the nearest one's index, or `NOTHING`.

    Where boxes are equally near, the first. ``low`` and ``high`` (n, 3) are corners of the boxes
    with the smallest and the largest coordinates; every box lies completely in front of the camera.
    """
    columns, rows = view.image
    owner = np.full((rows, columns), NOTHING, dtype=np.int32)
    nearest = np.full((rows, columns), np.inf)
    across = view.tangent * (columns / rows)
    sideways = (2 * (np.arange(columns) + 0.5) / columns - 1) * across
    upwards = (1 - 2 * (np.arange(rows) + 0.5) / rows) * view.tangent
    windows = _windows(view, low, high).tolist()
    for i, (first, last, top, bottom) in enumerate(windows):
        if first >= last or top >= bottom:
            continue
        window = np.s_[top:bottom, first:last]
        entry, hit = _box_hits(
            view, sideways[first:last], upwards[top:bottom, None], low[i], high[i]
        )
        hit &= entry < nearest[window]
        nearest[window][hit] = entry[hit]
        owner[window][hit] = i
    return owner


def _box_hits(
    view: Camera, sideways: Floats, upwards: Floats, low: Floats, high: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return where rays enter a box, in units of the distance along the view, and which do."""
    entry: Floats | float = 0.0
    leave: Floats | float = np.inf
    for axis in range(3):
        ray = (view.forward[axis] + view.right[axis] * sideways) + view.up[
            axis
        ] * upwards
        # A ray along a slab is bent by less than any digit, instead of dividing by 0.
        ray = np.where(ray == 0, _TINY, ray)
        with np.errstate(over="ignore"):
            near, far = (
                (low[axis] - view.eye[axis]) / ray,
                (high[axis] - view.eye[axis]) / ray,
            )
        entry = np.maximum(entry, np.minimum(near, far))
        leave = np.minimum(leave, np.maximum(near, far))
    return np.asarray(entry), np.asarray(entry <= leave)


def _windows(view: Camera, low: Floats, high: Floats) -> NDArray[np.int64]:
    """Return the part of the picture that each box can show in: columns and rows, from and to."""
    corners = np.stack(
        [
            np.stack(
                [(low, high)[a][:, 0], (low, high)[b][:, 1], (low, high)[c][:, 2]],
                axis=-1,
            )
            for a in (0, 1)
            for b in (0, 1)
            for c in (0, 1)
        ],
        axis=1,
    )
    x, y, z = (corners[..., axis] - view.eye[axis] for axis in range(3))
    ahead, aside, above = (
        x * d[0] + y * d[1] + z * d[2] for d in (view.forward, view.right, view.up)
    )
    columns, rows = view.image
    u = (aside / ahead / (view.tangent * (columns / rows)) + 1) * columns / 2
    v = (1 - above / ahead / view.tangent) * rows / 2
    # A pixel more on each side than needed, so that rounding cannot lose one.
    bounds = [
        np.clip(np.floor(u.min(1)) - 1, 0, columns),
        np.clip(np.ceil(u.max(1)) + 1, 0, columns),
        np.clip(np.floor(v.min(1)) - 1, 0, rows),
        np.clip(np.ceil(v.max(1)) + 1, 0, rows),
    ]
    return np.stack(bounds, axis=1).astype(np.int64)


def _unit_vector(vector: Sequence[float]) -> XYZ:
    x, y, z = vector
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def _rounded_point(vector: Sequence[float]) -> XYZ:
    x, y, z = vector
    return float(x), float(y), float(z)


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 less the penalty for every pixel that shows a person; 0 if a rule is broken."""
    count = len(answer.people)
    checks = Checklist(CHECKS)
    if count > MAX_PEOPLE:
        return checks.too_large(
            f"{count} people are placed; at most {MAX_PEOPLE} are judged."
        )
    xy = np.array([person.xy for person in answer.people], dtype=np.float64).reshape(
        -1, 2
    )
    wrong = f"{count} people are placed instead of {params.people}."
    legal = checks.expect("count", count == params.people, wrong)
    with np.errstate(over="ignore", under="ignore"):
        far = (
            xy[:, 0] * xy[:, 0] + xy[:, 1] * xy[:, 1]
            > (params.max_distance + TOLERANCE) ** 2
        )
        fault = f"people are more than {params.max_distance:g} m from the origin"
        legal &= checks.forbid_many(
            "distance", np.nonzero(far)[0].tolist(), fault, lambda i: f"is person {i}"
        )
        legal &= _check_people(checks, xy, params)
    reach = [
        (b + p) / 2 - TOLERANCE
        for b, p in zip(params.building, params.person, strict=True)
    ]
    inside = np.nonzero((np.abs(xy) <= reach[:2]).all(axis=1))[0].tolist()
    fault = "people overlap the building"
    legal &= checks.forbid_many(
        "clear_of_building", inside, fault, lambda i: f"is person {i}"
    )
    # People who are too far away are left out of the picture, wherever they are.
    near = np.nonzero(~far)[0]
    # For every pixel the index of the person it shows, or a negative number.
    person_of = picture(true_camera(params), *boxes(params, xy[near])) - 1
    pixels = int((person_of >= 0).sum())
    visible = [
        [int(near[i]), int(n)]
        for i, n in enumerate(np.bincount(person_of[person_of >= 0]))
        if n
    ]
    first = ", ".join(str(i) for i, _ in visible[:_NAMED])
    wrong = f"{len(visible)} people show, on {pixels} pixels; the first are, from 0: {first}."
    checks.expect(
        "hidden", pixels == 0, wrong, people=len(visible), pixels=pixels, seen=visible
    )
    rows, columns = np.nonzero(person_of >= 0)
    where = zip(
        columns.tolist(),
        rows.tolist(),
        near[person_of[rows, columns]].tolist(),
        strict=True,
    )
    return checks.partial(
        round(max(0.0, 1.0 - params.penalty_per_pixel * pixels), 9) if legal else 0.0,
        visible_pixels=pixels,
        visible_people=visible,
        visible_places=[
            list(place) for place, _ in zip(where, range(_MAX_PLACES), strict=False)
        ],
    )


def _check_people(checks: Checklist, xy: Floats, params: Params) -> bool:
    width, depth, _ = params.person
    gap_x, gap_y = (np.abs(xy[:, None, axis] - xy[None, :, axis]) for axis in (0, 1))
    overlap = (gap_x < width - TOLERANCE) & (gap_y < depth - TOLERANCE)
    first, second = np.nonzero(np.triu(overlap, 1))
    if not len(first):
        return checks.forbid("people_apart", (), str)
    pairs = np.stack([first, second], axis=1)[:_MAX_PAIRS].tolist()
    return checks.expect(
        "people_apart",
        False,
        f"{len(first)} pairs of people overlap; the first is {pairs[0][0]} and {pairs[0][1]}.",
        count=len(first),
        offenders=pairs,
    )


@lru_cache(maxsize=64)
def true_camera(params: Params) -> Camera:
    """Return the camera at the sniper's eye."""
    return camera(params.sniper, params.look_at, params.field_of_view, params.image)


def boxes(params: Params, xy: Floats) -> tuple[Floats, Floats]:
    """Return lower and upper corners of the building, which comes first, and of people."""
    half = np.array((*params.person[:2], 0.0)) / 2
    feet = np.hstack([xy, np.zeros((len(xy), 1))])
    wall_x, wall_y, roof = params.building
    low = np.vstack([(-wall_x / 2, -wall_y / 2, 0.0), feet - half])
    high = np.vstack(
        [(wall_x / 2, wall_y / 2, roof), feet + half + (0, 0, params.person[2])]
    )
    return low, high


def fitted_view_pixels(params: Params, xy: Floats) -> int:
    """Return how many pixels show people in the picture that the paper graded.

    It decides nothing and takes longer than the verdict, so it is made for pictures alone.
    """
    low, high = boxes(params, xy)
    paper_camera = fitted(true_camera(params), low.min(axis=0), high.max(axis=0))
    return int((picture(paper_camera, low, high) > 0).sum())
