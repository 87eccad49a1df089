"""Reading unknown files: regular files only, and no more than the limit."""

import os
from pathlib import Path

import pytest

from scbench.machine.files import open_regular, read_foreign, read_regular

REFUSED = r"not a regular file|Is a directory"


def test_regular_file_is_read_up_to_one_byte_over_the_limit(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_regular(path) == b"12345"
    assert read_regular(path, 3) == b"1234"
    assert read_foreign(tmp_path, ["a"], 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_foreign(tmp_path, ["a"], 4)


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
