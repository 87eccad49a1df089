"""Drawings of a formula: missed cells, surplus cells, and the zero curve."""

import numpy as np
import pytest

from scbench.catalog import get_task
from scbench.report.pictures.polynomial_curve_fitting import zero_curve

TASK = "polynomial_curve_fitting"
GRID = ["..##", "..##", "..##", "...#"]


def grid():
    return get_task(TASK).params_model(grid=GRID)


def formula(text):
    return {"function": f"def f(x, y):\n    return {text}"}


@pytest.mark.parametrize(
    ("case", "text"), [("right", "x - 1.5 - 0.03*y**3"), ("wrong", "x + 0.4*y - 2.8")]
)
def test_golden(drawn, golden, case, text):
    picture = drawn(TASK, formula(text), params=grid())
    assert ("score 1." in picture.caption) == (case == "right")
    golden(f"{TASK}-{case}", picture.panels[2].view, case)


def covered(path):
    """Corner, width and height of each rectangle of a path."""
    found = []
    for move in path.get("d").split("M")[1:]:
        start, _, rest = move.partition("h")
        wide, _, rest = rest.partition("v")
        found.append(
            (*map(float, start.split()), float(wide), float(rest.partition("h")[0]))
        )
    return found


def at(drawing, x, y, wide, high):
    left, top = drawing.at((x - 0.5, y - 0.5))
    return pytest.approx(
        (left, top, wide * drawing.scale, high * drawing.scale), abs=0.01
    )


def test_missed_and_surplus_cells(drawn, shapes):
    # Positive right of the middle: one cell too many, at the bottom.
    picture = drawn(TASK, formula("x - 1.5 + 0*y"), params=grid())
    drawing = picture.panels[2].view
    (surplus,) = shapes(drawing, "path", "surplus")
    assert covered(surplus) == [at(drawing, 2, 3, 1, 1)]
    assert not shapes(drawing, "path", "missing", hatched=True)
    assert (
        picture.caption
        == "15 of 16 cells match (wrong: 0 black, 1 white); score 0.7725."
    )
    # Positive in the last column: three cells missed.
    drawing = drawn(TASK, formula("x - 2.5 + 0*y"), params=grid()).panels[2].view
    (missed,) = shapes(drawing, "path", "missing", hatched=True)
    assert covered(missed) == [at(drawing, 2, 0, 1, 3)]


def test_circle_is_followed_closely():
    signs = np.array(
        [[(x - 4) ** 2 + (y - 4) ** 2 < 9 for x in range(9)] for y in range(9)]
    )
    lines = zero_curve("def f(x, y): return 9 - (x - 4)**2 - (y - 4)**2", signs)
    away = [np.hypot(x - 4, y - 4) for line in lines for x, y in line]
    assert len(lines) > 50
    assert max(abs(r - 3) for r in away) < 0.01


@pytest.mark.parametrize(
    "text",
    [
        "not a formula",
        "def f(x, y): return (x - 4)**2",
        "def f(x, y): return x + " + "1" * 40_000,
        "def f(x, y): return " + " + ".join(["x*y"] * 5_000),
    ],
)
def test_untrusted_curve_is_not_drawn(text):
    signs = np.eye(4, dtype=bool)
    assert zero_curve(text, signs) == []
