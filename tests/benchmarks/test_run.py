"""The program that grades files of millions says what a run took: here a small one."""

import runpy
from pathlib import Path

from scbench.release.load import find_release

LOAD = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "load.py"))


def test_memory_and_processor_time_of_a_run_are_seen(tmp_path):
    path = tmp_path / "predictions.jsonl"
    LOAD["write_predictions"](path, 400, find_release())
    wall, used, most = LOAD["grade"](path, tmp_path / "out", 1)
    assert wall > 0
    assert used > 0
    assert 2**25 < most < 1.5 * 2**30
