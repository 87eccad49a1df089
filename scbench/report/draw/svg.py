"""Drawing in SVG: shapes in the coordinates of the task, colours by role.

A drawing is deterministic text: the same calls give the same bytes. Everything that comes from an
answer is escaped here, so no picture module needs to think of it.
"""

import math
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from fractions import Fraction
from hashlib import sha256
from html import escape
from typing import Literal, TypedDict, Unpack

from scbench.base.errors import ResultsError
from scbench.report.draw.colours import ROLES

_ROLE = re.compile(r'(?:(?<=[" ])[sf]-|#HATCH-)(\w+)')
_OPACITY = re.compile(r'fill-opacity="([\d.]+)"')
# Coordinates this many frames away are pulled in: answers may point anywhere.
_FAR = 4.0


XY = Sequence[float]

# Where a name may stand beside its point, the best place first.
_SIDES = ((1, -1), (-1, -1), (1, 1), (-1, 1), (0, -1.5), (0, 1.5), (2, 0), (-2, 0))

# A drawing with more shapes says that it was cut short; a browser would choke on it.
MAX_SHAPES = 20_000
_RECT = '<rect x="1" y="1" width="16" height="10"'


def as_float(value: float | Fraction) -> float:
    """Return a number as a float, however many digits it has."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(1e300, 1 if value > 0 else -1)


def frames_away(share: float) -> float:
    """Return where in the frame something is, 0 to 1 within it, and not too far outside."""
    return min(max(share, -_FAR), 1 + _FAR)


def short(value: float) -> str:
    """Return a number to a hundredth of a pixel, without zeros that say nothing."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def plain_text(words: object) -> str:
    """Return text that is valid in XML: no control characters, no halves of characters, escaped."""
    return escape(
        "".join(
            c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(words)
        )
    )


def point_list(ends: Iterable[tuple[float, float]]) -> str:
    """Return pixels as the value of an attribute ``points``."""
    return " ".join(f"{short(x)},{short(y)}" for x, y in ends)


def arrow_head(
    tail: tuple[float, float], tip: tuple[float, float], role: str, width: float
) -> str:
    """Return the head of an arrow; its two ends are pixels, and not the same."""
    dx, dy = tip[0] - tail[0], tip[1] - tail[1]
    size = (4 + 2 * width) / math.hypot(dx, dy)
    ux, uy = dx * size, dy * size
    back = (tip[0] - ux, tip[1] - uy)
    wings = [
        (back[0] - uy / 2, back[1] + ux / 2),
        tip,
        (back[0] + uy / 2, back[1] - ux / 2),
    ]
    return f'<polygon points="{point_list(wings)}" class="f-{known_role(role)}"/>'


def rectangle(low: Sequence[float], high: Sequence[float]) -> list[tuple[float, float]]:
    """Return the corners of a rectangle, from the lowest along x, round to the one above it."""
    return [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]


def known_role(name: str) -> str:
    """Return a role.

    Raises:
        ResultsError: no colour has it.
    """
    if name not in ROLES:
        raise ResultsError(f"no colour has the role {name!r}")
    return name


def opacity_attribute(value: float) -> str:
    """Return the opacity attribute; empty for what is solid."""
    return f' opacity="{short(value)}"' if value < 1 else ""


def _dashing(dashed: bool | None) -> str:
    return ' stroke-dasharray="5 4"' if dashed else ""


def hatch_pattern(name: str, role: str) -> str:
    """Return the definition of a hatching."""
    return (
        f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><path d="M0 0V6" class="s-{role}" stroke-width="3"/>'
        "</pattern>"
    )


def roles_of(shape: str) -> list[str]:
    """Return the roles of a shape's stroke, fill and hatching."""
    return _ROLE.findall(shape.partition(">")[0])


def look_of(shape: str, role: str) -> str:
    """Return how a shape shows a role: ``line``, ``hatched``, the opacity of a fill, or not."""
    head = shape.partition(">")[0]
    if head.startswith("<text"):
        return ""
    if f"#HATCH-{role})" in head:
        return "hatched"
    if re.search(rf'["]f-{role}\b', head):
        opacity = _OPACITY.search(head)
        return opacity[1] if opacity else "1"
    return "line" if re.search(rf'[" ]s-{role}\b', head) else ""


class Fill(TypedDict, total=False):
    """How a shape is filled."""

    opacity: float  #: 1 is solid.
    edge: str | None  #: role of its outline; without one it has none.
    width: float  #: of the outline in pixels; 1.5 if nothing is said.
    dashed: bool  #: whether the outline is dashed.
    hatched: bool  #: whether it is hatched, not filled.
    tip: str  #: words shown where the pointer rests.


class Drawing:
    """A picture under construction.

    Args:
        frame: (x_min, y_min, x_max, y_max) in the task's coordinates; shapes outside are cut off.
        size: longer side of the frame in pixels.
        up: whether y grows upwards, as in mathematics, or downwards, as in a table.
        margin: pixels left around the frame for labels.
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
        self._w, self._h = max(right - self._x, 1e-9), max(top - self._y, 1e-9)
        self.scale = size / max(self._w, self._h)
        """Pixels per unit of the task's coordinates."""
        self._up = up
        self._margin = margin
        self._shapes: list[str] = []
        self._hatches: set[str] = set()
        self._left_out = 0
        self._name_rooms: list[tuple[float, float, float, float]] = []

    def at(self, point: XY) -> tuple[float, float]:
        """Return a point of the task in pixels."""
        x = frames_away((as_float(point[0]) - self._x) / self._w) * self._w
        y = frames_away((as_float(point[1]) - self._y) / self._h) * self._h
        y = self._h - y if self._up else y
        return self._margin + x * self.scale, self._margin + y * self.scale

    def nearest(self, point: XY) -> tuple[float, float]:
        """Return the place inside the frame, in the task's coordinates, nearest to a point."""
        x = min(max(as_float(point[0]), self._x), self._x + self._w)
        y = min(max(as_float(point[1]), self._y), self._y + self._h)
        return x, y

    def _add(self, shape: str, tip: str = "") -> None:
        if len(self._shapes) >= MAX_SHAPES:
            self._left_out += 1
            return
        if tip:
            name, _, attributes = shape.partition(" ")
            shape = f"{name} {attributes[:-2]}><title>{plain_text(tip)}</title></{name[1:]}>"
        self._shapes.append(shape)

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
        """Draw straight lines through points; with ``arrow``, a head at the last of them."""
        ends = [self.at(point) for point in points]
        if len(ends) < 2:
            return
        kind = "polygon" if closed else "polyline"
        self._add(
            f'<{kind} points="{point_list(ends)}" class="s-{known_role(role)}" fill="none" '
            f'stroke-width="{short(width)}" stroke-linejoin="round" stroke-linecap="round"'
            f"{_dashing(dashed)}{opacity_attribute(opacity)}/>",
            tip,
        )
        if arrow and ends[-2] != ends[-1]:
            self._add(arrow_head(ends[-2], ends[-1], role, width))

    def area(self, points: Iterable[XY], role: str, **fill: Unpack[Fill]) -> None:
        """Fill or hatch a polygon."""
        corners = [self.at(point) for point in points]
        if len(corners) < 3:
            return
        self._fill(f'<polygon points="{point_list(corners)}"', role, **fill)

    def box(self, corner: XY, opposite: XY, role: str, **fill: Unpack[Fill]) -> None:
        """Fill or hatch the rectangle between two opposite corners."""
        self._fill(f"<rect {self._frame_attributes(corner, opposite)}", role, **fill)

    def _frame_attributes(self, corner: XY, opposite: XY) -> str:
        (ax, ay), (bx, by) = self.at(corner), self.at(opposite)
        return (
            f'x="{short(min(ax, bx))}" y="{short(min(ay, by))}" '
            f'width="{short(abs(bx - ax))}" height="{short(abs(by - ay))}"'
        )

    def tiles(
        self,
        corners: Iterable[XY],
        role: str,
        *,
        size: tuple[float, float] = (1, 1),
        **fill: Unpack[Fill],
    ) -> None:
        """Fill or hatch many rectangles of one size (in the task's units) as one shape.

        A corner is the one with the smallest coordinates. Takes a fifth of the text of boxes.
        """
        width, height = size
        rectangles = (
            (corner[0], corner[1], corner[0] + width, corner[1] + height)
            for corner in corners
        )
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

        Crisp ones leave no hairline between neighbours.
        """
        path = ""
        for x0, y0, x1, y1 in rectangles:
            x, y = self.at((x0, y1 if self._up else y0))
            width, height = short((x1 - x0) * self.scale), short((y1 - y0) * self.scale)
            path += f"M{short(x)} {short(y)}h{width}v{height}h-{width}z"
        if path:
            sharp = ' shape-rendering="crispEdges"' if crisp else ""
            self._fill(f'<path{sharp} d="{path}"', role, **fill)

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
        path = "".join(
            "M" + "L".join(f"{short(x)} {short(y)}" for x, y in map(self.at, line))
            for line in lines
        )
        if path:
            self._add(
                f'<path d="{path}" fill="none" class="s-{known_role(role)}" '
                f'stroke-width="{short(width)}" stroke-linecap="round" '
                f'stroke-linejoin="round"{_dashing(dashed)}{opacity_attribute(opacity)}/>',
                tip,
            )

    def _fill(self, shape: str, role: str, **fill: Unpack[Fill]) -> None:
        opacity, edge = fill.get("opacity", 1), fill.get("edge")
        if fill.get("hatched"):
            self._hatches.add(known_role(role))
            paint = f' fill="url(#HATCH-{role})"'
            classes: list[str] = []
        else:
            paint = ""
            classes = [f"f-{known_role(role)}"]
        stroke = ""
        if edge is not None:
            classes.append(f"s-{known_role(edge)}")
            stroke = f' stroke-width="{short(fill.get("width", 1.5))}" stroke-linejoin="round"'
            stroke += _dashing(fill.get("dashed"))
        class_attribute = f' class="{" ".join(classes)}"' if classes else ""
        transparency = f' fill-opacity="{short(opacity)}"' if opacity < 1 else ""
        self._add(
            f"{shape}{class_attribute}{paint}{transparency}{stroke}/>",
            fill.get("tip", ""),
        )

    def dot(self, point: XY, role: str, *, radius: float = 3, tip: str = "") -> None:
        """Draw a filled disc; its radius is in pixels."""
        x, y = self.at(point)
        self._add(
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
        units: Literal["pixels", "task"] = "pixels",
        width: float = 2,
        dashed: bool = False,
        tip: str = "",
    ) -> None:
        """Draw a circle: around a place that matters (pixels), or as part of the task."""
        x, y = self.at(centre)
        r = min(radius * self.scale, 1e5) if units == "task" else radius
        self._add(
            f'<circle cx="{short(x)}" cy="{short(y)}" r="{short(r)}" fill="none" '
            f'class="s-{known_role(role)}" stroke-width="{short(width)}"{_dashing(dashed)}/>',
            tip,
        )

    def cross(
        self, centre: XY, role: str, *, radius: float = 5, width: float = 2
    ) -> None:
        """Draw an x at a place; its radius is in pixels."""
        x, y = self.at(centre)
        a, b, c, d = (
            short(x - radius),
            short(x + radius),
            short(y - radius),
            short(y + radius),
        )
        self._add(
            f'<path d="M{a} {c}L{b} {d}M{a} {d}L{b} {c}" fill="none" class="s-{known_role(role)}" '
            f'stroke-width="{short(width)}" stroke-linecap="round"/>'
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
        a, b, c = (
            " ".join(map(short, self.at(point))) for point in (start, control, end)
        )
        self._add(
            f'<path d="M{a}Q{b} {c}" fill="none" class="s-{known_role(role)}" '
            f'stroke-width="{short(width)}" stroke-linecap="round"{_dashing(dashed)}/>',
            tip,
        )

    def text(
        self,
        point: XY,
        words: object,
        role: str = "ink",
        *,
        size: float = 11,
        anchor: Literal["start", "middle", "end"] = "middle",
        shift: tuple[float, float] = (0, 0),
        bold: bool = False,
    ) -> None:
        """Write at a point, upright, vertically centred, readable over lines; cut at 80 characters.

        The size of the letters is in pixels, as is the shift, to the right and down.
        """
        x, y = self.at(point)
        weight = ' font-weight="700"' if bold else ""
        self._add(
            f'<text x="{short(x + shift[0])}" y="{short(y + shift[1] + size * 0.35)}" '
            f'font-size="{short(size)}" text-anchor="{anchor}" '
            f'class="halo f-{known_role(role)}"{weight}>'
            f"{plain_text(str(words)[:80])}</text>"
        )

    def name(
        self, point: XY, words: object, role: str = "ink", *, size: float = 10
    ) -> None:
        """Write beside a point, where no other name stands; nowhere if there is no room."""
        x, y = self.at(point)
        width, height = 0.56 * size * len(str(words)[:80]), 0.8 * size
        for near in (1.0, 2.2):
            for dx, dy in _SIDES:
                sx, sy = dx * (width / 2 + 4) * near, dy * 6 * near
                if abs(dx) == 2:
                    sx = dx / 2 * (width / 2 + 6 * near)
                room = (
                    x + sx - width / 2,
                    y + sy - height / 2,
                    x + sx + width / 2,
                    y + sy + height / 2,
                )
                if not any(
                    a < room[2] and room[0] < c and b < room[3] and room[1] < d
                    for a, b, c, d in self._name_rooms
                ):
                    self._name_rooms.append(room)
                    self.text(point, words, role, size=size, shift=(sx, sy))
                    return

    def image(self, corner: XY, opposite: XY, png: bytes) -> None:
        """Fill the rectangle between two opposite corners with a picture."""
        href = f"data:image/png;base64,{b64encode(png).decode()}"
        self._add(f'<image {self._frame_attributes(corner, opposite)} href="{href}"/>')

    @property
    def roles(self) -> frozenset[str]:
        """Roles of the colours in use."""
        return frozenset(role for shape in self._shapes for role in roles_of(shape))

    def looks(self, role: str) -> list[str]:
        """Return how shapes with a role look: ``line``, ``hatched``, or the opacity of a fill."""
        return [look for shape in self._shapes if (look := look_of(shape, role))]

    @property
    def width(self) -> float:
        """Width of the whole drawing in pixels."""
        return self._w * self.scale + 2 * self._margin

    @property
    def height(self) -> float:
        """Height of the whole drawing in pixels."""
        return self._h * self.scale + 2 * self._margin

    def render(self, label: str) -> str:
        """Return the SVG element, with a label for who cannot see; its page has the style sheet."""
        if self._left_out:
            self._shapes.append(
                f'<text x="4" y="12" font-size="11" class="f-wrong">{self._left_out} more shapes '
                "are not drawn</text>"
            )
        body = "".join(self._shapes)
        # Patterns are found by id through the whole page, so each drawing has its own.
        prefix = "h" + sha256(body.encode()).hexdigest()[:12]
        hatches = "".join(
            hatch_pattern(f"{prefix}-{role}", role) for role in sorted(self._hatches)
        )
        body = body.replace("url(#HATCH-", f"url(#{prefix}-")
        width, height = short(self.width), short(self.height)
        return (
            f'<svg class="sb" role="img" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}"><title>{plain_text(label)}</title>'
            f"{f'<defs>{hatches}</defs>' if hatches else ''}{body}</svg>"
        )


def swatch(views: Iterable[object], role: str) -> str:
    """Return a sample of what has a role in drawings: hatched, a line, or filled as strongly."""
    looks = [
        look
        for v in views
        if isinstance(v, Drawing)
        for look in v.looks(known_role(role))
    ]
    fills = [look for look in looks if look != "line"]
    if role == "wrong":  # whatever its shape, it is thick
        shape = f'{_RECT} fill="none" class="s-wrong" stroke-width="3"/>'
    elif "hatched" in fills or role == "missing":
        # Lines, not a pattern: patterns are found by id, and a page has many legends.
        shape = (
            f'{_RECT} fill="none" class="s-{role}" stroke-width="1.5" stroke-dasharray="3 2"/>'
            f'<path d="M4 11L10 1M10 11L16 1" class="s-{role}" stroke-width="1.5"/>'
        )
    elif looks and not fills:
        shape = f'<path d="M0 6h18" fill="none" class="s-{role}" stroke-width="3"/>'
    else:
        opacity = max(map(float, fills), default=1.0)
        pale = (
            f' fill-opacity="{short(opacity)}" stroke-width="1.5"'
            if opacity < 1
            else ""
        )
        edge = f" s-{role}" if pale else ""
        shape = f'{_RECT} rx="2" class="f-{role}{edge}"{pale}/>'
    return (
        '<svg class="sb swatch" width="18" height="12" viewBox="0 0 18 12" aria-hidden="true">'
        f"{shape}</svg>"
    )
