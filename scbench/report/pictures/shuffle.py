"""Swaps as lanes: each thing is a line that changes lanes at a swap."""

from collections.abc import Sequence
from typing import NamedTuple

from scbench.base.wording import counted
from scbench.builders.shuffle import stories
from scbench.graders.shared.answer_text import quote
from scbench.graders.shared.named_options import option
from scbench.report.draw.canvas import pixel_canvas
from scbench.report.draw.colours import series
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts
from scbench.report.pictures.shared.tables import (
    Cell,
    Row,
    mark,
    table_text,
    text_picture,
)
from scbench.schemas.shuffle import Answer, Params

# Pixels from event to event, and from lane to lane.
STEP = 26
LANE = 30
# Pixels for the names at both ends of the lanes.
LEFT_MARGIN = 150
RIGHT_MARGIN = 150
# Number of events drawn next to each other; later ones continue below.
ACROSS = 40
MOST_BLOCKS = 10
LEGEND = {
    "given": "solid line: swap; dashed line: no swap",
    "target": "person asked about",
    "right": "right option",
    "wrong": "answer",
}

# For each moment, the thing that each person has, by number.
Holdings = list[list[int]]


class Block(NamedTuple):
    """Lanes for some of the events.

    Attributes:
        start: the first event.
        stop: the event after the last.
        top: top of the block, in pixels.
    """

    start: int
    stop: int
    top: int

    def at(self, step: int, lane: int) -> tuple[float, float]:
        """Return the place in pixels before an event, in the middle of a lane."""
        x = LEFT_MARGIN + (step - self.start) * STEP
        return x, self.top + (lane + 0.5) * LANE


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw a lane for each person; with an answer, also the path of every thing."""
    swap_count = sum(event[0] for event in params.events)
    person = params.people[params.asked]
    question = stories()[params.domain].question.format(person=person)
    caption = verdicts.caption(
        f"{counted(swap_count, 'swap')} in {counted(len(params.events), 'event')}. "
        + question
    )
    holdings = all_holdings(params)
    mistake = mistaken_thing(params, answer) if verdicts.wrong else ""
    drawing = lane_drawing(params, holdings, bool(verdicts), mistake)
    rows = event_rows(params, holdings, bool(verdicts), mistake)
    text = table_text(("", *params.people), rows)
    return text_picture([Panel("lanes", drawing, caption)], caption, text, LEGEND)


def all_holdings(params: Params) -> Holdings:
    """Return who has which thing at the start and after each event."""
    holdings = [list(range(len(params.things)))]
    for swaps, a, b, _ in params.events:
        things = list(holdings[-1])
        # Without a swap, both keep their things.
        if swaps:
            things[a], things[b] = things[b], things[a]
        holdings.append(things)
    return holdings


def mistaken_thing(params: Params, answer: Answer | None) -> str:
    """Return a wrong answer in words: an option, or a quotation."""
    if answer is None:
        return "none"
    choice = option(answer.answer, params.options)
    return quote(answer.answer) if choice is None else params.options[choice]


def event_rows(
    params: Params, holdings: Holdings, solved: bool, mistake: str
) -> list[Row]:
    """Return a row for each event; if solved, also all things and the final answer."""
    rows: list[Row] = [("at first", *(params.things[i] for i in holdings[0]))]
    for i, (swaps, a, b, _) in enumerate(params.events, 1):
        action = "swap" if swaps else "no swap"
        row = [f"{i} {params.people[a]}, {params.people[b]}: {action}"]
        # The things after each event are the solution.
        if solved:
            row += [params.things[k] for k in holdings[i]]
        rows.append(row)
    if solved:
        end: list[Cell | object] = [params.things[k] for k in holdings[-1]]
        end[params.asked] = Cell(end[params.asked], "right")
        rows.append(("at the end", *end))
    if mistake:
        answered: list[Cell | object] = [""] * len(params.people)
        answered[params.asked] = Cell(mistake, "wrong")
        rows.append(("answer", *answered))
    return rows


def lane_drawing(
    params: Params, holdings: Holdings, solved: bool, mistake: str
) -> Drawing:
    """Return the lanes, in blocks below each other; `mistake` is written at the end."""
    block_height = (len(params.people) + 1) * LANE
    blocks = event_blocks(len(params.events), block_height)
    longest = max(block.stop - block.start for block in blocks)
    # One more step ends each lane.
    width = LEFT_MARGIN + (longest + 1) * STEP + RIGHT_MARGIN
    height = block_height * len(blocks)
    drawing = pixel_canvas(width, height, margin=6)
    for block in blocks:
        draw_names(drawing, params, block, holdings[block.start], solved)
        draw_events(drawing, params, block)
        if solved:
            draw_things(drawing, params, block, holdings)
            if block.stop == len(params.events):
                draw_end(drawing, params, block, holdings[-1], mistake)
    return drawing


def event_blocks(event_count: int, height: int) -> list[Block]:
    """Return the blocks of drawn events, at least one; heights are in pixels."""
    blocks: list[Block] = []
    for start in range(0, event_count, ACROSS):
        stop = min(start + ACROSS, event_count)
        blocks.append(Block(start, stop, len(blocks) * height))
    return blocks[:MOST_BLOCKS] or [Block(0, 0, 0)]


def draw_names(
    drawing: Drawing, params: Params, block: Block, things: Sequence[int], solved: bool
) -> None:
    """Write names and things where the lanes start; draw straight lanes unless solved."""
    for lane, name in enumerate(params.people):
        place = block.at(block.start, lane)
        low = (2, place[1] - 11)
        high = (LEFT_MARGIN - 8, place[1] + 11)
        mark(drawing, low, high, "target" if lane == params.asked else "")
        # The things in between are part of the solution.
        thing = ""
        if solved or block.start == 0:
            thing = params.things[things[lane]]
        drawing.text((8, place[1]), f"{name}: {thing}"[:23], size=11, anchor="start")
        if not solved:
            drawing.line([place, block.at(block.stop, lane)], "faint", width=1.5)


def draw_events(drawing: Drawing, params: Params, block: Block) -> None:
    """Draw a line between two lanes for each event."""
    for i in range(block.start, block.stop):
        swaps, a, b, _ = params.events[i]
        x = block.at(i, 0)[0] + STEP / 2
        ends = [(x, block.at(i, a)[1]), (x, block.at(i, b)[1])]
        tip = f"event {i + 1}"
        drawing.line(ends, "given", width=1.2, dashed=not swaps, tip=tip)


def draw_things(
    drawing: Drawing, params: Params, block: Block, holdings: Holdings
) -> None:
    """Draw the path of each thing through a block; the requested one is thick."""
    final = holdings[-1][params.asked]
    for thing in range(len(params.people)):
        path = []
        for i in range(block.start, block.stop + 1):
            x, y = block.at(i, holdings[i].index(thing))
            # The path is level between events and changes lanes at an event.
            path += [(x - STEP / 5, y), (x + STEP / 5, y)]
        if thing == final:
            drawing.line(path, "right", width=4.5)
        else:
            drawing.line(path, series(thing), width=1.8, opacity=0.6)


def draw_end(
    drawing: Drawing,
    params: Params,
    block: Block,
    things: Sequence[int],
    mistake: str,
) -> None:
    """Write the things at the end of the lanes, and a wrong answer below them."""
    for lane, thing in enumerate(things):
        x, y = block.at(block.stop, lane)
        asked_for = lane == params.asked
        words = params.things[thing][:20]
        drawing.text((x + 12, y), words, size=11, anchor="start", bold=asked_for)
        if asked_for:
            mark(drawing, (x + 8, y - 11), (x + RIGHT_MARGIN - 6, y + 11), "right")
    if mistake:
        x, y = block.at(block.stop, len(params.people))
        mark(drawing, (x + 8, y - 11), (x + RIGHT_MARGIN - 6, y + 11), "wrong")
        words = mistake[:20]
        drawing.text((x + 12, y), words, "wrong", size=11, anchor="start", bold=True)
