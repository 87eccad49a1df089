"""Pieces of SVG text: numbers, lists of points, attributes and patterns."""

import math
import re
from collections.abc import Iterable
from html import escape

from scbench.base.errors import ResultsError
from scbench.report.draw.colours import ROLES

_ROLE = re.compile(r'(?:(?<=[" ])[sf]-|#HATCH-)(\w+)')
_OPACITY = re.compile(r'fill-opacity="([\d.]+)"')
_FAR = 4.0
"""Coordinates this many frames away are pulled in: answers may point anywhere."""


def as_float(value: float) -> float:
    """Return a number as a float, however many digits it has."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(1e300, 1 if value > 0 else -1)


def frames_away(share: float) -> float:
    """Return where in the frame something is, 0 to 1 within it, and not too far outside."""
    return min(max(share, -_FAR), 1 + _FAR)


def short(value: float) -> str:
    """Return a number to a hundredth of a pixel, without zeros that say nothing."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def plain_text(words: object) -> str:
    """Return text that is valid in XML: no control characters, no halves of characters, escaped."""
    return escape(
        "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(words))
    )


def point_list(ends: Iterable[tuple[float, float]]) -> str:
    """Return pixels as the value of an attribute ``points``."""
    return " ".join(f"{short(x)},{short(y)}" for x, y in ends)


def arrow_head(tail: tuple[float, float], tip: tuple[float, float], role: str, width: float) -> str:
    """Return the head of an arrow; its two ends are pixels, and not the same."""
    dx, dy = tip[0] - tail[0], tip[1] - tail[1]
    size = (4 + 2 * width) / math.hypot(dx, dy)
    ux, uy = dx * size, dy * size
    back = (tip[0] - ux, tip[1] - uy)
    wings = [(back[0] - uy / 2, back[1] + ux / 2), tip, (back[0] + uy / 2, back[1] - ux / 2)]
    return f'<polygon points="{point_list(wings)}" class="f-{known_role(role)}"/>'


def known_role(name: str) -> str:
    """Return a role.

    Raises:
        ResultsError: no colour has it.
    """
    if name not in ROLES:
        raise ResultsError(f"no colour has the role {name!r}")
    return name


def opacity_attribute(value: float) -> str:
    """Return the opacity attribute; empty for what is solid."""
    return f' opacity="{short(value)}"' if value < 1 else ""


def hatch_pattern(name: str, role: str) -> str:
    """Return the definition of a hatching."""
    return (
        f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><path d="M0 0V6" class="s-{role}" stroke-width="3"/>'
        "</pattern>"
    )


def roles_of(shape: str) -> list[str]:
    """Return the roles of a shape's stroke, fill and hatching."""
    return _ROLE.findall(shape.partition(">")[0])


def look_of(shape: str, role: str) -> str:
    """Return how a shape shows a role: ``line``, ``hatched``, the opacity of a fill, or not."""
    head = shape.partition(">")[0]
    if head.startswith("<text"):
        return ""
    if f"#HATCH-{role})" in head:
        return "hatched"
    if re.search(rf'["]f-{role}\b', head):
        opacity = _OPACITY.search(head)
        return opacity[1] if opacity else "1"
    return "line" if re.search(rf'[" ]s-{role}\b', head) else ""
