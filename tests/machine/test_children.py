"""A file that crashes its reader costs one sentence, whichever command reads it."""

import os
import signal
import sys
from pathlib import Path
from unittest import mock

import polars as pl
import pytest
from bounds import until
from commands import python, run

from scbench.analysis.failure_modes.label_files import read_labels
from scbench.analysis.results import read_results
from scbench.base.errors import ReleaseError, ResultsError
from scbench.machine import children
from scbench.machine.children import check_parquet, lines_of_child


@pytest.fixture(params=[424, 426], ids=["aborts", "panics"])
def broken(request, tmp_path) -> Path:
    """A Parquet file with one wrong bit, which makes polars 2.1.0 abort or panic."""
    path = tmp_path / "file.parquet"
    pl.DataFrame({"id": ["two_segments/07"], "response": ["{}"]}).write_parquet(path)
    data = bytearray(path.read_bytes())
    data[request.param // 8] ^= 1 << request.param % 8
    path.write_bytes(data)
    return path


def test_broken_file_is_refused_and_the_next_one_read(broken, tmp_path):
    sound = tmp_path / "sound.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(sound)
    for _ in range(2):
        with pytest.raises(ReleaseError, match=r"^it cannot be read as Parquet: "):
            check_parquet(broken.read_bytes(), "it", ReleaseError)
        check_parquet(sound, "it", ReleaseError)


@pytest.mark.parametrize(
    "read", [lambda path: read_results([path]), lambda path: read_labels([path])]
)
def test_broken_results_and_labels_end_no_command(broken, tmp_path, read):
    with pytest.raises(ResultsError, match="cannot be read as Parquet"):
        read(broken)


def test_child_with_unread_output_is_ended():
    lines = lines_of_child("while True: print(1, flush=True)", None)
    assert next(lines) == b"1\n"
    lines.close()


def test_ctrl_c_does_not_reach_a_child(tmp_path):
    sound = tmp_path / "sound.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(sound)
    check_parquet(sound, "it", ResultsError)
    child = children._parquet_child(os.getpid())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(child.pid, number)
    check_parquet(sound, "it", ResultsError)
    assert children._parquet_child(os.getpid()) is child


def test_abandoned_reply_is_not_used_for_the_next_file(broken, tmp_path, monkeypatch):
    sound = tmp_path / "sound.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(sound)
    child = children._parquet_child(os.getpid())

    def interrupted() -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(child.stdout, "readline", interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        check_parquet(broken, "it", ResultsError)
    check_parquet(sound, "it", ResultsError)
    assert child.returncode is not None


def test_fork_has_a_separate_child(tmp_path):
    sound = tmp_path / "sound.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(sound)
    check_parquet(sound, "it", ResultsError)
    here = children._parquet_child(os.getpid())
    fork = mock.Mock(wraps=os, getpid=lambda: -1)
    with mock.patch.object(children, "os", fork):
        check_parquet(sound, "it", ResultsError)
        there = children._parquet_child(-1)
    assert there is not here
    children._stop(there)


def test_a_fork_leaves_the_child_of_its_parent_alone(tmp_path):
    sound = tmp_path / "sound.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(sound)
    program = """
import os, sys
from pathlib import Path
from scbench.base.errors import ResultsError
from scbench.machine.children import _parquet_child, check_parquet
path = Path(sys.argv[1])
check_parquet(path, "it", ResultsError)
child = _parquet_child(os.getpid())
if not os.fork():
    sys.exit()
os.wait()
print(child.poll())
"""
    assert python(program, sound) == "None\n"


def test_a_child_ends_soon_after_its_parent_is_killed():
    program = """
import os
from scbench.machine.children import lines_of_child
forever = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
for line in lines_of_child(forever, None):
    print(int(line), flush=True)
    os.kill(os.getpid(), 9)
"""
    done = run(sys.executable, "-c", program)
    child = Path("/proc", done.stdout.strip())
    assert done.returncode == -signal.SIGKILL
    until(lambda: not child.exists() or "Z (zombie)" in (child / "status").read_text())
