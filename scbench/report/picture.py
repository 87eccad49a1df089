"""What every picture module returns, and how a picture is found for an item.

A picture module holds ``draw(params, answer, verdicts) -> Picture``: the instance alone if `answer`
is None and there are no verdicts; with them, what the answer did and where it went wrong, taken
from the verdicts' checks and metrics and judged by nothing else. It must take any answer that fits
the task's schema, however wrong, and any verdict of any answer.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from textwrap import wrap
from typing import Any, NamedTuple

from scbench.base.model import Check, Verdict
from scbench.catalog import Task
from scbench.report.draw.scene import Mesh, Scene
from scbench.report.draw.svg import Drawing

LOOK = "2"
"""Raised when pictures of right answers change; releases keep it beside what they draw."""

MARKS = frozenset({"wrong", "missing", "surplus"})
"""Roles that show where an answer fails."""

_LETTERS = 66
"""Letters of a line of a banner."""
_LINES = 14


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

    def faults(self, words: Mapping[str, str]) -> list[str]:
        """Return what is wrong: the words of each failed check, by check id, in their order.

        ``{n}`` in them is the number of offenders; of "many|one" the half that goes with it stays.
        """
        failed = {check.id: check for verdict in self for check in verdict.checks}
        sentences = []
        for check_id, text in words.items():
            check = failed.get(check_id)
            if check is not None and check.passed is False:
                n = check.details.get("count", 1)
                sentences.append(text.split("|")[-1 if n == 1 else 0].format(n=n))
        return sentences

    def fault_count(self, check_id: str) -> int:
        """Return how many offenders a failed check has."""
        check = self.check(check_id)
        return 0 if check is None or check.passed is not False else check.details.get("count", 0)


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
    legend: tuple[tuple[str, str], ...] = ()  #: (role, words) for each colour that needs words.
    text: str | None = None  #: the same for a terminal, if the task has a text form; no colours.


Legend = list[tuple[str, str]]
"""Role and words of each colour that needs words."""

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
    return replace(picture, legend=tuple(line for line in picture.legend if line[0] in roles))


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
        *(v.roles if isinstance(v, Drawing) else {part.role for part in v.parts} for v in views)
    )


def is_marked(picture: Picture) -> bool:
    """Return whether anything in a picture has the colour of what fails."""
    return not MARKS.isdisjoint(roles_in(picture))


def with_reasons(picture: Picture, answer: object, verdicts: Sequence[Verdict]) -> Picture:
    """Return a picture that says in words what failed, if no place in it shows that.

    Its legend keeps what is drawn. The answer is None if it could not be read.
    """
    picture, roles = _with_drawn_legend(picture), roles_in(picture)
    failed = {
        check.id: check.message for v in verdicts for check in v.checks if check.passed is False
    }
    if not failed or (answer is not None and MARKS & roles):
        return picture
    what = "nothing of the answer can be drawn" if answer is None else "no place can be marked"
    lines = [f"{Verdicts(verdicts).fraction.capitalize()}: {what}."]
    for check_id, message in failed.items():
        lines += wrap(f"{check_id}: {message}", _LETTERS)
    if len(lines) > _LINES:
        lines[_LINES - 1 :] = [f"and {len(lines) - _LINES + 1} lines more"]
    width, height = 430, 17 * len(lines) + 16
    drawing = Drawing((0, 0, width, height), size=max(width, height), up=False, margin=4)
    drawing.box((0, 0), (width, height), "wrong", opacity=0.08, edge="wrong", width=2.5)
    for i, line in enumerate(lines):
        place = (10, 17 * i + 16)
        drawing.text(place, line, "ink" if i else "wrong", size=12, anchor="start", bold=not i)
    panel = Panel("what failed", drawing, " ".join(lines))
    return replace(picture, panels=(panel, *picture.panels))


_ROW = 34
_WIDTH = 300


class Gauge(NamedTuple):
    """One figure beside the one asked for."""

    label: str  #: what is counted.
    value: float  #: what the answer reached.
    target: float  #: what was asked for.
    passed: bool | None  #: what the verdict says of it; None if it was not judged.
    sense: str = "at least"  #: whether so much is the least, the most, or the only right figure.
    unit: str = ""  #: after both figures.


def gauge_panels(gauges: Iterable[Gauge]) -> list[Panel]:
    """Return a panel of bars, each with a mark at the wanted figure; none without gauges."""
    rows = list(gauges)
    if not rows:
        return []
    drawing = Drawing(
        (0, 0, _WIDTH, _ROW * len(rows)), size=max(_WIDTH, _ROW * len(rows)), up=False
    )
    words = []
    for i, row in enumerate(rows):
        says = f"{row.value:.4g}{row.unit}; {row.sense} {row.target:.4g}{row.unit}"
        words.append(f"{row.label}: {says}")
        role = {True: "right", False: "wrong", None: "quiet"}[row.passed]
        sign = {True: "✓", False: "✗", None: ""}[row.passed]
        drawing.text((0, i * _ROW + 7), sign, role, anchor="start", size=12, bold=True)
        drawing.text((14 * bool(sign), i * _ROW + 7), row.label, anchor="start", size=12)
        drawing.text((_WIDTH, i * _ROW + 7), says, role, anchor="end", size=12, bold=True)
        full = max(row.value, row.target, 1e-9) * 1.15
        top, bottom = i * _ROW + 17, i * _ROW + 25
        drawing.box((0, top), (_WIDTH, bottom), "faint", opacity=0.5)
        end = max(0.0, row.value) / full * _WIDTH
        drawing.box((0, top), (end, bottom), role, hatched=row.passed is False)
        mark = row.target / full * _WIDTH
        drawing.line([(mark, top - 3), (mark, bottom + 3)], "ink", width=2)
    return [Panel("what was asked for", drawing, "; ".join(words) + ".")]
