"""What was worked out on this machine before, so that nothing is drawn, solved or judged twice.

Builders and graders are pure, so a case follows from its seed, an answer from the parameters, and a
score from both, with the code and the libraries under it. The hash of all these names what came of
it, in stores in the user's cache folder (`scbench.machine.store`): there is one for each state of
the graders and one for each of the builders. What was forged would be believed, so whoever decides
whether a release is sound, such as `publish`, begins from scratch.
"""

import os
import platform
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TypeVar, cast
from zlib import compress, decompress

from pydantic import JsonValue

from scbench.base.canonical import canonical_json, content_hash, parse_json, sha256
from scbench.catalog import Task, all_tasks
from scbench.machine.files import cache_folder
from scbench.machine.store import Store

T = TypeVar("T")

# Libraries that have a say in rows, references or files of a release, beside the
# fingerprints.
LIBRARIES = (
    *(
        "gmpy2",
        "highspy",
        "Jinja2",
        "manifold3d",
        "numpy",
        "openscad-evaluator",
        "pyarrow",
    ),
    *("pydantic", "PyYAML", "shapely", "vl-convert-python"),
)

# Files that are kept; older ones go.
_FILES = 8
# Folders of the package that judge, beside its modules at the top.
_JUDGED_BY = ("base", "graders", "machine", "schemas", "scoring")
_MADE_BY = (*_JUDGED_BY, "builders")


def installed(name: str) -> str:
    """Return the installed version of a library, or "not installed"."""
    try:
        return installed_version(name)
    except PackageNotFoundError:
        return "not installed"


def proofs_file(*, from_scratch: bool = False) -> Path:
    """Return the file of scores by the code and libraries that are here now; it may not exist.

    From scratch, what stands there is removed, so that all is proven now and remembered anew.

    Raises:
        OSError: it cannot be removed.
    """
    path = cache_folder() / "proofs" / f"{_state(_JUDGED_BY)[:16]}.jsonl"
    if from_scratch:
        for old in (path, _made_file(path)):
            old.unlink(missing_ok=True)
    return path


def proven_scores(
    path: Path | None,
    task: Task,
    params: str,
    answers: Sequence[str],
    prove: Callable[[], list[float]],
) -> list[float]:
    """Return the scores of answers to an instance: remembered ones, or else by judging now.

    Parameters and answers are canonical JSON; without a path nothing is remembered, and what
    judging raises never is.
    """
    if not answers:
        return []
    key: JsonValue = [task.id, task.grader_version, params, *answers]
    scores: list[float] = _remembered(path, task, key, prove)
    return scores


def made_before(
    path: Path | None, task: Task, key: JsonValue, make: Callable[[], T]
) -> T:
    """Return what a task's builder makes: remembered under its key beside the scores, or made now.

    It is made of JSON types alone; what making it raises is not remembered.
    """
    if path is not None:
        path = _made_file(path)
    return _remembered(path, task, [task.id, task.builder.version, key], make)


def _made_file(scores: Path) -> Path:
    """Return the file of what builders make, beside that of scores."""
    return scores.with_name(f"{_state(_MADE_BY)[:16]}-made.jsonl")


def _remembered(
    path: Path | None, task: Task, key: JsonValue, make: Callable[[], T]
) -> T:
    """Return a value that follows from a key; of other packages' code nothing is remembered."""
    if path is None or task.package != "scbench":
        return make()
    store, name = _open_store(path), content_hash(key)
    text = None
    with suppress(OSError), closing(store):  # another process has made room
        text = store.get(name)
    if text is not None:
        return cast(T, parse_json(decompress(b64decode(text))))
    value = make()
    # A cache that cannot be written saves nothing, and does no harm.
    with suppress(OSError), closing(store):
        if not path.exists():
            _make_room(path.parent)
        # A ladder takes 41 MB as it is, and there are several states of the code.
        store.add(name, b64encode(compress(canonical_json(value).encode(), 1)))
    return value


@cache
def _state(folders: Sequence[str]) -> str:
    """Return the hash of code in folders of the package, its libraries, and the machine."""
    package = Path(__file__).parents[1]
    files = (path for path in package.iterdir() if path.suffix in {".py", ".toml"})
    paths = [
        *files,
        *(path for name in folders for path in (package / name).rglob("*")),
    ]
    code = {
        path.relative_to(package).as_posix(): sha256(path.read_bytes())
        for path in paths
        if path.is_file() and path.suffix != ".pyc"
    }
    libraries: dict[str, str | None] = {name: installed(name) for name in LIBRARIES}
    libraries |= {task.id: task.fingerprint() for task in all_tasks().values()}
    return content_hash(
        [code, libraries, sys.version, platform.platform(), platform.node()]
    )


@cache
def _open_store(path: Path) -> Store:
    try:
        return Store(path)
    except OSError:
        return Store(
            Path(os.devnull, path.name)
        )  # which can neither be read nor written


def _make_room(folder: Path) -> None:
    """Make the folder of stores, and remove those by old code from it."""
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_mtime)
    for old in files[: 1 - _FILES]:
        old.unlink(missing_ok=True)
