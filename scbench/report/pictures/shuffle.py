"""Swaps as lanes: each thing is a line that changes lanes at a swap."""

from collections.abc import Sequence

from scbench.graders.shared.short_answers import option, quote
from scbench.report.draw.colours import series
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts, texts
from scbench.report.pictures.shared.tables import (
    Cell,
    Row,
    mark,
    table_text,
    text_picture,
)
from scbench.schemas.shuffle import Answer, Params

_STEP, _LANE, _LEFT_MARGIN, _RIGHT_MARGIN = 26, 30, 150, 150
# Events drawn beside each other; what follows goes on below.
_ACROSS = 40
_LINES = 10


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw a lane for each person; with an answer the way of every thing, and the end of one."""
    holdings = [list(range(len(params.things)))]
    for swaps, a, b, _ in params.events:
        now = list(holdings[-1])
        if swaps:
            now[a], now[b] = now[b], now[a]
        holdings.append(now)
    count = sum(event[0] for event in params.events)
    person = params.people[params.asked]
    caption = verdicts.caption(
        f"{count} swaps in {len(params.events)} events; what does {person} have at the end?"
    )
    option_index = (
        option(answer.answer, params.options) if answer and verdicts.wrong else None
    )
    mistake = ""
    if verdicts.wrong:
        answered = "nothing" if answer is None else quote(answer.answer)
        mistake = answered if option_index is None else params.options[option_index]
    drawing = _lanes(params, holdings, bool(verdicts), mistake)
    rows: list[Row] = [("at first", *(params.things[i] for i in holdings[0]))]
    for i, (is_swap, a, b, _) in enumerate(params.events, 1):
        what = f"{params.people[a]}, {params.people[b]} {'swap' if is_swap else 'meet'}"
        rows.append(
            (
                f"{i} {what}",
                *((params.things[k] for k in holdings[i]) if verdicts else ()),
            )
        )
    if verdicts:
        end: list[Cell | object] = [params.things[k] for k in holdings[-1]]
        end[params.asked] = Cell(end[params.asked], "right")
        rows.append(("at the end", *end))
    if mistake:
        blank = ["" for _ in params.people]
        blank[params.asked] = mistake
        rows.append(
            ("given", *(Cell(words, "wrong" if words else "") for words in blank))
        )
    text = table_text(("", *params.people), rows)
    return text_picture(
        [Panel("lanes", drawing, caption)], caption, text, texts("shuffle.legend")
    )


def _lanes(
    params: Params, holdings: Sequence[Sequence[int]], solved: bool, mistake: str
) -> Drawing:
    people, events = len(params.people), params.events
    lines = [
        range(i, min(i + _ACROSS, len(events))) for i in range(0, len(events), _ACROSS)
    ]
    lines = lines[:_LINES] or [range(0)]
    block = (people + 1) * _LANE
    size = (
        _LEFT_MARGIN + (max(map(len, lines)) + 1) * _STEP + _RIGHT_MARGIN,
        block * len(lines),
    )
    drawing = Drawing((0, 0, *size), size=max(size), up=False, margin=6)
    final = holdings[-1][params.asked]
    for n, line in enumerate(lines):
        top = n * block

        def at(
            step: int, lane: int, line: range = line, top: int = top
        ) -> tuple[float, float]:
            return _LEFT_MARGIN + (step - line.start) * _STEP, top + (
                lane + 0.5
            ) * _LANE

        for lane, name in enumerate(params.people):
            place = at(line.start, lane)
            low, high = (2, place[1] - 11), (_LEFT_MARGIN - 8, place[1] + 11)
            mark(drawing, low, high, "target" if lane == params.asked else "")
            words = params.things[holdings[line.start][lane]] if solved or not n else ""
            drawing.text(
                (8, place[1]), f"{name}: {words}"[:23], size=11, anchor="start"
            )
            if not solved:
                drawing.line([place, at(line.stop, lane)], "faint", width=1.5)
        for i in line:
            swap, a, b, _ = events[i]
            x = at(i, 0)[0] + _STEP / 2
            ends = [(x, at(i, a)[1]), (x, at(i, b)[1])]
            drawing.line(
                ends, "given", width=1.2, dashed=not swap, tip=f"event {i + 1}"
            )
        for thing in range(people) if solved else ():
            path = []
            for i in range(line.start, line.stop + 1):
                lane = holdings[i].index(thing)
                x, y = at(i, lane)
                path += [(x - _STEP / 5, y), (x + _STEP / 5, y)]
            role, width, opacity = (
                ("right", 4.5, 1.0) if thing == final else (series(thing), 1.8, 0.6)
            )
            drawing.line(path, role, width=width, opacity=opacity)
        if line.stop == len(events) and solved:
            for lane in range(people):
                x, y = at(line.stop, lane)
                words = params.things[holdings[-1][lane]]
                drawing.text(
                    (x + 12, y),
                    words[:20],
                    size=11,
                    anchor="start",
                    bold=lane == params.asked,
                )
                if lane == params.asked:
                    mark(
                        drawing,
                        (x + 8, y - 11),
                        (x + _RIGHT_MARGIN - 6, y + 11),
                        "right",
                    )
            if mistake:
                y = top + (people + 0.5) * _LANE
                mark(drawing, (x + 8, y - 11), (x + _RIGHT_MARGIN - 6, y + 11), "wrong")
                drawing.text(
                    (x + 12, y),
                    f"not {mistake}"[:20],
                    "wrong",
                    size=11,
                    anchor="start",
                    bold=True,
                )
    return drawing
