"""Reading untrusted files in a child process with limited memory.

A malicious file can crash the library that reads it, or exhaust the memory. In that case only the
child ends, and the file is refused with a message.
"""

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from scbench.base.errors import ScbenchError, printable, reading_parquet
from scbench.machine.signals import blocked
from scbench.machine.tables import scan_parquet

if TYPE_CHECKING:
    import polars as pl

# Maximum address space of a child, in bytes: a file may claim any number of rows.
MEMORY = 2**33
# Start of each program: it uses the parent's module path, limits the memory, and ends soon after
# its parent, also if that is killed.
_START = """
import json, os, sys, threading, time
sys.path[:] = json.loads(sys.argv[1])
parent = os.getppid()
def end_with_parent():
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
threading.Thread(target=end_with_parent, daemon=True).start()
from scbench.machine.limits import limit_memory
limit_memory(int(sys.argv[2]))
arguments = json.loads(sys.argv[3])
"""
# Reads the rows of each Parquet file named on standard input, and writes its error or
# "".
_ROWS = """
import polars as pl
for line in sys.stdin:
    try:
        path = json.loads(line)
        lazy = pl.scan_parquet(open(path, "rb"))
        for start in range(0, lazy.select(pl.len()).collect().item(), arguments):
            lazy.slice(start, arguments).collect()
        fault = ""
    except (Exception, pl.exceptions.PanicException) as error:
        fault = str(error).partition("\\n")[0] or type(error).__name__
    print(json.dumps(fault), flush=True)
"""
# Rows read at a time.
_BLOCK = 50_000
# Bytes of standard error that are searched for the last line.
_MOST_STDERR = 10_000
# Only one thread at a time uses the child that reads Parquet.
_LOCK = threading.Lock()


class ChildError(ScbenchError):
    """A child could not read a file."""


def lines_of_child(program: str, arguments: object) -> Iterator[bytes]:
    """Run one of our programs in a child, and yield its output lines.

    Args:
        program: source code; it can use `arguments` and this process's module path.
        arguments: JSON.

    Raises:
        ChildError: the child failed; the message has the end of its standard error.
    """
    with (
        TemporaryFile() as stderr,
        _start_child(
            program, arguments, stdin=subprocess.DEVNULL, stderr=stderr, text=False
        ) as child,
    ):
        try:
            yield from child.stdout or ()
        except BaseException:
            child.kill()
            raise
        if child.wait():
            stderr.seek(0)
            text = stderr.read()[-_MOST_STDERR:].decode("utf-8", "replace")
            lines = text.strip().splitlines()
            if child.returncode > 0 and lines:
                raise ChildError(_reason(lines[-1]))
            raise ChildError(_exit_text(child.returncode))


def _start_child(
    program: str, arguments: object, *, stdin: int, stderr: IO[bytes] | int, text: bool
) -> "subprocess.Popen[Any]":
    settings = (json.dumps(sys.path), str(MEMORY), json.dumps(arguments))
    command = [sys.executable, "-I", "-c", _START + program, *settings]
    # Ctrl-C reaches all processes of a terminal. If it ended the child, the file would look
    # damaged.
    with blocked():
        return subprocess.Popen(  # noqa: S603  (our own program, and no shell)
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, text=text
        )


def _reason(last_line: str) -> str:
    """Return the message of the last line of a traceback."""
    if last_line.startswith("MemoryError"):
        return f"it needs more than {MEMORY / 2**30:g} GiB of memory"
    message = last_line.partition(": ")[2]
    return printable(message or last_line)[:300]


def _exit_text(code: int) -> str:
    if code < 0:
        return f"the library that reads it was killed by signal {-code}"
    return f"the library that reads it exited with code {code}"


@contextmanager
def checked_parquet(
    path: Path, refusal: type[ScbenchError]
) -> "Iterator[pl.LazyFrame]":
    """Return the rows of a Parquet file after a child has read it; refuse unreadable files."""
    check_parquet(path, path, refusal)
    with reading_parquet(path, refusal):
        yield scan_parquet(path)


def check_parquet(
    file: Path | bytes, name: object, error_type: type[ScbenchError]
) -> None:
    """Check that a Parquet file can be read before this process reads it.

    Args:
        file: path or content.
        name: the file, for the message.
        error_type: type of the error to raise.
    """
    if isinstance(file, bytes):
        with NamedTemporaryFile(suffix=".parquet") as copy:
            copy.write(file)
            copy.flush()
            check_parquet(Path(copy.name), name, error_type)
        return
    with _LOCK:
        child = _parquet_child(os.getpid())
        request = json.dumps(str(file.absolute()))
        try:
            print(request, file=child.stdin, flush=True)
            reply = (child.stdout or StringIO()).readline()
        except BrokenPipeError:
            reply = ""
        except BaseException:
            # The child's reply would be mistaken for the reply to the next file.
            _parquet_child.cache_clear()
            _stop(child)
            raise
        if not reply:
            # The child is dead; the next file gets a new one.
            _parquet_child.cache_clear()
            _stop(child)
    fault = json.loads(reply) if reply else _exit_text(child.returncode)
    if fault:
        raise error_type(f"{name} cannot be read as Parquet: {printable(fault)[:300]}")


@cache
def _parquet_child(_owner: int) -> "subprocess.Popen[str]":
    """Start the child that reads Parquet. This is slow, so it is reused for many files.

    Args:
        _owner: id of this process. A fork must not read the replies to its parent.
    """
    stderr = subprocess.DEVNULL
    child = _start_child(_ROWS, _BLOCK, stdin=subprocess.PIPE, stderr=stderr, text=True)
    atexit.register(_stop_own, child, os.getpid())
    return child


def _stop_own(child: "subprocess.Popen[str]", owner: int) -> None:
    """Stop a child at the end of the process that started it, not at the end of a fork."""
    if os.getpid() == owner:
        _stop(child)


def _stop(child: "subprocess.Popen[str]") -> int:
    child.kill()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    return child.wait()
