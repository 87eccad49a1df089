"""Shapes with holes in flat drawings."""

import numpy as np
import pytest
from shapely import Polygon, box

from scbench.report.draw.solids import fill
from scbench.report.draw.svg import Drawing


def winding(ring, point):
    """How often a ring runs round a point."""
    x, y = (np.array(ring) - point).T
    steps = np.diff(np.arctan2(y, x), append=np.arctan2(y[0], x[0]))
    return round(float(np.sum((steps + np.pi) % (2 * np.pi) - np.pi) / (2 * np.pi)))


@pytest.mark.parametrize("turned", [False, True])
def test_holes_are_free_whichever_way_rings_run(monkeypatch, turned):
    found = []
    monkeypatch.setattr(Drawing, "area", lambda *args, **_: found.append(list(args[1])))
    holes = [[(1, 1), (1, 2), (2, 2), (2, 1)], [(3, 3), (4, 3), (4, 4), (3, 4)]]
    shape = Polygon(box(0, 0, 5, 5).exterior.coords[:: -1 if turned else 1], holes)
    fill(Drawing((0, 0, 5, 5)), shape, "given")
    (ring,) = found
    assert winding(ring, (1.5, 1.5)) == winding(ring, (3.5, 3.5)) == 0
    assert abs(winding(ring, (2.5, 2.5))) == abs(winding(ring, (0.5, 0.7))) == 1
