"""Squares, and polygons, with a class at each corner: as tiles of a sheet, and as text.

Corners and sides are counted around the ring, counter-clockwise from the bottom left corner and the
bottom side, which joins the first two corners. A side changes class in its middle.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from scbench.graders.shared.corner_labels import canonical, crossed_sides
from scbench.report.draw.canvas import pixel_canvas
from scbench.report.draw.svg import Drawing
from scbench.report.pictures.shared.tables import side_by_side

Point = tuple[float, float]

# Tiles in a row.
_COLUMNS = 6
# Pixels of a tile: its smallest width, its title, each line below it, and the space around the
# polygon.
_WIDTH = 118.0
_HEAD = 20.0
_FOOT = 15.0
_ROOM = 24.0
# Pixels of half a square's side.
_HALF = 33.0
# Labels from this number on are too long to be written.
_BRIEF = 10**4
# Number of labels written per tuple.
_MOST_LABELS = 6
# Colours of classes, none of which means right or wrong.
_CLASSES = ("c0", "c5", "c3", "c4")
# Signs for a tile's state in a terminal.
_SIGNS = {"": "", "right": "[right]", "wrong": "[WRONG]", "missing": "[MISSING]"}


class Stroke(NamedTuple):
    """A piece of an interface inside a tile: from one place to another, bent towards a third.

    Places are in units of half a square's side from its centre.
    """

    start: Point
    bend: Point
    end: Point
    role: str
    dashed: bool = False
    width: float = 3.0
    tip: str = ""


class Interfaces(NamedTuple):
    """The interfaces of a polygon, and (role, place) of the points where they meet."""

    strokes: tuple[Stroke, ...]
    junctions: tuple[tuple[str, Point], ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """One polygon of a sheet.

    Attributes:
        labels: classes around the ring; empty if they do not form a polygon.
        title: above it.
        state: ``right``, ``wrong``, ``missing``, or empty.
        below: (role, words) of lines under it.
        strokes: interfaces.
        junctions: (role, place) of points where interfaces end.
        sides: words next to the middle of each side, around the ring.
        faults: sides to be crossed out.
        order: corners in the order in which a path numbers them; if given, labels are left out.
        letters: a letter at each corner around the ring, instead of a label.
        corners: number of corners, if there are no labels.
    """

    labels: tuple[int, ...] = ()
    title: str = ""
    state: str = ""
    below: tuple[tuple[str, str], ...] = ()
    strokes: tuple[Stroke, ...] = ()
    junctions: tuple[tuple[str, Point], ...] = ()
    sides: tuple[str, ...] = ()
    faults: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    letters: str = ""
    corners: int = 4

    @property
    def size(self) -> int:
        """Number of corners."""
        return len(self.labels) or self.corners


def sheet(tiles: Sequence[Tile], *, half: float = _HALF) -> Drawing:
    """Return tiles in rows, left to right, top to bottom; half a square's side is in pixels."""
    columns = min(_COLUMNS, len(tiles))
    width = max(_WIDTH, 2 * (half + _ROOM))
    if any(tile.letters for tile in tiles):
        width += 0.6 * half
    lines = max(len(tile.below) for tile in tiles)
    height = _HEAD + 2 * (half + _ROOM) + _FOOT * lines
    if lines:
        height += 6
    rows = math.ceil(len(tiles) / columns)
    drawing = pixel_canvas(columns * width, rows * height, margin=4)
    for i, tile in enumerate(tiles):
        row, column = divmod(i, columns)
        x = column * width
        y = row * height
        draw_state(drawing, tile.state, (x, y), (x + width, y + height))
        draw_tile(drawing, tile, (x + width / 2, y), half)
    return drawing


def draw_state(drawing: Drawing, state: str, low: Point, high: Point) -> None:
    """Draw the frame of a tile between two opposite corners, with a tick or a cross."""
    frame = ((low[0] + 2, low[1] + 2), (high[0] - 2, high[1] - 2))
    x = high[0] - 12
    y = low[1] + 12
    if state == "missing":
        drawing.box(*frame, "missing", hatched=True, opacity=0.3)
        drawing.box(*frame, "missing", opacity=0, edge="missing", dashed=True, width=2)
    elif state == "wrong":
        drawing.box(*frame, "wrong", opacity=0.1, edge="wrong", width=2.5)
        drawing.cross((x, y), "wrong", radius=4.5, width=2.5)
    elif state == "right":
        drawing.box(*frame, "right", opacity=0.08, edge="right", width=1)
        drawing.tick((x, y), "right")


def draw_tile(drawing: Drawing, tile: Tile, top: Point, half: float) -> None:
    """Draw a tile's title, polygon and lines; `top` is the middle of the tile's upper edge."""
    cx = top[0]
    cy = top[1] + _HEAD + half + _ROOM
    k = tile.size

    def at(place: Point) -> Point:
        return cx + place[0] * half, cy - place[1] * half

    title_x = cx
    if tile.state in {"right", "wrong"}:
        # A tick or a cross needs the upper right corner.
        title_x -= 8
    drawing.text((title_x, top[1] + 12), tile.title, size=11)
    ring = [at(corner(k, i)) for i in range(k)]
    if tile.state == "missing":
        drawing.area(ring, "paper", opacity=0.8)
    drawing.line(ring, "quiet", closed=True, width=1.5, dashed=not tile.labels)
    draw_sides(drawing, tile, at)
    for stroke in tile.strokes:
        drawing.curve(
            at(stroke.start),
            at(stroke.bend),
            at(stroke.end),
            stroke.role,
            width=stroke.width,
            dashed=stroke.dashed,
            tip=stroke.tip,
        )
    for role, place in tile.junctions:
        drawing.dot(at(place), role, radius=5.5)
    for side in crossed_sides(tile.labels):
        drawing.dot(at(middle(k, side)), "ink", radius=3)
    for side in tile.faults:
        drawing.cross(at(middle(k, side)), "wrong", radius=5)
    draw_path(drawing, tile, ring)
    draw_labels(drawing, tile, ring)
    draw_letters(drawing, tile, ring)
    base = top[1] + _HEAD + 2 * (half + _ROOM) + 6
    for i, (role, words) in enumerate(tile.below):
        place = (cx, base + i * _FOOT)
        drawing.text(place, words, role, size=11, bold=role != "ink")


def draw_sides(drawing: Drawing, tile: Tile, at: Callable[[Point], Point]) -> None:
    """Draw each half of a side in the colour of its corner, and the labels next to the sides."""
    k = tile.size
    for i, name in enumerate(canonical(tile.labels)):
        halves = [middle(k, (i - 1) % k), corner(k, i), middle(k, i)]
        drawing.line(map(at, halves), class_colour(name), width=4)
    for side, words in enumerate(tile.sides):
        x, y = middle(k, side)
        # Words are outside the polygon, 12 pixels from the side.
        away = math.hypot(x, y)
        shift = (12 * x / away, -12 * y / away)
        drawing.text(at((x, y)), words, "quiet", size=10, shift=shift)


def draw_path(drawing: Drawing, tile: Tile, ring: Sequence[Point]) -> None:
    """Draw the numbers of a path along the corners, with its steps."""
    for a, b in pairwise(tile.order):
        ax, ay = ring[a]
        bx, by = ring[b]
        length = math.hypot(bx - ax, by - ay)
        # Arrows begin and end outside the discs, 13 pixels from the corners.
        gap_x = (bx - ax) / length * 13
        gap_y = (by - ay) / length * 13
        start = (ax + gap_x, ay + gap_y)
        end = (bx - gap_x, by - gap_y)
        drawing.line([start, end], "note", width=2, arrow=True)
    for place, i in enumerate(tile.order):
        drawing.dot(ring[i], "note", radius=10)
        drawing.dot(ring[i], "paper", radius=8)
        drawing.text(ring[i], place + 1, size=11, bold=True)


def draw_labels(drawing: Drawing, tile: Tile, ring: Sequence[Point]) -> None:
    """Draw the label of each corner in a disc of its class."""
    for i, name in enumerate(canonical(tile.labels)):
        words = brief(tile.labels[i])
        tip = f"class {words}"
        drawing.dot(ring[i], class_colour(name), radius=10, tip=tip)
        drawing.dot(ring[i], "paper", radius=7.5)
        drawing.text(ring[i], words, size=12 if len(words) < 3 else 9, bold=True)


def draw_letters(drawing: Drawing, tile: Tile, ring: Sequence[Point]) -> None:
    """Draw a letter outside each corner."""
    xs, ys = zip(*ring, strict=True)
    cx = sum(xs) / len(ring)
    cy = sum(ys) / len(ring)
    for place, letter in zip(tile.order, tile.letters, strict=False):
        x, y = ring[place]
        away = math.hypot(x - cx, y - cy)
        shift = ((x - cx) / away * 18, (y - cy) / away * 18)
        drawing.text((x, y), letter, "target", size=12, bold=True, shift=shift)


def class_colour(name: int) -> str:
    """Return the colour of a class, by its number in order of occurrence."""
    return _CLASSES[name % len(_CLASSES)]


def interfaces(
    ring: Sequence[int], role: str, *, later: bool = False, dashed: bool = False
) -> Interfaces:
    """Return a drawing of the interfaces of a polygon, with the fewest possible junctions.

    Ends of one type that follow each other are joined. The remaining ends run to a junction, or to
    two junctions if there are more than three classes. With `later`, joining starts one side later,
    which gives another drawing if there is one.
    """
    k = len(ring)
    ends = crossed_sides(ring)
    if later:
        ends = ends[1:] + ends[:1]
    # The two classes that an interface separates, by the side at which it ends.
    kinds = {side: frozenset((ring[side], ring[(side + 1) % k])) for side in ends}
    strokes: list[Stroke] = []
    at = 0
    while len(ends) > 1 and at < len(ends):
        first = ends[at]
        second = ends[(at + 1) % len(ends)]
        if kinds[first] == kinds[second]:
            strokes.append(joining(k, first, second, role, dashed=dashed))
            ends = [side for side in ends if side not in {first, second}]
            # Ends that were apart may follow each other now.
            at = 0
        else:
            at += 1
    if not ends:
        return Interfaces(tuple(strokes), ())
    classes: set[int] = set()
    classes.update(*(kinds[side] for side in ends))
    middles = [middle(k, side) for side in ends]
    if len(classes) <= 3:
        centre = (0.0, 0.0)
        strokes += spokes(middles, centre, role, dashed=dashed)
        return Interfaces(tuple(strokes), ((role, centre),))
    half = len(ends) // 2
    first_place = half_way(middles[:half])
    second_place = half_way(middles[half:])
    strokes += spokes(middles[:half], first_place, role, dashed=dashed)
    strokes += spokes(middles[half:], second_place, role, dashed=dashed)
    strokes.append(Stroke(first_place, first_place, second_place, role, dashed))
    return Interfaces(tuple(strokes), ((role, first_place), (role, second_place)))


def half_way(places: Sequence[Point]) -> Point:
    """Return the point half way from the centre to the middle of some places."""
    share = 0.5 / len(places)
    return share * sum(x for x, _ in places), share * sum(y for _, y in places)


def spokes(
    ends: Iterable[Point], junction: Point, role: str, *, dashed: bool
) -> list[Stroke]:
    """Return straight interfaces from each end to a junction."""
    return [Stroke(end, junction, junction, role, dashed) for end in ends]


def joining(
    k: int, first: int, second: int, role: str, *, dashed: bool = False, tip: str = ""
) -> Stroke:
    """Return an interface between the middles of two sides of a polygon with k corners."""
    start = middle(k, first)
    end = middle(k, second)
    return Stroke(start, (0.0, 0.0), end, role, dashed, tip=tip)


def corner(k: int, i: int) -> Point:
    """Return corner i of a tile with k corners."""
    angle = math.pi * (2 * i / k - 0.5 - 1 / k)
    # A square's sides are 2 long; other polygons are a little smaller to fit the tile.
    radius = math.sqrt(2) if k == 4 else 1.3
    return radius * math.cos(angle), radius * math.sin(angle)


def middle(k: int, side: int) -> Point:
    """Return the middle of a side, where its class changes if it does."""
    ax, ay = corner(k, side)
    bx, by = corner(k, side + 1)
    return (ax + bx) / 2, (ay + by) / 2


def key_text(corners: Sequence[str], tiles: Iterable[Tile]) -> str:
    """Return the order in which corners are read and all tiles with labels, for a terminal."""
    blocks = [["corners:", *corners]]
    blocks += [square_text(tile) for tile in tiles if tile.labels]
    return side_by_side(blocks)


def square_text(tile: Tile) -> list[str]:
    """Return a tile of four corners as lines of text, with its words at the sides."""
    labels = [brief(label)[:3] for label in tile.labels] or ["?"] * 4
    bottom, right, top, left_side = tile.sides or ("-", "|", "-", "|")
    lines = [
        f"{tile.title} {_SIGNS[tile.state]}".rstrip(),
        f"  {labels[3]:>3}--{top}--{labels[2]:<3}",
        "    |     |",
        f"    {left_side}     {right}",
        "    |     |",
        f"  {labels[0]:>3}--{bottom}--{labels[1]:<3}",
    ]
    return lines + [words for _, words in tile.below]


def tuple_text(labels: Sequence[int]) -> str:
    """Return labels as a prompt writes them, shortened if there are many."""
    words = [brief(label) for label in labels[:_MOST_LABELS]]
    if len(labels) > _MOST_LABELS:
        words.append("...")
    return f"({', '.join(words)})"


def brief(label: int) -> str:
    """Return a label in a few characters, even if it is a large number."""
    return str(label) if abs(label) < _BRIEF else "large"
