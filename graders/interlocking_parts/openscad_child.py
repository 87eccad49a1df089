"""OpenSCAD sources into meshes; runs in the sandbox, through `scbench.machine.sandbox.call_script`.

Runs alone: it uses nothing of scbench but `openscad_2021` and a data file beside it. The library
``openscad_evaluator`` reads and evaluates the language; this file bounds its work by counting, so
that limits are the same on every machine, and disables what is not plain OpenSCAD or would access
the outside: files, fonts of the system, level sets. Random numbers start from a fixed seed.

Work is counted in steps: one for each expression evaluated, each element of a list or string made;
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
_beside = util.spec_from_file_location("mended", Path(__file__).with_name("openscad_2021.py"))
_mended: Any = util.module_from_spec(_beside)  # type: ignore[arg-type]
_beside.loader.exec_module(_mended)  # type: ignore[union-attr]

_EXPECTED = json.loads(Path(__file__).with_name("openscad_library.json").read_text("utf-8"))
_NEEDED: dict[str, str] = _EXPECTED["parameters"]
"""Parameters of what is called or replaced here and in `openscad_2021`."""
_TABLES: dict[str, list[str]] = _EXPECTED["tables"]
"""Entries of an evaluator's tables that are replaced."""


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
        yield from (f"{table}[{name!r}] is missing" for name in sorted({*names} - entries))


_UNLIKE = list(_lacking())
if not _UNLIKE:
    _parser.getASTfromString("cube(1);")  # reads its grammar while files can be read
    _library._load_default_font()

_SEGMENTS = 5_000
_SPHERE_SEGMENTS = 800
_DEPTH = 4_000
_TOLERANCE = 1e-5
_NESTING = 60_000
_TOKENS = 200_000
_STATEMENT = 40
"""Steps that a statement takes: it makes a body, if only to unite it with others."""
_STEPS_PER_TRIANGLE = 2
"""Steps for each triangle of a body that is made of others, and for each corner of a flat one."""
_PAIRS = 25
"""Pairs of corners of a polygon that are compared in one step, as any two of its sides may cross;
likewise of triangles of what is projected."""
_HOLES = 250
"""Pairs of a corner and an outline, of one flat shape, that take a step when it is cut up."""
_JOINED = 10
"""Corners that are gone through in a step when two flat shapes are made one."""
_NESTED = 2500
"""Pairs of their outlines that are compared in a step, to see which lies in which."""
_OUTSIDE = {"import", "surface", "dxf_dim", "dxf_cross"}
_NOT_OPENSCAD = {
    *("roof", "levelset", "mesh_repair"),
    *("minkowski_difference", "simplify", "breakpoint"),
}
_NAME = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|(\b(?:include|use)\s*<)|([A-Za-z_$]\w*)(?=\s*\()|\S',
    re.DOTALL,
)


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


PROBES: list[dict[str, Any]] = _EXPECTED["probes"]
"""Sources that use what is replaced or counted, each with its steps, corners and triangles, and a
hash of its corners, to five decimals. All versions that pyproject.toml allows give these."""


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
            raise UnfitError(f"it wants another file ({token[1].strip(' <')}), and there is none")
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
    solid = [body for body in bodies if body.role not in {"background", "highlight_ghost"}]
    if any(body.raw_mesh is not None for body in solid):
        raise UnfitError("it draws a polyhedron that is not closed")
    if any(body.body is not None and body.body.status().name != "NoError" for body in solid):
        raise UnfitError("it draws a body that is not a solid")
    parts = [body.body for body in solid if body.body is not None and not body.body.is_empty()]
    if not parts:
        flat = any(body.section is not None for body in solid)
        raise UnfitError("it draws nothing but flat shapes" if flat else "it draws nothing")
    union = parts[0]
    for part in parts[1:]:
        union += part
    # The pieces of a plane that came from different bodies are kept apart until this is asked for,
    # with slivers along their seams.
    union = union.as_original().simplify(_TOLERANCE)
    if union.num_tri() > triangles:
        raise TooMuchError(f"it has {union.num_tri():,} triangles; {triangles:,} are the limit")
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
        raise  # no fault of the source: no memory, no thread, no file
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
        self.remaining -= steps
        if self.remaining < 0:
            raise TooMuchError(f"it takes more than {self.limit:,} steps")

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

    def sized(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, a step for each element of its arguments and of its value."""

        def call(*arguments: Any) -> Any:
            self.spend(sum(len(value) for value in arguments if isinstance(value, list | str)))
            try:
                value = function(*arguments)
            except MemoryError:  # which the library would take for a wrong argument
                raise SystemExit("out of memory") from None
            if isinstance(value, list | str):
                self.spend(len(value))
            return value

        return call


_FLAT = {name: getattr(manifold3d.CrossSection, name) for name in ("__add__", "__sub__", "__xor__")}


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
        setattr(evaluator, name, meter.sized(getattr(evaluator, name)))
    functions = evaluator._math_fns
    functions |= {name: meter.sized(function) for name, function in functions.items()}
    rands = functions["rands"]

    def counted_rands(low: float, high: float, count: float, *seed: float) -> object:
        meter.spend(max(0.0, count))
        return rands(low, high, count, *seed)

    functions["rands"] = counted_rands
    segments = evaluator._fn_segments

    def counted_segments(*arguments: float) -> int:
        count: int = segments(*arguments)
        if count > _SEGMENTS:
            raise TooMuchError(f"a circle has {count:,} segments; {_SEGMENTS:,} are the limit")
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


def _weighed(kind: str, function: Callable[..., Any], meter: Meter) -> Callable[..., Any]:
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
        return float(np.prod([float(max(1, _body_size(body))) for body in bodies]))
    if kind == "text":
        return 200.0 * len(str(params.get("text", "")))
    return 1.0


def _body_size(body: Any) -> int:
    if isinstance(body.body, manifold3d.Manifold):
        return int(body.body.num_tri())
    return int(body.section.num_vert()) if body.section is not None else 0
