"""The outline that an SVG path draws, with a dot at each of its points."""

import re
from cmath import phase, rect
from collections.abc import Iterator, Sequence
from math import pi, radians, sqrt
from string import ascii_uppercase

from scbench.base.wording import counted
from scbench.graders.shared.named_options import option
from scbench.graders.svg_shapes import shape_of
from scbench.report.draw.canvas import frame_around
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts
from scbench.report.pictures.shared.tables import (
    Cell,
    table_panels,
    table_text,
    text_picture,
)
from scbench.schemas.svg_shapes import Answer, Params

# Number of straight lines per piece of a curve.
STEPS = 48
# A letter (move, line, cubic curve, arc; lower case is relative) and its numbers.
COMMAND = re.compile(r"([MLCAmlca])([^A-Za-z]*)")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the outline above the options, with the answer and the right one marked."""
    joints, outline = flattened(params.path)
    size = counted(len(joints), "point")
    caption = verdicts.caption(f"An outline through {size}; y increases downwards.")
    rows = option_rows(params, answer, verdicts)
    panels = [
        Panel("the outline", outline_drawing(joints, outline), caption),
        *table_panels("options", (), rows, caption),
    ]
    return text_picture(panels, caption, table_text((), rows))


def outline_drawing(joints: Sequence[complex], outline: Sequence[complex]) -> Drawing:
    """Return a drawing of an outline with its joints; points are complex numbers."""
    xs = [p.real for p in outline]
    ys = [p.imag for p in outline]
    pad = 0.08 * max(max(xs) - min(xs), max(ys) - min(ys))
    drawing = Drawing(frame_around(xs, ys, pad), size=300, up=False)
    corners = list(zip(xs, ys, strict=True))
    drawing.area(corners, "given", opacity=0.3, edge="ink", width=2)
    for joint in joints:
        tip = f"{joint.real:g}, {joint.imag:g}"
        drawing.dot((joint.real, joint.imag), "answer", tip=tip)
    return drawing


def option_rows(
    params: Params, answer: Answer | None, verdicts: Verdicts
) -> list[tuple[str, Cell]]:
    """Return a row for each option; with verdicts, the right one is marked."""
    names = [kind.replace("_", " ") for kind in params.options]
    # Without verdicts, the right shape must not be marked.
    answered: int | None = None
    right: int | None = None
    if verdicts:
        answered = option(answer.answer, names) if answer else None
        right = params.options.index(shape_of(params.path))
    rows = []
    for i, name in enumerate(names):
        role = ""
        if i == right:
            role = "right"
        elif i == answered:
            role = "wrong"
        rows.append((ascii_uppercase[i], Cell(name, role)))
    return rows


def flattened(path: str) -> tuple[list[complex], list[complex]]:
    """Return the joints of a path, and the points of its outline: curves as short lines."""
    joints: list[complex] = []
    outline: list[complex] = []
    position = 0j
    for letter, text in COMMAND.findall(path):
        numbers = [float(number) for number in NUMBER.findall(text)]
        base = position if letter.islower() else 0j
        # The last two numbers of every command are its end.
        end = base + complex(numbers[-2], numbers[-1])
        if letter in "Cc":
            first = base + complex(numbers[0], numbers[1])
            second = base + complex(numbers[2], numbers[3])
            outline += bezier_curve(position, first, second, end)
        elif letter in "Aa":
            outline += elliptic_arc(position, end, numbers)
        else:
            outline.append(end)
        position = end
        # The last point often equals the first, apart from rounding errors.
        if not joints or abs(position - joints[0]) > 0.005:
            joints.append(position)
    return joints, outline


def bezier_curve(
    start: complex, first: complex, second: complex, end: complex
) -> Iterator[complex]:
    """Yield points of a cubic Bezier curve after its start; `first` and `second` control it."""
    for i in range(1, STEPS + 1):
        t = i / STEPS
        s = 1 - t
        yield s**3 * start + 3 * s * s * t * first + 3 * s * t * t * second + t**3 * end


def elliptic_arc(
    start: complex, end: complex, numbers: Sequence[float]
) -> Iterator[complex]:
    """Yield points of an elliptical arc after its start; the ellipse is scaled to a circle.

    Args:
        start: first point.
        end: last point.
        numbers: numbers of the path's command: two radii, the rotation of the ellipse in
            degrees, and the flags for the large arc and for the direction.
    """
    radius_x, radius_y, degrees, large, sweep = numbers[:5]
    turn = rect(1, radians(degrees))

    def squeezed(point: complex) -> complex:
        point /= turn
        return complex(point.real / radius_x, point.imag / radius_y)

    a = squeezed(start)
    b = squeezed(end)
    chord = b - a
    if chord:
        # Radii too small for the chord are enlarged, as the SVG standard requires.
        height = sqrt(max(0.0, 1 - abs(chord) ** 2 / 4)) * (1 if large == sweep else -1)
        centre = (a + b) / 2 - 1j * chord / abs(chord) * height
        span = phase((b - centre) / (a - centre)) % (2 * pi)
    else:
        centre = (a + b) / 2
        span = 0.0
    # Against the direction of rising angles.
    if not sweep:
        span -= 2 * pi
    for i in range(1, STEPS + 1):
        point = centre + (a - centre) * rect(1, span * i / STEPS)
        yield complex(point.real * radius_x, point.imag * radius_y) * turn
