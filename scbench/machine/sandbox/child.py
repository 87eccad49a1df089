"""The child's side of `scbench.machine.sandbox`: sets the sandbox up, then does its job.

This file runs alone, as a separate program, so it imports nothing but the standard library. Its
one argument is the job as JSON:

    mode: "function", "program" or "nothing"
    script, path: for a function, its file and the folders to import from
    argv: for a program, the command; the program is read from standard input
    kind: kind of sandbox; "namespaces" are set up here, bubblewrap is already active
    limits: the fields of `scbench.machine.sandbox.Limits`
    files: paths a program may read
    hidden: folders below these paths that it may not read
    folder: the private folder of a program
    user: the user to become; null to stay the same user
    group: folder of the control group that counts the memory; null for none
    filter: system call filter in the kernel's form, as hexadecimal digits; empty if there is none
    strict: whether the job requires the filter
    keyctl: number of that system call; null if unknown
    processor: the processor that a function runs on; null for any
    status: descriptor that receives "ok" and any missing optional protection once the
        sandbox is set up, or else the error

With namespaces there are three processes: the first waits in the old namespaces, the second is the
init of the new ones, and the third does the job. When the second ends, the kernel ends everything
that the third has started. Each process dies with its parent. With a control group there is a
fourth process outside it, which waits for these three.

Numbers are those of Linux: man 2 prctl, clone, mount, umount, capget, keyctl.
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

# The user without rights, as on every Linux system.
NOBODY = 65534
# Options of prctl.
_SET_PARENT_DEATH_SIGNAL = 1
_SET_DUMPABLE = 4
_SET_SECCOMP = 22
_SET_NO_NEW_PRIVILEGES = 38
# Second argument of prctl for a system call filter.
_FILTER_MODE = 2
# Namespaces: mounts, control groups, host name, inter-process communication, processes, network.
_SPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
_USER_SPACE = 0x10000000
# The system call clone3, and its flag for a control group.
_CLONE3 = 435
_INTO_GROUP = 0x200000000
# Flags of mount.
_RDONLY = 1
_NOSUID = 2
_NODEV = 4
_CHANGE = 1 << 5
_BIND = 1 << 12
_DEEP = 1 << 14
_PRIVATE = 1 << 18
# Flags of a mount in statvfs and in mount; not every system defines all of them.
_MOUNT_FLAGS = {
    os.ST_NOSUID: _NOSUID,
    getattr(os, "ST_NODEV", 4): _NODEV,
    getattr(os, "ST_NOEXEC", 8): 8,
    getattr(os, "ST_NOATIME", 1024): 1 << 10,
    getattr(os, "ST_RELATIME", 4096): 1 << 21,
}
# Flag of umount: detach the mount now, and free it when it is no longer in use.
_DETACH = 2
# Version of the kernel's structures of capabilities.
_CAPABILITIES = 0x20080522
# Operation of keyctl: join a new session keyring.
_JOIN_KEYRING = 1
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
# Maximum number of files and folders in the private folder: each needs kernel memory.
_INODES = 4096
_STAGE = "/tmp"  # noqa: S108  (a folder that every system has; only its place is used)
# The system's libraries that compiled Python packages need, on Linux.
_SYSTEM_LIBRARIES = (
    "libpthread.so.0",
    "libdl.so.2",
    "libm.so.6",
    "libgcc_s.so.1",
    "libstdc++.so.6",
)


class FilterProgram(ctypes.Structure):
    """A system call filter in the kernel's form, struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def main(job: Job) -> NoReturn:
    """Set the sandbox up and do the job in it."""
    try:
        die_with_parent()
        if job["group"]:
            wait_for(fork_into(job["group"]))
        has_namespaces = job["kind"] == "namespaces"
        if has_namespaces:
            enter_namespaces(job)
            wait_for(os.fork())
        # Files can still be read here.
        function = load_function(job) if job["mode"] == "function" else None
        if has_namespaces:
            empty_root(job["files"] if job["mode"] == "program" else (), job)
            init = os.fork()
            if init:
                os.close(job["status"])
                give_up_rights(NOBODY if job["user"] else None)
                prctl(_SET_DUMPABLE, 0)  # no other process may inspect this one
                wait_for(init)
        if job["kind"] == "bubblewrap":
            # Security profiles of bwrap may deny this.
            with contextlib.suppress(OSError):
                flags = _CHANGE | _NOSUID | _NODEV
                mount("none", job["folder"], "", flags, f"nr_inodes={_INODES}")
        work = prepare_work(job, function)
        # The order matters: each step needs a right that a later step removes.
        give_up_rights(job["user"])
        set_limits(job)
        forget_keys(job["keyctl"])
        missing = filter_calls(job)
        os.write(job["status"], b"ok" + missing.encode())
        os.close(job["status"])
    except (OSError, AttributeError, ImportError, ValueError) as error:
        with contextlib.suppress(OSError):
            os.write(job["status"], f"{type(error).__name__}: {error}".encode())
        os._exit(1)
    work()
    os._exit(0)


def call_library(name: str, *arguments: Any) -> None:  # noqa: ANN401
    """Call a function of the C library that returns 0 if it succeeds.

    Raises:
        OSError: it fails.
    """
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def prctl(option: int, value: int) -> None:
    """Set an option of this process, on Linux."""
    if sys.platform == "linux":
        arguments = [ctypes.c_ulong(number) for number in (value, 0, 0, 0)]
        call_library("prctl", option, *arguments)


def die_with_parent() -> None:
    """Make the kernel kill this process when its parent ends."""
    prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def wait_for(child: int) -> None:
    """Fork; return in the child, and make the parent exit like the child."""
    if child == 0:
        die_with_parent()
        return
    # Otherwise pipes would stay open after the child has closed them.
    for number in (0, 1, 2):
        os.close(number)
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(128 - code if code < 0 else code)


def fork_into(group: str) -> int:
    """Fork a child that starts in a control group; moving it later would take 10 ms."""
    folder = os.open(group, os.O_RDONLY | os.O_DIRECTORY)
    # struct clone_args: the flags come first, the signal fifth, and the group last.
    arguments = (ctypes.c_uint64 * 11)()
    arguments[0] = _INTO_GROUP
    arguments[4] = signal.SIGCHLD
    arguments[10] = folder
    size = ctypes.c_size_t(ctypes.sizeof(arguments))
    library = ctypes.CDLL(None, use_errno=True)
    child: int = library.syscall(ctypes.c_long(_CLONE3), ctypes.byref(arguments), size)
    os.close(folder)
    if child < 0:
        raise OSError(ctypes.get_errno(), f"clone3: {os.strerror(ctypes.get_errno())}")
    return child


def enter_namespaces(job: Job) -> None:
    """Enter new namespaces; use a user namespace if rights are missing."""
    if job["user"] is not None:
        try:
            call_library("unshare", _SPACES)
        except PermissionError:  # root of a container: continue like an ordinary user
            # A function keeps its user: its file may be readable only by root.
            if job["mode"] == "program":
                become_user(job["user"])
                # Makes this process the owner of its files in /proc again.
                prctl(_SET_DUMPABLE, 1)
            job["user"] = None
        else:
            return
    user = os.geteuid()
    group = os.getegid()
    call_library("unshare", _SPACES | _USER_SPACE)
    # The ids inside are the same as outside, but never those of root.
    Path("/proc/self/setgroups").write_bytes(b"deny")
    Path("/proc/self/uid_map").write_bytes(b"%d %d 1" % (user or NOBODY, user))
    Path("/proc/self/gid_map").write_bytes(b"%d %d 1" % (group or NOBODY, group))


def load_function(job: Job) -> Callable[[bytes], bytes]:
    """Import a function and its dependencies while files can still be read."""
    load_system_libraries()
    sys.path[:0] = job["path"]
    spec = importlib.util.spec_from_file_location("isolated", job["script"])
    if spec is None or spec.loader is None:
        raise ImportError(f"{job['script']} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[[bytes], bytes] = module.main
    return function


def load_system_libraries() -> None:
    """Load the system's libraries, so that no package finds other ones under the same names.

    Wheels of manifold3d search the folder in /tmp in which they were built, and any
    user of this machine can create that folder.
    """
    if sys.platform == "linux":
        for name in _SYSTEM_LIBRARIES:
            with contextlib.suppress(OSError):
                ctypes.CDLL(name)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount something with ``mount`` of the C library; empty strings become null pointers."""
    words = [word.encode() or None for word in (source, target, kind)]
    data = options.encode() or None
    call_library("mount", *words, ctypes.c_ulong(flags), data)


def empty_root(files: Sequence[str], job: Job) -> None:
    """Change the root to an empty folder that contains only these files, read-only."""
    # Later mounts are not visible outside.
    mount("none", "/", "", _PRIVATE | _DEEP)
    mount("tmpfs", _STAGE, "tmpfs", _NOSUID | _NODEV, "size=1m,mode=755")
    os.chdir(_STAGE)
    os.mkdir(".old")  # noqa: PTH102  (as the calls around it)
    call_library("pivot_root", b".", b".old")
    os.chdir("/")
    if files:
        for file in (*files, *_DEVICES):
            show_file(file)
        flags = _RDONLY | _NOSUID | _NODEV
        for folder in job["hidden"]:
            mount("tmpfs", folder, "tmpfs", flags, "size=4k,mode=755")
    Path(job["folder"]).mkdir()
    size = max(4096, job["limits"]["files"])
    options = f"size={size},mode=777,nr_inodes={_INODES}"
    mount("tmpfs", job["folder"], "tmpfs", _NOSUID | _NODEV, options)
    call_library("umount2", b"/.old", _DETACH)
    Path("/.old").rmdir()
    mount("none", "/", "", _BIND | _CHANGE | _RDONLY | _NOSUID | _NODEV)
    os.chdir(job["folder"])


def show_file(file: str) -> None:
    """Mount a file or folder of the old root at its place in the new one, read-only."""
    place = Path(file)
    old = f"/.old{file}"
    place.parent.mkdir(parents=True, exist_ok=True)
    if Path(old).is_dir():
        place.mkdir(exist_ok=True)
    else:
        place.touch()
    mount(old, file, "", _BIND | _DEEP)
    flags = _BIND | _CHANGE | _RDONLY | _NOSUID
    if file not in _DEVICES:
        flags |= _NODEV
    # Flags that the system has locked on a mount must be repeated, or the change is
    # refused.
    present_flags = os.statvfs(file).f_flag
    for mark, flag in _MOUNT_FLAGS.items():
        if present_flags & mark:
            flags |= flag
    mount("none", file, "", flags)


def prepare_work(
    job: Job, function: Callable[[bytes], bytes] | None
) -> Callable[[], None]:
    """Arrange the descriptors; return the work to do once the sandbox is set up."""
    if job["mode"] == "program":
        with open("program.py", "wb") as file:  # noqa: PTH123  (relative to the private folder)
            shutil.copyfileobj(sys.stdin.buffer, file)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.set_inheritable(job["status"], False)
        environment = {**os.environ, "HOME": job["folder"], "TMPDIR": job["folder"]}

        def start_program() -> None:
            os.execve(job["argv"][0], job["argv"], environment)  # noqa: S606

        return start_program

    if job["processor"] is not None:
        # On one processor, libraries start no threads, and results cannot depend on the
        # number of threads.
        os.sched_setaffinity(0, {job["processor"]})

    def call_function() -> None:
        result = os.dup2(1, 3)
        os.dup2(2, 1)  # printed text must not mix with the result
        # If no descriptor above those in use is available, no file or socket can be opened.
        os.closerange(result + 1, 256)
        resource.setrlimit(resource.RLIMIT_NOFILE, (result + 1, result + 1))
        answer = function(sys.stdin.buffer.read()) if function else b""
        with open(result, "wb") as pipe:  # noqa: PTH123  (a descriptor)
            pipe.write(answer)

    return call_function


def become_user(user: int) -> None:
    """Switch to another user permanently."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    die_with_parent()  # switching users reset it


def give_up_rights(user: int | None) -> None:
    """Switch to another user if one is given, and drop every capability permanently."""
    if user is not None:
        become_user(user)
    if sys.platform == "linux":
        header = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0)
        no_capabilities = (ctypes.c_uint32 * 6)()
        call_library("capset", header, no_capabilities)
        prctl(_SET_NO_NEW_PRIVILEGES, 1)


def set_limits(job: Job) -> None:
    """Set the limits of this process and its children."""
    limits = job["limits"]
    bounds = {
        "RLIMIT_CORE": 0,
        # If both limits are equal, the parent's wall-clock limit ends it first.
        "RLIMIT_CPU": int(limits["seconds"]) + 2,
        "RLIMIT_FSIZE": limits["files"] if job["mode"] == "program" else 0,
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
        # The soft limit of processor time sends a specific signal, the hard one kills.
        soft = max(1, limit - 1) if name == "RLIMIT_CPU" else limit
        try:
            resource.setrlimit(number, (soft, limit))
        except (OSError, ValueError):
            if (
                sys.platform == "linux"
            ):  # other systems define limits that they cannot set
                raise


def forget_keys(keyctl: int | None) -> None:
    """Start a separate session keyring, unless keys are unavailable."""
    if keyctl is not None:
        operation = ctypes.c_long(_JOIN_KEYRING)
        ctypes.CDLL(None).syscall(ctypes.c_long(keyctl), operation, None)


def filter_calls(job: Job) -> str:
    """Install the system call filter; if that fails, return the reason, or raise if strict."""
    code = bytes.fromhex(job["filter"])
    # An instruction takes eight bytes.
    program = FilterProgram(len(code) // 8, code)
    mode = ctypes.c_ulong(_FILTER_MODE)
    try:
        call_library("prctl", _SET_SECCOMP, mode, ctypes.byref(program), 0, 0)
    except (OSError, AttributeError) as error:
        reason = str(error)
        if not code:
            reason = f"no list of permitted system calls for {sys.platform} on {os.uname().machine}"
        if job["strict"]:
            raise OSError(f"system calls cannot be filtered: {reason}") from None
        return reason
    return ""


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
