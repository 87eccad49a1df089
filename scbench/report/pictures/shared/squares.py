"""Squares, and polygons, with a class at each corner: as tiles of a sheet, and as text.

Corners and sides are counted round the ring, counter-clockwise from the bottom left corner and the
bottom side, which joins the first two corners. A side changes class in its middle.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from scbench.graders.shared.corner_labels import canonical, crossed_sides
from scbench.report.draw.svg import Drawing
from scbench.report.pictures.shared.tables import side_by_side

Point = tuple[float, float]

_COLUMNS = 6
_WIDTH, _HEAD, _FOOT, _ROOM = 118.0, 20.0, 15.0, 24.0
"""Pixels of a tile: its width, its title, each line below it, and the space round the polygon."""
_HALF = 33.0
_BRIEF = 10**4
# Colours of classes: none of those that say right or wrong.
_CLASSES = ("c0", "c5", "c3", "c4")


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


@dataclass(frozen=True, slots=True)
class Tile:
    """One polygon of a sheet.

    Attributes:
        labels: classes round the ring; empty if they make no polygon.
        title: above it.
        state: ``right``, ``wrong``, ``missing``, or nothing said.
        below: (role, words) of lines under it.
        strokes: interfaces.
        junctions: (role, place) of points where interfaces end.
        sides: words beside the middle of each side, round the ring.
        faults: sides to be crossed out.
        order: corners in the order to be numbered as a path; their labels are left out then.
        letters: a letter at each corner round the ring, instead of a label.
        corners: how many there are, if there are no labels.
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
        """How many corners it has."""
        return len(self.labels) or self.corners


def key_text(corners: Sequence[str], tiles: Iterable[Tile]) -> str:
    """Return the order in which corners are read and all tiles with labels, for a terminal."""
    return side_by_side(
        [["corners:", *corners], *(square_text(t) for t in tiles if t.labels)]
    )


def brief(label: int) -> str:
    """Return a label in few characters, however large a number it is."""
    return str(label) if abs(label) < _BRIEF else "large"


def tuple_text(labels: Sequence[int]) -> str:
    """Return labels as a prompt writes them, cut where they are many."""
    ellipsis = ", ..." if len(labels) > 6 else ""
    return f"({', '.join(map(brief, labels[:6]))}{ellipsis})"


def corner(k: int, i: int) -> Point:
    """Return a corner of a tile with k of them."""
    angle = math.pi * (2 * i / k - 0.5 - 1 / k)
    radius = math.sqrt(2) if k == 4 else 1.3
    return radius * math.cos(angle), radius * math.sin(angle)


def middle(k: int, side: int) -> Point:
    """Return the middle of a side, where its class changes if it does."""
    (ax, ay), (bx, by) = corner(k, side), corner(k, side + 1)
    return (ax + bx) / 2, (ay + by) / 2


def joining(
    k: int, first: int, second: int, role: str, *, dashed: bool = False, tip: str = ""
) -> Stroke:
    """Return an interface between the middles of two sides."""
    return Stroke(
        middle(k, first), (0.0, 0.0), middle(k, second), role, dashed, tip=tip
    )


def interfaces(
    ring: Sequence[int], role: str, *, later: bool = False, dashed: bool = False
) -> tuple[tuple[Stroke, ...], tuple[tuple[str, Point], ...]]:
    """Return one way to draw the interfaces of a polygon, and their junctions, as few as possible.

    Ends of one type that follow each other are joined; what is left runs to a junction, or to two
    if there are more than three classes. With `later` it begins one side later, which gives another
    drawing if there is one.
    """
    k = len(ring)
    ends = crossed_sides(ring)
    if later:
        ends = ends[1:] + ends[:1]
    kind = {side: frozenset((ring[side], ring[(side + 1) % k])) for side in ends}
    strokes: list[Stroke] = []
    at = 0
    while len(ends) > 1 and at < len(ends):
        first, second = ends[at], ends[(at + 1) % len(ends)]
        if kind[first] == kind[second]:
            strokes.append(joining(k, first, second, role, dashed=dashed))
            ends = [side for side in ends if side not in {first, second}]
            at = 0
        else:
            at += 1
    if not ends:
        return tuple(strokes), ()
    classes = {label for side in ends for label in kind[side]}
    groups = (
        [ends]
        if len(classes) <= 3
        else [ends[: len(ends) // 2], ends[len(ends) // 2 :]]
    )
    places: list[Point] = []
    for group in groups:
        far = [middle(k, side) for side in group]
        share = 0.0 if len(groups) == 1 else 0.5 / len(far)
        place = (share * sum(x for x, _ in far), share * sum(y for _, y in far))
        places.append(place)
        strokes += [Stroke(end, place, place, role, dashed) for end in far]
    if len(places) == 2:
        strokes.append(Stroke(places[0], places[0], places[1], role, dashed))
    return tuple(strokes), tuple((role, place) for place in places)


def sheet(tiles: Sequence[Tile], *, half: float = _HALF) -> Drawing:
    """Return tiles in rows, left to right, top to bottom; half a square's side is in pixels."""
    columns = min(_COLUMNS, len(tiles))
    width = max(_WIDTH, 2 * (half + _ROOM))
    if any(tile.letters for tile in tiles):
        width += 0.6 * half
    lines = max(len(tile.below) for tile in tiles)
    height = _HEAD + 2 * (half + _ROOM) + _FOOT * lines + (6 if lines else 0)
    rows = -(-len(tiles) // columns)
    frame = (columns * width, rows * height)
    drawing = Drawing((0, 0, *frame), size=max(frame), up=False, margin=4)
    for i, tile in enumerate(tiles):
        _draw(
            drawing,
            tile,
            (i % columns * width, i // columns * height),
            width,
            height,
            half,
        )
    return drawing


def _draw(
    drawing: Drawing,
    tile: Tile,
    corner_at: Point,
    width: float,
    height: float,
    half: float,
) -> None:
    left_edge, top = corner_at
    cx, cy = left_edge + width / 2, top + _HEAD + half + _ROOM
    k = tile.size

    def at(place: Point) -> Point:
        return cx + place[0] * half, cy - place[1] * half

    frame = ((left_edge + 2, top + 2), (left_edge + width - 2, top + height - 2))
    if tile.state == "missing":
        drawing.box(*frame, "missing", hatched=True, opacity=0.3)
        drawing.box(*frame, "missing", opacity=0, edge="missing", dashed=True, width=2)
    elif tile.state == "wrong":
        drawing.box(*frame, "wrong", opacity=0.1, edge="wrong", width=2.5)
    elif tile.state == "right":
        drawing.box(*frame, "right", opacity=0.08, edge="right", width=1)
    x, y = left_edge + width - 12, top + 12
    if tile.state == "right":
        drawing.line([(x - 5, y), (x - 1.5, y + 4), (x + 5, y - 4)], "right", width=2.5)
    elif tile.state == "wrong":
        drawing.cross((x, y), "wrong", radius=4.5, width=2.5)
    shift = -8 if tile.state in {"right", "wrong"} else 0
    drawing.text((cx + shift, top + 12), tile.title, size=11)
    ring = [at(corner(k, i)) for i in range(k)]
    if tile.state == "missing":
        drawing.area(ring, "paper", opacity=0.8)
    drawing.line(ring, "quiet", closed=True, width=1.5, dashed=not tile.labels)
    _sides(drawing, tile, at)
    for start, bend, end, role, dashed, thick, tip in tile.strokes:
        drawing.curve(
            at(start), at(bend), at(end), role, width=thick, dashed=dashed, tip=tip
        )
    for role, place in tile.junctions:
        drawing.dot(at(place), role, radius=5.5)
    for side in crossed_sides(tile.labels):
        drawing.dot(at(middle(k, side)), "ink", radius=3)
    for side in tile.faults:
        drawing.cross(at(middle(k, side)), "wrong", radius=5)
    _draw_corners(drawing, tile, ring)
    base = top + _HEAD + 2 * (half + _ROOM) + 6
    for i, (role, words) in enumerate(tile.below):
        drawing.text((cx, base + i * _FOOT), words, role, size=11, bold=role != "ink")


def _sides(drawing: Drawing, tile: Tile, at: Callable[[Point], Point]) -> None:
    """Draw each half of a side in the colour of its corner, and the words beside sides."""
    k = tile.size
    classes = canonical(tile.labels)
    for i, name in enumerate(classes):
        halves = [middle(k, (i - 1) % k), corner(k, i), middle(k, i)]
        drawing.line(map(at, halves), _CLASSES[name % len(_CLASSES)], width=4)
    for side, words in enumerate(tile.sides):
        x, y = middle(k, side)
        away = math.hypot(x, y)
        drawing.text(
            at((x, y)), words, "quiet", size=10, shift=(12 * x / away, -12 * y / away)
        )


def _draw_corners(drawing: Drawing, tile: Tile, ring: Sequence[Point]) -> None:
    """Draw labels in discs, or the numbers of a path with its steps."""
    for a, b in pairwise(tile.order):
        (ax, ay), (bx, by) = ring[a], ring[b]
        length = math.hypot(bx - ax, by - ay)
        ux, uy = (bx - ax) / length * 13, (by - ay) / length * 13
        drawing.line(
            [(ax + ux, ay + uy), (bx - ux, by - uy)], "note", width=2, arrow=True
        )
    for place, i in enumerate(tile.order):
        drawing.dot(ring[i], "note", radius=10)
        drawing.dot(ring[i], "paper", radius=8)
        drawing.text(ring[i], place + 1, size=11, bold=True)
    for i, (label, name) in enumerate(
        zip(tile.labels, canonical(tile.labels), strict=True)
    ):
        words = brief(label)
        drawing.dot(
            ring[i], _CLASSES[name % len(_CLASSES)], radius=10, tip=f"class {words}"
        )
        drawing.dot(ring[i], "paper", radius=7.5)
        drawing.text(ring[i], words, size=12 if len(words) < 3 else 9, bold=True)
    centre = tuple(sum(values) / len(ring) for values in zip(*ring, strict=True))
    for place, letter in zip(tile.order, tile.letters, strict=False):
        (x, y), (cx, cy) = ring[place], centre
        away = math.hypot(x - cx, y - cy)
        shift = ((x - cx) / away * 18, (y - cy) / away * 18)
        drawing.text((x, y), letter, "target", size=12, bold=True, shift=shift)


def square_text(tile: Tile) -> list[str]:
    """Return a tile of four corners as lines of text; words beside sides stand at the sides."""
    k = [brief(label)[:3] for label in tile.labels] or ["?"] * 4
    bottom, right, top, left_side = tile.sides or ("-", "|", "-", "|")
    return [
        f"{tile.title} {_SIGNS[tile.state]}".rstrip(),
        f"  {k[3]:>3}--{top}--{k[2]:<3}",
        "    |     |",
        f"    {left_side}     {right}",
        "    |     |",
        f"  {k[0]:>3}--{bottom}--{k[1]:<3}",
        *(words for _, words in tile.below),
    ]
