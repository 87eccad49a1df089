import json
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from scbench.builders.half_subdivision_neighbours import TaskBuilder
from scbench.catalog import get_task
from scbench.schemas.half_subdivision_neighbours import Params
from scbench.scoring.judge import judge

TASK = get_task("half_subdivision_neighbours")
BUILDER = TaskBuilder()
PAPER = [item.params for item in BUILDER.paper()]


def verdict(params, labels):
    [verdict] = judge(TASK, params, {"neighbors": labels})
    return verdict


def failed(params, labels) -> set[str]:
    return {check.id for check in verdict(params, labels).failed}


def right(params) -> list[str]:
    return list(BUILDER.reference(params).neighbors)


def painted(params) -> dict[str, int]:
    """Cut the space into its finest cells; count the cell faces each leaf shares with the target.

    Shares no line with the interval test: a cell finds its leaf by walking down the tree.
    """
    cycle = params.axis_cycle
    deepest = max(map(len, params.leaves))
    bits = Counter(dict.fromkeys("xyz", 0))
    bits.update(cycle[d % len(cycle)] for d in range(deepest))
    leaves = set(params.leaves)

    def leaf_of(cell):
        left = dict(bits)
        label = ""
        while label not in leaves:
            axis = cycle[len(label) % len(cycle)]
            left[axis] -= 1
            label += str(cell["xyz".index(axis)] >> left[axis] & 1)
        return label

    sizes = [1 << bits[axis] for axis in "xyz"]
    cells = [(x, y, z) for x in range(sizes[0]) for y in range(sizes[1]) for z in range(sizes[2])]
    owner = {cell: leaf_of(cell) for cell in cells}
    shared: Counter[str] = Counter()
    for cell, leaf in owner.items():
        for axis in range(3):
            for step in (-1, 1):
                beside = tuple(c + step * (i == axis) for i, c in enumerate(cell))
                other = owner.get(beside)
                if leaf == params.target and other not in (None, params.target):
                    shared[other] += 1
    return dict(shared)


@pytest.mark.parametrize("i", range(17))
def test_painting_the_finest_cells_gives_the_same_neighbours(i):
    assert set(painted(PAPER[i])) == set(right(PAPER[i]))


@given(
    seed=st.integers(0, 2**32),
    dimension=st.sampled_from(["2D", "3D"]),
    length=st.integers(1, 5),
    depth=st.integers(1, 8),
)
def test_painting_agrees_on_any_tree(seed, dimension, length, depth):
    rng = random.Random(seed)

    def leaves_below(label):
        if len(label) == depth or (label and rng.random() < 0.3):
            return [label]
        return leaves_below(label + "0") + leaves_below(label + "1")

    leaves = leaves_below("")
    params = Params(
        dimension=dimension,
        axis_cycle=tuple(rng.choices("xy" if dimension == "2D" else "xyz", k=length)),
        leaves=tuple(leaves),
        target=rng.choice(leaves),
    )
    truth = set(painted(params))
    assert set(right(params)) == truth
    assert verdict(params, sorted(truth, reverse=True)).score == 1


def test_every_fault_of_one_answer_is_shown():
    params = PAPER[5]
    answer = ["00110", "00110", params.target, "0", "1100", "11001", "000"]
    result = verdict(params, answer)
    assert {check.id for check in result.failed} == set(TASK.checks)
    assert result.metrics["missing"] == ["00111", "1010", "11010"]
    assert result.metrics["surplus"] == ["000"]
    offenders = {c.id: c.details.get("offenders") for c in result.checks}
    assert offenders["tree"] == ["11001"]
    assert offenders["leaves"] == ["0"]
    assert offenders["repeats"] == ["00110"]


def test_closed_cycle_misreading_is_the_one_that_models_gave():
    misread = {
        i: BUILDER.counter_references(params).get("closed_cycle_misreading")
        for i, params in enumerate(PAPER)
    }
    assert {i for i, answer in misread.items() if answer} == {1, 5, 6, 13}
    assert sorted(misread[5]["neighbors"]) == ["00101", "00111", "1010", "10110", "1100"]
    assert sorted(misread[13]["neighbors"]) == [
        "0001000001", "0001000010", "00010001", "0001001011", "00011000",
    ]  # fmt: skip
    assert failed(PAPER[1], misread[1]["neighbors"]) == {"contact", "complete"}


@pytest.mark.parametrize(
    "labels",
    [
        [10, 11], "0010, 0011, 010, 100", ["0010", "0011", "010", " 100"],
        ["0010", "0011", "010", "100\n"], ["0010", "0011", "010", "'100'"],
        ["0010", "0011", "010", True], ["0010", "0011", "010", None], None,
    ],
)  # fmt: skip
def test_only_strings_of_bits_are_labels(labels):
    assert failed(PAPER[4], labels) == {"answer_schema"}


def test_too_many_labels_are_not_looked_at():
    n = len(PAPER[4].leaves)
    assert failed(PAPER[4], ["0010"] * (10 * n + 1)) == {"resource_limit"}
    assert failed(PAPER[4], ["0010"] * (10 * n)) == {"repeats", "complete"}


def test_long_labels_are_cut_short_in_the_verdict():
    result = verdict(PAPER[4], ["0" * 100_000])
    assert len(json.dumps([dict(check.details) for check in result.checks])) < 1000
    assert all(len(check.message) < 300 for check in result.checks)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "01"}, "not a leaf"),
        ({"leaves": ["0", "10"], "target": "0"}, "last branch"),
        ({"leaves": ["0", "11", "10"], "target": "0"}, "does not follow"),
        ({"leaves": ["0", "00", "1"], "target": "0"}, "does not follow"),
        ({"axis_cycle": ["x", "z"]}, "no axis z"),
    ],
)
def test_params_that_are_no_tree_are_refused(change, message):
    good = {"dimension": "2D", "axis_cycle": ["x", "y"], "leaves": ["0", "1"], "target": "0"}
    assert Params.model_validate(good).target == "0"
    with pytest.raises(ValidationError, match=message):
        Params.model_validate(good | change)
