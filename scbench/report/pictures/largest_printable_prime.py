"""Pictures of a tower of digits: each digit above the one below it, and a side view."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain
from typing import NamedTuple

from scbench.base.wording import counted
from scbench.graders.largest_printable_prime import HEIGHTS, groups, pose
from scbench.graders.largest_printable_prime.poses import Pose, Stand
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Panel, Picture, Verdicts, wrong_line
from scbench.schemas.largest_printable_prime import Answer, Orientation, Params

# Maximum number of digits drawn from above, and from the side.
MOST_GLYPHS = 240
MOST_LAYERS = 1_000
# Space for a digit, and between groups, in millimetres.
WIDTH = 18.0
HEIGHT = 35.0
GAP = 7.0
GROUPS_PER_ROW = 4
SHAPES_PER_ROW = 7
# Height at which an unprintable digit is drawn, in tenths of a millimetre.
UNPRINTABLE_HEIGHT = 12
# Minimum pixels from label to label along the tower.
LABEL_DISTANCE = 10
# Ends of the segments' bars, in millimetres from the middle of a digit.
BARS = {
    "a": ((-5, 10), (5, 10)),
    "b": ((5, 0), (5, 10)),
    "c": ((5, -10), (5, 0)),
    "d": ((-5, -10), (5, -10)),
    "e": ((-5, -10), (-5, 0)),
    "f": ((-5, 0), (-5, 10)),
    "g": ((-5, 0), (5, 0)),
}
# Digits that can be printed upright, and how they are turned.
UPRIGHT: tuple[tuple[int, Orientation], ...] = (
    (1, "rotate90X"),
    (3, "rotate90Y"),
    (7, "rotate90Y"),
    (7, "rotate90X"),
)
FAULTS = {
    "resource_limit": "too large to grade",
    "prime": "the number is not a prime",
    "stack": "{n} digits do not fit on the one below, first at position {first[stack]}"
    "|{n} digit does not fit on the one below, at position {first[stack]}",
    "printable": "{n} digits cannot be printed as oriented, first at position {first[printable]}"
    "|{n} digit cannot be printed as oriented, at position {first[printable]}",
    "allowed": "{n} digits are not permitted, first at position {first[allowed]}"
    "|{n} digit is not permitted, at position {first[allowed]}",
    "groups": "{first[groups]} occurs more than once",
    "leading_zero": "it begins with 0",
    "max_digits": "the limit is {most}",
}
# Signs for turned flat digits, by orientation: a turned 6 looks like a 9.
TURN_SIGNS = {"flippedX": " X", "flippedY": " Y", "rotate180Z": " Z"}
TASK_LEGEND = (
    ("answer", "flat digit, from above"),
    ("note", "upright digit, from the front"),
)
LEGEND = (
    ("answer", "flat digit, turned: X flippedX, Y flippedY, Z rotate180Z"),
    ("given", "the digit below it"),
    ("note", "upright digit, from the front"),
    ("water", "side view: groups alternate between two blues"),
)

XY = tuple[float, float]
# Left, right, bottom and top, in millimetres.
Bar = tuple[float, float, float, float]


class Digit(NamedTuple):
    """A digit of the tower and its errors.

    Attributes:
        digit: its value.
        segments: letters of its bars.
        pose: how it is printed; None if it cannot be printed in its orientation.
        below: pose of the digit below it; None if there is none.
        unsupported: whether it cannot be printed on the digit below.
        banned: whether the item does not permit it.
        sign: sign of its orientation, see `TURN_SIGNS`.
    """

    digit: int
    segments: str
    pose: Pose | None
    below: Pose | None = None
    unsupported: bool = False
    banned: bool = False
    sign: str = ""

    @property
    def unprintable(self) -> bool:
        """Whether no tower may contain it."""
        return self.banned or self.pose is None

    @property
    def faulty(self) -> bool:
        """Whether anything is wrong with it."""
        return self.unsupported or self.unprintable

    @property
    def tenths(self) -> int:
        """Height in tenths of a millimetre."""
        return HEIGHTS[self.pose.stand] if self.pose else UNPRINTABLE_HEIGHT


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the shapes of the digits, or a tower of them with the errors of each digit."""
    if answer is None:
        return digit_shapes(params, verdicts)
    digits = tower_digits(params, answer, verdicts)
    repeated = set(verdicts.failures.get("groups", ()))
    caption = answer_caption(params, answer, verdicts)
    count = len(answer.numberSequence)
    if count > MOST_GLYPHS:
        caption += (
            f" Only the first {MOST_GLYPHS} of {count} digits are drawn one by one."
        )
    composite = verdicts.failed("prime")
    plan = from_above(params, digits[:MOST_GLYPHS], repeated, composite)
    # The number is grouped from its last digit, so its first group may be shorter.
    first_group = count % params.group or params.group
    side = from_the_side(params, digits, first_group)
    title = "digit by digit, from the bottom up"
    panels = [
        Panel(title, plan, f"The digits one by one. {caption}"),
        Panel("the tower from the side", side, f"The tower. {caption}"),
    ]
    panels += gauge_panels(gauges(params, verdicts))
    framed = any(digit.unsupported for digit in digits)
    crossed_out = any(digit.unprintable for digit in digits)
    wrong = {
        "framed: cannot be printed on the one below (thick bars have no support)": framed,
        "crossed out: cannot be printed in this orientation": crossed_out,
        "shaded: a group that occurs more than once": repeated,
    }
    legend = (*LEGEND, *wrong_line(wrong))
    text = text_view(params, digits, repeated)
    return Picture(tuple(panels), caption, legend, text)


def digit_shapes(params: Params, verdicts: Verdicts) -> Picture:
    """Return the picture of the permitted digits, flat and upright."""
    turns: list[tuple[int, Orientation]] = [(digit, "flat") for digit in params.digits]
    for digit, turn in UPRIGHT:
        if digit in params.digits and turn in params.orientations:
            turns.append((digit, turn))
    rows = -(-len(turns) // SHAPES_PER_ROW)
    width = SHAPES_PER_ROW * WIDTH
    drawing = Drawing((0, 0, width, rows * HEIGHT), size=width * 2.4)
    for i, (digit, turn) in enumerate(turns):
        segments = params.segments[digit]
        x = (i % SHAPES_PER_ROW + 0.5) * WIDTH
        y = (rows - 1 - i // SHAPES_PER_ROW + 0.5) * HEIGHT
        shape = Digit(digit, segments, pose(digit, turn, segments))
        draw_glyph(drawing, (x, y), shape)
    caption = (
        f"Task: a prime number with as many of these digits as possible, printed as a tower that "
        f"is taller than {params.target_height_mm:g} mm."
    )
    if verdicts:
        caption = f"There is no tower to draw. {caption}"
    return Picture((Panel("the digits", drawing, caption),), caption, TASK_LEGEND)


def tower_digits(params: Params, answer: Answer, verdicts: Verdicts) -> list[Digit]:
    """Return the digits of an answer that are drawn, from the bottom up."""
    failed = verdicts.failures
    unsupported = set(failed.get("stack", ()))
    banned = {*failed.get("allowed", ()), *failed.get("printable", ())}
    tower: list[Digit] = []
    below: Pose | None = None
    for i, item in enumerate(answer.numberSequence[:MOST_LAYERS]):
        segments = params.segments[item.digit]
        current = pose(item.digit, item.orientation, segments)
        sign = TURN_SIGNS.get(item.orientation, "")
        tower.append(
            Digit(
                item.digit,
                segments,
                current,
                below,
                i in unsupported,
                i in banned,
                sign,
            )
        )
        below = current
    return tower


def from_above(
    params: Params, digits: Sequence[Digit], repeated: set[str], composite: bool
) -> Drawing:
    """Return a table of digits in groups, in the order of the number."""
    parts = number_groups(params, digits)
    pitch = params.group * WIDTH + GAP
    columns = max(1, min(GROUPS_PER_ROW, len(parts)))
    rows = max(1, -(-len(parts) // columns))
    width = columns * pitch - GAP
    # Room for a line of text.
    top = rows * HEIGHT + 9 if composite else rows * HEIGHT
    drawing = Drawing((0, 0, width, top), size=2.3 * max(width, top), margin=10)
    i = 0
    for k, part in enumerate(parts):
        x = k % columns * pitch + (params.group - len(part)) * WIDTH
        y = (rows - 1 - k // columns) * HEIGHT
        if part in repeated:
            corners = rectangle((x, y + 1), (x + len(part) * WIDTH, y + HEIGHT - 1))
            drawing.area(corners, "wrong", opacity=0.12)
            drawing.line(corners, "wrong", closed=True, width=2.5)
        for _ in part:
            draw_glyph(drawing, (x + WIDTH / 2, y + HEIGHT / 2), digits[i], i)
            x += WIDTH
            i += 1
    if composite:
        place = (width / 2, top - 3)
        drawing.text(place, "✗ this number is not a prime", "wrong", size=13, bold=True)
    return drawing


def number_groups(params: Params, digits: Sequence[Digit]) -> Sequence[str]:
    """Return the number in groups of digits, as the grader makes them."""
    return groups("".join(str(digit.digit) for digit in digits), params.group)


def draw_glyph(
    drawing: Drawing, centre: XY, digit: Digit, position: int | None = None
) -> None:
    """Draw one digit above the one below it, if that one lies flat."""
    x = centre[0]
    y = centre[1] + 2.5
    size = drawing.scale
    if digit.below is not None:
        # A pose has segments only if it is flat.
        bars = bars_at((x, y), digit.below.segments)
        drawing.strokes(bars, "given", width=2.6 * size)
    tip = "" if position is None else f"position {position}: {digit.digit}"
    if digit.pose is None:
        bars = bars_at((x, y), digit.segments)
        drawing.strokes(bars, "quiet", width=size, tip=tip)
    elif digit.pose.stand is Stand.FLAT:
        hanging = hanging_segments(digit)
        bars = bars_at((x, y), digit.pose.segments - hanging)
        drawing.strokes(bars, "answer", width=1.2 * size, tip=tip)
        drawing.strokes(bars_at((x, y), hanging), "wrong", width=2 * size, tip=tip)
    else:
        role = "wrong" if digit.unsupported else "note"
        bars = upright_bars((x, y), digit.segments, digit.pose.stand)
        drawing.strokes(bars, role, width=1.4 * size, tip=tip)
        lowest = min(v for _, v in chain.from_iterable(bars))
        floor = lowest - 1.4
        drawing.line([(x - 7, floor), (x + 7, floor)], "ink", width=1)
    role = "wrong" if digit.faulty else "ink"
    label = f"{digit.digit}{digit.sign}"
    drawing.text((x, y - 15.5), label, role, size=11, bold=digit.faulty)
    if digit.unsupported:
        low = (x - 8, y - 12)
        high = (x + 8, y + 12)
        drawing.box(low, high, "wrong", opacity=0, edge="wrong", width=2)
    if digit.unprintable:
        drawing.cross((x, y), "wrong", radius=7.5 * size, width=2.5)


def bars_at(centre: XY, segments: Collection[str]) -> list[list[XY]]:
    """Return the bars of a digit that lies flat, in order of their letters."""
    x, y = centre
    bars = []
    for segment in sorted(segments):
        ends = BARS[segment]
        bars.append([(x + u, y + v) for u, v in ends])
    return bars


def hanging_segments(digit: Digit) -> frozenset[str]:
    """Return the bars of a flat digit that make it unsupported."""
    if digit.pose is None or digit.below is None or not digit.unsupported:
        return frozenset()
    return digit.pose.segments - digit.below.segments


def upright_bars(centre: XY, segments: str, stand: Stand) -> list[list[XY]]:
    """Return the bars of a digit that stands upright, as seen from the front."""
    x, y = centre
    bars = []
    for segment in sorted(segments):
        bar = []
        for point in BARS[segment]:
            u, v = upright_point(stand, point)
            bar.append((x + u, y + v))
        bars.append(bar)
    return bars


def upright_point(stand: Stand, point: XY) -> XY:
    """Return the place of a digit's point in the front view of the upright digit."""
    x, y = point
    if stand is Stand.ON_SIDE:
        return y * 0.75, -x
    if stand is Stand.ON_HEAD:
        return x, -y
    return x - 5, y


def from_the_side(params: Params, digits: Sequence[Digit], first_group: int) -> Drawing:
    """Return the tower seen along y.

    Args:
        params: the instance.
        digits: digits of the tower, from the bottom up.
        first_group: digits of the number's first group.
    """
    total = sum(digit.tenths for digit in digits) / 10
    limit = params.target_height_mm
    top = max(total, limit) * 1.05 + 1
    half = max(14.0, top * 0.22)
    drawing = Drawing((-half, 0, half, top), size=430, margin=22)
    drawing.line([(-half, 0), (half, 0)], "ink", width=2)
    drawing.line([(-half, limit), (half, limit)], "quiet", width=1.5, dashed=True)
    words = f"{limit:g} mm"
    drawing.text((-half, limit), words, "quiet", size=10, anchor="start", shift=(0, -7))
    label_side(drawing, params, digits, first_group, half)
    draw_side_bars(drawing, params, digits, first_group)
    if all(digit.pose for digit in digits):
        words = f"{total:g} mm"
        drawing.text((8, total), words, anchor="start", bold=True, shift=(0, -4))
    return drawing


def label_side(
    drawing: Drawing,
    params: Params,
    digits: Sequence[Digit],
    first_group: int,
    half: float,
) -> None:
    """Write the groups next to the tower and point at faulty digits; `half` is half its width."""
    z, start = 0.0, 0.0
    group = ""
    last_label = -1e9
    for i, digit in enumerate(digits):
        if digit.faulty:
            middle = z + digit.tenths / 10 / 2
            path = [(half * 0.95, middle), (7, middle)]
            drawing.line(path, "wrong", width=2, arrow=True)
        group += str(digit.digit)
        z += digit.tenths / 10
        is_last = i + 1 == len(digits)
        if is_last or (i + 1 - first_group) % params.group == 0:
            middle = (start + z) / 2
            # Labels that would cover the one below are left out.
            if (middle - last_label) * drawing.scale >= LABEL_DISTANCE:
                drawing.text((-7, middle), group, size=9, anchor="end")
                last_label = middle
            group = ""
            start = z


def draw_side_bars(
    drawing: Drawing, params: Params, digits: Sequence[Digit], first_group: int
) -> None:
    """Draw the bars of the tower; groups alternate between two colours."""
    # Corners of bars by role, width and height: identical ones are drawn as one shape.
    corners: dict[tuple[str, float, float], list[XY]] = {}
    z, anchor = 0.0, 0.0
    for i, digit in enumerate(digits):
        group = (i - first_group) // params.group + 1 if i >= first_group else 0
        role = "water" if group % 2 else "answer"
        if digit.faulty:
            role = "wrong"
        for left_edge, right_edge, low, high in front_bars(digit, anchor):
            look = (role, right_edge - left_edge, high - low)
            corners.setdefault(look, []).append((left_edge, z + low))
        anchor = next_anchor(digit, anchor)
        z += digit.tenths / 10
    for (role, width, height), places in sorted(corners.items()):
        drawing.tiles(places, role, size=(width, height))


def front_bars(digit: Digit, anchor: float) -> list[Bar]:
    """Return the bars of a digit in the front view; upright ones are at `anchor`."""
    across = (-5.5, 5.5, 0.0, 1.0)
    if digit.pose is None:
        return [across]
    match digit.pose.stand:
        case Stand.FLAT:
            segments = digit.pose.segments
            if segments & set("adg"):
                return [across]
            bars = []
            if segments & set("bc"):
                bars.append((4.5, 5.5, 0.0, 1.0))
            if segments & set("ef"):
                bars.append((-5.5, -4.5, 0.0, 1.0))
            return bars
        case Stand.ON_SIDE:
            return [(anchor - 0.5, anchor + 0.5, 0.0, 11.0)]
        case Stand.ON_HEAD:
            return [across, (4.5, 5.5, 1.0, 21.0)]
        case _:
            return [(anchor - 0.5, anchor + 0.5, 0.0, 21.0)]


def next_anchor(digit: Digit, anchor: float) -> float:
    """Return the horizontal position of an upright digit on this one."""
    if digit.pose is None:
        return anchor
    if digit.pose.stand is Stand.ON_HEAD:
        return 5.0
    if digit.pose.stand is not Stand.FLAT:
        return anchor
    # Upright digits need a whole side of the digit below, or its middle.
    if {"b", "c"} <= digit.pose.segments:
        return 5.0
    return -5.0 if {"e", "f"} <= digit.pose.segments else 0.0


def gauges(params: Params, verdicts: Verdicts) -> list[Gauge]:
    """Return bars for the digits and the height, if the verdict contains them."""
    metrics = verdicts.metrics
    if "digits" not in metrics:
        return []
    long = verdicts.passed("length")
    bars = [Gauge("digits", metrics["digits"], params.best_digits, long)]
    height = metrics.get("height_mm")
    if height is not None:
        tall = verdicts.passed("height")
        target = params.target_height_mm
        bars.append(Gauge("height", height, target, tall, "more than", " mm"))
    return bars


def answer_caption(params: Params, answer: Answer, verdicts: Verdicts) -> str:
    """Return the number of digits, their errors, and the score."""
    count = len(answer.numberSequence)
    digits = counted(count, "digit")
    if not verdicts:
        return f"{digits}."
    first = {
        check_id: items[0] for check_id, items in verdicts.failures.items() if items
    }
    faults = verdicts.faults(FAULTS, first=first, most=params.max_digits)
    summary = "; ".join(faults) or "a prime that can be printed"
    return f"{digits}: {summary}. {verdicts.fraction.capitalize()}."


def text_view(params: Params, digits: Sequence[Digit], repeated: set[str]) -> str:
    """Return the number in groups, with signs for its errors below."""
    parts = number_groups(params, digits)
    per_line = 100 // (params.group + 1)
    counts = Counter(parts)
    lines = []
    i = 0
    for k in range(0, len(parts), per_line):
        line = parts[k : k + per_line]
        marks = []
        for part in line:
            plain = "=" if part in repeated and counts[part] > 1 else " "
            signs = ["^" if d.faulty else plain for d in digits[i : i + len(part)]]
            marks.append("".join(signs))
            i += len(part)
        lines.append(",".join(line))
        below = " ".join(marks).rstrip()
        if below:
            lines.append(below)
    if any(set("^=") & set(line) for line in lines):
        lines += [
            "",
            "^: cannot be printed there; =: a group that occurs more than once",
        ]
    return "\n".join(lines)
