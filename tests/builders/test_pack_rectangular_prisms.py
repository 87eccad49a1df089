"""Fresh lists of prisms, proofs of their density, and the solver's packings."""

import math
from itertools import product

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


@pytest.mark.parametrize(
    "counts",
    [{(1, 2, 3): 2}, {(2, 3, 5): 7, (3, 5, 7): 11}, {(1, 1, 4): 3, (2, 2, 2): 5}],
    ids=repr,
)
def test_perfect_boxes_match_search_over_divisors(counts):
    volume = sum(math.prod(size) * n for size, n in counts.items())
    slow = [
        (a, b, volume // (a * b))
        for a, b in product(range(1, volume + 1), repeat=2)
        if a <= b and volume % (a * b) == 0 and b <= volume // (a * b)
        if all(
            x >= s
            for size in counts
            for x, s in zip((a, b, volume // (a * b)), size)  # noqa: B905
        )
    ]
    assert perfect_boxes(counts) == slow


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
        assert max(map(max, small)) <= space.max_edge
        assert any(1 in size for size in sizes) == space.plates
        if space.primes:
            assert all(edge in {2, 3, 5, 7, 11} for size in sizes for edge in size)
        if space.cubes:
            assert len(set(sizes[-1])) == 1
            assert sizes[-1][0] == 3 * max(map(max, small))
        assert max(counts.values()) <= space.max_count
        impossible = not perfect_boxes(counts)
        assert params.full_marks_percent == (95 if impossible else 100)
        if space.perfect != "any":
            assert impossible == (space.perfect == "impossible")
        (result,) = judge(
            TASK, params, BUILDER.reference(params).model_dump(mode="json")
        )
        assert result.score == 1
        counters = BUILDER.counter_references(params)
        assert len(counters) >= 18
        for name, answer in counters.items():
            assert judge(TASK, params, answer)[0].score < 1, name


def test_impossible_parameters_are_reported():
    # Edges of 2, 3 and 5 do not give eight sizes.
    with pytest.raises(GenerationError, match="found no list of 8 sizes"):
        BUILDER.draw(
            Space(kinds=8, max_edge=5, primes=True, max_count=2), Stream("none")
        )


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
    sizes = {}
    cells = set()
    for at, extent in packing.boxes:
        key = tuple(sorted(extent))
        sizes[key] = sizes.get(key, 0) + 1
        mine = set(product(*(range(a, a + e) for a, e in zip(at, extent, strict=True))))
        assert not mine & cells
        cells |= mine
    assert sizes == counts
    assert all(
        0 <= c < e for cell in cells for c, e in zip(cell, packing.extent, strict=True)
    )


def test_layer_packings_of_rooms_are_legal_but_leave_gaps():
    point = Space(
        kinds=4, max_count=6, max_edge=12, perfect="possible", greedy=0.95, rooms=True
    )
    params = BUILDER.draw(point, Stream("rooms"))
    layers = BUILDER.baselines(params)["whole layers of one size each"]
    (verdict,) = judge(TASK, params, layers)
    assert 0.3 < verdict.score <= 0.95
