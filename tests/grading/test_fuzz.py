"""The targets of tools/fuzz.py pass for a few inputs, and their guard catches forbidden actions.

The tool itself runs millions of inputs; these tests check that it finds faults.
"""

import importlib
import os
import random
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"

RUNS = {"line": 400, "response": 400, "formula": 300, "stl": 200, "import": 20}
SLOW = {
    "answer:lego_hemispherical_shell",
    "answer:csg_union",
    "answer:tetrahedra_shadow_projection",
    "answer:hide_and_seek",
    "answer:interlocking_parts",
    "answer:hyper_snake",
    "answer:fluid_simulation",
    "answer:terrain_levelling",
}

ACTS = {
    "writes": lambda data: Path("fuzz").write_bytes(data),
    "opens": lambda _: os.open("fuzz", os.O_RDWR | os.O_CREAT),
    "appends": lambda _: Path("fuzz").open("a").close(),
    "makes": lambda _: Path("fuzz").mkdir(),
    "removes": lambda _: Path("no such file").unlink(),
    "connects": lambda _: socket.create_connection(("127.0.0.1", 9), 0.1),
    "starts": lambda _: subprocess.run(["true"], check=False),
    "shells": lambda _: os.posix_spawn("/bin/true", ["true"], {}),
    "forks": lambda _: os.fork(),
}  # fmt: skip

DYING = """
import signal, sys
sys.path.insert(0, sys.argv[1])
import fuzz, fuzz_inputs, fuzz_targets

def die(data):
    if data.startswith(b"!"):
        signal.raise_signal(signal.SIGTERM)

fuzz_targets.make = lambda _: fuzz_inputs.Target(die, [b"?"], [b"!"])
sys.argv[1:] = ["line", "--runs", "2000", "--plain", "--save", sys.argv[2]]
sys.exit(fuzz.main())
"""


@pytest.fixture(scope="module")
def tools():
    """The modules of the fuzzer, which import each other like programs in one folder."""
    sys.path.insert(0, str(TOOLS))
    try:
        names = ("fuzz", "fuzz_guard", "fuzz_inputs", "fuzz_targets")
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(TOOLS))


def test_targets_pass_for_a_few_inputs(tools, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # A module that is imported on first use would write its bytecode.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    guard, inputs, targets = (
        tools[f"fuzz_{name}"] for name in ("guard", "inputs", "targets")
    )
    for name in targets.names():
        target = targets.make(name)
        scratch = tempfile.gettempdir() if target.scratch else None
        guard.install(min(target.children, 2), scratch)
        for seed in target.seeds[
            :4
        ]:  # imports and files opened only once are not actions of the input
            target.run(seed)
        rng = random.Random(f"smoke {name}")
        for _ in range(RUNS.get(name, 8 if name in SLOW else 60)):
            seed = rng.choice(target.seeds)
            data = inputs.mutated_bytes(rng, seed, target.tokens, target.max_bytes)
            assert tools["fuzz"].attempt(target.run, data, seconds=60) is None, (
                name,
                data,
            )


def spin(_):
    while True:
        pass


@pytest.mark.parametrize("name", ACTS)
def test_forbidden_actions_of_a_target_are_stopped(tools, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tools["fuzz_guard"].install()
    result = tools["fuzz"].attempt(ACTS[name], b"x")
    assert result.place.startswith("ForbiddenError"), result
    assert not list(tmp_path.iterdir())
    (tmp_path / "afterwards").write_text("all is allowed again")


def test_faults_and_hangs_have_distinct_findings(tools):
    attempt = tools["fuzz"].attempt
    assert attempt(len, b"x") is None
    fault = attempt(lambda data: data[7], b"x")
    assert fault.place.startswith("IndexError in test_fuzz.py:")
    assert fault.data == b"x"
    assert attempt(spin, b"x", seconds=0.2).place.startswith("HangError")


def test_dead_process_is_a_finding_with_its_input(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", DYING, TOOLS, tmp_path / "found"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 1, done.stderr
    assert "killed by SIGTERM" in done.stdout
    (saved,) = (tmp_path / "found").iterdir()
    assert saved.read_bytes().startswith(b"!")
