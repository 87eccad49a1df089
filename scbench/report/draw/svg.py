"""Drawing in SVG: shapes in the coordinates of the task, colours by role.

A drawing is deterministic text: the same calls give the same bytes. All text from
answers is escaped here, so picture modules need not escape anything.
"""

import math
from base64 import b64encode
from collections.abc import Iterable, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Literal, TypedDict, Unpack

from scbench.report.draw.looks import look_of, roles_of
from scbench.report.draw.svg_text import (
    arrow_head,
    dash_attribute,
    hatch_pattern,
    known_role,
    opacity_attribute,
    plain_text,
    point_list,
    short,
)
from scbench.report.draw.text_boxes import TextBox

# A drawing with more shapes is cut short and says so; browsers cannot handle it.
MAX_SHAPES = 20_000
# Coordinates further away than this many frames are clipped: answers may point
# anywhere.
_FAR = 4.0
# Maximum radius of a circle in pixels; SVG viewers fail on very large ones.
_LARGEST_RADIUS = 1e5
_LONGEST_TEXT = 80
# Mean width of a letter of a name, and its height, in parts of its size.
_LETTER_WIDTH = 0.56
_LETTER_HEIGHT = 0.8
# Places of a name next to its point, the best place first.
_NAME_SIDES = ((1, -1), (-1, -1), (1, 1), (-1, 1), (0, -1.5), (0, 1.5), (2, 0), (-2, 0))
# Distances of a name from its point, relative to the nearest.
_NAME_DISTANCES = (1.0, 2.2)

XY = Sequence[float]
Pixel = tuple[float, float]
Units = Literal["pixels", "task"]
Anchor = Literal["start", "middle", "end"]


class Fill(TypedDict, total=False):
    """How a shape is filled.

    Attributes:
        opacity: 1 is solid.
        edge: role of its outline; None for no outline.
        width: width of the outline in pixels; 1.5 by default.
        dashed: whether the outline is dashed.
        hatched: whether it is hatched instead of filled.
        tip: text of the tooltip.
    """

    opacity: float
    edge: str | None
    width: float
    dashed: bool
    hatched: bool
    tip: str


class Drawing:
    """A picture under construction.

    Args:
        frame: (x_min, y_min, x_max, y_max) in the task's coordinates; shapes outside are cut off.
        size: longer side of the frame in pixels.
        up: whether y grows upwards, as in mathematics, or downwards, as in a table.
        margin: pixels around the frame for labels.

    Attributes:
        scale: pixels per unit of the task's coordinates.
    """

    def __init__(
        self,
        frame: tuple[float, float, float, float],
        *,
        size: float = 340,
        up: bool = True,
        margin: float = 16,
    ) -> None:
        self._x, self._y, right, top = map(float, frame)
        self._w = max(right - self._x, 1e-9)
        self._h = max(top - self._y, 1e-9)
        self.scale = size / max(self._w, self._h)
        self._up = up
        self._margin = margin
        self._shapes: list[str] = []
        self._hatches: set[str] = set()
        self._left_out = 0
        self._name_boxes: list[TextBox] = []

    @property
    def width(self) -> float:
        """Width of the whole drawing in pixels."""
        return self._w * self.scale + 2 * self._margin

    @property
    def height(self) -> float:
        """Height of the whole drawing in pixels."""
        return self._h * self.scale + 2 * self._margin

    @property
    def roles(self) -> frozenset[str]:
        """Roles of the colours in use."""
        return frozenset(role for shape in self._shapes for role in roles_of(shape))

    def looks(self, role: str) -> list[str]:
        """Return how shapes with a role look: ``line``, ``hatched``, or the opacity of a fill."""
        looks = [look_of(shape, known_role(role)) for shape in self._shapes]
        return [look for look in looks if look]

    def at(self, point: XY) -> Pixel:
        """Return a point of the task in pixels."""
        x = frames_away((as_float(point[0]) - self._x) / self._w) * self._w
        y = frames_away((as_float(point[1]) - self._y) / self._h) * self._h
        if self._up:
            y = self._h - y
        return self._margin + x * self.scale, self._margin + y * self.scale

    def nearest(self, point: XY) -> tuple[float, float]:
        """Return the place inside the frame, in the task's coordinates, nearest to a point."""
        x = min(max(as_float(point[0]), self._x), self._x + self._w)
        y = min(max(as_float(point[1]), self._y), self._y + self._h)
        return x, y

    def line(
        self,
        points: Iterable[XY],
        role: str,
        *,
        width: float = 1.5,
        dashed: bool = False,
        closed: bool = False,
        arrow: bool = False,
        opacity: float = 1,
        tip: str = "",
    ) -> None:
        """Draw straight lines through points; ``arrow`` puts an arrowhead at the last point."""
        ends = [self.at(point) for point in points]
        if len(ends) < 2:
            return
        kind = "polygon" if closed else "polyline"
        self.add(
            f'<{kind} points="{point_list(ends)}" class="s-{known_role(role)}" fill="none" '
            f'stroke-width="{short(width)}" stroke-linejoin="round" stroke-linecap="round"'
            f"{dash_attribute(dashed=dashed)}{opacity_attribute(opacity)}/>",
            tip,
        )
        # A last line of no length has no direction.
        if arrow and ends[-2] != ends[-1]:
            self.add(arrow_head(ends[-2], ends[-1], role, width))

    def outline(
        self, corner: XY, opposite: XY, role: str, *, width: float = 1.5
    ) -> None:
        """Draw the sides of the rectangle between its lowest and its highest corner."""
        self.line(rectangle(corner, opposite), role, closed=True, width=width)

    def strokes(
        self,
        lines: Iterable[Iterable[XY]],
        role: str,
        *,
        width: float = 1,
        dashed: bool = False,
        opacity: float = 1,
        tip: str = "",
    ) -> None:
        """Draw many separate lines as one shape."""
        path = ""
        for line in lines:
            ends = [self.at(point) for point in line]
            path += "M" + "L".join(f"{short(x)} {short(y)}" for x, y in ends)
        if not path:
            return
        self.add(
            f'<path d="{path}" fill="none" class="s-{known_role(role)}" '
            f'stroke-width="{short(width)}" stroke-linecap="round" '
            f'stroke-linejoin="round"{dash_attribute(dashed=dashed)}'
            f"{opacity_attribute(opacity)}/>",
            tip,
        )

    def curve(
        self,
        start: XY,
        control: XY,
        end: XY,
        role: str,
        *,
        width: float = 1.5,
        dashed: bool = False,
        tip: str = "",
    ) -> None:
        """Draw a quadratic Bezier curve."""
        points = []
        for point in (start, control, end):
            x, y = self.at(point)
            points.append(f"{short(x)} {short(y)}")
        first, middle, last = points
        self.add(
            f'<path d="M{first}Q{middle} {last}" fill="none" class="s-{known_role(role)}" '
            f'stroke-width="{short(width)}" stroke-linecap="round"'
            f"{dash_attribute(dashed=dashed)}/>",
            tip,
        )

    def area(self, points: Iterable[XY], role: str, **fill: Unpack[Fill]) -> None:
        """Fill or hatch a polygon."""
        corners = [self.at(point) for point in points]
        if len(corners) >= 3:
            self._fill(f'<polygon points="{point_list(corners)}"', role, **fill)

    def box(self, corner: XY, opposite: XY, role: str, **fill: Unpack[Fill]) -> None:
        """Fill or hatch the rectangle between two opposite corners."""
        self._fill(f"<rect {self._place(corner, opposite)}", role, **fill)

    def tiles(
        self,
        corners: Iterable[XY],
        role: str,
        *,
        size: tuple[float, float] = (1, 1),
        **fill: Unpack[Fill],
    ) -> None:
        """Fill or hatch many rectangles of one size (in the task's units) as one shape.

        Each corner is the one with the smallest coordinates. This needs a fifth of the text of
        separate boxes.
        """
        width, height = size
        rectangles = [
            (corner[0], corner[1], corner[0] + width, corner[1] + height)
            for corner in corners
        ]
        self.mosaic(rectangles, role, **fill)

    def mosaic(
        self,
        rectangles: Iterable[tuple[float, float, float, float]],
        role: str,
        *,
        crisp: bool = False,
        **fill: Unpack[Fill],
    ) -> None:
        """Fill or hatch many rectangles as one shape: lowest x and y, then highest of each.

        Crisp rectangles leave no hairline between neighbours.
        """
        path = ""
        for x0, y0, x1, y1 in rectangles:
            x, y = self.at((x0, y1 if self._up else y0))
            width = short((x1 - x0) * self.scale)
            height = short((y1 - y0) * self.scale)
            path += f"M{short(x)} {short(y)}h{width}v{height}h-{width}z"
        if path:
            sharp = ' shape-rendering="crispEdges"' if crisp else ""
            self._fill(f'<path{sharp} d="{path}"', role, **fill)

    def dot(self, point: XY, role: str, *, radius: float = 3, tip: str = "") -> None:
        """Draw a filled disc; its radius is in pixels."""
        x, y = self.at(point)
        self.add(
            f'<circle cx="{short(x)}" cy="{short(y)}" r="{short(radius)}" '
            f'class="f-{known_role(role)}"/>',
            tip,
        )

    def ring(
        self,
        centre: XY,
        role: str,
        *,
        radius: float = 9,
        units: Units = "pixels",
        width: float = 2,
        dashed: bool = False,
        tip: str = "",
    ) -> None:
        """Draw a circle: around a place that matters (pixels), or as part of the task."""
        x, y = self.at(centre)
        if units == "task":
            radius = min(radius * self.scale, _LARGEST_RADIUS)
        self.add(
            f'<circle cx="{short(x)}" cy="{short(y)}" r="{short(radius)}" fill="none" '
            f'class="s-{known_role(role)}" stroke-width="{short(width)}"'
            f"{dash_attribute(dashed=dashed)}/>",
            tip,
        )

    def cross(
        self, centre: XY, role: str, *, radius: float = 5, width: float = 2
    ) -> None:
        """Draw an x at a place; its radius is in pixels."""
        x, y = self.at(centre)
        left_x = short(x - radius)
        right_x = short(x + radius)
        top = short(y - radius)
        bottom = short(y + radius)
        self.add(
            f'<path d="M{left_x} {top}L{right_x} {bottom}M{left_x} {bottom}L{right_x} {top}" '
            f'fill="none" class="s-{known_role(role)}" stroke-width="{short(width)}" '
            'stroke-linecap="round"/>'
        )

    def tick(self, point: XY, role: str) -> None:
        """Draw a check mark of ten pixels around a point; not every font has one."""
        x, y = self.at(point)
        places = [(x - 5, y), (x - 1.5, y + 4), (x + 5, y - 4)]
        self.add(
            f'<polyline points="{point_list(places)}" class="s-{known_role(role)}" fill="none" '
            'stroke-width="2.5" stroke-linejoin="round" stroke-linecap="round"/>'
        )

    def text(
        self,
        point: XY,
        words: object,
        role: str = "ink",
        *,
        size: float = 11,
        anchor: Anchor = "middle",
        shift: tuple[float, float] = (0, 0),
        bold: bool = False,
    ) -> None:
        """Write at a point, upright, vertically centred, readable over lines; cut at 80 characters.

        The size of the letters is in pixels, as is the shift, to the right and down.
        """
        x, y = self.at(point)
        # A third of its size lifts a text from its baseline to its middle.
        baseline = y + shift[1] + size * 0.35
        weight = ' font-weight="700"' if bold else ""
        self.add(
            f'<text x="{short(x + shift[0])}" y="{short(baseline)}" '
            f'font-size="{short(size)}" text-anchor="{anchor}" '
            f'class="halo f-{known_role(role)}"{weight}>'
            f"{plain_text(str(words)[:_LONGEST_TEXT])}</text>"
        )

    def name(
        self, point: XY, words: object, role: str = "ink", *, size: float = 10
    ) -> None:
        """Write a name next to a point, where no other name is; skip it if there is no room."""
        x, y = self.at(point)
        width = _LETTER_WIDTH * size * len(str(words)[:_LONGEST_TEXT])
        height = _LETTER_HEIGHT * size
        for distance in _NAME_DISTANCES:
            for dx, dy in _NAME_SIDES:
                shift_x = dx * (width / 2 + 4) * distance
                # To the left or right of its point, a name is shifted by half its
                # width.
                if abs(dx) == 2:
                    shift_x = dx / 2 * (width / 2 + 6 * distance)
                shift_y = dy * 6 * distance
                box = TextBox(
                    x + shift_x - width / 2,
                    y + shift_y - height / 2,
                    x + shift_x + width / 2,
                    y + shift_y + height / 2,
                )
                if not box.overlaps(self._name_boxes):
                    self._name_boxes.append(box)
                    self.text(point, words, role, size=size, shift=(shift_x, shift_y))
                    return

    def image(self, corner: XY, opposite: XY, png: bytes) -> None:
        """Fill the rectangle between two opposite corners with a picture."""
        href = f"data:image/png;base64,{b64encode(png).decode()}"
        self.add(f'<image {self._place(corner, opposite)} href="{href}"/>')

    def add(self, shape: str, tip: str = "") -> None:
        """Add a shape, an SVG element in pixels, with a tooltip if ``tip`` is not empty."""
        if len(self._shapes) >= MAX_SHAPES:
            self._left_out += 1
            return
        if tip:
            name, _, attributes = shape.removesuffix("/>").partition(" ")
            title = f"<title>{plain_text(tip)}</title>"
            shape = f"{name} {attributes}>{title}</{name[1:]}>"
        self._shapes.append(shape)

    def _fill(self, shape: str, role: str, **fill: Unpack[Fill]) -> None:
        """Add a filled or hatched shape; its element must not be closed yet."""
        classes = []
        attributes = ""
        if fill.get("hatched"):
            self._hatches.add(known_role(role))
            attributes += f' fill="url(#HATCH-{role})"'
        else:
            classes.append(f"f-{known_role(role)}")
        opacity = fill.get("opacity", 1)
        if opacity < 1:
            attributes += f' fill-opacity="{short(opacity)}"'
        edge = fill.get("edge")
        if edge is not None:
            classes.append(f"s-{known_role(edge)}")
            width = short(fill.get("width", 1.5))
            attributes += f' stroke-width="{width}" stroke-linejoin="round"'
            attributes += dash_attribute(dashed=fill.get("dashed", False))
        if classes:
            attributes = f' class="{" ".join(classes)}"{attributes}'
        self.add(f"{shape}{attributes}/>", fill.get("tip", ""))

    def _place(self, corner: XY, opposite: XY) -> str:
        """Return the attributes of the rectangle between two opposite corners."""
        ax, ay = self.at(corner)
        bx, by = self.at(opposite)
        return (
            f'x="{short(min(ax, bx))}" y="{short(min(ay, by))}" '
            f'width="{short(abs(bx - ax))}" height="{short(abs(by - ay))}"'
        )

    def render(self, label: str) -> str:
        """Return the SVG element with a label for screen readers; the page has the style sheet."""
        if self._left_out:
            self._shapes.append(
                f'<text x="4" y="12" font-size="11" class="f-wrong">{self._left_out} more shapes '
                "are not drawn</text>"
            )
        body = "".join(self._shapes)
        # Patterns are found by id through the whole page, so each drawing has its own.
        prefix = "h" + sha256(body.encode()).hexdigest()[:12]
        body = body.replace("url(#HATCH-", f"url(#{prefix}-")
        patterns = ""
        for role in sorted(self._hatches):
            patterns += hatch_pattern(f"{prefix}-{role}", role)
        if patterns:
            patterns = f"<defs>{patterns}</defs>"
        width = short(self.width)
        height = short(self.height)
        return (
            f'<svg class="sb" role="img" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}"><title>{plain_text(label)}</title>'
            f"{patterns}{body}</svg>"
        )


def as_float(value: float | Fraction) -> float:
    """Return a number of any size as a float."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(1e300, 1 if value > 0 else -1)


def frames_away(share: float) -> float:
    """Return a position relative to the frame (0 to 1 inside it), clipped slightly outside."""
    return min(max(share, -_FAR), 1 + _FAR)


def rectangle(low: Sequence[float], high: Sequence[float]) -> list[tuple[float, float]]:
    """Return the corners of a rectangle in ring order, starting at the lowest, along x first."""
    return [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
