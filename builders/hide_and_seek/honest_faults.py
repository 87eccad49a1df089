"""Crowds with honest mistakes, and their scores by the rules of the prompt."""

import math
from collections.abc import Sequence

import numpy as np

from scbench.builders.hide_and_seek.shadow import Floats, far_side, places_of
from scbench.schemas.hide_and_seek import Params

# Names of crowds whose person at the end of the wall is beyond it by a share of their depth.
_PAST_THE_END = {"one_peeks_round_the_end": 0.5, "one_stands_past_the_end": 1.0}
# Metres between this person and the line of the wall's end.
_SPACE = 0.1


def faulty_crowds(params: Params) -> dict[str, tuple[list[list[float]], float]]:
    """Return crowds with honest mistakes, by name, each with its score."""
    places = places_of(params)[: params.people]
    crowds: dict[str, tuple[list[list[float]], float]] = {}
    x_sign, y_sign = far_side(params.sniper)
    wall_x, wall_y, _ = params.building
    width, depth, _ = params.person
    x = x_sign * ((wall_x + width) / 2 + _SPACE)
    for name, share in _PAST_THE_END.items():
        y = -y_sign * ((wall_y - depth) / 2 + share * depth)
        # People must not overlap.
        is_apart_in_x = abs(places[:, 0] - x) >= width
        is_apart_in_y = abs(places[:, 1] - y) >= depth
        hidden_people = places[is_apart_in_x | is_apart_in_y].tolist()
        if len(hidden_people) < params.people - 1:
            continue
        # Everybody else is hidden, so nobody covers this person.
        pixels = visible_pixels(params, x, y)
        score = max(0.0, 1 - params.penalty_per_pixel * pixels)
        crowds[name] = ([[x, y], *hidden_people[: params.people - 1]], score)
    return crowds


def visible_pixels(params: Params, x: float, y: float) -> int:
    """Return how many pixels show a single person at a place next to the building."""
    eye = np.array(params.sniper)
    forward = np.array(params.look_at) - eye
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    columns, rows = params.image
    # At distance 1 from the eye: the size of a pixel, and the distances of pixels from the middle.
    pixel = 2 * math.tan(math.radians(params.field_of_view) / 2) / rows
    across = (np.arange(columns) + 0.5 - columns / 2) * pixel
    down = (np.arange(rows) + 0.5 - rows / 2) * pixel
    # There is one ray for each row and column, all in one list.
    sideways = across[None, :, None] * right
    downwards = down[:, None, None] * up
    rays = (forward + sideways - downwards).reshape(-1, 3)
    to_person = distances(eye, rays, (x, y), params.person)
    to_building = distances(eye, rays, (0.0, 0.0), params.building)
    return int((to_person < to_building).sum())


def distances(
    eye: Floats, rays: Floats, at: Sequence[float], size: Sequence[float]
) -> Floats:
    """Return how far along each ray (n, 3) it enters a box on the ground; infinite if never."""
    width, depth, height = size
    low = np.array([at[0] - width / 2, at[1] - depth / 2, 0.0])
    high = np.array([at[0] + width / 2, at[1] + depth / 2, height])
    # A ray along a face divides by zero.
    with np.errstate(divide="ignore", invalid="ignore"):
        to_low = (low - eye) / rays
        to_high = (high - eye) / rays
    # The box is the intersection of three slabs, so a ray is in it while it is in all of them.
    enter = np.minimum(to_low, to_high).max(axis=1)
    leave = np.maximum(to_low, to_high).min(axis=1)
    hits = (enter < leave) & (enter > 0)
    return np.where(hits, enter, np.inf)
