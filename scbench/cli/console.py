"""Errors and messages on a terminal, for all commands.

Messages go to standard error, results to standard output, so that output can be piped.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import util
from io import RawIOBase
from pathlib import Path
from typing import IO, NoReturn, cast

import typer
from typing_extensions import Buffer

from scbench.base.errors import MachineError, ScbenchError, printable, refused

# Exit codes.
PROBLEMS = 1
USAGE = 2
GRADER_ERRORS = 3
FAILED = 4
# A run ended early, because its calls all failed in the same way.
EXHAUSTED = 5
# The first two characters of a command of GitHub Actions, in its present and its former form.
_COMMAND = re.compile(r"^\s*:(?=:)|##(?=\[)", re.MULTILINE)
# The exit code that shells give to Ctrl-C: 128 plus the number of SIGINT.
INTERRUPTED = 130

# Libraries that only some commands, tasks and integrations need, by the extra that installs them.
NEEDS = {
    "build": ("yaml", "jinja2", "pyarrow", "PIL", "highspy", "vl_convert"),
    "leaderboard": ("yaml", "jinja2", "confusable_homoglyphs"),
    "report": ("jinja2", "plotly", "vl_convert", "PIL", "trimesh"),
    "cluster": ("dask", "distributed"),
    "hub": ("huggingface_hub", "fsspec"),
    "inspect": ("inspect_ai",),
    "mlflow": ("mlflow",),
    "play": ("starlette", "uvicorn", "jinja2", "highspy", "vl_convert"),
    "wandb": ("wandb",),
    "lm-eval": ("lm_eval",),
    "verifiers": ("verifiers",),
    "openenv": ("openenv",),
    "terrain": ("pybullet",),
}


def say(message: str) -> None:
    """Print a message to standard error."""
    print(plain(message), file=sys.stderr)  # noqa: T201


def plain(text: str) -> str:
    """Return text that is safe to print on a terminal, whatever it contains."""
    return without_commands("\n".join(map(printable, text.split("\n"))))


def without_commands(text: str) -> str:
    """Return text for people, without lines that GitHub Actions would run as commands.

    The runner reads what a step prints. A name of a model could hide errors, for example.
    """
    if "GITHUB_ACTIONS" not in os.environ:
        return text
    return _COMMAND.sub(lambda match: f"{match[0]} ", text)


def as_json(value: object) -> str:
    """Return a value as indented JSON."""
    return safe_json(json.dumps(value, indent=1, ensure_ascii=False))


def safe_json(text: str) -> str:
    """Return JSON text with control characters escaped: the same values, safe on a terminal."""
    # Such characters are inside strings, where JSON allows escapes.
    return "\n".join(
        line
        if line.isprintable()
        else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
        for line in text.split("\n")
    )


def terminal_csv(text: str) -> str:
    """Return CSV for standard output: unchanged in a pipe or file, safe on a terminal."""
    return plain(text) if sys.stdout.isatty() else text


class PlainBytes(RawIOBase):
    """Prints lines of files on a terminal, with control characters escaped."""

    def writable(self) -> bool:
        """Return whether bytes can be written."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Print whole lines; return the number of their bytes."""
        line = bytes(data)
        sys.stdout.write(plain(line.decode("utf-8", "backslashreplace")))
        return len(line)


def bytes_out() -> IO[bytes]:
    """Return standard output for lines of files: unchanged for a program, safe on a terminal."""
    if sys.stdout.isatty():
        return cast(IO[bytes], PlainBytes())
    return sys.stdout.buffer


def names_in(text: str | None) -> list[str] | None:
    """Return the names in a comma-separated option; None if it was not given."""
    if not text:
        return None
    return [name.strip() for name in text.split(",")]


def is_whole_number(text: str) -> bool:
    """Return whether a text consists of the digits 0 to 9, not of digits of other scripts."""
    return text.isascii() and text.isdecimal()


def discard_output() -> None:
    """Discard all further output, because its reader closed the pipe."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def misused(message: str) -> NoReturn:
    """Print a usage error, and exit with code 2."""
    say(f"error: {message}")
    raise typer.Exit(USAGE)


@contextmanager
def reported_errors(
    needed: str | None = None, *, required: bool = False, instead: str | None = None
) -> Iterator[None]:
    """Print errors that a user can fix as one line, and exit with their code; Ctrl-C gives 130.

    Args:
        needed: extra to name if a missing library belongs to several extras.
        required: whether to check first that all libraries of that extra are installed.
        instead: option that works without them, for the message.

    Raises:
        typer.Exit: instead of these errors.
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
        # A full disk is not a usage error, wherever it was noticed.
        cause = error.__context__
        # A folder in use by another process raises an OSError with such a number, too.
        is_held = isinstance(cause, BlockingIOError)
        is_refusal = isinstance(cause, OSError) and refused(cause) != "" and not is_held
        raise typer.Exit(FAILED if is_refusal else USAGE) from None
    except KeyboardInterrupt:
        say("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # Not an error: `scbench tables RESULTS | head` closes the pipe when it has enough lines.
        discard_output()
        raise typer.Exit(0) from None
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        extras = [extra for extra, libraries in NEEDS.items() if library in libraries]
        # A missing module that belongs to no extra is a bug in scbench; keep its traceback.
        if not extras:
            raise
        extra = needed if needed in extras else extras[0]
        alternative = f", or use {instead}" if instead else ""
        misused(
            f"{error.name} is not installed; run `pip install 'scbench[{extra}]'`{alternative}"
        )
    except (OSError, MemoryError) as error:
        machine_refusal = refused(error)
        say(f"error: {machine_refusal or error}")
        raise typer.Exit(FAILED if machine_refusal else USAGE) from None


def need(extra: str, instead: str) -> None:
    """Exit before long work that would fail because an extra is missing.

    Args:
        extra: name of the extra.
        instead: option that works without it.

    Raises:
        typer.Exit: one of its libraries is not installed.
    """
    with reported_errors(extra, required=True, instead=instead):
        pass


def require(*modules: str) -> None:
    """Check that libraries are installed, before long work that needs them only at its end.

    Raises:
        ModuleNotFoundError: a library is not installed; see `reported_errors`.
    """
    for name in modules:
        if util.find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def checked_chart_path(path: Path | None) -> Path | None:
    """Return the file of ``--plot``, after checking that charts can be drawn."""
    if path is not None:
        with reported_errors("report"):
            require("vl_convert")
    return path
