"""The outline that an SVG path draws, with a dot at each of its points."""

import re
from cmath import phase, rect
from collections.abc import Iterator, Sequence
from math import pi, radians, sqrt

from scbench.graders.shared.short_answers import option
from scbench.graders.svg_shapes import shape_of
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts
from scbench.report.pictures.shared.tables import (
    Cell,
    table_panels,
    table_text,
    text_picture,
)
from scbench.schemas.svg_shapes import Answer, Params

# Straight lines that a piece of a curve is drawn with.
_STEPS = 48


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the outline; the answer and what was wrong with it are below in words."""
    joints, outline = flattened(params.path)
    xs, ys = [p.real for p in outline], [p.imag for p in outline]
    pad = 0.08 * max(max(xs) - min(xs), max(ys) - min(ys))
    frame = (min(xs) - pad, min(ys) - pad, max(xs) + pad, max(ys) + pad)
    drawing = Drawing(frame, size=300, up=False)
    drawing.area(
        [(p.real, p.imag) for p in outline], "given", opacity=0.3, edge="ink", width=2
    )
    for joint in joints:
        drawing.dot(
            (joint.real, joint.imag), "answer", tip=f"{joint.real:g}, {joint.imag:g}"
        )
    caption = verdicts.caption(f"An outline through {len(joints)} points, y downwards.")
    names = [kind.replace("_", " ") for kind in params.options]
    answered = option(answer.answer, names) if answer and verdicts else None
    right = params.options.index(shape_of(params.path)) if verdicts else None
    rows = [
        (
            letter,
            Cell(name, "right" if i == right else "wrong" if i == answered else ""),
        )
        for i, (letter, name) in enumerate(zip("ABCDEFGHIJ", names, strict=True))
    ]
    panels = [
        Panel("the outline", drawing, caption),
        *table_panels("options", (), rows, caption),
    ]
    return text_picture(panels, caption, table_text((), rows))


def flattened(path: str) -> tuple[list[complex], list[complex]]:
    """Return the points that a path names, and as many more as its curves take to look round."""
    joints: list[complex] = []
    outline: list[complex] = []
    here = 0j
    for word, text in re.findall(r"([MLCAmlca])([^A-Za-z]*)", path):
        numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]
        base = here if word.islower() else 0j
        end = base + complex(numbers[-2], numbers[-1])
        if word in "Cc":
            first, second = (base + complex(*numbers[i : i + 2]) for i in (0, 2))
            outline += _bezier(here, first, second, end)
        elif word in "Aa":
            outline += _elliptic_arc(here, end, numbers)
        else:
            outline.append(end)
        here = end
        # The last point is often the first again, but for errors of adding decimals.
        if not joints or abs(here - joints[0]) > 0.005:
            joints.append(here)
    return joints, outline


def _bezier(
    start: complex, first: complex, second: complex, end: complex
) -> Iterator[complex]:
    for i in range(1, _STEPS + 1):
        t = i / _STEPS
        s = 1 - t
        yield s**3 * start + 3 * s * s * t * first + 3 * s * t * t * second + t**3 * end


def _elliptic_arc(
    start: complex, end: complex, numbers: Sequence[float]
) -> Iterator[complex]:
    """Yield points of an elliptical arc; the ellipse is squeezed to a circle and back."""
    radius_x, radius_y, degrees, large, sweep = numbers[:5]
    turn = rect(1, radians(degrees))

    def squeezed(point: complex) -> complex:
        point /= turn
        return complex(point.real / radius_x, point.imag / radius_y)

    a, b = squeezed(start), squeezed(end)
    chord = b - a
    # Radii too small for the chord are enlarged, as the standard wants it.
    height = sqrt(max(0.0, 1 - abs(chord) ** 2 / 4)) * (1 if large == sweep else -1)
    centre = (a + b) / 2 - (1j * chord / abs(chord) * height if chord else 0)
    span = phase((b - centre) / (a - centre)) % (2 * pi) if chord else 0.0
    if not sweep:
        span -= 2 * pi
    for i in range(1, _STEPS + 1):
        point = centre + (a - centre) * rect(1, span * i / _STEPS)
        yield complex(point.real * radius_x, point.imag * radius_y) * turn
