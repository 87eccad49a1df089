"""Starting sandboxed children: their commands, users and visible files."""

import itertools
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from scbench.machine.sandbox import groups
from scbench.machine.sandbox.conversation import (
    Finished,
    Limits,
    SandboxError,
    converse,
)
from scbench.machine.sandbox.system_calls import filter_program, keyctl_number

_CHILD = Path(__file__).with_name("child.py")
# With our environment, the same as -I -S, except that -I would also ignore the hash
# seed.
_FLAGS = ("-P", "-s", "-S", "-B")
# Path of a child's private folder inside the sandbox.
_FOLDER = "/.private"
_NOBODY = 65534
# Total bytes of the processes around a program.
_OVERHEAD = 2**26
# User ids that systemd(1) leaves unassigned: the first, and how many each of our
# processes uses. Linux numbers fewer processes.
_FIRST_USER = 0x70000000
USERS_EACH = 64
_PROCESSES = 2**22

_user_numbers = itertools.count()


def run_job(
    job: Mapping[str, Any],
    data: bytes,
    limits: Limits,
    kind: str,
    *,
    counted: bool = False,
) -> Finished:
    """Run a job, see ``child.py``, in a child.

    Args:
        job: its mode, whether it is strict, and fields that depend on the mode.
        data: standard input.
        limits: limits of the child.
        kind: kind of sandbox.
        counted: whether a control group counts the memory.

    Raises:
        ChildError: the child was too slow.
        SandboxError: the sandbox cannot be set up.
    """
    allowed_calls = filter_program(for_program=job["mode"] == "program")
    full_job = {
        "files": [],
        "hidden": [],
        **job,
        "kind": kind,
        "limits": asdict(limits),
        "processor": _processor(),
        "user": None if kind == "rlimits" else own_user(),
        "folder": _FOLDER,
        "filter": allowed_calls.hex(),
        "keyctl": keyctl_number(),
        "group": None,
    }

    def command(status: int) -> list[str]:
        job_text = json.dumps({**full_job, "status": status})
        words = [_interpreter(), *_FLAGS, str(_CHILD), job_text]
        if kind == "bubblewrap":
            words[:0] = _bubblewrap(full_job)
        return words

    if not counted:
        return converse(command, data, limits)
    memory = limits.memory * max(1, limits.processes) + limits.files + _OVERHEAD
    with groups.group(memory) as group:
        full_job["group"] = str(group)
        return converse(command, data, limits)


def program_job() -> dict[str, Any]:
    """Return the job that runs an untrusted Python program."""
    files = _interpreter_files()
    return {
        "mode": "program",
        "argv": [_interpreter(), *_FLAGS, "program.py"],
        "files": files,
        "hidden": _packages(tuple(files)),
        "strict": True,
    }


def _interpreter() -> str:
    # Not the link or copy in a virtual environment, which finds its library only there.
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _interpreter_files() -> list[str]:
    """Return the files of a bare interpreter: executable, library and shared libraries."""
    prefix = sys.base_prefix.rstrip("/")
    places = [_interpreter(), f"{prefix}/lib", f"{prefix}/lib64", "/lib", "/lib64"]
    places += ["/usr/lib", "/usr/lib64", "/nix/store"]
    return [place for place in dict.fromkeys(places) if os.path.exists(place)]  # noqa: PTH110  (also false where we may not look)


@cache
def _packages(files: tuple[str, ...]) -> list[str]:
    """Return the folders of packages below these, which may contain answers to our items."""
    folders = {Path(__file__).resolve().parents[2]}
    roots = [Path(file) for file in files]
    for root in roots:
        is_nix_store = root.name == "store"
        versions = "*/lib/python*" if is_nix_store else "python*"
        for folder in root.glob(f"{versions}/*-packages"):
            folders |= {folder, folder.resolve()}
    hidden: list[Path] = []
    # Subfolders are skipped: they are hidden with their folder and cannot be mounted
    # on.
    for folder in sorted(folders):
        is_visible = any(folder.is_relative_to(root) for root in roots)
        is_hidden = any(folder.is_relative_to(outer) for outer in hidden)
        if is_visible and not is_hidden and not folder.is_symlink():
            hidden.append(folder)
    return [str(folder) for folder in hidden]


def own_user() -> int | None:
    """Return a user id for a child, because limits and kernel keys are per user; None for ours."""
    if os.geteuid() != 0:
        return None
    process = os.getpid() % _PROCESSES
    number = process * USERS_EACH + next(_user_numbers) % USERS_EACH
    try:
        lines = Path("/proc/self/uid_map").read_text("ascii").splitlines()
    except OSError:
        return _NOBODY
    # A user namespace may have only some of the users.
    for user in (_FIRST_USER + number, _NOBODY):
        for line in lines:
            first, _, count = line.split()
            if int(first) <= user < int(first) + int(count):
                return user
    return None


def _processor() -> int | None:
    """Return one of our processors, different for each of our processes; None if unknown."""
    if sys.platform != "linux":
        return None
    processors = sorted(os.sched_getaffinity(0))
    return processors[os.getpid() % len(processors)]


def _bubblewrap(job: Mapping[str, Any]) -> Sequence[str]:
    """Return the command prefix that runs a command in bubblewrap."""
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxError("bwrap is not installed")
    words = [program, "--die-with-parent"]
    words += ["--unshare-pid", "--unshare-net", "--unshare-ipc"]
    words += ["--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    if job["user"]:
        # The child gives up root itself, for which it needs two rights.
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-user"]
        if os.geteuid() == 0:
            words += ["--uid", str(_NOBODY), "--gid", str(_NOBODY)]
    words += ["--cap-add", "CAP_SYS_ADMIN"]  # and to bound the number of files
    visible = {*job["files"], *_interpreter_files(), str(_CHILD)}
    if "script" in job:
        # It may import the modules in its folder.
        visible.add(str(Path(job["script"]).parent))
    # Otherwise, folders on the way to them would be readable only by root.
    folders = set()
    for path in (*visible, "/dev/null"):
        folders |= {str(parent) for parent in Path(path).parents}
    for folder in sorted(folders - {"/"}):
        words += ["--perms", "0755", "--dir", folder]
    for path in sorted(visible):
        words += ["--ro-bind", path, path]
    for path in job["hidden"]:
        words += ["--perms", "0755", "--tmpfs", path]
        if _CHILD.is_relative_to(path):
            words += ["--ro-bind", str(_CHILD), str(_CHILD)]
        words += ["--remount-ro", path]
    for path in ("/dev/null", "/dev/zero", "/dev/urandom"):
        words += ["--dev-bind", path, path]
    size = str(max(4096, job["limits"]["files"]))
    words += ["--perms", "0777", "--size", size, "--tmpfs", _FOLDER]
    words += ["--remount-ro", "/", "--chdir", _FOLDER, "--"]
    return words
