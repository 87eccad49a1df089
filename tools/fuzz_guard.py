"""Keep a fuzzed target from changing files, opening sockets, starting processes or hanging.

Python reports such actions to audit hooks before they happen, and a hook prevents them by raising.
A hook cannot be removed, so this one does nothing unless a target is running. Memory is limited as
well.
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
# Names of forbidden audit events, and prefixes of the names of others.
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
    """A target did something that no reader or grader may do. Code under test does not catch it."""


class HangError(BaseException):
    """A target exceeded its time limit."""


class ChildrenSpentError(BaseException):
    """A target needs more isolated child processes than it was given; this is not a finding."""


class _State:
    """The guard of this process.

    Attributes:
        armed: whether a target is running.
        hooked: whether the hook is up.
        children: number of isolated children that targets may still start; -1 after the last.
        starting: program of the child process that is being started.
        scratch: folder in which targets may write files.
    """

    armed = False
    hooked = False
    children = 0
    starting: object = None
    scratch: str | None = None


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    """Prevent an action that is forbidden to a running target."""
    # When Python exits, the module's names disappear before the hook does.
    is_over = _State is None
    if is_over or not _State.armed or _in_scratch(arguments):
        return
    if event == "open":
        path, _, flags = arguments
        # A number is the descriptor of a pipe to a child process.
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
        # Python 3.13 starts the child process this way.
        _State.starting = None
        return
    if event == "os.kill" and _is_child(arguments[0]):
        # A reader that gives up kills its own child process.
        return
    if event in _ACTS or event.startswith(_FAMILIES):
        raise ForbiddenError(f"{event} {arguments!r:.200}")


def _is_child(pid: object) -> bool:
    """Return whether this process started the process ``pid``."""
    if not isinstance(pid, int) or pid < 1:
        return False
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
        return int(file.read().rpartition(b")")[2].split()[1]) == os.getpid()
    return False


def _in_scratch(arguments: tuple[object, ...]) -> bool:
    """Return whether an action is on a scratch file, or on a file in an already opened folder."""
    if _State.scratch is None or not arguments:
        return False
    if arguments[1:3] == (socket.AF_UNIX, socket.SOCK_STREAM):
        # A pipe that asyncio opens to itself.
        return True
    name = arguments[0]
    if not isinstance(name, str | os.PathLike):
        return False
    if os.fspath(name).startswith(_State.scratch):
        return True
    # The arguments are a name and the descriptor of a folder.
    return len(arguments) == 2 and isinstance(arguments[1], int) and arguments[1] >= 0


def _late(_number: int, _frame: FrameType | None) -> None:
    raise HangError


def install(children: int = 0, scratch: str | None = None) -> None:
    """Install the hook, and set the actions allowed to the targets of this process.

    Args:
        children: number of isolated child processes that they may start.
        scratch: folder in which they may write files.
    """
    if not _State.hooked:
        sys.addaudithook(_hook)
        _State.hooked = True
    _State.children, _State.scratch = children, scratch


def limit_memory(extra: int) -> None:
    """Limit the address space of this process to this many bytes more than it has now.

    The coverage guidance itself needs gigabytes, and more the longer it runs.
    """
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  (faster; runs once per execution)
        pages = int(file.read().split(b" ", 1)[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(
        resource.RLIMIT_AS, (pages * resource.getpagesize() + extra, hard)
    )


@contextlib.contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Activate the guard while the block runs, and stop the block after this much CPU time.

    The limit is in CPU time, because a busy machine is not a finding.
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
