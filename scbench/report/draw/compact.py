"""Drawings in fewer bytes: a page holds hundreds, and nobody sees a twentieth of a pixel."""

import re

_TILE = r"M-?[\d.]+ -?[\d.]+h[\d.]+v[\d.]+h-[\d.]+z"
_TILES = re.compile(rf'(?<= d=")(?:{_TILE})+(?=")')
_PARTS = re.compile(r"M(-?[\d.]+) (-?[\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z")
_PLACES = re.compile(r' (?:points|d|x|y|cx|cy|width|height|r)="[^"]*\.\d\d[^"]*"')
_LONG = re.compile(r"-?\d*\.\d\d+")


def compacted(svg: str) -> str:
    """Return an SVG text with places to a tenth of a pixel, and neighbouring tiles as one.

    Only attributes that say where something is are changed: quotes in texts are escaped, so none
    can be mistaken for one.
    """
    return _PLACES.sub(_rounded, _TILES.sub(_joined, svg))


def _rounded(attribute: re.Match[str]) -> str:
    return _LONG.sub(lambda number: _tenth(float(number[0])), attribute[0])


def _joined(path: re.Match[str]) -> str:
    """Join tiles that touch at the sides, and write each by its distance from the one before."""
    spans: list[list[float]] = []
    for x, y, tile_width, tile_height in (map(float, part) for part in _PARTS.findall(path[0])):
        # Ends are rounded, not sizes, so that tiles that touch still do.
        left_edge, top, right, bottom = (
            round(v, 1) for v in (x, y, x + tile_width, y + tile_height)
        )
        last = spans[-1] if spans else None
        if last and last[1] == top and last[3] == bottom and abs(last[2] - left_edge) < 0.11:
            last[2] = right
        else:
            spans.append([left_edge, top, right, bottom])
    words = []
    at_x = at_y = 0.0
    for i, (left_edge, top, right, bottom) in enumerate(spans):
        sign, x, y = ("m", left_edge - at_x, top - at_y) if i else ("M", left_edge, top)
        width, height = _tenth(right - left_edge), _tenth(bottom - top)
        words.append(f"{sign}{_tenth(x)} {_tenth(y)}h{width}v{height}h-{width}z")
        at_x, at_y = left_edge, top
    return "".join(words)


def _tenth(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
