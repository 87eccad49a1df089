"""Half-subdivision neighbours: prompts, fresh trees, and an exact solver."""

from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, data_file, parameter, under
from scbench.graders import half_subdivision_neighbours as dyadic_boxes
from scbench.schemas.half_subdivision_neighbours import AXES, Answer, Axis, Params

_TREES = 50
_TARGETS = 20
_PER_LINE = 8


class Space(Point):
    """Parameters of fresh trees."""

    dimension: Literal["2D", "3D"] = parameter("3D", "square or cube")
    extra_axes: int = parameter(
        2,
        "entries of the axis cycle beyond one per axis; 0 treats all axes alike",
        ge=0,
        le=6,
    )
    min_depth: int = parameter(5, "least depth of a leaf", ge=2, le=9)
    depth_spread: int = parameter(
        3, "how much deeper than min_depth a leaf may be", ge=0, le=5
    )
    split_prob: float = parameter(
        0.6, "chance that a box between these depths is cut", ge=0, le=1
    )
    max_leaves: int = parameter(
        250, "most leaves; sets the length of the prompt", ge=4, le=1000
    )
    min_neighbours: int = parameter(
        4, "least number of neighbours of the target", ge=1, le=24
    )
    neighbour_depths: int = parameter(
        2,
        "least number of different depths among the neighbours; no more than "
        "depth_spread + 1 are asked for",
        ge=1,
        le=4,
    )
    target_at: Literal["anywhere", "boundary", "inside"] = parameter(
        "anywhere", "whether the target touches the outside of the whole"
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Trees of halvings with one leaf picked out."""

    task = "half_subdivision_neighbours"
    version = 2
    form = '{"neighbors": ["...", ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the axis of every depth, the leaves and the target."""
        leaves, cycle = params.leaves, params.axis_cycle
        rows = [leaves[i : i + _PER_LINE] for i in range(0, len(leaves), _PER_LINE)]
        return {
            "table": "\n".join(
                f"depth {d}: axis {cycle[d % len(cycle)]}"
                for d in range(max(map(len, leaves)))
            ),
            "n": len(leaves),
            "leaves": ",\n".join(", ".join(row) for row in rows),
            "target": params.target,
            **data_file(__package__, "words.json")[params.dimension],
        }

    def reference(self, params: Params) -> Answer:
        """Compare every leaf's intervals with the target's."""
        return Answer(neighbors=tuple(_solve(params, params.axis_cycle)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return lists with one mistake each, the misread cycles, and the forms seen in replies."""
        right = _solve(params, params.axis_cycle)
        first, tail = right[0], right[1:]
        wrong: dict[str, list[str]] = {
            "empty": [],
            "one_missing": tail,
            "one_repeated": [*right, first],
            "target_listed": [*right, params.target],
            "inner_box_instead": [first[:-1], *tail],
            "one_bit_too_long": [first + "0", *tail],
        }
        axes = AXES[params.dimension]
        touch = dyadic_boxes.contacts(
            params.leaves, params.axis_cycle, axes, params.target
        )
        misread = {
            "closed_cycle_misreading": _solve(params, _closed(params.axis_cycle)),
            "cycle_one_step_late": _solve(
                params, params.axis_cycle[1:] + params.axis_cycle[:1]
            ),
            "whole_faces_only": _whole_faces(params, right),
            "corner_contact_counted": list(touch),
            "leading_zeros_lost": [label.lstrip("0") for label in right],
        }
        wrong |= {
            name: labels
            for name, labels in misread.items()
            if set(labels) != set(right)
        }
        apart = [
            leaf
            for leaf in params.leaves
            if leaf not in touch and leaf != params.target
        ]
        if apart:
            wrong["one_surplus"] = [*right, apart[0]]
        forms = {
            "numbers_for_labels": [*map(int, right)],
            "one_line_of_text": ", ".join(right),
        }
        counters = under("neighbors", {**wrong, **forms})
        return counters | {"british_spelling": {"neighbours": list[JsonValue](right)}}

    def measure(self, params: Params) -> float:
        """Return how many digits the labels of all boxes have that touch the target at all."""
        axes = AXES[params.dimension]
        return sum(
            map(
                len,
                dyadic_boxes.contacts(
                    params.leaves, params.axis_cycle, axes, params.target
                ),
            )
        )

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw cycles and trees until one has a target as asked for."""
        axes = AXES[point.dimension]
        max_depth = point.min_depth + point.depth_spread
        depths = min(point.neighbour_depths, point.depth_spread + 1)
        for _ in range(_TREES):
            cycle = [*axes, *(rng.choice(axes) for _ in range(point.extra_axes))]
            rng.shuffle(cycle)
            leaves = grow(
                point.min_depth, max_depth, point.split_prob, rng.unit, point.max_leaves
            )
            if leaves is None:
                continue
            place = dyadic_boxes.boxes(leaves, cycle, axes)
            for target in rng.sample(leaves, min(_TARGETS, len(leaves))):
                box = place[target]
                touching = [
                    leaf
                    for leaf in leaves
                    if dyadic_boxes.touching_axes(box, place[leaf]) == 1
                ]
                if (
                    len(touching) >= point.min_neighbours
                    and len(set(map(len, touching))) >= depths
                    and _lies_at(box, max(map(len, leaves)), point.target_at)
                ):
                    return Params(
                        dimension=point.dimension,
                        axis_cycle=tuple(cycle),
                        leaves=tuple(leaves),
                        target=target,
                    )
        raise GenerationError(
            f"no tree of at most {point.max_leaves} leaves, {point.min_depth} to {max_depth} deep, "
            f"has a target ({point.target_at}) with {point.min_neighbours} neighbours of {depths} "
            f"depths, in {_TREES} trees; ask for fewer neighbours or depths, or allow more leaves"
        )


def grow(
    min_depth: int,
    max_depth: int,
    split_prob: float,
    unit: Callable[[], float],
    max_leaves: int,
) -> list[str] | None:
    """Grow a random tree depth first, child 0 before child 1, as the paper's trees were grown.

    ``unit`` gives a number in [0, 1) once for every box that may or may not be cut. The labels of
    the leaves are returned in that order, or None if there would be more than ``max_leaves``.
    """
    leaves: list[str] = []
    todo = [""]
    while todo:
        if len(leaves) + len(todo) > max_leaves:
            return None
        label = todo.pop()
        depth = len(label)
        if depth == max_depth or (depth >= min_depth and unit() >= split_prob):
            leaves.append(label)
        else:
            todo += [label + "1", label + "0"]
    return leaves


def _solve(params: Params, cycle: tuple[Axis, ...]) -> list[str]:
    return dyadic_boxes.neighbours(
        params.leaves, cycle, AXES[params.dimension], params.target
    )


def _closed(cycle: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """Return the cycle as one reads it who takes an equal last entry for the way back."""
    return cycle[:-1] if len(cycle) > 1 and cycle[0] == cycle[-1] else cycle


def _whole_faces(params: Params, right: list[str]) -> list[str]:
    """Return the neighbours whose shared piece is the whole side or face of both boxes."""
    place = dyadic_boxes.boxes(params.leaves, params.axis_cycle, AXES[params.dimension])
    return [
        leaf
        for leaf in right
        if sum(a != b for a, b in zip(place[leaf], place[params.target], strict=True))
        == 1
    ]


def _lies_at(box: dyadic_boxes.Box, depth: int, where: str) -> bool:
    outside = any(low == 0 or high == 1 << depth for low, high in box)
    return where == "anywhere" or outside == (where == "boundary")
