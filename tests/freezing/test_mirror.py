"""Publishing to folders and fsspec targets: complete, verified, never changed, indexed."""

import json

import fsspec
import pytest
from folders import contents

from scbench.base.errors import ReleaseError
from scbench.catalog import get_task
from scbench.freezing.freeze import build_release
from scbench.freezing.target import publish_to_target
from scbench.release.load import find_release, open_release
from scbench.release.manifest import CARD, MANIFEST


@pytest.fixture
def memory(request):
    """A folder of fsspec's file system in memory."""
    system = fsspec.filesystem("memory")
    name = f"/{request.node.name}"
    yield system, f"memory:/{name}"
    if system.exists(name):
        system.rm(name, recursive=True)


def files(system, folder: str) -> dict[str, bytes]:
    return {
        path.split(f"{folder}/", 1)[1]: system.cat_file(path)
        for path in system.find(folder)
    }


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_folder_contains_versions_and_an_index(sound, tmp_path, scheme):
    target = tmp_path / "shelf"
    newer = tmp_path / "newer"
    build_release("0.0.10", newer, [get_task("shikaku_rectangles")])
    for root in (newer, sound):
        publish_to_target(open_release(root), f"{scheme}{target}")
    index = json.loads((target / "index.json").read_text("utf-8"))
    assert index["name"] == "scbench"
    assert list(index["releases"]) == ["0.0.1", "0.0.10"]
    manifest = open_release(sound).manifest
    assert index["releases"]["0.0.1"] == {
        "path": "0.0.1", "digest": manifest.digest, "rows_hash": manifest.rows_hash,
        "tasks": 2, "instances": 14, "scores": 14, "withdrawn": 0,
    }  # fmt: skip
    assert contents(target / "0.0.1") == contents(sound)
    assert find_release(str(target / "0.0.10")).version == "0.0.10"
    assert sorted(path.name for path in target.iterdir()) == [
        "0.0.1",
        "0.0.10",
        "index.json",
    ]


def test_published_version_is_never_changed(sound, copy, forge, tmp_path, memory):
    (copy / CARD).write_text("# Better\n", "utf-8")
    forge(copy)
    for target in (str(tmp_path / "shelf"), memory[1]):
        publish_to_target(open_release(sound), target)
        with pytest.raises(
            ReleaseError, match=r"contains a different release .*README\.md|MANIFEST"
        ):
            publish_to_target(open_release(copy), target)
    assert contents(tmp_path / "shelf" / "0.0.1") == contents(sound)


class BrokenError(Exception):
    pass


def test_interrupted_copy_is_completed(sound, memory, monkeypatch):
    system, url = memory
    write, writes = type(system).pipe_file, [4]

    def give_up(self, path, value, **options):
        if not writes[0]:
            raise BrokenError("the wire is cut\nhere")
        writes[0] -= 1
        return write(self, path, value, **options)

    monkeypatch.setattr(type(system), "pipe_file", give_up)
    with pytest.raises(
        ReleaseError,
        match=r"cannot be used: BrokenError: the wire is cut here; fix this",
    ):
        publish_to_target(open_release(sound), url)
    folder = url.removeprefix("memory:/") + "/0.0.1"
    assert MANIFEST not in files(system, folder)
    writes[0] = 1000
    publish_to_target(open_release(sound), url)
    assert files(system, folder) == contents(sound)


def test_foreign_files_are_not_mixed_in(sound, tmp_path, memory):
    (tmp_path / "0.0.1").mkdir()
    (tmp_path / "0.0.1" / "mine.txt").write_text("x")
    memory[0].pipe_file(f"{memory[1]}/0.0.1/mine.txt", b"x")
    for target in (str(tmp_path), memory[1]):
        with pytest.raises(
            ReleaseError,
            match=r"contains mine\.txt, which does not belong to the release",
        ):
            publish_to_target(open_release(sound), target)


@pytest.mark.parametrize(
    "text", ["not JSON", "[]", '{"releases": [1]}', '{"releases": {"a": 1}}']
)
def test_invalid_index_is_left_alone(sound, tmp_path, text):
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(ReleaseError, match="is not an index of releases"):
        publish_to_target(open_release(sound), str(tmp_path))
    assert (tmp_path / "index.json").read_text() == text


@pytest.mark.parametrize("target", ["nosuch://x/y", "\x00"])
def test_unusable_target_is_reported(sound, target):
    with pytest.raises(ReleaseError, match="cannot be used"):
        publish_to_target(open_release(sound), target)
