"""Faults to build into the parts of a cage."""

from collections.abc import Sequence

from scbench.builders.interlocking_parts.cage_parts import Box, to_ascii_stl


def rim_of(boxes: Sequence[Box], reach: float) -> list[Box]:
    """Return the bars at the rim of a plate."""
    return [b for b in boxes if max(abs(b[0] + b[3]), abs(b[1] + b[4])) > 2 * reach - 1]


def thickened(boxes: Sequence[Box], reach: float) -> list[Box]:
    """Return the bars of a plate, the inner ones wider by 2 in its plane."""
    rim = set(rim_of(boxes, reach))
    grown = []
    for box in boxes:
        x0, y0, z0, x1, y1, z1 = box
        growth = (1.0, 0.0) if x1 - x0 < y1 - y0 else (0.0, 1.0)
        by = (0.0, 0.0) if box in rim else growth
        grown.append((x0 - by[0], y0 - by[1], z0, x1 + by[0], y1 + by[1], z1))
    return grown


_CORNERS = [(x, y, z) for x in (0.0, 40.0) for y in (0.0, 40.0) for z in (0.0, 10.0)]
_SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def _block(corners: Sequence[tuple[float, float, float]]) -> str:
    halves = [(a, b, c) for a, b, c, _ in _SIDES] + [(a, c, d) for a, _, c, d in _SIDES]
    return to_ascii_stl([[corners[i] for i in three] for three in halves])


def open_block() -> str:
    """Return a block with one facet left out."""
    text = _block(_CORNERS)
    start, end = text.index("facet"), text.index("endfacet") + len("endfacet\n")
    return text[:start] + text[end:]


def crossed_block() -> str:
    """Return a block one of whose lower corners is pushed out through its top."""
    return _block([(20.0, 20.0, 15.0) if i == 0 else corner for i, corner in enumerate(_CORNERS)])
