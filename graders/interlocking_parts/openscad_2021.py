"""What the OpenSCAD library does otherwise than OpenSCAD 2021.01, made alike.

Imported by `openscad_child` alone, so it imports nothing of scbench, either. Formulas are those of
OpenSCAD 2021.01; where a call draws nothing there, it draws nothing here, and what else a source
draws still counts.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import manifold3d
import numpy as np

# Below this OpenSCAD takes a radius for none.
_FINE = 0.00000095367431640625
# Of a linear_extrude that is given none.
_HEIGHT = 100.0
_SAME_DECIMALS = 9
# Share by which diagonals of one length may differ.
_EQUAL = 1e-5
_Maker = Callable[[Any, Any, Any], list[Any]]


def mend(library: Any, evaluator: Any, spend: Callable[[float], None]) -> None:
    """Replace what an evaluator of the library does otherwise, in its tables of functions by name.

    ``spend`` is called with steps before they are taken.
    """
    resolve, generate = evaluator._RESOLVE_DISPATCH, evaluator._GENERATE_DISPATCH

    def made_of_section(make: Callable[..., Any]) -> _Maker:
        def call(parameters: Any, children: Any, node: Any) -> list[Any]:
            section = evaluator._to_cross_section(library.flatten_csg_tree(children))
            body = (
                None if section is None else make(section, parameters, evaluator, spend)
            )
            tagged = evaluator._tag_generated
            return [] if body is None else [tagged(body, node, parameters["color"])]

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

    resolve["linear_extrude"] = partial(_linear_parameters, evaluator)
    resolve["rotate_extrude"] = partial(_around_parameters, evaluator)
    generate["linear_extrude"] = made_of_section(_extruded)
    generate["rotate_extrude"] = made_of_section(_revolved)
    resolve |= {"group": group, "assign": assign}
    generate["group"] = evaluator._generate_csg
    for name, is_drawn in _HAS_SIZE.items():
        generate[name] = _if_drawn(generate[name], is_drawn)
    generate["polyhedron"] = _right_side_out(generate["polyhedron"])
    library._EXPR_DISPATCH[library.RangeLiteral] = _either_way(library)


def _finite(value: object, default: float) -> float:
    if type(value) in {int, float} and math.isfinite(value):  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    return default


# Zero and negative sizes draw nothing.


def _is_block(parameters: Any) -> bool:
    return all(0 < side < math.inf for side in parameters["size"])


def _is_cylinder(parameters: Any) -> bool:
    ends = parameters["r1"], parameters["r2"]
    return bool(
        0 < parameters["h"] < math.inf and min(ends) >= 0 and 0 < max(ends) < math.inf
    )


def _is_round(parameters: Any) -> bool:
    return bool(0 < parameters["r"] < math.inf)


def _is_flat(parameters: Any) -> bool:
    kind = parameters["name"]
    return {"circle": _is_round, "square": _is_block}.get(kind, lambda _: True)(
        parameters
    )


_HAS_SIZE: dict[str, Callable[[Any], bool]] = {
    "cube": _is_block,
    "sphere": _is_round,
    "cylinder": _is_cylinder,
    "circle": _is_flat,
    "square": _is_flat,
}


def _if_drawn(make: _Maker, is_drawn: Callable[[Any], bool]) -> _Maker:
    def call(parameters: Any, children: Any, node: Any) -> list[Any]:
        return make(parameters, children, node) if is_drawn(parameters) else []

    return call


def _right_side_out(make: _Maker) -> _Maker:
    """Return the maker of polyhedra; one whose faces all run the other way round is turned."""

    def call(parameters: Any, children: Any, node: Any) -> list[Any]:
        bodies = make(parameters, children, node)
        if any(body.body is not None and body.body.volume() < 0 for body in bodies):
            reversed_faces = np.ascontiguousarray(parameters["tri_arr"][:, ::-1])
            bodies = make({**parameters, "tri_arr": reversed_faces}, children, node)
        return bodies

    return call


def _either_way(library: Any) -> Callable[[Any, Any, Any], Any]:
    """Return how ranges are evaluated: [3:0] counts from 0 to 3, and [3:1:0] not at all."""
    plain = library.Evaluator._eval_range

    def call(evaluator: Any, node: Any, context: Any) -> Any:
        span = plain(evaluator, node, context)
        if node.implicit_step and span.start > span.end:
            return library.OscRange(span.end, span.step, span.start)
        return span

    return call


# linear_extrude


def _linear_parameters(evaluator: Any, node: Any, context: Any) -> dict[str, Any]:
    args, context = evaluator._resolve_call_args(node, context)
    evaluator._eval_children(node.children, context)
    get = evaluator._get_arg
    scale = get(args, None, "scale", None)
    pair = scale if isinstance(scale, list) and len(scale) == 2 else [scale, scale]
    slices = get(args, None, "slices", None)
    return {
        "height": _finite(get(args, 0, "height", None), _HEIGHT),
        "center": get(args, None, "center", False) is True,
        "twist": _finite(get(args, None, "twist", None), 0.0),
        "slices": max(1, int(_finite(slices, 1.0)))
        if type(slices) in {int, float}
        else None,
        "scale_top": tuple(max(0.0, _finite(value, 1.0)) for value in pair),
        **_resolution(context),
    }


def _resolution(context: Any) -> dict[str, Any]:
    values = {name: context.dyn.get(f"${name}") for name in ("fn", "fa", "fs")}
    usual = {"fn": 0.0, "fa": 12.0, "fs": 2.0}
    numbers = {name: _finite(values[name], usual[name]) for name in usual}
    for name in ("fa", "fs"):
        if numbers[name] <= 0:
            numbers[name] = usual[name]
    return {**numbers, "color": context.color}


def _extruded(
    section: Any, parameters: Any, _: Any, spend: Callable[[float], None]
) -> Any:
    height, twist = parameters["height"], parameters["twist"]
    if section.is_empty() or height <= 0:
        return None
    points = np.concatenate(section.to_polygons())
    slices = parameters["slices"] or _layer_count(points, parameters)
    spend(float(len(points)) * slices)
    scale = parameters["scale_top"]
    if twist or scale[0] != scale[1]:
        body = _twisted(section.to_polygons(), height, slices, twist, scale)
    else:
        body = manifold3d.Manifold.extrude(section, height, slices - 1, 0.0, scale)
    return body.translate((0, 0, -height / 2)) if parameters["center"] else body


def _twisted(
    outlines: Any, height: float, slices: int, twist: float, scale: tuple[float, ...]
) -> Any:
    """Return outlines extruded in layers; what lies between two is cut along shorter diagonals."""
    flat = np.concatenate(outlines)
    n = len(flat)
    ends = np.cumsum([len(outline) for outline in outlines])
    after = np.arange(1, n + 1)
    after[ends - 1] = [0, *ends[:-1]]
    layers = []
    for k in range(slices + 1):
        part, turn = k / slices, math.radians(-twist * k / slices)
        cos, sin = math.cos(turn), math.sin(turn)
        turned = flat @ np.array([[cos, sin], [-sin, cos]])
        scaled = turned * (1 + (np.array(scale) - 1) * part)
        layers.append(np.column_stack([scaled, np.full(n, height * part)]))
    points = np.concatenate(layers)
    low = (np.arange(slices)[:, None] * n + np.arange(n)).ravel()
    a, b = low, (np.arange(slices)[:, None] * n + after).ravel()
    c, d = b + n, a + n
    first, second = (
        np.sqrt(((points[p] - points[q]) ** 2).sum(axis=1)) for p, q in ((a, c), (b, d))
    )
    is_first = first < second * (1 - _EQUAL)
    if twist > 0:
        is_first |= abs(first - second) <= _EQUAL * second
    is_first = is_first[:, None]
    sides = np.concatenate(
        [
            np.where(
                is_first, np.stack([a, b, c], axis=1), np.stack([a, b, d], axis=1)
            ),
            np.where(
                is_first, np.stack([a, c, d], axis=1), np.stack([b, c, d], axis=1)
            ),
        ]
    )
    cap = np.asarray(manifold3d.triangulate(outlines)).astype(np.int64)
    return _solid(points, np.concatenate([cap[:, ::-1], sides, cap + slices * n]))


def _solid(points: Any, corners: Any) -> Any:
    """Return the body inside triangles; corners in one place become one."""
    places, number = np.unique(
        np.round(points, _SAME_DECIMALS) + 0.0, axis=0, return_inverse=True
    )
    corners = number.reshape(-1)[corners]
    a, b, c = corners.T
    triangles = np.ascontiguousarray(
        corners[(a != b) & (b != c) & (c != a)], dtype=np.uint64
    )
    return manifold3d.Manifold(manifold3d.Mesh64(places, triangles))


def _layer_count(points: Any, parameters: Any) -> int:
    """Return into how many layers OpenSCAD 2021.01 cuts an extrusion that says nothing of it."""
    twist, height = abs(float(parameters["twist"])), float(parameters["height"])
    fn, fa, fs = (float(parameters[name]) for name in ("fn", "fa", "fs"))
    scale = np.array(parameters["scale_top"])
    uneven = scale[0] != scale[1]
    wander = (
        math.sqrt(float(((points - points * scale) ** 2).sum(axis=1).max()))
        if uneven
        else 0.0
    )
    diagonal = 1
    if wander >= _FINE:
        diagonal = (
            math.ceil(fn) if fn > 0 else math.ceil(math.hypot(wander, height) / fs)
        )
    if not twist:
        return max(1, diagonal)
    least = max(1, math.ceil(twist / 120))
    radius = math.sqrt(float((points**2).sum(axis=1).max()))
    if radius < _FINE:
        return max(least, diagonal)
    if fn > 0:
        return max(least, diagonal, math.ceil(twist / 360 * fn))
    turn = math.radians(twist)
    if uneven or scale[0] == 1:
        length = turn * math.hypot(radius, height / turn)
    else:
        length = math.hypot(_spiral(radius, turn, float(scale[0])), height)
    return max(least, diagonal, min(math.ceil(twist / fa), math.ceil(length / fs)))


def _spiral(radius: float, turn: float, scale: float) -> float:
    """Return the length of the way of a point that turns while it is scaled, seen from above."""
    end = turn * scale / (scale - 1) if scale > 1 else turn / (1 - scale)

    def length(angle: float) -> float:
        root = math.sqrt(1 + angle * angle)
        return 0.5 * radius / end * (angle * root + math.log(angle + root))

    return length(end) - length(end - turn)


# rotate_extrude


def _around_parameters(evaluator: Any, node: Any, context: Any) -> dict[str, Any]:
    args, context = evaluator._resolve_call_args(node, context)
    evaluator._eval_children(node.children, context)
    angle = _finite(evaluator._get_arg(args, 0, "angle", None), 360.0)
    full_turn = angle <= -360 or angle > 360
    return {"angle": 360.0 if full_turn else angle, **_resolution(context)}


def _revolved(
    section: Any, parameters: Any, evaluator: Any, spend: Callable[[float], None]
) -> Any:
    """Return a section that is turned about its y axis, which becomes z; None if it cannot be."""
    angle = parameters["angle"]
    if section.is_empty() or angle == 0:
        return None
    low, _, high, _ = section.bounds()
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low > max(high, -low):  # on both sides of the axis
        return None
    fn, fa, fs = (parameters[name] for name in ("fn", "fa", "fs"))
    segments = (
        3 if high - low < _FINE else evaluator._fn_segments(fn, fa, fs, high - low)
    )
    fragments = max(1, int(segments * abs(angle) / 360))
    spend(float(section.num_vert()) * fragments)
    if angle == 360:
        # It begins on the other side of the axis.
        half_turn = 0 if low < 0 else 180
        right = section.mirror((1, 0)) if low < 0 else section
        return right.revolve(fragments).rotate((0, 0, half_turn))
    return _swept(section, fragments, angle)


def _swept(section: Any, fragments: int, angle: float) -> Any:
    """Return a section swept from y = 0 on by part of a turn, with flat pieces between."""
    mesh = manifold3d.Manifold.extrude(
        section, float(fragments), fragments - 1
    ).to_mesh64()
    points, triangles = (
        np.asarray(mesh.vert_properties)[:, :3],
        np.asarray(mesh.tri_verts),
    )
    turns = np.radians(np.round(points[:, 2]) * angle / fragments)
    x, y = points[:, 0], points[:, 1]
    swept = np.stack([x * np.cos(turns), x * np.sin(turns), y], axis=1)
    if float(x.sum()) * angle > 0:
        triangles = triangles[:, ::-1]
    return _solid(
        swept, triangles
    )  # where points on the axis, which do not move, become one
