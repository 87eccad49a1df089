"""Rectangles of text on the screen, for labels that must not overlap."""

from collections.abc import Iterable
from typing import NamedTuple


class TextBox(NamedTuple):
    """A rectangle in pixels; y grows downwards."""

    x_min: float
    y_min: float
    x_max: float
    y_max: float

    def overlaps(self, boxes: "Iterable[TextBox]") -> bool:
        """Return whether any of these boxes has a point inside this one."""
        for box in boxes:
            overlaps_x = self.x_min < box.x_max and box.x_min < self.x_max
            overlaps_y = self.y_min < box.y_max and box.y_min < self.y_max
            if overlaps_x and overlaps_y:
                return True
        return False
