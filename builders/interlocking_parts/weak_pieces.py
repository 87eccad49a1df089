"""Pieces that would be useless when printed: bars on hairs, sheets, hollow bars."""

from collections.abc import Sequence

from scbench.builders.interlocking_parts.cage import Box, Layout, Piece, rim_of

# Widths of the slots that cut bars, and of the hairs that join the ends, in mm.
_SLOT = 0.03
_HAIR = 0.05
# Thickness of sheets, as a share of the width of a bar.
_SHEET = 0.1
# The upright axis.
_UP = 2


def bars_on_hairs(plate: Piece, plan: Layout) -> Piece:
    """Return a plate with all bars cut in the middle of every gap, and joined by hairs."""
    middles = [(gap + 0.5) * plan.pitch - plan.reach for gap in range(plan.gaps)]
    return cut_and_joined(cut_and_joined(plate, 0, middles), 1, middles)


def eyelets_on_hairs(panel: Piece, plan: Layout, bar: float) -> Piece:
    """Return a panel whose corner bars hang from its other bars by hairs."""
    inner_edge = plan.reach - bar / 2 - 1
    return cut_and_joined(panel, 0, [-inner_edge, inner_edge])


def cut_and_joined(piece: Piece, axis: int, places: Sequence[float]) -> Piece:
    """Return a piece whose boxes are cut across an axis at some places, and joined by hairs."""
    boxes: list[Box] = []
    for box in piece.boxes:
        low, high = ends_of(box, axis)
        cuts = [at for at in sorted(places) if low < at - _SLOT and at + _SLOT < high]
        start = low
        for at in cuts:
            boxes.append(with_ends(box, axis, start, at - _SLOT / 2))
            boxes.append(hair_in(box, axis, at - _SLOT, at + _SLOT))
            start = at + _SLOT / 2
        boxes.append(with_ends(box, axis, start, high))
    return piece._replace(boxes=tuple(boxes))


def hair_in(box: Box, axis: int, low: float, high: float) -> Box:
    """Return a hair along an axis, in the middle of the underside of a box."""
    across = 1 - axis
    side, opposite_side = ends_of(box, across)
    middle = (side + opposite_side) / 2
    underside, _ = ends_of(box, _UP)
    hair = with_ends(box, axis, low, high)
    hair = with_ends(hair, across, middle - _HAIR / 2, middle + _HAIR / 2)
    return with_ends(hair, _UP, underside, underside + _HAIR)


def ends_of(box: Box, axis: int) -> tuple[float, float]:
    """Return the lowest and the highest coordinate of a box along an axis."""
    return box[axis], box[axis + 3]


def with_ends(box: Box, axis: int, low: float, high: float) -> Box:
    """Return a box with other ends along an axis."""
    ends = list(box)
    ends[axis] = low
    ends[axis + 3] = high
    x0, y0, z0, x1, y1, z1 = ends
    return (x0, y0, z0, x1, y1, z1)


def sheet(plate: Piece, plan: Layout) -> Piece:
    """Return a plate whose bars are thin sheets, except at its rim."""
    rim, inner = rim_and_inner(plate, plan)
    sheets = []
    for box in inner:
        bottom, top = ends_of(box, _UP)
        sheets.append(with_ends(box, _UP, bottom, bottom + _SHEET * top))
    return plate._replace(boxes=(*rim, *sheets))


def hollow(plate: Piece, plan: Layout) -> Piece:
    """Return a plate whose bars are two thin sheets, except at its rim."""
    _, inner = rim_and_inner(plate, plan)
    covers = []
    for box in inner:
        _, top = ends_of(box, _UP)
        covers.append(with_ends(box, _UP, (1 - _SHEET) * top, top))
    return plate._replace(boxes=(*sheet(plate, plan).boxes, *covers))


def hairs_across(plate: Piece, plan: Layout) -> Piece:
    """Return a plate with hairs instead of bars, except at its rim."""
    rim, inner = rim_and_inner(plate, plan)
    hairs = []
    for box in inner:
        west, east = ends_of(box, 0)
        south, north = ends_of(box, 1)
        axis = 0 if east - west > north - south else 1
        hairs.append(hair_in(box, axis, *ends_of(box, axis)))
    return plate._replace(boxes=(*rim, *hairs))


def rim_and_inner(plate: Piece, plan: Layout) -> tuple[list[Box], list[Box]]:
    """Return the bars at the rim of a plate, and those inside."""
    rim = rim_of(plate.boxes, plan.reach)
    return rim, [box for box in plate.boxes if box not in rim]
