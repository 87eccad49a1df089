"""Fuzz answers: any JSON must be judged, and every verdict must fit into a results file."""

import json
import sys
from functools import cache
from typing import Any, NamedTuple

from fuzz_inputs import Choices, Target, as_line, mutated_json

import scbench
from scbench.base.canonical import parse_json
from scbench.base.errors import CannotGrade, JsonError
from scbench.base.model import Instance, Status, Verdict
from scbench.catalog import Task
from scbench.graders.shared.checklist import COMMON_CHECKS
from scbench.grading.rows.wire import to_wire
from scbench.scoring.judge import judge
from scbench.scoring.outcomes import Outcome

# The first choice of an input: how to make an answer, and what to do with it. Other values change
# the structure of an answer and have it judged.
_BYTES_ARE_ANSWER = 0
_BYTES_SPOIL_TEXT = 1
_AS_REPLY = 5
_AS_ANSWER = 6
_TWICE = 7
_FORMS = 8
# Maximum number of instances of a task, and of keys of its answers used as tokens.
_CASES = 4
_KEYS = 20


class FuzzCase(NamedTuple):
    """An instance, its parameters, and its answers in the newest release."""

    instance: Instance
    params: Any
    answers: list[Any]


def answer_target(task: Task) -> Target:
    """Return the target of a task: answers with changed structure or changed text, or raw bytes."""
    cases = fuzz_cases(task)

    def run(data: bytes) -> None:
        choices = Choices(data)
        form = choices.below(_FORMS)
        case = choices.pick(cases)
        try:
            answer = fuzzed_answer(form, case, choices)
        except JsonError:
            return
        if form > _BYTES_SPOIL_TEXT and not reads_as_text(answer):
            return
        if task.id == "terrain_levelling":
            answer = shortened(answer)
        if form == _AS_REPLY:
            check_outcome(task, case.instance, make_reply(answer, choices))
        elif form == _AS_ANSWER:
            check_outcome(task, case.instance, answer)
        else:
            verdicts = judged(task, case.params, answer)
            if form == _TWICE and verdicts:
                assert judged(task, case.params, answer) == verdicts, (
                    "the same answer got another verdict"
                )

    seeds = [
        bytes([form, i, 0, 1, 2, 3]) + b"\x05\x09\x02" * 4
        for form in (2, _AS_ANSWER, _TWICE)
        for i in range(_CASES)
    ]
    seeds += [b"\0\0" + as_line(case.answers[0])[:4000] for case in cases[:2]]
    seeds += [bytes([_AS_REPLY, i, 0, 0, 0, 0, 0]) + b"}\n```" for i in range(2)]
    tokens = tuple(as_line(key) for key in answer_keys(cases[0].answers[0]))
    return Target(run, seeds, tokens, 4096, 300 if task.isolated else 0)


def fuzz_cases(task: Task) -> list[FuzzCase]:
    """Return up to four instances of the newest release."""
    rows = list(scbench.load_release().instances([task.id]).values())
    cases = []
    for row in rows[:: max(1, len(rows) // _CASES)][:_CASES]:
        params = task.params_model.model_validate_json(row.all_params)
        answers = [json.loads(text) for text in stored_texts()[row.id]]
        # Empty answers contain nothing to change.
        answers = [answer for answer in answers if answer]
        cases.append(FuzzCase(row, params, answers))
    return cases


@cache
def stored_texts() -> dict[str, list[str]]:
    """Return the answers in the newest release, by instance."""
    answers: dict[str, list[str]] = {}
    for ref in scbench.load_release().references():
        answers.setdefault(ref.id, []).append(ref.answer)
    return answers


def answer_keys(answer: Any) -> list[str]:  # noqa: ANN401  (JSON)
    """Return the first keys of an answer, at any depth."""
    if isinstance(answer, list) and answer:
        return answer_keys(answer[0])
    if not isinstance(answer, dict):
        return []
    keys = list(answer)
    for value in answer.values():
        keys += answer_keys(value)
    return keys[:_KEYS]


def fuzzed_answer(form: int, case: FuzzCase, choices: Choices) -> Any:  # noqa: ANN401  (JSON)
    """Return the answer that the remaining bytes make.

    Raises:
        JsonError: the bytes do not make an answer.
    """
    if form == _BYTES_ARE_ANSWER:
        return parse_json(choices.remainder)
    if form == _BYTES_SPOIL_TEXT:
        text = bytearray(as_line(choices.pick(case.answers)))
        while not choices.spent:
            at = choices.below(len(text))
            text[at : at + choices.below(4)] = choices.remainder[:1]
        return parse_json(bytes(text))
    return mutated_json(choices.pick(case.answers), choices)


def reads_as_text(answer: Any) -> bool:  # noqa: ANN401  (JSON)
    """Return whether all text in an answer can be UTF-8; the reader rejects lone surrogates."""
    match answer:
        case str():
            return not any("\ud800" <= character <= "\udfff" for character in answer)
        case dict():
            return all(reads_as_text(part) for pair in answer.items() for part in pair)
        case list():
            return all(map(reads_as_text, answer))
    return True


def shortened(answer: Any) -> Any:  # noqa: ANN401  (JSON)
    """Return the first blasts of a plan: each blast takes a hundred times as long as the rest."""
    blasts = answer.get("blasts") if isinstance(answer, dict) else None
    return {**answer, "blasts": blasts[:2]} if isinstance(blasts, list) else answer


def make_reply(answer: Any, choices: Choices) -> str:  # noqa: ANN401  (JSON)
    """Return a reply that contains an answer, changed by the remaining bytes."""
    try:
        text = as_line(answer)
    except ValueError:
        # A number too long for any file.
        text = b"9" * 5000
    at = choices.below(len(text) + 1)
    spoilt = text[:at] + choices.remainder + text[at + choices.below(3) :]
    return f"So it is\n```json\n{spoilt.decode('utf-8', 'replace')}\n```"


def check_outcome(task: Task, instance: Instance, answer: Any) -> None:  # noqa: ANN401  (JSON)
    """Check that any answer has the outcome that a training loop expects."""
    outcome = scbench.outcome(instance, answer)
    assert outcome.status is not Status.GRADER_ERROR, outcome.reason
    assert len(outcome.reason) <= 1000
    check_verdicts(task, outcome.verdicts)


def judged(task: Task, params: Any, answer: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """Judge an answer, check its verdicts and return them; return none if it cannot be judged."""
    try:
        verdicts = judge(task, params, answer, sys.maxsize)
    except CannotGrade:
        return ()
    check_verdicts(task, verdicts)
    return verdicts


def check_verdicts(task: Task, verdicts: tuple[Verdict, ...]) -> None:
    """Check the rules that apply to every verdict."""
    for verdict in verdicts:
        assert 0 <= verdict.score <= 1
        assert task.scoring == "partial" or verdict.score in {0, 1}
        ids = [check.id for check in verdict.checks]
        assert ids
        assert len(set(ids)) == len(ids), "a check id occurs twice"
        assert set(ids) <= {*task.checks, *COMMON_CHECKS}
        for check in verdict.checks:
            assert check.message
            assert len(check.message) < 5000, (
                f"the message of {check.id} is too long to be read"
            )
    wire = to_wire(Outcome(Status.ANSWERED, verdicts))
    size = sum(len(scored.checks) + len(scored.metrics) for scored in wire.scores)
    assert size < 5_000_000, f"a verdict of {size} bytes"
