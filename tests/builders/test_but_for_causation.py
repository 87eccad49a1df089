"""But-for causation: the prompt's sentences alone lead to the target."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

from scbench.base.errors import GenerationError
from scbench.builders.but_for_causation import (
    Space,
    TaskBuilder,
    is_answered_without_facts,
)
from scbench.builders.but_for_causation.stories import settings
from scbench.catalog import get_task
from scbench.graders.but_for_causation import necessary
from scbench.scoring.judge import judge

BUILDER = TaskBuilder()
TASK = get_task("but_for_causation")


def lower_first(text):
    return text[0].lower() + text[1:]


def read_rules(story, read_condition, event_of):
    """Return the conditions of each effect, and whether all or any of them are needed."""
    rules = {}
    for line in re.findall(r"^- (.+)\.$", story, re.MULTILINE):
        text = lower_first(re.sub(r" \(.+? (needed|enough)\)$", "", line))
        match = re.fullmatch(r"if (.+), then (.+)", text)
        premise, effect = match.groups() if match else text.split(" if ")[::-1]
        parts = re.split(r", | and | or | but ", premise)
        needed = any if " or " in premise else all
        assert event_of[effect] not in rules
        rules[event_of[effect]] = (needed, [read_condition(part) for part in parts])
        if len(parts) > 1 and " but " not in premise:
            assert ("needed)" in line) == (needed is all)
    return rules


def happens(outcome, facts, rules, without=None):
    """Return whether an event happens, if another one is prevented."""
    world = {event: value and event != without for event, value in facts.items()}
    while len(world) < len(facts) + len(rules):
        for event, (needed, conditions) in rules.items():
            if event in world or any(cause not in world for cause, _ in conditions):
                continue
            fulfilled = needed(world[cause] == value for cause, value in conditions)
            world[event] = fulfilled and event != without
    return world[outcome]


def answer_from_prompt(prompt):
    """Answer a prompt, from its text and the forms of the events alone."""
    story, workings = prompt.split("How the story works:")
    assert "whatever its rule says" in workings
    (setting,) = [setting for setting in settings() if setting.opening in story]
    present, absent, past, prevented = {}, {}, {}, {}
    for event, (subject, base, now, then, participle) in enumerate(setting.events):
        present[f"{subject} {now}"] = event
        absent[f"{subject} does not {base}"] = event
        past[f"{subject} {then}"] = event, True
        past[f"{subject} did not {base}"] = event, False
        prevented[f"{subject} had not {participle}"] = event

    def condition(text):
        return (present[text], True) if text in present else (absent[text], False)

    rules = read_rules(story, condition, present)
    begun = re.search(r"It began like this: (.+?) Everything else", story)[1]
    sentences = begun.removesuffix(".").split(". ")
    facts = dict(past[lower_first(sentence)] for sentence in sentences)
    outcome, did_happen = past[re.search(r"In the end, (.+)\.", story)[1]]
    assert did_happen
    assert not facts.keys() & rules.keys()
    assert happens(outcome, facts, rules)

    subject, *_, participle = setting.events[outcome]
    if supposed := re.match(r"Would (.+) still have (.+) if (.+)\? Answer yes", story):
        assert supposed.groups()[:2] == (subject, participle)
        return "yes" if happens(outcome, facts, rules, prevented[supposed[3]]) else "no"
    assert f"if {subject} would not have {participle} had this event alone" in story
    necessary_letters = []
    for letter, text in re.findall(r"^([A-Z])\) (.+)$", story, re.MULTILINE):
        event, _ = past[text]
        if not happens(outcome, facts, rules, event):
            necessary_letters.append(letter)
    return ", ".join(necessary_letters)


@st.composite
def spaces(draw):
    return Space(
        events=draw(st.integers(3, 12)),
        max_depth=draw(st.integers(1, 8)),
        prob_overdetermination=draw(st.sampled_from([0, 0.3, 0.8])),
        prob_preemption=draw(st.sampled_from([0, 0.3, 0.8])),
        distractors=draw(st.integers(0, 8)),
        question=draw(st.sampled_from(["but_for", "necessary_set"])),
    )


@given_settings(max_examples=200)
@given(spaces(), st.integers(0, 2**63))
def test_prompt_alone_leads_to_the_target(point, seed):
    try:
        case = BUILDER.case(point, seed)
    except GenerationError:
        # In a short chain, second causes may leave no event whose facts matter.
        assert point.max_depth <= 2 or point.events <= 4
        assert point.prob_overdetermination + point.prob_preemption >= 0.8
        return
    assert answer_from_prompt(case.input) == case.target
    params = BUILDER.params_model(**case.instance)
    (verdict,) = judge(TASK, params, {"answer": case.target})
    assert verdict.score == 1
    outside_chain = 1 if point.distractors else 2
    assert case.depth == min(point.max_depth, point.events - outside_chain)
    rules, origins = case.instance["rules"], case.instance["told"]
    assert len(rules) + len(origins) == point.events + point.distractors
    n = len(case.instance["candidates"])
    blind = 0.5 if point.question == "but_for" else 1 / (n * (n - 1))
    assert BUILDER.blind_floor(params) == blind


def test_outcomes_that_did_not_happen_are_rejected():
    params = BUILDER.params_model(**BUILDER.case(Space(), 0).instance)
    all_false = tuple((event, False) for event, _ in params.told)
    rules = ((params.outcome, "all", ((all_false[0][0], True),)),)
    with pytest.raises(ValueError, match="did not happen"):
        necessary(params.model_copy(update={"told": all_false, "rules": rules}))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"events": 12, "max_depth": 5, "prob_preemption": 0.8},
    ],
    ids=str,
)
def test_yes_and_no_are_equally_likely(parameters):
    targets = Counter(
        case["target"] for case in BUILDER.generate_random(count=600, **parameters)
    )
    assert targets.keys() == {"yes", "no"}
    assert 240 < targets["yes"] < 360


def test_stories_with_facts_matter_need_their_facts():
    point = {"question": "necessary_set", "events": 8, "prob_overdetermination": 0.3}
    answered = []
    for facts_matter in (False, True):
        cases = BUILDER.generate_random(count=60, facts_matter=facts_matter, **point)
        params = [TASK.params_model.model_validate(case["instance"]) for case in cases]
        answered.append(sum(map(is_answered_without_facts, params)))
    assert answered[0] > 30
    assert answered[1] == 0


def test_baseline_stops_at_the_first_or():
    (case,) = BUILDER.generate_random(question="necessary_set", distractors=0)
    # The fire burns if the match is struck; the alarm rings if it burns or a guard calls.
    params = TASK.params_model.model_validate(case["instance"]).model_copy(
        update={
            "rules": (
                (0, "all", ((1, True),)),
                (1, "any", ((2, True), (3, True))),
            ),
            "told": ((2, True), (3, False)),
            "outcome": 0,
            "candidates": (2, 1),
        }
    )
    assert BUILDER.baselines(params) == {"walk back to the first or": {"answer": ["B"]}}
    assert BUILDER.reference(params).answer == ("A", "B")


def test_facts_matter_needs_necessary_set():
    with pytest.raises(
        ValueError, match="facts_matter needs the question necessary_set"
    ):
        Space(facts_matter=True)
