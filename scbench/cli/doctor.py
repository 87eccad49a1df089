"""``scbench doctor``: what this machine can grade, what it lacks, and what to do about it."""

import os
import platform
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import typer

from scbench.base import __version__
from scbench.base.errors import CannotGrade, ScbenchError
from scbench.catalog import Task, available_tasks
from scbench.cli.console import NEEDS, PROBLEMS, reported_errors, say
from scbench.cli.options import Commands
from scbench.machine import sandbox
from scbench.machine.physics import (
    VARIABLE,
    environment_folder,
    make_environment,
    use_python,
)
from scbench.machine.processes import check_memory, clean_context, processors
from scbench.release.load import find_release, installed_releases
from scbench.scoring.outcomes import describe_error

app = Commands()
# Those that decide scores, and the two that read and write rows.
_LIBRARIES = ("gmpy2", "jiter", "manifold3d", "numpy", "polars", "pydantic", "shapely")


class _Line(NamedTuple):
    what: str
    text: str
    missing: bool = False


def _trial(what: str, look: Callable[[], str]) -> _Line:
    """Return the line of something that may be missing, with the reason if it is."""
    try:
        return _Line(what, look())
    except (ScbenchError, sandbox.ChildError) as error:
        return _Line(what, str(error), missing=True)
    except Exception as error:  # noqa: BLE001  (whatever a library says when it is imported)
        return _Line(what, describe_error(error), missing=True)


def _memory() -> str:
    check_memory()
    page, total = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
    text = f"{page * total / 2**30:.1f} GiB"
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        text += f", {page * os.sysconf('SC_AVPHYS_PAGES') / 2**30:.1f} unused"
    return f"{text}; each worker may take 4 (--memory)"


def _extras() -> str:
    there = {name: all(map(find_spec, libraries)) for name, libraries in NEEDS.items()}
    absent = [name for name in there if not there[name]]
    text = ", ".join(name for name in there if there[name]) or "none"
    return f"{text}; not installed: {', '.join(absent)}" if absent else text


def _sandbox() -> str:
    walls = "; ".join(sandbox.protections())
    sandbox.allow_code(True)
    try:
        sandbox.check_code_can_run()
    except CannotGrade as error:
        raise CannotGrade(f"{walls}. {error}") from None
    finally:
        sandbox.allow_code(False)
    return walls


def _facts(task: Task) -> str:
    facts = dict(task.machine_facts())
    record = find_release().manifest.tasks.get(task.id)
    text = ", ".join(f"{name} {value}" for name, value in facts.items())
    if record is not None and record.fingerprint:
        agrees = record.fingerprint == facts.get("fingerprint")
        text += (
            ", as the release" if agrees else f"; the release has {record.fingerprint}"
        )
    return text


def _task_lines() -> Iterator[_Line]:
    """Yield a line for each task with facts of its own, and one for all."""
    lines = {}
    for task in available_tasks():
        line = _trial(task.id, partial(_facts, task))
        lines[task.id] = line
        if line.text:
            yield line
    failed = [name for name, line in lines.items() if line.missing]
    text = f"{len(lines) - len(failed)} of {len(lines)} can be graded here"
    yield _Line("tasks", f"{text}; not {', '.join(failed)}" if failed else text)


def _machine_lines() -> Iterator[_Line]:
    """Yield what there is to say, a line each."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    where = f"{platform.system()} {platform.machine()}"
    yield _Line("python", f"{python}, {where}, {sys.executable}")
    yield _trial(
        "scbench", lambda: f"{__version__}, releases {', '.join(installed_releases())}"
    )
    yield _trial(
        "libraries", lambda: ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    )
    yield _Line("extras", _extras())
    yield _Line("processors", str(processors()))
    yield _trial("memory", _memory)
    yield _trial("workers", lambda: f"start by {clean_context().get_start_method()}")
    yield _trial("sandbox", _sandbox)
    yield from _task_lines()


def _tell() -> list[str]:
    """Print the lines and what is missing; return that."""
    missing = []
    for line in _machine_lines():
        print(  # noqa: T201
            f"{line.what:19}{'MISSING  ' if line.missing else ''}{line.text}",
            flush=True,
        )
        if line.missing:
            missing.append(line.what)
    print(f"{'missing':19}{', '.join(missing) or 'nothing'}")  # noqa: T201
    return missing


@app.command()
def doctor(fix: bool = False, terrain_python: Path | None = None) -> None:
    """Say what this machine can grade, and what it lacks.

    Exit code 1: something is missing; the line says what to do about it.
    """
    with reported_errors():
        use_python(terrain_python)
        missing = _tell()
        if fix and not {
            task.id for task in available_tasks() if task.fingerprinted
        }.isdisjoint(missing):
            if os.environ.get(VARIABLE):
                say(f"{VARIABLE} names another Python; unset it first")
                raise typer.Exit(PROBLEMS)
            question = (
                f"Make an environment for PyBullet (400 MB) in {environment_folder()}?"
            )
            if typer.confirm(question, err=True):
                make_environment(say)
                missing = _tell()
        if missing:
            raise typer.Exit(PROBLEMS)
