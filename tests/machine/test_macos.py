"""A macOS simulated on Linux, without the parts of Python and C library that it does not have.

So are the paths of the code that ask for the platform tried; nothing here shows that it runs there.
"""

import json
import os
import subprocess
import sys
from functools import partial

import pytest
from commands import run

from scbench.builders.interlocking_parts import TaskBuilder

GONE = """
import ctypes, os, platform, sys, sysconfig
sysconfig.get_config_vars()  # reads a file that is named by the platform
sys.platform = "darwin"
platform.system = lambda: "Darwin"
for name in ("sched_getaffinity", "sched_setaffinity", "unshare", "setns", "setresuid",
             "setresgid", "memfd_create", "pidfd_open"):
    vars(os).pop(name, None)
os.sysconf_names.pop("SC_AVPHYS_PAGES", None)
os.process_cpu_count = os.cpu_count  # the other asks for affinities, from 3.13 on

class Library:
    def __init__(self, *settings, load=ctypes.CDLL, **named):
        self.functions = load(*settings, **named)

    def __getattr__(self, name):
        if name in {"prctl", "unshare", "setns", "capset", "mount", "umount2", "syscall"}:
            raise AttributeError(f"dlsym(RTLD_DEFAULT, {name}): symbol not found")
        return getattr(self.functions, name)

ctypes.CDLL = Library
"""
PLAYED = f"""#!/bin/sh
# The interpreter of children: without options; the missing parts are removed before the file runs.
while [ "${{1#-}}" != "$1" ]; do shift; done
exec {os.path.realpath(sys._base_executable)} -P -s -S -B -c 'import sys, runpy
sys.argv = sys.argv[1:]
exec(open(sys.argv.pop(0)).read())
runpy.run_path(sys.argv[0], run_name="__main__")' FOLDER/gone.py "$@"
"""


@pytest.fixture
def macos(tmp_path):
    """A function that runs an scbench command there, with all its processes and children."""
    (tmp_path / "gone.py").write_text(GONE)
    python = tmp_path / "python"
    python.write_text(PLAYED.replace("FOLDER", str(tmp_path)))
    python.chmod(0o755)
    start = (
        f"exec(open({str(tmp_path / 'gone.py')!r}).read())\n"
        f"sys._base_executable = {str(python)!r}"
    )
    (tmp_path / "sitecustomize.py").write_text(start)

    return partial(run, cwd=tmp_path, PYTHONPATH=tmp_path)


def test_everything_but_programs_is_graded_there(macos, tmp_path):
    reference = (
        TaskBuilder().reference(TaskBuilder().paper()[0].params).model_dump(mode="json")
    )
    assert {part["fileType"] for part in reference["parts"]} == {"OpenSCAD"}
    program = json.loads(json.dumps(reference))
    program["parts"][0]["fileType"] = "Python Generating STL"
    rows = [
        {"id": "interlocking_parts/00", "model": "a", "answer": reference},
        {"id": "interlocking_parts/00", "model": "b", "answer": program},
        {"id": "two_segments/07", "model": "a", "answer": {"segments": []}},
    ]
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = macos(
        "scbench-grade",
        "p.jsonl",
        "--out",
        "out",
        "--partial",
        "--allow-code",
        "--quiet",
        "--workers",
        2,
        "--tasks",
        "interlocking_parts,two_segments",
    )
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert summary["walls"][0] == "rlimits: memory, time, sizes, descriptors", (
        done.stderr
    )
    assert summary["walls"][1].startswith("no seccomp")
    read = (
        "import polars, sys; polars.read_parquet(sys.argv[1]).write_ndjson(sys.argv[2])"
    )
    command = [
        sys.executable,
        "-c",
        read,
        tmp_path / "out/results.parquet",
        tmp_path / "rows",
    ]
    subprocess.run(command, check=True)
    results = [
        json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()
    ]
    of_a = [row for row in results if row["model"] == "a" and row["score"] is not None]
    assert [row["score"] for row in of_a] == [1.0] * 9 + [0.0]
    refused = [
        row for row in results if row["model"] == "b" and row["status"] == "not_run"
    ]
    assert len(refused) == 9
    assert "has no sandbox for it" in refused[0]["reason"]
