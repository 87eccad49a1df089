"""Prisms: each fault fails its own check, exact scores, and overlap counted in cells."""

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import judging

from scbench.graders.pack_rectangular_prisms import overlapping
from scbench.graders.pack_rectangular_prisms.actions import Play
from scbench.schemas.pack_rectangular_prisms import Params

verdict, failed, check = judging(
    "pack_rectangular_prisms",
    lambda boxes: {"boxes": [{"XyzMin": low, "XyzMax": high} for low, high in boxes]},
)
RIGHT = [((0, 0, 0), (3, 2, 2)), ((3, 0, 0), (5, 2, 3))]
corner = st.tuples(st.integers(-2, 4), st.integers(-2, 4), st.integers(-2, 4))
edges = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
box = st.builds(
    lambda low, size: (low, tuple(a + b for a, b in zip(low, size, strict=True))),
    corner,
    edges,
)
# Two bricks: side by side they fill a box, but in RIGHT one is upright.
PAIR = Params.model_validate(
    {"prisms": [{"count": 2, "size": (3, 2, 2)}], "full_marks_percent": 100}
)


def instance(*lines, percent=100):
    prisms = [{"count": count, "size": size} for count, size in lines]
    return Params.model_validate({"prisms": prisms, "full_marks_percent": percent})


def test_empty_packing_has_no_volume():
    assert Play(PAIR).look()["volume"] == 0


def test_score_is_share_of_bounding_box():
    given = verdict(PAIR, RIGHT)
    assert given.score == float(Fraction(24, 5 * 2 * 3))
    assert given.metrics == {"efficiency": 0.8, "extent": [5, 2, 3]}
    assert failed(PAIR, RIGHT) == {"density"}
    flat = [((0, 0, 0), (3, 2, 2)), ((3, 0, 0), (6, 2, 2))]
    assert verdict(PAIR, flat).score == 1
    assert failed(PAIR, flat) == set()


@pytest.mark.parametrize(
    ("percent", "score"), [(100, 0.8), (95, 0.8 / 0.95), (80, 1), (79, 1)]
)
def test_full_score_starts_at_stated_percentage(percent, score):
    params = instance((2, (3, 2, 2)), percent=percent)
    assert verdict(params, RIGHT).score == pytest.approx(score, abs=1e-15)
    assert ("density" in failed(params, RIGHT)) == (score < 1)


@pytest.mark.parametrize("far", [10**20, 10**400, 10**5000], ids=int.bit_length)
def test_packings_may_lie_anywhere_and_gaps_may_be_huge(far):
    moved = []
    for low, high in RIGHT:
        moved.append((tuple(v - far for v in low), tuple(v - far for v in high)))
    assert verdict(PAIR, moved) == verdict(PAIR, RIGHT)
    apart = [RIGHT[0], ((far, 0, 0), (far + 2, 2, 3))]
    given = verdict(PAIR, apart)
    # The volumes are 24 of about 6 * far; far beyond doubles, the score is 0.
    assert given.score == pytest.approx(4 / far if far < 10**300 else 0)
    assert given.metrics["extent"] is None
    assert failed(PAIR, apart) == {"density"}


def cells(box):
    (x, y, z), (u, v, w) = box
    return set(product(range(x, u), range(y, v), range(z, w)))


@given(st.lists(box, max_size=8), st.data())
def test_overlap_matches_cells(boxes, data):
    chosen = [i for i in range(len(boxes)) if data.draw(st.booleans())]
    shared = []
    for i, j in combinations(chosen, 2):
        if cells(boxes[i]) & cells(boxes[j]):
            shared.append((i, j))
    # Pairs in the order of their first boxes.
    assert overlapping(boxes, chosen) == shared
