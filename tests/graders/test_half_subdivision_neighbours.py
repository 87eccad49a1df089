import random
from collections import Counter
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from scbench.builders.half_subdivision_neighbours import TaskBuilder
from scbench.catalog import get_task
from scbench.schemas.half_subdivision_neighbours import Params
from scbench.scoring.judge import judge

TASK = get_task("half_subdivision_neighbours")
BUILDER = TaskBuilder()
PAPER = [item.params for item in BUILDER.paper()]
FACES = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]


def verdict(params, labels):
    [verdict] = judge(TASK, params, {"neighbors": labels})
    return verdict


def failed(params, labels) -> set[str]:
    return {check.id for check in verdict(params, labels).failed}


def right(params) -> list[str]:
    return list(BUILDER.reference(params).neighbors)


def shared_cell_faces(params) -> dict[str, int]:
    """Cut the space into its finest cells; count the faces each leaf shares with the target.

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

    cells = product(*(range(1 << bits[axis]) for axis in "xyz"))
    owner = {cell: leaf_of(cell) for cell in cells}
    shared: Counter[str] = Counter()
    for (x, y, z), leaf in owner.items():
        if leaf != params.target:
            continue
        for dx, dy, dz in FACES:
            other = owner.get((x + dx, y + dy, z + dz))
            if other not in {None, params.target}:
                shared[other] += 1
    return dict(shared)


@given(
    seed=st.integers(0, 2**32),
    dimension=st.sampled_from(["2D", "3D"]),
    length=st.integers(1, 5),
    depth=st.integers(1, 8),
)
def test_reference_matches_shared_cell_faces(seed, dimension, length, depth):
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
    truth = set(shared_cell_faces(params))
    assert set(right(params)) == truth
    assert verdict(params, sorted(truth, reverse=True)).score == 1


def test_too_many_labels_are_rejected():
    n = len(PAPER[4].leaves)
    assert failed(PAPER[4], ["0010"] * (10 * n + 1)) == {"resource_limit"}
    assert failed(PAPER[4], ["0010"] * (10 * n)) == {"repeats", "complete"}
