"""SVG shapes: a second parser recognizes the drawn shapes, for all parameters."""

import math
import runpy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.svg_shapes import KINDS, Space, TaskBuilder, kind_name
from scbench.graders.svg_shapes import shape_of
from scbench.report.pictures.svg_shapes import flattened

BUILDER = TaskBuilder()
outlines = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).with_name("svg_outlines.py")))
)


@st.composite
def spaces(draw):
    return Space(
        shape=draw(st.sampled_from(KINDS)),
        rotation=draw(st.integers(0, 180)),
        scale=draw(st.sampled_from([10, 11, 100, 1000]) | st.integers(10, 1000)),
        aspect=draw(st.floats(1, 3)),
        noise=draw(st.sampled_from([0, 0.05]) | st.floats(0, 0.05)),
        commands=draw(st.sampled_from(["absolute", "relative"])),
        segments=draw(st.integers(1, 12)),
    )


@settings(max_examples=150)
@given(spaces(), st.integers(0, 2**63))
def test_outlines_are_recognized(point, seed):
    params = BUILDER.draw(point, Stream("svg", seed))
    kind, smooth = outlines.classify(params.path)
    assert kind == point.shape == shape_of(params.path)
    assert smooth < math.radians(10), "a curve has a corner"
    assert BUILDER.target(params) == kind_name(point.shape)


def test_shapes_and_letters_are_equally_likely():
    cases = BUILDER.generate_random(count=1000)
    targets = Counter(case["target"] for case in cases)
    letters = Counter(
        case["instance"]["options"].index(case["target"].replace(" ", "_"))
        for case in cases
    )
    for counted in (targets, letters):
        assert len(counted) == 10
        assert 65 < min(counted.values()) <= max(counted.values()) < 140
    assert BUILDER.blind_floor(BUILDER.params_model(**cases[0]["instance"])) == 0.1


def test_absolute_and_relative_commands_are_equivalent():
    for parameters in ({}, {"noise": 0.05, "segments": 12}):
        absolute = Space(commands="absolute", **parameters)
        relative = Space(commands="relative", **parameters)
        for i in range(60):
            here = BUILDER.draw(absolute, Stream("same", i)).path
            there = BUILDER.draw(relative, Stream("same", i)).path
            assert not [c for c in here if c.islower()]
            assert not [c for c in there if c.isupper()]
            for p, q in zip(flattened(here)[1], flattened(there)[1], strict=True):
                assert abs(p - q) < 0.001
