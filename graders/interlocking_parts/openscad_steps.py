"""Counting the work of the OpenSCAD library in steps, so that limits are the same on every machine.

Only `openscad_child` loads this module, so it imports nothing from scbench either.

A step is one evaluated expression, one new element of a list or string, or one element that an
operator or function visits. Parts that lists share count at each visit. Each statement and each
triangle of each intermediate body takes some steps; flat shapes take one for each comparison of
their corners and outlines.
"""

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import manifold3d
import numpy as np

# The library has no types, so its module may be anything.
_library: Any = import_module("openscad_evaluator.evaluator")

# Limits of a source in addition to its steps: segments of a circle and of a sphere, levels of
# nesting, bits of whole numbers that are multiplied.
_MAX_SEGMENTS = 5_000
_MAX_SPHERE_SEGMENTS = 800
_MAX_DEPTH = 4_000
_MAX_BITS = 32_768
# Elements that are visited without a step: the step of a call includes them.
_FREE_ELEMENTS = 100
# Steps of a statement: every statement makes a body, at least to unite it with others.
_STATEMENT_STEPS = 40
# Steps for each triangle of a body that is made from others, and for each corner of a flat one.
_STEPS_PER_TRIANGLE = 2
# Steps for each character of a text that is drawn or measured.
_STEPS_PER_CHARACTER = 200
# Texts of up to this many characters cost nothing more. The letters of a longer one are compared
# with each other when they are united.
_SHORT_TEXT = 100
# Pairs of such letters that take one step together.
_LETTER_PAIRS = 8
# Steps for each pair of triangles in a Minkowski sum with none, one, or more concave bodies.
_STEPS_PER_CONCAVE_PAIR = (1, 15, 250)
# Operations that take one step together:
# pairs of corners of a polygon that are compared, as any two of its sides may cross; the same for
# triangles that are projected,
_CORNER_PAIRS = 25
# pairs of a corner and an outline of one flat shape that is cut up,
_CORNERS_AND_OUTLINES = 250
# corners that are visited when two flat shapes are united,
_JOINED_CORNERS = 10
# pairs of their outlines that are compared, to see which lies in which,
_OUTLINE_PAIRS = 2500
# products of numbers, when matrices are multiplied or systems of equations solved.
_PRODUCTS = 25
# Functions that also go through ranges; some of them go through nested lists.
_DEEP_FUNCTIONS = {"concat", "cross", "lookup", "max", "min", "norm"}
_LONG = "it multiplies whole numbers that are too long"

# The libraries' original functions, which no meter watches. Operators on lists call themselves by
# these names for nested lists.
_OPERATORS = (
    "_osc_equal",
    "_osc_comparable",
    "_vec_add",
    "_vec_sub",
    "_scale",
    "_div_scale",
    "_matmul",
)
_PLAIN_OPERATORS: dict[str, Any] = {
    name: getattr(_library, name, None) for name in _OPERATORS
}
_PLAIN_FLAT = {
    name: getattr(manifold3d.CrossSection, name)
    for name in ("__add__", "__sub__", "__xor__")
}
_plain_cut_face: Any = getattr(_library, "_triangulate_face", None)


class TooMuchError(BaseException):
    """The source exceeds the limit on work; the library must not catch this."""


class Meter:
    """Counts the steps and the nesting depth of an evaluation."""

    def __init__(self, steps: int) -> None:
        self.remaining: float = steps
        self.limit = steps
        self.depth = 0

    @property
    def spent(self) -> int:
        """Steps taken so far, at most the limit."""
        return self.limit - max(0, math.floor(self.remaining))

    def spend(self, steps: float) -> None:
        """Count steps before they are taken."""
        self.remaining -= min(steps, 1e18)
        if self.remaining < 0:
            raise TooMuchError(f"it takes more than {self.limit:,} steps")

    def spend_on(self, elements: float) -> None:
        """Count the elements that an operator or function visits; a few are free."""
        self.spend(max(0.0, elements - _FREE_ELEMENTS))

    def charged_by_depth(
        self, function: Callable[..., Any], steps: int
    ) -> Callable[..., Any]:
        """Return the function, charged with these steps and one level of depth for each call."""

        def call(node: Any, context: Any) -> Any:
            self.spend(steps)
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise TooMuchError(f"it is nested deeper than {_MAX_DEPTH:,} levels")
            value = function(node, context)
            self.depth -= 1
            return value

        return call

    def charged_by_size(
        self, function: Callable[..., Any], size: Callable[[Any], float]
    ) -> Any:
        """Return a function that also spends steps on the sizes of its arguments and result."""

        def call(*arguments: Any, **named: Any) -> Any:
            self.spend(sum(map(size, arguments)))
            value = self.guarded(function, *arguments, **named)
            self.spend(length(value))
            return value

        return call

    def guarded(
        self, function: Callable[..., Any], *arguments: Any, **named: Any
    ) -> Any:
        """Call a function; the library would report running out of memory as a wrong argument."""
        try:
            return function(*arguments, **named)
        except MemoryError:
            raise TooMuchError("it needs more memory than the limit") from None


def count_evaluation(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch the evaluation of expressions and statements."""
    for name, steps in (("_eval_expr", 1), ("_eval_statement", _STATEMENT_STEPS)):
        setattr(
            evaluator, name, meter.charged_by_depth(getattr(evaluator, name), steps)
        )
    for name in ("_loop_values", "_fmt_val", "_eval_list_comp"):
        setattr(
            evaluator, name, meter.charged_by_size(getattr(evaluator, name), length)
        )
    count_functions(evaluator, meter)
    count_operators(evaluator, meter)
    count_costly_functions(evaluator, meter)
    count_arguments(evaluator, meter)
    count_segments(evaluator, meter)
    # The fonts of a system differ.
    _library._resolve_font = lambda _: _library._load_default_font()


def count_bodies(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch the functions with which an evaluator makes bodies."""
    count_flat_shapes(evaluator, meter)
    resolve = evaluator._RESOLVE_DISPATCH
    generate = evaluator._GENERATE_DISPATCH
    resolve["polyhedron"] = charged_by_faces(resolve["polyhedron"], meter)
    for kind, function in generate.items():
        generate[kind] = charged_by_triangles(kind, function, meter)


# Sizes of values


def length(value: object) -> int:
    """Return the number of elements of a list or string, 0 for anything else."""
    return len(value) if isinstance(value, list | str) else 0


def extent(value: Any, extents: dict[int, float] | None = None) -> float:
    """Return how many elements a traversal of a value visits; shared parts count each time.

    ``extents`` has the extents of lists by their ids, so that each list is traversed only once.
    """
    if isinstance(value, _library.OscRange):
        return float(_library._range_count(value))
    if isinstance(value, _library.OscObject):
        return sum((extent(entry, extents) for _, entry in value.items()), 1.0)
    if not isinstance(value, list):
        return 1.0 + length(value)
    if extents is None:
        extents = {}
    if id(value) not in extents:
        extents[id(value)] = 1 + sum(extent(entry, extents) for entry in value)
    return extents[id(value)]


def factor_extent(value: Any) -> float:
    """Return the `extent` of a factor; raise `TooMuchError` if a number in it is too long."""
    size = extent(value)
    refuse_long_numbers(value)
    return size


def refuse_long_numbers(value: Any) -> None:
    """Refuse integers that are too long to be multiplied, alone or in a list."""
    numbers = value if isinstance(value, list) else (value,)
    for number in numbers:
        if type(number) is int and number.bit_length() > _MAX_BITS:
            raise TooMuchError(_LONG)


# Functions and operators


def count_functions(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch functions that go through their arguments once."""

    def reach(value: Any) -> float:
        return max(float(length(value)), extent(value) - _FREE_ELEMENTS)

    functions = evaluator._math_fns
    for name, function in functions.items():
        size = reach if name in _DEEP_FUNCTIONS else length
        functions[name] = meter.charged_by_size(function, size)


def count_operators(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch operators, wherever the library applies them."""
    # An operator on nested lists calls itself; only the outermost call pays.
    is_inside = False

    def charged_operator(
        function: Callable[..., Any], cost: Callable[..., float]
    ) -> Callable[..., Any]:
        """Return a function that pays for lists and everything in them before it recurses."""

        def call(*operands: Any) -> Any:
            nonlocal is_inside
            deep = (list, _library.OscObject)
            if is_inside or not any(isinstance(operand, deep) for operand in operands):
                return function(*operands)
            meter.spend_on(cost(*operands))
            is_inside = True
            try:
                return meter.guarded(function, *operands)
            finally:
                is_inside = False

        return call

    costs: dict[str, Callable[..., float]] = {
        "_osc_equal": equality_cost,
        "_osc_comparable": smaller_extent,
        "_vec_add": smaller_extent,
        "_vec_sub": smaller_extent,
        "_scale": scaling_cost,
        "_div_scale": scaling_cost,
        "_matmul": product_cost,
    }
    for name, cost in costs.items():
        setattr(_library, name, charged_operator(_PLAIN_OPERATORS[name], cost))
    evaluator._negate_list = charged_operator(evaluator._negate_list, extent)
    multiply = evaluator._mul_value
    power = evaluator._builtin_pow

    def counted_multiply(a: Any, b: Any) -> Any:
        if type(a) is not float or type(b) is not float:
            refuse_long_numbers(a)
            refuse_long_numbers(b)
            meter.spend_on(length(a) + length(b))
            # A string times a number is repeated.
            for text, times in ((a, b), (b, a)):
                if isinstance(text, str) and isinstance(times, int):
                    meter.spend_on(len(text) * max(0, times))
        return meter.guarded(multiply, a, b)

    def counted_power(a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            bits = a.bit_length() * b
            if bits > 2 * _MAX_BITS:
                raise TooMuchError(_LONG)
        return power(a, b)

    evaluator._mul_value = counted_multiply
    evaluator._builtin_pow = counted_power
    evaluator._math_fns["pow"] = counted_power


def smaller_extent(a: Any, b: Any) -> float:
    """Return the elements that a parallel traversal of two lists visits."""
    return min(extent(a), extent(b))


def equality_cost(a: Any, b: Any) -> float:
    """Return the elements that a comparison visits; it skips lists of different lengths."""
    if type(a) is not type(b) or len(a) != len(b):
        return 0
    return smaller_extent(a, b)


def scaling_cost(a: Any, b: Any) -> float:
    """Return the elements that a product or quotient of a number and a list visits."""
    return max(factor_extent(a), factor_extent(b))


def product_cost(a: Any, b: Any) -> float:
    """Return the steps of a product of vectors or matrices, of any depth."""
    a_size = factor_extent(a)
    b_size = factor_extent(b)
    row: Any = a
    while isinstance(row, list) and row and isinstance(row[0], list):
        row = row[0]
    return a_size + b_size + a_size * b_size / max(1, length(row)) / _PRODUCTS


def count_costly_functions(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch functions that do more than go through their arguments once."""
    search = evaluator._builtin_search
    solve = evaluator._builtin_linear_solve
    functions = evaluator._math_fns
    rands = functions["rands"]
    concat = functions["concat"]

    def counted_search(match: Any, vector: Any, *others: Any, **named: Any) -> Any:
        searched = len(match) if isinstance(match, list | str) else 1
        meter.spend_on(searched * extent(vector))
        return meter.guarded(search, match, vector, *others, **named)

    def counted_solve(a: Any, b: Any, *others: Any, **named: Any) -> Any:
        size = extent(a) + extent(b)
        columns = length(a[0]) if isinstance(a, list) and a else 0
        meter.spend_on(size + size * columns / _PRODUCTS)
        return meter.guarded(solve, a, b, *others, **named)

    def counted_rands(low: float, high: float, count: float, *seed: float) -> object:
        meter.spend(max(0.0, count))
        return rands(low, high, count, *seed)

    def counted_concat(*lists: Any) -> object:
        meter.spend_on(len(lists) * sum(map(length, lists)) / _PRODUCTS)
        return concat(*lists)

    def charged_by_length(
        function: Callable[..., Any], each: int
    ) -> Callable[..., Any]:
        def call(arguments: Any, node: Any) -> Any:
            meter.spend(each * sum(map(length, arguments.values())))
            return meter.guarded(function, arguments, node)

        return call

    evaluator._builtin_search = counted_search
    evaluator._builtin_linear_solve = counted_solve
    evaluator._builtin_textmetrics = charged_by_length(
        evaluator._builtin_textmetrics, _STEPS_PER_CHARACTER
    )
    evaluator._builtin_object = charged_by_length(evaluator._builtin_object, 1)
    functions |= {"rands": counted_rands, "concat": counted_concat}


def count_arguments(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch the arguments of modules, some of which turn their arguments into text."""
    argument = evaluator._get_arg

    def counted_argument(*names: Any) -> Any:
        value = argument(*names)
        if isinstance(value, list | _library.OscObject):
            meter.spend_on(extent(value))
        return value

    def counted_assert(node: Any, context: Any) -> None:
        expressions = [argument.expr for argument in node.arguments]
        if not expressions or expressions[0] is None:
            return
        if evaluator._eval_expr(expressions[0], context):
            return
        comment = None
        if len(expressions) > 1:
            comment = evaluator._eval_expr(expressions[1], context)
            meter.spend_on(extent(comment))
        condition = _library.to_openscad(expressions[:1]).strip()
        message = f"Assertion '{condition}' failed"
        if comment is not None:
            message += f': "{comment}"'
        evaluator.error(message, node, innermost_frame="assert")

    evaluator._get_arg = counted_argument
    evaluator._check_assert = counted_assert


def count_segments(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch segments of circles and spheres; a sphere's points grow as their square."""
    segments = evaluator._fn_segments
    resolve = evaluator._RESOLVE_DISPATCH
    sphere = resolve["sphere"]

    def circle_segments(*arguments: float) -> int:
        count: int = segments(*arguments)
        if count > _MAX_SEGMENTS:
            raise TooMuchError(
                f"a circle has {count:,} segments; the limit is {_MAX_SEGMENTS:,}"
            )
        meter.spend(count)
        return count

    def sphere_segments(*arguments: float) -> int:
        count: int = segments(*arguments)
        if count > _MAX_SPHERE_SEGMENTS:
            raise TooMuchError(f"a sphere has {count:,} segments around its axis")
        meter.spend(count * count)
        return count

    def counted_sphere(node: Any, context: Any) -> Any:
        plain = evaluator._fn_segments
        evaluator._fn_segments = sphere_segments
        try:
            return sphere(node, context)
        finally:
            evaluator._fn_segments = plain

    evaluator._fn_segments = circle_segments
    resolve["sphere"] = counted_sphere


# Bodies


def count_flat_shapes(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch operations on flat shapes, wherever the library uses them."""

    def charged_operation(function: Callable[..., Any]) -> Callable[..., Any]:
        """Return an operation that makes one flat shape from two."""

        def call(a: Any, b: Any) -> Any:
            meter.spend((a.num_vert() + b.num_vert()) / _JOINED_CORNERS)
            meter.spend((a.num_contour() + b.num_contour()) ** 2 / _OUTLINE_PAIRS)
            return function(a, b)

        return call

    for name, function in _PLAIN_FLAT.items():
        setattr(manifold3d.CrossSection, name, charged_operation(function))
    make_section = evaluator._to_cross_section

    def charged_section(bodies: Any) -> Any:
        section = make_section(bodies)
        if section is not None:
            pairs = section.num_vert() * section.num_contour()
            meter.spend(pairs / _CORNERS_AND_OUTLINES)
        return section

    evaluator._to_cross_section = charged_section


def charged_by_faces(
    polyhedron: Callable[..., Any], meter: Meter
) -> Callable[..., Any]:
    """Return a maker of polyhedra that counts steps for cutting faces, n squared for n corners."""

    def charged_cut(points: Any, loop: Any, out: Any) -> None:
        meter.spend(len(loop) ** 2 / 4 if len(loop) > 4 else 1)
        _plain_cut_face(points, loop, out)

    def call(node: Any, context: Any) -> Any:
        _library._triangulate_face = charged_cut
        return polyhedron(node, context)

    return call


def charged_by_triangles(
    kind: str, function: Callable[..., Any], meter: Meter
) -> Callable[..., Any]:
    """Return a maker of bodies that pays in advance, and then for the triangles of the bodies."""

    def call(params: Any, children: Any, node: Any) -> Any:
        bodies = _library.flatten_csg_tree(children)
        meter.spend(cost_in_advance(kind, params, bodies))
        results = function(params, children, node)
        meter.spend(_STEPS_PER_TRIANGLE * sum(map(body_size, results)))
        return results

    return call


def cost_in_advance(kind: str, params: Any, bodies: list[Any]) -> float:
    """Return the steps that a maker of bodies must pay in advance."""
    if kind == "polygon":
        return len(params["pts"]) ** 2 / _CORNER_PAIRS
    if kind == "projection":
        return float(sum(map(body_size, bodies))) ** 2 / _CORNER_PAIRS
    if kind == "offset":
        sections = [body.section for body in bodies if body.section is not None]
        corners = sum(section.num_vert() for section in sections)
        return float(corners * (params["segs"] or 1))
    if kind == "minkowski":
        return minkowski_cost(bodies)
    if kind == "text":
        return text_cost(len(str(params.get("text", ""))))
    return 1.0


def text_cost(length: int) -> float:
    """Return the steps of a flat text; beyond `_SHORT_TEXT`, they grow with the square."""
    surplus = max(0, length - _SHORT_TEXT)
    return float(_STEPS_PER_CHARACTER) * length + surplus**2 / _LETTER_PAIRS


def minkowski_cost(bodies: list[Any]) -> float:
    """Return the steps of a Minkowski sum: some per pair of triangles, more for concave bodies.

    A concave body is first cut into convex ones.
    """
    pairs = float(np.prod([float(max(1, body_size(body))) for body in bodies]))
    if len(bodies) <= 1:
        return pairs
    solids = [body.body for body in bodies if body.body is not None]
    concave = sum(
        solid.volume() < (1 - 1e-9) * solid.hull().volume() for solid in solids
    )
    return pairs * _STEPS_PER_CONCAVE_PAIR[min(concave, 2)]


def body_size(body: Any) -> int:
    """Return the number of triangles of a body, or of corners of a flat shape."""
    if isinstance(body.body, manifold3d.Manifold):
        return int(body.body.num_tri())
    return int(body.section.num_vert()) if body.section is not None else 0
