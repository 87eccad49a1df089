"""The spending of submissions, and the chart of score against it, for any reports."""

import json
import xml.etree.ElementTree as ET

import pytest

from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.chart import Point, amount_chart, main_amount
from scbench.leaderboard.collect import mean_amounts
from scbench.leaderboard.page import spending_chart
from scbench.report.charts import draw


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
    assert mean_amounts(frame) == {
        "output_tokens": 200.0,
        "cost": 0.5,
        "output_tokens_reported": 2,
        "cost_reported": 1,
    }
    none = mean_amounts(make_results({"score": 1.0}))
    assert none["output_tokens"] is none["cost"] is None


@pytest.mark.parametrize(
    "xs", [[1.0], [0.01, 0.01], [5e-324, 1e308], [0.1 * 1.5**i for i in range(60)]]
)
def test_any_amounts_make_a_chart_within_its_frame(xs):
    dots = [Point(f"<b>{i}</b>&", x, 0.5, 0.4, 0.6) for i, x in enumerate(xs)]
    spec = amount_chart(dots, "cost")
    values = spec["data"]["values"]
    low, high = spec["encoding"]["x"]["scale"]["domain"]
    assert len(values) == len(xs)
    assert all(low < value["amount"] < high for value in values)
    assert high / low < 1e6, "an extreme amount does not stretch the scale"
    labels = [value["left"] or value["right"] for value in values]
    assert labels[0]
    assert (len(xs) < 3) or not all(labels), "labels that would overlap are left out"
    text = draw(spec, "svg").decode()
    assert "<b>" not in text
    root = ET.fromstring(text)  # noqa: S314  (ours)
    ticks = [node.text for node in root.iter() if (node.text or "").startswith("$")]
    assert 1 <= len(ticks) <= 20, ticks


def test_label_is_on_the_side_of_a_dot_with_more_room():
    dots = [Point("cheap", 1.0, 0.5, 0.4, 0.6), Point("costly", 100.0, 0.5, 0.4, 0.6)]
    cheap, costly = amount_chart(dots, "cost")["data"]["values"]
    assert (cheap["left"], cheap["right"]) == ("", "cheap")
    assert (costly["left"], costly["right"]) == ("costly", "")


def test_chart_uses_the_amount_that_most_models_report():
    tokens = {"spent": {"output_tokens": 5.0, "cost": None}}
    cost = {"spent": {"output_tokens": None, "cost": 1.0}}
    assert main_amount([tokens, tokens, cost]) == "output_tokens"
    assert main_amount([tokens, cost]) == "output_tokens"
    assert main_amount([tokens, cost, cost]) == "cost"


def test_single_model_has_no_spending_chart():
    def row(name):
        score = {"normalized": 0.5, "normalized_low": 0.4, "normalized_high": 0.6}
        used = {"output_tokens": 5.0, "cost": None}
        names = {"model": name, "version": "1", "submission": name}
        return names | {"spent": used, "buckets": {OVERALL: score}}

    one, two = row("a"), row("b")
    assert spending_chart({"no_tools": [one]}, "output_tokens") is None
    assert spending_chart({"no_tools": [one, two]}, "output_tokens") is not None
    assert spending_chart({"no_tools": [one], "tools": [two]}, "output_tokens")
