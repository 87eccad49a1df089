"""Releases to look at, to damage and to forge."""

import json
import os
import runpy
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from scbench.canonical import sha256
from scbench.catalog import get_task
from scbench.release.croissant import render_croissant
from scbench.release.freeze import build_release
from scbench.release.load import find_release
from scbench.release.manifest import CROISSANT, MANIFEST, FileRecord, Manifest

TWO_TASKS = ("enumerate_edges", "shikaku_rectangles")


@pytest.fixture(scope="session", autouse=True)
def hub_home(tmp_path_factory: pytest.TempPathFactory):
    """The Hub's clients, offline and with a home of their own, before anyone imports them."""
    patch = pytest.MonkeyPatch()
    patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hf")))
    patch.setenv("HF_HUB_OFFLINE", "1")
    patch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    yield
    patch.undo()


HUB = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("loopback_hub.py"))))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A Hub on this machine that the clients of this process talk to, with the right to write."""
    import huggingface_hub.utils._http as http  # noqa: PLC0415  (after its home is set)
    from huggingface_hub import constants  # noqa: PLC0415

    class Hasty:
        """The time module without waiting: clients wait for seconds before they try again."""

        sleep = staticmethod(lambda _: None)

        def __getattr__(self, name: str) -> object:
            return getattr(time, name)

    look_up = socket.getaddrinfo

    def only_here(host: object, *args: object, **options: object):
        assert host == "127.0.0.1", f"a test asked for {host}"
        return look_up(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", only_here)
    with HUB.running_hub() as hub:
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub.url)
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        # Its storage protocol is another; over LFS the same bytes arrive.
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(http, "time", Hasty())
        monkeypatch.setenv("HF_TOKEN", HUB.WRITER)
        http.close_session()
        yield hub
        http.close_session()


@pytest.fixture
def hub_command(tmp_path: Path):
    """A function that runs a command as a user of a given Hub does."""

    def run(hub, *args: object, **extra: str) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "HF_HOME": str(tmp_path / "hf"),
            "HF_ENDPOINT": hub.url,
            "HF_TOKEN": HUB.WRITER,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }
        command = [Path(sys.executable).with_name(str(args[0])), *map(str, args[1:])]
        done = subprocess.run(
            command, env=env | extra, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


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


def file_record(path: Path) -> dict:
    return {"sha256": sha256(path.read_bytes()), "bytes": path.stat().st_size}


@pytest.fixture
def forge() -> Callable[..., None]:
    """A function that makes a manifest agree with the files again, as a careful forger would."""

    def forge(root: Path, change: Callable[[dict], object] = lambda _: None) -> None:
        record = json.loads((root / MANIFEST).read_text("utf-8"))
        change(record)
        record["files"] = {
            path.relative_to(root).as_posix(): file_record(path)
            for path in sorted(root.rglob("*"))
            if path.is_file() and path.name != MANIFEST
        }
        manifest = Manifest.model_validate(record)
        if CROISSANT in manifest.files:  # it holds hashes, too
            (root / CROISSANT).write_text(render_croissant(manifest), "utf-8")
            manifest.files[CROISSANT] = FileRecord(**file_record(root / CROISSANT))
        (root / MANIFEST).write_text(manifest.sealed().text(), "utf-8")

    return forge
