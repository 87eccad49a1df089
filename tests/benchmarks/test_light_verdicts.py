"""Our verdicts beside the paper's rules in plain Python, on the same right answers, one core.

``pytest tests/benchmarks --benchmark-enable -n0 -k light``. Ours is timed through the grader's
``grade``, and with the answer's validation (``judge``).
"""

import json
import runpy
from pathlib import Path
from timeit import Timer

import pytest

from scbench.catalog import get_task
from scbench.scoring.judge import judge

PLAIN = runpy.run_path(str(Path(__file__).with_name("plain_rules.py")))

CASES = [
    ("hamiltonian_loop", 0),
    ("hamiltonian_loop", 9),
    ("enumerate_edges", 0),
    ("enumerate_edges", 6),
    ("classify_behaviour", 0),
    ("classify_behaviour", 3),
    ("polynomial_curve_fitting", 0),
    ("polynomial_curve_fitting", 2),
    ("pipe_loop_fitting", 6),
    ("pack_rectangular_prisms", 0),
    ("hyper_snake", 2),
]


def plain_input(task_id, params, reference):
    """What the plain rules take beside the answer: parameters, or the right answer itself."""
    if task_id == "enumerate_edges":
        return reference["edges"]
    if task_id == "classify_behaviour":
        return reference["labels"]
    given = params.model_dump(mode="json")
    return given["grid"] if task_id == "polynomial_curve_fitting" else given


@pytest.mark.parametrize(("task_id", "subtask"), CASES)
def test_light_verdicts(benchmark, versus, task_id, subtask):
    task = get_task(task_id)
    params = task.builder().paper()[subtask].params
    reference = task.builder().reference(params).model_dump(mode="json")
    # As read from a file: with lists and without shared parts.
    reference = json.loads(json.dumps(reference))
    answer = task.answer_model.model_validate(reference)
    given = plain_input(task_id, params, reference)
    rule = PLAIN[task_id]
    assert rule(given, reference) > 0
    assert task.grade(params, answer).score == 1
    if benchmark.enabled:
        calls = [
            Timer(lambda: rule(given, reference)),
            Timer(lambda: task.grade(params, answer)),
            Timer(lambda: judge(task, params, reference)),
        ]
        number = calls[0].autorange()[0]
        # In turns, so that what else the machine does slows all of them alike.
        rounds = [[call.timeit(number) / number for call in calls] for _ in range(5)]
        plain, ours, whole = map(min, zip(*rounds, strict=True))
        versus(f"verdict on {task_id}/{subtask:02d}", "plain rules", ours, plain)
        versus("the same with validation", "plain rules", whole, plain)
    benchmark.pedantic(task.grade, (params, answer), rounds=1)
