"""Loops of pipes: crossings, wrong lengths, angles and constraints are marked where they are."""

import pytest
from drawn_parts import at, centres, points

from scbench.catalog import get_task

TASK = "pipe_loop_fitting"


def asked(pipes=4, side=4, crossings=0, *constraints):
    return get_task(TASK).params_model(
        pipes=pipes,
        side=side,
        length_tolerance=0.05,
        crossings=crossings,
        constraints=constraints,
    )


def loop(*joints):
    return {"points": [{"x": float(x), "y": float(y)} for x, y in joints]}


SQUARE = [(1, 1), (2, 1), (2, 2), (1, 2)]


def test_a_crossing_is_ringed_where_it_is(drawn, shapes):
    crossed = [SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]]
    picture = drawn(TASK, loop(*crossed), params=asked())
    drawing = picture.panels[0].view
    rings = [c for c in shapes(drawing, "circle", "wrong") if c.get("fill") == "none"]
    assert at(drawing, (1.5, 1.5))[0] in centres(rings)
    assert "1 crossing;" in picture.caption


def test_wrong_lengths_are_thick_and_named(drawn, shapes):
    drawing = drawn(TASK, loop((1, 1), (2.2, 1), (2.2, 2), (1, 2)), params=asked()).panels[0].view
    wrong = shapes(drawing, "polyline", "wrong")
    assert [points(p) for p in wrong] == [
        at(drawing, (1, 1), (2.2, 1)),
        at(drawing, (2.2, 2), (1, 2)),
    ]
    assert [t.text for t in shapes(drawing, "text", "wrong")] == ["1.20 m"] * 2


def test_a_touch_is_ringed_where_a_joint_lies_on_a_pipe(drawn, shapes):
    joints = [(0, 0), (1, 0), (2, 0), (2, 1), (1.5, 0), (1, 1)]
    drawing = drawn(TASK, loop(*joints), params=asked(6)).panels[0].view
    rings = [c for c in shapes(drawing, "circle", "wrong") if c.get("stroke-width") == "3"]
    assert set(centres(rings)) == {tuple(round(v, 2) for v in drawing.at((1.5, 0)))}


def test_angles_and_margins_and_straight_runs(drawn, shapes):
    long = [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (2, 1), (1, 1), (0, 1)]
    constraints = (
        {"type": "max_straight_run", "joints": 1},
        {"type": "avoid_margin", "margin": 0.5},
    )
    picture = drawn(TASK, loop(*long), params=asked(8, 4, 0, *constraints))
    drawing = picture.panels[0].view
    (run,) = [p for p in shapes(drawing, "polyline", "wrong") if p.get("opacity")]
    assert points(run) == at(drawing, (0, 0), (1, 0), (2, 0), (3, 0))
    (box,) = shapes(drawing, "polygon", "wrong")
    assert points(box) == at(drawing, (0.5, 0.5), (3.5, 0.5), (3.5, 3.5), (0.5, 3.5))
    assert len(shapes(drawing, "circle", "wrong")) == 5
    assert "straight joints in a row: 2; at most 1" in picture.panels[1].alt

    angles = ({"type": "angle_range", "min_deg": 100.0, "max_deg": 150.0},)
    drawing = drawn(TASK, loop(*SQUARE), params=asked(4, 4, 0, *angles)).panels[0].view
    assert centres(shapes(drawing, "circle", "wrong")) == at(drawing, *SQUARE)
    assert [t.text for t in shapes(drawing, "text", "wrong")] == ["90°"] * 4


def test_places_that_constraints_speak_of(drawn, shapes):
    constraints = (
        {"type": "coverage_quadrants"},
        {"type": "centroid_box", "xmin": 2.5, "xmax": 3.5, "ymin": 2.5, "ymax": 3.5},
        {"type": "must_touch_boundary", "walls": 1, "tolerance": 0.001},
        {"type": "fixed_start", "x": 3.0, "y": 3.0, "tolerance": 0.25},
    )
    picture = drawn(TASK, loop(*SQUARE), params=asked(4, 4, 0, *constraints))
    drawing = picture.panels[0].view
    half = 2 * drawing.scale
    hatched = shapes(drawing, "rect", "missing", hatched=True)
    corners = [(float(r.get("x")), float(r.get("y"))) for r in hatched]
    # Quadrants without a joint: bottom right, top left, top right; each by its top left corner.
    assert sorted(corners) == at(drawing, (0, 4), (2, 4), (2, 2))
    assert [float(r.get("width")) for r in hatched] == [pytest.approx(half, abs=0.01)] * 3
    assert centres(shapes(drawing, "circle", "wrong"))[1] == at(drawing, (1.5, 1.5))[0]
    walls = [p for p in shapes(drawing, "polyline", "wrong") if p.get("stroke-width") == "4.5"]
    assert len(walls) == 4
    ties = [points(p) for p in shapes(drawing, "polyline", "wrong")]
    assert at(drawing, (1, 1), (3, 3)) in ties, "from the start to where it should be"
    assert picture.caption.count(";") == 5


def test_too_many_joints_are_counted(drawn):
    picture = drawn(TASK, loop(*[(1, 1)] * 3000), params=asked())
    assert picture.caption == "3000 of 4 joints, the first 2500 drawn; far too many; score 0."


def test_hulls_and_distances(drawn, shapes):
    constraints = (
        {"type": "min_convex_hull_area", "area": 2.0},
        {"type": "min_point_separation", "distance": 1.2},
        {"type": "min_turns", "turns": 5},
    )
    picture = drawn(TASK, loop((1, 1), (2, 1), (2, 2), (1, 2)), params=asked(4, 4, 0, *constraints))
    drawing = picture.panels[0].view
    (hull,) = shapes(drawing, "polygon", "note")
    assert sorted(points(hull)) == sorted(points(shapes(drawing, "polygon", "answer")[0]))
    assert "turns: 4; at least 5" in picture.panels[1].alt
    assert "hull: 1 m²; at least 2 m²" in picture.panels[1].alt
