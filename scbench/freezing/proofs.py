"""What was worked out on this machine before, so that nothing is drawn, solved or judged twice.

Builders and graders are pure, so a case follows from its seed, an answer from the parameters, and a
score from both, with the code and the libraries under it. The hash of all these names what came of
it, in files of lines in the user's cache folder: there is one for each state of the graders and one
for each of the builders. A line that was damaged is not read. One that was forged would be
believed, so whoever decides whether a release is sound, such as `publish`, begins from scratch.
"""

import os
import platform
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar, cast
from zlib import compress, decompress

from pydantic import JsonValue

import scbench
from scbench.base.canonical import canonical_json, content_hash, parse_json, sha256
from scbench.catalog import Task
from scbench.freezing.libraries import LIBRARIES, installed

T = TypeVar("T")

_FILES = 8
"""Files that are kept; older ones go."""
_JUDGED_BY = ("graders", "schemas", "sandbox")
"""Folders of the package that judge, beside its modules at the top."""
_MADE_BY = (*_JUDGED_BY, "builders")


def proofs_file() -> Path:
    """Return the file of scores by the code and libraries that are here now; it may not exist."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "scbench" / "proofs" / f"{_state(_JUDGED_BY)[:16]}.jsonl"


def proven_scores(
    path: Path | None,
    task: Task,
    params: str,
    answers: Sequence[str],
    prove: Callable[[], list[float]],
) -> list[float]:
    """Return the scores of answers to an instance: remembered ones, or else by judging now.

    Args:
        path: file of scores; None to judge whatever was judged before.
        task: what is graded.
        params: all parameters of an instance, as JSON.
        answers: as canonical JSON.
        prove: judges the answers, in order; what it raises is not remembered.
    """
    if not answers:
        return []
    key: JsonValue = [task.id, task.grader_version, params, *answers]
    scores: list[float] = _remembered(path, task, key, prove)
    return scores


def made_before(path: Path | None, task: Task, key: JsonValue, make: Callable[[], T]) -> T:
    """Return what a task's builder makes: remembered, or else made now.

    Args:
        path: file of scores, beside which it is remembered; None to make it anew.
        task: whose builder it is.
        key: what it is made from, and what for.
        make: makes it, of JSON types alone; what it raises is not remembered.
    """
    if path is not None:
        path = path.with_name(f"{_state(_MADE_BY)[:16]}-made.jsonl")
    return _remembered(path, task, [task.id, task.builder.version, key], make)


def _remembered(path: Path | None, task: Task, key: JsonValue, make: Callable[[], T]) -> T:
    """Return a value that follows from a key; of other packages' code nothing is remembered."""
    if path is None or task.package != "scbench":
        return make()
    name = content_hash(key)
    values = _read(path)
    if name in values:
        return cast(T, parse_json(decompress(b64decode(values[name]))))
    value = make()
    # A ladder takes 41 MB as it is, and there are several states of the code.
    text = b64encode(compress(canonical_json(value).encode(), 1))
    values[name] = text
    with suppress(OSError):  # a cache that cannot be written saves nothing, and does no harm
        _append(path, name, text)
    return value


@cache
def _state(folders: Sequence[str]) -> str:
    """Return the hash of code in folders of the package, its libraries, and the machine."""
    package = Path(scbench.__file__).parent
    paths = [*package.glob("*.py"), *(p for name in folders for p in (package / name).rglob("*"))]
    code = {
        path.relative_to(package).as_posix(): sha256(path.read_bytes())
        for path in paths
        if path.is_file() and path.suffix != ".pyc"
    }
    libraries = {name: installed(name) for name in LIBRARIES}
    return content_hash([code, libraries, sys.version, platform.platform(), platform.node()])


@cache
def _read(path: Path) -> dict[str, bytes]:
    """Return the values in a file by their keys, as JSON that is packed."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return {}
    # A line holds a hash, a key and a value; it is not parsed before it is asked for.
    parts = (line.split(b" ", 2) for line in lines)
    return {
        part[1].decode("ascii"): part[2]
        for part in parts
        if len(part) == 3 and part[0] == _check(part[1], part[2])
    }


def _check(key: bytes, value: bytes) -> bytes:
    return sha256(key + b" " + value).encode()


def _append(path: Path, key: str, value: bytes) -> None:
    """Write a line at once, so that those of several processes do not mix."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        files = sorted(path.parent.glob("*.jsonl"), key=lambda file: file.stat().st_mtime)
        for old in files[: 1 - _FILES]:
            old.unlink(missing_ok=True)
    name = key.encode()
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, _check(name, value) + b" " + name + b" " + value + b"\n")
    finally:
        os.close(handle)
