"""Crowds on the far side of the building, without a look at who is seen."""

from collections.abc import Sequence
from itertools import product
from math import hypot

from pydantic import JsonValue

from scbench.schemas.hide_and_seek import Params

_DECIMALS = 6


def baselines(params: Params) -> dict[str, JsonValue]:
    """Return a huddle at the wall away from the sniper, and a file that leads straight away."""
    x, y, _ = params.sniper
    away = (-x / hypot(x, y), -y / hypot(x, y))
    half = [(b + p) / 2 for b, p in zip(params.building[:2], params.person[:2], strict=True)]
    # Where a person touches the building on the line from the sniper through its middle.
    steps = [h / abs(a) for h, a in zip(half, away, strict=True) if a]
    wall = min(steps)
    places = []
    spans = [int(params.max_distance / p) + 1 for p in params.person[:2]]
    for i, j in product(*(range(-n, n + 1) for n in spans)):
        spot = (i * params.person[0], j * params.person[1])
        # Neighbours touch; beside the building the grid keeps clear of it.
        if any(abs(v) >= h for v, h in zip(spot, half, strict=True)) and (
            hypot(*spot) <= params.max_distance
        ):
            far = hypot(spot[0] - wall * away[0], spot[1] - wall * away[1])
            places.append((round(far, _DECIMALS), i, j, spot))
    huddle = [spot for *_, spot in sorted(places)]
    pitch = min(p / abs(a) for p, a in zip(params.person[:2], away, strict=True) if a)
    file = [
        tuple((wall + i * pitch) * a for a in away)
        for i in range(params.people)
        if wall + i * pitch <= params.max_distance
    ]
    return {
        "huddle behind the building": _answer(huddle[: params.people]),
        "file behind the building": _answer(file),
    }


def _answer(places: Sequence[tuple[float, ...]]) -> JsonValue:
    return {"people": [{"xy": [round(v, _DECIMALS) for v in place]} for place in places]}
