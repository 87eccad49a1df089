"""Pictures of tasks that ask about each of many squares with labelled corners."""

from collections.abc import Sequence

from scbench.graders.shared.corner_labels import on_ring
from scbench.report.picture import Legend, Panel, Picture
from scbench.report.pictures.shared.squares import Tile, key_text, sheet, tuple_text
from scbench.schemas.corner_labels import CORNERS

# Maximum number of squares drawn per item.
MOST_SQUARES = 47


def squares_picture(
    tiles: Sequence[Tile], corner_order: Sequence[str], caption: str, legend: Legend
) -> Picture:
    """Return the picture of a sheet of squares."""
    panel = Panel("squares", sheet(tiles), caption)
    text = key_text(corner_order, tiles)
    return Picture((panel,), caption, tuple(legend), text)


def plain_tiles(
    squares: Sequence[Sequence[int]],
    corner_order: Sequence[str],
    sides: tuple[str, ...] = (),
) -> list[Tile]:
    """Return the first squares of an item with their labels, and words next to the sides."""
    tiles = []
    for i, labels in enumerate(squares[:MOST_SQUARES]):
        ring = on_ring(labels, corner_order, CORNERS)
        tiles.append(Tile(ring, f"{i}: {tuple_text(labels)}", sides=sides))
    return tiles


def limit_note(count: int) -> str:
    """Return the caption's sentence about omitted squares; empty if all are drawn."""
    if count <= MOST_SQUARES:
        return ""
    return f" Only the first {MOST_SQUARES} squares are drawn."
