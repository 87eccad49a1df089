"""Expressions as trees with the value of every step, and the first slip that gives an answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts, texts
from scbench.report.pictures.shared.tables import mark, text_picture

# Numbers or truth values of an expression that is drawn.
MOST_LEAVES = 64
_WIDTH, _HEIGHT = 46, 46
# Characters of a value; all of them are shown where the pointer rests, and in a
# terminal.
_LONGEST = 9


@dataclass(frozen=True, slots=True)
class Node:
    """A step of an expression, or what it begins with.

    Attributes:
        words: the operator, or the number or truth value as written.
        below: places of what it works on, in the list of nodes; none for a number or truth value.
    """

    words: str
    below: tuple[int, ...] = ()


class Rules(NamedTuple):
    """How an expression is read and worked out.

    Attributes:
        ranks: of operators between two values; the higher binds closer.
        value: of a node, from its words and the values below it; None if it has none.
        write: a value in words.
        slips: values that a step could be taken for, from its words, the values below and its own.
        prefix: an operator before one value, which binds closest.
    """

    ranks: Mapping[str, int]
    value: Callable[[str, Sequence[Any]], Any]
    write: Callable[[Any], str]
    slips: Callable[[str, Sequence[Any], Any], Iterable[Any]]
    prefix: str = ""


def parsed(tokens: Sequence[str], rules: Rules) -> list[Node]:
    """Return the steps of an expression in the order in which they are worked out; the last is all.

    Operators of one rank are taken from left to right.
    """
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
    nodes: Sequence[Node],
    rules: Rules,
    at: int = -1,
    instead: Any = None,  # noqa: ANN401
) -> list[Any]:
    """Return the value of every node; with ``at``, as if that one had another value."""
    values: list[Any] = []
    for i, node in enumerate(nodes):
        below = [values[k] for k in node.below]
        complete = None not in below
        values.append(
            instead if i == at else rules.value(node.words, below) if complete else None
        )
    return values


def first_slip(
    nodes: Sequence[Node],
    rules: Rules,
    answered: Any,  # noqa: ANN401
) -> tuple[int, Any] | None:
    """Return the first step, and its value, that makes the whole what was answered."""
    values = worked_out(nodes, rules)
    for i, node in enumerate(nodes):
        if not node.below:
            continue
        for slip in rules.slips(node.words, [values[k] for k in node.below], values[i]):
            if slip != values[i] and worked_out(nodes, rules, i, slip)[-1] == answered:
                return i, slip
    return None


def tree_picture(
    tokens: Sequence[str],
    rules: Rules,
    answered: Any,  # noqa: ANN401
    verdicts: Verdicts,
) -> Picture:
    """Return the tree of an expression; of a wrong answer, the step that may have gone wrong.

    Args:
        tokens: the expression.
        rules: how to read it.
        answered: the answer; None if it could not be read.
        verdicts: on the answer; without any, no value is shown.
    """
    nodes = parsed(tokens, rules)
    leaves = sum(not node.below for node in nodes)
    caption = (
        f"An expression of {leaves} values, worked out from the bottom to the top."
    )
    values = worked_out(nodes, rules) if verdicts else [None] * len(nodes)
    if leaves > MOST_LEAVES:
        caption = verdicts.caption(
            f"An expression of {leaves} values, too many to be drawn."
        )
        drawing = Drawing((0, 0, 420, 40), size=420, up=False)
        role = "wrong" if verdicts.wrong else "ink"
        drawing.text((210, 20), f"{leaves} values, too many to be drawn", role, size=13)
        return text_picture([Panel("steps", drawing, caption)], caption, caption)
    marks = {len(nodes) - 1: ("right", "")} if verdicts else {}
    if verdicts.wrong:
        slip = first_slip(nodes, rules, answered) if answered is not None else None
        at, value = slip or (len(nodes) - 1, answered)
        remark = "not read" if answered is None else f"{rules.write(value)}?"
        marks[at] = ("wrong", remark)
        if slip and at < len(nodes) - 1:
            caption += (
                f" Taking one step for {rules.write(value)} gives the answer (marked)."
            )
    caption = verdicts.caption(caption)
    drawing = _tree(
        nodes, [None if v is None else rules.write(v) for v in values], marks
    )
    text = "\n".join(_tree_lines(nodes, rules, values, marks))
    return text_picture(
        [Panel("steps", drawing, caption)],
        caption,
        text,
        texts("expression_trees.legend"),
    )


def _tree(
    nodes: Sequence[Node],
    values: Sequence[str | None],
    marks: Mapping[int, tuple[str, str]],
) -> Drawing:
    across: list[float] = []
    up: list[int] = []
    leaf = 0
    for node in nodes:
        if node.below:
            across.append(sum(across[k] for k in node.below) / len(node.below))
            up.append(1 + max(up[k] for k in node.below))
        else:
            across.append(leaf)
            up.append(0)
            leaf += 1
    depth = [0] * len(nodes)
    for i in reversed(range(len(nodes))):
        for k in nodes[i].below:
            depth[k] = depth[i] + 1
    widest = max((len(v) for v in values if v), default=3)
    width = max(_WIDTH, 7 * min(widest, _LONGEST) + 8)
    size = (max(leaf, 4) * width, (max(depth) + 1) * _HEIGHT)
    drawing = Drawing((0, 0, *size), size=max(size), up=False, margin=10)
    place = [
        ((x + 0.5) * width, (d + 0.5) * _HEIGHT)
        for x, d in zip(across, depth, strict=True)
    ]
    for i, node in enumerate(nodes):
        drawing.strokes([[place[i], place[k]] for k in node.below], "given", width=1.5)
    for i, (node, value) in enumerate(zip(nodes, values, strict=True)):
        x, y = place[i]
        role, remark = marks.get(i, ("", ""))
        half = (width / 2 - 3, 15 if node.below and value else 10)
        low, high = (x - half[0], y - half[1]), (x + half[0], y + half[1])
        drawing.box(low, high, "paper", edge="given", width=1, tip=value or "")
        mark(drawing, low, high, role, remark)
        lines = [node.words, *([value] if node.below and value else [])]
        for k, words in enumerate(lines):
            cut = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
            shift = (0, 14 * (k - (len(lines) - 1) / 2))
            head = not k and bool(node.below)
            bold = bool(role) or head
            drawing.text((x, y), cut, size=11 + head, shift=shift, bold=bold)
        if remark:
            drawing.text(
                (x, y), remark[:18], "wrong", size=11, shift=(0, half[1] + 8), bold=True
            )
    return drawing


def _tree_lines(
    nodes: Sequence[Node],
    rules: Rules,
    values: Sequence[Any],
    marks: Mapping[int, tuple[str, str]],
) -> Iterator[str]:
    """Yield the tree as lines of text: each step before what it works on."""
    waiting = [(len(nodes) - 1, 0)]
    while waiting:
        at, depth = waiting.pop()
        node = nodes[at]
        value = (
            ""
            if values[at] is None or not node.below
            else f" = {rules.write(values[at])}"
        )
        role, remark = marks.get(at, ("", ""))
        sign = f"  <- {remark}" if role == "wrong" else ""
        yield f"{'  ' * depth}{node.words}{value}{sign}"
        waiting += [(k, depth + 1) for k in reversed(node.below)]
