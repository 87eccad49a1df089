"""PNG files of few colours, the same bytes everywhere: no library packs them."""

import struct
import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_INDEXED = 3
_STORED_MAX = 0xFFFF
_MAX_COLOURS = 16
_NO_FILTER, _UP = 0, 2
_FEWEST, _MOST = 3, 258
"""How many bytes a repetition can stand for."""
_LENGTHS = (*range(3, 11), *range(11, 19, 2), *range(19, 35, 4), *range(35, 67, 8))
_LENGTHS = (*_LENGTHS, *range(67, 131, 16), *range(131, 258, 32), 258)
# Lengths at which the codes of repetitions begin (RFC 1951, 3.2.5), and bits that
# follow each.
_EXTRA_BITS = (*[0] * 8, *[1] * 4, *[2] * 4, *[3] * 4, *[4] * 4, *[5] * 4, 0)
Colour = tuple[int, int, int]
Bytes = NDArray[np.uint8]


def indexed_png(
    pixels: ArrayLike, palette: Sequence[Colour], *, packed: bool = False
) -> bytes:
    """Return a PNG file of rows of positions in a palette of up to 16 colours (0 to 255 each).

    Packed, it is the smaller the more rows equal those above them; else it is stored as it is.

    Raises:
        ValueError: there is no pixel, rows differ in length, or a pixel is not in the palette.
    """
    try:
        values = np.asarray(pixels, dtype=np.int64)
    except (ValueError, OverflowError):
        values = np.zeros((0, 0), dtype=np.int64)
    if values.ndim != 2 or not values.size:
        raise ValueError("the picture needs rows of one length, of at least one pixel")
    if not 1 <= len(palette) <= _MAX_COLOURS:
        raise ValueError(
            f"the palette has {len(palette)} colours, not 1 to {_MAX_COLOURS}"
        )
    if values.min() < 0 or values.max() >= len(palette):
        raise ValueError(f"a pixel is not one of the {len(palette)} colours")
    height, width = values.shape
    depth = next(depth for depth in (1, 2, 4) if len(palette) <= 1 << depth)
    rows = _packed_bits(values.astype(np.uint8), depth)
    # The byte before each row names its filter.
    if packed:
        above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
        raw = np.pad(rows - above, ((0, 0), (1, 0)), constant_values=_UP).tobytes()
    else:
        raw = np.pad(rows, ((0, 0), (1, 0)), constant_values=_NO_FILTER).tobytes()
    stream = _repetitions(raw) if packed else _stored_blocks(raw)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, depth, _INDEXED, 0, 0, 0)),
        (b"PLTE", b"".join(map(bytes, palette))),
        (b"IDAT", b"\x78\x01" + stream + struct.pack(">I", zlib.adler32(raw))),
        (b"IEND", b""),
    )
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def magnified(cells: ArrayLike, factor: int) -> NDArray[Any]:
    """Return a picture in which every cell is a square of ``factor`` x ``factor`` pixels."""
    return np.asarray(cells).repeat(factor, axis=0).repeat(factor, axis=1)


def _packed_bits(rows: Bytes, depth: int) -> Bytes:
    """Return rows with ``depth`` bits to a pixel, the leftmost in the highest bits."""
    bits = np.unpackbits(rows[:, :, None], axis=2)[:, :, 8 - depth :]
    return np.packbits(bits.reshape(len(rows), -1), axis=1)


def _stored_blocks(raw: bytes) -> bytes:
    blocks = []
    for start in range(0, len(raw), _STORED_MAX):
        block = raw[start : start + _STORED_MAX]
        last = start + _STORED_MAX >= len(raw)
        blocks.append(
            struct.pack("<BHH", last, len(block), len(block) ^ _STORED_MAX) + block
        )
    return b"".join(blocks)


def _repetitions(raw: bytes) -> bytes:
    """Return one block of fixed codes, in which a byte that repeats is written once."""
    values = np.frombuffer(raw, dtype=np.uint8)
    starts = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(raw)]
    codes = ["110"]  # the last block, of fixed codes
    for start, end in pairwise(starts):
        literal, left = _LITERALS[raw[start]], end - start - 1
        codes.append(literal)
        while left >= _FEWEST:
            length = min(left, _MOST)
            codes.append(_REPEATS[length])
            left -= length
        codes.append(literal * left)
    codes.append("0000000")
    bits = np.frombuffer("".join(codes).encode(), dtype=np.uint8) - ord("0")
    return np.packbits(bits, bitorder="little").tobytes()


def _literal(value: int) -> str:
    return (
        f"{0b00110000 + value:08b}"
        if value < 144
        else f"{0b110010000 + value - 144:09b}"
    )


def _repeat(length: int) -> str:
    """Return the bits that repeat the byte before: a length, and the distance of one byte."""
    at = max(i for i, low in enumerate(_LENGTHS) if low <= length)
    code = f"{at + 1:07b}" if at + 257 < 280 else f"{0b11000000 + at + 257 - 280:08b}"
    extra = (
        f"{length - _LENGTHS[at]:0{_EXTRA_BITS[at]}b}"[::-1] if _EXTRA_BITS[at] else ""
    )
    return f"{code}{extra}00000"


_LITERALS = [_literal(value) for value in range(256)]
_REPEATS = {length: _repeat(length) for length in range(_FEWEST, _MOST + 1)}
