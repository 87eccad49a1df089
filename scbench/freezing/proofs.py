"""Cache of earlier work on this machine, to avoid drawing, solving or grading twice.

Builders and graders are pure: seeds determine cases, parameters determine answers, and
both determine scores, together with code and libraries. Each result is stored under a
hash of all of these, in the user's cache folder (`scbench.machine.store`). There is one
store for each state of the graders and one for each state of the builders.

Entries are trusted, so a forged one would not be detected. Code that decides whether a
release is valid, such as `publish`, therefore starts from scratch.
"""

import os
import platform
import sys
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from zlib import compress, decompress

from pydantic import JsonValue

from scbench.base.canonical import canonical_json, content_hash, parse_json, sha256
from scbench.catalog import Task, all_tasks
from scbench.machine.files import cache_folder
from scbench.machine.store import Store

# Libraries that affect rows, references or files of a release, in addition to the
# tasks' fingerprints. Manifests list them in this order.
LIBRARIES = (
    "gmpy2",
    "highspy",
    "Jinja2",
    "manifold3d",
    "numpy",
    "openscad-evaluator",
    "pyarrow",
    "pydantic",
    "PyYAML",
    "shapely",
    "vl-convert-python",
)

# Number of stores in the cache folder; older ones are removed.
_MOST_FILES = 8
# Folders of the package that affect scores, in addition to its top-level modules.
_JUDGED_BY = ("base", "graders", "machine", "schemas", "scoring")
_BUILT_BY = (*_JUDGED_BY, "builders")


@dataclass(frozen=True, slots=True)
class Memo:
    """One value that this machine may have computed before.

    Attributes:
        path: the store that contains it; None if nothing is stored.
        name: key of the value in the store.
    """

    path: Path | None
    name: str = ""

    def read(self) -> Any:  # noqa: ANN401  (JSON of any shape)
        """Return the value, of JSON types; None if it is not cached."""
        if self.path is None:
            return None
        store = open_store(self.path)
        text = None
        # Another process may have removed the file to make room.
        with suppress(OSError), closing(store):
            text = store.get(self.name)
        if text is None:
            return None
        return parse_json(decompress(b64decode(text)))

    def write(self, value: object) -> None:
        """Cache a value of JSON types."""
        if self.path is None:
            return
        store = open_store(self.path)
        # A cache that cannot be written saves nothing, and does no harm.
        with suppress(OSError), closing(store):
            if not self.path.exists():
                _make_room(self.path.parent)
            # Without compression a ladder takes 41 MB, and there are several states of the code.
            packed = compress(canonical_json(value).encode(), 1)
            store.add(self.name, b64encode(packed))


def score_memo(
    path: Path | None, task: Task, params: str, answers: Sequence[str]
) -> Memo:
    """Return the memo of the scores of answers to an instance.

    Args:
        path: file of scores, see `proofs_file`; None to cache nothing.
        task: task of the instance.
        params: parameters of the instance, as canonical JSON.
        answers: the answers, as canonical JSON.
    """
    return _memo_of(path, task, [task.id, task.grader_version, params, *answers])


def builder_memo(path: Path | None, task: Task, key: JsonValue) -> Memo:
    """Return the memo of a result of a task's builder.

    Args:
        path: file of scores, next to which the results of builders are; None to cache nothing.
        task: task of the builder.
        key: everything that determines the result, except the builder.
    """
    store_path = None if path is None else builder_file(path)
    return _memo_of(store_path, task, [task.id, task.builder.version, key])


def _memo_of(path: Path | None, task: Task, key: JsonValue) -> Memo:
    # The state of the code covers only this package, so results of other packages are
    # not cached.
    if path is None or task.package != "scbench":
        return Memo(None)
    return Memo(path, content_hash(key))


def _make_room(folder: Path) -> None:
    """Create the folder of stores, and remove stores of old code from it."""
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_mtime)
    # One place stays free for the file that is written next.
    for old in files[: 1 - _MOST_FILES]:
        old.unlink(missing_ok=True)


@cache
def open_store(path: Path) -> Store:
    """Return the store at a path; it is the same object for the whole process."""
    try:
        return Store(path)
    except OSError:
        # This path cannot be read or written.
        return Store(Path(os.devnull, path.name))


def proofs_file(*, from_scratch: bool = False) -> Path:
    """Return the file of scores by the current code and libraries; it may not exist.

    With ``from_scratch``, the cached results of this code are removed first.

    Raises:
        OSError: the cached results cannot be removed.
    """
    path = cache_folder() / "proofs" / f"{code_state(_JUDGED_BY)[:16]}.jsonl"
    if from_scratch:
        for old in (path, builder_file(path)):
            # Without a home folder there is no cache.
            with suppress(NotADirectoryError):
                old.unlink(missing_ok=True)
    return path


def builder_file(scores: Path) -> Path:
    """Return the file of builders' results next to a file of scores."""
    return scores.with_name(f"{code_state(_BUILT_BY)[:16]}-made.jsonl")


@cache
def code_state(folders: Sequence[str]) -> str:
    """Return a hash of the code in some folders of the package, its libraries, and the machine."""
    package = Path(__file__).parents[1]
    paths = [path for path in package.iterdir() if path.suffix in {".py", ".toml"}]
    for name in folders:
        paths += (package / name).rglob("*")
    code = {}
    for path in paths:
        if path.is_file() and path.suffix != ".pyc":
            code[path.relative_to(package).as_posix()] = sha256(path.read_bytes())
    libraries: dict[str, str | None] = {
        name: installed_version(name) for name in LIBRARIES
    }
    # Some graders depend on the processor's arithmetic.
    for task in all_tasks().values():
        libraries[task.id] = task.fingerprint()
    return content_hash(
        [code, libraries, sys.version, platform.platform(), platform.node()]
    )


def installed_version(name: str) -> str:
    """Return the installed version of a library, or "not installed"."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
