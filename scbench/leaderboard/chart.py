"""The charts of the board: scores by bucket, and scores against tokens or cost per answer."""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from scbench.analysis.sheets import GAP, points
from scbench.base.errors import printable
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.board import Record
from scbench.report.charts import ScoreMark, Spec, chart

# Maximum number of models in the chart of scores (the best ones).
MOST_MODELS = 40
# Width of the chart of amounts on a wide and on a narrow page, in pixels.
WIDE, NARROW = 560, 250
_HEIGHT = 280
# Height of a label, and mean width of a letter, in pixels.
_LINE = 15.0
_LETTER = 6.5
_MOST_LETTERS = 26
# Amounts above this multiple of the median, or below its inverse, are drawn at the
# edge.
_FARTHEST = 100.0
_TITLES = {"cost": "US dollars per answer", "output_tokens": "output tokens per answer"}
_FORMS = {"cost": "$~g", "output_tokens": "~s"}
# Reported amounts are clipped to these; large ones are written with an exponent.
_LEAST, _GREATEST = 1e-6, 1e9


class Point(NamedTuple):
    """A model in the chart of amounts: name, amount per answer, score with its interval."""

    name: str
    amount: float
    score: float
    low: float
    high: float


class Box(NamedTuple):
    """The position of a label: its left end, its right end, and its vertical middle."""

    left: float
    right: float
    y: float


def names_of(rows: Sequence[Record]) -> list[str]:
    """Return a distinct name for each row: its model, and version or submission if needed."""
    names = [printable(row["model"]) for row in rows]
    for key in ("version", "submission"):
        is_shared = [names.count(name) > 1 for name in names]
        names = [
            f"{name} {printable(row[key])}" if shared else name
            for name, row, shared in zip(names, rows, is_shared, strict=True)
        ]
    return names


def score_marks(rows: Sequence[Record], titles: Mapping[str, str]) -> list[ScoreMark]:
    """Return the marks of the chart of scores.

    Args:
        rows: rows of one table, in order.
        titles: titles of the buckets, in order.
    """
    shown = rows[:MOST_MODELS]
    marks = []
    for bucket, title in titles.items():
        for row, name in zip(shown, names_of(shown), strict=True):
            score = row["buckets"][bucket]
            if score["normalized_low"] is None:
                continue
            mark = GAP if score["scored"] < score["expected"] else ""
            marks.append(
                ScoreMark(
                    title,
                    name if row["ranked"] else f"{name} (unranked)",
                    f"{points(score['normalized'])}{mark}",
                    100 * score["normalized"],
                    100 * score["normalized_low"],
                    100 * score["normalized_high"],
                )
            )
    return marks


def main_amount(rows: Sequence[Record]) -> str:
    """Return the amount that is reported in more rows; output tokens in a tie."""
    spent = [row["spent"] for row in rows]
    tokens_reported = sum(bool(amounts["output_tokens"]) for amounts in spent)
    cost_reported = sum(bool(amounts["cost"]) for amounts in spent)
    return "cost" if cost_reported > tokens_reported else "output_tokens"


def amount_points(settings: Mapping[str, Sequence[Record]], amount: str) -> list[Point]:
    """Return the models that report an amount; with several settings, names contain "tools"."""
    dots = []
    for setting, rows in settings.items():
        suffix = ", tools" if setting == "tools" and len(settings) > 1 else ""
        for row, name in zip(rows, names_of(rows), strict=True):
            score = row["buckets"][OVERALL]
            if row["spent"][amount] and score["normalized"] is not None:
                dots.append(
                    Point(
                        name + suffix,
                        row["spent"][amount],
                        score["normalized"],
                        score["normalized_low"],
                        score["normalized_high"],
                    )
                )
    return dots


def amount_chart(dots: Sequence[Point], amount: str, width: int = WIDE) -> Spec:
    """Return the chart of scores against an amount, "cost" or "output_tokens"."""
    amounts = [min(max(dot.amount, _LEAST), _GREATEST) for dot in dots]
    middle = math.log10(median(amounts))
    reach = math.log10(_FARTHEST)
    logs = [
        min(max(math.log10(value), middle - reach), middle + reach) for value in amounts
    ]
    # The margin keeps points off the frame and gives a single point a scale.
    room = max(0.08 * (max(logs) - min(logs)), 0.15)
    low = min(logs) - room
    high = max(logs) + room
    scale = width / (high - low)
    taken: list[Box] = []
    values: list[dict[str, Any]] = []
    places = zip(dots, logs, strict=True)
    for dot, log in sorted(places, key=lambda place: (-place[0].score, place[1])):
        x = (log - low) * scale
        y = (1 - dot.score) * _HEIGHT
        amount_text = f"{amount_words(dot.amount, amount)} {_TITLES[amount]}"
        interval = f"{points(dot.low)} to {points(dot.high)}"
        label = label_of(dot.name, x, y, width, taken)
        values.append(
            {
                "amount": 10**log,
                "score": 100 * dot.score,
                "low": 100 * dot.low,
                "high": 100 * dot.high,
                "right": label if x < width / 2 else "",
                "left": label if x >= width / 2 else "",
                "words": f"{dot.name}: {points(dot.score)} ({interval}), {amount_text}",
            }
        )
    return chart(
        "amount",
        description=f"Normalized score against {_TITLES[amount]}.",
        values=values,
        width=width,
        height=_HEIGHT,
        title=f"{_TITLES[amount]} (log scale)",
        form=_FORMS[amount],
        domain=[10**low, 10**high],
    )


def label_of(name: str, x: float, y: float, width: float, taken: list[Box]) -> str:
    """Return the label of a point and record its place; empty if it would cover another label."""
    text = name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"
    length = _LETTER * len(text)
    # Labels point to the middle of the chart.
    box = Box(x, x + length, y) if x < width / 2 else Box(x - length, x, y)
    for taken_box in taken:
        is_beside = box.right < taken_box.left or taken_box.right < box.left
        if abs(box.y - taken_box.y) < _LINE and not is_beside:
            return ""
    taken.append(box)
    return text


def amount_words(value: float, amount: str) -> str:
    """Return the displayed form of an amount."""
    if value > _GREATEST:
        return f"{value:.1e}"
    if amount == "output_tokens":
        return f"{value:,.0f}"
    return f"${value:,.2f}" if value >= 1 else f"${value:.2g}"
