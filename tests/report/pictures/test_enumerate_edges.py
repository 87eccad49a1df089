"""Squares: curves between the sides that were named, and those that should have been."""

from scbench.catalog import get_task

TASK = "enumerate_edges"


def ends(path):
    """Start and end of a quadratic curve."""
    start, _, rest = path.get("d")[1:].partition("Q")
    return tuple(map(float, start.split())), tuple(map(float, rest.split()[2:]))


def one_square(*labels):
    corners = ["bottom-left", "bottom-right", "top-right", "top-left"]
    sides = ["bottom", "right", "top", "left"]
    return get_task(TASK).params_model(corner_order=corners, edge_order=sides, squares=[labels])


def curves(shapes, drawing, role):
    return [ends(path) for path in shapes(drawing, "path", role) if "Q" in path.get("d")]


def test_a_wrong_pair_and_a_missing_one_are_where_they_belong(drawn, shapes):
    params = one_square(1, 2, 1, 1)
    picture = drawn(TASK, {"edges": [[[2, 3]]]}, params=params)
    drawing = picture.panels[0].view
    ((wrong_start, wrong_end),) = curves(shapes, drawing, "wrong")
    ((start, end),) = curves(shapes, drawing, "missing")
    assert wrong_start[0] == start[0]
    assert wrong_start[1] < start[1], "the top lies above the bottom"
    assert wrong_end[1] == end[1]
    assert wrong_end[0] < end[0], "left and right"
    dashed = [p for p in shapes(drawing, "path", "missing") if p.get("stroke-dasharray")]
    assert len(dashed) == 1
    crossed = [p.get("d") for p in shapes(drawing, "path", "wrong") if p.get("d").count("M") == 2]
    assert len(crossed) == 3, "top, left, and the sign of the tile"
    assert "1 wrong pair listed; 1 missing" in picture.caption
