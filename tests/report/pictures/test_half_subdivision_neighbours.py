"""Halved boxes: every part lies where its leaf lies, flat and in space."""

from scbench.catalog import get_task

TASK = "half_subdivision_neighbours"


def small():
    """A square in four quarters: 00 and 01 on the left, 10 and 11 on the right."""
    return get_task(TASK).params_model(
        dimension="2D", axis_cycle=["x", "y"], leaves=["00", "01", "10", "11"], target="00"
    )


def places(rectangles):
    return {
        tuple(round(float(r.get(name))) for name in ("x", "y", "width", "height"))
        for r in rectangles
    }


def test_parts_cover_their_quarters(drawn, shapes):
    picture = drawn(TASK, {"neighbors": ["01", "11"]}, params=small())
    drawing = picture.panels[0].view
    half = round(drawing.scale / 2)
    left, middle = (round(drawing.at((x, 0))[0]) for x in (0, 0.5))
    top, centre = (round(drawing.at((0, y))[1]) for y in (1, 0.5))
    (target,) = places(shapes(drawing, "rect", "target"))
    assert target == (left, centre, half, half)
    assert places(shapes(drawing, "rect", "right")) == {(left, top, half, half)}
    assert places(shapes(drawing, "rect", "wrong")) == {(middle, top, half, half)}
    assert places(shapes(drawing, "rect", "missing", hatched=True)) == {
        (middle, centre, half, half)
    }
    assert picture.caption.startswith("1 of 2 neighbours named; 1 that is no neighbour (1 touch")
