"""Child programs in a sandbox: no network, no files, limits on time, memory, processes, output.

Two things run here. A *function* of ours, in a file of its own, imports what it needs, is then
closed in, and only then sees the data that it works on: `call_script`. A *program* that we were
given runs in a full sandbox or not at all, and only if `allow_code` was called: `run_python`.

Kinds of sandbox, strongest first:

- ``namespaces``: own network, processes and mounts, made by the child itself. Root sets them up and
  then becomes a user of the child's own; others need a user namespace to do so.
- ``bubblewrap``: the same, made by bwrap(1), which some systems let do what they let no other do.
- ``rlimits``: what every POSIX system has. A function cannot open a file or socket, as no
  descriptor is left to it. Programs are not run.

In every kind Linux lets a child make listed system calls alone (``system_calls.py``); a program is
not run without. Limits on memory, processor time, sizes of files and number of processes bind, too;
those on the wall clock and on output are kept by the parent. The child is a group of processes of
its own and dies with its parent (on Linux). What the child does lies in ``child.py``; what all this
is worth, in docs/sandbox.md.
"""

import contextlib
import itertools
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from scbench.base.errors import CannotGrade
from scbench.machine.sandbox import groups
from scbench.machine.sandbox.system_calls import filter_program, keyctl_number

_ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
_READ = 65536
_STDERR = 4096
SIGNALLED, _SIGSYS = 128, 31
"""Added to the number of the signal that ended a child, as shells do; one of these signals."""


_CALLS = "seccomp: system calls"
# The kinds of sandbox, strongest first, and the protections of each in words.
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

_CHILD = Path(__file__).with_name("child.py")
# With an environment of ours the same as -I -S, which would also ignore the hash seed.
_FLAGS = ("-P", "-s", "-S", "-B")
_FOLDER = "/.private"
_NOBODY = 65534
# Bytes that the processes around a program take together.
_OVERHEAD = 2**26


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use.

    Attributes:
        seconds: wall clock, and processor time of each process.
        memory: bytes of address space of each process.
        output: bytes on standard output.
        processes: about how many processes it may start.
        files: bytes in the private folder.
    """

    seconds: float = 60.0
    memory: int = 2 * 2**30
    output: int = 64 * 2**20
    processes: int = 0
    files: int = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended, by itself or at its limit of output.

    Attributes:
        code: exit code.
        stdout: what it wrote, at most the limit.
        stderr: the last few thousand bytes of it.
        flooded: whether it wrote more than the limit and was ended for it.
        missing: why there was no filter of system calls; empty if there was one.
    """

    code: int
    stdout: bytes
    stderr: bytes
    flooded: bool = False
    missing: str = ""

    @property
    def refused(self) -> bool:
        """Whether it was ended for a system call that no sandbox lets through."""
        return self.code == SIGNALLED + _SIGSYS


class ChildError(RuntimeError):
    """A child hit its limit of time or memory, or crashed: nothing that a score may rest on."""


class SandboxError(RuntimeError):
    """A kind of sandbox cannot be set up on this system."""


def converse(
    command: Callable[[int], Sequence[str]], data: bytes, limits: Limits
) -> Finished:
    """Start a child, feed it, and end it with all that it started.

    The command is given the descriptor on which the child says "ok"; the child keeps all limits but
    those of seconds and output.

    Raises:
        ChildError: it was too slow.
        SandboxError: it never said "ok".
    """
    says, status = os.pipe()
    try:
        child = subprocess.Popen(  # noqa: S603  (our interpreter, our file)
            command(status),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env=_ENVIRONMENT,
            pass_fds=(status,),
            start_new_session=True,
        )
    except BaseException:
        os.close(says)
        raise
    finally:
        os.close(status)
    with child, open(says, "rb", buffering=0) as answers:  # noqa: PTH123  (a descriptor)
        try:
            return _converse(child, answers, data, limits)
        finally:
            if child.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)


def _converse(child: Any, answers: Any, data: bytes, limits: Limits) -> Finished:  # noqa: ANN401
    """Write a child's input and read its output until it ends, floods or is late."""
    remainder, deadline = memoryview(data), time.monotonic() + limits.seconds
    texts = {end: bytearray() for end in (child.stdout, child.stderr, answers)}
    out, errors, status = texts.values()
    with selectors.DefaultSelector() as ready:
        for end in (*texts, child.stdin):
            os.set_blocking(end.fileno(), False)
            what = selectors.EVENT_READ if end in texts else selectors.EVENT_WRITE
            ready.register(end, what)
        while ready.get_map() and len(out) <= limits.output:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise ChildError(f"no result within {limits.seconds:g} s")
            for key, _ in ready.select(remaining):
                pipe: Any = key.fileobj
                if pipe in texts:
                    some = os.read(key.fd, _READ)
                    texts[pipe] += some
                    del errors[:-_STDERR]
                    over = not some
                else:
                    remainder = _feed(key.fd, remainder)
                    over = not remainder
                if over:
                    ready.unregister(pipe)
                    if pipe is child.stdin:
                        pipe.close()
    if len(out) > limits.output:
        return Finished(1, bytes(out[: limits.output]), bytes(errors), flooded=True)
    try:
        code = child.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise ChildError(f"no end within {limits.seconds:g} s") from None
    if not status.startswith(b"ok"):
        why = (status or errors).decode("utf-8", "replace").strip()
        raise SandboxError(f"the sandbox cannot be set up: {why[-300:]}")
    missing = status[2:].decode("utf-8", "replace")
    code = SIGNALLED - code if code < 0 else code
    return Finished(code, bytes(out), bytes(errors), missing=missing)


def _feed(pipe: int, remainder: memoryview) -> memoryview:
    """Write some of what is left to write, and return what is left then."""
    try:
        return remainder[os.write(pipe, remainder[:_READ]) :]
    except BrokenPipeError:  # the child wants no more of it
        return remainder[:0]


_USERS, _USERS_EACH, _PROCESSES = 0x70000000, 64, 2**22
"""Numbers of users that systemd(1) sets aside for nobody; Linux numbers fewer processes."""


_allowed = False


def allow_code(allowed: bool) -> None:  # noqa: FBT001  (a switch is a boolean)
    """Say whether `run_python` may run programs in this process; at first it may not."""
    global _allowed  # noqa: PLW0603  (a process has one policy)
    _allowed = allowed


def protections() -> tuple[str, ...]:
    """Return what children are protected by on this machine, in words."""
    tried = _try_sandbox(strongest())
    words = KINDS[strongest()]
    if tried.missing:
        words = tuple(
            f"no {it} ({tried.missing})" if it == _CALLS else it for it in words
        )
    return (*words, *(["cgroup: memory of programs"] if tried.counted else []))


@cache
def strongest() -> str:
    """Return the strongest of `KINDS` that can be set up here; found out by trying."""
    return next(name for name in KINDS if name == "rlimits" or not trouble(name))


def trouble(kind: str) -> str:
    """Return why a kind of sandbox cannot be set up here, or an empty string."""
    return _try_sandbox(kind).trouble


class _Tried(NamedTuple):
    """What came of trying a kind of sandbox."""

    trouble: str = ""
    """Why it cannot be set up; empty if it can."""
    missing: str = ""
    """Why it filters no system calls; empty if it does."""
    counted: bool = False
    """Whether the memory of a program is counted in a control group."""


@cache
def _try_sandbox(kind: str) -> _Tried:
    """Try a kind of sandbox with a program of ours."""
    if kind == "rlimits":
        return _try({"mode": "nothing"}, kind)
    if kind == "namespaces" and groups.home():
        tried = _try(_program(), kind, counted=True)
        if not tried.trouble:
            return tried
    return _try(_program(), kind)


def _try(job: dict[str, Any], kind: str, *, counted: bool = False) -> _Tried:
    job = {**job, "strict": False}
    try:
        done = _run(job, b"print('ready')", Limits(), kind, counted=counted)
    except (SandboxError, ChildError, OSError) as error:
        return _Tried(str(error))
    if job["mode"] == "program" and done.stdout != b"ready\n":
        words = " ".join(done.stderr.decode("utf-8", "replace").split())
        return _Tried(f"Python does not start in it: {words[-200:]}")
    return _Tried(missing=done.missing, counted=counted)


def call_script(
    script: Path, data: bytes, limits: Limits, kind: str | None = None
) -> Finished:
    """Run ``main(data)`` of a Python file of ours in a sandbox, and return what it gives, as bytes.

    The file is imported, with all that it imports, before any data is read. From then on nothing
    can be opened, not even a module. The kind is by default the strongest there is.

    Raises:
        ChildError: ``main`` raised, or a limit of time or memory was hit.
        SandboxError: the sandbox cannot be set up.
    """
    folders = [path for path in sys.path if path and Path(path).exists()]
    job = {"mode": "function", "script": str(script), "path": folders, "files": folders}
    done = _run({**job, "strict": False}, data, limits, kind or strongest())
    if done.code and not done.flooded:
        raise ChildError(
            f"{script.name} failed: {done.stderr.decode('utf-8', 'replace')[-500:]}"
        )
    return done


def run_python(source: bytes, limits: Limits, kind: str | None = None) -> Finished:
    """Run a Python program that we were given; it has the standard library and an empty folder.

    Its standard input is empty. The kind, never ``rlimits``, is by default the strongest there is.

    Raises:
        ChildError: a limit of time or memory ended it.
        CannotGrade: programs are not allowed, or a full sandbox cannot be had.
        SandboxError: the kind that was asked for cannot be set up.
    """
    check_code_can_run(kind)
    kind = kind or strongest()
    done = _run(_program(), source, limits, kind, counted=_try_sandbox(kind).counted)
    if done.code > SIGNALLED and not done.flooded and not done.refused:
        raise ChildError(f"the program was ended by signal {done.code - SIGNALLED}")
    return done


def check_code_can_run(kind: str | None = None) -> None:
    """Raise `CannotGrade`, with the reason and what to do, if `run_python` would refuse to run."""
    if not _allowed:
        raise CannotGrade(
            "the answer holds a Python program, and running code is not allowed; "
            "grade with --allow-code where it may be run"
        )
    wall = kind or strongest()
    if wall == "rlimits":
        reasons = "; ".join(
            f"{name}: {trouble(name)}" for name in KINDS if name != "rlimits"
        )
        raise CannotGrade(
            "the answer holds a Python program, and this machine cannot put it in a sandbox; "
            f"install bubblewrap or allow user namespaces, see docs/sandbox.md ({reasons})"
        )
    if missing := _try_sandbox(wall).missing:
        raise CannotGrade(
            "the answer holds a Python program, and this machine cannot filter its system calls; "
            f"grade where docs/sandbox.md says that they can be ({missing})"
        )


def _program() -> dict[str, Any]:
    command = [_interpreter(), *_FLAGS, "program.py"]
    files = _interpreter_files()
    job = {
        "mode": "program",
        "argv": command,
        "files": files,
        "hidden": _packages(tuple(files)),
    }
    return {**job, "strict": True}


def _interpreter() -> str:
    # Not the link or copy in a virtual environment, which finds its library only from there.
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _interpreter_files() -> list[str]:
    """Return what a bare interpreter reads: itself, its library, the system's shared ones."""
    prefix = sys.base_prefix.rstrip("/")
    places = [_interpreter(), f"{prefix}/lib", f"{prefix}/lib64", "/lib", "/lib64"]
    places += ["/usr/lib", "/usr/lib64", "/nix/store"]
    return [place for place in dict.fromkeys(places) if os.path.exists(place)]  # noqa: PTH110  (false where we may not look, too)


@cache
def _packages(files: tuple[str, ...]) -> list[str]:
    """Return folders below these that hold packages: answers to our items may lie there."""
    folders = {Path(__file__).resolve().parents[1]}
    for file in map(Path, files):
        pattern = (
            "*/lib/python*/*-packages" if file.name == "store" else "python*/*-packages"
        )
        folders |= {
            it for folder in file.glob(pattern) for it in (folder, folder.resolve())
        }
    below = {it for it in folders if any(it.is_relative_to(file) for file in files)}
    return sorted(str(it) for it in below if not it.is_symlink())


def _run(
    job: dict[str, Any],
    data: bytes,
    limits: Limits,
    kind: str,
    *,
    counted: bool = False,
) -> Finished:
    """Run a child, in a control group if its memory is to be counted."""
    job = {"files": [], "hidden": [], **job, "kind": kind, "limits": asdict(limits)}
    job |= {
        "processor": _processor(),
        "user": _own_user() if kind != "rlimits" else None,
    }
    allowed = filter_program(for_program=job["mode"] == "program")
    job |= {
        "folder": _FOLDER,
        "filter": allowed.hex(),
        "keyctl": keyctl_number(),
        "group": None,
    }

    def command(status: int) -> list[str]:
        words = [
            _interpreter(),
            *_FLAGS,
            str(_CHILD),
            json.dumps({**job, "status": status}),
        ]
        return [*_bubblewrap(job), *words] if kind == "bubblewrap" else words

    if not counted:
        return converse(command, data, limits)
    together = limits.memory * max(1, limits.processes) + limits.files + _OVERHEAD
    with groups.group(together) as group:
        job["group"] = str(group)
        return converse(command, data, limits)


_users = itertools.count()


def _own_user() -> int | None:
    """Return a user for a child, as limits and the kernel's keys go by users; None for our own."""
    if os.geteuid() != 0:
        return None
    number = os.getpid() % _PROCESSES * _USERS_EACH + next(_users) % _USERS_EACH
    try:
        accounts = [
            line.split()
            for line in Path("/proc/self/uid_map").read_text("ascii").splitlines()
        ]
    except OSError:
        return _NOBODY
    for user in (_USERS + number, _NOBODY):
        if any(
            int(first) <= user < int(first) + int(count) for first, _, count in accounts
        ):
            return user
    return None


def _processor() -> int | None:
    """Return one of our processors, another one for each process of ours; None if unknown."""
    if sys.platform != "linux":
        return None
    processors = sorted(os.sched_getaffinity(0))
    return processors[os.getpid() % len(processors)]


def _bubblewrap(job: Mapping[str, Any]) -> Sequence[str]:
    """Return the words before a command that put it into bubblewrap."""
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxError("bwrap is not installed")
    words = [
        program,
        "--die-with-parent",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
    ]
    words += ["--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    if job[
        "user"
    ]:  # the child gives up being root by itself, for which it needs two rights
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-user"]
        if os.geteuid() == 0:
            words += ["--uid", str(_NOBODY), "--gid", str(_NOBODY)]
    words += ["--cap-add", "CAP_SYS_ADMIN"]  # and to bound the number of files
    visible = {*job["files"], *_interpreter_files(), str(_CHILD)}
    if "script" in job:
        visible.add(
            str(Path(job["script"]).parent)
        )  # it may import what lies beside it
    # Folders on the way to them would be closed to others than root.
    for folder in sorted(
        {
            str(parent)
            for path in (*visible, "/dev/null")
            for parent in Path(path).parents
        }
        - {"/"}
    ):
        words += ["--perms", "0755", "--dir", folder]
    for path in sorted(visible):
        words += ["--ro-bind", path, path]
    for path in job["hidden"]:
        words += ["--perms", "0755", "--tmpfs", path, "--remount-ro", path]
    for path in ("/dev/null", "/dev/zero", "/dev/urandom"):
        words += ["--dev-bind", path, path]
    size = str(max(4096, job["limits"]["files"]))
    words += [
        "--perms",
        "0777",
        "--size",
        size,
        "--tmpfs",
        _FOLDER,
        "--remount-ro",
        "/",
    ]
    return [*words, "--chdir", _FOLDER, "--"]
