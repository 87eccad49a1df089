"""Small PNG files whose bytes depend on nothing but the picture.

Images are part of an instance's content hash, and compressed bytes change with the library that
compresses them. So the pixels are stored, not compressed: indexed colour, no row filter, deflate
blocks of type "stored" (PNG specification, third edition; RFC 1950 and 1951).
"""

import struct
import zlib
from collections.abc import Sequence

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_INDEXED = 3
_STORED_MAX = 0xFFFF
_MAX_COLOURS = 16
Colour = tuple[int, int, int]


def indexed_png(pixels: Sequence[Sequence[int]], palette: Sequence[Colour]) -> bytes:
    """Return a PNG file.

    Args:
        pixels: rows from the top, each of the same length: positions in the palette.
        palette: up to 16 colours as red, green, blue, 0 to 255 each.

    Raises:
        ValueError: there is no pixel, rows differ in length, or a pixel is not in the palette.
    """
    height, width = len(pixels), len(pixels[0]) if pixels else 0
    if width == 0 or any(len(row) != width for row in pixels):
        raise ValueError("the picture needs rows of one length, of at least one pixel")
    if not 1 <= len(palette) <= _MAX_COLOURS:
        raise ValueError(f"the palette has {len(palette)} colours, not 1 to {_MAX_COLOURS}")
    if any(not 0 <= value < len(palette) for row in pixels for value in row):
        raise ValueError(f"a pixel is not one of the {len(palette)} colours")
    depth = next(depth for depth in (1, 2, 4) if len(palette) <= 1 << depth)
    # The byte before each row names its filter: none.
    raw = b"".join(b"\x00" + _packed(row, depth) for row in pixels)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, depth, _INDEXED, 0, 0, 0)),
        (b"PLTE", b"".join(map(bytes, palette))),
        (b"IDAT", _stored_stream(raw)),
        (b"IEND", b""),
    )
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def magnified(cells: Sequence[Sequence[int]], factor: int) -> list[list[int]]:
    """Return a picture in which every cell is a square of ``factor`` x ``factor`` pixels."""
    stretched = [[value for value in row for _ in range(factor)] for row in cells]
    return [row for row in stretched for _ in range(factor)]


def _packed(row: Sequence[int], depth: int) -> bytes:
    """Return a row with ``depth`` bits to a pixel, the leftmost in the highest bits."""
    per_byte = 8 // depth
    padded = [*row, *[0] * (-len(row) % per_byte)]
    packed = bytearray()
    for start in range(0, len(padded), per_byte):
        byte = 0
        for value in padded[start : start + per_byte]:
            byte = byte << depth | value
        packed.append(byte)
    return bytes(packed)


def _stored_stream(raw: bytes) -> bytes:
    blocks = []
    for start in range(0, len(raw), _STORED_MAX):
        block = raw[start : start + _STORED_MAX]
        last = start + _STORED_MAX >= len(raw)
        blocks.append(struct.pack("<BHH", last, len(block), len(block) ^ _STORED_MAX) + block)
    return b"\x78\x01" + b"".join(blocks) + struct.pack(">I", zlib.adler32(raw))
