"""Running the installed commands as a user does."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from scbench.cli.main import app

BIN = Path(sys.executable).parent


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """A function that runs an installed command in an empty folder, as text."""

    def run(name: str, *args: object, stdin: bytes = b"", **extra: object):
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

    def run(*args: object, stdin: bytes = b"") -> SimpleNamespace:
        done = CliRunner().invoke(app, list(map(str, args)), input=stdin, prog_name="scbench")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return SimpleNamespace(
            returncode=done.exit_code,
            stdout=done.stdout,
            stderr=done.stderr,
        )

    return run
