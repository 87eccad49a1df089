"""Entries of a report: items as HTML."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from scbench.base.model import Instance
from scbench.report.draw.png import compress_png
from scbench.report.figures import Figure
from scbench.report.html import environment, packed
from scbench.report.items import Item, Run
from scbench.report.turns import TurnView

# Maximum number of characters shown of an answer.
MOST_ANSWER = 2_000
_MOST_METRICS = 1_200
_MOST_RESPONSE = 4_000
# Maximum number of checks shown of one verdict; no grader makes nearly as many.
_MOST_CHECKS = 200
# Maximum number of characters of a reason in one line.
_LONGEST_REASON = 160
# Drawings of at most this many characters are written to the page unpacked.
_LONGEST_DRAWING = 12_000
_ENTRY = "entry.html.j2"
# Attributes of an item that templates show unchanged.
_AS_IS = (
    "id",
    "task",
    "bucket",
    "status",
    "score",
    "reason",
    "source",
    "finish_reason",
)
# A pattern's name in a drawing, where it is defined or used.
_HATCH = re.compile(r'(id="|url\(#)(h[0-9a-f]{12}-)')


@dataclass(frozen=True, slots=True)
class Clipped:
    """A text that may be shortened to its beginning, or to its beginning and end.

    Attributes:
        beginning: the start of the text, or all of it.
        left_out: how many characters are left out after it.
        end: the characters after the omitted ones.
        length: total number of characters.
    """

    beginning: str
    left_out: int
    end: str
    length: int


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
    """Return an item as HTML: ``entry.html.j2`` is its line, ``body.html.j2`` its content.

    The instance is None if the release is not installed; the strip shows the turns of a loop.
    """
    scoped_figure = with_unique_patterns(figure, anchor(item, runs))
    if template == _ENTRY:
        scoped_figure = packed_figure(scoped_figure)
    values: dict[str, Any] = {
        **item_values(item, runs),
        "figure": scoped_figure,
        "turns": [turn_values(turn, anchor(item, runs)) for turn in strip],
        "response": None,
        "prompt": None,
        "images": [],
    }
    if response is not None:
        values["response"] = clipped(response, _MOST_RESPONSE, _MOST_RESPONSE // 2)
    if instance is not None:
        values["prompt"] = instance.prompt
        values["images"] = [base64_png(image) for image in instance.images]
    return environment().get_template(template).render(item=values)


def item_values(item: Item, runs: Mapping[Run, str]) -> dict[str, Any]:
    """Return the template values of an item."""
    verdicts = item.verdicts
    notes = [note for verdict in verdicts for note in verdict.notes]
    no_answer = f"No answer ({item.status})."
    if item.status == "answered":
        no_answer = "The answer is too long to be stored in the results."
    return {
        **{name: getattr(item, name) for name in _AS_IS},
        "anchor": anchor(item, runs),
        "run": str(list(runs).index(item.run) + 1),
        "run_label": runs[item.run],
        "score_text": score_text(item.score),
        "kind": kind(item.score),
        "why": one_line_reason(item),
        "verdicts": [
            {"score": verdict.score, "checks": verdict.checks[:_MOST_CHECKS]}
            for verdict in verdicts
        ],
        "notes": list(dict.fromkeys(notes)),
        "metrics": clipped_metrics(item),
        "answer": clipped_answer(item),
        "no_answer": no_answer,
    }


def turn_values(turn: TurnView, scope: str) -> dict[str, Any]:
    """Return the template values of a turn."""
    score = "no answer" if turn.score is None else score_text(turn.score)
    return {
        "number": turn.number,
        "score": score,
        "kind": kind(turn.score),
        "svg": scoped_svg(turn.svg, f"{scope}-t{turn.number}"),
    }


def anchor(item: Item, runs: Mapping[Run, str]) -> str:
    """Return the id of an item in the page, for links to it."""
    name = re.sub(r"[^A-Za-z0-9_]+", "-", item.id)
    return name if len(runs) == 1 else f"{name}-run{list(runs).index(item.run) + 1}"


def with_unique_patterns(figure: Figure, name: str) -> Figure:
    """Return a figure with pattern names that are unique in the page.

    Two items may have the same drawing, and browsers do not find patterns in hidden elements.
    """
    views = [view._replace(svg=scoped_svg(view.svg, name)) for view in figure.views]
    return replace(figure, views=tuple(views))


def scoped_svg(svg: str, name: str) -> str:
    """Return a drawing whose pattern names have a prefix."""
    return _HATCH.sub(rf"\g<1>{name}-\g<2>", svg)


def packed_figure(figure: Figure) -> Figure:
    """Return a figure with long drawings packed if that makes them much shorter."""
    views = []
    for view in figure.views:
        if len(view.svg) > _LONGEST_DRAWING:
            text = packed(view.svg)
            # Otherwise unpacking is not worth the time.
            if len(text) < len(view.svg) / 2:
                view = view._replace(svg=text, packed=True)  # noqa: PLW2901
        views.append(view)
    return replace(figure, views=tuple(views))


def clipped(text: str, limit: int, end: int = 0) -> Clipped:
    """Return a text cut to this many characters, the last ``end`` from its end."""
    if len(text) <= limit:
        return Clipped(text, 0, "", len(text))
    tail = text[len(text) - end :]
    return Clipped(text[: limit - end], len(text) - limit, tail, len(text))


def score_text(score: float | None) -> str:
    """Return a short text of a score; only exact scores are shown as 0 or 1."""
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
    if score == 1:
        return "full"
    return "zero" if score == 0 else "part"


def one_line_reason(item: Item) -> str:
    """Return the reason for a missing score, or the first failed check, in one line."""
    message = item.reason
    if not message:
        failures = [check.message for part in item.verdicts for check in part.failed]
        message = failures[0] if failures else ""
    if item.status != "answered":
        message = f"{item.status}: {message}" if message else item.status
    if len(message) > _LONGEST_REASON:
        return f"{message[:_LONGEST_REASON]}…"
    return message


def clipped_answer(item: Item) -> Clipped | None:
    """Return an answer, or its beginning; None if there is none."""
    if item.answer is None:
        return None
    # Texts are shown without quotes and escapes.
    value = json.loads(item.answer)
    return clipped(value if isinstance(value, str) else item.answer, MOST_ANSWER)


def clipped_metrics(item: Item) -> Clipped | None:
    """Return the distinct metrics of all verdicts; None if there are none."""
    texts = [part.metrics for part in item.graded if part.metrics != "{}"]
    if not texts:
        return None
    return clipped("\n".join(dict.fromkeys(texts)), _MOST_METRICS)


@lru_cache(maxsize=64)
def base64_png(image: bytes) -> str:
    """Return a prompt's image for a page; the images are the same in all runs."""
    return base64.b64encode(compress_png(image)).decode()
