"""A run that is cut off: nothing finished is lost or graded twice, and the result is the same."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import polars as pl
import pytest

from scbench.freezing.example import example_predictions
from scbench.grading.checkpoint import JOURNAL, WORK
from scbench.grading.rows.survey import read_account
from scbench.machine.store import Store
from scbench.machine.work_folder import MARKER
from scbench.release.load import find_release

GRADE = Path(sys.executable).parent / "scbench-grade"


@pytest.fixture
def slow_run(parity_release, write_lines, tmp_path):
    """A command line that takes seconds, and the folder it writes to."""
    lines = [
        {"id": f"parity/{i % 4:02d}", "sample": i // 4, "answer": {"bit": i % 2, "mood": "slow"}}
        for i in range(256)
    ]
    path = write_lines(*lines)
    out = tmp_path / "out"
    args = [GRADE, path, "--release", parity_release.root, "--tasks", "parity", "--out", out]
    return [str(arg) for arg in args], out


def start(args: list[str]) -> subprocess.Popen:
    return subprocess.Popen(
        args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def records(out: Path) -> dict[str, bytes]:
    """What is finished of a run that is not, by key."""
    store = Store(out / WORK / JOURNAL)
    found = {key: store.get(key) for key in store._places}
    store.close()
    return found


def parts(out: Path) -> dict[str, bytes]:
    """The chunks that are finished: their accounts."""
    return {key: value for key, value in records(out).items() if value.startswith(b"{")}


def lines_in(parts: dict[str, bytes]) -> int:
    return sum(read_account(account).graded for account in parts.values())


def cut_off(args: list[str], out: Path, kill) -> tuple[int, str]:
    """Start a run, let it finish a batch, and cut it off; return its exit code and messages."""
    process = start(args)
    deadline = time.monotonic() + 60
    while not parts(out):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    kill(process)
    _, messages = process.communicate(timeout=30)
    return process.returncode, messages


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill -9", "SIGINT", "SIGTERM", "SIGHUP"])
def test_a_cut_off_run_goes_on_where_it_stopped(slow_run, how, tmp_path):
    args, out = slow_run
    plain = tmp_path / "plain"
    complete = subprocess.run([*args[:-1], plain], capture_output=True, check=False, timeout=120)
    assert complete.returncode == 0
    if how == "kill -9":
        code, _ = cut_off(args, out, lambda process: process.kill())
        assert code == -signal.SIGKILL
    else:  # as terminals and schedulers do it: the whole process group gets the signal
        number = signal.Signals[how]
        code, messages = cut_off(args, out, lambda process: os.killpg(process.pid, number))
        assert code == 128 + number
        assert "continue with --resume" in messages
        assert "Traceback" not in messages
    assert not (out / "results.parquet").exists(), "results are written whole or not at all"
    lines = lines_in(parts(out))
    assert lines >= 32

    refused = subprocess.run(args, capture_output=True, text=True, check=False, timeout=120)
    assert refused.returncode == 2
    assert "continue it with --resume" in refused.stderr

    with (out / WORK / JOURNAL).open("a") as journal:
        journal.write('["half a li')  # as a kill in mid-write leaves it
    (out / WORK / "parts" / ".0077.arrow.99.part").write_bytes(b"half a pa")
    resumed = subprocess.run(
        [*args, "--resume"], capture_output=True, text=True, check=False, timeout=120
    )
    assert resumed.returncode == 0, resumed.stderr
    assert f"{lines} lines were graded before" in resumed.stderr
    assert (out / "results.parquet").read_bytes() == (plain / "results.parquet").read_bytes()
    assert sorted(file.name for file in out.iterdir()) == ["results.parquet", "summary.json"]


def test_a_changed_line_is_graded_again(slow_run):
    args, out = slow_run
    lines = Path(args[1]).read_text().splitlines()[:4]
    quick = [line.replace("slow", "") for line in lines]
    Path(args[1]).write_text("\n".join(quick))
    assert subprocess.run(args, check=False, capture_output=True, timeout=60).returncode == 0
    before = pl.read_parquet(out / "results.parquet")
    # An interrupted run's journal with one line of other content, and one of another place.
    changed = [quick[0].replace('"bit": 0', '"bit": 1'), *quick[1:]]
    Path(args[1]).write_text("\n".join(changed))
    done = subprocess.run(
        [*args, "--restart", "--format", "json"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert json.loads(done.stdout)["resumed"] == 0
    after = pl.read_parquet(out / "results.parquet")
    assert before["score"][0] == 1
    assert after["score"][0] == 0
    assert before["score"][1:].equals(after["score"][1:])


def test_no_worker_outlives_a_killed_run(slow_run):
    args, out = slow_run
    process = start(args)
    while not (out / WORK / MARKER).exists():
        time.sleep(0.02)
    time.sleep(1)
    group = {pid for pid in Path("/proc").iterdir() if pid.name.isdigit()}
    mine = [pid for pid in group if _session(pid) == process.pid]
    assert len(mine) >= 3, "the run, its fork server and its workers"
    process.kill()
    process.communicate(timeout=30)
    deadline = time.monotonic() + 20
    while any(_session(pid) == process.pid for pid in mine):
        assert time.monotonic() < deadline, "a worker still runs"
        time.sleep(0.1)


def _session(pid: Path) -> int | None:
    try:
        fields = (pid / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[3])


@pytest.fixture(scope="module")
def mixed_run(tmp_path_factory):
    """A command line over light and heavy items, all tried by several samples, and its results."""
    folder = tmp_path_factory.mktemp("mixed")
    tasks = ("two_segments", "csg_union", "hide_and_seek")
    examples = [json.loads(line) for line in example_predictions(find_release())]
    selection = [row for row in examples if row["id"].partition("/")[0] in tasks]
    path = folder / "mixed.jsonl"
    with path.open("w") as file:
        for sample in range(4):
            file.writelines(json.dumps({**row, "sample": sample}) + "\n" for row in selection)
        file.write("no JSON\n" + json.dumps(selection[3]) + "\n")
    args = [str(GRADE), str(path), "--tasks", ",".join(tasks), "--workers", "2", "--out"]
    complete = folder / "whole"
    done = subprocess.run([*args, complete], capture_output=True, check=False, timeout=120)
    assert done.returncode == 1
    return args, complete


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_killed_at_any_moment_it_goes_on_and_ends_with_the_same_bytes(mixed_run, tmp_path, seed):
    args, complete = mixed_run
    out = tmp_path / "out"
    moments = Random(seed)
    kept: dict[str, bytes] = {}
    kills = 0
    for attempt in range(30):
        process = start([*args, str(out), "--resume"])
        # Starting takes half a second and more; all of it one to three.
        limit = moments.uniform(0.5, 1.1) if attempt < 6 else 100
        try:
            process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=30)
        if process.returncode != -signal.SIGKILL:
            break
        kills += 1
        if (out / "results.parquet").exists():  # it was at its last words
            process = start([*args, str(out), "--resume"])
            process.communicate(timeout=100)
            break
        now = records(out)
        assert now.items() >= kept.items(), "a finished chunk or a judged line was lost"
        journal = out / WORK / JOURNAL
        lines = journal.read_bytes().splitlines() if journal.exists() else []
        intact = [line.split(b" ", 2)[1] for line in lines if line.count(b" ") > 1]
        assert len(set(intact)) == len(intact), "something was graded again"
        kept = now
    assert process.returncode == 1
    assert kills >= 2
    assert (out / "results.parquet").read_bytes() == (complete / "results.parquet").read_bytes()
    summaries = [json.loads((folder / "summary.json").read_text()) for folder in (out, complete)]
    for key in ("problems", "problem_counts", "tasks", "buckets", "exit_code", "predictions"):
        assert summaries[0][key] == summaries[1][key], key
    assert sorted(file.name for file in out.iterdir()) == ["results.parquet", "summary.json"]


@pytest.mark.slow
def test_an_interrupted_run_of_heavy_items_judges_no_line_twice(mixed_run, tmp_path):
    args, complete = mixed_run
    out = tmp_path / "out"
    process = start([*args, str(out)])
    deadline = time.monotonic() + 60
    while len(records(out)) - len(parts(out)) <= 10:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, messages = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "continue with --resume" in messages
    lines = len(records(out)) - len(parts(out)) + lines_in(parts(out))
    done = subprocess.run(
        [*args, out, "--resume"], capture_output=True, text=True, check=False, timeout=120
    )
    assert f"{lines} lines were graded before" in done.stderr
    assert (out / "results.parquet").read_bytes() == (complete / "results.parquet").read_bytes()


def test_two_runs_do_not_write_to_one_folder(slow_run):
    """The second says who holds the folder, and the first ends as if nothing had been."""
    args, out = slow_run
    first = start(args)
    while not parts(out):
        assert first.poll() is None
        time.sleep(0.02)
    first.send_signal(signal.SIGSTOP)
    for extra in ([], ["--resume"], ["--restart"]):
        second = subprocess.run(
            [*args, *extra], capture_output=True, text=True, check=False, timeout=60
        )
        assert second.returncode == 2
        assert second.stderr.startswith(f"error: process {first.pid} on ")
        assert f"is at work in {out}; wait for it, or choose another --out" in second.stderr
    first.send_signal(signal.SIGCONT)
    first.communicate(timeout=120)
    assert first.returncode == 0
    assert sorted(file.name for file in out.iterdir()) == ["results.parquet", "summary.json"]


def test_what_was_graded_with_other_options_is_told_and_graded_anew(slow_run):
    args, out = slow_run
    cut_off(args, out, lambda process: process.kill())
    marker = out / WORK / MARKER
    identity = json.loads(marker.read_text())["identity"]
    marker.write_text(marker.read_text().replace(identity, "0" * len(identity)))
    lines = Path(args[1]).read_text().replace("slow", "")
    Path(args[1]).write_text(lines)
    done = subprocess.run(
        [*args, "--resume"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0
    assert "graded with another release, version or options" in done.stderr
    assert json.loads((out / "summary.json").read_text())["resumed"] == 0
