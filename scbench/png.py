"""The frame of PNG files with indexed colours (PNG specification, third edition)."""

import struct
import zlib
from collections.abc import Sequence

SIGNATURE = b"\x89PNG\r\n\x1a\n"
"""How a PNG file begins."""
_INDEXED = 3


def indexed_file(
    size: tuple[int, int], depth: int, palette: Sequence[Sequence[int]], data: bytes
) -> bytes:
    """Return a PNG file around image data.

    Args:
        size: width and height in pixels.
        depth: bits to a pixel: 1, 2, 4 or 8.
        palette: colours as red, green, blue, 0 to 255 each; with a fourth number, how opaque.
        data: a zlib stream of the rows, each after a byte that names its filter.
    """
    header = struct.pack(">IIBBBBB", *size, depth, _INDEXED, 0, 0, 0)
    opaque = bytes(colour[3] for colour in palette if len(colour) == 4)
    chunks = [
        chunk(b"IHDR", header),
        chunk(b"PLTE", b"".join(bytes(colour[:3]) for colour in palette)),
        *([chunk(b"tRNS", opaque)] if opaque else []),
        chunk(b"IDAT", data),
        chunk(b"IEND", b""),
    ]
    return SIGNATURE + b"".join(chunks)


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return one chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
