"""A store finds added records, and skips damaged or partial ones."""

import os
import subprocess
import sys

import pytest

from scbench.base.canonical import sha256
from scbench.machine.store import Store

ADD = """
import sys
from pathlib import Path
from scbench.machine.store import Store
store = Store(Path(sys.argv[1]))
for i in range(300):
    store.add(f"{sys.argv[2]}-{i}", sys.argv[2].encode() * 500)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal"


def fill(path, **values: bytes) -> None:
    store = Store(path)
    for key, value in values.items():
        store.add(key, value)
    store.close()


def values_of(path, *keys: str) -> list[bytes | None]:
    store = Store(path)
    values = [store.get(key) for key in keys]
    store.close()
    return values


def test_values_are_found_and_the_last_of_a_key_counts(path):
    store = Store(path)
    assert (len(store), path.exists()) == (0, False)
    places = [
        store.add("a", b'{"x": "\xc3\xbc y"}'),
        store.add("b", b""),
        store.add("a", b"2"),
    ]
    assert (store.get("a"), store.get("b"), store.get("c")) == (b"2", b"", None)
    assert store.read(places[0]) == b'{"x": "\xc3\xbc y"}'
    store.close()
    again = Store(path)
    assert (len(again), again.get("a"), again.place("a")) == (2, b"2", places[2])
    again.close()


@pytest.mark.parametrize(("key", "value"), [("a b", b""), ("a\n", b""), ("a", b"\n")])
def test_line_breaking_values_are_not_added(path, key, value):
    store = Store(path)
    with pytest.raises(ValueError, match="must not contain a space"):
        store.add(key, value)
    assert not path.exists()


def test_truncated_record_is_dropped_and_the_next_one_is_separate(path):
    fill(path, one=b"1 one", two=b"2 two")
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for length in range(first, len(data)):
        path.write_bytes(data[:length])
        store = Store(path)
        assert (store.get("one"), store.get("two")) == (b"1 one", None)
        store.add("two", b"again")
        assert store.get("two") == b"again"
        store.close()
        assert values_of(path, "two") == [b"again"]


def test_damaged_record_is_skipped_wherever_it_is_damaged(path):
    fill(path, one=b"1", two=b"value", three=b"3")
    data = path.read_bytes()
    start = data.index(b"\n") + 1
    for at in range(start, data.index(b"\n", start)):
        damaged = bytearray(data)
        damaged[at] ^= 1
        path.write_bytes(bytes(damaged))
        assert values_of(path, "one", "two", "three") == [b"1", None, b"3"]


@pytest.mark.parametrize(
    "text",
    [b"", b"\n", b"{", b"a b c\n", b"\x00\xff\n", sha256("k").encode() + b" k\n"],
)
def test_invalid_record_does_no_harm(path, text):
    path.write_bytes(text)
    fill(path, one=b"1")
    assert len(Store(path)) == 1
    assert values_of(path, "one") == [b"1"]


def test_no_link_is_followed(path, tmp_path):
    (tmp_path / "other").write_text("mine")
    path.symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic links"):
        Store(path)
    path.unlink()
    store = Store(path)
    path.symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic links"):
        store.add("one", b"1")
    assert (tmp_path / "other").read_text() == "mine"


def test_no_pipe_or_folder_is_opened(path):
    store = Store(path)
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        Store(path)
    # A pipe that is read elsewhere can be opened for writing.
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(OSError, match="not a regular file"):
        store.add("one", b"1")
    os.close(reader)
    path.unlink()
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        Store(path)


def test_two_writing_processes_do_not_mix(path):
    commands = [[sys.executable, "-c", ADD, path, name] for name in ("x", "y")]
    for process in [subprocess.Popen(command) for command in commands]:
        assert process.wait() == 0
    assert len(Store(path)) == 600
    assert values_of(path, "y-299") == [b"y" * 500]


def test_change_during_reading_is_reported(path):
    fill(path, one=b"1")
    store = Store(path)
    path.write_bytes(path.read_bytes().replace(b" 1", b" 2"))
    with pytest.raises(OSError, match="changed while it was in use"):
        store.get("one")
    store.close()
