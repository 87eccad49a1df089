"""Reading what nobody vouches for: in a child of this Python with a limit on its memory.

A file that was made for it can abort the library that reads it, or fill the machine; then a child
ends, and the file is refused in a sentence.
"""

import atexit
import json
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
from scbench.machine.tables import scan_parquet

if TYPE_CHECKING:
    import polars as pl

# Bytes of address space of a child: a file may claim any number of rows.
MEMORY = 2**33
_LIMIT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from scbench.machine.processes import limit_memory
limit_memory(int(sys.argv[2]))
arguments = json.loads(sys.argv[3])
"""
# Reads Parquet files row by row, as they are named, and says what is wrong with each.
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
_BLOCK = 50_000
_LOCK = threading.Lock()


class ChildError(ScbenchError):
    """A child could not read what it was to read."""


def _start_child(
    program: str, arguments: object, *, stdin: int, stderr: IO[bytes] | int, text: bool
) -> "subprocess.Popen[Any]":
    settings = (json.dumps(sys.path), str(MEMORY), json.dumps(arguments))
    command = [sys.executable, "-I", "-c", _LIMIT + program, *settings]
    return subprocess.Popen(  # noqa: S603  (our own program, and no shell)
        command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, text=text
    )


def lines_of_child(program: str, arguments: object) -> Iterator[bytes]:
    """Run a program of ours in a child, and yield the lines that it writes.

    Args:
        program: source; `arguments` is there, and modules are found as here.
        arguments: JSON.

    Raises:
        ChildError: it failed, with its last words.
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
            last = (
                stderr.read()[-10_000:].decode("utf-8", "replace").strip().splitlines()
            )
            why = _fate(child.returncode)
            if child.returncode > 0 and last:
                why = printable(last[-1].partition(": ")[2] or last[-1])[:300]
                if last[-1].startswith("MemoryError"):
                    why = f"it takes more than {MEMORY / 2**30:g} GiB of memory"
            raise ChildError(why)


def _fate(code: int) -> str:
    if code < 0:
        return f"the library that reads it ended by signal {-code}"
    return f"the library that reads it ended with {code}"


@cache
def _parquet_child() -> "subprocess.Popen[str]":
    stderr = subprocess.DEVNULL
    child = _start_child(_ROWS, _BLOCK, stdin=subprocess.PIPE, stderr=stderr, text=True)
    atexit.register(_stop, child)
    return child


def _stop(child: "subprocess.Popen[str]") -> int:
    child.kill()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    return child.wait()


@contextmanager
def checked_parquet(
    path: Path, refusal: type[ScbenchError]
) -> "Iterator[pl.LazyFrame]":
    """Give the rows of a Parquet file that a child has read first; refuse what it cannot read."""
    check_parquet(path, path, refusal)
    with reading_parquet(path, refusal):
        yield scan_parquet(path)


def check_parquet(
    file: Path | bytes, what: object, refusal: type[ScbenchError]
) -> None:
    """Make sure that a Parquet file can be read, before this process reads it.

    Args:
        file: path or content.
        what: the file, for the message.
        refusal: type of error that is raised.
    """
    if isinstance(file, bytes):
        with NamedTemporaryFile(suffix=".parquet") as copy:
            copy.write(file)
            copy.flush()
            check_parquet(Path(copy.name), what, refusal)
        return
    with _LOCK:
        child = _parquet_child()
        request = json.dumps(str(file.absolute()))
        try:
            print(request, file=child.stdin, flush=True)
            reply = (child.stdout or StringIO()).readline()
        except BrokenPipeError:
            reply = ""
        if not reply:
            _parquet_child.cache_clear()
            _stop(child)
    fault = json.loads(reply) if reply else _fate(child.returncode)
    if fault:
        raise refusal(f"{what} cannot be read as Parquet: {printable(fault)[:300]}")
