"""Reproducible PNG files of few colours, written without a compression library.

The format is that of the PNG specification (ISO/IEC 15948); the compressed data follow RFC 1950
and 1951.
"""

import struct
import zlib
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Colour = tuple[int, int, int]
Bytes = NDArray[np.uint8]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Colour type of pictures with a palette.
_INDEXED = 3
_MAX_COLOURS = 16
# Filters of a row: unchanged bytes, or differences from the row above.
_NO_FILTER = 0
_UP = 2
# Two bytes before the compressed data: deflate, and the fastest compression.
_ZLIB_HEADER = b"\x78\x01"
# Maximum bytes of a stored block.
_STORED_MAX = 0xFFFF
# Minimum and maximum bytes in one repetition.
_MIN_REPEAT = 3
_MAX_REPEAT = 258
# Number of extra bits, and the first length of each code with this number (RFC 1951,
# 3.2.5).
_LENGTHS: tuple[tuple[int, Sequence[int]], ...] = (
    (0, range(3, 11)),
    (1, range(11, 19, 2)),
    (2, range(19, 35, 4)),
    (3, range(35, 67, 8)),
    (4, range(67, 131, 16)),
    (5, range(131, 258, 32)),
    (0, (258,)),
)


def indexed_png(
    pixels: ArrayLike, palette: Sequence[Colour], *, packed: bool = False
) -> bytes:
    """Return a PNG file of a picture with up to 16 colours.

    Args:
        pixels: rows of positions in the palette.
        palette: red, green and blue of each colour, 0 to 255.
        packed: whether to compress the data, which works best if rows equal those above them.

    Raises:
        ValueError: there is no pixel, rows differ in length, or a pixel is not in the palette.
    """
    try:
        values = np.asarray(pixels, dtype=np.int64)
    except (ValueError, OverflowError):
        values = np.zeros((0, 0), dtype=np.int64)
    if values.ndim != 2 or not values.size:
        raise ValueError(
            "all rows of the picture must have the same length, at least one pixel"
        )
    if not 1 <= len(palette) <= _MAX_COLOURS:
        raise ValueError(
            f"the palette has {len(palette)} colours, not 1 to {_MAX_COLOURS}"
        )
    if values.min() < 0 or values.max() >= len(palette):
        raise ValueError(f"a pixel is not one of the {len(palette)} colours")

    height, width = values.shape
    depth = 1
    while len(palette) > 1 << depth:
        depth *= 2
    rows = _packed_bits(values.astype(np.uint8), depth)
    if packed:
        raw = _filtered(rows - _rows_above(rows), _UP)
        stream = _repetitions(raw)
    else:
        raw = _filtered(rows, _NO_FILTER)
        stream = _stored_blocks(raw)
    header = struct.pack(">IIBBBBB", width, height, depth, _INDEXED, 0, 0, 0)
    checksum = struct.pack(">I", zlib.adler32(raw))
    return (
        _SIGNATURE
        + _chunk(b"IHDR", header)
        + _chunk(b"PLTE", b"".join(bytes(colour) for colour in palette))
        + _chunk(b"IDAT", _ZLIB_HEADER + stream + checksum)
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    length = struct.pack(">I", len(data))
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return length + kind + data + checksum


def _packed_bits(rows: Bytes, depth: int) -> Bytes:
    """Return rows with ``depth`` bits per pixel, the leftmost in the highest bits."""
    bits = np.unpackbits(rows[:, :, None], axis=2)[:, :, 8 - depth :]
    return np.packbits(bits.reshape(len(rows), -1), axis=1)


def _rows_above(rows: Bytes) -> Bytes:
    """Return the row above each row; above the first are zeros."""
    return np.vstack([np.zeros_like(rows[:1]), rows[:-1]])


def _filtered(rows: Bytes, kind: int) -> bytes:
    """Return the bytes of rows, each preceded by its filter type."""
    return np.pad(rows, ((0, 0), (1, 0)), constant_values=kind).tobytes()


def _stored_blocks(raw: bytes) -> bytes:
    """Return bytes as uncompressed blocks."""
    blocks = []
    for start in range(0, len(raw), _STORED_MAX):
        block = raw[start : start + _STORED_MAX]
        is_last = start + _STORED_MAX >= len(raw)
        # The length is followed by its complement.
        head = struct.pack("<BHH", is_last, len(block), len(block) ^ _STORED_MAX)
        blocks.append(head + block)
    return b"".join(blocks)


def _repetitions(raw: bytes) -> bytes:
    """Return bytes as one block of fixed codes with run-length encoding."""
    values = np.frombuffer(raw, dtype=np.uint8)
    changes = np.flatnonzero(np.diff(values)) + 1
    literals = literal_codes()
    repeats = repeat_codes()
    codes = ["110"]  # the last block, of fixed codes
    for start, end in pairwise([0, *changes.tolist(), len(raw)]):
        literal = literals[raw[start]]
        codes.append(literal)
        remaining = end - start - 1
        while remaining >= _MIN_REPEAT:
            length = min(remaining, _MAX_REPEAT)
            codes.append(repeats[length])
            remaining -= length
        codes.append(literal * remaining)
    codes.append("0000000")  # the end of the block
    bits = np.frombuffer("".join(codes).encode(), dtype=np.uint8) - ord("0")
    return np.packbits(bits, bitorder="little").tobytes()


@cache
def literal_codes() -> list[str]:
    """Return the fixed code of every byte, as a string of bits (RFC 1951, 3.2.6)."""
    short = [f"{0b00110000 + value:08b}" for value in range(144)]
    long = [f"{0b110010000 + value:09b}" for value in range(256 - 144)]
    return short + long


@cache
def repeat_codes() -> dict[int, str]:
    """Return the fixed codes that repeat the previous byte, by length, as strings of bits."""
    codes = {}
    symbol = 257
    for extra_bits, starts in _LENGTHS:
        for start in starts:
            code = f"{symbol - 256:07b}"
            if symbol >= 280:
                code = f"{0b11000000 + symbol - 280:08b}"
            for extra in range(1 << extra_bits):
                # Unlike codes, extra bits start with the lowest.
                low_first = [str(extra >> bit & 1) for bit in range(extra_bits)]
                # The zeros encode a distance of one byte.
                codes[start + extra] = code + "".join(low_first) + "00000"
            symbol += 1
    return codes


def magnified(cells: ArrayLike, factor: int) -> NDArray[Any]:
    """Return a picture in which every cell is a square of ``factor`` x ``factor`` pixels."""
    return np.asarray(cells).repeat(factor, axis=0).repeat(factor, axis=1)
