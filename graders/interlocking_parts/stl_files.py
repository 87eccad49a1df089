"""Reading STL files, as text, bytes or base64, into the mesh of a printed part."""

import base64
import binascii
import re
from typing import NamedTuple

import numpy as np

from scbench.graders.interlocking_parts.part_meshes import Shell, weld
from scbench.graders.shared.vectors import Array

# Limits of one part: triangles, and distance from the origin in mm.
MOST_TRIANGLES = 30_000
FARTHEST = 10_000.0
# The byte order mark that some programs write first, to say how their text is encoded.
BYTE_ORDER_MARK = "\ufeff"
# A binary file: a header of 80 bytes, the number of triangles, 50 bytes for each.
_START = 84
_RECORD = 50
# A number in STL text, as C reads it; Python also accepts 1_0 and digits of any script.
_NUMBER = re.compile(
    r"""
    [+-]?
    (?:
        # Digits with or without a point, then perhaps an exponent.
        (?:[0-9]++(?:\.[0-9]*+)? | \.[0-9]++) (?:e[+-]?[0-9]++)?
        | inf(?:inity)?
        | nan
    )
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_VERTEX = re.compile(r"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", re.IGNORECASE)
_VERTEX_WORD = re.compile(r"\bvertex\b", re.IGNORECASE)
_FACET_END = re.compile(r"\bendfacet\b", re.IGNORECASE)
_DATA_URL = re.compile(r"\Adata:[^,]{0,100};base64,", re.IGNORECASE)


class PrintedPart(NamedTuple):
    """A part as it lies on the bed."""

    shell: Shell | None
    """Its mesh, which may bound no solid; None if the part cannot be read."""
    problem: str = ""
    """Why the part cannot be read, to follow the words "part 3:"."""
    too_much: bool = False
    """Whether the part was not read because it is too large or too much work."""
    steps: int = 0
    """Steps that its OpenSCAD source took."""


def read_stl(data: bytes) -> PrintedPart:
    """Return the part in an STL file: text, bytes, or bytes in base64."""
    part = read_plain_stl(data)
    if part is None:
        part = read_plain_stl(decode_base64(data))
    if part is None:
        problem = "it is neither STL text nor a binary STL file in base64"
        return PrintedPart(None, problem)
    return part


def read_plain_stl(data: bytes) -> PrintedPart | None:
    """Return the part in an STL file, text or bytes; None if it is neither."""
    data = data.removeprefix(BYTE_ORDER_MARK.encode())
    # A binary file, too, may begin with "solid".
    if data.lstrip()[:5].lower() == b"solid" and b"vertex" in data.lower():
        return read_text(data.decode("utf-8", "replace"))
    count = int.from_bytes(data[80:_START], "little")
    if len(data) > _START and len(data) == _START + _RECORD * count:
        return read_binary(data, count)
    return None


def decode_base64(data: bytes) -> bytes:
    """Return the bytes encoded in a base64 text, with or without a data URL; b"" if faulty."""
    text = _DATA_URL.sub(
        "", data.removeprefix(BYTE_ORDER_MARK.encode()).decode("latin-1").strip()
    )
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return b""


def read_text(text: str) -> PrintedPart:
    """Return the part in STL text."""
    vertices = _VERTEX.findall(text)
    count = len(_FACET_END.findall(text))
    if count > MOST_TRIANGLES:
        return too_many(count)
    keywords = len(_VERTEX_WORD.findall(text))
    if not len(vertices) == keywords == 3 * count:
        return PrintedPart(
            None, "its facets do not have three vertices of three numbers each"
        )
    coordinates = [text for vertex in vertices for text in vertex]
    if not all(map(_NUMBER.fullmatch, coordinates)):
        return PrintedPart(None, "a coordinate is not a number")
    numbers = np.array([float(text) for text in coordinates], dtype=np.float64)
    return part_of_triangles(numbers.reshape(-1, 3, 3))


def read_binary(data: bytes, count: int) -> PrintedPart:
    """Return the part in a binary STL file with this number of triangles."""
    if count > MOST_TRIANGLES:
        return too_many(count)
    records = np.frombuffer(data, dtype=np.uint8, offset=_START)
    # The normal of a record, its first 12 bytes, is not used.
    floats = np.ascontiguousarray(records.reshape(count, _RECORD)[:, 12:48])
    corners = floats.view("<f4").reshape(count, 3, 3)
    return part_of_triangles(corners.astype(np.float64))


def too_many(count: int) -> PrintedPart:
    """Return a part with too many triangles to be read."""
    problem = f"it has {count:,} triangles; the limit is {MOST_TRIANGLES:,}"
    return PrintedPart(None, problem, too_much=True)


def part_of_triangles(triangles: Array) -> PrintedPart:
    """Build a part from its triangles (m, 3, 3)."""
    if len(triangles) == 0:
        return PrintedPart(None, "it has no triangles")
    if not np.all(np.isfinite(triangles)):
        return PrintedPart(None, "a coordinate is not a finite number")
    if np.max(np.abs(triangles)) > FARTHEST:
        return PrintedPart(None, f"a coordinate is beyond {FARTHEST:,.0f} mm")
    shell = weld(triangles)
    if len(shell.corners) == 0:
        return PrintedPart(None, "all its triangles are degenerate (lines or points)")
    return PrintedPart(shell)
