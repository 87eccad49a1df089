"""The worker turns items into outcomes, and raises only to get a fresh process."""

import gc
import signal

import pytest

from scbench.grading.rows.index import InstanceKey
from scbench.grading.workers.jobs import AnswerOrigin, Progress, Start, WorkItem
from scbench.grading.workers.worker import (
    grade_item,
    grade_items,
    start_worker,
)


@pytest.fixture
def worker(monkeypatch):
    """A worker's state in this process, restored afterwards."""
    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setenv("POLARS_MAX_THREADS", "1")
    thresholds = gc.get_threshold()
    keys = {
        "parity/01": InstanceKey("parity", '{"bits":"1"}'),
        "gone/00": InstanceKey("gone", "{}"),
    }
    start_worker(Start(keys), Progress())
    yield
    start_worker(Start({}), Progress())
    gc.set_threshold(*thresholds)
    signal.signal(signal.SIGINT, handler)


def item(line: int, data: bytes, instance_id: str = "parity/01") -> WorkItem:
    return WorkItem(line, data, instance_id)


def test_items_come_back_with_their_line_numbers(worker):
    items = [
        item(7, b'{"id":"parity/01","answer":{"bit":1}}'),
        item(3, b'{"id":"parity/01"}'),
    ]
    (seven, first), (three, second) = grade_items(items)
    assert (seven, first.status, three, second.status) == (7, "answered", 3, "missing")


def test_extracted_answer_is_graded_unchanged(worker):
    given = item(1, b'{"id":"parity/01","answer":{"bit":1}}')
    result = WorkItem(
        1, b'{"bit":1}', "parity/01", AnswerOrigin("fence", ["unwrapped_fence"])
    )
    outcome = grade_item(result)
    assert (outcome.source, outcome.repairs) == AnswerOrigin(
        "fence", ["unwrapped_fence"]
    )
    assert outcome._replace(source="answer", repairs=[]) == grade_item(given)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (item(1, b'{"id":"gone/00"}', "gone/00"), "CatalogError: unknown task 'gone'"),
        (item(1, b"{}", "parity/77"), "KeyError: 'parity/77'"),
        (item(1, b"junk"), "TypeError: line 1 cannot be read again"),
    ],
)
def test_ungradable_item_is_a_grader_error(worker, broken, reason):
    result = grade_item(broken)
    assert result.status == "grader_error"
    assert result.reason.startswith(reason)
