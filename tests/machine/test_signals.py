"""A signal is raised immediately, after a protected block, or when checked."""

import contextlib
import os
import signal

import pytest

from scbench.machine.signals import blocked, uninterrupted, watched


@pytest.fixture
def hits(monkeypatch):
    """Signals that reached the previous handler, which raises like ours."""
    received = []

    def handler(number, frame):
        received.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, handler)
    yield received
    assert signal.getsignal(signal.SIGTERM) is handler
    signal.signal(signal.SIGTERM, before)


def send() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_swallowed_signal_is_raised_by_a_check(hits):
    with watched() as interrupts:
        interrupts.check()
        with contextlib.suppress(KeyboardInterrupt):
            send()
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()


def test_signal_waits_for_the_end_of_the_outermost_block(hits):
    steps = []

    def disturbed(interrupts) -> None:
        with uninterrupted():
            with interrupts.deferred():
                send()
            steps.append("the rest of the block")

    with watched() as interrupts, pytest.raises(KeyboardInterrupt):
        disturbed(interrupts)
    assert (steps, hits) == (["the rest of the block"], [signal.SIGTERM])
    with uninterrupted(), pytest.raises(KeyboardInterrupt):  # not within `watched`
        send()


def test_blocked_signals_come_at_the_end(hits):
    received = []

    def protected() -> None:
        with blocked():
            send()
            received.extend(hits)

    with pytest.raises(KeyboardInterrupt):
        protected()
    assert (received, hits) == ([], [signal.SIGTERM])
