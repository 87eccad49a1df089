"""Items as the templates want them: texts clipped, scores in words, a picture beside them."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scbench.base.model import Instance
from scbench.report.draw.png import squeezed
from scbench.report.figures import Figure
from scbench.report.html import environment, packed
from scbench.report.items import Item, Run
from scbench.report.turns import TurnView

if TYPE_CHECKING:
    pass

MOST_ANSWER = 2_000
"""Characters of an answer that are shown."""
_MOST_METRICS = 1_200
_MOST_RESPONSE = 4_000
_MOST_CHECKS = 200
"""Checks shown of one verdict; no grader makes nearly as many."""
_WHY = 160
_MOST_DRAWN = 12_000
"""Signs of a drawing that stands in a page as it is; longer ones are packed."""
_ENTRY = "entry.html.j2"


@dataclass(frozen=True, slots=True)
class Clipped:
    """A text, or its beginning and maybe its end.

    Attributes:
        beginning: the start, or all.
        left_out: how many characters follow it that are not there.
        end: what comes after those.
        length: characters in all.
    """

    beginning: str
    left_out: int
    end: str
    length: int


_HATCH = re.compile(r'(id="|url\(#)(h[0-9a-f]{12}-)')
"""Where drawings name their patterns, by hash."""


def scoped(figure: Figure, name: str) -> Figure:
    """Return a figure whose patterns have names that no other item's have.

    Two items may hold the same drawing, and browsers do not find a pattern in what is hidden.
    """
    views = tuple(
        view._replace(svg=_HATCH.sub(rf"\g<1>{name}-\g<2>", view.svg)) for view in figure.views
    )
    return replace(figure, views=views)


def packed_figure(figure: Figure) -> Figure:
    """Return a figure with its long drawings as packed text, where that is much shorter."""
    views = []
    for view in figure.views:
        text = packed(view.svg) if len(view.svg) > _MOST_DRAWN else view.svg
        shorter = len(text) < len(view.svg) / 2
        views.append(view._replace(svg=text, packed=True) if shorter else view)
    return replace(figure, views=tuple(views))


def clipped(text: str, limit: int, end: int = 0) -> Clipped:
    """Return a text cut to so many characters, the last ``end`` of them from its end."""
    if len(text) <= limit:
        return Clipped(text, 0, "", len(text))
    tail = text[len(text) - end :] if end else ""
    return Clipped(text[: limit - end], len(text) - limit, tail, len(text))


def anchor(item: Item, runs: Mapping[Run, str]) -> str:
    """Return the item's id in the page, by which addresses point at it."""
    name = re.sub(r"[^A-Za-z0-9_]+", "-", item.id)
    return name if len(runs) == 1 else f"{name}-run{list(runs).index(item.run) + 1}"


def render_entry(
    item: Item,
    figure: Figure,
    instance: Instance | None,
    runs: Mapping[Run, str],
    response: str | None = None,
    strip: Sequence[TurnView] = (),
    *,
    template: str = _ENTRY,
) -> str:
    """Return an item as HTML.

    Args:
        item: what to show.
        figure: its picture.
        instance: what was asked; None if the release is not at hand.
        runs: name of each run of the report.
        response: the model's text, if it is to be shown.
        strip: the turns, if it was given in a loop.
        template: ``entry.html.j2`` for a line that opens, ``single.html.j2`` for the item alone.
    """
    shown_figure = scoped(figure, anchor(item, runs))
    if template == _ENTRY:
        shown_figure = packed_figure(shown_figure)
    return (
        environment()
        .get_template(template)
        .render(item=_context(item, shown_figure, instance, runs, response, strip))
    )


def _context(
    item: Item,
    figure: Figure,
    instance: Instance | None,
    runs: Mapping[Run, str],
    response: str | None,
    strip: Sequence[TurnView],
) -> dict[str, Any]:
    verdicts = item.verdicts
    answer = _answer_text(item)
    return {
        "anchor": anchor(item, runs),
        "id": item.id,
        "task": item.task,
        "bucket": item.bucket,
        "run": str(list(runs).index(item.run) + 1),
        "run_label": runs[item.run] if len(runs) > 1 else "",
        "status": item.status,
        "score": item.score,
        "score_text": score_text(item.score),
        "kind": kind(item.score),
        "why": _one_line_reason(item),
        "reason": item.reason,
        "figure": figure,
        "verdicts": [
            {"score": verdict.score, "checks": verdict.checks[:_MOST_CHECKS]}
            for verdict in verdicts
        ],
        "turns": [
            {
                "number": turn.number,
                "score": score_text(turn.score) if turn.score is not None else "no answer",
                "kind": kind(turn.score),
                "svg": _HATCH.sub(rf"\g<1>{anchor(item, runs)}-t{turn.number}-\g<2>", turn.svg),
            }
            for turn in strip
        ],
        "notes": list(dict.fromkeys(note for verdict in verdicts for note in verdict.notes)),
        "metrics": _metric_text(item),
        "answer": clipped(answer, MOST_ANSWER) if answer is not None else None,
        "no_answer": (
            "It is too long for the results to hold."
            if item.status == "answered"
            else f"None: {item.status}."
        ),
        "source": item.source,
        "finish_reason": item.finish_reason,
        "response": None
        if response is None
        else clipped(response, _MOST_RESPONSE, _MOST_RESPONSE // 2),
        "prompt": instance.prompt if instance else None,
        "images": [_base64(image) for image in instance.images] if instance else [],
    }


@lru_cache(maxsize=64)
def _base64(image: bytes) -> str:
    """Return an image of a prompt for a page; all runs have the same ones."""
    return base64.b64encode(squeezed(image)).decode()


def score_text(score: float | None) -> str:
    """Return a score in few characters; it says 1 only if it is."""
    if score is None:
        return "none"
    text = f"{score:.3f}".rstrip("0").rstrip(".")
    if text in {"0", "1"} and score not in {0, 1}:
        return "<0.001" if score < 0.5 else ">0.999"
    return text


def kind(score: float | None) -> str:
    """Return the class of a score: full, part, zero or none."""
    if score is None:
        return "none"
    return "full" if score == 1 else "zero" if score == 0 else "part"


def _one_line_reason(item: Item) -> str:
    """Return what to say in one line: the first check that failed, or why there is no score."""
    failed = (check.message for part in item.verdicts for check in part.failed)
    message = item.reason or next(failed, "")
    if item.status != "answered":
        message = f"{item.status}: {message}" if message else item.status
    return message if len(message) <= _WHY else f"{message[:_WHY]}…"


def _answer_text(item: Item) -> str | None:
    if item.answer is None:
        return None
    value = json.loads(item.answer)
    return value if isinstance(value, str) else item.answer


def _metric_text(item: Item) -> Clipped | None:
    texts = list(dict.fromkeys(part.metrics for part in item.graded if part.metrics != "{}"))
    return clipped("\n".join(texts), _MOST_METRICS) if texts else None
