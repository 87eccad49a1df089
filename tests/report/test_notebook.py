"""The display of results in a notebook."""

import pytest

import scbench


@pytest.fixture
def runs(make_results, tmp_path):
    rows = (
        {"model": model, "subtask": i, "score": i % 2}
        for model in "ab"
        for i in range(4)
    )
    make_results(*rows).write_parquet(tmp_path / "r.parquet")
    return scbench.read_results(str(tmp_path / "r.parquet"))


def test_runs_are_a_line_a_table_and_a_chart(runs, tmp_path):
    assert repr(runs) == "<Runs: 2 runs, 8 rows, release 9.9.9>"
    assert "<td" in runs._repr_html_()
    assert "0.5" in runs._repr_html_()
    chart = runs.plot("task")
    assert chart._repr_svg_().startswith("<svg")
    chart.save(tmp_path / "c.png", dark=True)
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert "shape: (2, 1)" in repr(runs.select("model").unique()), (
        "other frames are polars' own"
    )
