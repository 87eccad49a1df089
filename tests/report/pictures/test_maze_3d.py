"""Mazes: the marks are at the fault that the verdict found."""

from drawn_parts import centres, middle

from scbench.base.model import Verdict
from scbench.report.picture import Verdicts
from scbench.report.pictures.maze_3d import draw
from scbench.schemas.maze_3d import Answer, Params

RIGHT = "A669B\n98581\n01472\n39160\n87432"


def small(**expected) -> Params:
    asked = {
        "size": 3,
        "a_height": 5,
        "b_height": 5,
        "jumps": 0,
        "max_height_percent": 100,
    }
    return Params(**(asked | expected))


def test_right_maze_shows_its_route_as_walks_and_arcs(drawn, golden, shapes):
    picture = drawn("maze_3d", RIGHT)
    plan = picture.panels[0].view
    golden("maze_3d-right", plan, "A right maze.")
    arcs = [path for path in shapes(plan, "path", "right") if "Q" in path.get("d")]
    assert len(arcs) == 2
    x, y = middle(plan, 2, 2)
    assert arcs[0].get("d").startswith(f"M{x:g} {y:g}Q")
    assert len(shapes(plan, "path", "note", hatched=True)) == 1
    assert not shapes(plan, "circle", "wrong")
    assert "11 of 25 cells and 2 jumps. Score 1." in picture.caption
    assert {role for role, _ in picture.legend} == {"note", "right"}


def test_second_way_is_ringed_where_it_leaves_and_returns(drawn, golden, shapes):
    picture = drawn("maze_3d", "A5\n5B", params=small(size=2))
    plan = picture.panels[0].view
    golden("maze_3d-wrong", plan, "A maze with two routes.")
    rings = set(centres(shapes(plan, "circle", "wrong")))
    assert rings == {middle(plan, 0, 0), middle(plan, 1, 1)}
    (detour,) = shapes(plan, "path", "wrong")
    assert detour.get("stroke-dasharray")
    assert "second route" in picture.caption


def test_second_route_without_a_different_move_has_no_rings(shapes):
    """A verdict can come from a file, and its routes can be equal."""
    route = [[0, 0], [1, 0]]
    verdict = Verdict(0.0, (), {"route": route, "other_route": route})
    answer = Answer.model_validate({"maze": ["AB", "99"]})
    picture = draw(small(size=2), answer, Verdicts((verdict,)))
    assert not shapes(picture.panels[0].view, "circle", "wrong")
    assert "wrong" not in {role for role, _ in picture.legend}
