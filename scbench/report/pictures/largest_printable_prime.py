"""A tower of digits: each on the one below it, from above, and the whole tower from the side."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from scbench.graders.largest_printable_prime import HEIGHTS, Pose, Stand, groups, pose
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Panel, Picture, Verdicts, texts, wrong_line
from scbench.schemas.largest_printable_prime import Answer, Params

# Digits drawn from above of a longer tower.
_GLYPHS = 240
# Digits drawn from the side.
_LAYERS = 1_000
_WIDTH, _HEIGHT = 18.0, 35.0
"""Room for a digit, in millimetres."""
_GAP = 7.0
_GROUPS_PER_ROW = 4

# Ends of the segments' bars, in millimetres.
_BARS = {
    "a": ((-5, 10), (5, 10)),
    "b": ((5, 0), (5, 10)),
    "c": ((5, -10), (5, 0)),
    "d": ((-5, -10), (5, -10)),
    "e": ((-5, -10), (-5, 0)),
    "f": ((-5, 0), (-5, 10)),
    "g": ((-5, 0), (5, 0)),
}

# Digits that can stand, and how they are turned for it.
_UPRIGHT: tuple[tuple[int, Literal["rotate90X", "rotate90Y"]], ...] = (
    *((1, "rotate90X"), (3, "rotate90Y")),
    *((7, "rotate90Y"), (7, "rotate90X")),
)

XY = tuple[float, float]


class _Digit(NamedTuple):
    """A digit of the tower and what is wrong with it."""

    digit: int
    segments: str
    pose: Pose | None
    below: Pose | None = None
    unsupported: bool = False
    banned: bool = False

    @property
    def faulty(self) -> bool:
        return self.unsupported or self.banned or self.pose is None

    @property
    def tall(self) -> float:
        """Height in millimetres."""
        return (HEIGHTS[self.pose.stand] if self.pose else 12) / 10


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the shapes of the digits, or a tower of them with what breaks the rules."""
    if answer is None:
        return _digit_shapes(params, verdicts)
    digits = _tower_digits(params, answer, verdicts)
    repeated = set(verdicts.failures.get("groups", ()))
    caption = _caption(params, answer, verdicts)
    glyphs = _from_above(params, digits[:_GLYPHS], repeated, verdicts)
    side = _from_the_side(params, digits[:_LAYERS], answer)
    if len(answer.numberSequence) > _GLYPHS:
        caption += (
            f" {_GLYPHS} of {len(answer.numberSequence)} digits are shown one by one."
        )
    panels = [
        Panel(
            "digit by digit, from the bottom up",
            glyphs,
            f"The digits in turn. {caption}",
        ),
        Panel("the tower from the side", side, f"The tower. {caption}"),
    ]
    panels += gauge_panels(_gauges(params, verdicts))
    wrong = {
        "framed: cannot be printed on the one below; thick bars hang in the air": any(
            digit.unsupported for digit in digits
        ),
        "crossed out: cannot be printed so": any(
            d.pose is None or d.banned for d in digits
        ),
        "shaded: a group that occurs more than once": repeated,
    }
    legend = [*texts("largest_printable_prime.legend").items(), *wrong_line(wrong)]
    return Picture(
        tuple(panels), caption, tuple(legend), _text(params, digits, repeated)
    )


def _tower_digits(params: Params, answer: Answer, verdicts: Verdicts) -> list[_Digit]:
    failed = verdicts.failures
    unsupported = set(failed.get("stack", ()))
    banned = {*failed.get("allowed", ()), *failed.get("printable", ())}
    tower: list[_Digit] = []
    below: Pose | None = None
    for i, item in enumerate(answer.numberSequence[:_LAYERS]):
        segments = params.segments[item.digit]
        here = pose(item.digit, item.orientation, segments)
        tower.append(
            _Digit(item.digit, segments, here, below, i in unsupported, i in banned)
        )
        below = here
    return tower


def _digit_shapes(params: Params, verdicts: Verdicts) -> Picture:
    shapes = params.segments
    turns = [(digit, "flat") for digit in params.digits]
    turns += [
        t for t in _UPRIGHT if t[0] in params.digits and t[1] in params.orientations
    ]
    glyphs = [_Digit(d, shapes[d], pose(d, turn, shapes[d])) for d, turn in turns]
    columns = 7
    rows = -(-len(glyphs) // columns)
    drawing = Drawing(
        (0, 0, columns * _WIDTH, rows * _HEIGHT), size=columns * _WIDTH * 2.4
    )
    for i, glyph in enumerate(glyphs):
        centre = (
            (i % columns + 0.5) * _WIDTH,
            (rows - 1 - i // columns + 0.5) * _HEIGHT,
        )
        _glyph(drawing, centre, glyph)
    caption = (
        f"A prime number is to be stacked from these digits, printed on each other: as long as "
        f"possible, and taller than {params.target_height_mm:g} mm."
    )
    if verdicts:
        caption = f"There is no tower to draw. {caption}"
    legend = (("answer", "lies flat"), ("note", "stands upright, seen from the front"))
    return Picture((Panel("the digits", drawing, caption),), caption, legend)


def _from_above(
    params: Params, digits: Sequence[_Digit], repeated: set[str], verdicts: Verdicts
) -> Drawing:
    """Return a table of digits in groups, in the order of the number."""
    number = "".join(str(digit.digit) for digit in digits)
    parts = groups(number, params.group)
    pitch = params.group * _WIDTH + _GAP
    columns = max(1, min(_GROUPS_PER_ROW, len(parts)))
    rows = max(1, -(-len(parts) // columns))
    width = columns * pitch - _GAP
    composite = verdicts.passed("prime") is False
    top = rows * _HEIGHT + 9 * composite
    drawing = Drawing((0, 0, width, top), size=2.3 * max(width, top), margin=10)
    i = 0
    for k, part in enumerate(parts):
        left_edge = k % columns * pitch + (params.group - len(part)) * _WIDTH
        bottom = (rows - 1 - k // columns) * _HEIGHT
        if part in repeated:
            right_edge = left_edge + len(part) * _WIDTH
            corners = rectangle(
                (left_edge, bottom + 1), (right_edge, bottom + _HEIGHT - 1)
            )
            drawing.area(corners, "wrong", opacity=0.12)
            drawing.line(corners, "wrong", closed=True, width=2.5)
        for _ in part:
            _glyph(
                drawing, (left_edge + _WIDTH / 2, bottom + _HEIGHT / 2), digits[i], i
            )
            left_edge += _WIDTH
            i += 1
    if composite:
        place = (width / 2, top - 3)
        drawing.text(place, "✗ this number is not a prime", "wrong", size=13, bold=True)
    return drawing


def _glyph(
    drawing: Drawing, centre: XY, digit: _Digit, position: int | None = None
) -> None:
    """Draw one digit, over the one below it if that lies flat."""
    x, y = centre[0], centre[1] + 2.5
    size = drawing.scale

    def bars(segments: Sequence[str]) -> list[list[XY]]:
        return [[(x + u, y + v) for u, v in _BARS[segment]] for segment in segments]

    if digit.below is not None and digit.below.stand is Stand.FLAT:
        drawing.strokes(bars(sorted(digit.below.segments)), "given", width=2.6 * size)
    tip = "" if position is None else f"position {position}: {digit.digit}"
    if digit.pose is None:
        drawing.strokes(bars(sorted(digit.segments)), "quiet", width=size, tip=tip)
    elif digit.pose.stand is Stand.FLAT:
        segments = digit.pose.segments
        hanging: frozenset[str] = frozenset()
        if digit.unsupported and digit.below is not None:
            flat = digit.below.stand is Stand.FLAT
            hanging = segments - digit.below.segments if flat else segments
        drawing.strokes(
            bars(sorted(segments - hanging)), "answer", width=1.2 * size, tip=tip
        )
        drawing.strokes(bars(sorted(hanging)), "wrong", width=2 * size, tip=tip)
    else:
        role = "wrong" if digit.unsupported else "note"
        lines = [
            [
                (x + u, y + v)
                for u, v in (
                    _upright_point(digit.pose.stand, p) for p in _BARS[segment]
                )
            ]
            for segment in sorted(digit.segments)
        ]
        low = min(v for line in lines for _, v in line)
        drawing.strokes(lines, role, width=1.4 * size, tip=tip)
        drawing.line([(x - 7, low - 1.4), (x + 7, low - 1.4)], "ink", width=1)
    role = "wrong" if digit.faulty else "ink"
    drawing.text((x, y - 15.5), digit.digit, role, size=11, bold=digit.faulty)
    if digit.unsupported:
        drawing.box(
            (x - 8, y - 12), (x + 8, y + 12), "wrong", opacity=0, edge="wrong", width=2
        )
    if digit.pose is None or digit.banned:
        drawing.cross((x, y), "wrong", radius=7.5 * size, width=2.5)


def _upright_point(stand: Stand, point: XY) -> XY:
    """Return where a point of a digit is seen once the digit stands upright."""
    x, y = point
    if stand is Stand.ON_SIDE:
        return y * 0.75, -x
    return (x, -y) if stand is Stand.ON_HEAD else (x - 5, y)


def _from_the_side(params: Params, digits: Sequence[_Digit], answer: Answer) -> Drawing:
    """Return the tower seen along y, bottom of the tower at the bottom."""
    first = len(answer.numberSequence) % params.group or params.group
    total = sum(HEIGHTS[d.pose.stand] if d.pose else 12 for d in digits) / 10
    top = max(total, params.target_height_mm) * 1.05 + 1
    half = max(14.0, top * 0.22)
    drawing = Drawing((-half, 0, half, top), size=430, margin=22)
    drawing.line([(-half, 0), (half, 0)], "ink", width=2)
    limit = params.target_height_mm
    drawing.line([(-half, limit), (half, limit)], "quiet", width=1.5, dashed=True)
    words = f"{limit:g} mm"
    drawing.text((-half, limit), words, "quiet", size=10, anchor="start", shift=(0, -7))
    z, anchor = 0.0, 0.0
    boxes: dict[tuple[str, float, float], list[XY]] = {}
    run, start = "", 0.0
    labelled = -1e9
    for i, digit in enumerate(digits):
        group = (i - first) // params.group + 1 if i >= first else 0
        role = "wrong" if digit.faulty else ("answer", "water")[group % 2]
        for left_edge, right_edge, low, high in _front(digit, anchor):
            size = (role, right_edge - left_edge, high - low)
            boxes.setdefault(size, []).append((left_edge, z + low))
        anchor = _anchor(digit, anchor)
        if digit.faulty:
            middle = z + digit.tall / 2
            drawing.line(
                [(half * 0.95, middle), (7, middle)], "wrong", width=2, arrow=True
            )
        run += str(digit.digit)
        z += digit.tall
        last = i + 1 == len(digits)
        if last or (i + 1 - first) % params.group == 0:
            middle = (start + z) / 2
            if (middle - labelled) * drawing.scale >= 10:
                drawing.text((-7, middle), run, size=9, anchor="end")
                labelled = middle
            run, start = "", z
    for (role, width, high), corners in sorted(boxes.items()):
        drawing.tiles(corners, role, size=(width, high))
    if all(digit.pose for digit in digits):
        drawing.text(
            (8, total), f"{total:g} mm", anchor="start", bold=True, shift=(0, -4)
        )
    return drawing


def _front(digit: _Digit, anchor: float) -> list[tuple[float, float, float, float]]:
    """Return what is seen of a digit from the front: left, right, bottom and top of each bar."""
    if digit.pose is None:
        return [(-5.5, 5.5, 0.0, 1.0)]
    match digit.pose.stand:
        case Stand.FLAT:
            segments = digit.pose.segments
            if segments & set("adg"):
                return [(-5.5, 5.5, 0.0, 1.0)]
            sides = [
                x for x, letters in ((5, "bc"), (-5, "ef")) if segments & set(letters)
            ]
            return [(x - 0.5, x + 0.5, 0.0, 1.0) for x in sides]
        case Stand.ON_SIDE:
            return [(anchor - 0.5, anchor + 0.5, 0.0, 11.0)]
        case Stand.ON_HEAD:
            return [(-5.5, 5.5, 0.0, 1.0), (4.5, 5.5, 1.0, 21.0)]
        case _:
            return [(anchor - 0.5, anchor + 0.5, 0.0, 21.0)]


def _anchor(digit: _Digit, before: float) -> float:
    """Return where, from left to right, an upright digit stands on this one."""
    if digit.pose is None:
        return before
    if digit.pose.stand is Stand.FLAT:
        segments = digit.pose.segments
        if {"b", "c"} <= segments:
            return 5.0
        return -5.0 if {"e", "f"} <= segments else 0.0
    return 5.0 if digit.pose.stand is Stand.ON_HEAD else before


def _gauges(params: Params, verdicts: Verdicts) -> list[Gauge]:
    metrics = verdicts.metrics
    if "digits" not in metrics:
        return []
    gauges = [
        Gauge(
            "digits", metrics["digits"], params.best_digits, verdicts.passed("length")
        )
    ]
    if metrics.get("height_mm") is not None:
        tall = verdicts.passed("height")
        height = metrics["height_mm"]
        gauges.append(
            Gauge("height", height, params.target_height_mm, tall, "more than", " mm")
        )
    return gauges


def _caption(params: Params, answer: Answer, verdicts: Verdicts) -> str:
    count = len(answer.numberSequence)
    first = {
        check_id: items[0] for check_id, items in verdicts.failures.items() if items
    }
    words = texts("largest_printable_prime.faults")
    parts = verdicts.faults(words, first=first, most=params.max_digits)
    summary = "; ".join(parts) or "a prime that can be printed"
    head = f"{count} digit{'s' * (count != 1)}"
    if not verdicts:
        return f"{head}."
    return f"{head}: {summary}. {verdicts.fraction.capitalize()}."


def _text(params: Params, digits: Sequence[_Digit], repeated: set[str]) -> str:
    """Return the number in groups; below it, what is wrong where."""
    parts = groups("".join(str(digit.digit) for digit in digits), params.group)
    per_line = 100 // (params.group + 1)
    counts = Counter(parts)
    lines = []
    i = 0
    for k in range(0, len(parts), per_line):
        line = parts[k : k + per_line]
        marks = []
        for part in line:
            here = digits[i : i + len(part)]
            twice = "=" if part in repeated and counts[part] > 1 else " "
            marks.append("".join("^" if digit.faulty else twice for digit in here))
            i += len(part)
        lines.append(",".join(line))
        below = " ".join(marks).rstrip()
        lines += [below] * bool(below)
    if any(set("^=") & set(line) for line in lines):
        lines += ["", "^ cannot be printed there, = a group that occurs more than once"]
    return "\n".join(lines)
