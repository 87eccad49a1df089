"""The fuzzing targets: functions of bytes that raise if something is wrong.

A target states what must be true for any input: messages of rejections can be shown, values that
were read survive being written, and every answer gets verdicts that fit into a file.
"""

import ast
import base64
import gzip
import hashlib
import io
import json
import math
import struct
import sys
import warnings
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, BinaryIO, cast

import zstandard
from fuzz_answers import answer_target, judged
from fuzz_files import archive_target, document_target, import_target, manifest_target
from fuzz_inputs import Choices, Target, check_text

from scbench.base.canonical import canonical_json, parse_json
from scbench.base.errors import PredictionsError
from scbench.base.model import Prediction
from scbench.catalog import available_tasks, get_task
from scbench.formats.predictions import (
    Line,
    Problem,
    open_predictions,
    parse_line,
    read_predictions,
)
from scbench.scoring.answers.extract import find_answer
from scbench.scoring.answers.scan import scan
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.refusals import declines

# Predictions files, whole or in part.
_LINES = (
    b'{"id": "two_segments/07", "model": "m", "answer": {"segments": [[[0, 0.2], [1, 0.4]]]}}\n',
    b'{"id":"a/0","response":"x","sample":3,"budget":7,"usage":{"cost":1.5,"seconds":2}}\n',
    b'{"id": "a/0", "status": "blocked", "error": "e", "finish_reason": "length"}\n\xef\xbb\xbf\n',
    b'{"id":"\\ud83d\\ude00","setting":"tools","answer":[1e308,-0,1E-400,12345678901234567890]}',
    b'[[[[{"id":{"id":{}}}]]]]\n"\\u0000"\nnull\n-0.0\n\r\n\n',
)
# Tasks whose answers have different shapes.
_SHAPES = ("delaunay_triangulation", "maze_3d", "arithmetic", "boolean", "csg_union")


def names() -> list[str]:
    """Return the names of all targets."""
    ours = [
        f"answer:{task.id}" for task in available_tasks() if task.package == "scbench"
    ]
    return [*_TARGETS, *ours]


def make(name: str) -> Target:
    """Return the target of this name.

    Raises:
        KeyError: there is no target of this name.
    """
    if name not in names():
        raise KeyError(name)
    if name in _TARGETS:
        return _TARGETS[name]()
    _, _, task_id = name.partition(":")
    return answer_target(get_task(task_id))


# The reader


def line_target() -> Target:
    """Return the target of predictions files, compressed or not."""
    packed = [gzip.compress(b"".join(_LINES)), zstandard.compress(b"".join(_LINES))]
    tokens = (
        b'"id"',
        b'"answer":',
        b'"response":"',
        b"\\ud800",
        b"1e400",
        b"NaN",
        b"[" * 99,
        b"9" * 4400,
        b"\xef\xbb\xbf",
        b"\x00",
        b"\n",
        b"\xc0\x80",
        b'{"',
        b"Infinity",
        b"-0",
    )
    seeds = [b"\0" + line for line in (*_LINES, b"".join(_LINES), *packed)]
    seeds += [bytes([form]) + _LINES[0] for form in (1, 2, 3)]
    return Target(read_all, seeds, tokens)


def read_all(data: bytes) -> None:
    """Read a file from standard input; the first byte determines its compression."""
    form = data[:1]
    content = data[1:]
    if form == b"\1":
        content = gzip.compress(content, 1)
    elif form == b"\2":
        content = zstandard.compress(content, 1)
    elif form == b"\3":
        # The file is truncated.
        content = gzip.compress(content, 1)[:-5]
    stdin = sys.stdin
    sys.stdin = cast(Any, SimpleNamespace(buffer=io.BytesIO(content)))
    try:
        stream = open_predictions("-")
    except PredictionsError:
        return
    finally:
        sys.stdin = stdin
    is_plain = (
        isinstance(stream, io.BufferedReader) and stream.raw.__class__ is io.BytesIO
    )
    check_lines(stream, content if is_plain else None)


def check_lines(stream: BinaryIO, content: bytes | None) -> None:
    """Check every line that the reader yields, and the hash if the file is uncompressed."""
    digest = hashlib.sha256()
    before = 0
    stopped = False
    for entry in read_predictions(stream, digest):
        if isinstance(entry, Problem):
            check_text(str(entry), 1500)
            assert entry.line is not None
            before = max(before, entry.line)
            stopped = entry.code == "unreadable"
            continue
        assert entry.number > before, "lines out of order"
        before = entry.number
        again = parse_line(entry.data, entry.number)
        assert isinstance(again, Line)
        assert again.prediction == entry.prediction or "NaN" in repr(again)
        # The standard library accepts more; values that both accept must be the same.
        assert canonical_json(json.loads(entry.data)) == canonical_json(
            parse_json(entry.data)
        )
    if content is not None and not stopped:
        assert digest.digest() == hashlib.sha256(content).digest(), (
            "bytes were left out of the hash"
        )


# Responses


def response_target() -> Target:
    """Return the target of replies from which an answer is extracted."""
    answer = b'{"triangles": [[0, 1, 2]]}'
    seeds = [
        b"I think\n```json\n" + answer + b"\n```\nDone.",
        b"<think>{</think>Answer: " + answer,
        b"<answer>" + answer + b"</answer>",
        b"**Final answer:** {'triangles': ((0, 1, 2,),), # so\n 'x': True, \"y\": .5}",
        b"so " + answer + b" it is, or {'triangles': [[+1, 2., '''3''']]}",
        b"The answer is \\boxed{12/5}. ```python\nx\n````\n```",
        b"I cannot help with that.",
        b'"""A\\x41\\u0041\\U00000041\\101\\\n"""',
    ]
    tokens = (
        b"```",
        b"```json\n",
        b"\n```\n",
        b"<answer>",
        b"</answer>",
        b"Answer:",
        b"</think>",
        b"{",
        b"}",
        b"[",
        b"]",
        b"(",
        b")",
        b'"',
        b"'",
        b"'''",
        b"\\",
        b"#",
        b"\n",
        b":",
        b",",
        b'"triangles"',
        b"'answer':",
        b"\\boxed{",
        b"True",
        b"None",
        b"nan",
        b"-0",
        b"1e999",
    )
    seeds = [bytes([shape]) + seed for seed in seeds for shape in range(len(_SHAPES))]
    return Target(find, seeds, tokens, 8192)


def find(data: bytes) -> None:
    """Extract an answer from a reply twice, and compare."""
    choices = Choices(data)
    task = get_task(choices.pick(_SHAPES))
    shape = shape_of(task.answer_model)
    try:
        text = choices.remainder.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = choices.remainder.decode("latin-1")
    reply = Prediction.model_construct(id="", response=text)
    extraction = find_answer(reply, shape)
    declines(text)
    for span in scan(text, set(shape.keys)):
        assert 0 <= span.start < span.end <= len(text)
    if extraction is None:
        return
    assert extraction.source in {"fence", "marked", "whole", "embedded"}
    canonical_json(extraction.value)
    assert isinstance(extraction.value, dict)
    assert find_answer(reply, shape) == extraction


# Formulas


def formula_target() -> Target:
    """Return the target of formulas, alone or as functions, on four pictures."""
    task = get_task("polynomial_curve_fitting")
    paper = [item.params for item in task.builder().paper()]
    pictures = [task.params_model(grid=grid) for grid in (["#.", ".#"], ["...#."] * 5)]
    pictures += [min(paper, key=lambda params: len(params.grid)), paper[3]]

    def run(data: bytes) -> None:
        choices = Choices(data)
        params = choices.pick(pictures)
        is_framed = choices.below(4) > 0
        text = choices.remainder.decode("latin-1")
        if is_framed:
            text = f"def f(x, y):\n    return {text}"
        (verdict,) = judged(task, params, {"function": text})
        passed = {check.id for check in verdict.checks if check.passed}
        if passed >= {"text", "form"}:
            check_python_reads(text)

    seeds = [b"\2\1" + body for body in (
        b"x*y - 3", b"-(x - 7)**2 - (y - 7.5)**2 + 30.25", b"(x+y)**512 / 3e5 - 0.1**2", b"1_0",
        b"--x**-y", b"(x**2 - y)**3 * (y - 1)**2 * 1e-300 / 1e300", b"0**0 + x/0", b"9"*390+b"*x*y",
        b"((x)*(y)+1)**2**3", b"x ** 64 ** 2 - y ** 1024", b"\\\n x + \\\r\n y",
    )]  # fmt: skip
    seeds.append(b"\1\0def  f ( x , y , ) :\r\n\treturn ( x\n * y )  \n\n")
    tokens = (
        b"x",
        b"y",
        b"**",
        b"*",
        b"/",
        b"//",
        b"+",
        b"-",
        b"(",
        b")",
        b"512",
        b"1e308",
        b"0.1",
        b"**2",
        b"(x-y)",
        b"\n",
        b"\\\n",
        b"def f(x, y):",
        b"return ",
        b" ",
        b"#",
        b"00",
        b"0",
    )
    return Target(run, seeds, tokens, 3000)


def check_python_reads(text: str) -> None:
    """Check that a text read as a function is also a function in Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text.strip())
        except (MemoryError, RecursionError):
            # Python's own limits are not findings.
            return
        except SyntaxError as error:
            if "too many" in str(error) or "too complex" in str(error):
                return
            raise
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    (statement,) = function.body
    assert isinstance(statement, ast.Return)


# STL


def stl_target() -> Target:
    """Return the target of bodies in STL: as text, binary, or in a reply."""
    from scbench.graders.interlocking_parts.part_checks import as_body  # noqa: PLC0415
    from scbench.graders.interlocking_parts.printed_parts import unwrap  # noqa: PLC0415
    from scbench.graders.interlocking_parts.stl_files import read_stl  # noqa: PLC0415

    def run(data: bytes) -> None:
        part = read_stl(data)
        check_text(part.problem, 500)
        read_stl(unwrap(data.decode("utf-8", "replace")).encode())
        assert (part.shell is None) == bool(part.problem)
        if part.shell is not None:
            assert all(map(math.isfinite, part.shell.points.ravel()))
            (_, why), _ = as_body(part.shell)
            check_text(why, 500)

    corners = [(0, 0, 0), (9, 0, 0), (0, 9, 0), (0, 0, 9)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    text = b"solid t\n"
    # A header, then the number of faces.
    packed = b"\0" * 80 + len(faces).to_bytes(4, "little")
    for face in faces:
        text += b"facet normal 0 0 0\nouter loop\n"
        packed += bytes(12)
        for corner in face:
            text += b"vertex %d %d %d\n" % corners[corner]
            packed += struct.pack("<3f", *corners[corner])
        text += b"endloop\nendfacet\n"
        packed += b"\0\0"
    seeds = [
        text + b"endsolid t\n",
        packed,
        base64.b64encode(packed),
        b"```stl\n" + text + b"\n```",
    ]
    tokens = (
        b"vertex 1 2 3\n",
        b"facet ",
        b"endfacet\n",
        b"endloop\n",
        b"solid",
        b"nan",
        b"inf",
        b"1e38",
        b"1e-45",
        b"-0",
        b"1_0",
        b"\xd9\xa3",
        b"```\n",
        b"data:;base64,",
        bytes(50),
    )
    return Target(run, seeds, tokens, 6000)


# This comes last because it needs the functions above.
_TARGETS: Mapping[str, Callable[[], Target]] = {
    "line": line_target,
    "response": response_target,
    "formula": formula_target,
    "stl": stl_target,
    "import": import_target,
    "archive": archive_target,
    "document": document_target,
    "manifest": manifest_target,
}
