"""Sheets: pictures as separate files, with caption and legend."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from scbench.report.draw.colours import style_sheet
from scbench.report.draw.svg import Drawing
from scbench.report.draw.svg_text import short
from scbench.report.draw.swatch import swatch
from scbench.report.picture import Panel, Picture

# Pixels: around a sheet, between panels, and heights of titles and lines.
_PAD = 16.0
_GAP = 22.0
_TITLE = 20.0
_LINE = 19.0
_LEAST_WIDTH = 420.0
# Sizes of a scene.
_SCENE_WIDTH = 360.0
_SCENE_HEIGHT = 300.0
# Pixels for the sample before a legend's words, and for the gap after them.
_SAMPLE = 26
_LEGEND_GAP = 24
# Height of letters.
_SIZE = 13
# Mean width of a letter relative to its height; no font is loaded to measure text.
_LETTER = 0.5
# Image pixels per sheet pixel, equal to the resolution of PNG files.
_DENSITY = 2.0
_FONT = "system-ui,sans-serif"


class RenderedPanel(NamedTuple):
    """A panel as an SVG element of a size in pixels."""

    title: str
    svg: str
    width: float
    height: float


class Sheet:
    """A sheet under construction, filled from top to bottom.

    Attributes:
        parts: SVG elements.
        width: in pixels.
        y: top of the next part, in pixels from the top.
    """

    def __init__(self, width: float) -> None:
        self.parts: list[str] = []
        self.width = width
        self.y = _PAD

    def write(
        self, x: float, y: float, words: str, role: str, *, bold: bool = False
    ) -> None:
        """Write a line of text, without wrapping it."""
        weight = ' font-weight="700"' if bold else ""
        place = f'x="{short(x)}" y="{short(y + _SIZE)}"'
        self.parts.append(
            f'<text {place} font-size="{_SIZE}" class="f-{role}"{weight}>'
            f"{escape(words)}</text>"
        )

    def place(self, x: float, y: float, svg: str) -> None:
        """Place an SVG element."""
        start = f'<svg x="{short(x)}" y="{short(y)}" '
        self.parts.append(svg.replace("<svg ", start, 1))

    def add_heading(self, words: str) -> None:
        """Write the heading."""
        self.write(_PAD, self.y, words, "ink", bold=True)
        self.y += _LINE + 6

    def add_row(self, row: Sequence[RenderedPanel]) -> None:
        """Place panels side by side, their titles above them."""
        x = _PAD
        for panel in row:
            limit = max(int(panel.width / (_LETTER * _SIZE)), 4)
            self.write(x, self.y, cut(panel.title, limit), "quiet")
            self.place(x, self.y + _TITLE, panel.svg)
            x += panel.width + _GAP
        self.y += _TITLE + max(panel.height for panel in row) + 10

    def add_caption(self, words: str) -> None:
        """Write the caption."""
        for line in wrapped(words, self.width - 2 * _PAD):
            self.write(_PAD, self.y, line, "ink")
            self.y += _LINE
        self.y += 4

    def add_legend(self, picture: Picture) -> None:
        """Write the legend: short entries side by side, longer ones on separate lines."""
        if not picture.legend:
            return
        x = _PAD
        views = [panel.view for panel in picture.panels]
        for role, words in picture.legend:
            lines = wrapped(words, self.width - 2 * _PAD - _SAMPLE)
            letters = max(map(len, lines))
            width = _SAMPLE + letters * _LETTER * _SIZE + _LEGEND_GAP
            is_cut_off = x + width > self.width - _PAD
            if x > _PAD and (is_cut_off or len(lines) > 1):
                x = _PAD
                self.y += _LINE
            self.place(x, self.y + 2, swatch(views, role))
            for i, line in enumerate(lines):
                self.write(x + _SAMPLE, self.y + i * _LINE, line, "ink")
            x += width
            self.y += (len(lines) - 1) * _LINE
        self.y += _LINE


def sheet_svg(
    picture: Picture,
    heading: str = "",
    *,
    dark: bool | None = None,
    most_width: float = 1240,
    font: str = _FONT,
) -> str:
    """Return a picture as an SVG file: its panels side by side, then caption and legend.

    Panels continue in a new row after ``most_width`` pixels; dark None follows the reader's mode.
    """
    panels = [rendered(panel, dark=dark) for panel in picture.panels]
    rows = rows_of(panels, most_width)
    content_width = _LEAST_WIDTH
    for row in rows:
        row_width = sum(panel.width + _GAP for panel in row) - _GAP
        content_width = max(content_width, row_width)
    sheet = Sheet(content_width + 2 * _PAD)
    if heading:
        sheet.add_heading(heading)
    for row in rows:
        sheet.add_row(row)
    sheet.add_caption(picture.caption)
    sheet.add_legend(picture)
    style = style_sheet(dark).replace(_FONT, font)
    width = short(sheet.width)
    height = short(sheet.y + _PAD - 4)
    size = f'width="{width}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sb" role="img" {size} '
        f'viewBox="0 0 {width} {height}">'
        f"<title>{escape(heading or picture.caption)}</title>"
        f'<style>{style}</style><rect {size} class="f-paper"/>{"".join(sheet.parts)}</svg>\n'
    )


def sheet_png(svg: str, scale: float = 2) -> bytes:
    """Return a sheet as a PNG file.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    import vl_convert  # noqa: PLC0415  (an extra, and large)

    return bytes(vl_convert.svg_to_png(svg, scale=scale))


def rendered(panel: Panel, *, dark: bool | None) -> RenderedPanel:
    """Return a panel as an SVG element."""
    view = panel.view
    if isinstance(view, Drawing):
        svg = view.render(panel.alt)
        return RenderedPanel(panel.title, svg, view.width, view.height)
    from scbench.report.draw.raster import scene_svg  # noqa: PLC0415  (flat pictures do without)

    svg = scene_svg(
        view,
        panel.alt,
        width=_SCENE_WIDTH,
        height=_SCENE_HEIGHT,
        dark=dark,
        density=_DENSITY,
    )
    return RenderedPanel(panel.title, svg, _SCENE_WIDTH, _SCENE_HEIGHT)


def rows_of(
    panels: Sequence[RenderedPanel], most_width: float
) -> list[list[RenderedPanel]]:
    """Distribute panels over rows; there is at least one row with one panel."""
    rows: list[list[RenderedPanel]] = [[]]
    x = 0.0
    for panel in panels:
        if rows[-1] and x + panel.width > most_width:
            rows.append([])
            x = 0.0
        rows[-1].append(panel)
        x += panel.width + _GAP
    return rows


def wrapped(words: str, width: float) -> list[str]:
    """Return text wrapped into lines; words longer than a line are cut."""
    limit = max(int(width / (_LETTER * _SIZE)), 10)
    lines = [""]
    for word in words.split():
        piece = cut(word, limit)
        if lines[-1] and len(lines[-1]) + 1 + len(piece) > limit:
            lines.append(piece)
        else:
            lines[-1] = f"{lines[-1]} {piece}".strip()
    return lines


def cut(words: str, limit: int) -> str:
    """Return text truncated to this many characters."""
    return words if len(words) <= limit else f"{words[: limit - 1]}…"
