"""The chart of a ladder, alone and in a report."""

import re
from pathlib import Path

import pytest
from ladders import ladder_results, picture

from scbench.analysis.ladder import climbs_of, ladder_table, rung_table
from scbench.report.charts import ladder_chart
from scbench.report.page import write_report

FEW = ["two_segments", "enumerate_edges", "csg_union"]


@pytest.fixture(scope="module")
def results():
    levels = {"two_segments": -2.0, "enumerate_edges": 12.0, "csg_union": 5.0}
    return ladder_results({"<b>aurora": levels, "boreal": 4.0}, FEW)


def test_levels_beyond_the_ladder_point_out_of_the_chart(results):
    found = climbs_of(results, 60)
    spec = ladder_chart(ladder_table(found), rung_table(found))
    marks = {
        row["line"]: row for row in spec["concat"][0]["layer"][2]["data"]["values"]
    }
    assert (marks["Two Segments"]["kind"], marks["Two Segments"]["level"]) == (
        "below",
        0.5,
    )
    assert (marks["Enumerate Edges"]["kind"], marks["Enumerate Edges"]["level"]) == (
        "above",
        8.5,
    )
    assert (
        marks["CSG Union"]["low"]
        < marks["CSG Union"]["level"]
        < marks["CSG Union"]["high"]
    )


def test_report_on_a_ladder_has_its_levels(results, tmp_path):
    results.write_parquet(tmp_path / "results.parquet")
    write_report([tmp_path], tmp_path / "report.html", items="none")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert ">Levels</h2>" in text
    assert "Levels, &lt;b&gt;aurora no_tools" in text
    assert "below 1" in text
    assert "<b>aurora" not in text


def test_readme_picture_is_up_to_date():
    """If it is not, run ``python tests/fixtures/ladders.py docs/ladder.svg``."""

    def texts_in(svg: str) -> list[str]:
        labels = re.findall(r'aria-label="([^"]*)"', svg)
        return [
            re.sub(r"-?\d+\.\d+", lambda n: f"{float(n[0]):.1f}", label)
            for label in labels
        ]

    stored = (Path(__file__).parents[2] / "docs" / "ladder.svg").read_text("utf-8")
    assert "simulated, stronger" in stored
    assert texts_in(stored) == texts_in(picture().decode())
