"""A grid with numbers, and the rectangles that an answer cuts it into."""

from collections.abc import Sequence

from scbench.report.draw.colours import series
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts
from scbench.schemas.shikaku_rectangles import Answer, Params

# Rectangles drawn of an answer that lists more.
_MOST_RECTANGLES = 1000
# Grids with more cells are drawn without the numbers of every row and column.
_CELLS = 3600
# Columns up to which there is a text form: numbers take up to three characters.
_WIDEST = 40
# Colours of rectangles: all series but the one that says wrong.
_PALE = (0, 4, 2, 3, 5)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

Rectangle = tuple[int, int, int, int]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the numbers; with an answer its rectangles, and where they break a rule."""
    clues = sum(value > 0 for row in params.grid for value in row)
    if answer is None:
        drawing = _clue_drawing(params, 0)
        _draw_clues(drawing, params, [])
        caption = (
            f"{params.width} x {params.height} cells to be cut into {clues} rectangles, each with "
            "one number, which is its area."
        )
        numbers = "\n".join(_number_rows(params)) if params.width <= _WIDEST else None
        return Picture((Panel("the grid", drawing, caption),), caption, text=numbers)
    legend: Legend = []
    outside = bool(verdicts.failures.get("inside"))
    drawing = _clue_drawing(params, 1 if outside else 0)
    _draw_rectangles(drawing, params, answer, verdicts, legend)
    caption = _caption(answer, verdicts, clues)
    picture = Panel("the cut", drawing, caption)
    text = _text(params, answer, verdicts)
    return Picture((picture,), caption, tuple(legend), text)


def _clue_drawing(params: Params, room: int) -> Drawing:
    w, h = params.width, params.height
    size = min(max(26 * max(w, h), 220), 520)
    drawing = Drawing(
        (-room, -room, w + room, h + room), size=size, up=False, margin=22
    )
    drawing.box((0, 0), (w, h), "paper")
    return drawing


def _draw_clues(
    drawing: Drawing, params: Params, open_clues: Sequence[Sequence[int]]
) -> None:
    w, h = params.width, params.height
    lines = [[(x, 0), (x, h)] for x in range(w + 1)] + [
        [(0, y), (w, y)] for y in range(h + 1)
    ]
    drawing.strokes(lines, "faint", width=0.7)
    drawing.line(rectangle((0, 0), (w, h)), "ink", closed=True, width=2)
    cell = drawing.scale
    for x, y in open_clues:
        drawing.ring(
            (x + 0.5, y + 0.5), "wrong", radius=min(max(cell * 0.46, 5), 13), width=2.5
        )
    for y, row in enumerate(params.grid):
        for x, value in enumerate(row):
            if value and cell >= 7:
                size = min(max(cell * 0.5, 8), 14)
                drawing.text((x + 0.5, y + 0.5), min(value, 9999), size=size, bold=True)
    if w * h <= _CELLS:
        every = 1 if cell >= 14 else 5
        for x in range(0, w, every):
            drawing.text((x + 0.5, 0), x, "quiet", size=9, shift=(0, -10))
        for y in range(0, h, every):
            drawing.text((0, y + 0.5), y, "quiet", size=9, shift=(-11, 0))


def _corners_near(piece: Sequence[int], params: Params) -> Rectangle:
    """Return the corners a rectangle is drawn with, in order, not far outside the grid."""
    left_edge, top, right_edge, bottom = piece
    w, h = params.width, params.height
    return (
        min(left_edge, right_edge, w),
        min(top, bottom, h),
        min(max(left_edge, right_edge), w) + 1,
        min(max(top, bottom), h) + 1,
    )


def _draw_rectangles(
    drawing: Drawing, params: Params, answer: Answer, verdicts: Verdicts, legend: Legend
) -> None:
    metrics = verdicts.metrics
    kinds = ("corners", "inside", "one_clue", "area")
    wrong = {i for check_id in kinds for i in verdicts.failures.get(check_id, ())}
    rectangles = list(answer.rectangles[:_MOST_RECTANGLES])
    for i, piece in enumerate(rectangles):
        left_edge, top, right_edge, bottom = _corners_near(piece, params)
        gap = min(2 / drawing.scale, 0.2)
        low, high = (left_edge + gap, top + gap), (right_edge - gap, bottom - gap)
        role = series(_PALE[i % len(_PALE)])
        tip = f"number {i} of the list: {[min(value, 10**6) for value in piece]}"
        if i in wrong:
            drawing.box(
                low, high, "wrong", opacity=0.15, edge="wrong", width=3.5, tip=tip
            )
        else:
            drawing.box(low, high, role, opacity=0.3, edge=role, width=2, tip=tip)
    uncovered = [tuple(cell) for cell in metrics.get("uncovered", ())]
    overlapped = [tuple(cell) for cell in metrics.get("overlapped", ())]
    drawing.tiles(
        uncovered, "missing", hatched=True, opacity=0.55, tip="in no rectangle"
    )
    drawing.tiles(overlapped, "ink", opacity=0.25, tip="in two rectangles or more")
    marks = []
    for x, y in overlapped:
        corners = rectangle((x + 0.12, y + 0.12), (x + 0.88, y + 0.88))
        marks += [corners[::2], corners[1::2]]
    drawing.strokes(marks, "wrong", width=2)
    open_clues = metrics.get("open_clues", ())
    _draw_clues(drawing, params, open_clues)
    for i in verdicts.failures.get("corners", ()):
        if i < len(rectangles):
            left_edge, top, right_edge, bottom = _corners_near(rectangles[i], params)
            middle = ((left_edge + right_edge) / 2, (top + bottom) / 2)
            drawing.cross(middle, "wrong", radius=7, width=3)
    plain = [i for i in range(len(rectangles)) if i not in wrong]
    if plain:
        role = series(_PALE[plain[0] % len(_PALE)])
        legend.append((role, "rectangles, each in a colour of its own"))
    broken = texts("shikaku_rectangles.wrong")
    legend += [("wrong", broken["rectangles"])] * bool(wrong)
    legend += [("wrong", broken["overlapped"])] * bool(overlapped)
    legend.append(("missing", "hatched: cells in no rectangle"))
    legend += [("wrong", broken["open_clues"])] * bool(open_clues)


def _caption(answer: Answer, verdicts: Verdicts, clues: int) -> str:
    n = len(answer.rectangles)
    summary = f"{n} rectangle{'s' * (n != 1)}"
    if n > _MOST_RECTANGLES:
        summary += f" (the first {_MOST_RECTANGLES} are drawn)"
    if not verdicts:
        return f"{summary}."
    metrics = verdicts.metrics
    if "open_clues" not in metrics:
        return f"{summary}, more than there are cells; {verdicts.fraction}."
    right = clues - len(metrics["open_clues"])
    parts = [f"{summary}; {right} of {clues} numbers have one of their area"]
    for name, words in (
        ("overlapped", "covered more than once"),
        ("uncovered", "left over"),
    ):
        count = len(metrics[name])
        parts += [f"{count} cell{'s' * (count > 1)} {words}"] if count else []
    outside = len(verdicts.failures.get("inside", ()))
    parts += [f"{outside} outside the grid"] if outside else []
    return f"{'; '.join(parts)}; {verdicts.fraction}."


def _number_rows(params: Params) -> list[str]:
    width = max(len(str(value)) for row in params.grid for value in row)
    return [
        " ".join(f"{value or '.':>{width}}" for value in row) for row in params.grid
    ]


def _text(params: Params, answer: Answer, verdicts: Verdicts) -> str | None:
    """Return the numbers, and below them a letter for the rectangle of each cell."""
    if params.width > _WIDEST or params.width * params.height > _CELLS:
        return None
    table = [["."] * params.width for _ in range(params.height)]
    for i, piece in enumerate(answer.rectangles[:_MOST_RECTANGLES]):
        left_edge, top, right_edge, bottom = _corners_near(piece, params)
        for y in range(top, min(bottom, params.height)):
            for x in range(left_edge, min(right_edge, params.width)):
                table[y][x] = _LETTERS[i % len(_LETTERS)]
    for x, y in verdicts.metrics.get("overlapped", ()):
        table[y][x] = "#"
    key = "rectangles; . is left over, # is covered more than once"
    return "\n".join(
        [*_number_rows(params), "", key, *(" ".join(row) for row in table)]
    )
