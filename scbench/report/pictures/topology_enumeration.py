"""Corner patterns: those listed, drawn so that it shows whether they belong, and those missing."""

from collections.abc import Mapping, Sequence

from scbench.graders.shared.corner_labels import canonical, on_ring
from scbench.report.picture import Panel, Picture, Verdicts, texts
from scbench.report.pictures.shared.squares import (
    Tile,
    interfaces,
    sheet,
    square_text,
    tuple_text,
)
from scbench.report.pictures.shared.tables import side_by_side
from scbench.schemas.topology_enumeration import POLYGONS, Answer, Params

# Patterns drawn of a longer list.
_MOST_PATTERNS = 60
_SHAPES = {4: "square", 5: "pentagon", 6: "hexagon", 7: "heptagon", 8: "octagon"}


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the order of the corners; with an answer a tile for each pattern listed or missing."""
    ring = POLYGONS[len(params.corner_order)]
    order = tuple(map(ring.index, params.corner_order))
    key = Tile(order=order, letters=params.known, corners=len(ring))
    question = _question_text(params)
    panels = [Panel("order of the corners", sheet([key], half=45), question)]
    if answer is None:
        return Picture(tuple(panels), question, text="\n".join(_key_lines(params)))
    tiles = _answered_tiles(params, answer, verdicts)
    missing = [tuple(pattern) for pattern in verdicts.metrics.get("missing", ())]
    caption = _caption(params, answer, verdicts, missing)
    if tiles:
        cut = len(answer.configs) > _MOST_PATTERNS
        title = f"the first {_MOST_PATTERNS} listed" if cut else "listed"
        panels.append(Panel(title, sheet(tiles), caption))
    lacking = [_missing(params, pattern) for pattern in missing[:_MOST_PATTERNS]]
    if lacking:
        alt = f"Patterns that were not listed: {len(missing)}."
        panels.append(Panel("missing", sheet(lacking), alt))
    return Picture(
        tuple(panels), caption, _legend(tiles, lacking), _text(params, tiles, lacking)
    )


def _question_text(params: Params) -> str:
    k, n = len(params.corner_order), params.n_classes
    condition = f" that read ({', '.join(params.known)})" if params.known else ""
    return (
        f"Corner patterns of a {_SHAPES[k]}{condition}, read in the numbered order, that force {n} "
        "classes to meet at a point inside."
    )


def _key_lines(params: Params) -> list[str]:
    corners = [f"{i}: {name}" for i, name in enumerate(params.corner_order, start=1)]
    condition = [f"known: ({', '.join(params.known)})"] if params.known else []
    return [f"{params.n_classes} classes; order of the corners:", *corners, *condition]


def _answered_tiles(params: Params, answer: Answer, verdicts: Verdicts) -> list[Tile]:
    k = len(params.corner_order)
    why = _reasons(verdicts)
    surplus = {tuple(pattern) for pattern in verdicts.metrics.get("surplus", ())}
    short = set(verdicts.failures.get("corners", ()))
    judged = "surplus" in verdicts.metrics
    again = {tuple(pattern) for pattern in verdicts.failures.get("repeats", ())}
    met: set[tuple[int, ...]] = set()
    tiles = []
    for i, labels in enumerate(answer.configs[:_MOST_PATTERNS]):
        title = tuple_text(labels)
        if i in short or len(labels) != k:
            below = (("wrong", f"{len(labels)} labels"),)
            tiles.append(
                Tile(
                    title=title, state="wrong" if judged else "", below=below, corners=k
                )
            )
            continue
        pattern = canonical(labels)
        ring = on_ring(labels, params.corner_order, POLYGONS[k])
        state, reason = "right" if judged else "", ""
        if pattern in surplus:
            state, reason = "wrong", why.get(pattern, "")
        elif pattern in met and pattern in again:
            state, reason = "wrong", "listed before"
        met.add(pattern)
        strokes, junctions = interfaces(ring, "ink")
        words = ((state, reason),) if reason else ()
        tiles.append(Tile(ring, title, state, words, strokes, junctions))
    return tiles


def _reasons(verdicts: Verdicts) -> Mapping[tuple[int, ...], str]:
    why: dict[tuple[int, ...], str] = {}
    for check_id, words in texts("topology_enumeration.reasons").items():
        for pattern in map(tuple, verdicts.failures.get(check_id, ())):
            count = max(pattern) + 1
            why.setdefault(pattern, words or f"{count} class{'es' * (count > 1)}")
    return why


def _missing(params: Params, pattern: tuple[int, ...]) -> Tile:
    ring = on_ring(pattern, params.corner_order, POLYGONS[len(pattern)])
    strokes, junctions = interfaces(ring, "ink", dashed=True)
    return Tile(ring, tuple_text(pattern), "missing", (), strokes, junctions)


def _caption(
    params: Params, answer: Answer, verdicts: Verdicts, missing: Sequence[object]
) -> str:
    n = len(answer.configs)
    summary = f"{n} pattern{'s' * (n != 1)} listed"
    if verdicts and "surplus" in verdicts.metrics:
        k = len(params.corner_order)
        faults = verdicts.faults(texts("topology_enumeration.faults"), k=k)
        surplus = len(verdicts.metrics["surplus"])
        belong = f"{surplus} that {'do' if surplus > 1 else 'does'} not belong"
        faults += [belong] * bool(surplus) + [f"{len(missing)} missing"] * bool(missing)
        summary += f"; {', '.join(faults) or 'all right, and none is missing'}"
    if n > _MOST_PATTERNS:
        summary += f"; the first {_MOST_PATTERNS} are drawn"
    return f"{summary}; {verdicts.fraction}." if verdicts else f"{summary}."


def _legend(
    answered: Sequence[Tile], lacking: Sequence[Tile]
) -> tuple[tuple[str, str], ...]:
    words = texts("topology_enumeration.legend")
    states = sorted({tile.state for tile in answered} - {""}) + ["missing"] * bool(
        lacking
    )
    return tuple((state, words[state]) for state in states)


def _text(params: Params, answered: Sequence[Tile], lacking: Sequence[Tile]) -> str:
    tiles = (*answered, *lacking)
    if len(params.corner_order) == 4:
        return "\n".join(
            (*_key_lines(params), "", side_by_side(map(square_text, tiles)))
        )
    lines = [
        f"{tile.title} {tile.state} {' '.join(words for _, words in tile.below)}".rstrip()
        for tile in tiles
    ]
    return "\n".join((*_key_lines(params), "", *lines))
