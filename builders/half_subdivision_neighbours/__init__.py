"""Half-subdivision neighbours: find the boxes, made by repeated halving, that touch a target box.

An example of the puzzle, with the answer ["0", "11"]:

    depth 0: axis x
    depth 1: axis y
    The leaves of the square are 0, 10, 11.
    The target is the leaf 10.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, data_file, parameter, under
from scbench.graders import half_subdivision_neighbours as dyadic_boxes
from scbench.schemas.half_subdivision_neighbours import AXES, Answer, Params

# Maximum number of trees that one draw tries, and of targets in each.
_TREES = 50
_TARGETS = 20
# Number of labels on one line of a prompt.
_PER_LINE = 8


class Space(Point):
    """Parameters of fresh trees."""

    dimension: Literal["2D", "3D"] = parameter("3D", "2D: a square; 3D: a cube")
    extra_axes: int = parameter(
        2,
        "number of additional entries in the axis cycle, which has at least one per axis; with 0, "
        "all axes are cut equally often",
        ge=0,
        le=6,
    )
    min_depth: int = parameter(5, "minimum depth of a leaf", ge=2, le=9)
    depth_spread: int = parameter(
        3, "how much deeper than min_depth a leaf may be", ge=0, le=5
    )
    split_prob: float = parameter(
        0.6, "probability that a box at depth min_depth or deeper is cut", ge=0, le=1
    )
    max_leaves: int = parameter(
        250,
        "maximum number of leaves; determines the length of the prompt",
        ge=4,
        le=1000,
    )
    min_neighbours: int = parameter(
        4, "minimum number of neighbours of the target", ge=1, le=24
    )
    neighbour_depths: int = parameter(
        2,
        "minimum number of different depths among the neighbours, but at most depth_spread + 1",
        ge=1,
        le=4,
    )
    target_at: Literal["anywhere", "boundary", "inside"] = parameter(
        "anywhere", "whether the target touches the outside of the square or cube"
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Trees of halvings with one leaf as the target."""

    task = "half_subdivision_neighbours"
    version = 3
    draws = 2
    form = '{"neighbors": ["...", ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the axis at each depth, the leaves and the target."""
        leaves = params.leaves
        cycle = params.axis_cycle
        depths = range(max(map(len, leaves)))
        cuts = [f"depth {d}: axis {cycle[d % len(cycle)]}" for d in depths]
        starts = range(0, len(leaves), _PER_LINE)
        rows = [", ".join(leaves[start : start + _PER_LINE]) for start in starts]
        return {
            "table": "\n".join(cuts),
            "n": len(leaves),
            "leaves": ",\n".join(rows),
            "target": params.target,
            **data_file(__package__, "words.json")[params.dimension],
        }

    def reference(self, params: Params) -> Answer:
        """Compare every leaf's intervals with the target's."""
        return Answer(neighbors=tuple(neighbours(params, params.axis_cycle)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return lists with one mistake each, misread cycles, and forms seen in replies."""
        cycle = params.axis_cycle
        right = neighbours(params, cycle)
        first, *tail = right
        wrong: dict[str, Any] = {
            "empty": [],
            "one_missing": tail,
            "one_repeated": [*right, first],
            "target_listed": [*right, params.target],
            "inner_box_instead": [first[:-1], *tail],
            "one_bit_too_long": [first + "0", *tail],
        }
        # A last entry equal to the first can be misread as the way back to it.
        closed = cycle
        if len(cycle) > 1 and cycle[0] == cycle[-1]:
            closed = cycle[:-1]
        touching = contacts(params)
        misreadings = {
            "closed_cycle_misreading": neighbours(params, closed),
            "cycle_one_step_late": neighbours(params, cycle[1:] + cycle[:1]),
            "whole_faces_only": whole_faces(params, right),
            "corner_contact_counted": list(touching),
            "leading_zeros_lost": [label.lstrip("0") for label in right],
        }
        # In some trees, a misreading makes no difference.
        for name, labels in misreadings.items():
            if set(labels) == set(right):
                continue
            wrong[name] = labels
        for leaf in params.leaves:
            if leaf not in touching and leaf != params.target:
                wrong["one_surplus"] = [*right, leaf]
                break
        wrong["numbers_for_labels"] = [*map(int, right)]
        wrong["one_line_of_text"] = ", ".join(right)
        return under("neighbors", wrong) | under(
            "neighbours", {"british_spelling": right}
        )

    def measure(self, params: Params) -> float:
        """Return the number of digits in the labels of all boxes that touch the target."""
        return sum(map(len, contacts(params)))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw cycles and trees until one has a suitable target."""
        axes = AXES[point.dimension]
        for _ in range(_TREES):
            # Every axis is cut, and some axes more often.
            extra = [rng.choice(axes) for _ in range(point.extra_axes)]
            cycle = [*axes, *extra]
            rng.shuffle(cycle)
            leaves = grow(point, rng)
            if leaves is None:
                continue
            boxes = dyadic_boxes.boxes(leaves, cycle, axes)
            for target in rng.sample(leaves, min(_TARGETS, len(leaves))):
                if fits_point(point, boxes, target):
                    return Params(
                        dimension=point.dimension,
                        axis_cycle=tuple(cycle),
                        leaves=tuple(leaves),
                        target=target,
                    )
        max_depth = point.min_depth + point.depth_spread
        depths = min(point.neighbour_depths, point.depth_spread + 1)
        raise GenerationError(
            f"{_TREES} trees of at most {point.max_leaves} leaves, {point.min_depth} to "
            f"{max_depth} deep, have no target ({point.target_at}) with {point.min_neighbours} "
            f"neighbours of {depths} different depths; ask for fewer neighbours or depths, or "
            "allow more leaves"
        )


def grow(point: Space, rng: Stream) -> list[str] | None:
    """Return the leaves of a random tree, or None if there would be too many.

    The tree grows depth first, child 0 before child 1, like the paper's trees. The labels are in
    the same order.
    """
    max_depth = point.min_depth + point.depth_spread
    leaves: list[str] = []
    pending = [""]
    while pending:
        # Every pending box will become at least one leaf.
        if len(leaves) + len(pending) > point.max_leaves:
            return None
        label = pending.pop()
        is_leaf = len(label) == max_depth
        if point.min_depth <= len(label) < max_depth:
            is_leaf = rng.unit() >= point.split_prob
        if is_leaf:
            leaves.append(label)
        else:
            pending += [label + "1", label + "0"]
    return leaves


def fits_point(
    point: Space, boxes: Mapping[str, dyadic_boxes.Box], target: str
) -> bool:
    """Return whether a target has the place and the neighbours that the point requires."""
    box = boxes[target]
    depths = []
    for leaf, leaf_box in boxes.items():
        if dyadic_boxes.touching_axes(box, leaf_box) == 1:
            depths.append(len(leaf))
    if len(depths) < point.min_neighbours:
        return False
    if len(set(depths)) < min(point.neighbour_depths, point.depth_spread + 1):
        return False
    if point.target_at == "anywhere":
        return True
    end = 1 << max(map(len, boxes))
    is_outside = any(low == 0 or high == end for low, high in box)
    return is_outside == (point.target_at == "boundary")


def contacts(params: Params) -> dict[str, int]:
    """Return the leaves that touch the target, with the number of axes along which they touch."""
    axes = AXES[params.dimension]
    return dyadic_boxes.contacts(params.leaves, params.axis_cycle, axes, params.target)


def neighbours(params: Params, cycle: Sequence[str]) -> list[str]:
    """Return the neighbours of the target for a cycle of axes, possibly a misread one."""
    axes = AXES[params.dimension]
    return dyadic_boxes.neighbours(params.leaves, cycle, axes, params.target)


def whole_faces(params: Params, right: Sequence[str]) -> list[str]:
    """Return the neighbours that share a whole side or face with the target."""
    axes = AXES[params.dimension]
    boxes = dyadic_boxes.boxes(params.leaves, params.axis_cycle, axes)
    sharing_faces = []
    for leaf in right:
        # The intervals of such boxes differ only along the axis where they touch.
        pairs = zip(boxes[leaf], boxes[params.target], strict=True)
        if sum(a != b for a, b in pairs) == 1:
            sharing_faces.append(leaf)
    return sharing_faces
