"""Running the installed commands as a user does."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

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
            timeout=120,
        )
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run
