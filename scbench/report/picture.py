"""Pictures, and the verdicts that picture modules draw.

A picture module defines ``draw(params, answer, verdicts) -> Picture``: the instance alone if
`answer` is None and there are no verdicts; with them, the answer and where it went wrong, taken
only from the verdicts' checks and metrics. It must accept any answer that fits the
task's schema, however wrong, and any verdict.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from scbench.base.errors import faults_of
from scbench.base.model import Check, Verdict
from scbench.catalog import Task
from scbench.report.draw.scene import Mesh, Scene
from scbench.report.draw.svg import Drawing

# Version of the pictures, increased when pictures of right answers change. Releases
# store it.
LOOK = "4"
# Maximum characters of an error that is quoted.
_MOST_REASON = 300
# Roles that show where an answer fails.
MARKS = frozenset({"wrong", "missing", "surplus"})

# Role and meaning of each colour that needs an explanation.
Legend = list[tuple[str, str]]


class Verdicts(tuple[Verdict, ...]):
    """The verdicts on an answer, one for each of its scores; none without an answer."""

    __slots__ = ()

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Metrics of the first verdict."""
        return self[0].metrics if self else {}

    @property
    def checks(self) -> Iterator[Check]:
        """Checks of all verdicts, in order."""
        for verdict in self:
            yield from verdict.checks

    @property
    def failures(self) -> Mapping[str, Sequence[Any]]:
        """Offenders of each failed check, by check id; none if the check names none.

        Offenders come from the first verdict in which the check failed.
        """
        offenders: dict[str, Sequence[Any]] = {}
        for check in self.checks:
            if check.passed is False:
                offenders.setdefault(check.id, check.details.get("offenders", ()))
        return offenders

    @property
    def fraction(self) -> str:
        """The score in words, such as "score 0.75" or "3 of 9 criteria met"."""
        if len(self) == 1:
            return f"score {self[0].score:.4g}"
        criteria_met = sum(verdict.score == 1 for verdict in self)
        return f"{criteria_met} of {len(self)} criteria met"

    @property
    def wrong(self) -> bool:
        """Whether an answer was graded and scored below 1."""
        return bool(self) and self[0].score < 1

    def caption(self, words: str) -> str:
        """Return a description of the answer, the messages of failed checks, and the score."""
        if not self:
            return words
        messages = {check.id: check.message for check in self[0].checks}
        failures = [messages[check_id] for check_id in self.failures]
        return " ".join([words, *failures, f"{self.fraction.capitalize()}."])

    def check(self, check_id: str) -> Check | None:
        """Return the check with this id, of the first verdict that has it."""
        for check in self.checks:
            if check.id == check_id:
                return check
        return None

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
        """Return the text of each failed check, by check id, in the order of the texts.

        ``{n}`` is the number of offenders; "many|one" gives the plural and the
        singular. Other names in braces are keys of `values`.
        """
        # If several verdicts have the check, the last one counts.
        checks = {check.id: check for check in self.checks}
        sentences = []
        for check_id, text in words.items():
            check = checks.get(check_id)
            if check is None or check.passed is not False:
                continue
            count = check.details.get("count", 1)
            forms = text.split("|")
            form = forms[-1] if count == 1 else forms[0]
            sentences.append(form.format(n=count, **values))
        return sentences

    def fault_count(self, check_id: str) -> int:
        """Return how many offenders a failed check has."""
        if not self.failed(check_id):
            return 0
        count: int = self.details(check_id).get("count", 0)
        return count


@dataclass(frozen=True, slots=True)
class Panel:
    """One part of a picture.

    Attributes:
        title: a few words above it.
        view: flat, or in three dimensions.
        alt: a sentence that describes it, for people who cannot see it.
    """

    title: str
    view: Drawing | Scene
    alt: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of an instance, or of an answer to it.

    Attributes:
        panels: its parts, side by side in reading order.
        caption: one or two sentences with the figures that matter.
        legend: role and meaning of each colour that needs an explanation. A role may be
            followed by a space and a mark, see `scbench.report.draw.swatch`: "wrong ring".
        text: the same as plain text, for a terminal; empty if the task has no text form.
    """

    panels: tuple[Panel, ...]
    caption: str
    legend: tuple[tuple[str, str], ...] = ()
    text: str | None = None


Draw = Callable[[Any, Any, Sequence[Verdict]], Picture]
Solids = Callable[[Any, Any], list[Mesh]]


def draw_of(task: Task) -> Draw | None:
    """Return a task's ``draw(params, answer, verdicts)``; None if the task has no pictures."""
    if not task.has("report.pictures"):
        return None
    draw_panels = import_module(task.module("report.pictures")).draw

    def draw(params: Any, answer: Any, verdicts: Sequence[Verdict]) -> Picture:  # noqa: ANN401
        picture = draw_panels(params, answer, Verdicts(verdicts))
        # Picture modules describe all roles that may occur.
        return with_matching_legend(picture)

    return draw


def solids_of(task: Task) -> Solids | None:
    """Return a task's ``solids(params, answer)``; None if the task has no solids."""
    if not task.has("report.pictures"):
        return None
    return getattr(import_module(task.module("report.pictures")), "solids", None)


def with_matching_legend(picture: Picture) -> Picture:
    """Return a picture whose legend has only the roles in its panels."""
    roles = roles_in(picture)
    lines = [
        (entry, words)
        for entry, words in picture.legend
        if entry.partition(" ")[0] in roles
    ]
    return replace(picture, legend=tuple(lines))


def roles_in(picture: Picture) -> frozenset[str]:
    """Return the roles of everything in the panels of a picture."""
    roles: set[str] = set()
    for panel in picture.panels:
        if isinstance(panel.view, Drawing):
            roles |= panel.view.roles
        else:
            roles.update(part.role for part in panel.view.parts)
    return frozenset(roles)


def is_marked(picture: Picture) -> bool:
    """Return whether a picture contains a colour that marks errors."""
    return not MARKS.isdisjoint(roles_in(picture))


def wrong_line(clauses: Mapping[str, object], between: str = "; ") -> Legend:
    """Return the legend line for errors, made of the clauses that apply."""
    words = [words for words, holds in clauses.items() if holds]
    return [("wrong", between.join(words))] if words else []


def drawing_error(error: Exception) -> str:
    """Return the reason why something cannot be drawn, in one short line."""
    if isinstance(error, ValidationError):
        # A foreign release may have any number of faults.
        return str(faults_of(error, 1)[0])
    message = " ".join(str(error)[:_MOST_REASON].split())
    return f"{type(error).__name__}: {message}"
