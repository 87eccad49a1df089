"""Pattern interference, checked by following the sentences of the prompt."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.pattern_interference import Space, TaskBuilder
from scbench.catalog import get_task
from scbench.scoring.judge import judge

TASK = get_task("pattern_interference")
BUILDER = TaskBuilder()
SPACES = st.builds(
    Space,
    base_rules=st.integers(1, 3),
    interference_rules=st.integers(0, 3),
    length_shown=st.integers(3, 60),
    length_asked=st.integers(1, 20),
)


def number(pattern, text):
    return int(re.search(pattern, text)[1])


def next_term(phrase_of_rule, term):
    """Compute a new term from one phrase of the prompt."""
    if "digits" in phrase_of_rule:
        return term + sum(int(digit) for digit in str(term))
    if "add " in phrase_of_rule:
        return term + number(r"add (\d+)", phrase_of_rule)
    if "subtract " in phrase_of_rule:
        return term - number(r"subtract (\d+)", phrase_of_rule)
    return term * number(r"by (\d+)", phrase_of_rule)


def apply_step(step, place, value, terms):
    """Change a term by one of the later steps of the prompt."""
    if "multiple of" in step:
        applies = place % number(r"multiple of (\d+)", step) == 0
    elif "divisible" in step:
        applies = value % number(r"divisible by (\d+)", step) == 0
    else:
        applies = value in terms
    if not applies:
        return value
    if ", add" in step:
        return value + number(r"add (\d+)", step)
    return value - number(r"subtract (\d+)", step)


def terms_from_prompt(prompt):
    """Return the shown terms and all terms, computed from the prompt's sentences."""
    shown = [int(term) for term in prompt.split("\n\n")[1].split(", ")]
    base, _, *later = re.findall(r"^\d\. (.*)$", prompt, re.MULTILINE)
    phrases = base.lower().rstrip(".").split("; ")
    rules = [phrase.rpartition("and so on, ")[2] for phrase in phrases]
    asked = re.search(r"Give the next (\d+) terms", prompt)
    count = int(asked[1]) if asked else 1
    terms = shown[:1]
    while len(terms) < len(shown) + count:
        place = len(terms) + 1
        # The second term is the first that a rule makes.
        rule = rules[(place - 2) % len(rules)]
        value = next_term(rule, terms[-1]) % 100
        for step in later:
            value = apply_step(step, place, value, terms) % 100
        terms.append(value)
    return shown, terms


@settings(max_examples=150)
@given(SPACES, st.integers(0, 2**63))
def test_grader_builder_and_prompt_agree(point, seed):
    try:
        params = BUILDER.draw(point, Stream("patterns", seed))
    except GenerationError:
        return
    shown, terms = terms_from_prompt(BUILDER.prompt(params))
    assert shown == terms[: point.length_shown]
    right = terms[point.length_shown :]
    assert len(right) == point.length_asked
    assert list(BUILDER.reference(params).answer) == right
    assert judge(TASK, params, {"answer": right})[0].score == 1
    off = [*right[:-1], right[-1] + 1]
    assert judge(TASK, params, {"answer": off})[0].score == 0


def test_answer_without_numbers_leaves_the_other_checks_open():
    params = BUILDER.draw(Space(), Stream("pattern", 1))
    (verdict,) = judge(TASK, params, {"answer": "no numbers"})
    assert verdict.score == 0
    assert {check.id: check.passed for check in verdict.checks} == {
        "readable": False,
        "count": None,
        "terms": None,
    }


def test_terms_depend_on_each_change_if_asked():
    point = Space(interference_rules=2, length_asked=5, interference_matters=True)
    for seed in range(20):
        params = BUILDER.draw(point, Stream("matters", seed))
        right = list(BUILDER.reference(params).answer)
        changes = params.interference
        for kept in ((), changes[:1], changes[1:]):
            milder = params.model_copy(update={"interference": kept})
            assert list(BUILDER.reference(milder).answer) != right


def test_something_must_change_terms_if_changes_must_matter():
    with pytest.raises(ValidationError, match="needs interference_rules"):
        Space(interference_rules=0, interference_matters=True)
