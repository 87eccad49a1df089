"""Squares with labelled corners, the curves inside them, and the names in an answer."""

from collections.abc import Sequence
from dataclasses import replace

from scbench.base.wording import counted
from scbench.report.picture import Legend, Picture, Verdicts
from scbench.report.pictures.shared.square_lists import (
    limit_note,
    plain_tiles,
    squares_picture,
)
from scbench.report.pictures.shared.squares import Tile, interfaces
from scbench.schemas.classify_behaviour import Answer, Params
from scbench.schemas.corner_labels import CORNERS

# Short names of behaviours.
_NAMES = {
    "known behaviour": "known",
    "three domains meeting": "three domains",
    "ambiguous": "ambiguous",
}


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw every square; with an answer, also the curves inside and the answered names."""
    order = tuple(map(CORNERS.index, params.corner_order))
    tiles = [Tile(title="order of corners", order=order)]
    squares = plain_tiles(params.squares, params.corner_order)
    n = len(params.squares)
    if answer is None:
        tiles += squares
        caption = (
            f"{counted(n, 'square')}, with corners in the numbered order. Do the corners decide "
            "how the curves run inside? Dots show where a side changes class."
        )
    else:
        tiles += answered_tiles(squares, answer, verdicts)
        caption = answer_caption(n, answer, verdicts)
    return squares_picture(tiles, params.corner_order, caption, tiles_legend(tiles))


def answered_tiles(
    squares: Sequence[Tile], answer: Answer, verdicts: Verdicts
) -> list[Tile]:
    """Return the squares with the names in an answer; with a verdict, also the curves."""
    # Verdicts on malformed answers have no such count.
    judged = "squares_right" in verdicts.metrics
    offenders = verdicts.failures.get("names", ())
    corrections = {item["square"]: item["expected"] for item in offenders}
    tiles = []
    for i, square in enumerate(squares):
        if i >= len(answer.labels):
            tiles.append(replace(square, below=(("wrong", "no name"),)))
            continue
        label = answer.labels[i]
        if judged:
            tiles.append(judged_tile(square, label, corrections.get(i, label)))
        else:
            tiles.append(replace(square, below=(("ink", _NAMES[label]),)))
    return tiles


def judged_tile(square: Tile, label: str, right: str) -> Tile:
    """Return a square with its curves, the name in an answer, and the right name."""
    strokes, junctions = interfaces(square.labels, "ink")
    if right == "ambiguous":
        # Junctions of two possible drawings would only confuse.
        alternative = interfaces(square.labels, "quiet", later=True, dashed=True)
        strokes += alternative.strokes
        junctions = ()
    name = _NAMES[label]
    below = [("right", name)]
    if label != right:
        below = [("wrong", f"✗ {name}"), ("right", f"right: {_NAMES[right]}")]
    return replace(
        square,
        state="right" if label == right else "wrong",
        below=tuple(below),
        strokes=strokes,
        junctions=junctions,
    )


def tiles_legend(tiles: Sequence[Tile]) -> Legend:
    """Return the legend of the tiles."""
    legend = []
    if any(stroke.dashed for tile in tiles for stroke in tile.strokes):
        legend.append(("quiet", "dashed: another possible drawing"))
    if any(tile.junctions for tile in tiles):
        legend.append(("ink", "large dot: a junction, where three classes meet"))
    if any(tile.state == "wrong" for tile in tiles):
        legend.append(("wrong", "wrong name; the right one is below it"))
    return legend


def answer_caption(n: int, answer: Answer, verdicts: Verdicts) -> str:
    """Return the caption of an answer about n squares."""
    summary = f"{counted(len(answer.labels), 'name')} for {counted(n, 'square')}"
    if verdicts:
        right = verdicts.metrics.get("squares_right")
        if right is not None:
            summary = f"Right names for {right} of {counted(n, 'square')}"
        summary += f"; {verdicts.fraction}"
    return f"{summary}.{limit_note(n)}"
