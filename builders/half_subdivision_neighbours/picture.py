"""The boxes as they lie: a square, or the layers of a cube side by side."""

from scbench.builders.shared.builder import toml_file
from scbench.builders.shared.canvas import AMBER, BLACK, GREY, Canvas, text_size
from scbench.schemas.half_subdivision_neighbours import Params

_MARGIN, _HEAD = 26, 22
# Pixels of the smallest dot; where leaves are larger, a dot has up to three times as
# many.
_DOT = 3
# Where a box begins and ends along each axis, in the smallest parts that axis is cut
# into.
Box = tuple[tuple[int, int], ...]


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw every leaf as a rectangle, in each layer that it reaches through."""
    deepest = max(map(len, params.leaves))
    axes: list[str] = [
        params.axis_cycle[d % len(params.axis_cycle)] for d in range(deepest)
    ]
    parts = {axis: 1 << axes.count(axis) for axis in "xyz"}
    boxes = {leaf: _box(leaf, axes, parts) for leaf in params.leaves}
    layers, finest = parts["z"], max(parts["x"], parts["y"])
    across, down, side = max(
        (
            (a, -(-layers // a), _layer_side(a, -(-layers // a), finest))
            for a in range(1, layers + 1)
        ),
        key=lambda shape: (shape[2], -shape[0]),
    )
    if side < _DOT * finest:
        return ()
    pitch, row = side + _MARGIN, side + _HEAD + 12
    canvas = Canvas(_MARGIN + across * pitch, _MARGIN + down * row)
    wide, high = side // parts["x"], side // parts["y"]
    for z in range(layers):
        left, top = _MARGIN + z % across * pitch, z // across * row + _HEAD
        if layers > 1:
            canvas.text(left, top - 18, f"layer {z}", 2)
        for leaf, ((x0, x1), (y0, y1), (z0, z1)) in boxes.items():
            if not z0 <= z < z1:
                continue
            place = (
                left + x0 * wide,
                top + side - y1 * high,
                (x1 - x0) * wide,
                (y1 - y0) * high,
            )
            if leaf == params.target:
                canvas.fill(*place, AMBER)
            canvas.frame(place[0], place[1], place[2] + 1, place[3] + 1, GREY)
            if z + 1 < z1:
                dot = max(_DOT, min(3 * _DOT, wide // 3, high // 3))
                x, y = (place[i] + (place[i + 2] - dot + 1) // 2 for i in (0, 1))
                canvas.fill(x, y, dot, dot, BLACK)
        if z % across == 0:
            canvas.text_in((left - 22, top, 20, 14), "y", 2)
        if z // across == down - 1 or z + across >= layers:
            canvas.text(left + side - text_size("x", 2)[0], top + side + 4, "x", 2)
    return (canvas,)


def words(params: Params) -> dict[str, str]:
    """Return what is said of the leaves in place of their labels."""
    shown = toml_file(__package__, "picture.toml")["shown"]
    deepest = max(map(len, params.leaves))
    return {"shown": shown[params.dimension], "deepest": str(deepest)}


def _layer_side(across: int, down: int, finest: int) -> int:
    """Return the pixels of a layer's side, if so many stand beside and below each other."""
    room = min(
        (1540 - _MARGIN) // across - _MARGIN, (768 - _MARGIN) // down - _HEAD - 12
    )
    return min(room, 720) // finest * finest


def _box(leaf: str, axes: list[str], parts: dict[str, int]) -> Box:
    ends = {axis: (0, n) for axis, n in parts.items()}
    for bit, axis in zip(leaf, axes, strict=False):
        low, high = ends[axis]
        middle = (low + high) // 2
        ends[axis] = (middle, high) if bit == "1" else (low, middle)
    return tuple(ends[axis] for axis in "xyz")
