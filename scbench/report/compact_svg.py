"""Shorter SVG text for pages, which contain hundreds of drawings."""

import re

_NUMBER = r"-?[\d.]+"
# A rectangle in a path, as `Drawing.mosaic` writes it: corner, width and height.
_TILE = re.compile(rf"M({_NUMBER}) ({_NUMBER})h([\d.]+)v([\d.]+)h-[\d.]+z")
# A path that consists only of such rectangles.
_TILES = re.compile(
    rf"""
    (?<=\ d=")
    (?: M{_NUMBER}\ {_NUMBER} h[\d.]+ v[\d.]+ h-[\d.]+ z )+
    (?=")
    """,
    re.VERBOSE,
)
# Attributes for positions and sizes with more than one decimal.
_PLACES = re.compile(r' (?:points|d|x|y|cx|cy|width|height|r)="[^"]*\.\d\d[^"]*"')
_LONG_NUMBER = re.compile(r"-?\d*\.\d\d+")
# Tiles closer to each other than this, in pixels, touch.
_TOUCHING = 0.11


def compact_svg(svg: str) -> str:
    """Return an SVG text rounded to a tenth of a pixel, with neighbouring tiles joined.

    Only positions and sizes change. Quotes in texts are escaped, so no text looks like
    an attribute.
    """
    return _PLACES.sub(rounded_places, _TILES.sub(joined_tiles, svg))


def rounded_places(attribute: re.Match[str]) -> str:
    """Return an attribute with its numbers rounded."""
    return _LONG_NUMBER.sub(lambda number: tenth(float(number[0])), attribute[0])


def joined_tiles(path: re.Match[str]) -> str:
    """Join tiles that touch at their sides; write each position relative to the previous tile."""
    # Left, top, right and bottom of each joined tile.
    spans: list[list[float]] = []
    for groups in _TILE.findall(path[0]):
        x, y, width, height = map(float, groups)
        # Ends are rounded instead of sizes, so that touching tiles still touch.
        left_edge = round(x, 1)
        top = round(y, 1)
        right = round(x + width, 1)
        bottom = round(y + height, 1)
        last = spans[-1] if spans else None
        is_next = (
            last is not None
            and (last[1], last[3]) == (top, bottom)
            and abs(last[2] - left_edge) < _TOUCHING
        )
        if last is not None and is_next:
            last[2] = right
        else:
            spans.append([left_edge, top, right, bottom])
    text = ""
    at_x = 0.0
    at_y = 0.0
    for left_edge, top, right, bottom in spans:
        start = f"{tenth(left_edge - at_x)} {tenth(top - at_y)}"
        # The first M is absolute; all others are relative to the previous tile.
        command = "m" if text else "M"
        width_text = tenth(right - left_edge)
        text += f"{command}{start}h{width_text}v{tenth(bottom - top)}h-{width_text}z"
        at_x = left_edge
        at_y = top
    return text


def tenth(value: float) -> str:
    """Return a number rounded to a tenth; integers get no decimal point."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
