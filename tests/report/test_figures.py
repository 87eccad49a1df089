"""Drawings take fewer bytes and look the same."""

import re

import pytest

from scbench.report.compact_svg import compact_svg
from scbench.report.draw.svg import Drawing


def covered(path: str) -> set[tuple[int, int, int, int]]:
    """The tenths of pixels at which the rectangles of a path begin and end."""
    rectangles = set()
    x = y = 0.0
    pattern = r"([Mm])(-?[\d.]+) (-?[\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z"
    for kind, *numbers in re.findall(pattern, path):
        dx, dy, width, height = map(float, numbers)
        # "M" is absolute, "m" is relative to the corner before.
        if kind == "M":
            x = y = 0.0
        x, y = x + dx, y + dy
        ends = (x, y, x + width, y + height)
        rectangles.add(tuple(round(10 * end) for end in ends))
    return rectangles


def test_tiles_in_a_row_become_one():
    drawing = Drawing((0, 0, 30, 30), size=100)
    rows = [(x, y) for y in range(3) for x in range(10)]
    single = [(20, 20), (22, 20)]
    drawing.tiles(rows + single, "answer")
    text = drawing.render("x")
    short = compact_svg(text)
    assert len(short) < len(text) / 3
    boxes = covered(re.search(r' d="([^"]*)"', short)[1])
    assert len(boxes) == 3 + 2
    side = drawing.scale * 10  # of a cell, in tenths of pixels
    for left, top, right, bottom in boxes:
        assert bottom - top == pytest.approx(side, abs=1)
        is_row = right - left > 2 * side
        assert right - left == pytest.approx(10 * side if is_row else side, abs=1)
    whole = covered(re.search(r' d="([^"]*)"', text)[1])
    first, last = min(left for left, *_ in whole), max(box[2] for box in whole)
    assert min(left for left, *_ in boxes) == pytest.approx(first, abs=1)
    assert max(box[2] for box in boxes) == pytest.approx(last, abs=1)


def test_coordinates_are_rounded_and_words_are_not():
    drawing = Drawing((0, 0, 1, 1), size=333)
    words = 'a d="M1.2345" x="0.98765" title'
    drawing.line([(0.123, 0.456), (0.789, 0.012)], "answer", tip=words)
    drawing.text((0.3333, 0.6666), "0.123456")
    drawing.dot((0.111, 0.222), "wrong", radius=2.55)
    text = compact_svg(drawing.render(words))
    assert "0.123456" in text
    assert text.count("M1.2345") == 2
    assert text.count("0.98765") == 2
    for value in re.findall(r' (?:points|x|y|cx|cy|r)="([^"]*)"', text):
        assert not re.search(r"\.\d\d", value), value
