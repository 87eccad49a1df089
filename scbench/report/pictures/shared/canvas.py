"""Drawings measured in pixels."""

from scbench.report.draw.svg import Drawing


def pixel_canvas(width: float, height: float, *, margin: float) -> Drawing:
    """Return an empty drawing with one unit per pixel and y downwards."""
    size = max(width, height)
    return Drawing((0, 0, width, height), size=size, up=False, margin=margin)
