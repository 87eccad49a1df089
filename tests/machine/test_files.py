"""Reading unknown files: regular files only, and no more than the limit."""

import os
import stat
from io import BytesIO
from pathlib import Path

import pytest

from scbench.machine import files
from scbench.machine.files import (
    cache_folder,
    open_regular,
    read_foreign,
    read_given,
    read_regular,
    remove_parts,
    whole_file,
)

REFUSED = r"not a regular file|Is a directory"


def test_regular_file_is_read_up_to_one_byte_over_the_limit(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_regular(path) == b"12345"
    assert read_regular(path, 3) == b"1234"
    assert read_foreign(tmp_path, ["a"], 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_foreign(tmp_path, ["a"], 4)


def test_system_file_without_data_is_an_error(tmp_path, monkeypatch):
    class Unready(BytesIO):
        def read(self, _size: int | None = -1) -> None:
            return None

    (tmp_path / "a").write_bytes(b"1")
    monkeypatch.setattr(files, "open_regular", lambda _path: Unready())
    with pytest.raises(BlockingIOError):
        read_regular(tmp_path / "a")


def test_pipe_opened_by_the_shell_is_read():
    reader, writer = os.pipe()
    os.write(writer, b"12345")
    os.close(writer)
    assert read_given(f"/dev/fd/{reader}", 3) == b"1234"
    os.close(reader)


def test_only_own_temporary_files_are_removed(tmp_path):
    part = tmp_path / f".{'0' * 16}.77.part"
    names = [".other.part", "x.part", ".0.1.part"]
    for path in (part, *(tmp_path / name for name in names)):
        path.touch()
    remove_parts(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_temporary_file_is_recognised_by_its_name(tmp_path):
    with whole_file(tmp_path / "a") as part:
        part.touch()
        remove_parts(tmp_path)
        assert not part.exists()
        part.touch()


def test_name_of_a_temporary_file_cannot_be_guessed(tmp_path):
    with whole_file(tmp_path / "a") as first, whole_file(tmp_path / "a") as second:
        first.touch()
        second.touch()
        assert first != second


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_other_files_are_refused_and_closed(tmp_path, make):
    path = tmp_path / "a"
    make(path)
    before = len([*Path("/proc/self/fd").iterdir()])
    with pytest.raises(OSError, match=REFUSED):
        open_regular(path)
    with pytest.raises(OSError, match=REFUSED):
        read_foreign(tmp_path, ["a"], 9)
    assert len([*Path("/proc/self/fd").iterdir()]) == before


def test_cache_that_another_user_has_made_in_a_shared_folder_is_not_used(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = tmp_path / "scbench"
    assert cache_folder() == cache
    cache.mkdir()
    assert cache_folder() == cache
    lstat = Path.lstat

    def owned_by_the_next_user(path):
        fields = list(lstat(path))
        fields[stat.ST_UID] += 1
        return os.stat_result(fields)

    monkeypatch.setattr(Path, "lstat", owned_by_the_next_user)
    assert cache_folder() == Path(os.devnull, "scbench")
