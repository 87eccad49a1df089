"""Errors and messages on a terminal, for all commands.

Messages go to standard error, results to standard output, so that output pipes.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import util
from pathlib import Path
from typing import NoReturn

import typer

from scbench.base.errors import MachineError, ScbenchError, printable, refused

# Exit codes.
PROBLEMS = 1
USAGE = 2
GRADER_ERRORS = 3
FAILED = 4
# A run ended early, because its calls all failed in the same way.
EXHAUSTED = 5
# As shells say it of a command that Ctrl-C ended: 128 plus the number of SIGINT.
INTERRUPTED = 130

# Libraries that only some commands need, by the extra that brings them.
NEEDS = {
    "build": ("yaml", "jinja2", "pyarrow", "PIL", "highspy", "vl_convert"),
    "leaderboard": ("yaml", "jinja2", "confusable_homoglyphs"),
    "report": ("jinja2", "plotly", "vl_convert", "PIL", "trimesh"),
    "cluster": ("dask", "distributed"),
    "hub": ("huggingface_hub", "fsspec"),
    "inspect": ("inspect_ai",),
    "mlflow": ("mlflow",),
    "wandb": ("wandb",),
}


def say(message: str) -> None:
    """Print a message to standard error."""
    print(plain(message), file=sys.stderr)  # noqa: T201


def plain(text: str) -> str:
    """Return lines that are safe to print on a terminal, whatever they quote."""
    return "\n".join(map(printable, text.split("\n")))


def counted(count: int, word: str) -> str:
    """Return a count with its noun, such as "1 line" or "2 lines"."""
    plural = "" if count == 1 else "s"
    return f"{count:,} {word}{plural}"


def as_json(value: object) -> str:
    """Return a value as indented JSON."""
    return json.dumps(value, indent=1, ensure_ascii=False)


def names_in(text: str | None) -> list[str] | None:
    """Return the names in an option that takes several with commas; None if it was not given."""
    if not text:
        return None
    return [name.strip() for name in text.split(",")]


def is_whole_number(text: str) -> bool:
    """Return whether a text consists of the digits 0 to 9; those of other scripts do not count."""
    return text.isascii() and text.isdecimal()


def hush() -> None:
    """Discard all further output, because its reader has closed the pipe."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def misused(message: str) -> NoReturn:
    """Print the error in a command line, and exit with code 2."""
    say(f"error: {message}")
    raise typer.Exit(USAGE)


@contextmanager
def reported_errors(
    needed: str | None = None, *, required: bool = False, instead: str | None = None
) -> Iterator[None]:
    """Turn errors that a user can mend into one line and an exit code; Ctrl-C into 130.

    Args:
        needed: extra to name if a library is missing that several bring.
        required: whether all libraries of that extra must be there before anything is done.
        instead: the option that works without them, for the message.

    Raises:
        typer.Exit: in place of these errors.
    """
    try:
        if needed and required:
            require(*NEEDS[needed])
        yield
    except MachineError as error:
        say(f"error: {error}")
        raise typer.Exit(FAILED) from None
    except ScbenchError as error:
        say(f"error: {error}")
        raise typer.Exit(USAGE) from None
    except KeyboardInterrupt:
        say("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # Not an error: `scbench tables RESULTS | head` closes the pipe once it has read enough.
        hush()
        raise typer.Exit(0) from None
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        extras = [extra for extra, libraries in NEEDS.items() if library in libraries]
        # A module of no extra is missing by our own mistake, and needs its traceback.
        if not extras:
            raise
        extra = needed if needed in extras else extras[0]
        way_out = f", or {instead}" if instead else ""
        misused(
            f"{error.name} is not installed; this needs `pip install 'scbench[{extra}]'`{way_out}"
        )
    except (OSError, MemoryError) as error:
        machine_refusal = refused(error)
        say(f"error: {machine_refusal or error}")
        raise typer.Exit(FAILED if machine_refusal else USAGE) from None


def need(extra: str, instead: str) -> None:
    """Refuse to begin long work that would fail because an extra is missing.

    Args:
        extra: name of the extra.
        instead: the option that works without it.

    Raises:
        typer.Exit: one of its libraries is not installed.
    """
    with reported_errors(extra, required=True, instead=instead):
        pass


def require(*modules: str) -> None:
    """Check that libraries are there before work begins that needs them at its end.

    Raises:
        ModuleNotFoundError: one is not; see `reported_errors`.
    """
    for name in modules:
        if util.find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def checked_chart_path(path: Path | None) -> Path | None:
    """Return the file of ``--plot``, after a check that charts can be drawn."""
    if path is not None:
        with reported_errors("report"):
            require("vl_convert")
    return path
