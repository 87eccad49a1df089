"""Brackets at the depth at which they stand, and the stack of those that are still open."""

from collections.abc import Sequence

from scbench.graders.shared.short_answers import unspaced
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts, texts
from scbench.report.pictures.shared.tables import (
    Cell,
    Row,
    mark,
    table_panels,
    table_text,
    text_picture,
)
from scbench.schemas.bracket_stack import PAIRS, Answer, Params

_STEP, _LINE, _ACROSS = 11, 13, 66
_LINES = 8
_CLOSES = {pair[0]: pair[1] for pair in PAIRS}


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the brackets by depth; with an answer those still open, and what closes each."""
    stack: list[int] = []
    depth = []
    for i, bracket in enumerate(params.sequence):
        if bracket in _CLOSES:
            stack.append(i)
        depth.append(len(stack))
        if bracket not in _CLOSES:
            stack.pop()
    still = stack if verdicts else []
    count = len(params.sequence)
    caption = verdicts.caption(f"{count} brackets; what is still open is to be closed.")
    panels = [
        Panel(
            "brackets by depth", _depth_drawing(params.sequence, depth, still), caption
        )
    ]
    head = ("place", "open", "needs", "given")
    rows = _stack(params.sequence, still, answer) if verdicts else []
    if rows:
        panels += table_panels("the stack, top first", head, rows, caption)
    text = f"{params.sequence}\n\n{table_text(head, rows)}" if rows else params.sequence
    return text_picture(panels, caption, text, texts("bracket_stack.legend"))


def _stack(sequence: str, still: Sequence[int], answer: Answer | None) -> list[Row]:
    """Return the open brackets from the top with what closes them, the first fault marked."""
    closing = (unspaced(answer.answer) if answer else None) or ""
    rows: list[Row] = []
    astray = False
    for k, i in enumerate(reversed(still)):
        needs = _CLOSES[sequence[i]]
        bracket = closing[k] if k < len(closing) else ""
        role = (
            ""
            if astray
            else "right"
            if bracket == needs
            else "wrong"
            if bracket
            else "missing"
        )
        astray = astray or bracket != needs
        rows.append((i + 1, sequence[i], needs, Cell(bracket or "-", role)))
    role = "" if astray else "wrong"
    rows += [("", "", "-", Cell(sign, role)) for sign in closing[len(still) :][:5]]
    return rows


def _depth_drawing(
    sequence: str, depth: Sequence[int], still: Sequence[int]
) -> Drawing:
    """Draw every bracket as deep as it stands, in lines; those still open are boxed."""
    lines = [
        range(i, min(i + _ACROSS, len(sequence)))
        for i in range(0, len(sequence), _ACROSS)
    ]
    lines = lines[:_LINES]
    high = [(max(depth[i] for i in line) + 1) * _LINE for line in lines]
    size = (max(map(len, lines)) * _STEP, sum(high))
    drawing = Drawing((0, 0, *size), size=max(size), up=False, margin=10)
    top = 0
    for line, tall in zip(lines, high, strict=True):
        for k, i in enumerate(line):
            place = ((k + 0.5) * _STEP, top + depth[i] * _LINE)
            if i in still:
                low = (place[0] - 5, place[1] - 7)
                mark(
                    drawing,
                    low,
                    (place[0] + 5, place[1] + 6),
                    "target",
                    f"place {i + 1}",
                )
            role = "ink" if i in still else "quiet"
            drawing.text(place, sequence[i], role, size=12, bold=i in still)
        top += tall
    return drawing
