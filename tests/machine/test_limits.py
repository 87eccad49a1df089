"""Limits of the machine that are too low for workers are refused in one sentence."""

import threading

import pytest

from scbench.base.errors import MachineError
from scbench.machine import limits


@pytest.fixture(autouse=True)
def fresh():
    """Forget what was checked before."""
    limits.check_limits.cache_clear()
    yield
    limits.check_limits.cache_clear()


def test_this_machine_has_enough():
    before = threading.active_count()
    limits.check_limits()
    assert threading.active_count() == before


def test_too_few_threads_are_named(monkeypatch):
    before = threading.active_count()
    start = threading.Thread.start

    def start_if_allowed(thread):
        if threading.active_count() >= before + 3:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_if_allowed)
    with pytest.raises(
        MachineError, match="only 3 more processes or threads"
    ) as caught:
        limits.check_limits()
    assert "`ulimit -u`" in str(caught.value)
    assert threading.active_count() == before
