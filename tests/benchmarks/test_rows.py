"""Where the time of a light row goes: verdict, texts and columns, the way there and back, results.

``pytest tests/benchmarks/test_rows.py --benchmark-enable -n0``. Each round takes some thousand
lines of tasks whose verdicts are quick; the extra figure is in microseconds a row. What the
grouping of lines into chunks costs is the way there and back: at most 20.
"""

import gc
import hashlib
import io
import pickle
from contextlib import ExitStack
from pathlib import Path

import pytest

from scbench.base.progress import no_progress
from scbench.catalog import get_task
from scbench.formats.predictions import parse_line, read_blocks
from scbench.grading.checkpoint import Checkpoint, ResultsWriter, assemble
from scbench.grading.output import Problems
from scbench.grading.rows.chunks import ALL_LINES, cut
from scbench.grading.rows.columns import Completer
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.index import index_of
from scbench.grading.run import Collector, choose_tasks
from scbench.grading.summary import tally
from scbench.grading.workers import worker
from scbench.grading.workers.scheduler import Scheduler, WorkerLimits
from scbench.release.load import find_release
from scbench.scoring.outcomes import grade_prediction

ROWS = 20_000


class Run:
    """A run whose work is done by hand, step by step."""

    def __init__(self, data: bytes, index, folder: Path) -> None:
        self.data = data
        self.completer = Completer(index)
        self.scheduler = Scheduler(index.keys(), WorkerLimits(1, None, 0), index.heavy, index)
        self.coverage = Coverage(index.known_ids)
        self.checkpoint = Checkpoint(folder, "by hand", resume=False, restart=True)
        self.problems = Problems(folder / "problems.jsonl")
        self.collector = Collector(
            self.completer,
            self.coverage,
            self.checkpoint,
            self.problems,
            self.scheduler,
            no_progress,
        )

    def hand_over(self, parts: dict[int, bytes]) -> None:
        """Cut, send, take back, keep and enter all lines, as the parent does."""
        queue = self.collector.queue(io.BytesIO(self.data), hashlib.sha256(), ALL_LINES)
        while job := queue.take(vacant=True, light=2):
            chunk = pickle.loads(pickle.dumps(job.work))  # noqa: S301  (our own bytes)
            self.collector.take_chunk(chunk, pickle.loads(pickle.dumps(parts[chunk.place])))  # noqa: S301

    def write(self, target: Path) -> int:
        """Write the results and count them; return the number of rows."""
        rows = ResultsWriter(self.checkpoint.folder / "sheets")
        rows.add(assemble(self.checkpoint, self.completer, self.collector.chunks))
        rows.write(target)
        return tally(target).rows

    def close(self) -> None:
        """Leave nothing open."""
        self.problems.close()
        self.checkpoint.close()


@pytest.fixture
def new_run(data, index, tmp_path):
    """A function that begins a run; what it kept goes with the next."""
    with ExitStack() as stack:

        def begin() -> Run:
            stack.close()
            run = Run(data, index, tmp_path / "out")
            stack.callback(run.close)
            return run

        yield begin


@pytest.fixture(scope="module")
def index(load):
    release = find_release()
    return index_of(release, choose_tasks(release, sorted(load["QUICK"])))


@pytest.fixture
def data(benchmark, load, tmp_path) -> bytes:
    path = tmp_path / "predictions.jsonl"
    load["write_predictions"](path, ROWS if benchmark.enabled else 500, find_release())
    return path.read_bytes()


@pytest.fixture
def chunks(data, index, monkeypatch):
    monkeypatch.setattr(worker, "_start", worker.Start(index.keys(), release=index))
    monkeypatch.setattr(worker, "_completer", Completer(index))
    before = gc.get_threshold()
    gc.set_threshold(*worker.THRESHOLDS)
    yield list(cut(read_blocks(io.BytesIO(data), hashlib.sha256())))
    gc.set_threshold(*before)


def say(benchmark, data: bytes) -> None:
    if benchmark.enabled:
        row = benchmark.stats["min"] / data.count(b"\n")
        benchmark.extra_info["microseconds_a_row"] = round(1e6 * row, 1)


def test_reading_and_judging(benchmark, data, chunks, index):
    ready = {
        entry.id: (task, task.params_model.model_validate_json(entry.params))
        for entry in index.entries
        if entry.task in index.known_ids.graded
        for task in [get_task(entry.task)]
    }

    def plain() -> None:
        for chunk in chunks:
            for number, start, end in chunk.lines():
                prediction = parse_line(chunk.data[start:end], number).prediction
                grade_prediction(prediction, *ready[prediction.id])

    benchmark.pedantic(plain, rounds=5 if benchmark.enabled else 1)
    say(benchmark, data)


def test_all_that_a_worker_does(benchmark, data, chunks):
    """Reading, judging, and the rows as they stand in the results."""
    benchmark.pedantic(
        lambda: [worker.grade_chunk(chunk) for chunk in chunks],
        rounds=5 if benchmark.enabled else 1,
    )
    say(benchmark, data)


def test_the_way_there_and_back(benchmark, data, chunks, new_run):
    """All that the parent does for a row while workers are at work; pipes aside."""
    parts = {chunk.place: worker.grade_chunk(chunk) for chunk in chunks}

    def fresh() -> tuple[tuple[Run, dict[int, bytes]], dict[str, object]]:
        return (new_run(), parts), {}

    benchmark.pedantic(Run.hand_over, setup=fresh, rounds=5 if benchmark.enabled else 1)
    say(benchmark, data)


def test_writing_results(benchmark, data, chunks, new_run, tmp_path):
    parts = {chunk.place: worker.grade_chunk(chunk) for chunk in chunks}
    rows: list[int] = []

    def fresh() -> tuple[tuple[Run], dict[str, object]]:
        run = new_run()
        run.hand_over(parts)
        return (run,), {}

    def write(run: Run) -> None:
        rows.append(run.write(tmp_path / "results.parquet"))

    benchmark.pedantic(write, setup=fresh, rounds=5 if benchmark.enabled else 1)
    assert set(rows) == {data.count(b"\n")}
    say(benchmark, data)
