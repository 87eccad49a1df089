"""Tours of a grid: jumps, repeats, blocked cells and open ends are marked where they are."""

from drawn_parts import at, points

from scbench.catalog import get_task

TASK = "hamiltonian_loop"


def tour(*cells):
    return {"steps": [{"xy": list(cell)} for cell in cells]}


def three():
    """Three by three cells, the middle one blocked: there is one tour, round the border."""
    return get_task(TASK).params_model(size=3, blocked=[[2, 2]])


ROUND = [(1, 1), (2, 1), (3, 1), (3, 2), (3, 3), (2, 3), (1, 3), (1, 2)]


def test_a_right_tour_is_one_closed_line(drawn, shapes):
    picture = drawn(TASK, tour(*ROUND), params=three())
    drawing = picture.panels[0].view
    (line,) = shapes(drawing, "polyline", "right")
    assert points(line) == at(drawing, *ROUND, ROUND[0])
    assert not shapes(drawing, "polyline", "wrong")
    assert picture.caption == "8 cells listed; 8 of 8 free cells visited; score 1."


def test_a_jump_is_an_arrow_and_what_it_skips_is_hatched(drawn, shapes):
    drawing = drawn(TASK, tour(*ROUND[:2], *ROUND[3:]), params=three()).panels[0].view
    (jump,) = shapes(drawing, "polyline", "wrong")
    assert points(jump) == at(drawing, (2, 1), (3, 2))
    assert len(shapes(drawing, "polygon", "wrong")) == 1, "its head"
    (hatched,) = shapes(drawing, "path", "missing", hatched=True)
    start = tuple(map(float, hatched.get("d")[1:].partition("h")[0].split()))
    assert [start] == at(drawing, (2.5, 0.5))
