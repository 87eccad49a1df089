"""Grading opens no socket for any form of release."""

import json
import shutil
from functools import partial

import pytest
from commands import run

from scbench.freezing.example import example_predictions
from scbench.release.load import find_release

# Loaded by every Python process that is started with its folder on the path, workers included.
BLOCK = """
import socket
_init = socket.socket.__init__
def refuse(self, family=-1, *args, **options):
    _init(self, family, *args, **options)
    if self.family in (socket.AF_INET, socket.AF_INET6):
        self.close()
        raise AssertionError("a socket was opened")
def look_up(*args, **options):
    raise AssertionError("a name was looked up")
socket.socket.__init__ = refuse
socket.getaddrinfo = socket.gethostbyname = look_up
"""


@pytest.fixture
def run_offline(tmp_path):
    """A function that runs a command in which no process can open a socket."""
    (tmp_path / "block").mkdir()
    (tmp_path / "block" / "sitecustomize.py").write_text(BLOCK)

    return partial(run, cwd=tmp_path, PYTHONPATH=tmp_path / "block", HOME=tmp_path)


def test_grading_opens_no_socket(run_offline, sound, tmp_path):
    shutil.make_archive(f"{tmp_path}/release", "zip", sound)
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text(
        "\n".join(example_predictions(find_release(str(sound)))), "utf-8"
    )
    done = run_offline(
        "scbench-grade",
        predictions,
        "--release",
        f"{tmp_path}/release.zip",
        "--out",
        tmp_path / "out",
        "--workers",
        2,
        "--partial",
        "--tasks",
        "enumerate_edges,shikaku_rectangles",
        "--format",
        "json",
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["tasks"]
    assert [row["scored"] for row in rows if row["model"] == "oracle"] == [8, 6]
    assert all(row["mean"] == 1 for row in rows if row["model"] == "oracle")
    assert not any(row["grader_error"] for row in rows)
