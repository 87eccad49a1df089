import os

import pytest

from scbench.machine import sandbox
from scbench.machine.sandbox import ChildError, Limits, groups, run_python

HOARD = b"""
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
pages = 0
for number in range(1000, 60_000):  # each page in separate tables
    place = libc.mmap(ctypes.c_void_p(number << 30), 4096, 3, 0x100022, -1, ctypes.c_long(0))
    if place == number << 30:
        ctypes.memset(place, 1, 1)
        pages += 1
print(pages)
"""
LIMITS = Limits(seconds=600, memory=2**29, processes=1, files=2**20)


@pytest.fixture
def hierarchy(tmp_path, monkeypatch):
    """A folder that looks like a cgroup hierarchy, with this process in ``/work/own``."""
    (tmp_path / "work" / "own").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "work"):
        (folder / "cgroup.procs").touch()
        (folder / "cgroup.subtree_control").write_text("cpu memory\n")
    (tmp_path / "self").write_text("4:memory:/elsewhere\n0::/work/own\n")
    monkeypatch.setattr(groups, "_ROOT", tmp_path)
    monkeypatch.setattr(groups, "_OWN_GROUP", tmp_path / "self")
    monkeypatch.setattr(groups, "_SYSTEMD", tmp_path / "no systemd")
    monkeypatch.setattr(groups, "_PATIENCE", 1)
    groups.home.cache_clear()
    sandbox.try_sandbox.cache_clear()
    yield tmp_path
    groups.home.cache_clear()
    sandbox.try_sandbox.cache_clear()


@pytest.mark.parametrize(
    "missing", ["self", "work/cgroup.subtree_control", "work/cgroup.procs"]
)
def test_without_a_hierarchy_there_are_no_groups(hierarchy, missing):
    (hierarchy / missing).unlink()
    assert groups.home() is None


@pytest.mark.parametrize(("user", "delegated"), [(0, False), (0, True), (1000, False)])
def test_root_makes_no_groups_in_what_systemd_manages(
    hierarchy, monkeypatch, user, delegated
):
    monkeypatch.setattr(groups, "_SYSTEMD", hierarchy)
    monkeypatch.setattr(
        groups, "_delegated", lambda place: delegated and place == hierarchy
    )
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert (groups.home() is not None) == (user != 0 or delegated)


@pytest.mark.skipif(
    bool(sandbox.trouble("namespaces")), reason="the kernel gives no namespaces here"
)
def test_group_that_cannot_be_entered_is_not_used(hierarchy, monkeypatch):
    monkeypatch.setattr(sandbox, "_allowed", True)
    assert sandbox.trouble("namespaces") == ""
    assert not sandbox.try_sandbox("namespaces").counted
    assert run_python(b"print(1)", LIMITS, "namespaces").stdout == b"1\n"


@pytest.mark.skipif(
    not sandbox.try_sandbox("namespaces").counted,
    reason="the kernel gives no control groups here (version 2, writable)",
)
def test_kernel_memory_of_a_program_counts(monkeypatch):
    monkeypatch.setattr(sandbox, "_allowed", True)
    place = groups.home()
    before = set(place.iterdir())
    assert run_python(b"print(1)", LIMITS, "namespaces").stdout == b"1\n"
    with pytest.raises(ChildError, match="signal 9"):
        run_python(HOARD, LIMITS, "namespaces")
    with pytest.raises(ChildError, match="within 1 s"):
        run_python(b"while True: pass", Limits(seconds=1), "namespaces")
    assert set(place.iterdir()) == before
