"""The rules on labelled squares, against searches that know nothing of winding or types."""

from itertools import combinations, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.graders.shared.corner_labels import (
    agrees,
    behaviour,
    canonical,
    crossed_sides,
    joined_sides,
    must_meet,
    on_ring,
    patterns,
)
from scbench.schemas.corner_labels import CORNERS


def border(ring, size):
    """Labels of the border points of a grid of size x size, the sides of the ring spread over it.

    A side changes class half way, so that each of its points shows one of its two corners.
    """
    last = size - 1
    loop = (
        [(i, 0) for i in range(last)]
        + [(last, i) for i in range(last)]
        + [(i, last) for i in range(last, 0, -1)]
        + [(0, i) for i in range(last, 0, -1)]
    )
    return {
        point: ring[round(i * len(ring) / len(loop)) % len(ring)]
        for i, point in enumerate(loop)
    }


def drawable_without_common_point(ring, size):
    """Whether a triangulated grid has a labelling with this border and no three-class triangle."""
    labels = border(ring, size)
    inner = {
        (x, y): y * size + x for y in range(1, size - 1) for x in range(1, size - 1)
    }
    order = list(inner)
    triangles = {}
    for x, y in product(range(size - 1), repeat=2):
        a, b, c, d = (x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)
        for triangle in ((a, b, c), (a, c, d)):
            # Each triangle is tested when its last point is filled in, so rows of points can be.
            at = max((inner[p] for p in triangle if p in inner), default=None)
            triangles.setdefault(at, []).append(triangle)

    def fits(at):
        return all(len({labels[p] for p in t}) < 3 for t in triangles.get(at, ()))

    def fill(at):
        if at == len(order):
            return True
        for label in sorted(set(ring)):
            labels[order[at]] = label
            if fits(inner[order[at]]) and fill(at + 1):
                return True
        return False

    return fits(None) and fill(0)


@pytest.mark.parametrize("corners", [4, 5, 6])
def test_three_classes_meet_where_no_grid_can_be_filled_without_a_triple(corners):
    for ring in patterns(corners, 3):
        assert must_meet(ring) == (not drawable_without_common_point(ring, 5)), ring


def partitions(items):
    """All ways to sort items into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for groups in partitions(rest):
        yield [[first], *groups]
        for i, group in enumerate(groups):
            yield [*groups[:i], [first, *group], *groups[i + 1 :]]


def straddles(group, a, b):
    """Whether the stretches of a group lie on both sides of the cut from crossing a to crossing b.

    Stretch i of the border lies between crossings i and i + 1.
    """
    return len({a <= stretch < b for stretch in group}) == 2


def drawings_without_junction(ring):
    """Every drawing without junction, as its set of joined pairs of crossed sides.

    Built from the areas, not from the curves: stretches of the border between crossings belong to
    pieces of one class each; pieces do not cross; n curves cut the square into n + 1 pieces.
    """
    sides = crossed_sides(ring)
    n = len(sides)
    label = [ring[(side + 1) % len(ring)] for side in sides]
    result = []
    for groups in partitions(list(range(n))):
        one_class = all(len({label[i] for i in group}) == 1 for group in groups)
        crossing = any(
            min(g) < min(h) < x < y
            for g, h in permutations(groups, 2)
            for x in g
            for y in h
        )
        if one_class and not crossing and 2 * (len(groups) - 1) == n:
            result.append(
                [
                    (sides[a], sides[b])
                    for a, b in combinations(range(n), 2)
                    if not any(straddles(group, a, b) for group in groups)
                ]
            )
    return result if n else [[]]


def test_squares_by_all_drawings():
    for ring in product((1, 2, 3, 4), repeat=4):
        drawings = drawings_without_junction(ring)
        if len(drawings) == 1:
            assert behaviour(ring) == "known behaviour"
            assert joined_sides(ring) == drawings[0]
            continue
        assert joined_sides(ring) is None
        # Nothing in common between several drawings; none at all where junctions are needed.
        common = set.intersection(*map(set, drawings)) if drawings else set()
        assert not common
        # Three ends are joined by one tree; four by three trees (two splits, one fourfold point).
        single = not drawings and len(crossed_sides(ring)) == 3
        assert behaviour(ring) == (
            "three domains meeting" if single else "ambiguous"
        ), ring


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=8), st.permutations(range(-3, 4))
)
def test_canonical_form_forgets_names_and_nothing_else(labels, names):
    renamed = [names[label + 3] for label in labels]
    assert canonical(renamed) == canonical(labels) == canonical(canonical(labels))
    for (a, x), (b, y) in combinations(zip(labels, canonical(labels), strict=True), 2):
        assert (a == b) == (x == y)


@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=6),
    st.text("?xyz", min_size=6, max_size=6),
)
def test_agreement_is_equality_where_letters_are_known(labels, known):
    known = known[: len(labels)]
    expected = all(
        (labels[i] == labels[j]) == (known[i] == known[j])
        for i, j in combinations(range(len(labels)), 2)
        if "?" not in {known[i], known[j]}
    )
    assert agrees(labels, known) == expected
    assert agrees(labels, "")


def test_on_ring_moves_values_to_their_corners():
    order = ("top-left", "bottom-right", "bottom-left", "top-right")
    assert on_ring("abcd", order, CORNERS) == ("c", "b", "d", "a")
