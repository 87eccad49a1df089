"""Boxes laid out flat: no cells overlap, and the whole is nearly square."""

import math
from itertools import pairwise, product

import pytest

from scbench.report.pictures.shared.unfolding import unfold


@pytest.mark.parametrize(
    "size", [(5,), (4, 3), (3, 4, 2), (2, 3, 2, 2), (2,) * 10, (2,) * 14]
)
@pytest.mark.parametrize("whole", [False, True])
def test_cells_do_not_overlap(size, whole):
    layout = unfold(size, rounded=whole)
    places = sorted(layout.at(cell) for cell in product(*map(range, layout.extents)))
    assert layout.extents == size or math.prod(size) > 8000
    assert len(set(places)) == math.prod(layout.extents)
    assert all(
        0 <= x <= layout.width - 1 and 0 <= y <= layout.height - 1 for x, y in places
    )
    rows = {}
    for x, y in places:
        rows.setdefault(y, []).append(x)
    assert all(b - a >= 1 for row in rows.values() for a, b in pairwise(row))
    if whole:
        assert all(x == int(x) and y == int(y) for x, y in places)
