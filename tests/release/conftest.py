"""Releases to look at, to damage and to forge."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from scbench.canonical import sha256
from scbench.catalog import get_task
from scbench.release.freeze import build_release
from scbench.release.load import find_release
from scbench.release.manifest import MANIFEST, Manifest

TWO_TASKS = ("enumerate_edges", "shikaku_rectangles")


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small release of two tasks from two buckets. Not to be changed."""
    folder = tmp_path_factory.mktemp("sound") / "0.0.1"
    build_release("0.0.1", folder, [get_task(task) for task in TWO_TASKS])
    return folder


@pytest.fixture(scope="session")
def whole() -> Path:
    """The newest release of the repository. Not to be changed."""
    return find_release().root


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    """A copy of the small release that a test may damage."""
    return Path(shutil.copytree(sound, tmp_path / "copy"))


@pytest.fixture
def forge() -> Callable[..., None]:
    """A function that makes a manifest agree with the files again, as a careful forger would."""

    def forge(root: Path, change: Callable[[dict], object] = lambda _: None) -> None:
        record = json.loads((root / MANIFEST).read_text("utf-8"))
        change(record)
        record["files"] = {
            path.relative_to(root).as_posix(): {
                "sha256": sha256(path.read_bytes()),
                "bytes": path.stat().st_size,
            }
            for path in sorted(root.rglob("*"))
            if path.is_file() and path.name != MANIFEST
        }
        (root / MANIFEST).write_text(Manifest.model_validate(record).sealed().text(), "utf-8")

    return forge
