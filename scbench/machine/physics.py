"""The physics engine: PyBullet in a child of this Python, or of another one that it has wheels for.

A child is spoken to by pipes, with lists of numbers and nothing else. One that crashes costs what
it was at. It has the limits of this process, and dies with the thread that started it.
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
# What is installed beside it; the wheel of PyBullet does not say that it needs numpy.
LIBRARIES = ("pybullet>=3.2.6,<4", "numpy>=1.26")

_CHILD = Path(__file__).with_name("physics_child.py")
# Bytes of the line that a child begins with.
_LONGEST = 10_000
_threads = threading.local()


class PhysicsError(RuntimeError):
    """A child ended before it answered."""


def environment_folder() -> Path:
    """Return where `make_environment` puts an environment, which is then used by itself."""
    return cache_folder() / "terrain"


def use_python(path: Path | None) -> None:
    """Let this process and those that it starts use an interpreter, if one is named."""
    if path is not None:
        os.environ[VARIABLE] = os.path.abspath(path)  # noqa: PTH100  (a link stays one)


def engine_python() -> str:
    """Return the interpreter to run the engine: the one named, the one made for it, or this one.

    Raises:
        CannotGrade: there is none.
    """
    if os.environ.get(VARIABLE):
        return os.environ[VARIABLE]
    made = environment_folder() / "bin" / "python"
    if made.exists():
        return str(made)
    if _is_here():
        return sys.executable
    raise CannotGrade(
        "simulating blasts needs PyBullet, which this Python does not have: `scbench doctor --fix` "
        f"makes an environment for it, or --terrain-python or {VARIABLE} names a Python "
        f"{PYTHON} in which `pip install pybullet numpy` was run"
    )


@cache
def _is_here() -> bool:
    return find_spec("pybullet") is not None


class Engine:
    """A child with PyBullet, and its ``facts``: the version, the system and the machine."""

    def __init__(self, python: str, script: Path) -> None:
        # What this Python finds, its child does, too; another one has libraries of its own.
        paths = sys.path if python == sys.executable else []
        command = [python, "-I", str(_CHILD), str(script), json.dumps(paths)]
        pipe = subprocess.PIPE
        try:
            child = subprocess.Popen(  # noqa: S603  (our program, and no shell)
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise _unusable(python, error.strerror or str(error)) from None
        self.close = weakref.finalize(self, _close_child, child, os.getpid())
        self._child = child
        line = child.stdout.readline(_LONGEST) if child.stdout else b""
        try:
            self.facts: dict[str, str] = json.loads(line)
            fault = self.facts.get("fault")
        except (ValueError, AttributeError):
            fault = "it is no Python 3.9 or later"
        if fault:
            self.close()
            raise _unusable(python, printable(fault))

    def call(self, numbers: Sequence[float]) -> list[float]:
        """Return what the child's ``roll`` gives for these numbers.

        Raises:
            PhysicsError: it ended, and says with what.
        """
        stdin, stdout = self._child.stdin, self._child.stdout
        if stdin is None or stdout is None:
            raise PhysicsError("the physics engine has no pipes")
        try:
            stdin.write(
                len(numbers).to_bytes(8, "little") + array("d", numbers).tobytes()
            )
            stdin.flush()
            size = 8 * int.from_bytes(stdout.read(8), "little")
            data = stdout.read(size)
        except BrokenPipeError:
            size, data = 0, b""
        except BaseException:  # half of a reply may be on its way
            self.close()
            raise
        if not data or len(data) < size:
            self.close()
            raise PhysicsError(
                f"the physics engine ended with {self._child.returncode}"
            )
        return array("d", data).tolist()


def _unusable(python: str, why: str) -> CannotGrade:
    return CannotGrade(
        f"simulating blasts needs PyBullet, which {python} does not run: {why}; `scbench doctor "
        "--fix` makes an environment for it"
    )


def _close_child(child: "subprocess.Popen[bytes]", owner: int) -> None:
    """End a child; a process forked from the one that started it leaves it alone."""
    if owner != os.getpid():
        return
    child.kill()
    child.wait()
    for end in (child.stdin, child.stdout):
        with suppress(BrokenPipeError):  # of a request that it did not read
            if end is not None:
                end.close()


def open_engine(script: Path) -> Engine:
    """Return this thread's engine for a file that has a function ``roll``, started if need be.

    Raises:
        CannotGrade: there is no interpreter with PyBullet.
    """
    engines: dict[tuple[object, ...], Engine] = _threads.__dict__.setdefault(
        "engines", {}
    )
    key = (script, os.environ.get(VARIABLE), os.getpid())
    engine = engines.get(key)
    if engine is None or not engine.close.alive:
        engine = engines[key] = Engine(engine_python(), script)
    return engine


def make_environment(say: Callable[[str], None]) -> None:
    """Make an environment with PyBullet in `environment_folder`, by uv or else by venv.

    Raises:
        MachineError: there is no Python that it has wheels for, or a step fails.
    """
    folder = environment_folder().absolute()
    python, uv = shutil.which(f"python{PYTHON}"), shutil.which("uv")
    if uv:
        steps = [
            [uv, "venv", "--clear", "--python", PYTHON, str(folder)],
            [
                uv,
                "pip",
                "install",
                "--python",
                str(folder),
                "--only-binary",
                ":all:",
                *LIBRARIES,
            ],
        ]
    elif python:
        # -I: the working folder may hold a venv.py or a pip.py of somebody else.
        steps = [
            [python, "-I", "-m", "venv", "--clear", str(folder)],
            [
                str(folder / "bin" / "python"),
                "-I",
                "-m",
                "pip",
                "install",
                "--only-binary",
                ":all:",
                *LIBRARIES,
            ],
        ]
    else:
        raise MachineError(
            f"neither uv nor python{PYTHON} is on the path: install one of them, or name a Python "
            f"that has PyBullet by {VARIABLE}"
        )
    # The steps run there: uv reads its settings, such as an index, from the working folder.
    folder.parent.mkdir(parents=True, exist_ok=True)
    for step in steps:
        say(" ".join(step))
        done = subprocess.run(  # noqa: S603  (programs of the machine, and no shell)
            step, capture_output=True, text=True, check=False, cwd=folder.parent
        )
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise MachineError(f"{Path(step[0]).name} failed: {' '.join(last)}")
