"""OpenSCAD sources into meshes; runs in the sandbox, through `scbench.machine.sandbox.call_script`.

Runs alone: it uses nothing of scbench but `openscad_2021` and a data file beside it. The library
``openscad_evaluator`` reads and evaluates the language; this file bounds its work by counting, so
that limits are the same on every machine, and disables what is not plain OpenSCAD or would access
the outside: files, fonts of the system, level sets. Random numbers start from a fixed seed.

Work is counted in steps: one for each expression evaluated, each element of a list or string made,
and each that an operator or function goes through, as often as it does where lists share parts;
some for each statement and each triangle of each intermediate body; and for flat shapes as many as
their corners and outlines have to be compared.

Input: JSON ``{"sources": [...], "steps": int, "together": int, "triangles": int, "probe": bool}``.
Output: the length of a JSON header (8 bytes, little-endian), the header ``{"bodies": [{"vertices":
n, "triangles": m} | {"problem": text} | {"limit": text}, ...], "unlike": [text, ...]}``, then for
each mesh its vertices (float64) and triangles (int32). Each body has ``"steps"``, those taken. Once
sources took more steps ``together``, the others are not looked at, and there are fewer bodies.

``unlike`` says in what the library differs from the one that this file is written for: names and
parameters that it lacks, and where a ``probe`` is wanted, figures of `PROBES`. It is no library to
grade with, then.
"""

import hashlib
import inspect
import json
import math
import re
import struct
import sys
from collections.abc import Callable, Iterator
from importlib import import_module, util
from pathlib import Path
from typing import Any

import manifold3d
import numpy as np

# The library has no types, so its modules are taken for what they are: anything.
_parser: Any = import_module("openscad_lalr_parser")
_library: Any = import_module("openscad_evaluator.evaluator")
_beside = util.spec_from_file_location(
    "mended", Path(__file__).with_name("openscad_2021.py")
)
_mended: Any = util.module_from_spec(_beside)  # type: ignore[arg-type]
_beside.loader.exec_module(_mended)  # type: ignore[union-attr]

_EXPECTED = json.loads(
    Path(__file__).with_name("openscad_library.json").read_text("utf-8")
)
# Parameters of what is called or replaced here and in `openscad_2021`.
_NEEDED: dict[str, str] = _EXPECTED["parameters"]
# Entries of an evaluator's tables that are replaced.
_TABLES: dict[str, list[str]] = _EXPECTED["tables"]


_SEGMENTS = 5_000
_SPHERE_SEGMENTS = 800
_DEPTH = 4_000
_TOLERANCE = 1e-5
_NESTING = 60_000
_TOKENS = 200_000
# Steps that a statement takes: it makes a body, if only to unite it with others.
_STATEMENT = 40
# Steps for each triangle of a body that is made of others, and for each corner of a
# flat one.
_STEPS_PER_TRIANGLE = 2
# Pairs of corners of a polygon that are compared in one step, as any two of its sides
# may cross; likewise of triangles of what is projected.
_PAIRS = 25
# Pairs of a corner and an outline, of one flat shape, that take a step when it is cut
# up.
_HOLES = 250
# Corners that are gone through in a step when two flat shapes are made one.
_JOINED = 10
# Pairs of their outlines that are compared in a step, to see which lies in which.
_NESTED = 2500
# Products of numbers in a step, where matrices are multiplied or systems of equations
# solved.
_PRODUCTS = 25
# Steps for each pair of triangles in a Minkowski sum with no, one, and more concave
# bodies.
_CONCAVE = (1, 15, 250)
# Steps for each character of a text that is drawn or measured.
_CHARACTER = 200
# Functions that go through ranges, too, and some through lists in lists.
_DEEP = {"concat", "cross", "lookup", "max", "min", "norm"}
_OUTSIDE = {"import", "surface", "dxf_dim", "dxf_cross"}
_NOT_OPENSCAD = {
    *("roof", "levelset", "mesh_repair"),
    *("minkowski_difference", "simplify", "breakpoint"),
}
_NAME = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|(\b(?:include|use)\s*<)|([A-Za-z_$]\w*)(?=\s*\()|\S',
    re.DOTALL,
)
# Sources that use what is replaced or counted, each with its steps, corners and
# triangles, and a hash of its corners, to five decimals. All versions that
# pyproject.toml allows give these.
PROBES: list[dict[str, Any]] = _EXPECTED["probes"]
_NAMES = "_osc_equal _osc_comparable _vec_add _vec_sub _scale _div_scale _matmul"
# What operators do with lists; it calls itself for lists in lists by these names.
_PLAIN: dict[str, Any] = {
    name: getattr(_library, name, None) for name in _NAMES.split()
}
_LONG = "it multiplies whole numbers that are too long"
_FLAT = {
    name: getattr(manifold3d.CrossSection, name)
    for name in ("__add__", "__sub__", "__xor__")
}


def _lacking() -> Iterator[str]:
    """Yield what the library has not, or has with other parameters; nothing is evaluated."""
    for name, parameters in _NEEDED.items():
        home, _, last = name.rpartition(".")
        owner = getattr(_library, home, None) if home else _library
        function = getattr(owner, last, getattr(_parser, last, None))
        if not callable(function):
            yield f"{name} is missing"
        elif (there := " ".join(inspect.signature(function).parameters)) != parameters:
            yield f"{name} takes ({there}), not ({parameters})"
    ranges = getattr(_library, "_EXPR_DISPATCH", {}).keys()
    if getattr(_library, "RangeLiteral", None) not in ranges:
        yield "_EXPR_DISPATCH[RangeLiteral] is missing"
    for table, names in _TABLES.items():
        entries = getattr(_library.Evaluator(echo_fn=lambda _: None), table, {}).keys()
        yield from (
            f"{table}[{name!r}] is missing" for name in sorted({*names} - entries)
        )


_UNLIKE = list(_lacking())
if not _UNLIKE:
    _parser.getASTfromString("cube(1);")  # reads its grammar while files can be read
    _library._load_default_font()


_LITTLE, _WHOLE_BITS = 100, 32_768
"""Elements gone through without a step, and bits of the longest whole number to be multiplied."""


class TooMuchError(BaseException):
    """The source asks for more work than is done for it; the library must not catch this."""


class UnfitError(Exception):
    """The source cannot be graded."""


def main(data: bytes) -> bytes:
    """Return the meshes of the sources, or what is wrong with each."""
    job = json.loads(data)
    sys.setrecursionlimit(_NESTING)
    header: list[dict[str, Any]] = []
    arrays: list[bytes] = []
    budget = job["together"]
    for source in job["sources"]:
        if budget < 0 or _UNLIKE:
            break
        meter = Meter(job["steps"])
        try:
            points, corners = mesh_of(source, meter, job["triangles"])
        except TooMuchError as error:
            header.append({"limit": str(error)})
        except RecursionError:
            header.append({"limit": "it is nested too deeply"})
        except MemoryError:
            header.append({"limit": "it needs more memory than is given to it"})
        except UnfitError as error:
            header.append({"problem": str(error)})
        else:
            header.append({"vertices": len(points), "triangles": len(corners)})
            arrays += [points.astype("<f8").tobytes(), corners.astype("<i4").tobytes()]
        header[-1]["steps"] = meter.spent
        budget -= meter.spent
    unlike = _UNLIKE or (list(_probe_differences()) if job["probe"] else [])
    text = json.dumps({"bodies": header, "unlike": unlike}).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(arrays)


def _probe_differences() -> Iterator[str]:
    """Yield by which of its `PROBES` the library differs, and how."""
    for probe in PROBES:
        source = probe["source"]
        meter = Meter(10**6)
        try:
            points, corners = mesh_of(source, meter, 10**5)
        except (TooMuchError, UnfitError) as error:
            yield f"{source!r} gives no mesh ({error})"
            continue
        places = sorted((np.round(points, 5) + 0.0).tolist())
        digest = hashlib.sha256(json.dumps(places).encode()).hexdigest()[:8]
        actual = (meter.spent, len(points), len(corners), digest)
        names = ("steps", "corners", "triangles", "hash of corners")
        for name, right, value in zip(names, probe["figures"], actual, strict=True):
            if value != right:
                yield f"{name} of {source!r}: {value} instead of {right}"


def _message_line(text: str) -> str:
    line = text.splitlines()[0] if text else "it cannot be evaluated"
    line = line.removeprefix("ERROR: ").replace(" in file <string>,", " in")[:200]
    return "".join(c if c.isprintable() else "?" for c in line)


def check_names(source: str) -> None:
    """Refuse what would read files or is not OpenSCAD, wherever a source calls it.

    Raises:
        UnfitError: it does.
        TooMuchError: it is too long to be looked at.
    """
    for count, token in enumerate(_NAME.finditer(source)):
        if count > _TOKENS:
            raise TooMuchError(f"it has more than {_TOKENS:,} words and signs")
        if token[1]:
            raise UnfitError(
                f"it wants another file ({token[1].strip(' <')}), and there is none"
            )
        if token[2] in _OUTSIDE:
            raise UnfitError(f"it wants another file ({token[2]}), and there is none")
        if token[2] in _NOT_OPENSCAD:
            raise UnfitError(f"{token[2]}() is not accepted")


def mesh_of(source: str, meter: "Meter", triangles: int) -> tuple[Any, Any]:
    """Return the vertices (n, 3) and triangles (m, 3) of the union of all that a source draws.

    Raises:
        UnfitError: the source cannot be parsed, or draws no solid.
        TooMuchError: it takes more steps or makes more triangles than that.
    """
    check_names(source)
    bodies = _evaluated(source, meter)
    solid = [
        body for body in bodies if body.role not in {"background", "highlight_ghost"}
    ]
    if any(body.raw_mesh is not None for body in solid):
        raise UnfitError("it draws a polyhedron that is not closed")
    if any(
        body.body is not None and body.body.status().name != "NoError" for body in solid
    ):
        raise UnfitError("it draws a body that is not a solid")
    parts = [
        body.body
        for body in solid
        if body.body is not None and not body.body.is_empty()
    ]
    if not parts:
        flat = any(body.section is not None for body in solid)
        raise UnfitError(
            "it draws nothing but flat shapes" if flat else "it draws nothing"
        )
    union = parts[0]
    for part in parts[1:]:
        union += part
    # The pieces of a plane that came from different bodies are kept apart until this is asked for,
    # with slivers along their seams.
    union = union.as_original().simplify(_TOLERANCE)
    if union.num_tri() > triangles:
        raise TooMuchError(
            f"it has {union.num_tri():,} triangles; {triangles:,} are the limit"
        )
    mesh = union.to_mesh64()
    return np.asarray(mesh.vert_properties)[:, :3], np.asarray(mesh.tri_verts)


def _evaluated(source: str, meter: "Meter") -> list[Any]:
    _library.random.seed(0)
    evaluator = _library.Evaluator(echo_fn=lambda _: None)
    _bound(evaluator, meter)
    _count_flat(meter)
    try:
        nodes = _parser.getASTfromString(source)
        if nodes is not None:
            bodies, _ = evaluator.evaluate(nodes, _parser.build_scopes(nodes))
    except _library.EvalError as error:
        raise UnfitError(_message_line(str(error))) from None
    except (RuntimeError, MemoryError, OSError, ImportError):
        raise  # too much memory, or no fault of the source: no thread, no file
    except Exception as error:  # noqa: BLE001  (the library stumbles over a faulty source)
        raise UnfitError(f"it cannot be evaluated ({type(error).__name__})") from None
    if nodes is None:
        raise UnfitError("it is not valid OpenSCAD")
    return bodies  # type: ignore[no-any-return]


class Meter:
    """Counts steps, and how deep evaluation is nested."""

    def __init__(self, steps: int) -> None:
        self.remaining: float = steps
        self.limit = steps
        self.depth = 0

    @property
    def spent(self) -> int:
        """Steps taken so far, of those that it has."""
        return self.limit - max(0, math.floor(self.remaining))

    def spend(self, steps: float) -> None:
        """Count steps before they are taken."""
        self.remaining -= min(steps, 1e18)
        if self.remaining < 0:
            raise TooMuchError(f"it takes more than {self.limit:,} steps")

    def bulk(self, steps: float) -> None:
        """Count what an operator or function goes through; a little is in the price of a call."""
        self.spend(max(0.0, steps - _LITTLE))

    def nested(self, function: Callable[..., Any], steps: int) -> Callable[..., Any]:
        """Return the function, charged with these steps and one level of depth for each call."""

        def call(node: Any, context: Any) -> Any:
            self.spend(steps)
            self.depth += 1
            if self.depth > _DEPTH:
                raise TooMuchError(f"it is nested deeper than {_DEPTH:,} levels")
            value = function(node, context)
            self.depth -= 1
            return value

        return call

    def sized(self, function: Callable[..., Any], size: Callable[[Any], float]) -> Any:
        """Return the function, with steps for the sizes of its arguments and its value's length."""

        def call(*arguments: Any, **named: Any) -> Any:
            self.spend(sum(map(size, arguments)))
            value = self.kept(function, *arguments, **named)
            self.spend(_flat_size(value))
            return value

        return call

    def kept(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Call what the library would take for a wrong argument if it ran out of memory."""
        try:
            return function(*arguments, **named)
        except MemoryError:
            raise TooMuchError("it needs more memory than is given to it") from None


def _flat_size(value: object) -> int:
    return len(value) if isinstance(value, list | str) else 0


def _extent(value: Any, known: dict[int, float] | None = None) -> float:
    """Return how many elements going through a value meets, parts that lists share each time."""
    if isinstance(value, _library.OscRange):
        return float(_library._range_count(value))
    if isinstance(value, _library.OscObject):
        return sum((_extent(entry, known) for _, entry in value.items()), 1.0)
    if not isinstance(value, list):
        return 1.0 + _flat_size(value)
    known = {} if known is None else known
    if id(value) not in known:
        known[id(value)] = 1 + sum(_extent(entry, known) for entry in value)
    return known[id(value)]


def _count_operators(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch operators, wherever the library applies them."""
    inside = False

    def before(
        function: Callable[..., Any], cost: Callable[..., float]
    ) -> Callable[..., Any]:
        """Return a function that pays for lists and what is in them, before it calls itself."""

        def call(*operands: Any) -> Any:
            nonlocal inside
            deep = (list, _library.OscObject)
            if inside or not any(isinstance(operand, deep) for operand in operands):
                return function(*operands)
            meter.bulk(cost(*operands))
            inside = True
            try:
                return meter.kept(function, *operands)
            finally:
                inside = False

        return call

    def both(a: Any, b: Any) -> float:
        return min(_extent(a), _extent(b))

    def either(a: Any, b: Any) -> float:
        return max(_extent(a) + _short(a), _extent(b) + _short(b))

    def equal(a: Any, b: Any) -> float:  # lists of other lengths are not gone through
        return both(a, b) if type(a) is type(b) and len(a) == len(b) else 0

    costs = {
        "_osc_equal": equal,
        "_osc_comparable": both,
        "_vec_add": both,
        "_vec_sub": both,
    }
    costs |= {"_scale": either, "_div_scale": either, "_matmul": _products}
    for name, cost in costs.items():
        setattr(_library, name, before(_PLAIN[name], cost))
    evaluator._negate_list = before(evaluator._negate_list, _extent)
    multiply, power = evaluator._mul_value, evaluator._builtin_pow

    def counted_multiply(a: Any, b: Any) -> Any:
        if type(a) is not float or type(b) is not float:
            meter.bulk(_flat_size(a) + _flat_size(b) + _short(a) + _short(b))
            for text, times in ((a, b), (b, a)):
                if isinstance(text, str) and isinstance(times, int):
                    meter.bulk(len(text) * max(0, times))
        return meter.kept(multiply, a, b)

    def counted_power(a: Any, b: Any) -> Any:
        if (
            isinstance(a, int)
            and isinstance(b, int)
            and a.bit_length() * b > 2 * _WHOLE_BITS
        ):
            raise TooMuchError(_LONG)
        return power(a, b)

    evaluator._mul_value = counted_multiply
    evaluator._builtin_pow = evaluator._math_fns["pow"] = counted_power


def _short(value: Any) -> int:
    """Return 0; whole numbers that are too long, alone or in a list, are refused."""
    for number in value if isinstance(value, list) else (value,):
        if type(number) is int and number.bit_length() > _WHOLE_BITS:
            raise TooMuchError(_LONG)
    return 0


def _products(a: Any, b: Any) -> float:
    """Return the steps of a product of vectors or matrices, of any depth."""
    inner: Any = a
    while isinstance(inner, list) and inner and isinstance(inner[0], list):
        inner = inner[0]
    size, other = _extent(a) + _short(a), _extent(b) + _short(b)
    return size + other + size * other / max(1, _flat_size(inner)) / _PRODUCTS


def _count_functions(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch functions that do more than go through their arguments once."""
    search, solve = evaluator._builtin_search, evaluator._builtin_linear_solve
    functions = evaluator._math_fns
    rands, concat = functions["rands"], functions["concat"]

    def counted_search(match: Any, vector: Any, *rest: Any, **named: Any) -> Any:
        looked_for = len(match) if isinstance(match, list | str) else 1
        meter.bulk(looked_for * _extent(vector))
        return meter.kept(search, match, vector, *rest, **named)

    def counted_solve(a: Any, b: Any, *rest: Any, **named: Any) -> Any:
        size, columns = _extent(a), _flat_size(a[0]) if isinstance(a, list) and a else 0
        meter.bulk(size + _extent(b) + (size + _extent(b)) * columns / _PRODUCTS)
        return meter.kept(solve, a, b, *rest, **named)

    def counted_rands(low: float, high: float, count: float, *seed: float) -> object:
        meter.spend(max(0.0, count))
        return rands(low, high, count, *seed)

    def counted_concat(*lists: Any) -> object:
        meter.bulk(len(lists) * sum(map(_flat_size, lists)) / _PRODUCTS)
        return concat(*lists)

    def measured(function: Callable[..., Any], each: int) -> Callable[..., Any]:
        def call(arguments: Any, node: Any) -> Any:
            meter.spend(each * sum(map(_flat_size, arguments.values())))
            return meter.kept(function, arguments, node)

        return call

    evaluator._builtin_search, evaluator._builtin_linear_solve = (
        counted_search,
        counted_solve,
    )
    evaluator._builtin_textmetrics = measured(
        evaluator._builtin_textmetrics, _CHARACTER
    )
    evaluator._builtin_object = measured(evaluator._builtin_object, 1)
    functions |= {"rands": counted_rands, "concat": counted_concat}


def _count_arguments(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch what modules are given, which some make a text of."""
    argument = evaluator._get_arg

    def counted_argument(*names: Any) -> Any:
        value = argument(*names)
        if isinstance(value, list | _library.OscObject):
            meter.bulk(_extent(value))
        return value

    def counted_assert(node: Any, context: Any) -> None:
        condition, *others = [each.expr for each in node.arguments] or [None]
        if condition is None or evaluator._eval_expr(condition, context):
            return
        said = evaluator._eval_expr(others[0], context) if others else None
        meter.bulk(_extent(said))
        text = _library.to_openscad([condition]).strip()
        message = f"Assertion '{text}' failed" + (
            f': "{said}"' if said is not None else ""
        )
        evaluator.error(message, node, innermost_frame="assert")

    evaluator._get_arg, evaluator._check_assert = counted_argument, counted_assert


def _count_flat(meter: Meter) -> None:
    """Let a meter watch what makes one flat shape of two, wherever the library does it."""

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(a: Any, b: Any) -> Any:
            meter.spend((a.num_vert() + b.num_vert()) / _JOINED)
            meter.spend((a.num_contour() + b.num_contour()) ** 2 / _NESTED)
            return function(a, b)

        return call

    for name, function in _FLAT.items():
        setattr(manifold3d.CrossSection, name, counted(function))


def _bound(evaluator: Any, meter: Meter) -> None:
    """Let a meter watch all that an evaluator does."""
    for name, steps in (("_eval_expr", 1), ("_eval_statement", _STATEMENT)):
        setattr(evaluator, name, meter.nested(getattr(evaluator, name), steps))
    for name in ("_loop_values", "_fmt_val", "_eval_list_comp"):
        setattr(evaluator, name, meter.sized(getattr(evaluator, name), _flat_size))
    functions = evaluator._math_fns

    def reach(value: Any) -> float:
        return max(float(_flat_size(value)), _extent(value) - _LITTLE)

    for name, function in functions.items():
        functions[name] = meter.sized(function, reach if name in _DEEP else _flat_size)
    _count_operators(evaluator, meter)
    _count_functions(evaluator, meter)
    _count_arguments(evaluator, meter)
    segments = evaluator._fn_segments

    def counted_segments(*arguments: float) -> int:
        count: int = segments(*arguments)
        if count > _SEGMENTS:
            raise TooMuchError(
                f"a circle has {count:,} segments; {_SEGMENTS:,} are the limit"
            )
        meter.spend(count)
        return count

    evaluator._fn_segments = counted_segments
    _mended.mend(_library, evaluator, meter.spend)
    resolve, generate = evaluator._RESOLVE_DISPATCH, evaluator._GENERATE_DISPATCH
    sphere, polyhedron = resolve["sphere"], resolve["polyhedron"]

    def counted_sphere(node: Any, context: Any) -> Any:
        plain = evaluator._fn_segments

        def squared(*arguments: float) -> int:
            count: int = segments(*arguments)
            if count > _SPHERE_SEGMENTS:
                raise TooMuchError(f"a sphere has {count:,} segments around it")
            meter.spend(count * count)
            return count

        evaluator._fn_segments = squared
        try:
            return sphere(node, context)
        finally:
            evaluator._fn_segments = plain

    united = evaluator._to_cross_section

    def cut_up(bodies: Any) -> Any:
        section = united(bodies)
        if section is not None:
            meter.spend(section.num_vert() * section.num_contour() / _HOLES)
        return section

    evaluator._to_cross_section = cut_up
    resolve["sphere"] = counted_sphere
    resolve["polyhedron"] = _counting_faces(polyhedron, meter)
    # The fonts of a system differ.
    _library._resolve_font = lambda _: _library._load_default_font()
    for kind, function in generate.items():
        generate[kind] = _weighed(kind, function, meter)


_cut_face: Any = getattr(_library, "_triangulate_face", None)


def _counting_faces(polyhedron: Callable[..., Any], meter: Meter) -> Callable[..., Any]:
    """Return the maker of polyhedra; cutting a face of n corners takes steps like n squared."""

    def cut(points: Any, loop: Any, out: Any) -> None:
        meter.spend(len(loop) ** 2 / 4 if len(loop) > 4 else 1)
        _cut_face(points, loop, out)

    def call(node: Any, context: Any) -> Any:
        _library._triangulate_face = cut
        return polyhedron(node, context)

    return call


def _weighed(
    kind: str, function: Callable[..., Any], meter: Meter
) -> Callable[..., Any]:
    """Return a maker of bodies that pays for what it is about to make, and for what it made."""

    def call(params: Any, children: Any, node: Any) -> Any:
        bodies = _library.flatten_csg_tree(children)
        meter.spend(_cost(kind, params, bodies))
        results = function(params, children, node)
        meter.spend(_STEPS_PER_TRIANGLE * sum(_body_size(body) for body in results))
        return results

    return call


def _cost(kind: str, params: Any, bodies: list[Any]) -> float:
    """Return the steps that a maker of bodies is to pay in advance."""
    flat = [body.section for body in bodies if body.section is not None]
    corners = sum(section.num_vert() for section in flat)
    if kind == "polygon":
        return len(params["pts"]) ** 2 / _PAIRS
    if kind == "projection":
        return float(sum(map(_body_size, bodies))) ** 2 / _PAIRS
    if kind == "offset":
        return float(corners * (params["segs"] or 1))
    if kind == "minkowski":
        solid = [body.body for body in bodies if body.body is not None]
        concave = sum(
            body.volume() < (1 - 1e-9) * body.hull().volume() for body in solid
        )
        pairs = np.prod([float(max(1, _body_size(body))) for body in bodies])
        return float(pairs) * (_CONCAVE[min(concave, 2)] if len(bodies) > 1 else 1)
    if kind == "text":
        return float(_CHARACTER) * len(str(params.get("text", "")))
    return 1.0


def _body_size(body: Any) -> int:
    if isinstance(body.body, manifold3d.Manifold):
        return int(body.body.num_tri())
    return int(body.section.num_vert()) if body.section is not None else 0
