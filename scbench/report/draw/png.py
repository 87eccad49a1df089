"""Smaller PNG files: with a palette, drawings of few colours need a fifth of the bytes."""

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL.Image import Image

# Maximum number of colours of a picture.
_PALETTE_SIZE = 128
# Colours are rounded to multiples of this before they are counted.
_COLOUR_STEP = 8
# Weights of red, green, blue and opacity in the distance between two colours. Where an edge ends
# matters more than its hue.
_CHANNEL_WEIGHTS = np.array([1, 1, 1, 2])


def with_palette(data: bytes) -> bytes:
    """Return a PNG file with at most 128 colours; files with transparency stay unchanged.

    Raises:
        ValueError: the data is not a PNG file.
    """
    image = read_png(data)
    opacity = np.asarray(image.convert("RGBA"))[..., 3]
    if opacity.min() < 255:
        return data
    return few_colours(np.asarray(image.convert("RGB")))


def few_colours(pixels: npt.NDArray[Any]) -> bytes:
    """Return a PNG file of at most 128 colours near those of pixels (h, w, 3 or 4), 0 to 255."""
    from PIL import Image  # noqa: PLC0415  (an extra)

    height, width, channels = pixels.shape
    coarse = pixels.astype(np.int64)
    nearest_step = (coarse[..., :3] + _COLOUR_STEP // 2) // _COLOUR_STEP * _COLOUR_STEP
    coarse[..., :3] = np.minimum(nearest_step, 255)
    # One number for each colour, so that equal colours can be counted.
    shifts = 8 * np.arange(channels)[::-1]
    pixel_codes = np.sum(coarse << shifts, axis=2)
    codes, code_of_pixel, counts = np.unique(
        pixel_codes.ravel(), return_inverse=True, return_counts=True
    )
    frequent = np.sort(np.argsort(-counts, kind="stable")[:_PALETTE_SIZE])
    colours = (codes[:, None] >> shifts) & 255
    palette = colours[frequent]
    # Rare colours become the nearest colour in the palette.
    offsets = (colours[:, None] - palette[None]) * _CHANNEL_WEIGHTS[:channels]
    nearest = np.argmin(np.sum(offsets**2, axis=2), axis=1)
    indices = nearest[code_of_pixel].reshape(height, width).astype(np.uint8)
    image = Image.fromarray(indices)
    image.putpalette(palette.astype(np.uint8).tobytes(), "RGBA"[:channels])
    return png_bytes(image)


def compress_png(data: bytes) -> bytes:
    """Return the same picture in fewer bytes: images of prompts are stored uncompressed.

    Data that is not a PNG file is returned unchanged.
    """
    try:
        compressed = png_bytes(read_png(data))
    except ValueError:
        return data
    return min(compressed, data, key=len)


def same_picture(first_file: bytes, second_file: bytes) -> bool:
    """Whether two PNG files contain the same pixels, whatever their compression."""
    if first_file == second_file:
        return True
    try:
        first = read_png(first_file).convert("RGBA")
        second = read_png(second_file).convert("RGBA")
    except ValueError:
        return False
    return first.size == second.size and first.tobytes() == second.tobytes()


def read_png(data: bytes) -> "Image":
    """Return the image in a PNG file.

    Raises:
        ValueError: the file is not a PNG file, or it is damaged.
    """
    from PIL import Image  # noqa: PLC0415  (an extra)

    try:
        image = Image.open(io.BytesIO(data), formats=["PNG"])
        # Damage is detected only when the pixels are read.
        image.load()
    except (OSError, SyntaxError) as error:
        raise ValueError(f"this is not a PNG file: {error}") from None
    return image


def png_bytes(image: "Image") -> bytes:
    """Return an image as a PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()
