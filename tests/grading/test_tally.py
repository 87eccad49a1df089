"""The tally: reading results in portions gives the same tables as reading all rows."""

import json

import pytest

from scbench.freezing.example import example_predictions
from scbench.grading.options import Options
from scbench.grading.run import grade_file
from scbench.grading.score_tables import outside_release, score_table
from scbench.grading.summary import tally
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.release.load import find_release


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A run with partial scores, samples, gaps, rows outside the release, and grader failures."""
    folder = tmp_path_factory.mktemp("tally")
    release = find_release()
    tasks = ("polynomial_curve_fitting", "two_segments", "pack_rectangular_prisms")
    rows = [json.loads(line) for line in example_predictions(release)]
    rows = [row for row in rows if row["id"].partition("/")[0] in tasks]
    lines = [json.dumps({**row, "sample": i}) for i in range(2) for row in rows[i:]]
    lines += ['{"id": "parity/03", "model": "m"}'] * 3
    (folder / "p.jsonl").write_text("\n".join(lines))
    limits = WorkerLimits(2, None, 0)
    return grade_file(
        Options(
            str(folder / "p.jsonl"),
            release,
            folder / "out",
            limits,
            tasks,
            partial=True,
        )
    )


@pytest.mark.parametrize("portion", [13, 10_000])
def test_portions_change_nothing(report, monkeypatch, portion):
    monkeypatch.setattr("scbench.grading.summary._ROWS", portion)
    weights = find_release().weights()
    result = tally(report.path, weights)
    rows = report.results
    for by in ("bucket", "task"):
        assert result.tables[by].equals(score_table(rows, by, weights)), (
            "to the last bit"
        )
    assert result.rows == rows.height
    assert result.unscored == rows["score"].null_count() > 0
    assert result.outside == outside_release(rows).to_dicts()
    assert result.tasks == set(rows["task"])
