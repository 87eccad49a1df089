"""Pieces of SVG text: numbers, words, points and attributes."""

import math
from collections.abc import Iterable
from html import escape

from scbench.base.errors import ResultsError
from scbench.report.draw.colours import ROLES


def short(value: float) -> str:
    """Return a number rounded to a hundredth of a pixel, without trailing zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def plain_text(words: object) -> str:
    """Return text escaped for XML, without control characters and lone surrogates."""
    characters = [
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in str(words)
    ]
    return escape("".join(characters))


def point_list(ends: Iterable[tuple[float, float]]) -> str:
    """Return pixels as the value of an attribute ``points``."""
    return " ".join(f"{short(x)},{short(y)}" for x, y in ends)


def known_role(name: str) -> str:
    """Return a role.

    Raises:
        ResultsError: no colour has this role.
    """
    if name not in ROLES:
        raise ResultsError(f"no colour has the role {name!r}")
    return name


def opacity_attribute(value: float) -> str:
    """Return the opacity attribute; empty for solid shapes."""
    return f' opacity="{short(value)}"' if value < 1 else ""


def dash_attribute(*, dashed: bool) -> str:
    """Return the attribute of dashes; empty for plain lines."""
    return ' stroke-dasharray="5 4"' if dashed else ""


def arrow_head(
    tail: tuple[float, float], tip: tuple[float, float], role: str, width: float
) -> str:
    """Return the head of an arrow; its two ends are pixels, and not the same."""
    dx = tip[0] - tail[0]
    dy = tip[1] - tail[1]
    size = (4 + 2 * width) / math.hypot(dx, dy)
    ux = dx * size
    uy = dy * size
    back_x = tip[0] - ux
    back_y = tip[1] - uy
    corners = [
        (back_x - uy / 2, back_y + ux / 2),
        tip,
        (back_x + uy / 2, back_y - ux / 2),
    ]
    return f'<polygon points="{point_list(corners)}" class="f-{known_role(role)}"/>'


def hatch_pattern(name: str, role: str) -> str:
    """Return the definition of a hatching."""
    return (
        f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><path d="M0 0V6" class="s-{role}" stroke-width="3"/>'
        "</pattern>"
    )
