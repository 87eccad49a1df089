"""PyBullet in a child process, of this Python or of another one that PyBullet has wheels for.

The parent and the child exchange lists of numbers over pipes, and nothing else. If a child crashes,
only the request that it worked on is lost. A child has the limits of this process, and it dies with
the thread that started it.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import weakref
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from scbench.base.errors import CannotGrade, MachineError, printable
from scbench.machine.files import cache_folder

# Environment variable that names the interpreter.
VARIABLE = "SCBENCH_TERRAIN_PYTHON"
# The Python that PyBullet has wheels for.
PYTHON = "3.11"
# The wheel of PyBullet does not say that it needs numpy.
LIBRARIES = ("pybullet>=3.2.6,<4", "numpy>=1.26")

_CHILD = Path(__file__).with_name("physics_child.py")
# Most bytes of a child's first line, which describes it.
_LONGEST_GREETING = 10_000
# Each number, and the length of each list, takes so many bytes.
_NUMBER_BYTES = 8
# Each thread has its own engines.
_threads = threading.local()


class PhysicsError(RuntimeError):
    """A child ended before it answered."""


def environment_folder() -> Path:
    """Return the folder of the environment that `make_environment` makes."""
    return cache_folder() / "terrain"


def use_python(path: Path | None) -> None:
    """Make this process and those that it starts use an interpreter, if one is named."""
    if path is not None:
        os.environ[VARIABLE] = os.path.abspath(path)  # noqa: PTH100  (a link stays one)


def engine_python() -> str:
    """Return the interpreter that runs the engine.

    The first of these: the one that the user named, the one made by `make_environment`, this one.

    Raises:
        CannotGrade: no interpreter has PyBullet.
    """
    named_python = os.environ.get(VARIABLE)
    if named_python:
        return named_python
    made_python = environment_folder() / "bin" / "python"
    if made_python.exists():
        return str(made_python)
    if has_pybullet():
        return sys.executable
    raise CannotGrade(
        "terrain_levelling needs PyBullet, which this Python does not have. Run "
        "`scbench doctor --fix` to set up an environment for it, or set "
        f"--terrain-python or {VARIABLE} to a Python {PYTHON} with pybullet and numpy"
    )


@cache
def has_pybullet() -> bool:
    """Return whether this Python has PyBullet."""
    return find_spec("pybullet") is not None


class Engine:
    """A child process with PyBullet.

    Attributes:
        facts: the version of PyBullet, the system and the machine, as the child reports them.
        close: ends the child; also called when the engine is garbage collected.

    Raises:
        CannotGrade: the interpreter cannot be started, or does not run PyBullet.
    """

    def __init__(self, python: str, script: Path) -> None:
        # A child of this Python finds the same libraries; another Python has its own.
        import_paths = sys.path if python == sys.executable else []
        arguments = [str(_CHILD), str(script), json.dumps(import_paths)]
        try:
            child = subprocess.Popen(  # noqa: S603  (our program, and no shell)
                [python, "-I", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise _unusable(python, error.strerror or str(error)) from None
        self.close = weakref.finalize(self, _close_child, child, os.getpid())
        self._child = child
        greeting = child.stdout.readline(_LONGEST_GREETING) if child.stdout else b""
        try:
            self.facts: dict[str, str] = json.loads(greeting)
            fault = self.facts.get("fault")
        except (ValueError, AttributeError):
            fault = "it is not Python 3.9 or later"
        if fault:
            self.close()
            raise _unusable(python, printable(fault))

    def call(self, numbers: Sequence[float]) -> list[float]:
        """Return the numbers that the script's function ``roll`` returns for these numbers.

        Raises:
            PhysicsError: the child ended first.
        """
        stdin, stdout = self._child.stdin, self._child.stdout
        if stdin is None or stdout is None:
            raise PhysicsError("the physics engine has no pipes")
        size = 0
        reply = b""
        try:
            stdin.write(len(numbers).to_bytes(_NUMBER_BYTES, "little"))
            stdin.write(array("d", numbers).tobytes())
            stdin.flush()
            length = int.from_bytes(stdout.read(_NUMBER_BYTES), "little")
            size = _NUMBER_BYTES * length
            reply = stdout.read(size)
        except BrokenPipeError:
            reply = b""
        except BaseException:
            # Half of a reply may still be in the pipe, so the next request would read it.
            self.close()
            raise
        if not reply or len(reply) < size:
            self.close()
            code = self._child.returncode
            raise PhysicsError(f"the physics engine exited with code {code}")
        return array("d", reply).tolist()


def _unusable(python: str, why: str) -> CannotGrade:
    return CannotGrade(
        f"terrain_levelling needs PyBullet, which {python} cannot run ({why}). Run "
        "`scbench doctor --fix` to set up an environment for it"
    )


def _close_child(child: "subprocess.Popen[bytes]", owner: int) -> None:
    """End a child, unless this process is a fork of the one that started it."""
    if owner != os.getpid():
        return
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        with suppress(
            BrokenPipeError
        ):  # the child did not read all of the last request
            if pipe is not None:
                pipe.close()


def open_engine(script: Path) -> Engine:
    """Return this thread's engine for a script, and start it if needed.

    Args:
        script: a Python file with a function ``roll`` from a list of numbers to another.

    Raises:
        CannotGrade: no interpreter has PyBullet.
    """
    engines: dict[tuple[object, ...], Engine] = _threads.__dict__.setdefault(
        "engines", {}
    )
    key = (script, os.environ.get(VARIABLE), os.getpid())
    engine = engines.get(key)
    if engine is None or not engine.close.alive:
        engine = Engine(engine_python(), script)
        engines[key] = engine
    return engine


def make_environment(say: Callable[[str], None]) -> None:
    """Make an environment with PyBullet in `environment_folder`, with uv or else with venv.

    Args:
        say: prints each command before it runs.

    Raises:
        MachineError: there is no Python that PyBullet has wheels for, or a command fails.
    """
    folder = environment_folder().absolute()
    commands = _environment_commands(folder)
    # uv reads settings such as an index from the working folder, so it does not run in the user's.
    folder.parent.mkdir(parents=True, exist_ok=True)
    for command in commands:
        say(" ".join(command))
        finished = subprocess.run(  # noqa: S603  (programs of the machine, and no shell)
            command, capture_output=True, text=True, check=False, cwd=folder.parent
        )
        if finished.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            output = finished.stderr.strip() or finished.stdout.strip()
            last_line = " ".join(output.splitlines()[-1:])
            raise MachineError(f"{Path(command[0]).name} failed: {last_line}")


def _environment_commands(folder: Path) -> list[list[str]]:
    python = shutil.which(f"python{PYTHON}")
    uv = shutil.which("uv")
    install = ["install", "--only-binary", ":all:", *LIBRARIES]
    if uv:
        return [
            [uv, "venv", "--clear", "--python", PYTHON, str(folder)],
            [uv, "pip", install[0], "--python", str(folder), *install[1:]],
        ]
    if python:
        # -I: the working folder may contain a file venv.py or pip.py.
        venv_python = str(folder / "bin" / "python")
        return [
            [python, "-I", "-m", "venv", "--clear", str(folder)],
            [venv_python, "-I", "-m", "pip", *install],
        ]
    raise MachineError(
        f"neither uv nor python{PYTHON} is on the path; install one of them, or set "
        f"{VARIABLE} to a Python that has PyBullet"
    )
