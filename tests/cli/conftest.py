"""Running the installed commands as a user does."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from scbench.cli import grade, main

BIN = Path(sys.executable).parent


APPS = {"scbench": main.app, "scbench-grade": grade.app}


@pytest.fixture
def command(tmp_path: Path, inside) -> Callable[..., SimpleNamespace]:
    """A function that runs a command in an empty folder, as text.

    It runs in this process, but as an installed program of its own where variables of the
    environment are given, or ``process``: a start takes more than all else that most tests do.
    """

    def run(name: str, *args: object, stdin: bytes = b"", process: bool = False, **extra: object):
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
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., SimpleNamespace]:
    """A function that runs ``scbench`` in this process, in an empty folder: the same, but quick."""
    monkeypatch.chdir(tmp_path)

    def run(*args: object, stdin: bytes = b"", name: str = "scbench") -> SimpleNamespace:
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
