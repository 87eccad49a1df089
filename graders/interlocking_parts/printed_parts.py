"""Parts for a printer as meshes: from STL text or bytes, OpenSCAD source, or a program's output.

OpenSCAD sources are evaluated in one child process for all parts of an answer, programs in one each
(`scbench.machine.sandbox`). What has been read is kept for a while: copies of a part are listed one
by one.
"""

import base64
import binascii
import json
import re
import struct
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scbench.base.canonical import sha256
from scbench.base.errors import CannotGrade
from scbench.graders.interlocking_parts.print_checks import Shell, weld
from scbench.graders.shared.meshes import Array
from scbench.machine import sandbox
from scbench.schemas.interlocking_parts import FileType

MOST_CHARACTERS = 4_000_000
MOST_TRIANGLES = 30_000
MOST_STEPS = 2_000_000
# Limits of one part: characters, triangles, steps of OpenSCAD, distance from the
# origin.
FARTHEST = 10_000.0
# Steps that all different OpenSCAD sources of one answer may take.
MOST_STEPS_TOGETHER = 3_000_000
_SCAD_LIMITS = sandbox.Limits(seconds=100, memory=3 * 2**30, output=256 * 2**20)
_CODE_LIMITS = sandbox.Limits(
    seconds=20, memory=2**30, output=MOST_CHARACTERS, processes=2, files=16 * 2**20
)
_TOO_MANY_STEPS = f"the OpenSCAD sources of the answer take more than {MOST_STEPS_TOGETHER:,} steps together"
# What some programs write first, to say how their text is encoded.
_MARK = "\ufeff"
_MAX_CACHED = 256
_FENCE = re.compile(r"\A\s*```[^\n`]*\n(.*?)\n?```\s*\Z", re.DOTALL)
# A number in STL text, as C reads it; Python's own reading takes 1_0 and digits of any
# script.
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:e[+-]?[0-9]++)?|inf(?:inity)?|nan)",
    re.ASCII | re.IGNORECASE,
)
_VERTEX = re.compile(r"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", re.IGNORECASE)
_DATA_URL = re.compile(r"\Adata:[^,]{0,100};base64,", re.IGNORECASE)


# What evaluates OpenSCAD sources, in the versions that pyproject.toml allows.
_OPENSCAD = {"openscad-evaluator": ">=1.8,<1.9", "openscad-lalr-parser": ">=2.1,<2.2"}


class PrintedPart(NamedTuple):
    """A part as it lies on the bed."""

    shell: Shell | None
    """Its mesh, which may still be no solid; None if it cannot be read."""
    problem: str = ""
    """Why it cannot be read, to follow the words "part 3:"."""
    too_much: bool = False
    """Whether it was not read because it is too large or too much work."""
    steps: int = 0
    """Steps that its OpenSCAD source took."""


_cache: dict[tuple[FileType, str], PrintedPart] = {}


# In what that differs from the library that verdicts rest on; None until it has been
# tried.
_unlike: list[str] | None = None


def read_parts(
    files: Sequence[tuple[FileType, str]], limits: sandbox.Limits = _SCAD_LIMITS
) -> list[PrintedPart]:
    """Return the part in each file, given by type and contents; the limits are of OpenSCAD sources.

    Raises:
        scbench.base.errors.CannotGrade: there are programs, which this process may not or cannot
            run, or OpenSCAD sources, and the library for them is missing or another than ours.
        scbench.machine.sandbox.ChildError: a child process hit its limit of time or memory.
    """
    if any(kind.startswith("Python") for kind, _ in files):
        sandbox.check_code_can_run()
    distinct = dict.fromkeys(files)
    parts = {file: _cache[file] for file in distinct if file in _cache}
    sources: dict[tuple[FileType, str], str] = {}
    for kind, contents in distinct:
        if (kind, contents) in parts:
            continue
        read = _read_part(kind, contents)
        if isinstance(read, str):
            sources[kind, contents] = read
        else:
            parts[kind, contents] = read
    texts = list(dict.fromkeys(sources.values()))
    before = sum(part.steps for part in parts.values())
    bodies = dict(
        zip(texts, _evaluate(texts, MOST_STEPS_TOGETHER - before, limits), strict=False)
    )
    parts |= {file: bodies[text] for file, text in sources.items() if text in bodies}
    for file in distinct:
        if len(_cache) >= _MAX_CACHED:
            _cache.clear()
        if file in parts:
            _cache[file] = parts[file]
    # How much it is does not depend on what is known already, and so neither does the verdict.
    if sum(part.steps for part in parts.values()) > MOST_STEPS_TOGETHER:
        for file in distinct:
            if file not in parts or parts[file].steps:
                parts[file] = PrintedPart(None, _TOO_MANY_STEPS, True)
    return [parts[file] for file in files]


def _read_part(kind: FileType, contents: str) -> PrintedPart | str:
    """Return the part in a file, or the OpenSCAD source that draws it."""
    if len(contents) > MOST_CHARACTERS:
        return PrintedPart(
            None, f"it has more than {MOST_CHARACTERS:,} characters", True
        )
    text = unwrap(contents, escaped=not kind.startswith("Python"))
    if kind == "STL":
        return read_stl(text.encode("utf-8", "replace"))
    if kind == "OpenSCAD":
        return text
    if "\0" in text:
        return PrintedPart(None, "the program holds a null character")
    done = sandbox.run_python(text.encode("utf-8", "replace"), _CODE_LIMITS)
    if done.flooded:
        return PrintedPart(
            None, f"the program prints more than {MOST_CHARACTERS:,} bytes", True
        )
    if done.refused:
        return PrintedPart(
            None, "the program makes a system call that the sandbox refuses"
        )
    if done.code:
        return PrintedPart(None, "the program ends with an error")
    if not done.stdout.strip():
        return PrintedPart(None, "the program prints nothing")
    if kind == "Python Generating STL":
        return read_stl(done.stdout)
    return unwrap(done.stdout.decode("utf-8", "replace"))


def unwrap(contents: str, *, escaped: bool = True) -> str:
    """Return text without a Markdown fence around it, line ends no longer ``escaped`` twice.

    A text in a single line may have been; of programs, a single line may well print others.
    """
    contents = contents.removeprefix(_MARK)
    if escaped and "\n" not in contents and "\\n" in contents:
        contents = (
            contents.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
        )
    fenced = _FENCE.match(contents)
    return (fenced[1] if fenced else contents).removeprefix(_MARK)


def read_stl(data: bytes) -> PrintedPart:
    """Return the part in an STL file: text, bytes, or bytes in base64."""
    data = data.removeprefix(_MARK.encode())
    if _is_text(data):
        return _ascii_stl(data.decode("utf-8", "replace"))
    if _is_binary(data):
        return _binary_stl(data)
    plain = _DATA_URL.sub("", data.decode("latin-1").strip())
    try:
        inner = base64.b64decode("".join(plain.split()), validate=True)
    except (binascii.Error, ValueError):
        inner = b""
    inner = inner.removeprefix(_MARK.encode())
    if _is_text(inner):
        return _ascii_stl(inner.decode("utf-8", "replace"))
    if _is_binary(inner):
        return _binary_stl(inner)
    return PrintedPart(None, "it is neither STL text nor a binary STL file in base64")


def _is_text(data: bytes) -> bool:
    return data.lstrip()[:5].lower() == b"solid" and b"vertex" in data.lower()


def _is_binary(data: bytes) -> bool:
    return len(data) > 84 and len(data) == 84 + 50 * int.from_bytes(
        data[80:84], "little"
    )


def _too_many(count: int) -> PrintedPart:
    return PrintedPart(
        None,
        f"it has {count:,} triangles; {MOST_TRIANGLES:,} are the limit",
        too_much=True,
    )


def _ascii_stl(text: str) -> PrintedPart:
    vertices = _VERTEX.findall(text)
    count = len(re.findall(r"\bendfacet\b", text, re.IGNORECASE))
    if count > MOST_TRIANGLES:
        return _too_many(count)
    keywords = len(re.findall(r"\bvertex\b", text, re.IGNORECASE))
    if not len(vertices) == keywords == 3 * count:
        return PrintedPart(
            None, "its facets do not have three vertices of three numbers each"
        )
    if not all(_NUMBER.fullmatch(x) for vertex in vertices for x in vertex):
        return PrintedPart(None, "a coordinate is not a number")
    numbers = np.array(
        [[float(x) for x in vertex] for vertex in vertices], dtype=np.float64
    )
    return _from_triangles(numbers.reshape(-1, 3, 3))


def _binary_stl(data: bytes) -> PrintedPart:
    count = int.from_bytes(data[80:84], "little")
    if count > MOST_TRIANGLES:
        return _too_many(count)
    rows = np.frombuffer(data, dtype=np.uint8, offset=84).reshape(count, 50)
    corners = np.ascontiguousarray(rows[:, 12:48]).view("<f4").reshape(count, 3, 3)
    return _from_triangles(corners.astype(np.float64))


def _from_triangles(triangles: Array) -> PrintedPart:
    if len(triangles) == 0:
        return PrintedPart(None, "it has no triangles")
    if not np.all(np.isfinite(triangles)):
        return PrintedPart(None, "a coordinate is not a finite number")
    if np.max(np.abs(triangles)) > FARTHEST:
        return PrintedPart(None, f"a coordinate is beyond {FARTHEST:,.0f} mm")
    shell = weld(triangles)
    if len(shell.corners) == 0:
        return PrintedPart(None, "all its triangles shrink to lines or points")
    return PrintedPart(shell)


def _check_library(unlike: list[str]) -> None:
    """Raise `CannotGrade` if a child found the OpenSCAD library unlike the one verdicts rest on."""
    global _unlike  # noqa: PLW0603  (a process has one library)
    _unlike = _unlike or unlike
    if _unlike:
        there = ", ".join(
            f"{name} {version(name)}" for name in (*_OPENSCAD, "manifold3d")
        )
        right = " ".join(f"'{name}{versions}'" for name, versions in _OPENSCAD.items())
        raise CannotGrade(
            f"the answer holds OpenSCAD source, and here ({there}) it is not evaluated as verdicts "
            f"need it; pip install {right}. {len(_unlike)} differences, first {_unlike[0]}"
        )


def machine_facts() -> dict[str, str]:
    """Return what evaluates OpenSCAD sources, and the fingerprint of the probes that it agrees on.

    Raises:
        scbench.base.errors.CannotGrade: it is missing, or another than verdicts rest on.
        scbench.machine.sandbox.ChildError: a child process hit its limit of time or memory.
    """
    _evaluate(["cube(1);"], MOST_STEPS_TOGETHER, _SCAD_LIMITS)
    expected = Path(__file__).with_name("openscad_library.json").read_bytes()
    libraries = {name: version(name) for name in (*_OPENSCAD, "manifold3d")}
    return {**libraries, "fingerprint": sha256(expected)[:16]}


def _evaluate(
    sources: list[str], together: int, limits: sandbox.Limits
) -> list[PrintedPart]:
    """Return what OpenSCAD sources draw; less than all once they took more steps ``together``."""
    if not sources:
        return []
    spec = find_spec("scbench.graders.interlocking_parts.openscad_child")
    if spec is None or spec.origin is None or find_spec("openscad_evaluator") is None:
        raise CannotGrade(
            "the answer holds OpenSCAD source, and the library that evaluates it is not installed; "
            "pip install openscad-evaluator"
        )
    job = {"sources": sources, "steps": MOST_STEPS, "together": together}
    job |= {"triangles": MOST_TRIANGLES, "probe": _unlike is None}
    done = sandbox.call_script(Path(spec.origin), json.dumps(job).encode(), limits)
    if done.flooded:
        raise sandbox.ChildError("the meshes of OpenSCAD sources are too large")
    (size,) = struct.unpack_from("<Q", done.stdout)
    place = 8 + size
    header = json.loads(done.stdout[8:place])
    _check_library(header["unlike"])
    parts = []
    for entry in header["bodies"]:
        if "vertices" not in entry:
            problem = entry.get("limit") or entry["problem"]
            parts.append(PrintedPart(None, problem, "limit" in entry, entry["steps"]))
            continue
        n, m = entry["vertices"], entry["triangles"]
        points = np.frombuffer(done.stdout, "<f8", 3 * n, place).reshape(n, 3)
        place += points.nbytes
        corners = np.frombuffer(done.stdout, "<i4", 3 * m, place).reshape(m, 3)
        place += corners.nbytes
        parts.append(_from_triangles(points[corners])._replace(steps=entry["steps"]))
    return parts
