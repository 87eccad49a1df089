"""SVG shapes: a path of numbers, and ten kinds of shape that it could draw.

Straight sides are drawn in several pieces, and as lines or as curves that are straight, so that
every kind comes with the same numbers of commands and only geometry tells them apart.
"""

import re
from cmath import phase
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import cos, dist, pi, radians, sin, tan
from typing import ClassVar, Literal, NamedTuple, get_args

from pydantic import Field, JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Case,
    Point,
    data_file,
    parameter,
    prompt_template,
    under,
)
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.schemas.svg_shapes import Answer, Kind, Params

KINDS: tuple[Kind, ...] = get_args(Kind)
_LETTERS = "ABCDEFGHIJ"
# Kinds by their numbers of curved sides and of all sides.
_ROUND: Mapping[tuple[int, int], Kind] = {
    (0, 0): "ellipse",
    (1, 2): "half_ellipse",
    (1, 3): "sector",
}
_STRAIGHT: Mapping[int, Kind] = {3: "triangle", 5: "pentagon", 6: "hexagon", 10: "star"}
_FOUR_SIDED: tuple[Kind, ...] = ("rectangle", "kite", "trapezoid")
# How far from its middle a diagonal has to be cut to count as not halved.
_QUARTERS = 0.11
_SMOOTH, _SHARP = radians(9), radians(15)
"""Pieces that meet at less than the first run on smoothly, those at more than the second in a
corner; outlines with anything between are drawn anew."""
# How far from a straight line a side has to be, somewhere, to count as curved.
_STRAY = 0.04
# Least number of pieces of an outline, which a star needs; fewer only where all are
# curves.
_PIECES = 10
_TRIES = 500
Vector = tuple[float, float]
# A point of an outline and, if a curve leads on from it, the angles where the curve
# begins and ends; without them a straight line does.
Corner = tuple[Vector, Vector | None]
_ALMOST_HALF = pi - 1e-6


class Space(Point):
    """Parameters of drawings."""

    unprinted: ClassVar = frozenset({"shape"})

    shape: Kind | Literal["any"] = parameter(
        "any", "which shape it is, or any of the ten", "semantic"
    )
    rotation: int = parameter(
        180,
        "most degrees that it is turned by, either way",
        "interference",
        ge=0,
        le=180,
    )
    scale: int = parameter(
        100, "about how long it is, in units", "scale", ge=10, le=1000
    )
    aspect: float = parameter(
        2.0, "most that it is stretched, in one direction", "interference", ge=1, le=3
    )
    noise: float = parameter(
        0.0,
        "how far points can be off, as a share of the narrowest gap between two of them",
        "interference",
        ge=0,
        le=0.05,
    )
    commands: Literal["absolute", "relative"] = parameter(
        "absolute", "whether coordinates are counted from the last point", "semantic"
    )
    segments: int = parameter(
        4, "pieces of a curve; those that close have at least two", "scale", ge=1, le=40
    )


class SvgShapesCase(Case):
    """A case of SVG shapes."""

    kind: Kind = Field(description="which shape it is")
    lines: int = Field(ge=0, description="commands that draw lines")
    curves: int = Field(
        ge=0, description="commands that draw curves, straight ones included"
    )
    characters: int = Field(ge=1, description="length of the path data")


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Outlines with two decimals, each kind and each letter equally likely."""

    task = "svg_shapes"
    version = 2
    case_model = SvgShapesCase
    extremes = (
        {"rotation": 0, "aspect": 1, "segments": 1, "scale": 10},
        {
            "scale": 1000,
            "aspect": 3,
            "noise": 0.05,
            "commands": "relative",
            "segments": 12,
        },
        {"shape": "kite", "noise": 0.05, "aspect": 3, "scale": 10},
        {"shape": "half_ellipse", "segments": 1},
        {"shape": "ellipse", "segments": 6, "commands": "relative"},
    )

    def prompt(self, params: Params) -> str:
        """Return the path and what each kind means."""
        meanings = data_file(__package__, "meanings.json")
        options = "\n".join(
            f"{letter}) {kind_name(kind)}: {meanings[kind]}"
            for letter, kind in zip(_LETTERS, params.options, strict=True)
        )
        return prompt_template(__name__).format(
            path=params.path, options=options
        ) + reply_short(
            f"the letter or the name of one option, {_LETTERS[0]} to {_LETTERS[-1]}"
        )

    def reference(self, params: Params) -> Answer:
        """Count sides, and tell those with four apart by where their diagonals meet."""
        return Answer(answer=kind_name(_kind(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return kinds that miscounting leads to, other letters, and answers that are no option."""
        right = _kind(params)
        at = params.options.index(right)
        neighbour = params.options[at - 1]
        sides = sides_of(params.path)
        curved = any(round_ for _, round_ in sides)
        by_count: dict[int, Kind] = {
            3: "triangle",
            4: "rectangle",
            5: "pentagon",
            6: "hexagon",
        }
        mistakes: dict[str, Kind | None] = {
            "all_sides_are_straight": by_count.get(len(sides)),
            "one_side_too_many": by_count.get(len(sides) + 1),
            "one_side_too_few": by_count.get(len(sides) - 1),
            "whole_for_a_part": "ellipse" if curved else None,
            "other_part": "sector" if right == "half_ellipse" else None,
            "another_of_four_sides": "trapezoid" if right == "kite" else None,
            "the_one_before": neighbour,
        }
        wrong: dict[str, JsonValue] = {
            name: kind_name(kind)
            for name, kind in mistakes.items()
            if kind not in {None, right} and kind
        }
        wrong |= {
            "another_letter": _LETTERS[at - 1],
            "letter_and_name_disagree": f"{_LETTERS[at]}) {kind_name(neighbour)}",
            "two_names": f"{kind_name(right)} or {kind_name(neighbour)}",
            "place": at + 1,
            "listed": [kind_name(right)],
            "path": params.path,
        }
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return which shape it is, and how much there is to read."""
        words = params.path.upper()
        curves = words.count("C") + words.count("A")
        return {
            "kind": _kind(params),
            "lines": words.count("L"),
            "curves": curves,
            "characters": len(params.path),
        }

    def measure(self, params: Params) -> float:
        """Return how many numbers the path has, twice if they are counted from the last point."""
        numbers = len(re.findall(r"\d+(?:\.\d+)?", params.path))
        return numbers * (2 if params.path[0] == "m" else 1)

    def blind_floor(self, params: Params) -> float:
        """Return one by the number of kinds: no prompt tells that a point has but one."""
        return 1 / len(params.options)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw an outline, lay it on the page, and write it down."""
        options = list(KINDS)
        rng.shuffle(options)
        kind = rng.choice(KINDS) if point.shape == "any" else point.shape
        for _ in range(_TRIES):
            path = _draw_outline(kind, point, rng)
            if not _blurred(path) and kind_of(path) == kind:
                return Params(path=path, options=tuple(options))
        raise GenerationError(
            f"no {kind_name(kind)} is clear at this size in {_TRIES} tries; use a larger scale, or "
            "fewer segments"
        )


def _draw_outline(kind: Kind, point: Space, rng: Stream) -> str:
    stretch = rng.uniform(1, point.aspect)
    # What every kind has to have, those with a curve of these pieces included.
    cubics = max(2, point.segments)
    pieces = max(_PIECES, cubics + 2) + rng.below(5)
    corners = roughened(outline(kind, stretch, point.segments, rng), point.noise, rng)
    frame = Frame(
        mirror=1 if rng.below(2) else -1,
        degrees=rng.between(-point.rotation, point.rotation),
        size=point.scale / 2 / stretch * rng.uniform(0.8, 1),
        centre=(point.scale * rng.uniform(0.8, 2), point.scale * rng.uniform(0.8, 2)),
    )
    return path_of(
        divided(corners, pieces, rng),
        frame,
        stretch,
        rng,
        relative=point.commands == "relative",
        rough=point.noise > 0,
        cubics=cubics,
    )


def kind_name(kind: str) -> str:
    """Return a kind as prompts name it."""
    return kind.replace("_", " ")


def _kind(params: Params) -> Kind:
    kind = kind_of(params.path)
    if kind is None:
        raise ValueError("the path draws none of the ten shapes")
    return kind


def pieces_of(path: str) -> list[tuple[list[complex], bool]]:
    """Return the points of each piece of a path, handles included, and whether it is an arc."""
    pieces: list[tuple[list[complex], bool]] = []
    here = start = 0j
    for word, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = [
            float(number) for number in re.split(r"[ ,]+", text.strip()) if number
        ]
        numbers = numbers[-2:] if word in "Aa" else numbers
        base = here if word.islower() else 0
        spots = [
            base + complex(*spot)
            for spot in zip(numbers[::2], numbers[1::2], strict=True)
        ]
        there = spots[-1] if spots else start
        if word in "Mm":
            start = there
        # Sums of decimals are not exact; distances below a hundredth are none.
        elif abs(there - here) > 0.005:
            pieces.append(([here, *(spots or [there])], word in "Aa"))
        here = there
    return pieces


def sides_of(path: str) -> list[tuple[complex, bool]]:
    """Return where the sides of a path begin, in order, and whether they are curved.

    A side goes from one corner to the next; an outline without corners has none.
    """
    pieces = pieces_of(path)
    begins = [
        i for i in range(len(pieces)) if _turn_angle(pieces[i - 1], pieces[i]) > _SMOOTH
    ]
    sides: list[tuple[complex, bool]] = []
    for i, j in pairwise([*begins, *(begins[:1] and [begins[0] + len(pieces)])]):
        side = [*pieces, *pieces][i:j]
        start, end = side[0][0][0], side[-1][0][-1]
        way = (end - start) / abs(end - start) if abs(end - start) > 0.005 else 1
        spots = [((spot - start) / way).imag for points, _ in side for spot in points]
        sides.append(
            (start, any(arc for _, arc in side) or max(map(abs, spots)) > _STRAY)
        )
    return sides


def _turn_angle(
    before: tuple[list[complex], bool], after: tuple[list[complex], bool]
) -> float:
    """Return the angle of two pieces in radians; arcs meet smoothly, or all else in a corner."""
    if before[1] or after[1]:
        return 0.0 if before[1] and after[1] else 2.0
    (*_, last), (first, *_) = before[0], after[0]
    came = next(last - spot for spot in reversed(before[0]) if abs(last - spot) > 0.005)
    goes = next(spot - first for spot in after[0] if abs(spot - first) > 0.005)
    return abs(phase(goes / came))


def _blurred(path: str) -> bool:
    """Whether rounding has left a point that is hardly a corner."""
    pieces = pieces_of(path)
    return any(
        _SMOOTH < _turn_angle(pieces[i - 1], pieces[i]) < _SHARP
        for i in range(len(pieces))
    )


def kind_of(path: str) -> Kind | None:
    """Return the kind of shape that a path draws; None if it is none of the ten."""
    sides = sides_of(path)
    curved = sum(round_ for _, round_ in sides)
    if curved or not sides:
        return _ROUND.get((curved, len(sides)))
    if len(sides) == 4:
        return _four_sided_kind([corner for corner, _ in sides])
    return _STRAIGHT.get(len(sides))


def _four_sided_kind(corners: Sequence[complex]) -> Kind:
    """Tell a rectangle, a trapezoid and a kite apart: both, none or one diagonal is halved."""
    a, b, c, d = corners
    across = ((c - a).conjugate() * (d - b)).imag
    first = ((b - a).conjugate() * (d - b)).imag / across
    second = ((b - a).conjugate() * (c - a)).imag / across
    uneven = sum(abs(share - 0.5) > _QUARTERS for share in (first, second))
    return _FOUR_SIDED[uneven]


class Frame(NamedTuple):
    """How an outline is laid on the page: mirrored, turned, enlarged and moved, in that order."""

    mirror: Literal[1, -1]
    degrees: int
    size: float
    centre: Vector

    def turn(self, vector: Vector) -> Vector:
        """Return a vector on the page, in hundredths of a unit."""
        x, y = vector[0], self.mirror * vector[1]
        c, s = cos(radians(self.degrees)), sin(radians(self.degrees))
        return 100 * self.size * (x * c - y * s), 100 * self.size * (x * s + y * c)

    def place(self, point: Vector) -> tuple[int, int]:
        """Return a point on the page, rounded to whole hundredths of a unit."""
        x, y = self.turn(point)
        return round(x + 100 * self.centre[0]), round(y + 100 * self.centre[1])


def outline(kind: Kind, stretch: float, segments: int, rng: Stream) -> list[Corner]:
    """Return the points of a shape about 2 high and ``2 * stretch`` wide, round the origin.

    The proportions keep the kinds apart: what makes a kind (equal sides, parallel sides) is far
    from what makes another, so that small errors leave it recognisable.
    """
    points: list[Vector]
    if kind == "ellipse":
        return _arc(0, 2 * pi, max(2, segments), stretch)[:-1]
    if kind == "half_ellipse":
        start = 0 if rng.below(2) else pi / 2
        return _arc(start, start + pi, segments, stretch)
    if kind == "sector":
        start = rng.uniform(0, 2 * pi)
        return [
            ((0, 0), None),
            *_arc(start, start + rng.uniform(0.9, 2.2), segments, stretch),
        ]
    if kind == "rectangle":
        points = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    elif kind == "trapezoid":
        top, height = rng.uniform(0.35, 0.5), rng.uniform(0.7, 1)
        points = [(1, -height), (top, height), (-top, height), (-1, -height)]
    elif kind == "kite":
        width, cut = rng.uniform(0.5, 0.8), 1 - 2 * rng.uniform(0.15, 0.28)
        points = [(1, 0), (cut, width), (-1, 0), (cut, -width)]
    else:
        n = {"triangle": 3, "pentagon": 5, "hexagon": 6, "star": 10}[kind]
        start = rng.uniform(0, 2 * pi)
        inner = rng.uniform(0.38, 0.48) if kind == "star" else 1
        points = [
            (cos(at) * far, sin(at) * far)
            for at, far in (
                (start + 2 * pi * i / n, inner if i % 2 else 1) for i in range(n)
            )
        ]
    return [((x * stretch, y), None) for x, y in points]


def _arc(start: float, end: float, segments: int, stretch: float) -> list[Corner]:
    """Return the points of a piece of an ellipse; from the last of them a straight line leads."""
    at = [start + (end - start) * i / segments for i in range(segments + 1)]
    angles: list[Vector | None] = [*pairwise(at), None]
    return [
        ((stretch * cos(a), sin(a)), piece) for a, piece in zip(at, angles, strict=True)
    ]


def roughened(corners: Sequence[Corner], noise: float, rng: Stream) -> list[Corner]:
    """Return the outline with each point moved by at most ``noise`` times the narrowest gap.

    The narrowest gap is the smallest distance between two of the points.
    """
    if not noise:
        return list(corners)
    points = [point for point, _ in corners]
    gap = min(dist(p, q) for i, p in enumerate(points) for q in points[:i])
    shifted: list[Corner] = []
    for (x, y), piece in corners:
        far, way = noise * gap * rng.unit(), rng.uniform(0, 2 * pi)
        shifted.append(((x + far * cos(way), y + far * sin(way)), piece))
    return shifted


def divided(corners: Sequence[Corner], pieces: int, rng: Stream) -> list[Corner]:
    """Return the outline with more points on its straight sides, until it has so many pieces.

    Long sides get more of them. An outline without straight sides stays as it is.
    """
    ends = [*corners[1:], corners[0]]
    length = [
        0.0 if piece else dist(point, end[0])
        for (point, piece), end in zip(corners, ends, strict=True)
    ]
    parts = [1] * len(corners)
    while any(length) and sum(parts) < pieces:
        each = [far / n for far, n in zip(length, parts, strict=True)]
        parts[
            rng.choice([i for i, far in enumerate(each) if far >= max(each) / 2])
        ] += 1
    points: list[Corner] = []
    for ((x, y), piece), ((u, v), _), n in zip(corners, ends, parts, strict=True):
        points.append(((x, y), piece))
        for i in range(1, n):
            share = (i + rng.uniform(-0.25, 0.25)) / n
            points.append(((x + share * (u - x), y + share * (v - y)), None))
    return points


def path_of(
    corners: Sequence[Corner],
    frame: Frame,
    stretch: float,
    rng: Stream,
    *,
    relative: bool,
    rough: bool,
    cubics: int,
) -> str:
    """Return the SVG path of an outline, ``stretch`` times wider than high, laid in a frame.

    It begins at any of the points. Curves are elliptical arcs or cubic Bezier curves, the latter if
    points are off (``rough``). A straight piece is a line or a cubic Bezier curve whose control
    points are its ends; so many, with the curves at least ``cubics``, are of the latter kind that
    numbers of commands say nothing of the shape. A straight piece back to the start is drawn or
    left to the closing command.
    """
    straight = [i for i, (_, piece) in enumerate(corners) if piece is None]
    # Between points that are a little off, arcs of the right radii would meet in corners.
    arcs = rng.below(2) == 1 and not rough
    closes = rng.below(2) == 1 and bool(straight)
    first = 1 + (rng.choice(straight) if closes else rng.below(len(corners)))
    corners = [*corners[first:], *corners[:first]]
    strokes = [piece for _, piece in corners[: -1 if closes else None]]
    lines = [i for i, piece in enumerate(strokes) if piece is None]
    curves = len(strokes) - len(lines)
    limit = len(lines) if curves and arcs else len(strokes)
    least = 0 if curves and arcs else max(curves, min(cubics, limit))
    flat = (
        rng.sample(lines, rng.between(least, limit) - (0 if arcs else curves))
        if lines
        else []
    )
    places = [frame.place(point) for point, _ in [*corners, corners[0]]]
    words = [_command("m" if relative else "M", [places[0]], (0, 0))]
    for i, piece in enumerate(strokes):
        here, there = places[i], places[i + 1]
        origin = here if relative else (0, 0)
        if piece and arcs:
            half = piece[1] - piece[0] > _ALMOST_HALF
            words.append(
                _arc_command(
                    frame, stretch, there, origin, half=half, relative=relative
                )
            )
        elif piece or i in flat:
            handles = (
                _handles(piece, frame, stretch, here, there) if piece else [here, there]
            )
            words.append(_command("c" if relative else "C", [*handles, there], origin))
        else:
            words.append(_command("l" if relative else "L", [there], origin))
    return " ".join([*words, "z" if relative else "Z"])


def _handles(
    piece: Vector,
    frame: Frame,
    stretch: float,
    here: tuple[int, int],
    there: tuple[int, int],
) -> list[tuple[int, int]]:
    """Return the inner control points; they move with the ends, so that joints stay smooth."""
    begin, end = piece
    pull = 4 / 3 * tan((end - begin) / 4)
    out = frame.turn((-stretch * sin(begin) * pull, cos(begin) * pull))
    back = frame.turn((-stretch * sin(end) * pull, cos(end) * pull))
    return [
        (round(here[0] + out[0]), round(here[1] + out[1])),
        (round(there[0] - back[0]), round(there[1] - back[1])),
    ]


def _arc_command(
    frame: Frame,
    stretch: float,
    end: tuple[int, int],
    origin: tuple[int, int],
    *,
    half: bool,
    relative: bool,
) -> str:
    # Radii that are too small for the distance are enlarged by every reader of SVG, which makes
    # exactly half of an ellipse. Ones that are too large by an error of rounding make less.
    less = 2 if half else 0
    rx, ry = (round(100 * frame.size * along) - less for along in (stretch, 1))
    sweep = 1 if frame.mirror == 1 else 0
    radii = f"{_decimal_text(rx)} {_decimal_text(ry)}"
    word = f"{'a' if relative else 'A'} {radii} {frame.degrees} 0 {sweep}"
    return _command(word, [end], origin)


def _command(
    word: str, points: Sequence[tuple[int, int]], origin: tuple[int, int]
) -> str:
    x, y = origin
    return " ".join(
        [word, *[f"{_decimal_text(p - x)},{_decimal_text(q - y)}" for p, q in points]]
    )


def _decimal_text(hundredths: int) -> str:
    """Return a number of hundredths as a decimal without idle zeros."""
    integer, fraction = divmod(abs(hundredths), 100)
    digits = f"{integer}.{fraction:02}".rstrip("0").rstrip(".")
    return f"-{digits}" if hundredths < 0 else digits
