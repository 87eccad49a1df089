"""The rules on labelled squares, checked by exhaustive searches."""

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
    """Label the border points of a size x size grid, spreading the ring's sides over it.

    A side changes class half way, so that each of its points shows one of its two corners.
    """
    last = size - 1
    loop = [(i, 0) for i in range(last)]
    loop += [(last, i) for i in range(last)]
    loop += [(i, last) for i in range(last, 0, -1)]
    loop += [(0, i) for i in range(last, 0, -1)]
    labels = {}
    for i, point in enumerate(loop):
        corner = round(i * len(ring) / len(loop)) % len(ring)
        labels[point] = ring[corner]
    return labels


def groups_cross(one, other):
    """Return whether the first of two groups is split by members of the second."""
    for x in one:
        for y in other:
            if min(one) < min(other) < x < y:
                return True
    return False


def joined_pairs(groups, sides):
    """Return the pairs of crossed sides that no group separates."""
    pairs = []
    for a, b in combinations(range(len(sides)), 2):
        if not any(straddles(group, a, b) for group in groups):
            pairs.append((sides[a], sides[b]))
    return pairs


def drawable_without_common_point(ring, size):
    """Return whether some labelling with this border has no three-class triangle."""
    labels = border(ring, size)
    inner = {
        (x, y): y * size + x for y in range(1, size - 1) for x in range(1, size - 1)
    }
    order = list(inner)
    triangles = {}
    for x, y in product(range(size - 1), repeat=2):
        a, b, c, d = (x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)
        for triangle in ((a, b, c), (a, c, d)):
            # Each triangle is tested as soon as its last point is filled in.
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
def test_must_meet_matches_exhaustive_grid_search(corners):
    for ring in patterns(corners, 3):
        assert must_meet(ring) == (not drawable_without_common_point(ring, 5)), ring


def partitions(items):
    """Yield all ways to sort items into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for groups in partitions(rest):
        yield [[first], *groups]
        for i, group in enumerate(groups):
            yield [*groups[:i], [first, *group], *groups[i + 1 :]]


def straddles(group, a, b):
    """Return whether a group has stretches on both sides of the cut from crossing a to b.

    Stretch i of the border lies between crossings i and i + 1.
    """
    return len({a <= stretch < b for stretch in group}) == 2


def drawings_without_junction(ring):
    """Return every drawing without a junction, as its joined pairs of crossed sides.

    Drawings are built from areas, not from curves. Each stretch of the border between crossings
    belongs to a piece of one class. Pieces do not cross; n curves cut the square into n + 1 pieces.
    """
    sides = crossed_sides(ring)
    n = len(sides)
    if n == 0:
        return [[]]
    label = [ring[(side + 1) % len(ring)] for side in sides]
    result = []
    for groups in partitions(list(range(n))):
        one_class = all(len({label[i] for i in group}) == 1 for group in groups)
        crossing = any(groups_cross(g, h) for g, h in permutations(groups, 2))
        # n ends belong to n / 2 curves.
        if one_class and not crossing and len(groups) == n / 2 + 1:
            result.append(joined_pairs(groups, sides))
    return result


def test_behaviour_matches_all_drawings():
    for ring in product((1, 2, 3, 4), repeat=4):
        drawings = drawings_without_junction(ring)
        if len(drawings) == 1:
            assert behaviour(ring) == "known behaviour"
            assert joined_sides(ring) == drawings[0]
            continue
        assert joined_sides(ring) is None
        # Several drawings share no joined pair; without any drawing, junctions are needed.
        common = set.intersection(*map(set, drawings)) if drawings else set()
        assert not common
        # One tree joins three ends; three trees join four (two splits, or one fourfold point).
        single = not drawings and len(crossed_sides(ring)) == 3
        assert behaviour(ring) == (
            "three domains meeting" if single else "ambiguous"
        ), ring


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=8), st.permutations(range(-3, 4))
)
def test_canonical_form_depends_only_on_equal_labels(labels, names):
    renamed = [names[label + 3] for label in labels]
    assert canonical(renamed) == canonical(labels) == canonical(canonical(labels))
    for (a, x), (b, y) in combinations(zip(labels, canonical(labels), strict=True), 2):
        assert (a == b) == (x == y)


@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=6),
    st.text("?xyz", min_size=6, max_size=6),
)
def test_agrees_compares_known_letters(labels, known):
    known = known[: len(labels)]
    expected = True
    for i, j in combinations(range(len(labels)), 2):
        if "?" not in {known[i], known[j]}:
            expected &= (labels[i] == labels[j]) == (known[i] == known[j])
    assert agrees(labels, known) == expected
    assert agrees(labels, "")


def test_on_ring_reorders_values_by_corner():
    order = ("top-left", "bottom-right", "bottom-left", "top-right")
    assert on_ring("abcd", order, CORNERS) == ("c", "b", "d", "a")
