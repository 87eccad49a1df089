"""SVG shapes: handwritten paths, and invalid shapes."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from scbench.builders.svg_shapes import KINDS, TaskBuilder, kind_name
from scbench.catalog import get_task
from scbench.graders.svg_shapes import shape_of
from scbench.schemas.svg_shapes import Params
from scbench.scoring.judge import judge

TASK = get_task("svg_shapes")
BUILDER = TaskBuilder()
OUTLINES = Path(__file__).parent.parent / "builders" / "svg_outlines.py"
outlines = SimpleNamespace(**runpy.run_path(str(OUTLINES)))

STAR = (
    "M 0,10 L 2.35,3.24 L 9.51,3.09 L 3.8,-1.24 L 5.88,-8.09 L 0,-4 L -5.88,-8.09 L -3.8,-1.24 "
    "L -9.51,3.09 L -2.35,3.24 Z"
)
BY_HAND = [
    ("M 0,0 L 10,0 L 0,5 Z", "triangle"),
    ("m 5,5 l 10,0 l -10,5 z", "triangle"),
    ("M 0,0 L 10,0 L 10,4 L 0,4 Z", "rectangle"),
    ("M 0,0 L 10,0 L 7,4 L 3,4 Z", "trapezoid"),
    ("M 0,0 L 2,1.5 L 8,0 L 2,-1.5 Z", "kite"),
    ("M 0,10 L 9.51,3.09 L 5.88,-8.09 L -5.88,-8.09 L -9.51,3.09 Z", "pentagon"),
    ("M 10,0 L 5,8.66 L -5,8.66 L -10,0 L -5,-8.66 L 5,-8.66 Z", "hexagon"),
    (STAR, "star"),
    ("M 10,0 A 10 10 0 0 1 -10,0 A 10 10 0 0 1 10,0 Z", "ellipse"),
    ("M 10,0 A 10 10 0 0 1 -10,0 Z", "half_ellipse"),
    ("M 0,0 L 10,0 A 10 10 0 0 1 0,10 Z", "sector"),
    ("m 10,0 c 0,5.52 -4.48,10 -10,10 l 0,-10 l 10,0 z", "sector"),
]


def asked(path, first="triangle"):
    options = [first, *(kind for kind in KINDS if kind != first)]
    return Params(path=path, options=tuple(options))


@pytest.mark.parametrize(("path", "kind"), BY_HAND)
def test_handwritten_paths(path, kind):
    assert shape_of(path) == kind
    assert outlines.classify(path)[0] == kind
    assert BUILDER.target(asked(path)) == kind_name(kind)
    assert judge(TASK, asked(path), {"answer": kind_name(kind)})[0].score == 1


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("M 0,0 L 1,1 Z", "2 sides, 0 of them curved"),
        ("M 0,0 L 2,0 L 2,2 C 0,3 0,3 -2,1 Z", "4 sides, 1 of them curved"),
        ("M 0,0 L 1,0 L 1,1", "from M to Z"),
        ("M 0,0 L 1 L 1,1 Z", "L with 1 numbers"),
        ("M 0,0 A 1 1 0 1,1 Z", "A with 5 numbers"),
    ],
)
def test_invalid_shapes_are_rejected(path, why):
    with pytest.raises(ValueError, match=why):
        shape_of(path)
