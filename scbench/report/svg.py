"""Drawing in SVG: shapes in the coordinates of the task, colours by role.

A drawing is deterministic text: the same calls give the same bytes. Everything that comes from an
answer is escaped here, so no picture module needs to think of it.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from typing import Literal

from scbench.errors import ResultsError
from scbench.report.colours import ROLES, style_sheet

XY = Sequence[float]

MAX_SHAPES = 20_000
"""A drawing with more shapes says that it was cut short; a browser would choke on it."""

_FAR = 4.0
"""Coordinates this many frames away are pulled in: answers may point anywhere."""


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

    def at(self, point: XY) -> tuple[float, float]:
        """Return a point of the task in pixels."""
        x = min(max((point[0] - self._x) / self._w, -_FAR), 1 + _FAR) * self._w
        y = min(max((point[1] - self._y) / self._h, -_FAR), 1 + _FAR) * self._h
        y = self._h - y if self._up else y
        return self._margin + x * self.scale, self._margin + y * self.scale

    def _add(self, shape: str, tip: str = "") -> None:
        if len(self._shapes) >= MAX_SHAPES:
            self._left_out += 1
            return
        if tip:
            name, _, rest = shape.partition(" ")
            shape = f"{name} {rest[:-2]}><title>{escape(tip)}</title></{name[1:]}>"
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
        extra = ' stroke-dasharray="5 4"' if dashed else ""
        self._add(
            f'<{kind} points="{_points(ends)}" class="s-{_role(role)}" fill="none" '
            f'stroke-width="{_n(width)}" stroke-linejoin="round" stroke-linecap="round"'
            f"{extra}{_opacity(opacity)}/>",
            tip,
        )
        if arrow:
            self._head(ends[-2], ends[-1], role, width)

    def _head(
        self, tail: tuple[float, float], tip: tuple[float, float], role: str, width: float
    ) -> None:
        dx, dy = tip[0] - tail[0], tip[1] - tail[1]
        length = (dx * dx + dy * dy) ** 0.5
        if length == 0:
            return
        size = 4 + 2 * width
        ux, uy = dx / length * size, dy / length * size
        back = (tip[0] - ux, tip[1] - uy)
        wings = [(back[0] - uy / 2, back[1] + ux / 2), tip, (back[0] + uy / 2, back[1] - ux / 2)]
        self._add(f'<polygon points="{_points(wings)}" class="f-{_role(role)}"/>')

    def area(
        self,
        points: Iterable[XY],
        role: str,
        *,
        opacity: float = 1,
        edge: str | None = None,
        width: float = 1.5,
        dashed: bool = False,
        hatched: bool = False,
        tip: str = "",
    ) -> None:
        """Fill a polygon, or hatch it; ``edge`` is the role of its outline."""
        corners = [self.at(point) for point in points]
        if len(corners) < 3:
            return
        shape = f'<polygon points="{_points(corners)}"'
        self._fill(shape, role, opacity, edge, width, dashed, hatched, tip)

    def box(
        self,
        corner: XY,
        other: XY,
        role: str,
        *,
        opacity: float = 1,
        edge: str | None = None,
        width: float = 1.5,
        dashed: bool = False,
        hatched: bool = False,
        tip: str = "",
    ) -> None:
        """Fill or hatch the rectangle between two opposite corners."""
        (ax, ay), (bx, by) = self.at(corner), self.at(other)
        shape = (
            f'<rect x="{_n(min(ax, bx))}" y="{_n(min(ay, by))}" '
            f'width="{_n(abs(bx - ax))}" height="{_n(abs(by - ay))}"'
        )
        self._fill(shape, role, opacity, edge, width, dashed, hatched, tip)

    def _fill(
        self,
        shape: str,
        role: str,
        opacity: float,
        edge: str | None,
        width: float,
        dashed: bool,  # noqa: FBT001
        hatched: bool,  # noqa: FBT001
        tip: str,
    ) -> None:
        if hatched:
            self._hatches.add(_role(role))
            fill = f' fill="url(#HATCH-{role})"'
            classes: list[str] = []
        else:
            fill = ""
            classes = [f"f-{_role(role)}"]
        stroke = ""
        if edge is not None:
            classes.append(f"s-{_role(edge)}")
            dashes = ' stroke-dasharray="5 4"' if dashed else ""
            stroke = f' stroke-width="{_n(width)}" stroke-linejoin="round"{dashes}'
        named = f' class="{" ".join(classes)}"' if classes else ""
        seen = f' fill-opacity="{_n(opacity)}"' if opacity < 1 else ""
        self._add(f"{shape}{named}{fill}{seen}{stroke}/>", tip)

    def dot(self, point: XY, role: str, *, radius: float = 3, tip: str = "") -> None:
        """Draw a filled disc; its radius is in pixels."""
        x, y = self.at(point)
        self._add(
            f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" class="f-{_role(role)}"/>', tip
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
        extra = ' stroke-dasharray="5 4"' if dashed else ""
        self._add(
            f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}" fill="none" '
            f'class="s-{_role(role)}" stroke-width="{_n(width)}"{extra}/>',
            tip,
        )

    def cross(self, centre: XY, role: str, *, radius: float = 5, width: float = 2) -> None:
        """Draw an x at a place; its radius is in pixels."""
        x, y = self.at(centre)
        a, b, c, d = _n(x - radius), _n(x + radius), _n(y - radius), _n(y + radius)
        self._add(
            f'<path d="M{a} {c}L{b} {d}M{a} {d}L{b} {c}" fill="none" class="s-{_role(role)}" '
            f'stroke-width="{_n(width)}" stroke-linecap="round"/>'
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
        a, b, c = (" ".join(map(_n, self.at(point))) for point in (start, control, end))
        extra = ' stroke-dasharray="5 4"' if dashed else ""
        self._add(
            f'<path d="M{a}Q{b} {c}" fill="none" class="s-{_role(role)}" '
            f'stroke-width="{_n(width)}" stroke-linecap="round"{extra}/>',
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
        """Write at a point, upright and readable over lines.

        Args:
            point: where; the text stands around it, vertically centred.
            words: what, put through ``str``; cut at 80 characters.
            role: its colour.
            size: height of the letters in pixels.
            anchor: which part of the text is at the point.
            shift: moves it by so many pixels, to the right and down.
            bold: whether it is bold.
        """
        x, y = self.at(point)
        weight = ' font-weight="700"' if bold else ""
        self._add(
            f'<text x="{_n(x + shift[0])}" y="{_n(y + shift[1] + size * 0.35)}" '
            f'font-size="{_n(size)}" text-anchor="{anchor}" class="halo f-{_role(role)}"{weight}>'
            f"{escape(str(words)[:80])}</text>"
        )

    @property
    def width(self) -> float:
        """Width of the whole drawing in pixels."""
        return self._w * self.scale + 2 * self._margin

    @property
    def height(self) -> float:
        """Height of the whole drawing in pixels."""
        return self._h * self.scale + 2 * self._margin

    def render(self, label: str, *, alone: bool = False) -> str:
        """Return the SVG element.

        Args:
            label: what it shows, for people who cannot see it.
            alone: whether it stands in a file of its own, which then needs its own style and
                paper.
        """
        if self._left_out:
            self._shapes.append(
                f'<text x="4" y="12" font-size="11" class="f-wrong">{self._left_out} more shapes '
                "are not drawn</text>"
            )
        body = "".join(self._shapes)
        # Patterns are found by id through the whole page, so each drawing has its own.
        prefix = "h" + sha256(body.encode()).hexdigest()[:12]
        hatches = "".join(_hatch(f"{prefix}-{role}", role) for role in sorted(self._hatches))
        body = body.replace("url(#HATCH-", f"url(#{prefix}-")
        width, height = _n(self.width), _n(self.height)
        head = space = ""
        if alone:
            space = ' xmlns="http://www.w3.org/2000/svg"'
            head = f"<style>{style_sheet()}</style>"
            body = f'<rect width="{width}" height="{height}" class="f-paper"/>{body}'
        return (
            f'<svg{space} class="sb" role="img" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}"><title>{escape(label)}</title>{head}'
            f"{f'<defs>{hatches}</defs>' if hatches else ''}{body}</svg>"
        )


def _hatch(name: str, role: str) -> str:
    return (
        f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><path d="M0 0V6" class="s-{role}" stroke-width="3"/>'
        "</pattern>"
    )


def _role(name: str) -> str:
    if name not in ROLES:
        raise ResultsError(f"no colour has the role {name!r}")
    return name


def _n(value: float) -> str:
    """Return a number to a hundredth of a pixel, without zeros that say nothing."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def _points(ends: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in ends)


def _opacity(value: float) -> str:
    return f' opacity="{_n(value)}"' if value < 1 else ""


def drawing_png(drawing: Drawing, label: str, *, scale: float = 2) -> bytes:
    """Return a drawing as a PNG file, on white paper.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    import vl_convert  # noqa: PLC0415  (an extra, and large)

    return bytes(vl_convert.svg_to_png(drawing.render(label, alone=True), scale=scale))
