"""Fuzzing of answers: any JSON is judged, and every verdict is one that a file can hold."""

import json
import sys
from functools import cache
from typing import Any

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


def answer_target(task: Task) -> Target:
    """Return the target of a task: answers by structure, by spoilt text and by bytes."""
    cases = _fuzz_cases(task)

    def run(data: bytes) -> None:
        choices = Choices(data)
        form, (instance, params, answers) = choices.below(8), choices.pick(cases)
        answer: Any
        if form == 0:  # the bytes themselves are the answer
            try:
                answer = parse_json(choices.remainder)
            except JsonError:
                return
        elif form == 1:  # the bytes spoil the text of an answer
            text = bytearray(as_line(choices.pick(answers)))
            while not choices.spent:
                at = choices.below(len(text))
                text[at : at + choices.below(4)] = choices.remainder[:1]
            try:
                answer = parse_json(bytes(text))
            except JsonError:
                return
        else:
            answer = mutated_json(choices.pick(answers), choices)
            if not _reads_as_text(answer):
                return
        if task.id == "terrain_levelling":
            answer = _shortened(answer)
        if form in {
            5,
            6,
        }:  # as a training loop asks: a reply with the answer in it, or the answer
            _check_outcome(
                task, instance, _make_reply(answer, choices) if form == 5 else answer
            )
            return
        verdicts = judged(task, params, answer)
        if form == 7 and verdicts:
            assert judged(task, params, answer) == verdicts, (
                "the same answer got another verdict"
            )

    seeds = [
        bytes([form, i, 0, 1, 2, 3]) + b"\x05\x09\x02" * 4
        for form in (2, 6, 7)
        for i in range(4)
    ]
    seeds += [b"\0\0" + as_line(answers[0])[:4000] for _, _, answers in cases[:2]]
    seeds += [bytes([5, i, 0, 0, 0, 0, 0]) + b"}\n```" for i in range(2)]
    tokens = tuple(as_line(key) for key in _answer_keys(cases[0][2][0]))
    return Target(run, seeds, tokens, 4096, 300 if task.isolated else 0)


def _fuzz_cases(task: Task) -> list[tuple[Instance, Any, list[Any]]]:
    """Return up to four instances of the newest release, with the answers that it stores."""
    instances = list(scbench.load_release().instances([task.id]).values())
    return [
        (
            row,
            task.params_model.model_validate_json(row.all_params),
            list(filter(None, map(json.loads, _stored_texts()[row.id]))),
        )
        for row in instances[:: max(1, len(instances) // 4)][:4]
    ]


@cache
def _stored_texts() -> dict[str, list[str]]:
    """Return the answers that the newest release stores, by instance."""
    answers: dict[str, list[str]] = {}
    for ref in scbench.load_release().references():
        answers.setdefault(ref.id, []).append(ref.answer)
    return answers


def _make_reply(answer: Any, choices: Choices) -> str:  # noqa: ANN401  (JSON)
    """Return a reply that holds an answer, spoilt by the bytes that are left."""
    try:
        text = as_line(answer)
    except ValueError:  # a number that no file could hold
        text = b"9" * 5000
    at = choices.below(len(text) + 1)
    spoilt = text[:at] + choices.remainder + text[at + choices.below(3) :]
    return f"So it is\n```json\n{spoilt.decode('utf-8', 'replace')}\n```"


def _check_outcome(task: Task, instance: Instance, answer: Any) -> None:  # noqa: ANN401  (JSON)
    """An answer of any kind has an outcome, and no grader fails."""
    came = scbench.outcome(instance, answer)
    assert came.status is not Status.GRADER_ERROR, came.reason
    assert len(came.reason) <= 1000
    _check_verdicts(task, came.verdicts)


def _reads_as_text(answer: Any) -> bool:  # noqa: ANN401  (JSON)
    """Whether all text in an answer can be UTF-8: half a surrogate pair never passes the reader."""
    match answer:
        case str():
            return not any("\ud800" <= character <= "\udfff" for character in answer)
        case dict():
            return all(_reads_as_text(part) for pair in answer.items() for part in pair)
        case list():
            return all(map(_reads_as_text, answer))
    return True


def _answer_keys(answer: Any) -> list[str]:  # noqa: ANN401  (JSON)
    if isinstance(answer, dict):
        return [
            *answer,
            *(key for value in answer.values() for key in _answer_keys(value)),
        ][:20]
    return _answer_keys(answer[0]) if isinstance(answer, list) and answer else []


def _shortened(answer: Any) -> Any:  # noqa: ANN401  (JSON)
    """Return a plan's first blasts: each takes a hundred times what everything else does."""
    blasts = answer.get("blasts") if isinstance(answer, dict) else None
    return {**answer, "blasts": blasts[:2]} if isinstance(blasts, list) else answer


def judged(task: Task, params: Any, answer: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """Judge an answer and check what every verdict must keep; nothing if it cannot be judged."""
    try:
        verdicts = judge(task, params, answer, sys.maxsize)
    except CannotGrade:
        return ()
    _check_verdicts(task, verdicts)
    return verdicts


def _check_verdicts(task: Task, verdicts: tuple[Verdict, ...]) -> None:
    """Check what every verdict must keep."""
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
