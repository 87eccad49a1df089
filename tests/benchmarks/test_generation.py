"""CPU time of drawing cases, compared with reasoning-gym (extra ``benchmark``).

``pytest tests/benchmarks/test_generation.py --benchmark-enable -n0`` times one of our cases; the
table at the end has what a case takes in both libraries, taken in turns in the same
run, and the ratio. A pair is two generators of the same kind of task at like sizes. On both sides a
case is everything a user gets: text, right answer and metadata, with a random generator of its own.
"""

import time
from itertools import count

import pytest

from scbench.catalog import MANIFOLDS, available_tasks, get_task

PAIRS = {
    "basic arithmetic, 10 terms in brackets": (
        "arithmetic", {"length": 10, "max_depth": 3},
        "basic_arithmetic", {"min_terms": 10, "max_terms": 10, "min_digits": 1, "max_digits": 1,
                             "operators": ["+", "-", "*"]},
    ),
    "chain of 10 terms": (
        "arithmetic", {"length": 10, "max_depth": 0},
        "chain_sum", {"min_terms": 10, "max_terms": 10, "min_digits": 1, "max_digits": 1,
                      "allow_negation": True},
    ),
    "Boolean logic, 10 values": ("boolean", {"length": 10}, "propositional_logic", {}),
    "circuits": ("boolean", {"length": 10}, "circuit_logic", {}),
    "letter counting, 5 words": (
        "letter_counting", {"words": 5, "confounders": 0},
        "letter_counting", {"min_words": 5, "max_words": 5},
    ),
    "letter counting, 12 words": (
        "letter_counting", {"words": 8, "confounders": 4},
        "letter_counting", {"min_words": 12, "max_words": 12},
    ),
    "sorting 10 words": (
        "word_sorting", {"words": 10}, "word_sorting", {"min_words": 10, "max_words": 10},
    ),
    "calendar arithmetic": ("dates", {"tier": 1}, "calendar_arithmetic", {}),
    "number sequences": ("pattern_interference", {}, "number_sequence", {}),
}  # fmt: skip
AT_A_TIME = 300
ROUNDS = 40
SIZE = AT_A_TIME * ROUNDS


def maker(task_id: str, parameters: dict):
    builder = get_task(task_id).builder()
    return builder.rows_at(builder.space(**parameters))


def cpu_seconds(make, start: int) -> float:
    """Return the CPU time of one case, averaged over several in a row."""
    began = time.process_time()
    for i in range(start, start + AT_A_TIME):
        make(i)
    return (time.process_time() - began) / AT_A_TIME


@pytest.mark.beside
@pytest.mark.parametrize("pair", PAIRS)
def test_cases_compared_with_reasoning_gym(benchmark, versus, pair):
    import reasoning_gym as gym  # noqa: PLC0415  (the extra benchmark has it)

    task_id, parameters, name, options = PAIRS[pair]
    ours = maker(task_id, parameters)
    theirs = gym.create_dataset(name, seed=1, size=SIZE, **options)
    assert ours(0)["target"]
    assert theirs[0]["question"]
    benchmark.pedantic(ours, (1,), rounds=50 if benchmark.enabled else 1)
    if not benchmark.enabled:
        return
    our_times, their_times = [], []
    for start in range(0, SIZE, AT_A_TIME):
        our_times.append(cpu_seconds(ours, start))
        their_times.append(cpu_seconds(theirs.__getitem__, start))
    # The fastest of many rounds has the least disturbance from other programs.
    versus(f"drawing a case: {pair}", "reasoning-gym", min(our_times), min(their_times))


@pytest.mark.parametrize("task", available_tasks(), ids=str)
def test_cases_of_every_task(benchmark, task):
    make = maker(task.id, {})
    rounds = 300 if task.bucket == MANIFOLDS else 5
    seeds = count()
    benchmark.pedantic(
        lambda: make(next(seeds)), rounds=rounds if benchmark.enabled else 1
    )
    if benchmark.enabled:
        benchmark.extra_info["per_second"] = round(1 / benchmark.stats["median"], 1)
