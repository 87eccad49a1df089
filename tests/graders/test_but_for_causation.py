"""But-for causation: suppositions played through by two routes, and forms of answers."""

import pytest

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.but_for_causation import Space, TaskBuilder, _necessary
from scbench.graders.but_for_causation import necessary
from scbench.schemas.but_for_causation import Params

BUILDER = TaskBuilder()


@pytest.mark.parametrize("question", ["but_for", "necessary_set"])
def test_grader_and_builder_agree_at_random_points(question):
    rng = Stream("causes", question)
    drawn = 0
    for _ in range(1500):
        point = Space(
            events=rng.between(3, 12),
            max_depth=rng.between(1, 8),
            prob_overdetermination=rng.choice((0, 0.3, 0.7)),
            prob_preemption=rng.choice((0, 0.3, 0.7)),
            distractors=rng.below(9),
            question=question,
        )
        try:
            params = BUILDER.draw(point, rng)
        except GenerationError:
            continue
        drawn += 1
        found = necessary(params)
        assert _necessary(params) == tuple(i in found for i in range(len(params.candidates)))
    assert drawn > 1450


def story(rules, told, outcome, candidates, question="necessary_set"):
    size = 1 + max(event for event, *_ in [*rules, *told])
    return Params(
        story="test",
        opening="It is told.",
        events=tuple((f"the bell {'abcdefgh'[i]}", "ring", "rings", "rang", "rung")
                     for i in range(size)),
        rules=rules,
        told=told,
        outcome=outcome,
        question=question,
        candidates=candidates,
        style=0,
    )  # fmt: skip


TRUE2 = [(0, True), (1, True)]


def test_what_is_no_story_is_told():
    with pytest.raises(ValueError, match="go in circles"):
        necessary(story([(1, "all", [(2, True)]), (2, "all", [(1, True)])], [(0, True)], 2, [0]))
    with pytest.raises(ValueError, match="did not happen"):
        necessary(story([(2, "all", TRUE2)], [(0, True), (1, False)], 2, [0]))
