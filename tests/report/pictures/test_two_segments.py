"""A frame cut by two segments: regions as the grader counted them, and rejected ends."""

from collections import Counter

from scbench.catalog import get_task
from scbench.report.pictures.two_segments import KINDS, pieces
from scbench.scoring.judge import judge

TASK = "two_segments"


def test_drawn_regions_are_those_the_grader_counted():
    task = get_task(TASK)
    builder = task.builder()
    seen = 0
    for item in builder.paper():
        right = builder.reference(item.params).model_dump(mode="json")
        for answer in (right, *builder.counter_references(item.params).values()):
            (verdict,) = judge(task, item.params, answer)
            observed = verdict.metrics.get("observed")
            if observed:
                found = Counter(
                    map(len, pieces(item.params, verdict.metrics["endpoints"]))
                )
                assert found == Counter(
                    {KINDS[kind]: n for kind, n in observed.items() if n}
                )
                seen += 1
    assert seen > 60
