"""A folder for one process: found again after a kill, refused if it is not ours."""

import errno
import fcntl
import json
import os
import stat
import subprocess
import sys

import pytest

from scbench.base.errors import ResultsError
from scbench.machine.work_folder import MARKER, WorkFolder, interrupted

HOLD = """
import os, sys
from pathlib import Path
from scbench.machine.work_folder import WorkFolder
work = WorkFolder(Path(sys.argv[1]))
work.mark("first")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / ".work"


def test_folder_is_found_again_with_its_identity_and_removed_whole(path):
    work = WorkFolder(path)
    assert (work.previous, work.locked) == ("", True)
    assert interrupted(path)
    work.mark("a run")
    (path / "parts").mkdir()
    (path / "parts" / "1").write_text("x")
    work.close()
    work = WorkFolder(path)
    assert work.previous == "a run"
    assert (path / "parts" / "1").exists()
    work.remove()
    assert not path.exists()
    assert not interrupted(path)


def test_folder_has_one_holder_and_death_frees_it(path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(ResultsError, match=rf"process {holder.pid} on .* is writing"):
        WorkFolder(path)
    holder.kill()
    holder.communicate()
    work = WorkFolder(path)
    assert work.previous == "first"
    assert json.loads((path / MARKER).read_text())["pid"] == os.getpid()
    work.remove()


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_text("a file"),
        lambda path: (path.mkdir(), (path / "thesis.tex").write_text("years of work")),
        lambda path: (path.mkdir(), (path / MARKER).write_text('{"run": 7}')),
        lambda path: (
            path.mkdir(),
            (path / MARKER).touch(),
            (path / "thesis.tex").touch(),
        ),
        lambda path: (path.mkdir(), os.mkfifo(path / MARKER)),
        lambda path: (path.mkdir(), (path / MARKER).symlink_to(path.parent / "other")),
        lambda path: (
            path.with_name("far").mkdir(),
            path.symlink_to(path.with_name("far")),
        ),
        lambda path: path.symlink_to(path.with_name("nowhere")),
    ],
    ids=[
        "a file",
        "unmarked",
        "another's marker",
        "empty marker",
        "pipe",
        "link",
        "folder link",
        "dead",
    ],
)
def test_foreign_folder_is_refused_and_left_unchanged(path, make):
    make(path)
    before = sorted(
        (file.as_posix(), file.lstat().st_mtime_ns) for file in path.parent.rglob("*")
    )
    with pytest.raises(ResultsError, match="was not made by scbench"):
        WorkFolder(path)
    after = sorted(
        (file.as_posix(), file.lstat().st_mtime_ns) for file in path.parent.rglob("*")
    )
    assert after == before


def test_only_the_user_who_began_a_run_owns_it(path, tmp_path, monkeypatch):
    mark_run(path)
    assert is_own(path)
    # Neither a copy in a new file of another user nor another user's cache folder has the seal.
    status = os.fstat
    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", lambda number: changed_owner(status(number)))
        assert not is_own(path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    # Opening a folder does not make it one's own.
    for _ in range(2):
        assert not is_own(path)
    mark_run(path)
    assert is_own(path)
    assert (tmp_path / "other" / "scbench" / "run-key").stat().st_mode & 0o077 == 0


def mark_run(path):
    """Begin a run in a work folder, and leave it."""
    work = WorkFolder(path)
    work.mark("a run")
    work.close()


def is_own(path):
    """Return whether the run in a work folder is this user's own."""
    work = WorkFolder(path)
    own_run = work.is_own()
    work.close()
    return own_run


def changed_owner(status):
    """Return the status of a file as if it belonged to the next user."""
    fields = list(status)
    fields[stat.ST_UID] += 1
    return os.stat_result(fields)


def test_processes_that_start_together_have_the_same_key(tmp_path):
    program = (
        "from scbench.machine.work_folder import user_key; print(user_key().hex())"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE
        )
        for _ in range(4)
    ]
    assert len({process.communicate()[0] for process in processes}) == 1
    assert [path.name for path in (tmp_path / "scbench").iterdir()] == ["run-key"]


def test_without_a_cache_folder_no_run_is_ones_own(path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    for _ in range(2):
        work = WorkFolder(path)
        assert not work.is_own()
        work.mark("a run")
        work.close()


def test_clearing_follows_no_links(path, tmp_path):
    far = tmp_path / "far"
    far.mkdir()
    (far / "kept").write_text("x")
    work = WorkFolder(path)
    (path / "link").symlink_to(far)
    (path / "folder").mkdir()
    (path / "folder" / "link").symlink_to(far)
    (path / "file").symlink_to(far / "kept")
    work.remove()
    assert (far / "kept").read_text() == "x"
    assert not path.exists()


def test_file_system_without_locks_is_reported(path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert not WorkFolder(path).locked


@pytest.mark.parametrize(
    "content", ["[" * 1024, "[]", "1", '{"scbench": "4.0.0"}', "NaN"]
)
def test_foreign_marker_is_refused(path, content):
    path.mkdir()
    (path / MARKER).write_text(content)
    with pytest.raises(ResultsError, match="was not made by scbench"):
        WorkFolder(path)
    assert (path / MARKER).read_text() == content
