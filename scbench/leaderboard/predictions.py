"""Checking the predictions of a submission.

They are read as in grading. What only a board asks for comes on top: one run, every instance once
per sample, statuses and usage that fit what is said.
"""

import hashlib
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import zstandard
from pydantic import JsonValue

from scbench.base.canonical import canonical_json, parse_json
from scbench.base.errors import PredictionsError, printable
from scbench.base.finish_reasons import finish_status
from scbench.base.model import LOOP_SETTINGS, Instance, Prediction, Status, task_of
from scbench.catalog import Task
from scbench.formats.predictions import Line, open_predictions
from scbench.grading.check import answer_warnings
from scbench.grading.rows.coverage import Admission, Coverage
from scbench.grading.rows.index import LineKind, known_ids
from scbench.grading.run import choose_tasks
from scbench.leaderboard.findings import Finding, advice, finding
from scbench.leaderboard.submission import Submission
from scbench.release.load import Release
from scbench.scoring.answers.extract import find_answer
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.outcomes import Outcome, seek_answer, without_answer

# Instance and answer, as canonical JSON.
Pair = tuple[str, str]
# Bytes of a predictions file once unpacked; measured before a line of it is parsed.
MOST_UNPACKED = 1_000_000_000
_SPARE_LINES = 1000
_CHUNK = 2**20
_MAX_IDS = 5
_TOOL_WORDS = ("tool", "search", "code_interpreter", "code_execution", "browser")
_SPARE_TOKENS = 4_096
_IMAGE_TOKENS = 8_192


@dataclass(slots=True)
class CheckedPredictions:
    """What was found in a predictions file."""

    findings: list[Finding] = field(default_factory=list)  #: what is wrong, or may be.
    lines: int = 0  #: lines read.
    expected: int = 0  #: scores that the submission should have, over all samples.
    scored: int = 0  #: scores it will have, as far as can be told without grading.
    #: as `read_answers` of `scbench.leaderboard.answer_overlap` gives them.
    answers: list[Pair] = field(default_factory=list)


def measure(path: Path) -> tuple[int, str] | None:
    """Return size and SHA-256 of a file once unpacked; nothing if it is larger than allowed.

    A file that ends too early or is damaged is measured up to there; reading says what is wrong.
    """
    digest, size = hashlib.sha256(), 0
    try:
        with open_predictions(str(path)) as stream:
            while chunk := stream.read(_CHUNK):
                size += len(chunk)
                if size > MOST_UNPACKED:
                    return None
                digest.update(chunk)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError, PredictionsError):
        pass
    return size, digest.hexdigest()


def answer_pair(prediction: Prediction, task: Task) -> list[Pair]:
    """Return the answer of a prediction; none if there is none, or none that a file could hold."""
    answer = seek_answer(prediction, task)
    try:
        return (
            []
            if isinstance(answer, Outcome)
            else [(prediction.id, canonical_json(answer.value))]
        )
    except ValueError:
        return []


def check_predictions(
    name: str, path: Path, about: Submission, release: Release
) -> CheckedPredictions:
    """Read a predictions file and return everything that is wrong with it."""
    result = CheckedPredictions()
    if measure(path) is None:
        result.findings.append(finding("too_large_unpacked", name, limit=MOST_UNPACKED))
        return result
    checker = _Checker(name, about, release)
    limit = len(checker.instances) * about.attempts + _SPARE_LINES
    for admission, line in checker.coverage.read(str(path), hashlib.sha256()):
        if checker.coverage.lines > limit:
            words = {"limit": limit, "attempts": about.attempts}
            result.findings.append(finding("too_many_lines", name, limit + 1, **words))
            break
        result.findings += checker.look(admission, line)
    else:
        result.findings += checker.close()
    result.lines = checker.coverage.lines
    result.expected = about.attempts * sum(
        row.scores for row in checker.instances.values()
    )
    result.scored, result.answers = checker.scored, checker.answers
    return result


class _Checker:
    """Looks at lines one by one, and at the end at what is missing."""

    def __init__(self, name: str, about: Submission, release: Release) -> None:
        self.name = name
        self.about = about
        self.release = release
        names = list(release.manifest.board_records(about.tasks))
        self.instances = release.instances(names)
        self.tasks = {task.id: task for task in choose_tasks(release, names)}
        self.coverage = Coverage(known_ids(self.instances, self.tasks))
        self.ids_by_sample: list[set[str]] = [set() for _ in range(about.attempts)]
        self.budgets: Counter[int | None] = Counter()
        self.unscored: Counter[Status] = Counter()
        self.scored = 0
        self.answers: list[Pair] = []
        self.compared = {*release.manifest.default_tasks}

    def look(self, admission: Admission, line: Line | None) -> Iterator[Finding]:
        problem = admission.problem
        if problem is not None:
            todo, message = (
                advice(problem.code, "correct the line"),
                problem.message.rstrip("."),
            )
            yield Finding(
                problem.code, message, todo, self.name, problem.line, problem.id
            )
        if problem is not None or line is None:
            return
        if admission.kind is LineKind.NOT_IN_RELEASE:
            task, version = task_of(line.prediction.id), self.release.version
            kind = (
                "not_on_board"
                if task in self.release.manifest.tasks
                else "not_in_release"
            )
            yield self._finding(kind, line, task=task, version=version)
            return
        yield from self._run(line)
        instance = self.instances[line.prediction.id]
        yield from self._status(line, instance)
        yield from self._usage(line, instance)
        for warning in answer_warnings(line, instance, self.tasks):
            todo = advice(warning.code, "look at what the parser made of the response")
            place = (self.name, line.number, line.prediction.id)
            yield Finding(
                warning.code, warning.message.rstrip("."), todo, *place, "warning"
            )
        if admission.kind is LineKind.GRADED and instance.task in self.compared:
            self.answers += answer_pair(line.prediction, self.tasks[instance.task])

    def _finding(self, kind: str, line: Line, **words: object) -> Finding:
        return finding(kind, self.name, line.number, line.prediction.id, **words)

    def _run(self, line: Line) -> Iterator[Finding]:
        """The file must hold the one run that submission.yaml speaks of."""
        prediction, about = line.prediction, self.about
        expected = about.model.id or about.model.name
        if prediction.model not in {expected, "unnamed"}:
            model = printable(prediction.model)
            yield self._finding("other_model", line, model=model, expected=expected)
        if prediction.setting not in {about.setting, None}:
            kind = (
                "loop_setting"
                if prediction.setting in LOOP_SETTINGS
                else "other_setting"
            )
            yield self._finding(
                kind, line, setting=prediction.setting, expected=about.setting
            )
        if prediction.sample < about.attempts:
            self.ids_by_sample[prediction.sample].add(prediction.id)
        else:
            words = {"sample": prediction.sample, "attempts": about.attempts}
            yield self._finding("sample_out_of_range", line, **words)
        if self.budgets and prediction.budget not in self.budgets:
            before = [*self.budgets]
            yield self._finding(
                "other_budget", line, budget=prediction.budget, before=before
            )
        self.budgets.setdefault(prediction.budget, 0)

    def _status(self, line: Line, instance: Instance) -> Iterator[Finding]:
        prediction = line.prediction
        absent = without_answer(prediction)
        if absent is None or absent.status.scored:
            self.scored += instance.scores
        else:
            self.unscored[absent.status] += instance.scores
        status, reason = prediction.status, (prediction.finish_reason or "").lower()
        if status is Status.TRUNCATED and finish_status(reason) is Status.ANSWERED:
            yield self._finding(
                "truncated_but_finished", line, reason=printable(reason)
            )
        usage = prediction.usage
        if status in {Status.NOT_RUN, Status.MISSING} and usage and usage.output_tokens:
            words = {"status": status, "tokens": usage.output_tokens}
            yield self._finding("unrun_with_tokens", line, **words)
        if status is not None and not status.scored and prediction.response is not None:
            bare = prediction.model_copy(update={"status": None})
            shape = shape_of(self.tasks[instance.task].answer_model)
            if without_answer(bare) is None and find_answer(bare, shape) is not None:
                yield self._finding("status_hides_answer", line, status=status)

    def _usage(self, line: Line, instance: Instance) -> Iterator[Finding]:
        usage = line.prediction.usage
        if self.about.setting == "no_tools":
            tool_use = _tool_use(line.data)
            if tool_use:
                yield self._finding(
                    "usage_setting", line, name=printable(tool_use[:80])
                )
        if usage is None:
            return
        output, reasoning = usage.output_tokens, usage.reasoning_tokens
        if output is not None and reasoning is not None and reasoning > output:
            yield self._finding(
                "usage_contradicts", line, reasoning=reasoning, output=output
            )
        if usage.input_tokens and self.about.setting == "no_tools":
            # A token is a byte at the least; the schema may have been sent beside the prompt.
            limit = (
                len(f"{instance.prompt}{instance.answer_schema}".encode())
                + _SPARE_TOKENS
            )
            limit += _IMAGE_TOKENS * len(instance.images)
            if usage.input_tokens > limit * max(usage.attempts or 1, 1):
                yield self._finding("usage_input", line, tokens=usage.input_tokens)

    def close(self) -> Iterator[Finding]:
        ids = list(self.instances)
        for sample, ids_present in enumerate(self.ids_by_sample):
            lack = [row_id for row_id in ids if row_id not in ids_present]
            if lack:
                examples = ", ".join(lack[:_MAX_IDS]) + (
                    ", ..." if len(lack) > _MAX_IDS else ""
                )
                words = {"sample": sample, "absent": len(lack), "total": len(ids)}
                yield finding(
                    "incomplete", self.name, None, lack[0], examples=examples, **words
                )
        total = self.scored + self.unscored.total()
        if self.unscored and not self.scored:
            yield finding("nothing_scored", self.name)
        elif self.unscored:
            counts = ", ".join(
                f"{n} {status}" for status, n in sorted(self.unscored.items())
            )
            shares = {"scored": self.scored, "total": total}
            yield finding("coverage", self.name, counts=counts, **shares)


def _tool_use(data: bytes) -> str | None:
    """Return the name of a count or list in a line that says tools were used."""
    lower = data.lower()
    if not any(word.encode() in lower for word in _TOOL_WORDS):
        return None
    value = parse_json(data)
    if not isinstance(value, dict):
        return None
    usage = value.get("usage")
    amounts = dict(_flat_counts("usage", usage)) if isinstance(usage, dict) else {}
    amounts |= {key: value[key] for key in ("tool_calls", "tools_used") if key in value}
    for key, amount in amounts.items():
        some = bool(amount) if isinstance(amount, list | dict) else _is_positive(amount)
        if some and any(word in key.lower() for word in _TOOL_WORDS):
            return key
    return None


def _is_positive(value: JsonValue) -> bool:
    return isinstance(value, int | float) and value > 0


def _flat_counts(
    name: str, value: Mapping[str, JsonValue], depth: int = 0
) -> Iterator[tuple[str, JsonValue]]:
    for key, part in value.items():
        if isinstance(part, dict) and depth < 3:
            yield from _flat_counts(f"{name}.{key}", part, depth + 1)
        else:
            yield f"{name}.{key}", part
