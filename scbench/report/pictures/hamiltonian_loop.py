"""A grid with blocked cells, and the tour that an answer makes of it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts
from scbench.report.pictures.shared.path_text import joint
from scbench.schemas.hamiltonian_loop import Answer, Params

# Steps drawn of a longer tour; the largest grid has 10,000 cells.
_MOST_STEPS = 12_000
# Grids up to this size show the number of each step.
_NUMBERED = 8

Cell = tuple[int, int]


_MOVES = {(1, 0): "rl", (-1, 0): "lr", (0, 1): "du", (0, -1): "ud"}


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the grid; with an answer the tour, its jumps, and cells left out or entered again."""
    n = params.size
    free = n * n - len(params.blocked)
    if answer is None:
        drawing = _tour_grid(params, outside=False)
        counts = f"{n} x {n} cells, {len(params.blocked)} of them blocked"
        caption = f"{counts}: visit all {free} others."
        text = "\n".join(_tour_rows(params, {}))
        panel = Panel("the grid", drawing, caption)
        return Picture((panel,), caption, (("rock", "blocked"),), text)
    cells: list[Cell] = [
        (step["xy"][0], step["xy"][1]) for step in answer.steps[:_MOST_STEPS]
    ]
    legend: Legend = [("rock", "blocked")]
    drawing = _tour_grid(params, outside=verdicts.failed("inside"))
    _draw_tour(drawing, params, cells, verdicts, legend)
    caption = _caption(answer, verdicts, free)
    rows = list(_tour_rows(params, _links(cells)))
    text = "\n".join((*rows, *_sign_meanings(rows)))
    return Picture((Panel("the tour", drawing, caption),), caption, tuple(legend), text)


def _tour_grid(params: Params, *, outside: bool) -> Drawing:
    n = params.size
    room = 1.0 if outside else 0.0
    size = min(max(24 * n, 240), 640)
    drawing = Drawing(
        (0.5 - room, 0.5 - room, n + 0.5 + room, n + 0.5 + room), size=size, up=False
    )
    ticks = [i + 0.5 for i in range(n + 1)]
    drawing.strokes([[(0.5, t), (n + 0.5, t)] for t in ticks], "faint")
    drawing.strokes([[(t, 0.5), (t, n + 0.5)] for t in ticks], "faint")
    drawing.tiles([(x - 0.5, y - 0.5) for x, y in params.blocked], "rock", opacity=0.75)
    drawing.line(rectangle((0.5, 0.5), (n + 0.5, n + 0.5)), "ink", closed=True)
    every = 1 if drawing.scale >= 14 else 10
    for i in sorted({1, *range(every, n + 1, every)}):
        drawing.text((i, 0.5), i, "quiet", size=9, shift=(0, -8))
        drawing.text((0.5, i), i, "quiet", size=9, shift=(-8, 0))
    return drawing


def _draw_tour(
    drawing: Drawing,
    params: Params,
    cells: Sequence[Cell],
    verdicts: Verdicts,
    legend: Legend,
) -> None:
    missing = [(x - 0.5, y - 0.5) for x, y in verdicts.metrics.get("missing", ())]
    drawing.tiles(missing, "missing", hatched=True, opacity=0.6, tip="not visited")
    places = [drawing.nearest(cell) for cell in cells]
    jumps = {i for i in verdicts.failures.get("adjacent", ()) if i < len(cells)}
    role = "right" if verdicts and verdicts[0].score == 1 else "answer"
    thick = min(max(drawing.scale / 8, 1.5), 4)
    run: list[tuple[float, float]] = []
    for i, place in enumerate(places):
        if i in jumps:
            drawing.line(run, role, width=thick)
            run = []
        run.append(place)
    closed = verdicts.passed("closed")
    drawing.line(
        [*run, places[0]] if closed and len(cells) > 2 else run, role, width=thick
    )
    for i in sorted(jumps):
        ends = places[i - 1 : i + 1]
        tip = f"step {i + 1} does not lead to a neighbour"
        drawing.line(ends, "wrong", width=thick + 0.5, tip=tip, arrow=True)
    _mark_cells(drawing, cells, verdicts, legend)
    open_end = closed is False and len(cells) > 1
    if open_end:
        drawing.line(
            [places[-1], places[0]], "wrong", width=2.5, dashed=True, tip="not closed"
        )
        drawing.cross(places[-1], "wrong", radius=max(drawing.scale / 4, 4), width=3)
    start = places[0]
    drawing.dot(start, "ink", radius=max(min(drawing.scale / 4, 7), 3), tip="start")
    if len(places) > 1:
        (ax, ay), (bx, by) = places[:2]
        length = max(abs(bx - ax), abs(by - ay), 1.0)
        ahead = (ax + 0.75 * (bx - ax) / length, ay + 0.75 * (by - ay) / length)
        drawing.line([start, ahead], "ink", width=2, arrow=True)
    if params.size <= _NUMBERED:
        numbered: set[Cell] = set()
        for i, (cell, place) in enumerate(zip(cells, places, strict=True)):
            if cell not in numbered:
                drawing.text(
                    place, i + 1, "quiet", size=9, shift=(-drawing.scale / 3, 10)
                )
            numbered.add(cell)
    legend.insert(0, (role, "the tour, from the dot"))
    wrong = texts("hamiltonian_loop.wrong")
    legend += [("wrong", wrong["jumps"])] * bool(jumps)
    legend += [("wrong", wrong["open_end"])] * open_end
    legend.append(("missing", "hatched: not visited"))


def _mark_cells(
    drawing: Drawing, cells: Sequence[Cell], verdicts: Verdicts, legend: Legend
) -> None:
    failed = verdicts.failures
    radius = min(max(drawing.scale * 0.42, 4), 14)
    repeated = verdicts.metrics.get("repeated", ())
    for x, y in repeated:
        drawing.ring((x, y), "wrong", radius=radius, width=2.5, tip="visited again")
    entered = {cells[i] for i in failed.get("free", ()) if i < len(cells)}
    for cell in sorted(entered):
        drawing.cross(cell, "wrong", radius=radius * 0.7, width=3)
    away = {
        drawing.nearest(cells[i]) for i in failed.get("inside", ()) if i < len(cells)
    }
    for place in sorted(away):
        drawing.ring(place, "wrong", radius=5, width=2.5, tip="outside the grid")
        drawing.cross(place, "wrong", radius=3, width=2)
    marked = {"repeated": repeated, "entered": entered, "away": away}
    wrong = texts("hamiltonian_loop.wrong")
    legend += [("wrong", wrong[kind]) for kind, places in marked.items() if places]


def _caption(answer: Answer, verdicts: Verdicts, free: int) -> str:
    n = len(answer.steps)
    summary = f"{n} cell{'s' * (n != 1)} listed"
    if n > _MOST_STEPS:
        summary += f", the first {_MOST_STEPS} drawn"
    if not verdicts:
        return f"{summary}."
    if "visited" not in verdicts.metrics:
        return f"{summary}, but only {free} are free; {verdicts.fraction}."
    parts = [f"{summary}; {verdicts.metrics['visited']} of {free} free cells visited"]
    for check_id, words in texts("hamiltonian_loop.faults").items():
        count = verdicts.details(check_id).get("count", 0)
        if count:
            limit_note = (
                " (50 are marked)" if check_id != "repeats" and count > 50 else ""
            )
            parts.append(
                f"{count} {words if count > 1 else words.removesuffix('s')}{limit_note}"
            )
    if verdicts.failed("closed"):
        parts.append("the end does not meet the start")
    return f"{'; '.join(parts)}; {verdicts.fraction}."


def _links(cells: Sequence[Cell]) -> Mapping[Cell, set[str]]:
    """Return for each cell of a tour the sides through which it is entered and left."""
    links: dict[Cell, set[str]] = {cell: set() for cell in cells}
    for (ax, ay), (bx, by) in pairwise((*cells, cells[0])):
        move = _MOVES.get((bx - ax, by - ay))
        if move:
            links[ax, ay].add(move[0])
            links[bx, by].add(move[1])
    return links


def _tour_rows(params: Params, links: Mapping[Cell, set[str]]) -> Iterable[str]:
    """Yield the rows of the grid as text; a second character joins neighbours side by side."""
    n = params.size
    blocked = set(params.blocked)
    for y in range(1, n + 1):
        row = []
        for x in range(1, n + 1):
            sides = links.get((x, y))
            sign = "#" if (x, y) in blocked else "."
            row.append(sign if sides is None else joint(sides, "*"))
            if n <= 58:
                row.append("─" if sides and "r" in sides else " ")
        yield "".join(row).rstrip()


def _sign_meanings(rows: Sequence[str]) -> Iterable[str]:
    """Yield an empty line, and what the signs in the rows mean that are no lines."""
    meanings = {
        ".": "not visited",
        "#": "blocked",
        "*": "entered more than once, or by a jump",
    }
    key = [
        f"{sign} {words}"
        for sign, words in meanings.items()
        if any(sign in r for r in rows)
    ]
    yield from ("", ", ".join(key)) if key else ()
