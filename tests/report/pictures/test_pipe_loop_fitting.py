"""Loops of pipes: crossings, wrong lengths, angles and constraints are marked where they are."""

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
