"""Loops of pipes: crossings, wrong lengths, angles and constraints are marked in place."""

from drawn_parts import at, centres

from scbench.catalog import get_task

TASK = "pipe_loop_fitting"

SQUARE = [(1, 1), (2, 1), (2, 2), (1, 2)]


def params(pipes=4, side=4, crossings=0, *constraints):
    return get_task(TASK).params_model(
        pipes=pipes,
        side=side,
        length_tolerance=0.05,
        crossings=crossings,
        constraints=constraints,
    )


def loop(*joints):
    return {"points": [{"x": float(x), "y": float(y)} for x, y in joints]}


def test_crossing_is_ringed_in_place(drawn, shapes):
    crossed = [SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]]
    picture = drawn(TASK, loop(*crossed), params=params())
    drawing = picture.panels[0].view
    rings = [c for c in shapes(drawing, "circle", "wrong") if c.get("fill") == "none"]
    assert at(drawing, (1.5, 1.5))[0] in centres(rings)
    assert "crossings: 1 (exactly 0);" in picture.caption
