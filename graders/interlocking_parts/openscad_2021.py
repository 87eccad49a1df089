"""Changes to the OpenSCAD library, which make it agree with OpenSCAD 2021.01.

Only `openscad_child` loads this module, so it imports nothing from scbench either. Formulas are
those of OpenSCAD 2021.01; where a call draws nothing there, it draws nothing here, and everything
else that a source draws still counts.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import manifold3d
import numpy as np

# OpenSCAD treats a smaller radius as none.
_FINE = 0.00000095367431640625
# Default height of a linear_extrude.
_HEIGHT = 100.0
# Default values of the numbers that determine how circles are cut into segments.
_RESOLUTION = {"fn": 0.0, "fa": 12.0, "fs": 2.0}
# Corners that agree to this many decimals are merged.
_SAME_DECIMALS = 9
# Relative difference up to which diagonals count as equally long.
_EQUAL = 1e-5
# A twisted extrusion turns by this at most, in degrees, from layer to layer.
_MAX_TURN = 120

# Makes bodies from parameters, children and a node of the tree.
Maker = Callable[[Any, Any, Any], list[Any]]


def patch_library(library: Any, evaluator: Any, spend: Callable[[float], None]) -> None:
    """Replace the functions that differ in an evaluator's tables of functions.

    ``spend`` is called with steps before they are taken.
    """
    resolve = evaluator._RESOLVE_DISPATCH
    generate = evaluator._GENERATE_DISPATCH

    def made_of_section(make: Callable[..., Any]) -> Maker:
        """Return a maker that calls ``make`` with the union of flat children."""

        def call(parameters: Any, children: Any, node: Any) -> list[Any]:
            section = evaluator._to_cross_section(library.flatten_csg_tree(children))
            if section is None:
                return []
            body = make(section, parameters, evaluator, spend)
            if body is None:
                return []
            return [evaluator._tag_generated(body, node, parameters["color"])]

        return call

    def group(node: Any, context: Any) -> dict[str, Any]:
        return {**evaluator._resolve_csg(node, context), "op": "union"}

    def assign(node: Any, context: Any) -> dict[str, Any]:
        values = evaluator._resolve_args(node.arguments, context)
        inner = context.child_ctx(
            children_nodes=context.children_nodes,
            children_caller_ctx=context.children_caller_ctx,
        )
        for name, value in values.items():
            if isinstance(name, str):
                evaluator._bind_let_name(inner, name, value, True)
        evaluator._eval_children(node.children, inner)
        return {}

    resolve["linear_extrude"] = partial(linear_parameters, evaluator)
    resolve["rotate_extrude"] = partial(rotate_parameters, evaluator)
    generate["linear_extrude"] = made_of_section(extrude)
    generate["rotate_extrude"] = made_of_section(revolve)
    resolve |= {"group": group, "assign": assign}
    generate["group"] = evaluator._generate_csg
    has_size: dict[str, Callable[[Any], bool]] = {
        "cube": is_block,
        "sphere": is_round,
        "cylinder": is_cylinder,
        "circle": is_flat,
        "square": is_flat,
    }
    for name, is_drawn in has_size.items():
        generate[name] = skip_if_empty(generate[name], is_drawn)
    generate["polyhedron"] = repair_winding(generate["polyhedron"])
    library._EXPR_DISPATCH[library.RangeLiteral] = range_reader(library)


def finite(value: Any, default: float) -> float:
    """Return a number, or the default for any other value, including infinity and NaN."""
    if is_number(value) and math.isfinite(value):
        return float(value)
    return default


def is_number(value: Any) -> bool:
    """Return whether a value is a number in OpenSCAD; truth values are not."""
    return type(value) in {int, float}


# Sizes, polyhedra, ranges


def skip_if_empty(make: Maker, is_drawn: Callable[[Any], bool]) -> Maker:
    """Return a maker of bodies that makes no body if the parameters give no size."""

    def call(parameters: Any, children: Any, node: Any) -> list[Any]:
        return make(parameters, children, node) if is_drawn(parameters) else []

    return call


def is_block(parameters: Any) -> bool:
    """Whether every side has a length."""
    return all(0 < side < math.inf for side in parameters["size"])


def is_cylinder(parameters: Any) -> bool:
    """Whether there are a height and a radius; one of the two radii may be 0."""
    radii = (parameters["r1"], parameters["r2"])
    has_height = 0 < parameters["h"] < math.inf
    has_radius = min(radii) >= 0 and 0 < max(radii) < math.inf
    return bool(has_height and has_radius)


def is_round(parameters: Any) -> bool:
    """Whether there is a radius."""
    return bool(0 < parameters["r"] < math.inf)


def is_flat(parameters: Any) -> bool:
    """Whether a circle or square has a size; other flat shapes always have one."""
    if parameters["name"] == "circle":
        return is_round(parameters)
    return parameters["name"] != "square" or is_block(parameters)


def repair_winding(make: Maker) -> Maker:
    """Return a maker of polyhedra that reverses a polyhedron if all its faces are wound wrongly."""

    def call(parameters: Any, children: Any, node: Any) -> list[Any]:
        bodies = make(parameters, children, node)
        if any(body.body is not None and body.body.volume() < 0 for body in bodies):
            reversed_faces = np.ascontiguousarray(parameters["tri_arr"][:, ::-1])
            bodies = make({**parameters, "tri_arr": reversed_faces}, children, node)
        return bodies

    return call


def range_reader(library: Any) -> Callable[[Any, Any, Any], Any]:
    """Return the function for ranges: [3:0] counts from 0 to 3, and [3:1:0] is empty."""
    plain = library.Evaluator._eval_range

    def call(evaluator: Any, node: Any, context: Any) -> Any:
        span = plain(evaluator, node, context)
        if node.implicit_step and span.start > span.end:
            return library.OscRange(span.end, span.step, span.start)
        return span

    return call


# linear_extrude


def linear_parameters(evaluator: Any, node: Any, context: Any) -> dict[str, Any]:
    """Return the parameters of a linear_extrude; those that are not numbers count as not set."""
    args, context = evaluator._resolve_call_args(node, context)
    evaluator._eval_children(node.children, context)
    get = evaluator._get_arg
    scale = get(args, None, "scale", None)
    if not isinstance(scale, list) or len(scale) != 2:
        scale = [scale, scale]
    slices = get(args, None, "slices", None)
    layers = max(1, int(finite(slices, 1.0))) if is_number(slices) else None
    return {
        "height": finite(get(args, 0, "height", None), _HEIGHT),
        "center": get(args, None, "center", False) is True,
        "twist": finite(get(args, None, "twist", None), 0.0),
        "slices": layers,
        "scale_top": tuple(max(0.0, finite(value, 1.0)) for value in scale),
        **resolution(context),
    }


def resolution(context: Any) -> dict[str, Any]:
    """Return $fn, $fa and $fs, and the colour."""
    values: dict[str, Any] = {}
    for name, usual in _RESOLUTION.items():
        values[name] = finite(context.dyn.get(f"${name}"), usual)
        if name != "fn" and values[name] <= 0:
            values[name] = usual
    return {**values, "color": context.color}


def extrude(
    section: Any, parameters: Any, _: Any, spend: Callable[[float], None]
) -> Any:
    """Return a section extruded along z; None if it has no height."""
    height = parameters["height"]
    twist = parameters["twist"]
    if section.is_empty() or height <= 0:
        return None
    points = np.concatenate(section.to_polygons())
    layers = parameters["slices"] or layer_count(points, parameters)
    spend(float(len(points)) * layers)
    scale = parameters["scale_top"]
    if twist or scale[0] != scale[1]:
        body = extrude_in_layers(section.to_polygons(), height, layers, twist, scale)
    else:
        body = manifold3d.Manifold.extrude(section, height, layers - 1, 0.0, scale)
    return body.translate((0, 0, -height / 2)) if parameters["center"] else body


def layer_count(points: Any, parameters: Any) -> int:
    """Return the number of layers of an extrusion that does not set it, as in OpenSCAD 2021.01."""
    twist = abs(float(parameters["twist"]))
    height = float(parameters["height"])
    fn, fa, fs = (float(parameters[name]) for name in _RESOLUTION)
    scale = np.array(parameters["scale_top"])
    is_uneven = scale[0] != scale[1]
    # Sides that lean unevenly are not flat: the path of the farthest corner sets the layers.
    layers = 1
    if is_uneven:
        squares = ((points - points * scale) ** 2).sum(axis=1)
        longest_move = math.sqrt(float(squares.max()))
        if longest_move >= _FINE:
            segments = fn if fn > 0 else math.hypot(longest_move, height) / fs
            layers = max(1, math.ceil(segments))
    if not twist:
        return layers
    layers = max(layers, math.ceil(twist / _MAX_TURN))
    radius = math.sqrt(float((points**2).sum(axis=1).max()))
    if radius < _FINE:
        return layers
    if fn > 0:
        return max(layers, math.ceil(twist / 360 * fn))
    turn = math.radians(twist)
    if is_uneven or scale[0] == 1:
        length = turn * math.hypot(radius, height / turn)
    else:
        length = math.hypot(spiral_length(radius, turn, float(scale[0])), height)
    return max(layers, min(math.ceil(twist / fa), math.ceil(length / fs)))


def spiral_length(radius: float, turn: float, scale: float) -> float:
    """Return the length of the path of a point that is turned and scaled, seen from above."""
    end = turn * scale / (scale - 1) if scale > 1 else turn / (1 - scale)

    def length(angle: float) -> float:
        root = math.sqrt(1 + angle * angle)
        return 0.5 * radius / end * (angle * root + math.log(angle + root))

    return length(end) - length(end - turn)


def extrude_in_layers(
    outlines: Any, height: float, layers: int, twist: float, scale: Sequence[float]
) -> Any:
    """Return outlines extruded in layers; sides between layers are cut along shorter diagonals."""
    points = layer_points(np.concatenate(outlines), height, layers, twist, scale)
    ends = np.cumsum([len(outline) for outline in outlines])
    n = int(ends[-1])
    # The corner after each corner of an outline; the first follows the last.
    after = np.arange(1, n + 1)
    after[ends - 1] = [0, *ends[:-1]]
    # Corners of the quadrangles: a and b in one layer, d above a and c above b.
    layer_starts = np.arange(layers)[:, None] * n
    a = (layer_starts + np.arange(n)).ravel()
    b = (layer_starts + after).ravel()
    c = b + n
    d = a + n
    length_ac = np.sqrt(((points[a] - points[c]) ** 2).sum(axis=1))
    length_bd = np.sqrt(((points[b] - points[d]) ** 2).sum(axis=1))
    along_ac = length_ac < length_bd * (1 - _EQUAL)
    if twist > 0:
        # Of equally long diagonals, the direction of the twist decides.
        is_equal = abs(length_ac - length_bd) <= _EQUAL * length_bd
        along_ac |= is_equal
    lower = np.stack([a, b, np.where(along_ac, c, d)], axis=1)
    upper = np.stack([np.where(along_ac, a, b), c, d], axis=1)
    cap = np.asarray(manifold3d.triangulate(outlines)).astype(np.int64)
    floor = cap[:, ::-1]
    roof = cap + layers * n
    return solid(points, np.concatenate([floor, lower, upper, roof]))


def layer_points(
    flat: Any, height: float, layers: int, twist: float, scale: Sequence[float]
) -> Any:
    """Return the corners of all layers, the lowest first: points (n, 2) turned and scaled."""
    points = []
    for k in range(layers + 1):
        part = k / layers
        turn = math.radians(-twist * k / layers)
        cos = math.cos(turn)
        sin = math.sin(turn)
        turned = flat @ np.array([[cos, sin], [-sin, cos]])
        scaled = turned * (1 + (np.array(scale) - 1) * part)
        points.append(np.column_stack([scaled, np.full(len(flat), height * part)]))
    return np.concatenate(points)


def solid(points: Any, corners: Any) -> Any:
    """Return the body inside triangles; corners in one place are merged."""
    rounded = np.round(points, _SAME_DECIMALS) + 0.0
    places, number = np.unique(rounded, axis=0, return_inverse=True)
    corners = number.reshape(-1)[corners]
    a, b, c = corners.T
    triangles = corners[(a != b) & (b != c) & (c != a)]
    triangles = np.ascontiguousarray(triangles, dtype=np.uint64)
    return manifold3d.Manifold(manifold3d.Mesh64(places, triangles))


# rotate_extrude


def rotate_parameters(evaluator: Any, node: Any, context: Any) -> dict[str, Any]:
    """Return the parameters of a rotate_extrude; an angle outside (-360, 360] is a full turn."""
    args, context = evaluator._resolve_call_args(node, context)
    evaluator._eval_children(node.children, context)
    angle = finite(evaluator._get_arg(args, 0, "angle", None), 360.0)
    full_turn = angle <= -360 or angle > 360
    return {"angle": 360.0 if full_turn else angle, **resolution(context)}


def revolve(
    section: Any, parameters: Any, evaluator: Any, spend: Callable[[float], None]
) -> Any:
    """Return a section that is turned about its y axis, which becomes z; None if it cannot be."""
    angle = parameters["angle"]
    if section.is_empty() or angle == 0:
        return None
    west, _, east, _ = section.bounds()
    low = min(west, 0.0)
    high = max(east, 0.0)
    radius = high - low
    is_on_both_sides = radius > max(high, -low)
    if is_on_both_sides:
        return None
    segments = 3
    if radius >= _FINE:
        fn, fa, fs = (parameters[name] for name in _RESOLUTION)
        segments = evaluator._fn_segments(fn, fa, fs, radius)
    fragments = max(1, int(segments * abs(angle) / 360))
    spend(float(section.num_vert()) * fragments)
    if angle != 360:
        return sweep(section, fragments, angle)
    # A full turn begins on the other side of the axis.
    if low < 0:
        return section.mirror((1, 0)).revolve(fragments).rotate((0, 0, 0))
    return section.revolve(fragments).rotate((0, 0, 180))


def sweep(section: Any, fragments: int, angle: float) -> Any:
    """Return a section swept from y = 0 by part of a turn, in flat pieces."""
    # The section is extruded with a layer for each fragment; then every layer is rotated.
    prism = manifold3d.Manifold.extrude(section, float(fragments), fragments - 1)
    mesh = prism.to_mesh64()
    points = np.asarray(mesh.vert_properties)[:, :3]
    triangles = np.asarray(mesh.tri_verts)
    x = points[:, 0]
    y = points[:, 1]
    layer = points[:, 2]
    turns = np.radians(np.round(layer) * angle / fragments)
    turned = np.stack([x * np.cos(turns), x * np.sin(turns), y], axis=1)
    if float(x.sum()) * angle > 0:
        triangles = triangles[:, ::-1]
    # Points on the axis do not move, so they are merged.
    return solid(turned, triangles)
