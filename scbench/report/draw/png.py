"""PNG files made smaller: drawings have few colours, and a palette takes a fifth of the bytes."""

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL.Image import Image

_COLOURS = 128
# Colours are rounded to multiples of this before they are counted.
_STEP = 8


def with_palette(data: bytes) -> bytes:
    """Return a PNG file with at most 128 colours; one that is not opaque comes back unchanged.

    Raises:
        ValueError: it is no PNG file.
    """
    image = _opened(data)
    if np.asarray(image.convert("RGBA"))[..., 3].min() < 255:
        return data
    return few_colours(np.asarray(image.convert("RGB")))


def few_colours(pixels: npt.NDArray[Any]) -> bytes:
    """Return a PNG file of at most 128 colours near those of pixels (h, w, 3 or 4), 0 to 255."""
    from PIL import Image  # noqa: PLC0415  (an extra)

    height, width, channels = pixels.shape
    shifts = 8 * np.arange(channels)[::-1]
    coarse = pixels.astype(np.int64)
    coarse[..., :3] = np.minimum((coarse[..., :3] + _STEP // 2) // _STEP * _STEP, 255)
    code = np.sum(coarse << shifts, axis=2)
    codes, place, count = np.unique(
        code.ravel(), return_inverse=True, return_counts=True
    )
    frequent = np.sort(np.argsort(-count, kind="stable")[:_COLOURS])
    colours = (codes[:, None] >> shifts) & 255
    # That an edge ends where it does matters more than its hue.
    weight = np.array([1, 1, 1, 2])[:channels]
    apart = np.sum(((colours[:, None] - colours[None, frequent]) * weight) ** 2, axis=2)
    index = np.argmin(apart, axis=1)[place].reshape(height, width).astype(np.uint8)
    image = Image.fromarray(index)
    image.putpalette(colours[frequent].astype(np.uint8).tobytes(), "RGBA"[:channels])
    return _png_bytes(image)


def squeezed(data: bytes) -> bytes:
    """Return the same picture in fewer bytes: images of prompts are stored uncompressed.

    Data that is not a PNG file comes back unchanged.
    """
    try:
        return min(_png_bytes(_opened(data)), data, key=len)
    except ValueError:
        return data


def same_picture(first_file: bytes, second_file: bytes) -> bool:
    """Whether two PNG files hold the same pixels, however they were compressed."""
    if first_file == second_file:
        return True
    try:
        first, second = (
            _opened(data).convert("RGBA") for data in (first_file, second_file)
        )
    except ValueError:
        return False
    return first.size == second.size and first.tobytes() == second.tobytes()


def _opened(data: bytes) -> "Image":
    """Return the image in a PNG file; ValueError if it is none, or a damaged one."""
    from PIL import Image  # noqa: PLC0415  (an extra)

    try:
        image = Image.open(io.BytesIO(data), formats=["PNG"])
        image.load()
    except (OSError, SyntaxError) as error:
        raise ValueError(f"this is no PNG file: {error}") from None
    return image


def _png_bytes(image: "Image") -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()
