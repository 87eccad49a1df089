"""Exporting: the whole release or nothing, and never over existing files."""

import os
from pathlib import Path

import pytest
from folders import contents

from scbench.base.errors import ReleaseError
from scbench.freezing.copies import export_release
from scbench.release.load import find_release


@pytest.mark.parametrize("place", ["out", "deep/er/out", "out/"])
def test_copy_equals_the_release(sound, tmp_path, place):
    export_release(find_release(str(sound)), tmp_path / place)
    assert contents(tmp_path / place) == contents(sound)


def file_in_folder(path: Path) -> None:
    path.mkdir()
    (path / ".hidden").write_text("mine")


def plain_file(path: Path) -> None:
    path.write_text("mine")


def dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("occupy", [file_in_folder, plain_file, dangling_link])
def test_existing_files_are_never_touched(sound, tmp_path, occupy):
    occupy(tmp_path / "out")
    before = sorted(os.walk(tmp_path))
    with pytest.raises(
        ReleaseError, match="out exists and is not an empty folder; choose another"
    ):
        export_release(find_release(str(sound)), tmp_path / "out")
    assert sorted(os.walk(tmp_path)) == before


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize(
    "name", ["data/enumerate_edges.parquet", "schemas/prediction.json"]
)
def test_changed_file_is_not_copied_and_nothing_is_left(copy, tmp_path, name, exists):
    (copy / name).write_bytes((copy / name).read_bytes() + b" ")
    home = tmp_path / "home"
    home.mkdir()
    if exists:
        (home / "out").mkdir()
    with pytest.raises(ReleaseError, match=rf"{name} was changed after it was frozen"):
        export_release(find_release(str(copy)), home / "out")
    assert [path.name for path in home.iterdir()] == (["out"] if exists else [])
    assert not exists or list((home / "out").iterdir()) == []


def test_full_disk_leaves_nothing(sound, tmp_path, monkeypatch):
    written = []
    write = Path.write_bytes

    def fail_at_last(path: Path, data: bytes) -> int:
        written.append(path.name)
        if len(written) == 5:
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", fail_at_last)
    with pytest.raises(ReleaseError, match="the disk is full"):
        export_release(find_release(str(sound)), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
