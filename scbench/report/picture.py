"""What every picture module returns, and how a picture is found for an item.

A picture module holds ``draw(params, answer, verdicts) -> Picture``: the instance alone if `answer`
is None and there are no verdicts; with them, what the answer did and where it went wrong, taken
from the verdicts' checks and metrics and judged by nothing else. It must take any answer that fits
the task's schema, however wrong, and any verdict of any answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib import import_module
from textwrap import wrap
from typing import Any, NamedTuple

from scbench.base.data import packaged_toml
from scbench.base.model import Check, Verdict
from scbench.catalog import Task
from scbench.report.draw.colours import style_sheet
from scbench.report.draw.scene import Mesh, Scene
from scbench.report.draw.svg import Drawing, short, swatch

# Raised when pictures of right answers change; releases keep it beside what they draw.
LOOK = "3"

# Roles that show where an answer fails.
MARKS = frozenset({"wrong", "missing", "surplus"})

# Letters of a line of a banner.
_LETTERS = 66
_LINES = 14


_PAD = 16.0
_GAP = 22.0
_TITLE = 20.0
_LINE = 19.0
_SIZE = 13
# Pixels of images in it for one of its own: as many as a PNG file of it has.
_DENSITY = 2.0
# Mean width of a letter, in parts of its height: there is no font here to measure with.
_LETTER = 0.5
_FONT = "system-ui,sans-serif"


class Verdicts(tuple[Verdict, ...]):
    """The verdicts on an answer, one for each of its scores; none if nobody answered."""

    __slots__ = ()

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Of the first."""
        return self[0].metrics if self else {}

    @property
    def failures(self) -> Mapping[str, Sequence[Any]]:
        """What the failed checks point at: check id and its offenders, none if it names none.

        Each check id is taken where it failed first.
        """
        offenders: dict[str, Sequence[Any]] = {}
        for verdict in self:
            for check in verdict.checks:
                if check.passed is False:
                    offenders.setdefault(check.id, check.details.get("offenders", ()))
        return offenders

    @property
    def fraction(self) -> str:
        """The score in words, such as "score 0.75" or "3 of 9 criteria met"."""
        if len(self) == 1:
            return f"score {self[0].score:.4g}"
        return f"{sum(v.score == 1 for v in self)} of {len(self)} criteria met"

    @property
    def wrong(self) -> bool:
        """Whether an answer was judged and has not full marks."""
        return bool(self) and self[0].score < 1

    def caption(self, words: str) -> str:
        """Return a caption: what there is in words, then what the verdict says."""
        if not self:
            return words
        messages = {check.id: check.message for check in self[0].checks}
        failed = [messages[check_id] for check_id in self.failures]
        return " ".join([words, *failed, f"{self.fraction.capitalize()}."])

    def check(self, check_id: str) -> Check | None:
        """Return the check with this id, of the first verdict that has it."""
        checks = (check for verdict in self for check in verdict.checks)
        return next((check for check in checks if check.id == check_id), None)

    def passed(self, check_id: str) -> bool | None:
        """Return whether a check passed; None if it was not evaluated or does not exist."""
        check = self.check(check_id)
        return None if check is None else check.passed

    def failed(self, check_id: str) -> bool:
        """Return whether a check was evaluated and failed."""
        return self.passed(check_id) is False

    def details(self, check_id: str) -> Mapping[str, Any]:
        """Return the details of a check; empty if there is none."""
        check = self.check(check_id)
        return {} if check is None else check.details

    def faults(self, words: Mapping[str, str], **values: object) -> list[str]:
        """Return what is wrong: the words of each failed check, by check id, in their order.

        ``{n}`` in them is the number of offenders; of "many|one" the half that goes with it stays.
        Other names in braces are those of `values`.
        """
        failed = {check.id: check for verdict in self for check in verdict.checks}
        sentences = []
        for check_id, text in words.items():
            check = failed.get(check_id)
            if check is not None and check.passed is False:
                n = check.details.get("count", 1)
                sentences.append(
                    text.split("|")[-1 if n == 1 else 0].format(n=n, **values)
                )
        return sentences

    def fault_count(self, check_id: str) -> int:
        """Return how many offenders a failed check has."""
        check = self.check(check_id)
        return (
            0
            if check is None or check.passed is not False
            else check.details.get("count", 0)
        )


@dataclass(frozen=True, slots=True)
class Panel:
    """One part of a picture."""

    title: str  #: a few words above it.
    view: Drawing | Scene  #: flat, or in three dimensions.
    alt: str  #: what can be seen, in a sentence, for people who cannot.


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of an instance, or of an answer to it."""

    panels: tuple[Panel, ...]  #: side by side, in the order to look at them.
    caption: str  #: one or two sentences with the figures that matter.
    legend: tuple[
        tuple[str, str], ...
    ] = ()  #: (role, words) for each colour that needs words.
    text: str | None = (
        None  #: the same for a terminal, if the task has a text form; no colours.
    )


# Role and words of each colour that needs words.
Legend = list[tuple[str, str]]


def wrong_line(clauses: Mapping[str, object], between: str = "; ") -> Legend:
    """Return the line of a legend for what is wrong: the words of the clauses that hold."""
    words = [words for words, holds in clauses.items() if holds]
    return [("wrong", between.join(words))] * bool(words)


def texts(name: str) -> dict[str, str]:
    """Return a table of words, by check id, role or kind; its name is as in `words.toml`."""
    task, use = name.split(".")
    table: dict[str, str] = packaged_toml("scbench.report", "pictures/words.toml")[
        task
    ][use]
    return table


Draw = Callable[[Any, Any, Sequence[Verdict]], Picture]


def draw_of(task: Task) -> Draw | None:
    """Return a task's ``draw(params, answer, verdicts)``; None if it has no pictures."""
    if not task.has("report.pictures"):
        return None
    draw = import_module(task.module("report.pictures")).draw
    return lambda params, answer, verdicts: _with_drawn_legend(
        draw(params, answer, Verdicts(verdicts))
    )


def _with_drawn_legend(picture: Picture) -> Picture:
    """Return a picture whose legend has the roles that are drawn, and no others."""
    roles = roles_in(picture)
    return replace(
        picture, legend=tuple(line for line in picture.legend if line[0] in roles)
    )


Solids = Callable[[Any, Any], list[Mesh]]


def solids_of(task: Task) -> Solids | None:
    """Return a task's ``solids(params, answer)``; None if it has no solids."""
    if not task.has("report.pictures"):
        return None
    return getattr(import_module(task.module("report.pictures")), "solids", None)


def roles_in(picture: Picture) -> frozenset[str]:
    """Return the roles of all that is drawn in a picture."""
    views = (panel.view for panel in picture.panels)
    return frozenset().union(
        *(
            v.roles if isinstance(v, Drawing) else {part.role for part in v.parts}
            for v in views
        )
    )


def is_marked(picture: Picture) -> bool:
    """Return whether anything in a picture has the colour of what fails."""
    return not MARKS.isdisjoint(roles_in(picture))


def with_reasons(
    picture: Picture, answer: object, verdicts: Sequence[Verdict]
) -> Picture:
    """Return a picture that says in words what failed, if no place in it shows that.

    Its legend keeps what is drawn. The answer is None if it could not be read.
    """
    picture, roles = _with_drawn_legend(picture), roles_in(picture)
    failed = {
        check.id: check.message
        for v in verdicts
        for check in v.checks
        if check.passed is False
    }
    if not failed or (answer is not None and MARKS & roles):
        return picture
    what = (
        "nothing of the answer can be drawn"
        if answer is None
        else "no place can be marked"
    )
    lines = [f"{Verdicts(verdicts).fraction.capitalize()}: {what}."]
    for check_id, message in failed.items():
        lines += wrap(f"{check_id}: {message}", _LETTERS)
    if len(lines) > _LINES:
        lines[_LINES - 1 :] = [f"and {len(lines) - _LINES + 1} lines more"]
    width, height = 430, 17 * len(lines) + 16
    drawing = Drawing(
        (0, 0, width, height), size=max(width, height), up=False, margin=4
    )
    drawing.box((0, 0), (width, height), "wrong", opacity=0.08, edge="wrong", width=2.5)
    for i, line in enumerate(lines):
        place = (10, 17 * i + 16)
        drawing.text(
            place, line, "ink" if i else "wrong", size=12, anchor="start", bold=not i
        )
    panel = Panel("what failed", drawing, " ".join(lines))
    return replace(picture, panels=(panel, *picture.panels))


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
    svg = scene_svg(
        view, panel.alt, width=width, height=height, dark=dark, density=_DENSITY
    )
    return _Rendered(svg, width, height)


def _text_line(
    x: float,
    y: float,
    words: str,
    role: str,
    *,
    bold: bool = False,
    fit: float | None = None,
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
