"""Panels combined into one picture file."""

import xml.etree.ElementTree as ET

import pytest

from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture
from scbench.report.sheet import sheet_svg

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "<b>&\"'</svg>"


def flat(width: float = 10) -> Drawing:
    drawing = Drawing((0, 0, width, 10), size=200)
    drawing.box((0, 0), (5, 5), "missing", hatched=True)
    return drawing


def placed(
    picture: Picture, **more: object
) -> tuple[ET.Element, list[tuple[float, float]]]:
    root = ET.fromstring(sheet_svg(picture, **more))  # noqa: S314  (our own text)
    nested = [one for one in root.findall(f"{SVG}svg") if one.get("class") == "sb"]
    return root, [(float(one.get("x")), float(one.get("y"))) for one in nested]


@pytest.mark.parametrize("title", ["plain", NASTY])
def test_panels_are_placed_side_by_side_and_wrap(title):
    panels = tuple(Panel(title, flat(), title) for _ in range(4))
    picture = Picture(
        panels, NASTY, (("missing", NASTY), ("wrong", "words"), ("given", "w"))
    )
    root, places = placed(picture, heading=NASTY, most_width=600)
    assert len({y for _, y in places}) == 2, "two rows"
    assert [x for x, _ in places[:2]] == [x for x, _ in places[2:]]
    words = [node.text for node in root.iter(f"{SVG}text")]
    assert words.count(NASTY) >= 3
    width, height = float(root.get("width")), float(root.get("height"))
    for node in root.findall(f"{SVG}text"):
        assert 0 < float(node.get("x")) < width
        assert 0 < float(node.get("y")) < height
    assert max(y for _, y in places) + 200 < height
