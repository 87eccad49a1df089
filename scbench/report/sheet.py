"""A whole picture as one file: its panels, caption and legend in one SVG, or as PNG."""

from html import escape
from typing import NamedTuple

from scbench.report.draw.colours import style_sheet
from scbench.report.draw.svg import Drawing, short, swatch
from scbench.report.picture import Panel, Picture

_PAD = 16.0
_GAP = 22.0
_TITLE = 20.0
_LINE = 19.0
_SIZE = 13
_DENSITY = 2.0
"""Pixels of images in it for one of its own: as many as a PNG file of it has."""
_LETTER = 0.5
"""Mean width of a letter, in parts of its height: there is no font here to measure with."""
_FONT = "system-ui,sans-serif"


class _Rendered(NamedTuple):
    text: str
    width: float
    height: float


def sheet_svg(
    picture: Picture,
    heading: str = "",
    *,
    dark: bool | None = None,
    most_width: float = 1240,
    font: str = _FONT,
) -> str:
    """Return a picture as an SVG file: its panels side by side, then caption and legend.

    Panels go on in a further row after ``most_width`` pixels; dark None follows the reader's mode.
    """
    rows: list[list[tuple[Panel, _Rendered]]] = [[]]
    used = 0.0
    for panel in picture.panels:
        rendered = _rendered(panel, dark)
        if rows[-1] and used + rendered.width > most_width:
            rows.append([])
            used = 0.0
        rows[-1].append((panel, rendered))
        used += rendered.width + _GAP
    content_width = max(sum(p.width + _GAP for _, p in row) - _GAP for row in rows)
    width = max(content_width, 420.0) + 2 * _PAD
    parts: list[str] = []
    y = _PAD
    if heading:
        parts.append(_text_line(_PAD, y, heading, "ink", bold=True))
        y += _LINE + 6
    for row in rows:
        x = _PAD
        for panel, rendered in row:
            parts.append(_text_line(x, y, panel.title, "quiet", fit=rendered.width))
            at = f'<svg x="{short(x)}" y="{short(y + _TITLE)}" '
            parts.append(rendered.text.replace("<svg ", at, 1))
            x += rendered.width + _GAP
        y += _TITLE + max(rendered.height for _, rendered in row) + 10
    for line in _wrapped(picture.caption, width - 2 * _PAD):
        parts.append(_text_line(_PAD, y, line, "ink"))
        y += _LINE
    y += 4
    y = _write_legend(picture, parts, y, width)
    style = style_sheet(dark).replace(_FONT, font)
    size = f'width="{short(width)}" height="{short(y + _PAD - 4)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sb" role="img" {size} '
        f'viewBox="0 0 {short(width)} {short(y + _PAD - 4)}">'
        f"<title>{escape(heading or picture.caption)}</title>"
        f'<style>{style}</style><rect {size} class="f-paper"/>{"".join(parts)}</svg>\n'
    )


def _rendered(panel: Panel, dark: bool | None) -> _Rendered:  # noqa: FBT001
    view = panel.view
    if isinstance(view, Drawing):
        return _Rendered(view.render(panel.alt), view.width, view.height)
    from scbench.report.draw.raster import scene_svg  # noqa: PLC0415  (flat pictures do without)

    width, height = 360.0, 300.0
    svg = scene_svg(view, panel.alt, width=width, height=height, dark=dark, density=_DENSITY)
    return _Rendered(svg, width, height)


def _text_line(
    x: float, y: float, words: str, role: str, *, bold: bool = False, fit: float | None = None
) -> str:
    if fit is not None:
        limit = max(int(fit / (_LETTER * _SIZE)), 4)
        words = words if len(words) <= limit else f"{words[: limit - 1]}…"
    weight = ' font-weight="700"' if bold else ""
    at = f'x="{short(x)}" y="{short(y + _SIZE)}"'
    return f'<text {at} font-size="{_SIZE}" class="f-{role}"{weight}>{escape(words)}</text>'


def _wrapped(words: str, width: float) -> list[str]:
    """Return text in lines that likely fit; a word that is longer than a line is cut."""
    limit = max(int(width / (_LETTER * _SIZE)), 10)
    lines = [""]
    for word in words.split():
        piece = word if len(word) <= limit else f"{word[: limit - 1]}…"
        if len(lines[-1]) + 1 + len(piece) > limit and lines[-1]:
            lines.append(piece)
        else:
            lines[-1] = f"{lines[-1]} {piece}".strip()
    return lines


def _write_legend(picture: Picture, parts: list[str], y: float, width: float) -> float:
    """Add the legend; return where it ends."""
    x = _PAD
    views = [panel.view for panel in picture.panels]
    for role, words in picture.legend:
        lines = _wrapped(words, width - 2 * _PAD - 26)
        need = 26 + max(map(len, lines)) * _LETTER * _SIZE + 24
        if x > _PAD and (x + need > width - _PAD or len(lines) > 1):
            x, y = _PAD, y + _LINE
        at = f'<svg x="{short(x)}" y="{short(y + 2)}" '
        parts.append(swatch(views, role).replace("<svg ", at, 1))
        for i, line in enumerate(lines):
            parts.append(_text_line(x + 26, y + i * _LINE, line, "ink"))
        x += need
        y += (len(lines) - 1) * _LINE
    return y + _LINE if picture.legend else y


def sheet_png(svg: str, scale: float = 2) -> bytes:
    """Return a sheet as a PNG file.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    import vl_convert  # noqa: PLC0415  (an extra, and large)

    return bytes(vl_convert.svg_to_png(svg, scale=scale))
