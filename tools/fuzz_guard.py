"""Forbid a fuzzed target some acts: touch files, open sockets, start processes, hang, eat memory.

Python reports such acts to audit hooks before they happen, and a hook that raises prevents them.
A hook cannot be taken away again, so this one does nothing unless a target is running.
"""

import contextlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from types import FrameType

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Audit events of acts that are forbidden, and beginnings of the names of others.
_ACTS = frozenset(
    {
        "os.chmod",
        "os.chown",
        "os.link",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.symlink",
        "os.truncate",
        "os.utime",
        "os.setxattr",
        "os.putenv",
        "os.chdir",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.kill",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
        "pickle.find_class",
        "pty.spawn",
        "subprocess.Popen",
        "signal.pthread_kill",
        "tempfile.mkdtemp",
        "tempfile.mkstemp",
        "urllib.Request",
        "webbrowser.open",
        "code.__new__",
        "ctypes.dlopen",
        "mmap.__new__",
    }
)
_FAMILIES = ("socket.", "shutil.", "ftplib.", "http.client.", "smtplib.")


class ForbiddenError(BaseException):
    """A target did something that no reader or grader may do. No code in between catches it."""


class HangError(BaseException):
    """A target took longer than it may."""


class ChildrenSpentError(BaseException):
    """A target wants one more isolated child than it was given; no fault of its own."""


class _State:
    """The guard of this process.

    Attributes:
        armed: whether a target is running.
        hooked: whether the hook is up.
        children: isolated children that targets may still start; -1 once all are started.
        starting: program of the child that is being started.
        scratch: folder that targets may write files in.
    """

    armed = False
    hooked = False
    children = 0
    starting: object = None
    scratch: str | None = None


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse an act that a running target may not do."""
    # At the end of Python, names of modules are gone before the hook is.
    is_over = _State is None
    if is_over or not _State.armed or _in_scratch(arguments):
        return
    if event == "open":
        path, _, flags = arguments
        # A number is a pipe to a child, made an object.
        is_harmless = isinstance(path, int) or path == os.devnull
        if isinstance(flags, int) and flags & _WRITING and not is_harmless:
            raise ForbiddenError(f"opens {path!r} for writing")
        return
    if event == "subprocess.Popen" and _State.children != 0:
        if _State.children < 0:
            raise ChildrenSpentError
        _State.children -= 1
        if _State.children == 0:
            _State.children = -1
        _State.starting = arguments[0]
        return
    if event == "os.posix_spawn" and arguments[0] == _State.starting:
        # That child, which Python 3.13 starts so.
        _State.starting = None
        return
    if event == "os.kill" and _is_child(arguments[0]):
        # A reader that gives up ends what reads for it.
        return
    if event in _ACTS or event.startswith(_FAMILIES):
        raise ForbiddenError(f"{event} {arguments!r:.200}")


def _is_child(pid: object) -> bool:
    """Whether a process was started by this one."""
    if not isinstance(pid, int) or pid < 1:
        return False
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
        return int(file.read().rpartition(b")")[2].split()[1]) == os.getpid()
    return False


def _in_scratch(arguments: tuple[object, ...]) -> bool:
    """Whether an act is on a file there, or on one of a folder that was opened before."""
    if _State.scratch is None or not arguments:
        return False
    if arguments[1:3] == (socket.AF_UNIX, socket.SOCK_STREAM):
        # A pipe of asyncio's to itself.
        return True
    name = arguments[0]
    if not isinstance(name, str | os.PathLike):
        return False
    if os.fspath(name).startswith(_State.scratch):
        return True
    # A name and a descriptor of a folder.
    return len(arguments) == 2 and isinstance(arguments[1], int) and arguments[1] >= 0


def _late(_number: int, _frame: FrameType | None) -> None:
    raise HangError


def install(children: int = 0, scratch: str | None = None) -> None:
    """Put up the hook, and allow the targets of this process some acts.

    Args:
        children: isolated children that they may start.
        scratch: folder that they may write files in.
    """
    if not _State.hooked:
        sys.addaudithook(_hook)
        _State.hooked = True
    _State.children, _State.scratch = children, scratch


def limit_memory(extra: int) -> None:
    """Limit the address space of this process to so many bytes more than it has now.

    What guides the inputs takes gigabytes itself, the more the longer it runs.
    """
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  (quicker; once an execution)
        pages = int(file.read().split(b" ", 1)[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(
        resource.RLIMIT_AS, (pages * resource.getpagesize() + extra, hard)
    )


@contextlib.contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Arm the guard while the block runs, and end the block after so many seconds of work.

    Seconds are those of the processor, as a busy machine is no finding.
    """
    before = signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    _State.armed = True
    try:
        yield
    finally:
        _State.armed = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
