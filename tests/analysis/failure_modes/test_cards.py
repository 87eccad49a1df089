"""Task cards: complete, never more than the grader checks, and in agreement with the rules."""

import json
import re

import pytest

from scbench.analysis.failure_modes.candidates import candidates
from scbench.analysis.failure_modes.cards import card
from scbench.analysis.failure_modes.labels import MEANINGS, Mode, signals
from scbench.analysis.failure_modes.rules import judge_by_rules
from scbench.base.errors import CatalogError
from scbench.catalog import all_tasks, available_tasks, get_task
from scbench.graders.shared.checklist import COMMON_CHECKS
from scbench.schemas.base import json_schema

TITLES = (
    *("Intent", "Output contract", "Hard constraints", "Verifier signals", "Tie-breaks"),
    *("Judge input", "Classification request"),
)


def usable(task) -> bool:
    try:
        return bool(task.checks)
    except ImportError:  # its libraries are not installed here
        return False


TASKS = [task for task in available_tasks() if usable(task)]


@pytest.fixture(params=TASKS, ids=str)
def task(request):
    return request.param


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## \d\. (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_check_is_on_the_card_and_no_other(task):
    result = sections(card(task))
    expected = [*task.checks, *COMMON_CHECKS]
    listing = re.findall(r"^- `(\w+)`: (.+)$", result["Hard constraints"], re.MULTILINE)
    assert [check for check, _ in listing] == expected
    assert dict(listing) == {**task.checks, **COMMON_CHECKS}
    table = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", result["Verifier signals"], re.MULTILINE)
    assert [check for check, _, _ in table] == expected
    assert all(any(mode in labels for mode in Mode) for _, _, labels in table)


def test_a_card_has_its_eight_sections_in_order(task):
    text = card(task)
    heads = re.findall(r"^#+ (\d)\. (.+)$", text, re.MULTILINE)
    assert [int(number) for number, _ in heads] == list(range(1, 9))
    assert heads[0][1] == f"{task.title} (`{task.id}`)"
    assert tuple(title for _, title in heads[1:]) == TITLES
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_a_card_states_intent_and_contract_from_the_tasks_own_metadata(task):
    result = sections(card(task))
    asks = task.card_text.splitlines()[0].removeprefix("**Asks for** ")
    assert result["Intent"].strip() == f"The model was asked for {asks}"
    contract = result["Output contract"]
    block = contract[contract.index("```json\n") + 8 : contract.index("\n```\n")]
    assert json.loads(block) == json_schema(task.answer_model)


def test_a_card_has_one_cue_per_label(task):
    cues = sections(card(task))["Tie-breaks"].strip().splitlines()
    assert [cue.split("`")[1] for cue in cues] == [
        *("evasion_forfeit", "trivialized_misframed", "near_miss", "local_only"),
        "runaway_overthinking",
    ]
    assert all(MEANINGS[Mode(cue.split("`")[1])].title in cue for cue in cues)


def test_defining_checks_are_checks(task):
    assert task.defining_checks <= task.checks.keys()


def failure(check: str, places: int) -> dict:
    details = {"count": places, "offenders": []}
    return {"id": check, "passed": False, "message": "", "details": details}


def test_the_built_in_judge_follows_the_card(task, make_results):
    """Whatever check fails, alone or with another, its label is one that the card names for it."""
    reference = {signal.check: {mode for mode, _ in signal.likely} for signal in signals(task)}
    partner = next(iter(task.checks))
    cases = [
        (list(dict.fromkeys(failed)), places)
        for check in reference
        for failed in ([check], [check, partner])
        for places in (1, 50)
    ]
    rows = make_results(
        *(
            {"task": task.id, "subtask": i, "score": 0.0, "answer": '{"other":1}'}
            | {"checks": json.dumps([failure(check, places) for check in failed])}
            for i, (failed, places) in enumerate(cases)
        )
    )
    labels = judge_by_rules(candidates(rows))["failure_mode"].to_list()
    for label, (failed, places) in zip(labels, cases, strict=True):
        assert any(label in reference[check] for check in failed), (failed, places)


def test_a_defining_check_means_another_task(monkeypatch):
    task = get_task("delaunay_triangulation")
    module = task._module("graders")
    assert task.defining_checks == frozenset()
    monkeypatch.setattr(module, "DEFINING", frozenset({"hull"}), raising=False)
    assert task.defining_checks == {"hull"}
    text = sections(card(task))
    row = next(line for line in text["Verifier signals"].splitlines() if "`hull`" in line)
    assert row.endswith("| trivialized_misframed |")
    assert "fails hull" in text["Tie-breaks"]


def test_contracts_say_what_is_recovered():
    assert "A bare array is put under `triangles`" in card(get_task("delaunay_triangulation"))
    assert "else what the last mark points at" in card(get_task("arithmetic"))
    assert "One answer gets 9 scores" in card(get_task("interlocking_parts")) or not usable(
        get_task("interlocking_parts")
    )


def test_there_is_no_card_of_a_task_that_cannot_be_graded():
    gone = [task for task in all_tasks().values() if not task.available]
    for task in gone:
        with pytest.raises(CatalogError, match=task.id):
            card(task)
