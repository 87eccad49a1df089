"""Where results go: nothing that a run did not write itself is ever overwritten."""

import pytest

from scbench.base.errors import ResultsError
from scbench.grading.output import check_place, check_report


def test_what_no_run_wrote_is_not_overwritten_whether_or_not_predictions_are_a_file(
    tmp_path,
):
    for name in ("report.html", "results.parquet"):
        (tmp_path / name).write_bytes(b"mine")
    with pytest.raises(ResultsError, match="is not a report by scbench"):
        check_report(tmp_path / "report.html", "-")
    with pytest.raises(ResultsError, match="was not written by scbench-grade"):
        check_place(tmp_path, ["-"], "9.9.9", None, begun=False, restart=True)
