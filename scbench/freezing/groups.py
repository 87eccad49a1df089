"""Groups of items at a point, each of which has at most its share of the items."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from scbench.builders.shared.builder import Builder, Point


class Groups:
    """The chosen items of a point, counted by group (`Builder.group`).

    Args:
        builder: builder of the task.
        point: parameters of the point.
        count: number of items that the point asks for.
    """

    def __init__(
        self,
        builder: Builder[Any, Any, Any],
        point: Point,
        count: int,
    ) -> None:
        self._builder = builder
        self._point = point
        self._count = count
        self._sizes: Counter[str] = Counter()

    def has_room(self, values: Mapping[str, Any]) -> bool:
        """Return whether the group of an item with these parameters is incomplete."""
        group, share = self._builder.group(self._point, values)
        return self._sizes[group] < math.ceil(share * self._count)

    def add(self, values: Mapping[str, Any]) -> None:
        """Count an item with these parameters."""
        group, _ = self._builder.group(self._point, values)
        self._sizes[group] += 1
