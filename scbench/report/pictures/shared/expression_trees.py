"""Expressions as trees with the value of every step and a slip that explains an answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scbench.base.wording import counted
from scbench.report.draw.canvas import pixel_canvas
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts
from scbench.report.pictures.shared.tables import mark, text_picture
from scbench.report.pictures.shared.wording import shortened

# Maximum number of operands in a drawn expression.
MOST_LEAVES = 64
# Minimum pixels of a node.
_WIDTH = 46
_HEIGHT = 46
# Maximum number of characters shown of a value; tooltips and terminals show all.
_LONGEST = 9
_LEGEND = {
    "right": "the right value",
    "wrong": "where the answer may have gone wrong",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A step of an expression, or an operand (number or truth value).

    Attributes:
        words: the operator, or the number or truth value as written.
        below: positions of its operands in the list of nodes; none for an operand.
    """

    words: str
    below: tuple[int, ...] = ()


class Rules(NamedTuple):
    """Rules for reading and evaluating an expression.

    Attributes:
        ranks: ranks of binary operators; a higher rank binds closer.
        value: returns a node's value from its words and the values below it; None if there is no
            value.
        write: returns a value in words.
        slips: returns likely wrong values of a step, from its words, the values below
            and its value.
        prefix: the unary operator, which binds closest.
    """

    ranks: Mapping[str, int]
    value: Callable[[str, Sequence[Any]], Any]
    write: Callable[[Any], str]
    slips: Callable[[str, Sequence[Any], Any], Iterable[Any]]
    prefix: str = ""


class Remark(NamedTuple):
    """A remark on a node: the colour of its box, and words below it."""

    role: str
    words: str = ""


class Slip(NamedTuple):
    """A step, by its position in the list of nodes, and the wrong value assumed for it."""

    step: int
    value: Any


def tree_picture(
    tokens: Sequence[str],
    rules: Rules,
    answered: Any,  # noqa: ANN401
    verdicts: Verdicts,
) -> Picture:
    """Return the tree of an expression; for a wrong answer, also the likely mistake.

    Args:
        tokens: the expression.
        rules: how to read it.
        answered: the answer; None if it could not be read.
        verdicts: verdicts on the answer; without any, no value is shown.
    """
    nodes = parsed(tokens, rules)
    leaves = sum(not node.below for node in nodes)
    if leaves > MOST_LEAVES:
        return placeholder(leaves, verdicts)
    size = counted(leaves, "value")
    caption = f"An expression with {size}, worked out from the bottom up."
    values: list[Any] = [None] * len(nodes)
    remarks: dict[int, Remark] = {}
    last = len(nodes) - 1
    if verdicts:
        values = worked_out(nodes, rules)
        remarks[last] = Remark("right")
    if verdicts.wrong and answered is None:
        remarks[last] = Remark("wrong", "unreadable")
    elif verdicts.wrong:
        slip = first_slip(nodes, rules, answered)
        step, value = slip or (last, answered)
        wording = rules.write(value)
        remarks[step] = Remark("wrong", f"{wording}?")
        if slip and step < last:
            caption += (
                f" If the marked step gave {wording}, the result would be this answer."
            )
    caption = verdicts.caption(caption)
    texts = [None if value is None else rules.write(value) for value in values]
    panel = Panel("steps", tree_drawing(nodes, texts, remarks), caption)
    text = "\n".join(tree_lines(nodes, texts, remarks))
    return text_picture([panel], caption, text, _LEGEND)


def placeholder(leaves: int, verdicts: Verdicts) -> Picture:
    """Return a picture with the size of an expression instead of its tree."""
    words = f"{leaves} values, too many to draw"
    caption = verdicts.caption(f"An expression with {words}.")
    drawing = pixel_canvas(420, 40, margin=16)
    role = "wrong" if verdicts.wrong else "ink"
    drawing.text((210, 20), words, role, size=13)
    return text_picture([Panel("steps", drawing, caption)], caption, caption)


def parsed(tokens: Sequence[str], rules: Rules) -> list[Node]:
    """Return the steps of an expression in evaluation order; the last is the whole.

    Operators of equal rank are evaluated from left to right.
    """
    # Two stacks: pending operators, and positions of their values.
    nodes: list[Node] = []
    values: list[int] = []
    waiting: list[str] = []

    def apply() -> None:
        operator = waiting.pop()
        count = 1 if operator == rules.prefix else 2
        below = tuple(values[-count:])
        del values[-count:]
        values.append(len(nodes))
        nodes.append(Node(operator, below))

    for word in tokens:
        if word in {"(", rules.prefix}:
            waiting.append(word)
        elif word == ")":
            while waiting[-1] != "(":
                apply()
            waiting.pop()
        elif word in rules.ranks:
            rank = rules.ranks[word]
            # The prefix has no rank; it binds closer than any operator.
            while (
                waiting
                and waiting[-1] != "("
                and rules.ranks.get(waiting[-1], 99) >= rank
            ):
                apply()
            waiting.append(word)
        else:
            values.append(len(nodes))
            nodes.append(Node(word))
    while waiting:
        apply()
    return nodes


def worked_out(
    nodes: Sequence[Node], rules: Rules, slip: Slip | None = None
) -> list[Any]:
    """Return the value of every node, None for nodes without one; a slip changes later values."""
    values: list[Any] = []
    for i, node in enumerate(nodes):
        below = [values[k] for k in node.below]
        if slip and i == slip.step:
            values.append(slip.value)
        elif None in below:
            values.append(None)
        else:
            values.append(rules.value(node.words, below))
    return values


def first_slip(
    nodes: Sequence[Node],
    rules: Rules,
    answered: Any,  # noqa: ANN401
) -> Slip | None:
    """Return the first slip that leads to the given answer."""
    values = worked_out(nodes, rules)
    for i, node in enumerate(nodes):
        if not node.below:
            continue
        below = [values[k] for k in node.below]
        for value in rules.slips(node.words, below, values[i]):
            slip = Slip(i, value)
            if value != values[i] and worked_out(nodes, rules, slip)[-1] == answered:
                return slip
    return None


def tree_drawing(
    nodes: Sequence[Node], values: Sequence[str | None], remarks: Mapping[int, Remark]
) -> Drawing:
    """Return the tree with the whole at the top, and the value of each step below its operator."""
    depth = depths(nodes)
    columns = node_columns(nodes)
    leaves = sum(not node.below for node in nodes)
    longest = max((len(value) for value in values if value), default=3)
    width = max(_WIDTH, 7 * min(longest, _LONGEST) + 8)
    height = (max(depth) + 1) * _HEIGHT
    drawing = pixel_canvas(max(leaves, 4) * width, height, margin=10)
    places = [
        ((column + 0.5) * width, (level + 0.5) * _HEIGHT)
        for column, level in zip(columns, depth, strict=True)
    ]
    # Draw all lines first, so that boxes cover their ends.
    for place, node in zip(places, nodes, strict=True):
        branches = [[place, places[k]] for k in node.below]
        drawing.strokes(branches, "given", width=1.5)
    for i, (x, y) in enumerate(places):
        node = nodes[i]
        value = values[i]
        remark = remarks.get(i, Remark(""))
        lines = [node.words]
        if node.below and value:
            lines.append(value)
        half_width = width / 2 - 3
        half_height = 10 if len(lines) == 1 else 15
        low = (x - half_width, y - half_height)
        high = (x + half_width, y + half_height)
        drawing.box(low, high, "paper", edge="given", width=1, tip=value or "")
        mark(drawing, low, high, remark.role, remark.words)
        for k, words in enumerate(lines):
            cut = shortened(words, _LONGEST)
            shift = (0, 14 * (k - (len(lines) - 1) / 2))
            operator = k == 0 and bool(node.below)
            bold = bool(remark.role) or operator
            letters = 12 if operator else 11
            drawing.text((x, y), cut, size=letters, shift=shift, bold=bold)
        if remark.words:
            shift = (0, half_height + 8)
            words = remark.words[:18]
            drawing.text((x, y), words, "wrong", size=11, shift=shift, bold=True)
    return drawing


def depths(nodes: Sequence[Node]) -> list[int]:
    """Return the level of each node, counted from the whole downwards."""
    depth = [0] * len(nodes)
    # Nodes come after their operands, so in reverse each node follows its parent.
    for i in reversed(range(len(nodes))):
        for k in nodes[i].below:
            depth[k] = depth[i] + 1
    return depth


def node_columns(nodes: Sequence[Node]) -> list[float]:
    """Return the column of each node: leaves in order, steps centred above their operands."""
    columns: list[float] = []
    leaf = 0
    for node in nodes:
        if node.below:
            columns.append(sum(columns[k] for k in node.below) / len(node.below))
        else:
            columns.append(leaf)
            leaf += 1
    return columns


def tree_lines(
    nodes: Sequence[Node], values: Sequence[str | None], remarks: Mapping[int, Remark]
) -> Iterator[str]:
    """Yield the tree as lines of text: each step before the nodes below it."""
    waiting = [(len(nodes) - 1, 0)]
    while waiting:
        at, depth = waiting.pop()
        node = nodes[at]
        value = values[at]
        line = f"{'  ' * depth}{node.words}"
        if node.below and value is not None:
            line += f" = {value}"
        remark = remarks.get(at, Remark(""))
        if remark.role == "wrong":
            line += f"  <- {remark.words}"
        yield line
        waiting += [(k, depth + 1) for k in reversed(node.below)]
