"""Failed checks as text, for failures that a picture cannot show."""

from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap

from scbench.base.model import Verdict
from scbench.report.draw.canvas import pixel_canvas
from scbench.report.draw.svg import Drawing
from scbench.report.picture import (
    Panel,
    Picture,
    Verdicts,
    is_marked,
    with_matching_legend,
)

# Maximum number of letters in a line, and maximum number of lines.
_LETTERS = 66
_LINES = 14
# Pixels.
_WIDTH = 430
_LINE_HEIGHT = 17


def with_reasons(
    picture: Picture, answer: object, verdicts: Sequence[Verdict]
) -> Picture:
    """Return a picture with the failed checks as text, if nothing in it marks them.

    Its legend keeps only drawn roles. The answer is None if it could not be read.
    """
    picture = with_matching_legend(picture)
    all_verdicts = Verdicts(verdicts)
    messages = {
        check.id: check.message
        for check in all_verdicts.checks
        if check.passed is False
    }
    # An unreadable answer cannot be shown in the picture.
    if not messages or (answer is not None and is_marked(picture)):
        return picture
    problem = "the failure cannot be shown in the picture"
    if answer is None:
        problem = "the answer cannot be drawn"
    lines = [f"{all_verdicts.fraction.capitalize()}: {problem}."]
    for check_id, message in messages.items():
        lines += wrap(f"{check_id}: {message}", _LETTERS)
    if len(lines) > _LINES:
        hidden = len(lines) - _LINES + 1
        lines = [*lines[: _LINES - 1], f"and {hidden} more lines"]
    panel = Panel("failed checks", banner(lines), " ".join(lines))
    return replace(picture, panels=(panel, *picture.panels))


def banner(lines: Sequence[str]) -> Drawing:
    """Return lines of text in a frame, the first of them as a heading."""
    height = _LINE_HEIGHT * len(lines) + 16
    drawing = pixel_canvas(_WIDTH, height, margin=4)
    drawing.box(
        (0, 0), (_WIDTH, height), "wrong", opacity=0.08, edge="wrong", width=2.5
    )
    for i, line in enumerate(lines):
        is_heading = i == 0
        role = "wrong" if is_heading else "ink"
        place = (10, _LINE_HEIGHT * i + 16)
        drawing.text(place, line, role, size=12, anchor="start", bold=is_heading)
    return drawing
