"""PNG files: decoded by another library, and the same bytes everywhere."""

import hashlib
import io
import random

from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from scbench.builders.shared.png import indexed_png


def decoded(data):
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        assert image.format == "PNG"
        return image.size, image.convert("RGB").tobytes()


@given(
    width=st.integers(1, 40),
    height=st.integers(1, 12),
    colours=st.integers(1, 16),
    seed=st.integers(0, 10**6),
    packed=st.booleans(),
)
def test_png_is_decoded_by_pillow(width, height, colours, seed, packed):
    rng = random.Random(seed)
    palette = [tuple(rng.randrange(256) for _ in range(3)) for _ in range(colours)]
    pixels = [[rng.randrange(colours) for _ in range(width)] for _ in range(height)]
    size, data = decoded(indexed_png(pixels, palette, packed=packed))
    assert size == (width, height)
    expected = bytearray()
    for row in pixels:
        for value in row:
            expected += bytes(palette[value])
    assert data == expected


def test_pictures_of_several_blocks_are_complete():
    pixels = [[(x * y) % 2 for x in range(1024)] for y in range(1024)]
    size, data = decoded(indexed_png(pixels, [(0, 0, 0), (255, 255, 255)]))
    assert size == (1024, 1024)
    assert data[::3] == bytes(255 * value for row in pixels for value in row)


def test_bytes_are_fixed():
    data = indexed_png([[0, 1, 2], [2, 1, 0]], [(0, 0, 0), (1, 2, 3), (255, 255, 255)])
    assert len(data) == 93
    assert hashlib.sha256(data).hexdigest()[:16] == "3124aab3b5c68a4b"
