"""What submissions spent, and the chart of score against it, whatever they report."""

import json
import xml.etree.ElementTree as ET

import pytest

from scbench.leaderboard.chart import Point, scatter
from scbench.leaderboard.collect import spent


def test_means_are_over_the_answers_that_report(make_results):
    def row(i, used, **more):
        return {"subtask": i, "score": 1.0, "usage": json.dumps(used)} | more

    frame = make_results(
        row(0, {"output_tokens": 100, "cost": 0.5}),
        row(1, {"output_tokens": 300}),
        row(2, {"output_tokens": -5, "cost": 1e999}),
        row(3, {"output_tokens": 900}, status="api_error", score=None),
        row(4, {}, task="interlocking_parts"),
        row(5, {"output_tokens": 200}, task="interlocking_parts"),
    )
    assert spent(frame) == {
        "output_tokens": 200.0,
        "cost": 0.5,
        "output_tokens_reported": 2,
        "cost_reported": 1,
    }
    none = spent(make_results({"score": 1.0}))
    assert none["output_tokens"] is none["cost"] is None


@pytest.mark.parametrize(
    "xs", [[1.0], [0.01, 0.01], [5e-324, 1e308], [0.1 * 1.5**i for i in range(60)]]
)
def test_any_amounts_make_a_chart_within_its_frame(xs):
    dots = [Point(f"<b>{i}</b>&", x, 0.5, 0.4, 0.6) for i, x in enumerate(xs)]
    root = ET.fromstring(scatter(dots, "cost"))  # noqa: S314  (ours)
    circles = [node for node in root.iter() if node.tag.endswith("circle")]
    assert len(circles) == len(xs)
    assert all(0 < float(node.get("cx")) < 720 for node in circles)
    assert "<b>" not in scatter(dots, "cost")
    ticks = [node.text for node in root.iter() if (node.text or "").startswith("$")]
    assert 1 <= len(ticks) <= 9, ticks
