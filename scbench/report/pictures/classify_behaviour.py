"""Squares with labelled corners, what happens inside them, and what an answer called it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scbench.graders.shared.corner_labels import on_ring
from scbench.report.picture import Panel, Picture, Verdicts, texts
from scbench.report.pictures.shared.squares import (
    Tile,
    interfaces,
    key_text,
    sheet,
    tuple_text,
)
from scbench.schemas.classify_behaviour import Answer, Params
from scbench.schemas.corner_labels import CORNERS

_MOST_SQUARES = 47
_NAMES = texts("classify_behaviour.names")


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw every square; with an answer the interfaces as they are, and the names given."""
    order = tuple(map(CORNERS.index, params.corner_order))
    tiles = [Tile(title="order of corners", order=order)]
    n = len(params.squares)
    if answer is None:
        tiles += [_square_tile(params, i) for i in range(n)][:_MOST_SQUARES]
        caption = (
            f"{n} squares, corners read in the numbered order: do the corners fix what is inside? "
            "Dots are where a side changes class."
        )
    else:
        judged = "squares_right" in verdicts.metrics
        wrong = {item["square"]: item for item in verdicts.failures.get("names", ())}
        tiles += [
            _answered_square(params, answer, i, wrong, judged)
            for i in range(n)[:_MOST_SQUARES]
        ]
        caption = _caption(params, answer, verdicts)
    legend = []
    if any(stroke.dashed for tile in tiles for stroke in tile.strokes):
        legend.append(("quiet", "dashed: another drawing that is possible"))
    if any(tile.junctions for tile in tiles):
        legend.append(("ink", "large dot: a point where three classes meet"))
    if any(tile.state == "wrong" for tile in tiles):
        legend.append(("wrong", "named wrongly; the right name is below"))
    text = key_text(params.corner_order, tiles)
    panel = Panel("squares", sheet(tiles), caption)
    return Picture((panel,), caption, tuple(legend), text)


def _square_tile(params: Params, i: int) -> Tile:
    labels = params.squares[i]
    return Tile(
        on_ring(labels, params.corner_order, CORNERS), f"{i}: {tuple_text(labels)}"
    )


def _answered_square(
    params: Params,
    answer: Answer,
    i: int,
    wrong: Mapping[int, Mapping[str, Any]],
    judged: bool,
) -> Tile:
    plain = _square_tile(params, i)
    if i >= len(answer.labels):
        return replace(plain, below=(("wrong", "no name"),))
    label = answer.labels[i]
    if not judged:
        return replace(plain, below=(("ink", _NAMES[label]),))
    right = wrong[i]["expected"] if i in wrong else label
    strokes, junctions = interfaces(plain.labels, "ink")
    if right == "ambiguous":
        # The drawings compete, so their points are not marked.
        alternative, _ = interfaces(plain.labels, "quiet", later=True, dashed=True)
        strokes, junctions = (*strokes, *alternative), ()
    if i not in wrong:
        verdict_line = (("right", _NAMES[label]),)
        return Tile(
            plain.labels, plain.title, "right", verdict_line, strokes, junctions
        )
    below = (("wrong", f"✗ {_NAMES[label]}"), ("right", f"right: {_NAMES[right]}"))
    return Tile(plain.labels, plain.title, "wrong", below, strokes, junctions)


def _caption(params: Params, answer: Answer, verdicts: Verdicts) -> str:
    n = len(params.squares)
    limit_note = (
        f" The first {_MOST_SQUARES} squares are drawn." if n > _MOST_SQUARES else ""
    )
    if not verdicts:
        return f"{len(answer.labels)} names for {n} squares.{limit_note}"
    right = verdicts.metrics.get("squares_right")
    summary = f"{len(answer.labels)} names for {n} squares"
    if right is not None:
        summary = f"{right} of {n} squares have the right name"
    return f"{summary}; {verdicts.fraction}.{limit_note}"
