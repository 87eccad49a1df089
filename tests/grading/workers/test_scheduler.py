"""A worker that dies, hangs or uses too much memory costs one row, and the run continues."""

import os
import signal
import threading
from collections.abc import Set as AbstractSet
from pathlib import Path

import pytest
from bounds import until
from scbench_parity.moods import refuse_to_start

from scbench.base.errors import EngineError
from scbench.base.model import Status
from scbench.grading.rows.index import InstanceKey
from scbench.grading.workers.jobs import WorkItem
from scbench.grading.workers.scheduler import Scheduler, WorkerLimits

KEYS = {
    f"parity/{i:02d}": InstanceKey("parity", f'{{"bits":"{bits}"}}')
    for i, bits in enumerate("01")
}


def item(line: int, bit: int = 0, mood: str = "") -> WorkItem:
    data = f'{{"id": "parity/00", "answer": {{"bit": {bit}, "mood": "{mood}"}}}}'
    return WorkItem(line, data.encode(), "parity/00")


def scheduler(
    seconds: float = 2, workers: int = 2, memory: float = 4, heavy=()
) -> Scheduler:
    return Scheduler(
        KEYS,
        WorkerLimits(workers, seconds, int(memory * 2**30)),
        dict.fromkeys(heavy, 60.0),
    )


def outcomes(run: Scheduler, items) -> dict:
    result = {}
    for done, outcome in run.run(items):
        assert done.line not in result, "an item came back twice"
        result[done.line] = outcome
    return result


@pytest.fixture
def gate(tmp_path):
    """A gate that holds items in the moods "gate" and "step" until the test opens it."""
    return tmp_path / "gate"


def test_slow_item_is_named_with_its_steps(gate, monkeypatch):
    monkeypatch.setattr("scbench.grading.workers.pool._NOTICED", 0.2)
    reports = []

    def hear(waiting):
        reports.extend(waiting)
        if any(w.done for w in waiting):
            gate.touch()

    run = scheduler(seconds=None, heavy=("parity",))
    list(run.run([item(0, 0, f"step {gate}"), item(1)], hear))
    steps = {(w.instance_id, w.done, w.total) for w in reports if w.done}
    assert steps == {("parity/00", 3, 7)}
    assert all(w.seconds > 0.2 for w in reports)


@pytest.mark.parametrize(
    ("mood", "heavy", "seconds", "reason"),
    [
        ("hang", (), 0.5, "no verdict within 0.5 s"),
        ("spin", ("parity",), 0.5, "no verdict within 0.5 s"),
        ("die", (), 600, "the worker process died (exit code -9)"),
        ("exit", ("parity",), 600, "the worker process died (exit code 7)"),
        ("balloon", (), 600, "it needed more than 1 GiB of memory"),
    ],
)
def test_misbehaving_grader_costs_one_row(mood, seconds, reason, heavy):
    run = scheduler(seconds=seconds, memory=1, heavy=heavy)
    result = outcomes(run, [item(i, 0, mood if i == 70 else "") for i in range(140)])
    assert result.keys() == set(range(140))
    assert result[70].status == Status.GRADER_ERROR
    assert result[70].reason == f"{reason} (tried twice)"
    if seconds > 60:  # within half a second a busy machine may not come to the others
        assert all(result[i].scores[0].score == 1 for i in result if i != 70)
    assert any(reason in incident for incident in run.incidents), "the run must say so"
    assert any("graded again alone: " in incident for incident in run.incidents)


def children(before: AbstractSet[int] = frozenset()) -> set[int]:
    """New grading processes, which are grandchildren below the fork server."""
    result = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                parent = (
                    (Path("/proc") / stat[1] / "stat")
                    .read_text()
                    .rpartition(")")[2]
                    .split()
                )
            except OSError:
                continue
            if int(parent[1]) == os.getpid() and stat[0] != "Z":
                result.add(int(entry.name))
    return result - before


@pytest.mark.parametrize("when", ["busy", "idle"])
def test_worker_killed_from_outside_costs_at_most_one_row(when, gate):
    # Singly scheduled, so that a worker starts with the first item.
    run = scheduler(seconds=600, heavy=("parity",))
    killed, before = threading.Event(), children()

    def killer() -> None:
        until(lambda: children(before))
        os.kill(min(children(before)), signal.SIGKILL)
        killed.set()
        gate.touch()

    def items():
        yield item(0)
        if when == "idle":  # workers wait while the reader is slow
            assert killed.wait(600)
        for i in range(1, 140):
            yield item(i, 0, f"gate {gate}" if i < 120 else "")

    thread = threading.Thread(target=killer)
    thread.start()
    result = outcomes(run, items())
    thread.join()
    assert killed.is_set()
    assert result.keys() == set(range(140))
    assert all(outcome.scores[0].score == 1 for outcome in result.values()), (
        "retried alone"
    )
    assert run.incidents


def test_workers_that_cannot_start_end_the_run_with_a_reason(monkeypatch):
    monkeypatch.setattr("scbench.grading.workers.pool.start_worker", refuse_to_start)
    monkeypatch.setattr("scbench.grading.workers.pool._MOST_FAILURES", 2)
    with pytest.raises(EngineError, match="died before grading anything"):
        outcomes(scheduler(workers=1), [item(0)])


def test_items_are_drawn_no_faster_than_they_are_graded():
    drawn = []

    def items():
        for i in range(5000):
            drawn.append(i)
            yield item(i)

    ahead = 0
    for done, _ in enumerate(scheduler().run(items())):
        ahead = max(ahead, len(drawn) - done)
    assert ahead <= 6 * 128, (
        "in flight: two workers of two batches, and the ones just collected"
    )


def test_leaving_early_stops_the_workers():
    before = children()
    run = scheduler().run(item(i, 0, "slow" if i >= 128 else "") for i in range(1000))
    next(run)
    run.close()
    until(lambda: not children(before))


@pytest.mark.parametrize(
    ("given", "expected"), [(None, (5.0, 120.0)), (2.0, (2.0, 2.0))]
)
def test_trial_in_a_loop_has_time_for_all_its_verdicts(given, expected):
    keys = {
        "heavy/00": InstanceKey("heavy", "{}"),
        "light/00": InstanceKey("light", "{}"),
    }
    scheduler = Scheduler(keys, WorkerLimits(1, given, 0), {"heavy": 5.0})
    for (name, _), seconds in zip(keys.items(), expected, strict=True):
        item = WorkItem(1, b"", name)
        assert scheduler.job((item,)).seconds == seconds
        assert scheduler.job((item._replace(looped=True),)).seconds == 10 * seconds
