"""Sandboxed child programs: no network, no files, and limits on resources.

Two kinds of code run here. `call_script` runs one of our *functions* from a separate file: it
imports what it needs, is locked in, and only then gets its data. `run_python` runs an untrusted
*program*, only in a full sandbox and only if `allow_code` was called.

Kinds of sandbox, strongest first:

- ``namespaces``: own network, processes and mounts, made by the child itself. Root sets them up and
  then becomes a separate user for each child; other users need a user namespace.
- ``bubblewrap``: the same, made by bwrap(1), which some systems grant more rights than
  other programs.
- ``rlimits``: resource limits, which every POSIX system has. A function cannot open a
  file or socket, because no descriptor is available. Programs are not run.

In every kind, a Linux child can make only listed system calls (``system_calls.py``).
Programs are not run without this filter. Memory, CPU time, file sizes and the number of
processes are limited, too. The parent enforces the limits on wall-clock time and
output. The child runs in its own process group and dies with its parent (on Linux).
``launch.py`` starts the child, and ``child.py`` is its program. docs/sandbox.md
describes the protection.
"""

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from scbench.base.errors import CannotGrade
from scbench.machine.sandbox import groups
from scbench.machine.sandbox.conversation import (
    SIGNALLED,
    ChildError,
    Finished,
    LimitError,
    Limits,
    SandboxError,
    TimeBudget,
)
from scbench.machine.sandbox.launch import program_job, run_job

__all__ = [
    "KINDS",
    "ChildError",
    "Finished",
    "LimitError",
    "Limits",
    "SandboxError",
    "TimeBudget",
    "allow_code",
    "call_script",
    "check_code_can_run",
    "protections",
    "run_python",
    "strongest",
    "trouble",
]

_CALLS = "seccomp: system calls"
# The kinds of sandbox, strongest first, with a description of each.
KINDS: Mapping[str, tuple[str, ...]] = {
    "namespaces": (
        "namespaces: network, processes, files",
        "rlimits: memory, time, sizes",
        _CALLS,
    ),
    "bubblewrap": (
        "bubblewrap: network, processes, files",
        "rlimits: memory, time, sizes",
        _CALLS,
    ),
    "rlimits": ("rlimits: memory, time, sizes, descriptors", _CALLS),
}

# Whether `run_python` may run programs in this process.
_allowed = False


class Trial(NamedTuple):
    """The result of trying a kind of sandbox."""

    trouble: str = ""
    """Why it cannot be set up; empty if it can."""
    missing: str = ""
    """Why it filters no system calls; empty if it does."""
    counted: bool = False
    """Whether the memory of a program is counted in a control group."""


def allow_code(allowed: bool) -> None:  # noqa: FBT001  (a switch is a boolean)
    """Set whether `run_python` may run programs in this process; the default is no."""
    global _allowed  # noqa: PLW0603  (a process has one policy)
    _allowed = allowed


def call_script(
    script: Path, data: bytes, limits: Limits, kind: str | None = None
) -> Finished:
    """Run ``main(data)`` of one of our Python files in a sandbox; return its result as bytes.

    The file and all its imports are loaded before any data is read. After that, nothing
    can be opened, not even a module. By default, the strongest available kind is used.

    Raises:
        ChildError: ``main`` raised an exception, or a limit of time or memory was hit.
        SandboxError: the sandbox cannot be set up.
    """
    folders = [path for path in sys.path if path and Path(path).exists()]
    job = {
        "mode": "function",
        "script": str(script),
        "path": folders,
        "files": folders,
        "strict": False,
    }
    done = run_job(job, data, limits, kind or strongest())
    if done.code and not done.flooded:
        last_words = done.stderr.decode("utf-8", "replace")[-500:]
        raise ChildError(f"{script.name} failed: {last_words}")
    return done


def run_python(source: bytes, limits: Limits, kind: str | None = None) -> Finished:
    """Run an untrusted Python program with the standard library and an empty folder.

    Its standard input is empty. By default, the strongest available kind is used;
    ``rlimits`` is never used.

    Raises:
        LimitError: a time limit, a memory limit or a signal ended it.
        CannotGrade: programs are not allowed, or there is no full sandbox.
        SandboxError: the requested kind cannot be set up.
    """
    check_code_can_run(kind)
    kind = kind or strongest()
    counted = try_sandbox(kind).counted
    done = run_job(program_job(), source, limits, kind, counted=counted)
    if done.code > SIGNALLED and not done.flooded and not done.refused:
        number = done.code - SIGNALLED
        raise LimitError(f"the program was killed by signal {number}", number)
    return done


def check_code_can_run(kind: str | None = None) -> None:
    """Raise `CannotGrade`, with the reason and a remedy, if `run_python` would refuse to run."""
    if not _allowed:
        raise CannotGrade(
            "the answer is a Python program; add --allow-code to run it in a sandbox"
        )
    kind = kind or strongest()
    if kind == "rlimits":
        full_kinds = [name for name in KINDS if name != "rlimits"]
        reasons = "; ".join(f"{name}: {trouble(name)}" for name in full_kinds)
        raise CannotGrade(
            "the answer is a Python program, and this machine has no sandbox for it; "
            f"install bubblewrap or allow user namespaces, see docs/sandbox.md ({reasons})"
        )
    missing = try_sandbox(kind).missing
    if missing:
        raise CannotGrade(
            "the answer is a Python program, and this machine cannot filter its system "
            f"calls; grade it on one of the systems in docs/sandbox.md ({missing})"
        )


def protections() -> tuple[str, ...]:
    """Return a description of the protections on this machine."""
    trial = try_sandbox(strongest())
    words = list(KINDS[strongest()])
    if trial.missing:
        words[words.index(_CALLS)] = f"no {_CALLS} ({trial.missing})"
    if trial.counted:
        words.append("cgroup: memory of programs")
    return tuple(words)


@cache
def strongest() -> str:
    """Return the strongest of `KINDS` that can be set up here, found by trying each."""
    for name in KINDS:
        if name != "rlimits" and not trouble(name):
            return name
    return "rlimits"


def trouble(kind: str) -> str:
    """Return why a kind of sandbox cannot be set up here, or an empty string."""
    return try_sandbox(kind).trouble


@cache
def try_sandbox(kind: str) -> Trial:
    """Try a kind of sandbox with a small program."""
    if kind == "rlimits":
        return _try_job({"mode": "nothing"}, kind)
    if kind == "namespaces" and groups.home():
        trial = _try_job(program_job(), kind, counted=True)
        if not trial.trouble:
            return trial
    return _try_job(program_job(), kind)


def _try_job(job: dict[str, Any], kind: str, *, counted: bool = False) -> Trial:
    job = {**job, "strict": False}
    try:
        done = run_job(job, b"print('ready')", Limits(), kind, counted=counted)
    except (SandboxError, ChildError, OSError) as error:
        return Trial(str(error))
    if job["mode"] == "program" and done.stdout != b"ready\n":
        words = " ".join(done.stderr.decode("utf-8", "replace").split())
        return Trial(f"Python does not start in the sandbox: {words[-200:]}")
    return Trial(missing=done.missing, counted=counted)
