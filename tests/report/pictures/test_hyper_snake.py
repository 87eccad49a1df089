"""Snakes: paths, food, and the place of the first fault."""

from drawn_parts import middle, rings

from scbench.schemas.hyper_snake import Params

FLAT = Params(size=(3, 3), start=(0, 0), walls=((1, 1),), food=((2, 2), (0, 2)))
ROUND = [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1)]


def listed(cells):
    return {"path": [{"pos": list(cell)} for cell in cells]}


def test_full_path(drawn, golden, shapes):
    picture = drawn("hyper_snake", listed(ROUND), params=FLAT)
    flat = picture.panels[0].view
    golden("hyper_snake-right", flat, "A full path.")
    assert set(rings(shapes(flat, "circle", "right"))) == {
        middle(flat, 2, 2),
        middle(flat, 0, 2),
    }
    assert not shapes(flat, "circle", "wrong")
    assert "visits 8 of 8 free cells. Score 1." in picture.caption
    assert picture.text.split("\n")[:3] == ["S─┐", "E#│", "o─o"]


def test_path_into_a_wall_ends_in_an_arrow_and_a_ring(drawn, golden, shapes):
    picture = drawn(
        "hyper_snake", listed([(0, 0), (1, 0), (1, 1), (2, 1)]), params=FLAT
    )
    flat = picture.panels[0].view
    golden("hyper_snake-wrong", flat, "A path into a wall.")
    assert middle(flat, 1, 1) in set(rings(shapes(flat, "circle", "wrong")))
    (arrow,) = shapes(flat, "polyline", "wrong")
    (x, y), (u, v) = middle(flat, 1, 0), middle(flat, 1, 1)
    assert arrow.get("points") == f"{x:g},{y:g} {u:g},{v:g}"
    assert picture.caption.startswith("After 2 cells the path runs into a wall")
    assert set(rings(shapes(flat, "circle", "wrong"))) >= {
        middle(flat, 2, 2),
        middle(flat, 0, 2),
    }  # lost food


def test_path_over_the_limit_is_drawn_with_any_cells(drawn):
    cells = [(0, 0), (1, 0), (1,), *[(0, 0, 0)] * 1100]
    picture = drawn("hyper_snake", listed(cells), params=FLAT)
    assert picture.caption.startswith("The path is too long to be graded.")
    assert picture.text.startswith("S")
