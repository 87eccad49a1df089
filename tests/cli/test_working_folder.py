"""No command imports a Python file from the folder in which it is started."""

import json
import shutil
import sys
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
from commands import BIN, run
from loopback import Loopback

from scbench.freezing.example import example_predictions
from scbench.release.load import find_release

IDS = ("two_segments/07", "half_subdivision_neighbours/00", "csg_union/00")

POISON = """
import posix
log = posix.open({log!r}, posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND, 0o600)
posix.write(log, b"{name}\\n")
posix.close(log)
raise ImportError("a file of the working folder was imported")
"""

TRAIN = """
import scbench
ids = ["two_segments/07", "csg_union/00"]
print(scbench.scores(ids, ["{}", "{}"], workers=2))
"""

GRADE = ("scbench-grade", "predictions.jsonl", "--partial", "--workers", "2")


def poisoned_names() -> set[str]:
    """Names of modules in the standard library, in every installed package, and of plugins."""
    names = {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize"}
    return {name for name in names if name.isidentifier()}


@pytest.fixture(scope="module")
def poison_folder(tmp_path_factory):
    """A folder with a harmful module for every name, and predictions to grade."""
    folder = tmp_path_factory.mktemp("archive")
    log = folder / "imported.log"
    for name in poisoned_names():
        (folder / f"{name}.py").write_text(POISON.format(log=str(log), name=name))
    lines = example_predictions(find_release())
    examples = "\n".join(line for line in lines if json.loads(line)["id"] in IDS)
    (folder / "predictions.jsonl").write_text(examples)
    return folder


@pytest.fixture
def imported(poison_folder):
    """Return the names imported from the folder since the test began."""
    log = poison_folder / "imported.log"
    log.unlink(missing_ok=True)
    return lambda: log.read_text().split() if log.exists() else []


@pytest.mark.parametrize(
    "command",
    [
        (*GRADE, "--out", "results", "--restart"),
        (*GRADE, "--out", "reported", "--restart", "--report"),
        ("scbench", "doctor"),
        ("scbench", "generate", "arithmetic", "--count", "2", "--seed", "1"),
        ("scbench", "show", "two_segments/07", "--text"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_command_imports_nothing_from_there(poison_folder, imported, command):
    done = run(BIN / command[0], *command[1:], cwd=poison_folder)
    assert imported() == []
    assert done.returncode == 0, done.stderr[-2000:]


def test_release_is_verified_without_them(poison_folder, imported, sound):
    options = ("verify", sound, "--from-scratch", "--workers", "2", "--quiet")
    run(BIN / "scbench", "release", *options, cwd=poison_folder, code=0)
    assert imported() == []


def test_ladder_is_drawn_without_them(poison_folder, imported):
    options = ("ladder,arithmetic", "--out", "ladder", "--count", "2")
    run(BIN / "scbench", "generate", *options, cwd=poison_folder, code=0)
    assert imported() == []


def test_gallery_is_drawn_without_them(poison_folder, imported):
    run(BIN / "scbench", "gallery", "pictures", cwd=poison_folder, code=0)
    assert imported() == []


@pytest.mark.skipif(not find_spec("inspect_ai"), reason="extra [inspect]")
@pytest.mark.skipif(shutil.which("git") is None, reason="Git is not installed")
def test_run_executes_nothing_that_a_repository_here_names(tmp_path):
    """Inspect asks Git for the state of the working folder, except in tests."""
    run("git", "init", "--quiet", cwd=tmp_path, code=0)
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    commit = ("commit", "--quiet", "--allow-empty", "--message=a")
    run("git", *author, *commit, cwd=tmp_path, code=0)
    ran = tmp_path / "ran"
    with (tmp_path / ".git" / "config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = "touch {ran}; false"\n')
    run("git", "status", cwd=tmp_path)
    assert ran.exists()
    ran.unlink()
    with Loopback(lambda _: "{}") as served:
        run(
            BIN / "scbench",
            *("run", "openai-api/local/x", "--base-url", served.url),
            *("--tasks", "two_segments", "--limit", "1"),
            cwd=tmp_path,
            code=0,
            LOCAL_API_KEY="k",
            PYTEST_CURRENT_TEST="",
        )
    assert not ran.exists()


def test_spawned_workers_import_nothing_from_there(poison_folder, imported, tmp_path):
    # A socket's address has no room for this folder, so there is no fork server.
    temporary = tmp_path / ("x" * 100)
    temporary.mkdir()
    command = (*GRADE[1:], "--out", "spawned", "--restart")
    run(BIN / GRADE[0], *command, cwd=poison_folder, code=0, TMPDIR=temporary)
    assert imported() == []


def test_training_script_elsewhere_imports_nothing_from_there(
    poison_folder, imported, tmp_path
):
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    done = run(sys.executable, script, cwd=poison_folder, code=0)
    assert done.stdout == "[0.0, 0.0]\n"
    assert imported() == []


def test_harbor_verifier_imports_nothing_from_there(poison_folder, imported, tmp_path):
    prompts = ("prompts", "--format", "harbor", "--tasks", "two_segments")
    run(BIN / "scbench", *prompts, "--out", tmp_path / "tasks", cwd=tmp_path, code=0)
    task = next(Path(tmp_path, "tasks").iterdir())
    (poison_folder / "answer.json").write_text("{}")
    run(
        "sh",
        task / "tests" / "test.sh",
        cwd=poison_folder,
        code=0,
        SCBENCH_TESTS=task / "tests",
        SCBENCH_ANSWER="answer.json",
        SCBENCH_LOGS=tmp_path / "logs",
        PYTHONPATH=poison_folder,
    )
    assert json.loads((tmp_path / "logs" / "reward.json").read_text())["reward"] == 0
    assert imported() == []
