"""Fresh squares and polygons over the whole parameter space."""

from itertools import product

import pytest

from scbench.base.seeding import Stream
from scbench.builders.shared.corner_labels import (
    CASES,
    draw_order,
    is_walk,
    orders_of,
)
from scbench.catalog import get_task
from scbench.graders.shared.corner_labels import (
    behaviour,
    crossed_sides,
    letters,
    on_ring,
)
from scbench.schemas.corner_labels import CORNERS, SIDES
from scbench.schemas.topology_enumeration import POLYGONS

EDGES = get_task("enumerate_edges")
NAMES = get_task("classify_behaviour")
TOPOLOGY = get_task("topology_enumeration")


def rings(params):
    return [on_ring(square, params.corner_order, CORNERS) for square in params.squares]


def fresh(task, seeds, **parameters):
    builder = task.builder()
    point = builder.space(**parameters)
    for seed in range(seeds):
        case = builder.case(point, seed)
        yield task.params_model.model_validate(case.instance), case


@pytest.mark.parametrize("k", [4, 5, 6, 7, 8])
def test_corner_orders_of_each_kind(k):
    ring = POLYGONS[k]
    orders = {}
    for kind in ("ring", "crossing", "any"):
        streams = [Stream("order", k, kind, i) for i in range(300)]
        orders[kind] = {draw_order(ring, kind, stream) for stream in streams}
    assert len(orders["ring"]) == 2 * k
    assert all(is_walk(order, ring) for order in orders["ring"])
    assert not any(is_walk(order, ring) for order in orders["crossing"])
    assert {len(order) for order in orders["any"]} == {k}
    if k == 4:
        assert len(orders["any"]) == 24
        assert len(orders["crossing"]) == 16


@pytest.mark.parametrize("squares", [2, 6, 11, 12])
@pytest.mark.parametrize("all_crossed", [0, 4])
def test_fresh_edges(squares, all_crossed):
    for params, _ in fresh(EDGES, 10, squares=squares, all_crossed=all_crossed):
        labelled = rings(params)
        shapes = [letters(ring) for ring in labelled]
        assert len(shapes) == squares
        # There are 11 patterns; further squares repeat them.
        assert len(set(shapes)) == min(squares, 11)
        crossed = sum(len(crossed_sides(ring)) == 4 for ring in labelled)
        assert crossed >= min(all_crossed, squares)
        assert all(behaviour(ring) != "three domains meeting" for ring in labelled)
        assert any(EDGES.builder().reference(params).edges)


def test_orders_matter_where_required():
    point = {"squares": 2, "all_crossed": 0, "corner_order": "ring"}
    point |= {"edge_order": "ring", "orders_matter": True}
    builder = EDGES.builder()
    for params, _ in fresh(EDGES, 10, **point):
        right = builder.reference(params)
        for name, ring in (("corner_order", CORNERS), ("edge_order", SIDES)):
            for order in orders_of(ring, "ring"):
                other = params.model_copy(update={name: order})
                is_own = order == getattr(params, name)
                assert (builder.reference(other) == right) == is_own


@pytest.mark.parametrize("squares", [4, 8, 15, 16])
@pytest.mark.parametrize("odd_corners", [0, 2])
def test_fresh_names(squares, odd_corners):
    for params, _ in fresh(NAMES, 10, squares=squares, odd_corners=odd_corners):
        shapes = [letters(ring) for ring in rings(params)]
        assert len(shapes) == squares
        # There are 15 patterns; further squares repeat them.
        assert len(set(shapes)) == min(squares, 15)
        assert sum(shape in {"abac", "abcb"} for shape in shapes) >= odd_corners
        names = [behaviour(ring) for ring in rings(params)]
        assert len({*names}) == 3


def test_counts_of_names_vary():
    counts = set()
    for params, _ in fresh(NAMES, 30, squares=3, odd_corners=0):
        counts.add(tuple(sorted(behaviour(ring) for ring in rings(params))))
    assert len(counts) > 3


@pytest.mark.parametrize("task", [EDGES, NAMES])
def test_labels_start_from_one_without_renaming(task):
    for params, _ in fresh(task, 10, rename=False):
        assert all(ring in CASES for ring in rings(params))
    labellings = set()
    for params, _ in fresh(task, 10):
        labellings.update(rings(params))
    assert any(ring not in CASES for ring in labellings)
    assert set().union(*labellings) == set(range(1, 10))


@pytest.mark.parametrize("task", [EDGES, NAMES, TOPOLOGY])
@pytest.mark.parametrize("order", ["ring", "crossing"])
def test_corner_order_parameter(task, order):
    parameter = "order" if task is TOPOLOGY else "corner_order"
    for params, _ in fresh(task, 20, **{parameter: order}):
        ring = POLYGONS[len(params.corner_order)]
        assert is_walk(params.corner_order, ring) == (order == "ring")


@pytest.mark.parametrize(
    ("corners", "n_classes", "known"), list(product((4, 5, 8), (2, 4), (0, 3)))
)
def test_fresh_topology(corners, n_classes, known):
    builder = TOPOLOGY.builder()
    parameters = {"corners": corners, "n_classes": n_classes, "known": known}
    for params, case in fresh(TOPOLOGY, 4, **parameters):
        assert len(params.corner_order) == corners
        assert len(params.known.replace("?", "")) == known
        configs = builder.reference(params).configs
        assert bool(configs) == (n_classes < 4)
        assert len(configs) < (60 if corners < 7 else 541)
        counters = builder.counter_references(params)
        assert len(counters) >= 4
        assert ("?" in case.input) == (known > 0)
