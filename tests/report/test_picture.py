"""Gauges: the value reached and the value required."""

import xml.etree.ElementTree as ET

import pytest

from scbench.report.gauges import Gauge, gauge_panels


def bars(panel) -> list[ET.Element]:
    return list(ET.fromstring(panel.view.render("x")).iter("rect"))  # noqa: S314  (our own text)


def test_bars_are_as_long_as_the_share_and_marks_are_at_the_target():
    (panel,) = gauge_panels([Gauge("cells", 30, 60, False), Gauge("jumps", 4, 2, True)])
    text = panel.view.render("x")
    ground, cells, _, jumps = bars(panel)
    whole = float(ground.get("width"))
    assert float(cells.get("width")) == pytest.approx(
        whole * 30 / (60 * 1.15), abs=0.01
    )
    assert float(jumps.get("width")) == pytest.approx(whole / 1.15, abs=0.01)
    assert cells.get("fill").endswith("-wrong)")
    assert jumps.get("class") == "f-right"
    assert "30; at least 60" in panel.alt
    assert "4; at least 2" in text
