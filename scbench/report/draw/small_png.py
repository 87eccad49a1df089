"""PNG files made smaller: drawings have few colours, and a palette takes a fifth of the bytes."""

import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from scbench.png import SIGNATURE, chunk, indexed_file

_COLOURS = 128
_STEP = 8
"""Colours are rounded to multiples of this before they are counted."""
_TRUECOLOUR, _WITH_ALPHA = 2, 6

Array = npt.NDArray[Any]


def with_palette(data: bytes) -> bytes:
    """Return an opaque PNG file with at most 128 colours; what is no such file comes back as it is.

    Args:
        data: a PNG file of eight bits to a channel, each row unfiltered or filtered by "Sub", as
            the drawing library writes them.
    """
    pixels = _pixels(data)
    if pixels is None:
        return data
    return few_colours(pixels)


def few_colours(pixels: Array) -> bytes:
    """Return a PNG file with at most 128 colours, which are near those given.

    Args:
        pixels: red, green, blue, and perhaps opacity, whole numbers from 0 to 255, shape
            (height, width, 3 or 4).
    """
    height, width, channels = pixels.shape
    shifts = 8 * np.arange(channels)[::-1]
    coarse = pixels.astype(np.int64)
    coarse[..., :3] = np.minimum((coarse[..., :3] + _STEP // 2) // _STEP * _STEP, 255)
    code = np.sum(coarse << shifts, axis=2)
    found, place, count = np.unique(code.ravel(), return_inverse=True, return_counts=True)
    kept = np.sort(np.argsort(-count, kind="stable")[:_COLOURS])
    colours = (found[:, None] >> shifts) & 255
    # That an edge ends where it does matters more than its hue.
    weight = np.array([1, 1, 1, 2])[:channels]
    apart = np.sum(((colours[:, None] - colours[None, kept]) * weight) ** 2, axis=2)
    index = np.argmin(apart, axis=1)[place].reshape(height, width).astype(np.uint8)
    rows = np.concatenate([np.zeros((height, 1), dtype=np.uint8), index], axis=1)
    packed = zlib.compress(rows.tobytes(), 9)
    return indexed_file((width, height), 8, colours[kept].tolist(), packed)


def _pixels(data: bytes) -> Array | None:
    """Return red, green and blue of a PNG file, shape (height, width, 3); None if it cannot."""
    parts = chunks(data)
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    if depth != 8 or interlaced or kind not in {_TRUECOLOUR, _WITH_ALPHA}:
        return None
    channels = 3 if kind == _TRUECOLOUR else 4
    raw = np.frombuffer(zlib.decompress(parts[b"IDAT"]), dtype=np.uint8)
    rows = raw.reshape(height, 1 + width * channels)
    filters = rows[:, 0]
    if filters.max(initial=0) > 1:
        return None
    pixels = rows[:, 1:].reshape(height, width, channels)
    summed = np.cumsum(pixels, axis=1, dtype=np.uint8)
    whole = np.where(filters[:, None, None] == 1, summed, pixels)
    if channels == 4 and whole[..., 3].min(initial=255) < 255:
        return None
    return whole[..., :3].astype(np.int64)


def chunks(data: bytes) -> dict[bytes, bytes]:
    """Return the chunks of a PNG file by kind, those of one kind joined.

    Raises:
        ValueError: it is no PNG file.
    """
    if not data.startswith(SIGNATURE):
        raise ValueError("this is no PNG file")
    found: dict[bytes, bytes] = {}
    place = 8
    while place + 12 <= len(data):
        size = int.from_bytes(data[place : place + 4])
        kind = data[place + 4 : place + 8]
        found[kind] = found.get(kind, b"") + data[place + 8 : place + 8 + size]
        place += 12 + size
    return found


def squeezed(data: bytes) -> bytes:
    """Return the same picture in fewer bytes: images of prompts are stored uncompressed.

    What is no PNG file comes back as it is.
    """
    try:
        parts = chunks(data)
        parts[b"IDAT"] = zlib.compress(zlib.decompress(parts[b"IDAT"]), 9)
    except (ValueError, KeyError, zlib.error):
        return data
    small = SIGNATURE + b"".join(chunk(kind, part) for kind, part in parts.items())
    return min(small, data, key=len)


def same_picture(one: bytes, other: bytes) -> bool:
    """Whether two PNG files hold the same picture, however well each was compressed."""
    if one == other:
        return True
    try:
        first, second = chunks(one), chunks(other)
        for parts in (first, second):
            parts[b"IDAT"] = zlib.decompress(parts[b"IDAT"])
    except (ValueError, KeyError, zlib.error):
        return False
    return first == second
