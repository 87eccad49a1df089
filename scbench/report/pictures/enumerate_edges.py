"""Squares with labelled corners, the pairs of sides in an answer, and the right pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from scbench.base.wording import counted
from scbench.report.picture import Legend, Picture, Verdicts
from scbench.report.pictures.shared.square_lists import (
    limit_note,
    plain_tiles,
    squares_picture,
)
from scbench.report.pictures.shared.squares import Stroke, Tile, joining
from scbench.schemas.corner_labels import CORNERS, SIDES
from scbench.schemas.enumerate_edges import Answer, Params

# Maximum number of pairs drawn per square; only six are possible.
_PAIRS = 12
_LEGEND = {
    "right": "listed, and certain",
    "answer": "listed",
    "wrong": "listed, but not certain",
    "missing": "dashed: certain, but not listed",
}
# Words for pairs that break the format, by check id.
_FORM = {
    "indices": "no such pair",
    "ascending": "larger index first",
    "repeats": "listed twice",
}

Faults = Mapping[str, Sequence[Any]]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw every square with its boundary points; with an answer, each pair as a curve."""
    order = tuple(map(CORNERS.index, params.corner_order))
    numbers = tuple(str(params.edge_order.index(side)) for side in SIDES)
    tiles = [Tile(title="corners and sides", order=order, sides=numbers)]
    squares = plain_tiles(params.squares, params.corner_order, numbers)
    if answer is None:
        tiles += squares
        caption = (
            f"{counted(len(params.squares), 'square')}, with corners in the numbered order. Which "
            "pairs of sides must a curve join? The number next to a side is its index. Dots show "
            "where a side changes class."
        )
    else:
        tiles += answered_tiles(params, squares, answer, verdicts)
        caption = answer_caption(len(params.squares), answer, verdicts)
    return squares_picture(tiles, params.corner_order, caption, tiles_legend(tiles))


def answered_tiles(
    params: Params, squares: Sequence[Tile], answer: Answer, verdicts: Verdicts
) -> list[Tile]:
    """Return the squares with the listed and the missing pairs."""
    judged = "squares_right" in verdicts.metrics
    faults = square_faults(verdicts)
    # A side's index in the task differs from its position around the ring.
    ring_sides = [SIDES.index(side) for side in params.edge_order]
    tiles = []
    for i, square in enumerate(squares):
        pairs = answer.edges[i] if i < len(answer.edges) else None
        tiles.append(
            answered_tile(square, pairs, ring_sides, faults.get(i, {}), judged)
        )
    return tiles


def square_faults(verdicts: Verdicts) -> Mapping[int, Faults]:
    """Return the offenders of failed checks by square and check id."""
    by_square: dict[int, dict[str, list[Any]]] = {}
    for check_id, offenders in verdicts.failures.items():
        for item in offenders:
            if isinstance(item, Mapping) and "square" in item:
                faults = by_square.setdefault(item["square"], {})
                faults.setdefault(check_id, []).append(item)
    return by_square


def answered_tile(
    square: Tile,
    pairs: Sequence[Sequence[int]] | None,
    ring_sides: Sequence[int],
    faults: Faults,
    judged: bool,
) -> Tile:
    """Return a square with a curve for each pair; `pairs` is None if the square has no list."""
    surplus = {tuple(item["pair"]) for item in faults.get("certain", ())}
    missing = [tuple(item["pair"]) for item in faults.get("complete", ())]
    strokes: list[Stroke] = []
    ascending = [(min(pair), max(pair)) for pair in (pairs or ())[:_PAIRS]]
    for a, b in dict.fromkeys(ascending):
        # No curve is drawn from a side to itself or to a side that does not exist.
        if a == b or b > 3:
            continue
        role = "right" if judged else "answer"
        if (a, b) in surplus:
            role = "wrong"
        tip = f"sides {a} and {b}"
        strokes.append(joining(4, ring_sides[a], ring_sides[b], role, tip=tip))
    for a, b in missing:
        tip = f"sides {a} and {b} are certain to be joined, but not listed"
        first = ring_sides[a]
        second = ring_sides[b]
        curve = joining(4, first, second, "missing", dashed=True, tip=tip)
        strokes.append(curve._replace(width=2.5))
    labels = square.labels
    # A curve can end only where the class changes.
    changes = {side for side in range(4) if labels[side] != labels[(side + 1) % 4]}
    surplus_sides = {ring_sides[number] for number in chain.from_iterable(surplus)}
    state = "right" if judged else ""
    if faults:
        state = "wrong"
    return replace(
        square,
        state=state,
        below=tuple(notes_below(pairs, faults, missing)),
        strokes=tuple(strokes),
        faults=tuple(sorted(surplus_sides - changes)),
    )


def notes_below(
    pairs: Sequence[Sequence[int]] | None,
    faults: Faults,
    missing: Sequence[Sequence[int]],
) -> list[tuple[str, str]]:
    """Return (role, text) for the lines below a square: its pairs and their faults."""
    if pairs is None:
        return [("wrong", "no list")]
    words = pairs_text(pairs[:3]) or "no pair"
    if len(pairs) > 3:
        words += " ..."
    lines = [("ink", words)]
    for check_id, fault in _FORM.items():
        if check_id in faults:
            lines.append(("wrong", fault))
    if missing:
        lines.append(("missing", f"not listed: {pairs_text(missing[:2])}"))
    return lines


def pairs_text(pairs: Sequence[Sequence[int]]) -> str:
    """Return pairs of sides in words; numbers of sides may be of any size."""
    return " ".join(f"{min(pair[0], 99)}-{min(pair[1], 99)}" for pair in pairs)


def tiles_legend(tiles: Sequence[Tile]) -> Legend:
    """Return the legend of the tiles."""
    roles = {stroke.role for tile in tiles for stroke in tile.strokes}
    legend = [(role, words) for role, words in _LEGEND.items() if role in roles]
    if any(tile.faults for tile in tiles):
        legend.append(("wrong cross", "a side where the class does not change"))
    return legend


def answer_caption(n: int, answer: Answer, verdicts: Verdicts) -> str:
    """Return the caption of an answer about n squares."""
    if not verdicts:
        lists = counted(len(answer.edges), "list")
        return f"{lists} of pairs for {counted(n, 'square')}.{limit_note(n)}"
    ending = f"; {verdicts.fraction}.{limit_note(n)}"
    metrics = verdicts.metrics
    if "squares_right" not in metrics:
        lists = counted(len(answer.edges), "list")
        return f"{lists} for {counted(n, 'square')}{ending}"
    squares = counted(n, "square")
    parts = [f"Right pairs for {metrics['squares_right']} of {squares}"]
    surplus = len(metrics.get("surplus", ()))
    missing = len(metrics.get("missing", ()))
    if surplus:
        parts.append(f"{counted(surplus, 'wrong pair')} listed")
    if missing:
        parts.append(f"{counted(missing, 'certain pair')} missing")
    if _FORM.keys() & verdicts.failures.keys():
        parts.append("some pairs have the wrong form")
    return f"{'; '.join(parts)}{ending}"
