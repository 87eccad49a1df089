"""Brackets by depth, and the stack of those that are still open."""

from collections.abc import Sequence

from scbench.base.wording import counted
from scbench.graders.shared.short_answers import without_spaces
from scbench.report.draw.canvas import pixel_canvas
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts
from scbench.report.pictures.shared.tables import (
    Cell,
    Row,
    mark,
    table_panels,
    table_text,
    text_picture,
)
from scbench.schemas.bracket_stack import PAIRS, Answer, Params

# Pixels from one bracket to the next, and from one depth to the next.
_STEP = 11
_LEVEL = 13
# Brackets in a line, and lines that are drawn.
_ACROSS = 66
_LINES = 8
# Maximum number of surplus brackets listed of an answer.
_MOST_SURPLUS = 5
_CLOSES = {pair[0]: pair[1] for pair in PAIRS}
_HEAD = ("position", "open", "closed by", "answer")
_LEGEND = {
    "target": "still open",
    "right": "closed correctly",
    "wrong": "first mistake",
    "missing": "bracket missing from the answer",
}


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw brackets by depth; with an answer, also open brackets and how it closes each."""
    sequence = params.sequence
    stack: list[int] = []
    depths = []
    # A bracket and the one that closes it have the same depth.
    for i, bracket in enumerate(sequence):
        if bracket in _CLOSES:
            stack.append(i)
        depths.append(len(stack))
        if bracket not in _CLOSES:
            stack.pop()
    text = sequence
    task = (
        f"{counted(len(sequence), 'bracket')}. Close the brackets that are still open."
    )
    if len(sequence) > _ACROSS * _LINES:
        task += f" The first {_ACROSS * _LINES} are drawn."
    caption = verdicts.caption(task)
    drawing = depth_drawing(sequence, depths, stack if verdicts else [])
    panels = [Panel("brackets by depth", drawing, caption)]
    closing = (without_spaces(answer.answer) if answer else None) or ""
    rows = stack_rows(sequence, stack, closing) if verdicts else []
    if rows:
        panels += table_panels("open brackets, last first", _HEAD, rows, caption)
        text = f"{sequence}\n\n{table_text(_HEAD, rows)}"
    return text_picture(panels, caption, text, _LEGEND)


def depth_drawing(
    sequence: str, depths: Sequence[int], still_open: Sequence[int]
) -> Drawing:
    """Draw every bracket at its depth, in lines; brackets that are still open have a box."""
    count = min(len(sequence), _ACROSS * _LINES)
    lines = []
    heights = []
    for start in range(0, count, _ACROSS):
        stop = min(start + _ACROSS, count)
        deepest = max(depths[start:stop])
        lines.append(range(start, stop))
        heights.append((deepest + 1) * _LEVEL)
    width = max(map(len, lines)) * _STEP
    drawing = pixel_canvas(width, sum(heights), margin=10)
    top = 0
    for line, height in zip(lines, heights, strict=True):
        for k, i in enumerate(line):
            x = (k + 0.5) * _STEP
            y = top + depths[i] * _LEVEL
            role = "quiet"
            if i in still_open:
                role = "ink"
                low = (x - 5, y - 7)
                high = (x + 5, y + 6)
                mark(drawing, low, high, "target", f"position {i + 1}")
            drawing.text((x, y), sequence[i], role, size=12, bold=i in still_open)
        top += height
    return drawing


def stack_rows(sequence: str, stack: Sequence[int], closing: str) -> list[Row]:
    """Return the open brackets from the top, and how an answer closes each.

    The first mistake is marked; brackets after it are neither right nor wrong.
    """
    rows: list[Row] = []
    astray = False
    for k, i in enumerate(reversed(stack)):
        needs = _CLOSES[sequence[i]]
        bracket = closing[k] if k < len(closing) else ""
        if astray:
            role = ""
        elif bracket == needs:
            role = "right"
        else:
            role = "wrong" if bracket else "missing"
            astray = True
        rows.append((i + 1, sequence[i], needs, Cell(bracket or "-", role)))
    role = "" if astray else "wrong"
    surplus = closing[len(stack) :][:_MOST_SURPLUS]
    return rows + [("", "", "-", Cell(bracket, role)) for bracket in surplus]
