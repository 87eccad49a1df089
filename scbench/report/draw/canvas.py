"""Drawings measured in pixels, and frames of drawings."""

from collections.abc import Collection

from scbench.report.draw.svg import Drawing


def pixel_canvas(width: float, height: float, *, margin: float) -> Drawing:
    """Return an empty drawing with one unit per pixel and the y axis pointing down."""
    size = max(width, height)
    return Drawing((0, 0, width, height), size=size, up=False, margin=margin)


def frame_around(
    xs: Collection[float], ys: Collection[float], pad: float
) -> tuple[float, float, float, float]:
    """Return the frame of a drawing around some places, with space on each side."""
    return min(xs) - pad, min(ys) - pad, max(xs) + pad, max(ys) + pad
