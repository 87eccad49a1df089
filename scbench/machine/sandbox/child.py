"""The child's side of `scbench.machine.sandbox`: sets the sandbox up, then does its job.

This file runs alone, as a program of its own, so it imports nothing but the standard library. Its
one argument is the job as JSON:

    mode: "function", "program" or "nothing"
    script, path: for a function, its file and the folders to import from
    argv: for a program, the command; the program itself is read from standard input
    kind: of sandbox; "namespaces" are made here, bubblewrap is there already
    limits: the fields of `scbench.machine.sandbox.Limits`
    files: paths a program may read
    hidden: folders below them that it may not
    folder: the private folder of a program
    user: the user to become; null for whoever starts this
    group: folder of the control group that counts its memory; null if there is none
    filter: of system calls, as the kernel takes it, in hexadecimal digits; empty if there is none
    strict: whether nothing is done without the filter
    keyctl: number of that system call; null if unknown
    processor: the one a function runs on; null for any
    status: descriptor that gets "ok" when the sandbox is set up, and then what is missing, if
        that is no reason not to start; else what is wrong

With namespaces there are three processes: the first waits in the old namespaces, the second is the
init of the new one, and the third does the job. When the second ends, the kernel ends whatever the
third has started; and each dies with the one before it. A control group takes one more: it holds
these three, and a process outside waits for them.
"""

import contextlib
import ctypes
import importlib.util
import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

Job = dict[str, Any]

NOBODY = 65534
# New mounts, control groups, host name, inter-process communication, processes,
# network.
_SPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
_USERS = 0x10000000
_PRIVATE, _DEEP, _BIND, _CHANGE = 1 << 18, 1 << 14, 1 << 12, 1 << 5
_RDONLY, _NOSUID, _NODEV, _NOEXEC = 1, 2, 4, 8
_MOUNT_FLAGS = {
    os.ST_NOSUID: 2,
    getattr(os, "ST_NODEV", 4): 4,
    getattr(os, "ST_NOEXEC", 8): 8,
}
_MOUNT_FLAGS |= {
    getattr(os, "ST_NOATIME", 1024): 1 << 10,
    getattr(os, "ST_RELATIME", 4096): 1 << 21,
}
"""Flags of a mount as statvfs gives them and as mount takes them."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
# Files and folders in the private folder: the kernel keeps each in memory, empty or
# not.
_INODES = 4096
_STAGE = "/tmp"  # noqa: S108  (a folder that every system has; only its place is used)


def main(job: Job) -> NoReturn:
    """Set the sandbox up and do the job in it."""
    try:
        _die_with_parent()
        if job["group"]:
            _wait_for(_fork_into(job["group"]))
        spaces = job["kind"] == "namespaces"
        if spaces:
            _enter_namespaces(job)
            _wait_for(os.fork())
        function = _load(job) if job["mode"] == "function" else None
        if spaces:
            _empty_root(job["files"] if job["mode"] == "program" else (), job)
            init = os.fork()
            if init:
                os.close(job["status"])
                _give_up_rights(NOBODY if job["user"] else None)
                _prctl(4, 0)  # nobody may look into this process
                _wait_for(init)
        if job["kind"] == "bubblewrap":
            with contextlib.suppress(
                OSError
            ):  # profiles of bwrap may leave no right to do this
                flags = _CHANGE | _NOSUID | _NODEV
                _mount("none", job["folder"], "", flags, f"nr_inodes={_INODES}")
        work = _prepare(job, function)
        _give_up_rights(job["user"])
        _set_limits(job)
        _forget_keys(job["keyctl"])
        missing = _filter_calls(job)
        os.write(job["status"], b"ok" + missing.encode())
        os.close(job["status"])
    except (OSError, AttributeError, ImportError, ValueError) as error:
        with contextlib.suppress(OSError):
            os.write(job["status"], f"{type(error).__name__}: {error}".encode())
        os._exit(1)
    work()
    os._exit(0)


def _libc(name: str, *arguments: Any) -> None:  # noqa: ANN401
    """Call a function of the C library that says 0 if it went well."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        _libc("prctl", option, *map(ctypes.c_ulong, (value, 0, 0, 0)))


def _die_with_parent() -> None:
    _prctl(1, signal.SIGKILL)


def _wait_for(child: int) -> None:
    """Return in the child; in its parent, end as the child ends."""
    if child == 0:
        _die_with_parent()
        return
    for number in (0, 1, 2):
        os.close(number)
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(128 - code if code < 0 else code)


def _fork_into(group: str) -> int:
    """Fork, with the child in a control group from its start; to move it would take 10 ms."""
    folder = os.open(group, os.O_RDONLY | os.O_DIRECTORY)
    words = (ctypes.c_uint64 * 11)(
        0x200000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, folder
    )
    clone3, size = ctypes.c_long(435), ctypes.c_size_t(ctypes.sizeof(words))
    child: int = ctypes.CDLL(None, use_errno=True).syscall(
        clone3, ctypes.byref(words), size
    )
    os.close(folder)
    if child < 0:
        raise OSError(ctypes.get_errno(), f"clone3: {os.strerror(ctypes.get_errno())}")
    return child


def _enter_namespaces(job: Job) -> None:
    if job["user"] is not None:
        try:
            _libc("unshare", _SPACES)
        except PermissionError:  # root of a container: go on as others than root do
            # A function starts none, and may lie where root alone reads.
            if job["mode"] == "program":
                _become(job["user"])
                _prctl(4, 1)  # the files of this process in /proc become its own again
            job["user"] = None
        else:
            return
    user, group = os.geteuid(), os.getegid()
    _libc("unshare", _SPACES | _USERS)
    # The same number inside, but never that of root.
    Path("/proc/self/setgroups").write_bytes(b"deny")
    Path("/proc/self/uid_map").write_bytes(b"%d %d 1" % (user or NOBODY, user))
    Path("/proc/self/gid_map").write_bytes(b"%d %d 1" % (group or NOBODY, group))


def _load(job: Job) -> Callable[[bytes], bytes]:
    """Import a function with all that it needs, while files can still be read."""
    sys.path[:0] = job["path"]
    spec = importlib.util.spec_from_file_location("isolated", job["script"])
    if spec is None or spec.loader is None:
        raise ImportError(f"{job['script']} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main  # type: ignore[no-any-return]


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    words = [word.encode() or None for word in (source, target, kind)]
    _libc("mount", *words, ctypes.c_ulong(flags), options.encode() or None)


def _empty_root(files: Sequence[str], job: Job) -> None:
    """Change the root to an empty folder that holds only these files, read-only."""
    _mount("none", "/", "", _PRIVATE | _DEEP)
    _mount("tmpfs", _STAGE, "tmpfs", _NOSUID | _NODEV, "size=1m,mode=755")
    os.chdir(_STAGE)
    os.mkdir(".old")  # noqa: PTH102  (as the calls around it)
    _libc("pivot_root", b".", b".old")
    os.chdir("/")
    for file in (*files, *_DEVICES) if files else ():
        _show(file)
    for folder in job["hidden"] if files else ():
        _mount("tmpfs", folder, "tmpfs", _RDONLY | _NOSUID | _NODEV, "size=4k,mode=755")
    Path(job["folder"]).mkdir()
    options = f"size={max(4096, job['limits']['files'])},mode=777,nr_inodes={_INODES}"
    _mount("tmpfs", job["folder"], "tmpfs", _NOSUID | _NODEV, options)
    _libc("umount2", b"/.old", 2)
    Path("/.old").rmdir()
    _mount("none", "/", "", _BIND | _CHANGE | _RDONLY | _NOSUID | _NODEV)
    os.chdir(job["folder"])


def _show(file: str) -> None:
    """Mount a file or folder of the old root at its place in the new one, read-only."""
    place, old = Path(file), f"/.old{file}"
    place.parent.mkdir(parents=True, exist_ok=True)
    if Path(old).is_dir():
        place.mkdir(exist_ok=True)
    else:
        place.touch()
    _mount(old, file, "", _BIND | _DEEP)
    # What the system has locked on a mount must be named again, or the change is refused.
    mount_flags = os.statvfs(file).f_flag
    flags = sum(
        flag
        for mark, flag in _MOUNT_FLAGS.items()
        if mount_flags & mark and flag != _NOSUID
    )
    flags |= 0 if file in _DEVICES else _NODEV
    _mount("none", file, "", _BIND | _CHANGE | _RDONLY | _NOSUID | flags)


def _prepare(job: Job, function: Callable[[bytes], bytes] | None) -> Callable[[], None]:
    """Lay out the descriptors, and return what is left to do once the sandbox is set up."""
    if job["mode"] == "program":
        with open("program.py", "wb") as file:  # noqa: PTH123  (relative to the private folder)
            shutil.copyfileobj(sys.stdin.buffer, file)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.set_inheritable(job["status"], False)
        home = {"HOME": job["folder"], "TMPDIR": job["folder"]}
        return lambda: os.execve(job["argv"][0], job["argv"], {**os.environ, **home})  # noqa: S606

    if job["processor"] is not None:
        # On one processor libraries start no threads, and no result can hang on how many there are.
        os.sched_setaffinity(0, {job["processor"]})

    def call() -> None:
        result = os.dup2(1, 3)
        os.dup2(2, 1)  # whatever prints must not mix with the result
        # Where no number is free above those in use, nothing can be opened: no file, no socket.
        os.closerange(result + 1, 256)
        resource.setrlimit(resource.RLIMIT_NOFILE, (result + 1, result + 1))
        answer = function(sys.stdin.buffer.read()) if function else b""
        with open(result, "wb") as pipe:  # noqa: PTH123  (a descriptor)
            pipe.write(answer)

    return call


def _become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    _die_with_parent()  # becoming another user took it back


def _give_up_rights(user: int | None) -> None:
    """Become another user, if one is given, and lose every capability for good."""
    if user is not None:
        _become(user)
    if sys.platform == "linux":
        _libc("capset", (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
        _prctl(38, 1)  # no new privileges


def _set_limits(job: Job) -> None:
    limits, program = job["limits"], job["mode"] == "program"
    bounds = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": int(limits["seconds"]) + 2,
        "RLIMIT_FSIZE": limits["files"] if program else 0,
        "RLIMIT_NPROC": limits["processes"],
        "RLIMIT_STACK": 2**27,
        "RLIMIT_AS": limits["memory"],
        "RLIMIT_NOFILE": 64,
    }
    for name, value in bounds.items():
        number = getattr(resource, name, None)
        if number is None:
            continue
        _, hard = resource.getrlimit(number)
        limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(number, (limit, limit))
        except (OSError, ValueError):
            if sys.platform == "linux":  # others know limits that they do not set
                raise


def _forget_keys(keyctl: int | None) -> None:
    """Begin a session keyring of its own; where keys are out of reach, none is needed."""
    if keyctl is not None:
        ctypes.CDLL(None).syscall(ctypes.c_long(keyctl), ctypes.c_long(1), None)


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def _filter_calls(job: Job) -> str:
    """Let the system calls of the filter through alone; return what is wrong, raise if strict."""
    code = bytes.fromhex(job["filter"])
    try:
        _libc(
            "prctl",
            22,
            ctypes.c_ulong(2),
            ctypes.byref(_Filter(len(code) // 8, code)),
            0,
            0,
        )
    except (OSError, AttributeError) as error:
        reason = (
            str(error)
            if code
            else f"no list for {sys.platform} on {os.uname().machine}"
        )
        if job["strict"]:
            raise OSError(f"system calls cannot be filtered: {reason}") from None
        return reason
    return ""


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
