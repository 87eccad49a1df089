"""Scores of references that were judged on this machine before, so that none is judged twice.

A grader is pure, so a score follows from the parameters, the answer, the code that grades, and the
libraries under it. The hash of all these names a score, in a file of lines in the user's cache
folder: there is one file for each state of the code. A line that was damaged is not read. One that
was forged would be believed, so whoever decides whether a release is sound, such as `publish`,
judges from scratch.
"""

import os
import platform
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import scbench
from scbench.build.libraries import LIBRARIES, installed
from scbench.canonical import canonical_json, content_hash, parse_json, sha256
from scbench.catalog import Task
from scbench.errors import JsonError

_KEPT = 8
"""States of the code whose scores are kept; older ones go."""
_GRADING = ("graders", "schemas", "sandbox")
"""Folders of the package that graders are made of, beside its modules at the top."""


def proofs_file() -> Path:
    """Return the file of scores by the code and libraries that are here now; it may not exist."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "scbench" / "proofs" / f"{_judged_by()[:16]}.jsonl"


def proven_scores(
    path: Path | None,
    task: Task,
    params: str,
    answers: Sequence[str],
    prove: Callable[[], list[float]],
) -> list[float]:
    """Return the scores of answers to an instance: remembered ones, or else by judging now.

    Those of other packages' tasks, whose code is not looked at, are not remembered.

    Args:
        path: file of scores; None to judge whatever was judged before.
        task: what is graded.
        params: all parameters of an instance, as JSON.
        answers: as canonical JSON.
        prove: judges the answers, in order; what it raises is not remembered.
    """
    if path is None or not answers or task.package != "scbench":
        return prove()
    key = content_hash([task.id, task.grader_version, params, list(answers)])
    known = _read(path).get(key)
    if known is not None and len(known) == len(answers):
        return known
    scores = _read(path)[key] = prove()
    with suppress(OSError):  # a cache that cannot be written saves nothing, and does no harm
        _append(path, key, scores)
    return scores


@cache
def _judged_by() -> str:
    """Return the hash of the code that grades, its libraries, and the machine."""
    package = Path(scbench.__file__).parent
    paths = [*package.glob("*.py"), *(p for name in _GRADING for p in (package / name).rglob("*"))]
    code = {
        path.relative_to(package).as_posix(): sha256(path.read_bytes())
        for path in paths
        if path.is_file() and path.suffix != ".pyc"
    }
    libraries = {name: installed(name) for name in LIBRARIES}
    return content_hash([code, libraries, sys.version, platform.platform(), platform.node()])


@cache
def _read(path: Path) -> dict[str, list[float]]:
    """Return the scores in a file, by key."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return {}
    found = {}
    for line in text.splitlines():
        with suppress(JsonError):
            match parse_json(line.encode()):
                case [str(key), [*scores], check] if check == content_hash([key, scores]):
                    found[key] = [score for score in scores if isinstance(score, float)]
    return found


def _append(path: Path, key: str, scores: list[float]) -> None:
    """Write a line at once, so that those of several processes do not mix."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        files = sorted(path.parent.glob("*.jsonl"), key=lambda file: file.stat().st_mtime)
        for old in files[: 1 - _KEPT]:
            old.unlink(missing_ok=True)
    line = canonical_json([key, scores, content_hash([key, scores])]) + "\n"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)
