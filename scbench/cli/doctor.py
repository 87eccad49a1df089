"""``scbench doctor``: the tasks that this machine can grade, missing parts, and fixes."""

import os
import platform
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Annotated, NamedTuple

import typer

from scbench.base import __version__
from scbench.base.errors import CannotGrade, ScbenchError
from scbench.base.wording import counted
from scbench.catalog import Task, available_tasks
from scbench.cli.console import NEEDS, PROBLEMS, plain, reported_errors, say
from scbench.cli.options import TerrainPythonOption
from scbench.machine import sandbox
from scbench.machine.limits import check_memory, processors
from scbench.machine.physics import (
    VARIABLE,
    environment_folder,
    make_environment,
    use_python,
)
from scbench.machine.start_methods import clean_context
from scbench.release.load import find_release, installed_releases
from scbench.scoring.outcomes import describe_error

# Libraries that affect scores, and two that read and write rows: jiter and polars.
LIBRARIES = ("gmpy2", "jiter", "manifold3d", "numpy", "polars", "pydantic", "shapely")
# Width of the names of lines, in characters.
NAME_WIDTH = 19


class Line(NamedTuple):
    """A line of the output."""

    name: str
    text: str
    missing: bool = False
    """Whether it is missing on this machine; if so, the text gives the reason."""
    peers: tuple[str, ...] = ()
    """Names of other lines that are missing for the same reason, and are not printed."""


app = typer.Typer(rich_markup_mode=None)


@app.command()
def doctor(
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help=(
                "Offer to set up what is missing: an environment for the physics engine, made "
                "with uv or venv."
            ),
        ),
    ] = False,
    terrain_python: TerrainPythonOption = None,
) -> None:
    """Show what this machine can grade, and what is missing.

    Exit code 1: something is missing; its line says what to do.
    """
    with reported_errors():
        use_python(terrain_python)
        missing = print_lines()
        # Scores depend on the machine only in tasks that use the physics engine.
        physics_tasks = {task.id for task in available_tasks() if task.fingerprinted}
        if fix and not physics_tasks.isdisjoint(missing):
            if os.environ.get(VARIABLE):
                say(f"{VARIABLE} names another Python interpreter; unset it first")
                raise typer.Exit(PROBLEMS)
            question = f"Set up an environment for PyBullet (400 MB) in {environment_folder()}?"
            if typer.confirm(question, err=True):
                make_environment(say)
                # Print all lines again, because the environment may change several.
                missing = print_lines()
        if missing:
            raise typer.Exit(PROBLEMS)


def print_lines() -> list[str]:
    """Print all lines, and return the names of those that are missing."""
    missing = []
    for line in machine_lines():
        mark = "MISSING  " if line.missing else ""
        # Printed immediately, because some lines take seconds.
        text = f"{mark}{line.text}"
        if line.peers:
            text += (
                f" (and {counted(len(line.peers), 'other task')} for the same reason)"
            )
        print(plain(f"{line.name:{NAME_WIDTH}}{text}"), flush=True)  # noqa: T201
        if line.missing:
            missing += [line.name, *line.peers]
    print(f"{'missing':{NAME_WIDTH}}{', '.join(missing) or 'nothing'}")  # noqa: T201
    return missing


def machine_lines() -> Iterator[Line]:
    """Yield the lines about this machine, this installation and all tasks."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.machine()}"
    yield Line("python", f"{python}, {system}, {sys.executable}")
    yield checked_line("scbench", version_text)
    yield checked_line("libraries", libraries_text)
    yield Line("extras", extras_text())
    yield Line("processors", str(processors()))
    yield checked_line("memory", memory_text)
    yield checked_line("workers", workers_text)
    yield checked_line("sandbox", sandbox_text)
    yield from task_lines()


def checked_line(name: str, text_of: Callable[[], str]) -> Line:
    """Return a line. If producing its text fails, it is marked missing and shows the error."""
    try:
        return Line(name, text_of())
    except (ScbenchError, sandbox.ChildError) as error:
        return Line(name, str(error), missing=True)
    except Exception as error:  # noqa: BLE001  (whatever a library raises when it is imported)
        return Line(name, describe_error(error), missing=True)


def version_text() -> str:
    """Return the version of scbench, and the releases that are installed."""
    return f"{__version__}, releases {', '.join(installed_releases())}"


def libraries_text() -> str:
    """Return the versions of the libraries that affect scores."""
    return ", ".join(f"{name} {version(name)}" for name in LIBRARIES)


def extras_text() -> str:
    """Return the extras that are installed, and those that are not."""
    installed = []
    absent = []
    for extra, libraries in NEEDS.items():
        if all(map(find_spec, libraries)):
            installed.append(extra)
        else:
            absent.append(extra)
    text = ", ".join(installed) or "none"
    return f"{text}; not installed: {', '.join(absent)}" if absent else text


def memory_text() -> str:
    """Return the memory of this machine, and of a worker.

    Raises:
        MachineError: a limit leaves too little memory for grading.
    """
    check_memory()
    page = os.sysconf("SC_PAGE_SIZE")
    text = f"{page * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
    # macOS does not count unused pages.
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        text += f", {page * os.sysconf('SC_AVPHYS_PAGES') / 2**30:.1f} free"
    return f"{text}; limit per worker: 4 GiB (--memory)"


def workers_text() -> str:
    """Return the method by which workers are started."""
    return f"started by {clean_context().get_start_method()}"


def sandbox_text() -> str:
    """Run a program in the sandbox, and return the protections that were active.

    Raises:
        CannotGrade: programs cannot be run.
    """
    protections = "; ".join(sandbox.protections())
    sandbox.allow_code(True)
    try:
        sandbox.check_code_can_run()
    except CannotGrade as error:
        raise CannotGrade(f"{protections}. {error}") from None
    finally:
        sandbox.allow_code(False)
    return protections


def task_lines() -> Iterator[Line]:
    """Yield a line for each task whose scores depend on the machine, and one for all tasks.

    Tasks that are missing for the same reason share the line of the first one.
    """
    count = 0
    failed = []
    # The names of tasks by the reason.
    names_by_reason: dict[str, list[str]] = {}
    for task in available_tasks():
        line = checked_line(task.id, partial(facts_text, task))
        count += 1
        if line.missing:
            failed.append(task.id)
            names_by_reason.setdefault(line.text, []).append(task.id)
        elif line.text:
            yield line
    for reason, (first, *peers) in names_by_reason.items():
        yield Line(first, reason, missing=True, peers=tuple(peers))
    text = f"{count - len(failed)} of {count} can be graded here"
    if failed:
        text += f"; not gradable: {', '.join(failed)}"
    yield Line("tasks", text)


def facts_text(task: Task) -> str:
    """Return the facts of this machine that affect scores of a task; empty if there are none.

    Raises:
        CannotGrade: this machine cannot grade the task.
    """
    facts = task.machine_facts()
    text = ", ".join(f"{name} {value}" for name, value in facts.items())
    record = find_release().manifest.tasks.get(task.id)
    if record is None or not record.fingerprint:
        return text
    if record.fingerprint == facts.get("fingerprint"):
        return f"{text}; matches the release"
    return f"{text}; differs from the release ({record.fingerprint})"
