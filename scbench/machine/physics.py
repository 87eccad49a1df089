"""PyBullet in a child process, with this Python or another one that has a PyBullet wheel.

The parent and the child exchange only lists of numbers over pipes. If a child crashes,
only the current request is lost. A child has the limits of this process, and it dies
with the thread that started it.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
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
# The wheel of PyBullet does not declare that it needs numpy.
LIBRARIES = ("pybullet>=3.2.6,<4", "numpy>=1.26")

_CHILD = Path(__file__).with_name("physics_child.py")
# Maximum bytes in a child's first line, which describes it.
_LONGEST_GREETING = 10_000
# Seconds within which a child must describe itself; it first loads PyBullet.
_GREETING_SECONDS = 60.0
# Keys of a description without a fault, and maximum characters of each value.
_FACTS = {"pybullet", "system", "machine"}
_LONGEST_FACT = 300
# Free bytes of a disk that counts as full.
_LEAST_FREE = 2**20
# Maximum numbers in a reply.
_MOST_NUMBERS = 2**24
# Starts an interpreter that we do not control; it always dies with its parent.
_STARTER = """
import ctypes, json, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
try:
    os.execv(sys.argv[1], sys.argv[1:])
except OSError as error:
    print(json.dumps({"fault": error.strerror}), flush=True)
"""
# Bytes of each number, and of the length of each list.
_NUMBER_BYTES = 8
# Each thread has separate engines.
_threads = threading.local()


class PhysicsError(RuntimeError):
    """A child ended before it answered."""


def environment_folder() -> Path:
    """Return the folder of the environment that `make_environment` creates."""
    return cache_folder() / "terrain"


def use_python(path: Path | None) -> None:
    """Make this process and its children use the interpreter at a path, if one is given."""
    if path is not None:
        os.environ[VARIABLE] = os.path.abspath(path)  # noqa: PTH100  (a link stays one)


def engine_python() -> str:
    """Return the interpreter that runs the engine.

    It is the one that the user named, otherwise the one made by `make_environment`, otherwise the
    current one.

    Raises:
        CannotGrade: no interpreter has PyBullet.
    """
    named_python = os.environ.get(VARIABLE)
    if named_python:
        return named_python
    made_python = environment_folder() / "bin" / "python"
    # Also false for a folder that this user may not search.
    if os.access(made_python, os.X_OK):
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
        # A child with this Python finds the same libraries; another Python has separate
        # ones.
        is_own = python == sys.executable
        import_paths = sys.path if is_own else []
        arguments = ["-I", str(_CHILD), str(script), json.dumps(import_paths)]
        starter = [] if is_own else [sys.executable, "-I", "-S", "-c", _STARTER]
        try:
            child = subprocess.Popen(  # noqa: S603  (our program, and no shell)
                [*starter, python, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise _unusable(python, error.strerror or str(error)) from None
        self.close = weakref.finalize(self, _close_child, child, os.getpid())
        self._child = child
        try:
            self.facts = _greeting(child)
        except ValueError as error:
            self.close()
            raise _unusable(python, printable(str(error))) from None

    def call(self, numbers: Sequence[float]) -> list[float]:
        """Return the numbers that the script's function ``roll`` returns for these numbers.

        Raises:
            PhysicsError: the child ended first.
        """
        stdin = self._child.stdin
        stdout = self._child.stdout
        if stdin is None or stdout is None:
            raise PhysicsError(
                "the physics engine's process has no input or output pipe"
            )
        size = 0
        reply = b""
        try:
            stdin.write(len(numbers).to_bytes(_NUMBER_BYTES, "little"))
            stdin.write(array("d", numbers).tobytes())
            stdin.flush()
            length = int.from_bytes(stdout.read(_NUMBER_BYTES), "little")
            # Our program never sends a longer reply.
            size = _NUMBER_BYTES * min(length, _MOST_NUMBERS)
            reply = stdout.read(size) if length <= _MOST_NUMBERS else b""
        except BrokenPipeError:
            reply = b""
        except BaseException:
            # Part of a reply may still be in the pipe, and the next request would read
            # it.
            self.close()
            raise
        if not reply or len(reply) < size:
            self.close()
            code = self._child.returncode
            raise PhysicsError(f"the physics engine exited with code {code}")
        return array("d", reply).tolist()


def _greeting(child: "subprocess.Popen[bytes]") -> dict[str, str]:
    """Return the facts in the first line of a child.

    Raises:
        ValueError: the line names a fault, is malformed, or does not arrive.
    """
    if child.stdout is None:
        raise ValueError("it has no input or output pipe")
    descriptor = child.stdout.fileno()
    deadline = time.monotonic() + _GREETING_SECONDS
    line = b""
    while not line.endswith(b"\n") and len(line) < _LONGEST_GREETING:
        seconds = deadline - time.monotonic()
        if seconds <= 0 or not select.select([descriptor], [], [], seconds)[0]:
            raise ValueError(f"it did not start within {_GREETING_SECONDS:g} s")
        block = os.read(descriptor, _LONGEST_GREETING)
        if not block:
            break
        line += block
    try:
        facts = json.loads(line)
    except (ValueError, RecursionError):
        facts = None
    if isinstance(facts, dict):
        texts = [text for text in facts.values() if isinstance(text, str)]
        is_short = all(len(text) <= _LONGEST_FACT for text in texts)
        if len(texts) == len(facts) and is_short:
            if facts.get("fault"):
                raise ValueError(facts["fault"])
            if facts.keys() == _FACTS:
                return facts
    raise ValueError("it is not Python 3.9 or later")


def _unusable(python: str, why: str) -> CannotGrade:
    return CannotGrade(
        f"terrain_levelling needs PyBullet, which {python} cannot run ({why}). Run "
        "`scbench doctor --fix` to set up an environment for it"
    )


def _close_child(child: "subprocess.Popen[bytes]", owner: int) -> None:
    """End a child, unless this process is a fork of the one that started it."""
    if owner != os.getpid():
        return
    # The process group contains everything that the child started.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
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
        script: a Python file with a function ``roll``, which turns a list of numbers into another.

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
    # An incomplete environment would be preferred to a Python that has PyBullet, so it gets its
    # name at the end. It works in any place, except for its scripts, which nobody runs.
    unfinished = folder.with_name(f"{folder.name}-unfinished")
    commands = _environment_commands(unfinished)
    # uv reads settings such as an index from the working folder, so it does not run in the user's.
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MachineError(
            f"cannot make {folder.parent}: {error.strerror}; set XDG_CACHE_HOME to a folder that "
            "you can write to"
        ) from None
    try:
        for command in commands:
            say(" ".join(command))
            run_command(command, folder.parent)
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def run_command(command: Sequence[str], folder: Path) -> None:
    """Run an installed program in a folder.

    Raises:
        MachineError: the program cannot be started, or fails.
    """
    name = Path(command[0]).name
    try:
        finished = subprocess.run(  # noqa: S603  (no shell)
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            cwd=folder,
        )
    except OSError as error:
        raise MachineError(f"{name} cannot be started: {error.strerror}") from None
    if finished.returncode:
        output = finished.stderr.strip() or finished.stdout.strip()
        reason = " ".join(output.splitlines()[-1:])
        # The last line of a program that could not write often says something else.
        if shutil.disk_usage(folder).free < _LEAST_FREE:
            reason = "the disk is full"
        raise MachineError(f"{name} failed: {reason}")


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
        f"neither uv nor python{PYTHON} is on PATH; install one of them, or set "
        f"{VARIABLE} to a Python that has PyBullet"
    )
