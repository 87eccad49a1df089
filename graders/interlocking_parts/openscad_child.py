"""Conversion of OpenSCAD sources to meshes, in the sandbox (`scbench.machine.sandbox.call_script`).

This file uses nothing from scbench but `openscad_2021`, `openscad_steps` and a data file in its
folder. The library ``openscad_evaluator`` reads and evaluates the language; this file disables
everything that is not plain OpenSCAD or would reach outside the source: files, system fonts, level
sets. `openscad_steps` bounds the library's work by counting. Random numbers start from a fixed
seed.

Input: JSON ``{"sources": [...], "steps": int, "together": int, "triangles": int, "probe": bool}``.
Output: the length of a JSON header (8 bytes, little-endian), the header ``{"bodies": [{"vertices":
n, "triangles": m} | {"problem": text} | {"limit": text}, ...], "unlike": [text, ...]}``, then for
each mesh its vertices (float64) and triangles (int32). Each body has ``"steps"``, the number of
steps taken. Once the sources have taken more than ``together`` steps in total, the remaining ones
are not evaluated, so there are fewer bodies.

``unlike`` reports how the library differs from the one that this file is written for: missing names
and parameters and, if a ``probe`` is requested, the results of `PROBES`. Such a library cannot be
used for grading.
"""

import hashlib
import inspect
import json
import re
import struct
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module, util
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# The library has no types, so its modules may be anything.
_parser: Any = import_module("openscad_lalr_parser")
_library: Any = import_module("openscad_evaluator.evaluator")

_EXPECTED = json.loads(
    Path(__file__).with_name("openscad_library.json").read_text("utf-8")
)
# Parameters of the library's functions that are called or replaced in this folder.
_NEEDED: dict[str, str] = _EXPECTED["parameters"]
# Entries of an evaluator's tables that are replaced.
_TABLES: dict[str, list[str]] = _EXPECTED["tables"]
# Sources that use the replaced or counted functions, each with its steps, corners and triangles,
# and a hash of its corners, to five decimals. All versions that pyproject.toml allows give these
# results.
PROBES: list[dict[str, Any]] = _EXPECTED["probes"]
_PROBE_FIGURES = ("steps", "corners", "triangles", "hash of corners")
# Limits of a probe; the probes need far less.
_PROBE_STEPS = 10**6
_PROBE_TRIANGLES = 10**5

# Corners this close together, in mm, are merged.
_TOLERANCE = 1e-5
# Maximum depth of Python's recursion.
_NESTING = 60_000
_MAX_TOKENS = 200_000
_OUTSIDE = {"import", "surface", "dxf_dim", "dxf_cross"}
_NOT_OPENSCAD = {
    "roof",
    "levelset",
    "mesh_repair",
    "minkowski_difference",
    "simplify",
    "breakpoint",
}
# Comments and strings, in which nothing is called.
_COMMENT = r"/\*.*?\*/ | (?P<open_comment>/(?=\*))"
_TEXT = r'"(?:[^"\\]|\\.)*" | (?P<open_text>")'
# A word without a bracket after it is one match, because a source may be one long word.
_CODE = r"""
    (?P<file>\b(?:include|use)\s*<)
    | (?P<call>[A-Za-z_$]\w*+)(?=\s*\()
    | (?P<word>[A-Za-z_]\w*+)
    | \S
    """
# By the group of a comment or string that does not end.
_KINDS = {"open_comment": _COMMENT, "open_text": _TEXT}


class UnfitError(Exception):
    """The source cannot be graded."""


class SolidMesh(NamedTuple):
    """The union of everything that a source draws."""

    points: Any
    """(n, 3) vertices."""
    corners: Any
    """(m, 3) indices of vertices."""


def _module_next_to_this(name: str) -> Any:
    """Return the module in a file next to this one, which is in no package in the sandbox."""
    spec = util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_patches = _module_next_to_this("openscad_2021")
_steps = _module_next_to_this("openscad_steps")
Meter = _steps.Meter
TooMuchError = _steps.TooMuchError


def missing_names() -> Iterator[str]:
    """Yield names that the library does not define or defines with other parameters."""
    for name, parameters in _NEEDED.items():
        home, _, last = name.rpartition(".")
        owner = getattr(_library, home, None) if home else _library
        function = getattr(owner, last, getattr(_parser, last, None))
        if not callable(function):
            yield f"{name} is missing"
            continue
        actual = " ".join(inspect.signature(function).parameters)
        if actual != parameters:
            yield f"{name} takes ({actual}), not ({parameters})"
    ranges = getattr(_library, "_EXPR_DISPATCH", {}).keys()
    if getattr(_library, "RangeLiteral", None) not in ranges:
        yield "_EXPR_DISPATCH[RangeLiteral] is missing"
    for table, names in _TABLES.items():
        entries = getattr(_library.Evaluator(echo_fn=lambda _: None), table, {}).keys()
        for name in sorted({*names} - entries):
            yield f"{table}[{name!r}] is missing"


# All files are read now: the sandbox closes before `main` is called.
_UNLIKE = list(missing_names())
if not _UNLIKE:
    _parser.getASTfromString("cube(1);")  # reads its grammar
    _library._load_default_font()


def main(data: bytes) -> bytes:
    """Return the meshes of the sources, or the problem of each."""
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
            header.append({"limit": "it needs more memory than the limit allows"})
        except UnfitError as error:
            header.append({"problem": str(error)})
        else:
            header.append({"vertices": len(points), "triangles": len(corners)})
            arrays.append(points.astype("<f8").tobytes())
            arrays.append(corners.astype("<i4").tobytes())
        header[-1]["steps"] = meter.spent
        budget -= meter.spent
    unlike = _UNLIKE
    if not unlike and job["probe"]:
        unlike = list(probe_differences())
    text = json.dumps({"bodies": header, "unlike": unlike}).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(arrays)


def probe_differences() -> Iterator[str]:
    """Yield the results of `PROBES` that differ with this library."""
    for probe in PROBES:
        source = probe["source"]
        meter = Meter(_PROBE_STEPS)
        try:
            points, corners = mesh_of(source, meter, _PROBE_TRIANGLES)
        except (TooMuchError, UnfitError) as error:
            yield f"{source!r} gives no mesh ({error})"
            continue
        places = sorted((np.round(points, 5) + 0.0).tolist())
        digest = hashlib.sha256(json.dumps(places).encode()).hexdigest()[:8]
        actual = (meter.spent, len(points), len(corners), digest)
        for name, right, value in zip(
            _PROBE_FIGURES, probe["figures"], actual, strict=True
        ):
            if value != right:
                yield f"{name} of {source!r}: {value} instead of {right}"


def mesh_of(source: str, meter: Any, triangles: int) -> SolidMesh:
    """Return the union of everything that a source draws.

    Raises:
        UnfitError: the source cannot be parsed, or draws no solid.
        TooMuchError: the source takes more steps or makes more triangles than the limits allow.
    """
    check_names(source)
    # OpenSCAD shows bodies marked with % but does not print them; # shows a body twice.
    bodies = [
        body
        for body in evaluate(source, meter)
        if body.role not in {"background", "highlight_ghost"}
    ]
    if any(body.raw_mesh is not None for body in bodies):
        raise UnfitError("it draws a polyhedron that is not closed")
    solids = [body.body for body in bodies if body.body is not None]
    if any(solid.status().name != "NoError" for solid in solids):
        raise UnfitError("it draws a body that is not a solid")
    parts = [solid for solid in solids if not solid.is_empty()]
    if not parts:
        if any(body.section is not None for body in bodies):
            raise UnfitError("it draws only flat shapes")
        raise UnfitError("it draws nothing")
    union = parts[0]
    for part in parts[1:]:
        union += part
    # Without this call, pieces of a plane that come from different bodies stay separate, with
    # slivers along their seams.
    union = union.as_original().simplify(_TOLERANCE)
    if union.num_tri() > triangles:
        raise TooMuchError(
            f"it has {union.num_tri():,} triangles; the limit is {triangles:,}"
        )
    mesh = union.to_mesh64()
    points = np.asarray(mesh.vert_properties)[:, :3]
    return SolidMesh(points, np.asarray(mesh.tri_verts))


def token_pattern(kinds: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of tokens, with the patterns of comments and strings to skip."""
    alternatives = " | ".join([r"//[^\n]*", *kinds, _CODE])
    return re.compile(alternatives, re.DOTALL | re.VERBOSE)


def check_names(source: str) -> None:
    """Refuse calls that would read files or are not OpenSCAD, wherever they are in a source.

    Raises:
        UnfitError: there is such a call.
        TooMuchError: the source is too long to be checked.
    """
    kinds = dict(_KINDS)
    pattern = token_pattern(kinds.values())
    count = 0
    at = 0
    while token := pattern.search(source, at):
        at = token.end()
        # Each character of a word counts.
        count += len(token["word"] or " ")
        if count > _MAX_TOKENS + 1:
            raise TooMuchError(f"it has more than {_MAX_TOKENS:,} tokens")
        if token.lastgroup in kinds:
            # None of this kind ends after one that does not, so their ends are not searched for
            # again.
            del kinds[token.lastgroup]
            pattern = token_pattern(kinds.values())
            continue
        name = token["call"]
        if token["file"]:
            name = token["file"].strip(" <")
        if token["file"] or name in _OUTSIDE:
            raise UnfitError(f"it needs another file ({name}), which is not available")
        if name in _NOT_OPENSCAD:
            raise UnfitError(f"{name}() is not accepted")


def evaluate(source: str, meter: Any) -> list[Any]:
    """Return the bodies that a source draws, as the library's objects; for errors see `mesh_of`."""
    _library.random.seed(0)
    evaluator = _library.Evaluator(echo_fn=lambda _: None)
    _steps.count_evaluation(evaluator, meter)
    _patches.patch_library(_library, evaluator, meter.spend)
    # Last, because it wraps the replaced functions.
    _steps.count_bodies(evaluator, meter)
    try:
        nodes = _parser.getASTfromString(source)
        if nodes is not None:
            bodies, _ = evaluator.evaluate(nodes, _parser.build_scopes(nodes))
    except _library.EvalError as error:
        raise UnfitError(message_line(str(error))) from None
    except (RuntimeError, MemoryError, OSError, ImportError):
        raise  # too much memory, or no fault of the source: no thread, no file
    except Exception as error:  # noqa: BLE001  (a faulty source can raise anything)
        raise UnfitError(f"it cannot be evaluated ({type(error).__name__})") from None
    if nodes is None:
        raise UnfitError("it is not valid OpenSCAD")
    return bodies  # type: ignore[no-any-return]


def message_line(text: str) -> str:
    """Return a message of the library as one short line."""
    line = text.splitlines()[0] if text else "it cannot be evaluated"
    line = line.removeprefix("ERROR: ").replace(" in file <string>,", " in")[:200]
    return "".join(c if c.isprintable() else "?" for c in line)
