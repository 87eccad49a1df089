"""A new task takes five edits: schema, builder, grader, card text, and a table in the catalogue.

A copy of the repository gets such a task, and the contract suite is run on it; then again with
faults planted in the task, each of which exactly one test must see.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import commands
import pytest

from scbench.release.sources import read_manifest

ROOT = Path(__file__).resolve().parents[2]
TASK = "lattice_triangle"
TOY = ROOT / "tests" / "fixtures" / TASK
ENTRY = f"""
[{TASK}]
title = "Lattice Triangle"
bucket = "axiomatic"
scoring = "binary"
origin = "geometry"
"""
IGNORED = ("__pycache__", ".*", "*.egg-info", "test_new_task.py")
COMMANDS = f"""
scbench tasks | grep ^{TASK}
scbench generate {TASK} --count 3 --seed 5 --quiet
scbench release build 9.9.9 --tasks enumerate_edges,{TASK} --no-manifolds --out 9.9.9 --workers 1
scbench release verify 9.9.9 --workers 1
grep "number of points with whole coordinates" 9.9.9/README.md
scbench example --release ./9.9.9 > answers.jsonl
scbench-grade answers.jsonl --release ./9.9.9 --out graded --workers 1 --quiet
scbench tables graded --by task | grep lattice_triangle
scbench report graded --out report.html
grep "Lattice Triangle" report.html
"""


def run(copy: Path, *command: object) -> subprocess.CompletedProcess:
    """Run a command in which Python imports the copy, not the installed package."""
    return commands.run(*command, cwd=copy, PYTHONPATH=copy, PYTHONDONTWRITEBYTECODE=1)


@pytest.fixture(scope="module")
def extended_repository(tmp_path_factory) -> Path:
    """Return a copy of the repository with one more task."""
    copy = tmp_path_factory.mktemp("extended_repository") / "repository"
    ignore = shutil.ignore_patterns(*IGNORED)
    for name in ("scbench", "builders", "graders", "dataset_card", "tests", "tools"):
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", copy)
    (copy / "releases").symlink_to(ROOT / "releases")
    shutil.copytree(TOY, copy, dirs_exist_ok=True)
    with (copy / "scbench" / "tasks.toml").open("a") as catalogue:
        catalogue.write(ENTRY)
    return copy


def contract(copy: Path) -> tuple[int, set[str]]:
    """Run the contract suite for the task; return the number of passed tests and other names."""
    options = ("-q", "-n0", "-p", "no:cacheprovider", "-k", TASK, "--tb=no", "-rfE")
    output = run(
        copy, sys.executable, "-m", "pytest", *options, "tests/contract"
    ).stdout
    passed = re.search(r"(\d+) passed", output)
    assert passed, output
    failed = re.findall(rf"^(?:FAILED|ERROR) .*::(\w+)\[{TASK}\]", output, re.MULTILINE)
    return int(passed[1]), set(failed)


def test_new_task_passes_the_contract(extended_repository):
    passed, rest = contract(extended_repository)
    assert not rest
    assert passed > 20


@pytest.mark.slow
def test_new_task_works_in_all_commands(extended_repository):
    done = run(extended_repository, "bash", "-exo", "pipefail", "-c", COMMANDS)
    assert done.returncode == 0, done.stdout + done.stderr
    overall = read_manifest(extended_repository / "9.9.9").default_tasks
    assert overall == ["enumerate_edges", TASK], (
        "a task of any origin is in the default config"
    )
