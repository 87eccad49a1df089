"""Fixtures that run the installed commands like a user."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from scbench.cli import grade, main

BIN = Path(sys.executable).parent


APPS = {"scbench": main.app, "scbench-grade": grade.app}


@pytest.fixture
def command(tmp_path: Path, inside) -> Callable[..., SimpleNamespace]:
    """A function that runs a command in an empty folder and captures its text.

    It runs in this process, which saves the start. With environment variables or ``process``, it
    runs as the installed program.
    """

    def run(
        name: str,
        *args: object,
        stdin: bytes = b"",
        process: bool = False,
        **extra: object,
    ):
        if not (extra or process):
            return inside(*args, stdin=stdin, name=name)
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [BIN / name, *map(str, args)],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env=env | {key: str(value) for key, value in extra.items()},
            check=False,
        )
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


@pytest.fixture
def grade(command, parity_release) -> Callable[..., SimpleNamespace]:
    """A function that grades answers to the parity release."""
    return partial(command, "scbench-grade", "--release", parity_release.root)


@pytest.fixture
def inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., SimpleNamespace]:
    """A quick version of `command`: it runs ``scbench`` in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(
        *args: object, stdin: bytes = b"", name: str = "scbench"
    ) -> SimpleNamespace:
        words = list(map(str, args))
        done = CliRunner().invoke(APPS[name], words, input=stdin, prog_name=name)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return SimpleNamespace(
            returncode=done.exit_code,
            stdout=done.stdout,
            stderr=done.stderr,
        )

    return run


@pytest.fixture
def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A function that calls another with a pseudo-terminal of a given width as output."""

    def run(width: int, prints: Callable[[], object]) -> str:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        parts: list[bytes] = []

        def read() -> None:
            with suppress(OSError):  # the end of a pseudo-terminal is an error
                while part := os.read(master, 4096):
                    parts.append(part)

        reader = threading.Thread(target=read)
        reader.start()
        with (
            os.fdopen(slave, "w", encoding="utf-8") as stream,
            monkeypatch.context() as patch,
        ):
            patch.delenv("COLUMNS", raising=False)
            patch.setenv("NO_COLOR", "1")
            patch.setattr(sys, "stdout", stream)
            patch.setattr(sys, "__stdout__", stream)
            prints()
        reader.join()
        os.close(master)
        return b"".join(parts).decode().replace("\r\n", "\n")

    return run
