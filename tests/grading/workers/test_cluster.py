"""A real scheduler with two workers: the same results as locally, whichever process dies."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from distributed import Client

from scbench.base.errors import ClusterError
from scbench.base.progress import no_progress
from scbench.grading.options import Options, choose_tasks
from scbench.grading.rows.index import index_of
from scbench.grading.run import grade_file
from scbench.grading.workers import cluster as on_cluster
from scbench.grading.workers.jobs import Start
from scbench.grading.workers.scheduler import WorkerLimits

DASK = Path(sys.executable).parent / "dask"


def lines_of(count: int, mood: str = "") -> list[dict]:
    return [
        {
            "id": f"parity/{i % 4:02d}",
            "sample": i // 4,
            "answer": {"bit": i % 2, "mood": mood},
        }
        for i in range(count)
    ]


def start(folder: Path, *args: object) -> subprocess.Popen:
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [DASK, *map(str, args), "--no-dashboard"],
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"},
            start_new_session=True,
        )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def stop(process: subprocess.Popen) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=600)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler, a function that starts a worker, and two workers."""
    folder = tmp_path_factory.mktemp("cluster")
    address = f"tcp://127.0.0.1:{free_port()}"
    where = ("--host", "127.0.0.1", "--port", address.rpartition(":")[2])
    running = [start(folder, "scheduler", *where, "--no-show")]

    def worker() -> subprocess.Popen:
        running.append(
            start(
                folder, "worker", address, "--nthreads", 1, "--local-directory", folder
            )
        )
        return running[-1]

    workers = [worker(), worker()]
    with Client(address, timeout=600, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=600)
    yield SimpleNamespace(address=address, start=worker, workers=workers)
    for process in running:
        stop(process)


@pytest.fixture
def run(parity_release, write_lines, tmp_path):
    """A function that grades lines into a folder, locally or on a cluster."""

    def go(lines, name, *, seconds=None, on_progress=no_progress, **more):
        options = Options(
            str(write_lines(*lines)),
            parity_release,
            tmp_path / name,
            WorkerLimits(2, seconds, 0),
            ["parity"],
            partial=True,
            **more,
        )
        return grade_file(options, on_progress)

    return go


def results(tmp_path, name) -> bytes:
    return (tmp_path / name / "results.parquet").read_bytes()


def test_killed_worker_loses_nothing(cluster, run, tmp_path, capfd):
    moody = [{"id": "parity/00", "model": "m", "answer": {"bit": 0, "mood": "die"}}]
    gate = tmp_path / "gate"  # nothing is at its end before one of them is killed
    lines = [*lines_of(200, "slow")[:128], *moody, *lines_of(200, f"gate {gate}")[128:]]
    doomed = []

    def kill(done, size):
        if done >= 32 and not doomed:
            doomed.append(cluster.workers.pop())
            os.killpg(
                doomed[0].pid, signal.SIGKILL
            )  # its nanny and its processes as well
            cluster.workers.append(cluster.start())
            gate.touch()

    report = run(lines, "there", cluster=cluster.address, on_progress=kill)
    run(lines, "here")
    assert doomed
    assert results(tmp_path, "there") == results(tmp_path, "here")
    assert report.exit_code == 3, "the one whose grader dies"
    assert report.grader_errors == 1
    [failed] = report.tally.failed
    assert failed["reason"] == "the worker process died (exit code -9) (tried twice)"
    assert any("the cluster lost worker" in incident for incident in report.incidents)
    assert "distributed" not in capfd.readouterr().err, (
        "what is mended is no user's business"
    )


def test_dead_scheduler_is_reported_in_one_sentence(run, tmp_path, capfd):
    address = f"tcp://127.0.0.1:{free_port()}"
    where = ("--host", "127.0.0.1", "--port", address.rpartition(":")[2])
    scheduler = start(tmp_path, "scheduler", *where, "--no-show")
    worker = start(
        tmp_path, "worker", address, "--nthreads", 1, "--local-directory", tmp_path
    )
    try:
        with Client(address, timeout=600, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=600)

        def kill(done, size):
            if done >= 32:
                stop(scheduler)

        lines = lines_of(400, f"gate {tmp_path / 'gate'}")
        with pytest.raises(ClusterError, match="lost the connection to the scheduler"):
            run(
                [*lines_of(400, "slow")[:64], *lines[64:]],
                "there",
                cluster=address,
                on_progress=kill,
            )
    finally:
        stop(scheduler)
        stop(worker)
    messages = capfd.readouterr().err
    assert "Traceback" not in messages
    assert "distributed" not in messages


def test_item_that_kills_every_worker_costs_one_row(cluster, run, monkeypatch):
    def deadly(parcel):
        if b"spin" in repr(parcel.job.work).encode():
            os.kill(os.getpid(), signal.SIGKILL)
        return on_cluster.run_job(parcel)

    monkeypatch.setattr("scbench.grading.workers.cluster.run_job", deadly)
    lines = [{"id": f"parity/{i:02d}", "answer": {"bit": 0}} for i in range(4)]
    lines[2]["answer"]["mood"] = "spin"
    report = run(lines, "there", cluster=cluster.address)
    assert report.results["status"].to_list() == ["answered"] * 2 + [
        "grader_error",
        "answered",
    ]
    [failed] = report.tally.failed
    assert (
        failed["reason"]
        == "several workers of the cluster died while grading this item (tried twice)"
    )


def test_leftover_processes_end_when_another_run_begins(monkeypatch, parity_release):
    monkeypatch.setattr(on_cluster, "_IDLE_SECONDS", -1)
    index = index_of(parity_release, choose_tasks(parity_release, None))
    for memory in (1, 2):
        orders = on_cluster.orders_of(Start(index.keys(), memory << 33, False, index))
        worker = on_cluster.processes.take(orders)
        on_cluster.processes.put_back(orders, worker, spoilt=False)
    assert on_cluster.processes.idle == {orders.key: [worker]}
    on_cluster.close_run(orders.key)
    with pytest.raises(TypeError, match="needs a release"):
        on_cluster.orders_of(Start(index.keys(), 0, False, None))


def test_worker_with_another_grader_is_refused_even_if_it_joins_late(
    cluster, run, monkeypatch, parity_release
):
    index = index_of(parity_release, choose_tasks(parity_release, None))
    orders = on_cluster.orders_of(Start(index.keys(), 0, False, index))
    expected = orders._replace(versions=orders.versions | {"parity": 7})
    monkeypatch.setattr("scbench.grading.workers.cluster.orders_of", lambda _: expected)
    with pytest.raises(ClusterError, match=r"grader of parity: client 7, worker 1"):
        run(lines_of(4), "out", cluster=cluster.address)
    # As if it had joined after all others were checked.
    monkeypatch.setattr(
        "scbench.grading.workers.cluster.installed_versions", lambda expected: expected
    )
    with pytest.raises(
        ClusterError, match=r"worker that joined .*grader of parity: client 7"
    ):
        run(lines_of(4), "out", cluster=cluster.address)
