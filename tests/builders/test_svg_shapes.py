"""SVG shapes: an independent look at the outlines says what was drawn, at all parameters."""

import math
import runpy
from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.svg_shapes import (
    KINDS,
    Space,
    TaskBuilder,
    kind_name,
    pieces_of,
    sides_of,
)
from scbench.report.pictures.svg_shapes import flattened

BUILDER = TaskBuilder()
look = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("svg_outlines.py"))))


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


@settings(max_examples=500, deadline=None)
@given(spaces(), st.integers(0, 2**63))
def test_the_outline_looks_like_the_shape_at_any_point(point, seed):
    params = BUILDER.draw(point, Stream("svg", seed))
    kind, smooth = look.classified(params.path)
    assert kind == point.shape
    assert smooth < math.radians(10), "a curve has a corner"
    assert BUILDER.target(params) == kind_name(point.shape)


@pytest.mark.parametrize("rim", [{"aspect": 3}, {"aspect": 1, "scale": 10}], ids=str)
def test_four_sides_are_kept_apart_by_more_than_the_noise(rim):
    shares = {"rectangle": [], "trapezoid": [], "kite": []}
    for kind, values in shares.items():
        rng = Stream("four", kind)
        for _ in range(400):
            params = BUILDER.draw(Space(shape=kind, noise=0.05, **rim), rng)
            a, b, c, d = corners(params.path)
            pairs = [(a - b, c - d), (b - c, d - a)]
            values.append(sorted(min(abs(p), abs(q)) / max(abs(p), abs(q)) for p, q in pairs))
    assert min(low for low, _ in shares["rectangle"]) > 0.8
    assert max(low for low, _ in shares["trapezoid"]) < 0.7
    assert min(high for _, high in shares["trapezoid"]) > 0.8
    assert max(high for _, high in shares["kite"]) < 0.7


def test_every_shape_and_every_letter_is_equally_likely():
    cases = BUILDER.generate_random(count=3000)
    targets = Counter(case["target"] for case in cases)
    letters = Counter(
        case["instance"]["options"].index(case["target"].replace(" ", "_")) for case in cases
    )
    for counted in (targets, letters):
        assert len(counted) == 10
        assert 230 < min(counted.values()) <= max(counted.values()) < 370
    assert BUILDER.blind_floor(BUILDER.params_model(**cases[0]["instance"])) == 0.1


def corners(path):
    return [corner for corner, _ in sides_of(path)]


def counts(path):
    """All that counting can tell: each letter, the numbers, and the points that are named."""
    words = tuple(path.count(word) for word in "MLCAZmlcaz")
    return (*words, len(path.replace(",", " ").split()) - sum(words))


@pytest.mark.parametrize(
    "point",
    [{}, {"segments": 1}, {"segments": 12, "commands": "relative"}, {"noise": 0.05}, {"aspect": 3}],
    ids=str,
)
def test_counting_commands_does_not_tell_the_shape(point):
    cases = BUILDER.generate_random(count=4000, **point)
    training_cases, test_cases = cases[::2], cases[1::2]
    # Rules from the coarsest to the finest: any function of some of the counts.
    letters = "MLCAZmlcaz"
    groups = [*letters, "LC", "LCA", "LCAlca", "CAca", letters]
    rules = [lambda path, g=group: tuple(path.count(word) for word in g) for group in groups]
    rules += [counts, lambda path: counts(path)[-1], lambda path: len(flattened(path)[0])]
    for rule in rules:
        tallies = defaultdict(Counter)
        for case in training_cases:
            tallies[rule(case["instance"]["path"])][case["target"]] += 1
        best = {counts: kinds.most_common(1)[0][0] for counts, kinds in tallies.items()}
        right = sum(
            best.get(rule(case["instance"]["path"])) == case["target"] for case in test_cases
        )
        assert right / len(test_cases) < 0.35


def test_straight_sides_come_in_pieces_and_as_curves():
    for path in paths(shape="triangle"):
        assert len(corners(path)) == 3
        assert path.count("L") + path.count("C") >= 9
    words = Counter(word for path in paths(shape="triangle") for word in path if word in "LC")
    assert min(words.values()) > 0.2 * words.total()


def paths(**parameters):
    return [case["instance"]["path"] for case in BUILDER.generate_random(count=60, **parameters)]


def test_rotation_turns():
    straight = paths(shape="rectangle", rotation=0)
    for path in straight:
        a, b, c, d = corners(path)
        assert a.real in {b.real, d.real}
        assert c.real in {b.real, d.real}
    for limit in (10, 90):
        degrees = [int(path.split(" A ")[1].split()[2])
                   for path in paths(shape="ellipse", rotation=limit) if " A " in path]  # fmt: skip
        assert limit * 0.7 < max(map(abs, degrees)) <= limit
        assert min(degrees) < 0 < max(degrees)


def test_aspect_stretches():
    def thinnest(path):
        a, b, c, _ = corners(path)
        return min(abs(a - b), abs(b - c)) / max(abs(a - b), abs(b - c))

    assert all(thinnest(path) > 0.99 for path in paths(shape="rectangle", aspect=1))
    widths = [thinnest(path) for path in paths(shape="rectangle", aspect=3)]
    assert min(widths) < 0.4
    assert max(widths) > 0.7


def test_noise_moves_points():
    def crooked(path):
        a, b, c, d = corners(path)
        return abs(a - b + c - d) / abs(a - c)

    assert all(crooked(path) < 0.001 for path in paths(shape="rectangle"))
    deviations = [crooked(path) for path in paths(shape="rectangle", noise=0.05)]
    assert max(deviations) > 0.03


def bends(points):
    return any(spot not in {points[0], points[-1]} for spot in points)


@pytest.mark.parametrize("segments", [1, 2, 7, 12])
def test_segments_are_pieces_of_curves(segments):
    for kind in ("ellipse", "half_ellipse", "sector"):
        for path in paths(shape=kind, segments=segments):
            curved = [points for points, is_arc in pieces_of(path) if is_arc or bends(points)]
            assert len(curved) == max(segments, 2 if kind == "ellipse" else 1)
    words = Counter(
        word for path in paths(shape="sector", segments=segments) for word in path if word in "AC"
    )
    assert len(words) == 2


def test_commands_are_of_one_sort_and_say_the_same():
    for parameters in ({}, {"noise": 0.05, "segments": 12}):
        absolute, relative = (
            [
                BUILDER.draw(Space(commands=commands, **parameters), Stream("same", i)).path
                for i in range(60)
            ]
            for commands in ("absolute", "relative")
        )
        for here, there in zip(absolute, relative, strict=True):
            assert not [c for c in here if c.islower()]
            assert not [c for c in there if c.isupper()]
            for p, q in zip(flattened(here)[1], flattened(there)[1], strict=True):
                assert abs(p - q) < 0.001
