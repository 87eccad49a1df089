"""Squares with labelled corners: the sides that an answer joins, and those it should join."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scbench.graders.shared.corner_labels import on_ring
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts
from scbench.report.pictures.shared.squares import (
    Stroke,
    Tile,
    joining,
    key_text,
    sheet,
    tuple_text,
)
from scbench.schemas.corner_labels import CORNERS, SIDES
from scbench.schemas.enumerate_edges import Answer, Params

_MOST_SQUARES = 47
# Pairs drawn of one square that lists more; there are six.
_PAIRS = 12

Pair = tuple[int, int]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw every square with its crossing points; with an answer the curves it names as arcs."""
    order = tuple(map(CORNERS.index, params.corner_order))
    tiles = [Tile(title="order, sides", order=order, sides=_indices(params))]
    legend: Legend = []
    caption = (
        f"{len(params.squares)} squares, corners read in the numbered order: which sides, by the "
        "numbers beside them, must a curve join? Dots are where a side changes class."
    )
    if answer is None:
        tiles += [_sided_tile(params, i) for i in range(len(params.squares))][
            :_MOST_SQUARES
        ]
    else:
        faults = _square_faults(verdicts)
        judged = "squares_right" in verdicts.metrics
        tiles += [
            _answered(params, answer, i, faults.get(i, {}), judged)
            for i in range(len(params.squares))
        ][:_MOST_SQUARES]
        caption = _caption(params, answer, verdicts)
        legend = _legend(tiles)
    text = key_text(params.corner_order, tiles)
    panel = Panel("squares", sheet(tiles), caption)
    return Picture((panel,), caption, tuple(legend), text)


def _indices(params: Params) -> tuple[str, ...]:
    return tuple(str(params.edge_order.index(side)) for side in SIDES)


def _sided_tile(params: Params, i: int) -> Tile:
    labels = params.squares[i]
    ring = on_ring(labels, params.corner_order, CORNERS)
    return Tile(ring, f"{i}: {tuple_text(labels)}", sides=_indices(params))


def _square_faults(verdicts: Verdicts) -> Mapping[int, Mapping[str, list[Any]]]:
    by_square: dict[int, dict[str, list[Any]]] = {}
    for check_id, offenders in verdicts.failures.items():
        for item in offenders:
            if isinstance(item, Mapping) and "square" in item:
                by_square.setdefault(item["square"], {}).setdefault(
                    check_id, []
                ).append(item)
    return by_square


def _answered(
    params: Params,
    answer: Answer,
    i: int,
    faults: Mapping[str, list[Any]],
    judged: bool,
) -> Tile:
    plain = _sided_tile(params, i)
    ring_side = [SIDES.index(side) for side in params.edge_order]
    pairs = answer.edges[i] if i < len(answer.edges) else None
    surplus = {tuple(item["pair"]) for item in faults.get("certain", ())}
    missing = [tuple(item["pair"]) for item in faults.get("complete", ())]
    strokes: list[Stroke] = []
    for a, b in dict.fromkeys(
        (min(pair), max(pair)) for pair in (pairs or ())[:_PAIRS]
    ):
        if a == b or b > 3:
            continue
        role = "wrong" if (a, b) in surplus else "right" if judged else "answer"
        tip = f"sides {a} and {b}"
        first, second = ring_side[a], ring_side[b]
        strokes.append(joining(4, first, second, role, tip=tip))
    for a, b in missing:
        tip = f"sides {a} and {b} are joined, but not listed"
        curve = joining(4, ring_side[a], ring_side[b], "missing", dashed=True, tip=tip)
        strokes.append(curve._replace(width=2.5))
    changes = {
        side for side in range(4) if plain.labels[side] != plain.labels[(side + 1) % 4]
    }
    bare = {ring_side[n] for pair in surplus for n in pair} - changes
    state = "wrong" if faults else "right" if judged else ""
    below = _notes_below(pairs, faults, missing)
    crossed = tuple(sorted(bare))
    return replace(
        plain, state=state, below=below, strokes=tuple(strokes), faults=crossed
    )


def _notes_below(
    listed_pairs: Sequence[Sequence[int]] | None,
    faults: Mapping[str, list[Any]],
    missing: Sequence[Sequence[int]],
) -> tuple[tuple[str, str], ...]:
    if listed_pairs is None:
        return (("wrong", "no list"),)
    pair_words = " ".join(_pair_text(pair) for pair in listed_pairs[:3]) or "no pair"
    lines = [("ink", pair_words + (" ..." if len(listed_pairs) > 3 else ""))]
    form = texts("enumerate_edges.form")
    lines += [
        ("wrong", words) for check_id, words in form.items() if check_id in faults
    ]
    if missing:
        pairs = " ".join(_pair_text(pair) for pair in missing[:2])
        lines.append(("missing", f"not listed: {pairs}"))
    return tuple(lines)


def _pair_text(pair: Sequence[int]) -> str:
    return f"{min(pair[0], 99)}-{min(pair[1], 99)}"


def _legend(tiles: Sequence[Tile]) -> list[tuple[str, str]]:
    looks = {stroke.role for tile in tiles for stroke in tile.strokes}
    words = texts("enumerate_edges.legend")
    legend = [(role, meaning) for role, meaning in words.items() if role in looks]
    if any(tile.faults for tile in tiles):
        legend.append(("wrong", "crossed out: a side where nothing changes"))
    return legend


def _caption(params: Params, answer: Answer, verdicts: Verdicts) -> str:
    n = len(params.squares)
    limit_note = (
        f" The first {_MOST_SQUARES} squares are drawn." if n > _MOST_SQUARES else ""
    )
    if not verdicts:
        return f"The sides joined in {len(answer.edges)} squares.{limit_note}"
    metrics = verdicts.metrics
    if "squares_right" not in metrics:
        summary = f"{len(answer.edges)} lists for {n} squares"
        return f"{summary}; {verdicts.fraction}.{limit_note}"
    parts = [f"{metrics['squares_right']} of {n} squares have the right pairs"]
    surplus, missing = len(metrics.get("surplus", ())), len(metrics.get("missing", ()))
    parts += [f"{surplus} wrong pair{'s' * (surplus > 1)} listed"] * bool(surplus)
    parts += [f"{missing} missing"] * bool(missing)
    form = set(verdicts.failures) & {"indices", "ascending", "repeats"}
    parts += ["some pairs are not written as asked"] if form else []
    return f"{'; '.join(parts)}; {verdicts.fraction}.{limit_note}"
