"""``scbench doctor``: twelve lines, missing parts, and an environment made after a question."""

import sys

import pytest
from typer.testing import CliRunner

from scbench.base.errors import CannotGrade
from scbench.cli import doctor, main
from scbench.machine import physics
from scbench.machine.physics import VARIABLE


def run(*words, answer=None):
    done = CliRunner().invoke(main.app, ["doctor", *map(str, words)], input=answer)
    return done, {line[:19].strip(): line[19:] for line in done.stdout.splitlines()}


@pytest.fixture
def without_engine(monkeypatch, tmp_path):
    """A machine without PyBullet, as under Python 3.12 and later."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(physics, "has_pybullet", lambda: False)
    physics._threads.__dict__.clear()


def test_complete_machine_is_reported_in_twelve_lines(monkeypatch):
    monkeypatch.setattr(doctor, "sandbox_text", lambda: "walls")  # CI may have none
    done, lines = run()
    ours = [line for line in done.stdout.splitlines() if not line.startswith("parity")]
    assert len(ours) == 12
    assert lines["python"].endswith(sys.executable)
    assert ", fingerprint " in lines["interlocking_parts"]
    if "MISSING" in lines["terrain_levelling"]:
        pytest.skip("needs PyBullet")
    assert (done.exit_code, lines["missing"]) == (0, "nothing")
    assert lines["terrain_levelling"].endswith("; matches the release")


def test_missing_parts_are_named_with_a_remedy_and_exit_code(
    without_engine,
):
    done, lines = run()
    assert done.exit_code == 1
    assert lines["terrain_levelling"].startswith(
        "MISSING  terrain_levelling needs PyBullet"
    )
    assert "`scbench doctor --fix`" in lines["terrain_levelling"]
    assert "terrain_levelling" in lines["missing"]
    assert lines["tasks"].endswith("not gradable: terrain_levelling")
    assert "MISSING" not in lines["interlocking_parts"]


def test_environment_is_made_only_after_yes(without_engine, monkeypatch):
    calls = []
    facts = doctor.facts_text
    monkeypatch.setattr(
        doctor, "facts_text", lambda task: facts(task) if task.fingerprinted else ""
    )
    monkeypatch.setattr(doctor, "make_environment", calls.append)
    for answer, made in (("n\n", 0), ("", 0), ("y\n", 1)):
        done, _ = run("--fix", answer=answer)
        assert str(physics.environment_folder()) in done.stderr
        assert (done.exit_code, len(calls)) == (1, made)
        assert done.stdout.count("python   ") == 1 + made
    monkeypatch.setenv(VARIABLE, "/nowhere")
    done, _ = run("--fix", answer="y\n")
    assert "unset it first" in done.stderr
    assert len(calls) == 1


def test_nonexistent_python_is_refused(monkeypatch):
    for command in (["doctor"], ["grade", "x.jsonl"]):
        done = CliRunner().invoke(main.app, [*command, "--terrain-python", "/nowhere"])
        assert done.exit_code == 2
        assert "does not exist" in done.stderr


def test_tasks_missing_for_the_same_reason_share_a_line(monkeypatch):
    def without_release(task):
        reason = f"{task.id} is broken" if task.id == "maze_3d" else "no release"
        raise CannotGrade(reason)

    monkeypatch.setattr(doctor, "facts_text", without_release)
    done, lines = run()
    count = len(doctor.available_tasks())
    assert done.stdout.count("no release") == 1
    assert (
        f"no release (and {count - 2} other tasks for the same reason)" in done.stdout
    )
    assert lines["maze_3d"] == "MISSING  maze_3d is broken"
    assert {task.id for task in doctor.available_tasks()} <= {
        *lines["missing"].split(", ")
    }
