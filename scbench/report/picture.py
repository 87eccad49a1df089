"""What every picture module returns, and how a picture is found for an item.

A picture module holds ``draw(params, answer, verdicts) -> Picture``: the instance alone if `answer`
is None and there are no verdicts; with them, what the answer did and where it went wrong, taken
from the verdicts' checks and metrics and judged by nothing else. It must take any answer that fits
the task's schema, however wrong, and any verdict of any answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from scbench.catalog import Task
from scbench.model import Verdict
from scbench.report.draw.scene import Scene
from scbench.report.draw.svg import Drawing


@dataclass(frozen=True, slots=True)
class Panel:
    """One part of a picture.

    Attributes:
        title: a few words above it.
        view: flat, or in three dimensions.
        alt: what can be seen, in a sentence, for people who cannot.
    """

    title: str
    view: Drawing | Scene
    alt: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of an instance, or of an answer to it.

    Attributes:
        panels: side by side, in the order to look at them.
        caption: one or two sentences with the figures that matter.
        legend: (role, words) for each colour that needs words.
        text: the same for a terminal, if the task has a text form; no colours.
    """

    panels: tuple[Panel, ...]
    caption: str
    legend: tuple[tuple[str, str], ...] = ()
    text: str | None = None


Draw = Callable[[Any, Any, Sequence[Verdict]], Picture]


def draw_of(task: Task) -> Draw | None:
    """Return a task's ``draw(params, answer, verdicts)``; None if it has no pictures."""
    if not task.has("report.pictures"):
        return None
    draw: Draw = import_module(task.module("report.pictures")).draw
    return draw


def failures(verdicts: Sequence[Verdict]) -> Mapping[str, Sequence[Any]]:
    """Return what the failed checks point at: check id and its offenders, none if it names none.

    Of several verdicts on one answer, each check id is taken where it failed first.
    """
    found: dict[str, Sequence[Any]] = {}
    for verdict in verdicts:
        for check in verdict.checks:
            if check.passed is False:
                found.setdefault(check.id, check.details.get("offenders", ()))
    return found


def fraction(verdicts: Sequence[Verdict]) -> str:
    """Return the score in words, such as "score 0.75" or "3 of 9 criteria met"."""
    if len(verdicts) == 1:
        return f"score {verdicts[0].score:.4g}"
    return f"{sum(v.score == 1 for v in verdicts)} of {len(verdicts)} criteria met"
