"""Towers of digits: the poses in which the digits of a number can be printed on each other."""

from typing import NamedTuple

from scbench.graders.largest_printable_prime import HEIGHTS, pose, rests
from scbench.graders.largest_printable_prime.poses import Pose
from scbench.schemas.largest_printable_prime import Orientation, Params

# If several orientations give the same pose, the first one is used.
_ORDER: tuple[Orientation, ...] = (
    "flat",
    "flippedX",
    "flippedY",
    "rotate180Z",
    "rotate90Y",
    "rotate90X",
)


class TurnedDigit(NamedTuple):
    """A digit of a tower."""

    digit: int
    orientation: Orientation


Tower = list[TurnedDigit]


class StandingTower(NamedTuple):
    """A tower and its height in tenths of a millimetre."""

    tower: Tower
    height: int


class Layer(NamedTuple):
    """The best tower that ends with a digit in one pose.

    Attributes:
        height: height of the tower, in tenths of a millimetre.
        orientation: orientation of its last digit.
        lower: the pose of the digit below; None for the first.
    """

    height: int
    orientation: Orientation
    lower: Pose | None


def tallest(params: Params, number: str, sign: int = 1) -> StandingTower | None:
    """Return the digits in the poses that make the tallest tower; in a tie, flat poses are used.

    With a sign of -1, return the lowest tower. Return None if there is no tower.
    """
    # For each digit, the best towers up to it, by its pose.
    layers: list[dict[Pose, Layer]] = []
    for text in number:
        layer: dict[Pose, Layer] = {}
        for name, body in poses_of(params, int(text)):
            below: list[tuple[int, Pose | None]] = [(0, None)]
            if layers:
                below = [
                    (best.height, lower)
                    for lower, best in layers[-1].items()
                    if rests(body, lower)
                ]
            if below and body not in layer:
                height, lower = max(below, key=lambda option: sign * option[0])
                layer[body] = Layer(height + HEIGHTS[body.stand], name, lower)
        layers.append(layer)
    if not layers or not layers[-1]:
        return None
    top = max(layers[-1], key=lambda body: sign * layers[-1][body].height)
    # Each layer stores the pose of the digit below, so go from the top down.
    tower: Tower = []
    current: Pose | None = top
    for text, layer in zip(reversed(number), reversed(layers), strict=True):
        if current is not None:
            best = layer[current]
            tower.append(TurnedDigit(int(text), best.orientation))
            current = best.lower
    return StandingTower(tower[::-1], layers[-1][top].height)


def poses_of(params: Params, digit: int) -> list[tuple[Orientation, Pose]]:
    """Return the orientations in which a digit can be printed, with the pose of each."""
    poses: list[tuple[Orientation, Pose]] = []
    if digit not in params.digits:
        return poses
    for name in _ORDER:
        body = pose(digit, name, params.segments[digit])
        if name in params.orientations and body is not None:
            poses.append((name, body))
    return poses
