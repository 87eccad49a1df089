"""An interrupted run loses nothing, grades nothing twice, and ends with the same results."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from bounds import until
from commands import run

from scbench.cli.grade import run as grade_command
from scbench.freezing.example import example_predictions
from scbench.grading.checkpoint import JOURNAL, WORK, Checkpoint, read_account
from scbench.machine.store import Store
from scbench.release.load import find_release

GRADE = Path(sys.executable).parent / "scbench-grade"


@pytest.fixture
def gate(tmp_path):
    """A gate that holds back the second half of the run while it is closed."""
    return tmp_path / "gate"


@pytest.fixture
def slow_run(parity_release, write_lines, tmp_path, gate):
    """A command line that waits for the gate, and its output folder."""
    moods = ["slow"] * 128 + [f"gate {gate}"] * 128
    lines = [
        {
            "id": f"parity/{i % 4:02d}",
            "sample": i // 4,
            "answer": {"bit": i % 2, "mood": mood},
        }
        for i, mood in enumerate(moods)
    ]
    path = write_lines(*lines)
    out = tmp_path / "out"
    args = [
        GRADE,
        path,
        "--release",
        parity_release.root,
        "--tasks",
        "parity",
        "--out",
        out,
    ]
    return [str(arg) for arg in args], out


def start(args: list[str]) -> subprocess.Popen:
    return subprocess.Popen(
        args,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_signals,  # noqa: PLW1509  (it calls nothing that a thread may hold)
    )


def heed_signals() -> None:
    """Reset the signal handling that nohup and background shells pass on to children."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def records(out: Path) -> dict[str, bytes]:
    """The finished records of an unfinished run, by key."""
    store = Store(out / WORK / JOURNAL)
    found = {key: store.get(key) for key in store._places}
    store.close()
    return found


def parts(out: Path) -> dict[str, bytes]:
    """The accounts of the finished chunks."""
    return {key: value for key, value in records(out).items() if value.startswith(b"{")}


def lines_in(parts: dict[str, bytes]) -> int:
    return sum(read_account(account).graded for account in parts.values())


def cut_off(args: list[str], out: Path, kill) -> tuple[int, str]:
    """Start a run, let it finish a batch, and interrupt it; return its exit code and messages."""
    process = start(args)
    until(lambda: parts(out))
    assert process.poll() is None
    kill(process)
    _, messages = process.communicate()
    return process.returncode, messages


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill -9", "SIGINT", "SIGTERM", "SIGHUP"])
def test_interrupted_run_resumes(slow_run, how, tmp_path, gate):
    args, out = slow_run
    if how == "kill -9":
        code, _ = cut_off(args, out, lambda process: process.kill())
        assert code == -signal.SIGKILL
    else:  # as terminals and schedulers do it: the whole process group gets the signal
        number = signal.Signals[how]
        code, messages = cut_off(
            args, out, lambda process: os.killpg(process.pid, number)
        )
        assert code == 128 + number
        assert "continue with --resume" in messages
        assert "Traceback" not in messages
    assert not (out / "results.parquet").exists(), (
        "results are written whole or not at all"
    )
    lines = lines_in(parts(out))
    assert lines >= 32

    refused = run(*args)
    assert refused.returncode == 2
    assert "continue it with --resume" in refused.stderr

    with (out / WORK / JOURNAL).open("a") as journal:
        journal.write('["half a li')  # as a kill in mid-write leaves it
    (out / WORK / "parts" / ".0077.arrow.99.part").write_bytes(b"half a pa")
    gate.touch()
    resumed = run(*args, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    plain = tmp_path / "plain"
    assert run(*args[:-1], plain).returncode == 0
    assert f"{lines} lines graded before" in resumed.stderr
    assert (out / "results.parquet").read_bytes() == (
        plain / "results.parquet"
    ).read_bytes()
    assert sorted(file.name for file in out.iterdir()) == [
        "results.parquet",
        "summary.json",
    ]


def test_no_worker_outlives_a_killed_run(slow_run, gate):
    args, out = slow_run
    process = start(args)

    def group() -> list[Path]:
        running = [pid for pid in Path("/proc").iterdir() if pid.name.isdigit()]
        return [pid for pid in running if _session(pid) == process.pid]

    until(lambda: parts(out))
    assert len(group()) >= 3, "the run, its fork server and its workers"
    process.kill()
    process.communicate()
    # A worker ends with its line, which may be one that waits.
    gate.touch()
    until(lambda: not group())


def _session(pid: Path) -> int | None:
    try:
        fields = (pid / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[3])


@pytest.fixture(scope="module")
def mixed_run(tmp_path_factory):
    """A command line for light and heavy items with several samples each, and its results."""
    folder = tmp_path_factory.mktemp("mixed")
    tasks = ("two_segments", "csg_union", "hide_and_seek")
    examples = [json.loads(line) for line in example_predictions(find_release())]
    selection = [row for row in examples if row["id"].partition("/")[0] in tasks]
    path = folder / "mixed.jsonl"
    with path.open("w") as file:
        for sample in range(4):
            file.writelines(
                json.dumps({**row, "sample": sample}) + "\n" for row in selection
            )
        file.write("no JSON\n" + json.dumps(selection[3]) + "\n")
    args = [
        str(GRADE),
        str(path),
        "--tasks",
        ",".join(tasks),
        "--workers",
        "2",
        "--out",
    ]
    complete = folder / "whole"
    assert run(*args, complete).returncode == 1
    return args, complete


def _size(out: Path) -> int:
    """The number of records, 0 without a file."""
    return len(records(out)) if (out / WORK / JOURNAL).exists() else 0


@pytest.mark.slow
def test_run_killed_at_any_moment_resumes_with_the_same_bytes(mixed_run, tmp_path):
    args, complete = mixed_run
    out = tmp_path / "out"
    moments = Random(0)
    kept: dict[str, bytes] = {}
    for _ in range(6):
        process = start([*args, str(out), "--resume"])
        more = moments.randrange(12)
        until(lambda: process.poll() is not None or _size(out) > len(kept) + more)  # noqa: B023
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if process.returncode != -signal.SIGKILL or (out / "results.parquet").exists():
            break  # it was done, or at its last words
        now = records(out)
        assert now.items() >= kept.items(), "a finished chunk or a judged line was lost"
        journal = out / WORK / JOURNAL
        lines = journal.read_bytes().splitlines() if journal.exists() else []
        intact = [line.split(b" ", 2)[1] for line in lines if line.count(b" ") > 1]
        assert len(set(intact)) == len(intact), "something was graded again"
        kept = now
    assert kept, "the first attempt is cut off"
    assert (
        process.returncode != -signal.SIGKILL
        or run(*args, out, "--resume").returncode == 1
    )
    assert (out / "results.parquet").read_bytes() == (
        complete / "results.parquet"
    ).read_bytes()
    summaries = [
        json.loads((folder / "summary.json").read_text()) for folder in (out, complete)
    ]
    for folder, summary in zip(
        (out, complete), summaries, strict=True
    ):  # named from the folder
        files = summary["predictions"]["files"]
        summary["predictions"]["files"] = [
            str((folder / file).resolve()) for file in files
        ]
    for key in (
        "problems",
        "problem_counts",
        "tasks",
        "buckets",
        "exit_code",
        "predictions",
    ):
        assert summaries[0][key] == summaries[1][key], key
    assert sorted(file.name for file in out.iterdir()) == [
        "results.parquet",
        "summary.json",
    ]


def test_two_runs_cannot_write_to_one_folder(slow_run, gate):
    """The second run names the first, which finishes undisturbed."""
    args, out = slow_run
    first = start(args)
    until(lambda: parts(out))
    first.send_signal(signal.SIGSTOP)
    for extra in ([], ["--restart"]):
        second = run(*args, *extra)
        assert second.returncode == 2
        assert second.stderr.startswith(f"error: process {first.pid} on ")
        assert (
            f"is writing to {out}; wait for it, or choose another --out"
            in second.stderr
        )
    first.send_signal(signal.SIGCONT)
    gate.touch()
    first.communicate()
    assert first.returncode == 0
    assert sorted(file.name for file in out.iterdir()) == [
        "results.parquet",
        "summary.json",
    ]


def test_run_of_somebody_else_is_mentioned_even_if_quiet(
    parity_release, write_lines, tmp_path, monkeypatch, capsys
):
    path = write_lines({"id": "parity/00", "answer": {"bit": 0}})
    args = ["scbench-grade", str(path), "--release", str(parity_release.root)]
    args += [
        "--tasks",
        "parity",
        "--partial",
        "--quiet",
        "--out",
        str(tmp_path / "out"),
    ]
    # The results are written, but the work folder is left behind.
    monkeypatch.setattr(Checkpoint, "remove", Checkpoint.close)
    for cache, more, expected in (("mine", [], 0), ("other", ["--resume"], 1)):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / cache))
        monkeypatch.setattr(sys, "argv", [*args, *more])
        with pytest.raises(SystemExit) as done:
            grade_command()
        assert done.value.code == 0
        assert capsys.readouterr().err.count("you did not start") == expected
