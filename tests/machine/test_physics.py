"""Engines in child processes: who starts them, how they end, and messages without one."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scbench.base.canonical import sha256
from scbench.base.errors import CannotGrade, MachineError
from scbench.machine import physics
from scbench.machine.physics import VARIABLE, PhysicsError, engine_python, open_engine

DOUBLES = [0.1, -0.0, 5e-324, 1.7976931348623157e308, 1 / 3, 12.0]

FACTS = '{"pybullet": "3.2.7", "system": "Linux", "machine": "x86_64"}'


@pytest.fixture(autouse=True)
def another_python(monkeypatch, tmp_path):
    """An interpreter that has a library of that name, and nothing else of scbench."""
    site = tmp_path / "site"
    (site / "pybullet-3.2.9.dist-info").mkdir(parents=True)
    (site / "pybullet-3.2.9.dist-info" / "METADATA").write_text(
        "Name: pybullet\nVersion: 3.2.9\n"
    )
    python = tmp_path / "python"
    code = f"import sys, runpy; sys.path.insert(0, {str(site)!r}); del sys.argv[0]"
    code += "; runpy.run_path(sys.argv[0], run_name='__main__')"
    python.write_text(f'#!/bin/sh\nshift\nexec {sys.executable} -I -c "{code}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(python))


@pytest.fixture
def engine(tmp_path):
    """A function that opens an engine whose ``roll`` has this body."""

    def opened(body: str = "return numbers[::-1]", head: str = "import os, time, sys"):
        text = f"{head}\nprint('noise')\ndef roll(numbers):\n    {body}\n"
        script = tmp_path / f"{sha256(text)}.py"
        if not script.exists():  # other threads read it
            script.write_text(text)
        return open_engine(script)

    return opened


def ends(pid: int) -> bool:
    """Whether a process ends (it may be a zombie) within a minute."""
    for _ in range(6000):
        try:
            if (
                Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
                == "Z"
            ):
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_doubles_are_transferred_exactly_and_noise_does_not_matter(engine):
    there = engine(
        "print('noise', flush=True); os.write(2, b'noise'); return numbers[::-1]"
    )
    for times in (1, 7, 20_000):
        back = there.call(DOUBLES * times)
        assert [x.hex() for x in back] == [x.hex() for x in (DOUBLES * times)[::-1]]
    assert there.facts["pybullet"] == "3.2.9"
    assert set(there.facts) == {"pybullet", "system", "machine"}


def test_crashed_engine_is_reported_and_replaced(engine):
    for body in ("os.abort()", "raise MemoryError", "os._exit(0)"):
        with pytest.raises(PhysicsError, match="the physics engine exited with code"):
            engine(body).call(DOUBLES * 10_000)
    assert engine().call([1, 2]) == [2, 1]


def test_engine_dies_with_its_killed_process(tmp_path):
    (tmp_path / "engine.py").write_text(
        "import os, time\ndef roll(numbers):\n    if len(numbers) > 1: time.sleep(600)\n"
        "    return [os.getpid()]\n"
    )
    code = (
        "from pathlib import Path; from scbench.machine.physics import open_engine\n"
        f"there = open_engine(Path({str(tmp_path / 'engine.py')!r}))\n"
        "print(int(there.call([1])[0]), flush=True); there.call([1, 2])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE
    ) as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    assert ends(pid)


def test_missing_interpreter_or_library_is_reported(engine, monkeypatch, tmp_path):
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexit 0\n")
    silent.chmod(0o755)
    for python, why in {
        "/nowhere/python": r"/nowhere/python cannot run \(",
        str(tmp_path): "Permission denied",
        str(silent): "it is not Python 3.9 or later",
        "/bin/echo": "it is not Python 3.9 or later",
    }.items():
        monkeypatch.setenv(VARIABLE, python)
        with pytest.raises(CannotGrade, match=why):
            engine()
    monkeypatch.setenv(VARIABLE, sys.executable)
    with pytest.raises(
        CannotGrade, match="ModuleNotFoundError: No module named 'no_such_thing'"
    ):
        engine(head="import no_such_thing")


def test_interpreter_is_the_named_one_or_this_one_or_the_installed_one(
    monkeypatch, tmp_path
):
    assert engine_python() == os.environ[VARIABLE]
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(physics, "has_pybullet", lambda: True)
    assert engine_python() == sys.executable
    monkeypatch.setattr(physics, "has_pybullet", lambda: False)
    with pytest.raises(CannotGrade, match=r"needs PyBullet.*`scbench doctor --fix`"):
        engine_python()
    made = tmp_path / "scbench" / "terrain" / "bin" / "python"
    made.parent.mkdir(parents=True)
    made.symlink_to(sys.executable)
    assert engine_python() == str(made)
    monkeypatch.setattr(physics, "has_pybullet", lambda: True)
    assert engine_python() == str(made)
    monkeypatch.chdir(made.parent)
    physics.use_python(None)
    assert VARIABLE not in os.environ
    physics.use_python(Path("python"))
    assert engine_python() == str(made)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("exec sleep 1000", "did not start within 1 s"),
        ("sleep 1000", "did not start within 1 s"),
        ("printf '{'; exec sleep 1000", "did not start within 1 s"),
        ("exec yes", "not Python 3.9"),
        ("echo '[1, 2]'", "not Python 3.9"),
        ("echo 5", "not Python 3.9"),
        ("echo '{\"pybullet\": 5}'", "not Python 3.9"),
        ("head -c 9000 /dev/zero | tr '\\0' '['; echo", "not Python 3.9"),
        (r"""printf '{"fault":"\\u001b[31mX\\u202e"}\n'""", r"\\x1b\[31mX\\u202e"),
    ],
)
def test_invalid_python_is_refused_and_ended(
    program, why, engine, monkeypatch, tmp_path
):
    # Only silent ones use up the waiting time.
    patience = 1 if "1 s" in why else 600
    monkeypatch.setattr(physics, "_GREETING_SECONDS", patience)
    path = tmp_path / "fake"
    path.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\n{program}\n")
    path.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(path))
    with pytest.raises(CannotGrade, match=why):
        engine()
    assert ends(int((tmp_path / "pid").read_text()))


def test_wrong_reply_of_any_length_is_refused(engine, monkeypatch, tmp_path):
    path = tmp_path / "fake"
    # It replies after the first byte of the call, so its greeting is read alone.
    reply = "head -c 1 > /dev/null\nexec yes"
    path.write_text(f"#!/bin/sh\necho '{FACTS}'\n{reply}\n")
    path.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(path))
    with pytest.raises(PhysicsError):
        engine().call([1.0])


def test_hanging_python_dies_with_its_process(tmp_path):
    path = tmp_path / "fake"
    path.write_text(
        f"#!/bin/sh\necho $$ > {tmp_path}/pid\necho '{FACTS}'\nexec sleep 1000\n"
    )
    path.chmod(0o755)
    code = (
        "from pathlib import Path; from scbench.machine.physics import open_engine\n"
        "there = open_engine(Path('engine.py')); print(1, flush=True); there.call([1])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        env={**os.environ, VARIABLE: str(path)},
    ) as parent:
        assert parent.stdout.readline() == b"1\n"
        parent.kill()
    assert ends(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("home", [None, "closed", "/" + "h" * 300, "a_file", "."])
def test_unreadable_cache_is_not_used(home, monkeypatch, tmp_path):
    """Nor is one in the working folder, because its programs would run."""
    closed = tmp_path / "closed"
    closed.mkdir()
    (tmp_path / "a_file").touch()
    planted = tmp_path / ".cache/scbench/terrain/bin/python"
    planted.parent.mkdir(parents=True)
    planted.symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    if home is not None:
        in_folder = home in {"closed", "a_file"}
        monkeypatch.setenv("HOME", str(tmp_path / home) if in_folder else home)
    monkeypatch.setattr(physics, "has_pybullet", lambda: True)
    closed.chmod(0)
    pid = os.fork()
    if not pid:
        code = 1
        try:
            if os.getuid() == 0:
                os.setuid(54_321)  # a user without an entry in the list of users
            code = engine_python() != sys.executable
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    closed.chmod(0o700)


def test_without_a_home_the_environment_cannot_be_made(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "here")
    with pytest.raises(MachineError, match="set XDG_CACHE_HOME"):
        physics.make_environment(print)


@pytest.mark.parametrize("program", ["uv", "python3.11"])
def test_environment_is_made_with_the_available_tools(program, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}")
    (tmp_path / "bin").mkdir()
    with pytest.raises(MachineError, match=r"neither uv nor python3.11 is on PATH"):
        physics.make_environment(print)
    tool = tmp_path / "bin" / program
    # The first command makes the folder, whose interpreter the second may be.
    tool.write_text(
        f"""#!/bin/sh
echo "$@" >> {tmp_path}/calls
for folder; do :; done
case "$*" in *--clear*) /bin/mkdir -p $folder/bin; /bin/ln -s $0 $folder/bin/python;; esac
"""
    )
    tool.chmod(0o755)
    folder = tmp_path / "cache" / "scbench" / "terrain"
    physics.make_environment(print)
    first, second = (tmp_path / "calls").read_text().splitlines()
    assert first.split()[-1] == f"{folder}-unfinished"
    assert [path.name for path in folder.parent.iterdir()] == ["terrain"]
    assert second.split()[-2:] == [*physics.LIBRARIES]
    assert "--only-binary :all:" in second
    tool.write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    with pytest.raises(MachineError, match=f"{program} failed: no room"):
        physics.make_environment(print)
    # The environment of before is still there.
    assert [path.name for path in folder.parent.iterdir()] == ["terrain"]


def test_interrupted_environment_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = physics.environment_folder()

    def interrupted(command, **_):
        (Path(command[-1]) / "bin").mkdir(parents=True)
        # A killed process removes nothing, but nobody looks for this folder.
        assert not folder.exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(physics.subprocess, "run", interrupted)
    monkeypatch.setattr(physics.shutil, "which", lambda name: f"/bin/{name}")
    with pytest.raises(KeyboardInterrupt):
        physics.make_environment(print)
    assert list(folder.parent.iterdir()) == []


def test_a_program_that_fails_on_a_full_disk_is_explained(monkeypatch, tmp_path):
    usage = physics.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(
        physics.shutil, "disk_usage", lambda _folder: usage._replace(free=4096)
    )
    with pytest.raises(MachineError, match="false failed: the disk is full"):
        physics.run_command(["/bin/false"], tmp_path)


def test_program_that_cannot_be_started_is_named(tmp_path):
    with pytest.raises(MachineError, match="uv cannot be started: No such file"):
        physics.run_command([str(tmp_path / "uv")], tmp_path)
