"""Parts for a printer, read as meshes from STL data, OpenSCAD source, or a program's output.

One child process evaluates the OpenSCAD sources of all parts of an answer; each program runs in its
own (`scbench.machine.sandbox`). Parts that were read are cached, because answers list every copy of
a part.
"""

import json
import re
import signal
import struct
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from scbench.base.canonical import sha256
from scbench.base.errors import CannotGrade
from scbench.graders.interlocking_parts.stl_files import (
    BYTE_ORDER_MARK,
    MOST_TRIANGLES,
    PrintedPart,
    part_of_triangles,
    read_stl,
)
from scbench.machine import sandbox
from scbench.schemas.interlocking_parts import FileType

# Limits of one part, in addition to those of `stl_files`: characters, steps of OpenSCAD.
MOST_CHARACTERS = 4_000_000
MOST_STEPS = 2_000_000
# Steps that all different OpenSCAD sources of one answer may take.
MOST_STEPS_TOGETHER = 3_000_000
_TOO_MANY_STEPS = (
    f"the OpenSCAD sources of the answer take more than {MOST_STEPS_TOGETHER:,} steps "
    "in total"
)
_SCAD_LIMITS = sandbox.Limits(seconds=100, memory=3 * 2**30, output=256 * 2**20)
# Wall-clock seconds that all programs of one answer may take.
_CODE_SECONDS_TOGETHER = 60.0
_CODE_LIMITS = sandbox.Limits(
    seconds=20, memory=2**30, output=MOST_CHARACTERS, processes=2, files=16 * 2**20
)
_FENCE = re.compile(r"\A\s*```[^\n`]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_CHILD = "scbench.graders.interlocking_parts.openscad_child"
# The libraries that evaluate OpenSCAD sources, in the versions that pyproject.toml allows.
_OPENSCAD = {"openscad-evaluator": ">=1.8,<1.9", "openscad-lalr-parser": ">=2.1,<2.2"}

# Maximum number of parts that are kept for later answers.
_MAX_CACHED = 256
_cache: dict[tuple[FileType, str], PrintedPart] = {}
# Differences from the library that verdicts depend on; None until it has been probed.
_unlike: list[str] | None = None


def read_parts(
    files: Sequence[tuple[FileType, str]], limits: sandbox.Limits = _SCAD_LIMITS
) -> list[PrintedPart]:
    """Return the part in each file, given by type and contents; the limits apply to OpenSCAD.

    Raises:
        scbench.base.errors.CannotGrade: there are programs, which this process may not or cannot
            run; or there are OpenSCAD sources, and the library for them is missing or differs from
            the required one.
        scbench.machine.sandbox.ChildError: a child process hit its limit of time or memory.
    """
    if any(kind.startswith("Python") for kind, _ in files):
        sandbox.check_code_can_run()
    distinct = dict.fromkeys(files)
    budget = sandbox.TimeBudget(_CODE_SECONDS_TOGETHER)
    parts: dict[tuple[FileType, str], PrintedPart] = {}
    sources: dict[tuple[FileType, str], str] = {}
    for file in distinct:
        cached_part = _cache.get(file)
        if cached_part is None:
            with budget.spending():
                part_or_source = read_part(*file, seconds=budget.seconds_left)
        else:
            part_or_source = cached_part
        if isinstance(part_or_source, str):
            sources[file] = part_or_source
        else:
            parts[file] = part_or_source
            # One such program makes the answer score 0, so no other needs to run.
            if part_or_source.too_much and file[0].startswith("Python"):
                break
    unread = PrintedPart(
        None, "not read: another part exceeds the limits", too_much=True
    )

    # All sources in one child, each once; it ends early if they take too many steps in total.
    texts = list(dict.fromkeys(sources.values()))
    steps_before = sum(part.steps for part in parts.values())
    bodies = evaluate(texts, MOST_STEPS_TOGETHER - steps_before, limits)
    bodies_by_text = dict(zip(texts, bodies, strict=False))
    for file, text in sources.items():
        if text in bodies_by_text:
            parts[file] = bodies_by_text[text]

    for file, part in parts.items():
        if len(_cache) >= _MAX_CACHED:
            _cache.clear()
        _cache[file] = part
    # The sum does not depend on the cache, so the verdict does not either.
    if sum(part.steps for part in parts.values()) > MOST_STEPS_TOGETHER:
        for file in distinct:
            if file not in parts or parts[file].steps:
                parts[file] = PrintedPart(None, _TOO_MANY_STEPS, too_much=True)
    return [parts.get(file, unread) for file in files]


def read_part(
    kind: FileType, contents: str, *, seconds: float = _CODE_SECONDS_TOGETHER
) -> PrintedPart | str:
    """Return the part in a file, or the OpenSCAD source that draws it.

    Args:
        kind: type of the file.
        contents: text of the file.
        seconds: wall-clock limit of a program.
    """
    if len(contents) > MOST_CHARACTERS:
        problem = f"it has more than {MOST_CHARACTERS:,} characters"
        return PrintedPart(None, problem, too_much=True)
    text = unwrap(contents, escaped=not kind.startswith("Python"))
    if kind == "STL":
        return read_stl(text.encode("utf-8", "replace"))
    if kind == "OpenSCAD":
        return text
    printed = run_program(text, seconds)
    if isinstance(printed, PrintedPart):
        return printed
    if kind == "Python Generating STL":
        return read_stl(printed)
    return unwrap(printed.decode("utf-8", "replace"))


def run_program(text: str, seconds: float) -> bytes | PrintedPart:
    """Return the output of a program, or a part that says why there is none.

    A program that loops, sleeps or kills itself is the answer's failure, not the machine's. Its
    output is counted. Its steps cannot be counted, because it may start other processes and code
    other than Python.

    Raises:
        scbench.machine.sandbox.ChildError: the machine was too busy to run it.
    """
    if "\0" in text:
        return PrintedPart(None, "the program contains a null character")
    limits = replace(_CODE_LIMITS, wall=seconds)
    try:
        done = run_twice_if_killed(text.encode("utf-8", "replace"), limits)
    except sandbox.LimitError as error:
        if not error.signal or error.signal == signal.SIGXCPU:
            problem = "the program exceeds its time limit"
        else:
            problem = f"the program was killed by signal {error.signal}"
        return PrintedPart(None, problem, too_much=True)
    if done.flooded:
        if len(done.stdout) >= limits.output:
            problem = f"the program prints more than {limits.output:,} bytes"
        else:
            problem = f"the program prints more than {limits.errors:,} bytes of errors"
        return PrintedPart(None, problem, too_much=True)
    if done.refused:
        problem = "the program makes a system call that the sandbox refuses"
        return PrintedPart(None, problem)
    if done.code:
        return PrintedPart(None, "the program fails with an error")
    if not done.stdout.strip():
        return PrintedPart(None, "the program prints nothing")
    return done.stdout


def run_twice_if_killed(source: bytes, limits: sandbox.Limits) -> sandbox.Finished:
    """Run a program, and run it again if it is killed: the machine may be short of memory.

    Raises:
        LimitError: the program was ended by a limit or a signal.
    """
    try:
        return sandbox.run_python(source, limits)
    except sandbox.LimitError as error:
        if error.signal != signal.SIGKILL:
            raise
    return sandbox.run_python(source, limits)


def unwrap(contents: str, *, escaped: bool = True) -> str:
    """Return text without a Markdown fence, and with doubly ``escaped`` line ends repaired.

    Only a text on a single line can be doubly escaped. Programs are exempt, because a single line
    of code may contain escaped line ends.
    """
    text = contents.removeprefix(BYTE_ORDER_MARK)
    if escaped and "\n" not in text and "\\n" in text:
        text = text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    fenced = _FENCE.match(text)
    if fenced:
        text = fenced[1]
    return text.removeprefix(BYTE_ORDER_MARK)


def evaluate(
    sources: list[str], together: int, limits: sandbox.Limits
) -> list[PrintedPart]:
    """Return the parts that OpenSCAD sources draw, until ``together`` steps are used up."""
    if not sources:
        return []
    spec = find_spec(_CHILD)
    if spec is None or spec.origin is None or find_spec("openscad_evaluator") is None:
        raise CannotGrade(
            "the answer contains OpenSCAD source, but the library that evaluates it is missing; "
            "pip install openscad-evaluator"
        )
    job = {
        "sources": sources,
        "steps": MOST_STEPS,
        "together": together,
        "triangles": MOST_TRIANGLES,
        "probe": _unlike is None,
    }
    done = sandbox.call_script(Path(spec.origin), json.dumps(job).encode(), limits)
    if done.flooded:
        raise sandbox.ChildError("the meshes of OpenSCAD sources are too large")
    (size,) = struct.unpack_from("<Q", done.stdout)
    header = json.loads(done.stdout[8 : 8 + size])
    check_library(header["unlike"])
    return parts_of_output(header["bodies"], done.stdout, 8 + size)


def parts_of_output(
    bodies: list[dict[str, Any]], output: bytes, place: int
) -> list[PrintedPart]:
    """Return the parts in the output of `openscad_child`, whose meshes begin at ``place``."""
    parts = []
    for body in bodies:
        steps = body["steps"]
        if "vertices" not in body:
            problem = body.get("limit") or body["problem"]
            parts.append(PrintedPart(None, problem, "limit" in body, steps))
            continue
        vertices = body["vertices"]
        triangles = body["triangles"]
        points = np.frombuffer(output, "<f8", 3 * vertices, place).reshape(-1, 3)
        place += points.nbytes
        corners = np.frombuffer(output, "<i4", 3 * triangles, place).reshape(-1, 3)
        place += corners.nbytes
        parts.append(part_of_triangles(points[corners])._replace(steps=steps))
    return parts


def check_library(unlike: list[str]) -> None:
    """Raise `CannotGrade` if a child's OpenSCAD library differs from the required one."""
    global _unlike  # noqa: PLW0603  (a process has one library)
    _unlike = _unlike or unlike
    if _unlike:
        installed = ", ".join(
            f"{name} {number}" for name, number in library_versions().items()
        )
        right = " ".join(f"'{name}{versions}'" for name, versions in _OPENSCAD.items())
        raise CannotGrade(
            "the answer contains OpenSCAD source, and the installed libraries evaluate it "
            f"differently ({installed}); pip install {right}. Differences: "
            f"{len(_unlike)}; the first: {_unlike[0]}"
        )


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that evaluate OpenSCAD sources."""
    return {name: version(name) for name in (*_OPENSCAD, "manifold3d")}


def machine_facts() -> dict[str, str]:
    """Return the versions that evaluate OpenSCAD sources, and the fingerprint of their probes.

    Raises:
        scbench.base.errors.CannotGrade: the library is missing, or differs from the required one.
        scbench.machine.sandbox.ChildError: a child process hit its limit of time or memory.
    """
    evaluate(["cube(1);"], MOST_STEPS_TOGETHER, _SCAD_LIMITS)
    expected = Path(__file__).with_name("openscad_library.json").read_bytes()
    return {**library_versions(), "fingerprint": sha256(expected)[:16]}
