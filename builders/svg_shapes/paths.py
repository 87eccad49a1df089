"""SVG paths: an outline placed on the page, and its commands in absolute or relative numbers."""

from collections.abc import Sequence
from math import cos, pi, radians, sin, tan
from typing import Literal, NamedTuple

from scbench.base.seeding import Stream
from scbench.builders.svg_shapes.outlines import Corner, Vector

# A place on the page, in hundredths of a unit.
Spot = tuple[int, int]
# Arcs of a larger angle count as half an ellipse.
_ALMOST_HALF = pi - 1e-6


class Frame(NamedTuple):
    """The place of an outline on the page: mirrored, turned, enlarged and moved, in that order.

    Attributes:
        mirror: -1 if the outline is mirrored, otherwise 1.
        degrees: the angle that the outline is turned by.
        size: half its height, in units of the page.
        centre: the place of its origin, in units of the page.
        stretch: its width over its height.
    """

    mirror: Literal[1, -1]
    degrees: int
    size: float
    centre: Vector
    stretch: float

    def turn(self, vector: Vector) -> Vector:
        """Return a vector of the outline as a vector on the page, in hundredths of a unit."""
        x = vector[0]
        y = self.mirror * vector[1]
        c = cos(radians(self.degrees))
        s = sin(radians(self.degrees))
        return 100 * self.size * (x * c - y * s), 100 * self.size * (x * s + y * c)

    def place(self, point: Vector) -> Spot:
        """Return a point of the outline as a point on the page, in whole hundredths of a unit."""
        x, y = self.turn(point)
        middle_x, middle_y = self.centre
        return round(x + 100 * middle_x), round(y + 100 * middle_y)

    def handles(self, arc: Vector, start: Spot, stop: Spot) -> list[Spot]:
        """Return the inner control points of a cubic curve that replaces an arc.

        They are shifted like the rounded ends, so that joints stay smooth.
        """
        start_angle, end_angle = arc
        # The usual length of the handles with which a cubic curve follows a circle.
        pull = 4 / 3 * tan((end_angle - start_angle) / 4)
        out_x, out_y = self._handle(start_angle, pull)
        back_x, back_y = self._handle(end_angle, pull)
        first = (round(start[0] + out_x), round(start[1] + out_y))
        second = (round(stop[0] - back_x), round(stop[1] - back_y))
        return [first, second]

    def _handle(self, angle: float, length: float) -> Vector:
        """Return the tangent of the ellipse at an angle, on the page."""
        return self.turn((-self.stretch * sin(angle) * length, cos(angle) * length))

    def arc_parameters(self, arc: Vector) -> list[str]:
        """Return the numbers of an arc command that come before its end."""
        begin, end = arc
        # If radii are too small for the distance, every SVG reader enlarges them, which makes
        # exactly half an ellipse. Radii that rounding made too large would make less than half.
        reduction = 2 if end - begin > _ALMOST_HALF else 0
        radius_x = round(100 * self.size * self.stretch) - reduction
        radius_y = round(100 * self.size) - reduction
        sweep = "1" if self.mirror == 1 else "0"
        radii = [decimal_text(radius_x), decimal_text(radius_y)]
        return [*radii, str(self.degrees), "0", sweep]


class PathWriter:
    """Writes the commands of a path, starting at its first point.

    Args:
        start: the first point.
        relative: whether coordinates are relative to the last point.
    """

    def __init__(self, start: Spot, *, relative: bool) -> None:
        self._relative = relative
        self._position = (0, 0)
        self._commands: list[str] = []
        self.add("M", [start])

    def add(
        self, letter: str, points: Sequence[Spot], parameters: Sequence[str] = ()
    ) -> None:
        """Add a command with its parameters and points, the last of which is its end."""
        origin_x, origin_y = self._position if self._relative else (0, 0)
        numbers = []
        for x, y in points:
            x_text = decimal_text(x - origin_x)
            y_text = decimal_text(y - origin_y)
            numbers.append(f"{x_text},{y_text}")
        command = " ".join([letter, *parameters, *numbers])
        self._commands.append(command)
        self._position = points[-1]

    def closed(self) -> str:
        """Return the path, closed."""
        path = " ".join([*self._commands, "Z"])
        return path.lower() if self._relative else path


def path_of(
    corners: Sequence[Corner],
    frame: Frame,
    rng: Stream,
    *,
    relative: bool,
    rough: bool,
    cubics: int,
) -> str:
    """Return the SVG path of an outline in a frame.

    It begins at any of the points. Curves are elliptical arcs or cubic Bezier curves; always the
    latter if points are moved (``rough``). A straight piece is a line or a cubic Bezier curve whose
    control points are its ends. At least ``cubics`` pieces, including curves, are cubic, so that
    numbers of commands reveal nothing about the shape. A straight piece back to the start is drawn
    or left to the closing command.
    """
    straight = [i for i, corner in enumerate(corners) if corner.arc is None]
    # Between points that were moved slightly, arcs of the right radii would meet in corners.
    uses_arcs = rng.below(2) == 1 and not rough
    leaves_last = rng.below(2) == 1 and bool(straight)
    last = rng.choice(straight) if leaves_last else rng.below(len(corners))
    corners = [*corners[last + 1 :], *corners[: last + 1]]
    spots = [frame.place(corner.point) for corner in corners]
    ends = [*spots[1:], spots[0]]
    strokes = [corner.arc for corner in corners]
    if leaves_last:
        strokes.pop()
    flat_curves = _draw_flat_curves(strokes, cubics, rng, uses_arcs=uses_arcs)
    writer = PathWriter(spots[0], relative=relative)
    for i, arc in enumerate(strokes):
        start = spots[i]
        end = ends[i]
        if arc and uses_arcs:
            writer.add("A", [end], frame.arc_parameters(arc))
        elif arc:
            writer.add("C", [*frame.handles(arc, start, end), end])
        elif i in flat_curves:
            writer.add("C", [start, end, end])
        else:
            writer.add("L", [end])
    return writer.closed()


def _draw_flat_curves(
    strokes: Sequence[Vector | None], cubics: int, rng: Stream, *, uses_arcs: bool
) -> list[int]:
    """Draw the straight pieces that are written as cubic curves.

    Curves that are not arcs are cubic themselves and count towards ``cubics``.
    """
    lines = [i for i, arc in enumerate(strokes) if arc is None]
    if not lines:
        return []
    curves = len(strokes) - len(lines)
    if uses_arcs:
        # With arcs, any number is allowed; without a curve, at least `cubics`.
        least = 0 if curves else min(cubics, len(lines))
        return rng.sample(lines, rng.between(least, len(lines)))
    least = max(curves, min(cubics, len(strokes)))
    return rng.sample(lines, rng.between(least, len(strokes)) - curves)


def decimal_text(hundredths: int) -> str:
    """Return a number of hundredths as a decimal without trailing zeros."""
    integer, fraction = divmod(abs(hundredths), 100)
    digits = f"{integer}.{fraction:02}".rstrip("0").rstrip(".")
    return f"-{digits}" if hundredths < 0 else digits
