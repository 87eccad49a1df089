"""How fast cages are judged, one process: parts read anew, and parts that are known already.

``pytest tests/benchmarks --benchmark-enable -n0 -k interlocking``; the child process that evaluates
OpenSCAD is part of "cold".
"""

import pytest

from scbench.catalog import get_task
from scbench.graders import interlocking_parts
from scbench.graders.interlocking_parts import printed_parts
from scbench.scoring.judge import judge

TASK = get_task("interlocking_parts")
PARAMS = TASK.builder().paper()[0].params


def answer(kind):
    if kind == "reference":
        return TASK.builder().reference(PARAMS).model_dump(mode="json")
    return TASK.builder().counter_references(PARAMS)["bars_too_thick"]


@pytest.mark.parametrize("known", [False, True], ids=["cold", "warm"])
@pytest.mark.parametrize("kind", ["reference", "counter_reference"])
def test_judging(benchmark, kind, known):
    given = answer(kind)

    def forget():
        interlocking_parts.grade.cache_clear()
        if not known:
            interlocking_parts._examine.cache_clear()
            printed_parts._cache.clear()

    verdicts = benchmark.pedantic(judge, (TASK, PARAMS, given), setup=forget, rounds=3)
    assert all(verdict.score == 1 for verdict in verdicts) == (kind == "reference")
