"""Corner patterns that an answer lists, with curves inside, and those that are missing."""

from collections.abc import Sequence

from scbench.base.wording import counted
from scbench.graders.shared.corner_labels import canonical, on_ring
from scbench.report.picture import Legend, Panel, Picture, Verdicts
from scbench.report.pictures.shared.squares import (
    Tile,
    interfaces,
    sheet,
    square_text,
    tuple_text,
)
from scbench.report.pictures.shared.tables import side_by_side
from scbench.schemas.topology_enumeration import POLYGONS, Answer, Params

# Maximum number of patterns drawn.
MOST_PATTERNS = 60
SHAPES = {4: "square", 5: "pentagon", 6: "hexagon", 7: "heptagon", 8: "octagon"}
# Reasons why a pattern is wrong, by check id; "" means its number of classes.
REASONS = {
    "all_classes": "",
    "known": "differs from known part",
    "forced": "can stay apart",
}
FAULTS = {"corners": "{n} without {k} labels", "repeats": "{n} repeated"}
LEGEND = {
    "missing": "missing: the classes must meet here too",
    "right": "listed and right: the classes must meet",
    "wrong": "listed, but wrong; the reason is below the pattern",
}

# Class of each corner, in the order of the task.
Pattern = tuple[int, ...]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the order of the corners; with an answer, a tile for each listed or missing pattern."""
    ring = POLYGONS[len(params.corner_order)]
    order = tuple(map(ring.index, params.corner_order))
    key = Tile(order=order, letters=params.known, corners=len(ring))
    question = question_text(params)
    panels = [Panel("order of the corners", sheet([key], half=45), question)]
    if answer is None:
        return Picture(tuple(panels), question, text="\n".join(key_lines(params)))
    tiles = answered_tiles(params, answer, verdicts)
    missing = [tuple(pattern) for pattern in verdicts.metrics.get("missing", ())]
    caption = answer_caption(params, answer, verdicts, len(missing))
    if tiles:
        title = "listed"
        if len(answer.configs) > MOST_PATTERNS:
            title = f"the first {MOST_PATTERNS} listed"
        panels.append(Panel(title, sheet(tiles), caption))
    missing_tiles = [
        missing_tile(params, pattern) for pattern in missing[:MOST_PATTERNS]
    ]
    if missing_tiles:
        alt = f"Patterns that were not listed: {len(missing)}."
        panels.append(Panel("missing", sheet(missing_tiles), alt))
    # The legend and the text cover listed and missing patterns.
    tiles += missing_tiles
    return Picture(
        tuple(panels), caption, tuple(legend_lines(tiles)), text_view(params, tiles)
    )


def question_text(params: Params) -> str:
    """Return the task in a sentence."""
    k = len(params.corner_order)
    n = params.n_classes
    hint = ""
    if params.known:
        hint = f" The patterns agree with ({', '.join(params.known)})."
    return (
        f"Which corner patterns of a {SHAPES[k]} force {n} classes to meet at a point inside? "
        f"Corners are read in the numbered order.{hint}"
    )


def key_lines(params: Params) -> list[str]:
    """Return the order of the corners as lines of text."""
    lines = [f"{params.n_classes} classes; order of the corners:"]
    lines += [f"{i}: {name}" for i, name in enumerate(params.corner_order, start=1)]
    if params.known:
        lines.append(f"known: ({', '.join(params.known)})")
    return lines


def answered_tiles(params: Params, answer: Answer, verdicts: Verdicts) -> list[Tile]:
    """Return a tile for each pattern of an answer, up to `MOST_PATTERNS`."""
    k = len(params.corner_order)
    reasons = surplus_reasons(verdicts)
    surplus = {tuple(pattern) for pattern in verdicts.metrics.get("surplus", ())}
    repeats = {tuple(pattern) for pattern in verdicts.failures.get("repeats", ())}
    bad_lengths = set(verdicts.failures.get("corners", ()))
    judged = "surplus" in verdicts.metrics
    earlier: set[Pattern] = set()
    tiles = []
    for i, labels in enumerate(answer.configs[:MOST_PATTERNS]):
        title = tuple_text(labels)
        if i in bad_lengths or len(labels) != k:
            # A wrong number of labels does not fit the corners.
            below = (("wrong", f"{len(labels)} labels"),)
            state = "wrong" if judged else ""
            tiles.append(Tile(title=title, state=state, below=below, corners=k))
            continue
        pattern = canonical(labels)
        state = "right" if judged else ""
        reason = ""
        if pattern in surplus:
            state = "wrong"
            reason = reasons.get(pattern, "")
        elif pattern in earlier and pattern in repeats:
            state = "wrong"
            reason = "listed before"
        earlier.add(pattern)
        # The answer uses the task's order; a ring uses the polygon's.
        ring = on_ring(labels, params.corner_order, POLYGONS[k])
        strokes, junctions = interfaces(ring, "ink")
        words = ((state, reason),) if reason else ()
        tiles.append(Tile(ring, title, state, words, strokes, junctions))
    return tiles


def surplus_reasons(verdicts: Verdicts) -> dict[Pattern, str]:
    """Return the first failed check of each wrong pattern."""
    reasons: dict[Pattern, str] = {}
    for check_id, words in REASONS.items():
        for offender in verdicts.failures.get(check_id, ()):
            pattern = tuple(offender)
            classes = counted(max(pattern) + 1, "class", "classes")
            reasons.setdefault(pattern, words or classes)
    return reasons


def missing_tile(params: Params, pattern: Pattern) -> Tile:
    """Return the tile of a pattern that the answer does not list."""
    ring = on_ring(pattern, params.corner_order, POLYGONS[len(pattern)])
    strokes, junctions = interfaces(ring, "ink", dashed=True)
    return Tile(ring, tuple_text(pattern), "missing", (), strokes, junctions)


def answer_caption(
    params: Params, answer: Answer, verdicts: Verdicts, missing: int
) -> str:
    """Return the counts and faults of an answer, which omits `missing` patterns."""
    n = len(answer.configs)
    summary = f"{counted(n, 'pattern')} listed"
    if "surplus" in verdicts.metrics:
        faults = verdicts.faults(FAULTS, k=len(params.corner_order))
        surplus = len(verdicts.metrics["surplus"])
        if surplus:
            faults.append(f"{surplus} wrong")
        if missing:
            faults.append(f"{missing} missing")
        summary += f": {', '.join(faults) or 'all are right, and none is missing'}"
    if n > MOST_PATTERNS:
        summary += f"; only the first {MOST_PATTERNS} are drawn"
    return f"{summary}; {verdicts.fraction}." if verdicts else f"{summary}."


def legend_lines(tiles: Sequence[Tile]) -> Legend:
    """Return a line for each state of the tiles, missing ones last."""
    states = {tile.state for tile in tiles} - {""}
    order = sorted(states, key=lambda state: (state == "missing", state))
    return [(state, LEGEND[state]) for state in order]


def text_view(params: Params, tiles: Sequence[Tile]) -> str:
    """Return the patterns as text: squares as small pictures, the longer ones as tuples."""
    lines = [*key_lines(params), ""]
    if len(params.corner_order) == 4:
        lines.append(side_by_side(map(square_text, tiles)))
        return "\n".join(lines)
    for tile in tiles:
        reason = " ".join(words for _, words in tile.below)
        lines.append(f"{tile.title} {tile.state} {reason}".rstrip())
    return "\n".join(lines)
