"""Fresh lists of prisms, proofs of their density, and the solver's packings."""

import math
from collections import Counter
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.pack_rectangular_prisms import Space, TaskBuilder
from scbench.builders.pack_rectangular_prisms.packing import pack, perfect_boxes
from scbench.catalog import get_task
from scbench.scoring.judge import judge

BUILDER = TaskBuilder()
TASK = get_task("pack_rectangular_prisms")
PAPER = [item.params for item in BUILDER.paper()]
edge = st.integers(1, 5)


def counts_of(params):
    counts = {}
    for line in params.prisms:
        key = tuple(sorted(line.size))
        counts[key] = counts.get(key, 0) + line.count
    return counts


def test_paper_packings_are_as_dense_as_the_best_known():
    densities = [1, 1, 1, 0.98951, 0.98637, 0.98505, 0.98727, 0.98614, 0.97569]
    for params, efficiency in zip(PAPER, densities, strict=True):
        (result,) = judge(
            TASK, params, BUILDER.reference(params).model_dump(mode="json")
        )
        assert result.score == 1
        assert round(result.metrics["efficiency"], 5) >= efficiency


def fits_all(box, counts):
    """Return whether prisms of every size fit into a box; edges are sorted."""
    for size in counts:
        if any(edge > side for side, edge in zip(box, size, strict=True)):
            return False
    return True


def is_solved(params):
    (result,) = judge(TASK, params, BUILDER.reference(params).model_dump(mode="json"))
    return result.score == 1


@pytest.mark.parametrize(
    "counts",
    [{(1, 2, 3): 2}, {(2, 3, 5): 7, (3, 5, 7): 11}, {(1, 1, 4): 3, (2, 2, 2): 5}],
    ids=repr,
)
def test_perfect_boxes_match_search_over_divisors(counts):
    volume = sum(math.prod(size) * n for size, n in counts.items())
    expected = []
    for a, b in combinations_with_replacement(range(1, volume + 1), 2):
        c, rest = divmod(volume, a * b)
        if rest == 0 and b <= c and fits_all((a, b, c), counts):
            expected.append((a, b, c))
    assert perfect_boxes(counts) == expected


@pytest.mark.parametrize(
    "parameters",
    [
        {"kinds": 1}, {"perfect": "possible", "kinds": 6},
        {"perfect": "impossible"}, {"shared": 1, "max_edge": 23}, {"primes": True},
        {"plates": True}, {"cubes": True, "max_count": 2},
    ],
    ids=repr,
)  # fmt: skip
def test_fresh_lists_satisfy_their_parameters_and_are_solved(parameters):
    space = Space(**parameters)
    for seed in range(2):
        params = BUILDER.draw(space, Stream("test", seed))
        counts = counts_of(params)
        assert len(counts) == len(params.prisms) == space.kinds + space.cubes
        sizes = sorted(counts, key=math.prod)
        small = sizes[:-1] if space.cubes else sizes
        longest_edge = max(map(max, small))
        assert longest_edge <= space.max_edge
        assert any(1 in size for size in sizes) == space.plates
        if space.primes:
            assert {edge for size in sizes for edge in size} <= {2, 3, 5, 7, 11}
        if space.cubes:
            assert sizes[-1] == (3 * longest_edge,) * 3
        assert max(counts.values()) <= space.max_count
        impossible = not perfect_boxes(counts)
        assert params.full_marks_percent == (95 if impossible else 100)
        if space.perfect != "any":
            assert impossible == (space.perfect == "impossible")
        assert is_solved(params)
        counters = BUILDER.counter_references(params)
        assert len(counters) >= 18
        for name, answer in counters.items():
            assert judge(TASK, params, answer)[0].score < 1, name


def test_impossible_parameters_are_reported():
    # Edges of 2, 3 and 5 do not give eight sizes.
    point = Space(kinds=8, max_edge=5, primes=True, max_count=2)
    with pytest.raises(GenerationError, match="draws gave no list of 8 sizes"):
        BUILDER.draw(point, Stream("none"))


@given(
    st.dictionaries(
        st.tuples(edge, edge, edge).map(lambda size: tuple(sorted(size))),
        st.integers(1, 5),
        min_size=1,
        max_size=3,
    )
)
@settings(max_examples=40)
def test_solver_packings_are_legal(counts):
    try:
        packing = pack(counts, 1)
    except GenerationError:  # its search is bounded
        reject()
    sizes = Counter()
    cells = set()
    for at, extent in packing.boxes:
        sizes[tuple(sorted(extent))] += 1
        own = set(product(*(range(a, a + e) for a, e in zip(at, extent, strict=True))))
        assert not own & cells
        cells |= own
    assert sizes == counts
    assert cells <= set(product(*map(range, packing.extent)))


def test_layer_packings_of_rooms_are_legal_but_leave_gaps():
    point = Space(
        kinds=4, max_count=6, max_edge=12, perfect="possible", greedy=0.95, rooms=True
    )
    params = BUILDER.draw(point, Stream("rooms"))
    layers = BUILDER.baselines(params)["whole layers of one size each"]
    (verdict,) = judge(TASK, params, layers)
    assert 0.3 < verdict.score <= 0.95
