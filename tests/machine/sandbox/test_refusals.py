"""Sandboxes without one of their parts, as in containers and under security profiles.

A filter of system calls around the grading process simulates their refusals.
"""

import errno
import json
import platform
import struct

import pytest
from commands import python

from scbench.machine.sandbox import system_calls

pytestmark = pytest.mark.skipif(
    not system_calls.filter_program(for_program=True),
    reason="no filter is known for this machine",
)
UNSHARE, MOUNT, PIVOT = (272, 97), (165, 40), (155, 41)
GRADE = """
import ctypes, json, shutil, struct, sys
from pathlib import Path
from scbench.machine import sandbox
from scbench.base.errors import CannotGrade

class Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))

code = bytes.fromhex(sys.argv[1])
libc = ctypes.CDLL(None)
libc.prctl(38, *map(ctypes.c_ulong, (1, 0, 0, 0)))
assert libc.prctl(22, ctypes.c_ulong(2), ctypes.byref(Filter(len(code) // 8, code)), 0, 0) == 0
shutil.which = lambda name: None
sandbox.allow_code(True)
limits = sandbox.Limits(seconds=600)
try:
    said = sandbox.run_python(b"print('ran')", limits).stdout.decode()
except CannotGrade as error:
    said = str(error)
script = Path(sys.argv[2])
script.write_text("def main(data): return data[::-1]")
worked = sandbox.call_script(script, b"abc", limits).stdout.decode()
print(json.dumps([said, sandbox.protections(), worked]))
"""


def refusing(calls, number, value=None):
    """Return a filter that answers calls, or those with a given first argument, with an error."""
    column = platform.machine() == "aarch64"
    code = [(0x20, 0, 0, 0)]
    for call in calls:
        check = [(0x20, 0, 0, 16), (0x15, 0, 1, value)] if value is not None else []
        code += [(0x15, 0, len(check) + 1, call[column]), *check]
        code += [(0x06, 0, 0, 0x50000 | number), (0x20, 0, 0, 0)]
    return b"".join(
        struct.pack("=HBBI", *it) for it in [*code, (0x06, 0, 0, 0x7FFF0000)]
    )


def graded(tmp_path, code):
    """Grade behind a filter: the reason for a program, the protections, a function's result."""
    return json.loads(python(GRADE, code.hex(), tmp_path / "script.py"))


@pytest.mark.parametrize(
    ("code", "reason", "protected"),
    [
        # A container, or Debian with kernel.unprivileged_userns_clone=0.
        (
            refusing([UNSHARE], errno.EPERM),
            "unshare: Operation not permitted",
            "rlimits",
        ),
        # user.max_user_namespaces=0
        (
            refusing([UNSHARE], errno.ENOSPC),
            "unshare: No space left on device",
            "rlimits",
        ),
        # Ubuntu: namespaces are there, but AppArmor takes the rights in them away.
        (refusing([MOUNT], errno.EACCES), "mount: Permission denied", "rlimits"),
        (
            refusing([PIVOT], errno.EPERM),
            "pivot_root: Operation not permitted",
            "rlimits",
        ),
        # A kernel without seccomp, or something that keeps others from filtering.
        (refusing([(157, 167)], errno.EINVAL, 22), "Invalid argument", "namespaces"),
    ],
    ids=["unshare", "none left", "mount", "pivot_root", "seccomp"],
)
def test_weaker_sandbox_runs_functions_but_no_programs(
    tmp_path, code, reason, protected
):
    message, protections, worked = graded(tmp_path, code)
    assert message.startswith("the answer is a Python program, and this machine ")
    assert reason in message
    assert "docs/sandbox.md" in message
    assert protections[0].startswith(protected)
    assert worked == "cba"
    assert ("no seccomp" in protections[-1]) == (protected == "namespaces")
