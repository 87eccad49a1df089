"""Errors of providers may have any length: a run and its log are read in linear time."""

import time

import pytest
from inspect_model import NEEDS_INSPECT

from scbench.formats.imports.inspect_logs import call_error

pytestmark = NEEDS_INSPECT


@pytest.mark.parametrize(
    "text", ["Request:\n", " ", "Error code: 400 - ", "x", "(", "['", "Request:\n\n\n"]
)
def test_long_errors_are_read_in_linear_time(text):
    start = time.process_time()
    call_error(text * 100_000 + "x")
    assert time.process_time() - start < 10


def test_the_request_before_an_error_is_left_out():
    assert call_error("Request:\n{}\n\nBadError('no')") == "no"
    assert call_error("Failed.\n Request:\n{}\n\nreason") == "Failed.reason"
    assert call_error("Request:\nno end") == "Request:\nno end"


@pytest.mark.parametrize("name", ["two_segments", "loop"])
def test_long_tracebacks_of_a_task_are_shortened_instead_of_coloured(monkeypatch, name):
    from inspect_ai._util import rich  # noqa: PLC0415  (an extra)

    from scbench.integrations.inspect import tasks  # noqa: PLC0415  (as above)

    # Restored after the test.
    monkeypatch.setattr(rich, "truncate_traceback", rich.truncate_traceback)
    task = tasks.loop if name == "loop" else tasks.TASKS[name]
    task(ids=["two_segments/00"])
    error = ValueError("x" * 300_000)
    text, coloured = rich.format_traceback(ValueError, error, None)
    assert text == coloured
    assert len(text) < 20_000


def test_long_errors_of_inspect_eval_are_shortened(tmp_path, monkeypatch):
    import inspect_ai  # noqa: PLC0415  (an extra)
    from inspect_ai.model import get_model  # noqa: PLC0415  (as above)

    monkeypatch.setenv("INSPECT_DISPLAY", "none")

    def fail(*_arguments):
        raise ValueError("Error code: 400 - " + "x" * 100_000)

    (log,) = inspect_ai.eval(
        "scbench/two_segments",
        model=get_model("mockllm/model", custom_outputs=fail),
        task_args={"ids": ["two_segments/00"]},
        log_dir=str(tmp_path),
    )
    error = log.samples[0].error
    assert "400 xxx" in error.message
    assert len(error.message) < 2000
    assert len(error.traceback_ansi) < 20_000
