"""Towers of digits: overhanging bars, repeated groups, heights."""

import pytest

TASK = "largest_printable_prime"


def tower(*digits):
    return {
        "numberSequence": [
            {"digit": digit, "orientation": turned} for digit, turned in digits
        ],
    }


def flat(number):
    return tower(*((int(digit), "flat") for digit in number))


def ends(shape):
    """The points of a path of straight lines."""
    return [
        tuple(map(float, p.split()))
        for p in shape.get("d")[1:].replace("M", "L").split("L")
    ]


def test_overhanging_bars_are_thick_and_framed(drawn, golden, shapes):
    picture = drawn(TASK, flat("6911"))  # a 9 on a 6: its bar b hangs
    glyphs = picture.panels[0].view
    golden(f"{TASK}-wrong", glyphs, "A bar hangs.")
    (hanging,) = shapes(glyphs, "path", "wrong")
    first, second = ends(hanging)
    assert first[0] == pytest.approx(second[0], abs=0.02)
    assert abs(first[1] - second[1]) == pytest.approx(10 * glyphs.scale, abs=0.02)
    frames = shapes(glyphs, "rect", "wrong")
    assert len(frames) == 1
    x, y = float(frames[0].get("x")), float(frames[0].get("y"))
    assert x < first[0] < x + float(frames[0].get("width"))
    assert y < first[1] < y + float(frames[0].get("height"))
    arrows = shapes(picture.panels[1].view, "polyline", "wrong")
    assert len(arrows) == 1
    assert "1 digit does not fit on the one below, at position 1" in picture.caption
    assert picture.text.split("\n")[:2] == ["6,911", "  ^"]
