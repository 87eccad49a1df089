"""What a library prints while it is imported does not reach the user; what comes later does."""

import subprocess
import sys

import pytest

from scbench.machine.quiet import quiet_import

NOISY = """
import os, sys
os.write(2, b"below")
print("above", file=sys.stderr, flush=True)
NAME = "noisy"
"""


def run(folder, code):
    head = "import os\nfrom scbench.machine.quiet import quiet_import"
    return subprocess.run(
        [sys.executable, "-c", f"{head}\n{code}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_nothing_is_printed_while_a_module_is_imported(tmp_path):
    (tmp_path / "noisy.py").write_text(NOISY)
    done = run(tmp_path, "print(quiet_import('noisy').NAME)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "noisy\n", "")


def test_a_process_without_standard_error_can_import(tmp_path):
    done = run(tmp_path, "os.close(2)\nprint(quiet_import('colorsys').__name__)")
    assert (done.returncode, done.stdout) == (0, "colorsys\n")


def test_standard_error_is_back_afterwards(capfd):
    with pytest.raises(ImportError):
        quiet_import("no_such_module_at_all")
    sys.stderr.write("here\n")
    assert capfd.readouterr().err == "here\n"
