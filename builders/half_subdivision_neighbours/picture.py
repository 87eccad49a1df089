"""The boxes in place: a square, or the layers of a cube side by side."""

from typing import NamedTuple

from scbench.builders.shared.builder import toml_file
from scbench.builders.shared.canvas import AMBER, BLACK, GREY, Canvas, text_size
from scbench.schemas.half_subdivision_neighbours import Params

# Pixels between layers, and pixels above and below each layer for text.
_MARGIN = 26
_HEAD = 22
_FOOT = 12
# Largest picture, and largest layer, in pixels.
_WIDEST = 1540
_HIGHEST = 768
_LARGEST_LAYER = 720
# Side of the smallest dot in pixels; in larger leaves, dots have up to three times this side.
_DOT = 3
# Start and end of a box along x, y and z, in units of the smallest part along that axis.
Box = tuple[tuple[int, int], ...]


class Arrangement(NamedTuple):
    """Layers in rows: their number across and down, and the side of each in pixels."""

    across: int
    down: int
    side: int


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw every leaf as a rectangle, in each of its layers."""
    deepest = max(map(len, params.leaves))
    cycle = params.axis_cycle
    axes: list[str] = [cycle[depth % len(cycle)] for depth in range(deepest)]
    parts = {axis: 1 << axes.count(axis) for axis in "xyz"}
    boxes = {leaf: leaf_box(leaf, axes, parts) for leaf in params.leaves}
    layers = parts["z"]
    finest = max(parts["x"], parts["y"])
    across, down, side = arrange(layers, finest)
    # With too many parts, a dot does not fit into the smallest part.
    if side < _DOT * finest:
        return ()
    pitch = side + _MARGIN
    row = side + _HEAD + _FOOT
    canvas = Canvas(_MARGIN + across * pitch, _MARGIN + down * row)
    # Size of the smallest part in pixels.
    unit = (side // parts["x"], side // parts["y"])
    for z in range(layers):
        left = _MARGIN + z % across * pitch
        top = z // across * row + _HEAD
        if layers > 1:
            canvas.text(left, top - 18, f"layer {z}", 2)
        for leaf, box in boxes.items():
            corner = (left, top + side)
            draw_leaf(canvas, box, z, corner, unit, is_target=leaf == params.target)
        # The y axis is named at the first layer of a row, and the x axis at the last of a column.
        if z % across == 0:
            canvas.text_in((left - 22, top, 20, 14), "y", 2)
        if z // across == down - 1 or z + across >= layers:
            text_wide, _ = text_size("x", 2)
            canvas.text(left + side - text_wide, top + side + 4, "x", 2)
    return (canvas,)


def words(params: Params) -> dict[str, str]:
    """Return the prompt's words if a picture replaces the list of labels."""
    texts = toml_file(__package__, "picture.toml")["shown"]
    deepest = max(map(len, params.leaves))
    return {"shown": texts[params.dimension], "deepest": str(deepest)}


def leaf_box(leaf: str, axes: list[str], parts: dict[str, int]) -> Box:
    """Return the box of a leaf: each bit of its label chooses a half."""
    ends = {axis: (0, n) for axis, n in parts.items()}
    for bit, axis in zip(leaf, axes, strict=False):
        low, high = ends[axis]
        middle = (low + high) // 2
        if bit == "1":
            ends[axis] = (middle, high)
        else:
            ends[axis] = (low, middle)
    return tuple(ends[axis] for axis in "xyz")


def arrange(layers: int, finest: int) -> Arrangement:
    """Return the arrangement with the largest layers; in a tie, the one with the fewest across."""
    best = Arrangement(1, layers, 0)
    for across in range(1, layers + 1):
        down = -(-layers // across)
        room_across = (_WIDEST - _MARGIN) // across - _MARGIN
        room_down = (_HIGHEST - _MARGIN) // down - _HEAD - _FOOT
        room = min(room_across, room_down, _LARGEST_LAYER)
        # Every smallest part gets the same whole number of pixels.
        side = room // finest * finest
        if side > best.side:
            best = Arrangement(across, down, side)
    return best


def draw_leaf(
    canvas: Canvas,
    box: Box,
    layer: int,
    corner: tuple[int, int],
    unit: tuple[int, int],
    *,
    is_target: bool,
) -> None:
    """Draw a leaf in one of its layers; a dot means that it continues in the next layer.

    Args:
        canvas: the picture.
        box: the place of the leaf.
        layer: the z of the layer.
        corner: the pixel of the layer's lower left corner.
        unit: size of the smallest part in pixels, along x and y.
        is_target: whether the leaf is the target, which is filled.
    """
    (x0, x1), (y0, y1), (z0, z1) = box
    if not z0 <= layer < z1:
        return
    unit_wide, unit_high = unit
    left = corner[0] + x0 * unit_wide
    # y runs upwards, and pixels count downwards.
    top = corner[1] - y1 * unit_high
    wide = (x1 - x0) * unit_wide
    high = (y1 - y0) * unit_high
    if is_target:
        canvas.fill(left, top, wide, high, AMBER)
    canvas.frame(left, top, wide + 1, high + 1, GREY)
    if layer + 1 < z1:
        dot = max(_DOT, min(3 * _DOT, unit_wide // 3, unit_high // 3))
        x = left + (wide - dot + 1) // 2
        y = top + (high - dot + 1) // 2
        canvas.fill(x, y, dot, dot, BLACK)
