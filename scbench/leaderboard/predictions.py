"""Checking the predictions of a submission.

Predictions are read in the same way as for grading. A board has more requirements: a single run,
every instance once per sample, and statuses and usage that agree with the responses and with
``submission.yaml``.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from pydantic import JsonValue

from scbench.base.canonical import canonical_json, parse_json
from scbench.base.errors import PredictionsError, printable
from scbench.base.finish_reasons import finish_status
from scbench.base.model import LOOP_SETTINGS, Instance, Prediction, Status, task_of
from scbench.catalog import Task
from scbench.formats.predictions import (
    UNPACKING_ERRORS,
    Line,
    Problem,
    open_predictions,
)
from scbench.grading.check import answer_warnings
from scbench.grading.options import choose_tasks
from scbench.grading.rows.coverage import Admission, Coverage
from scbench.grading.rows.index import LineKind, known_ids
from scbench.leaderboard.findings import Finding, Level, advice, finding
from scbench.leaderboard.submission import Submission
from scbench.release.load import Release
from scbench.scoring.answers.extract import find_answer
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.outcomes import Outcome, seek_answer, without_answer

# Instance and answer, as canonical JSON.
Pair = tuple[str, str]
# Maximum bytes of an unpacked predictions file, checked before any line is parsed.
MOST_UNPACKED = 1_000_000_000
# Maximum number of its lines, also checked before. Blank lines pack to almost nothing, but each
# takes time to read and to grade.
MOST_LINES = 5_000_000
# Maximum number of lines: lines for other tasks are allowed up to this limit.
_SPARE_LINES = 1000
_CHUNK = 2**20
# Maximum number of ids in a message.
_MOST_EXAMPLES = 5
_TOOL_WORDS = ("tool", "search", "code_interpreter", "code_execution", "browser")
# Deeper mappings inside the usage are not searched.
_MOST_DEPTH = 3
# Input tokens of a system prompt, and of an image.
_SPARE_TOKENS = 4_096
_IMAGE_TOKENS = 8_192


@dataclass(slots=True)
class CheckedPredictions:
    """The result of checking a predictions file.

    Attributes:
        findings: problems and warnings.
        lines: lines read.
        expected: scores that the submission should have, over all samples.
        scored: number of scores expected after grading, estimated without grading.
        answers: see `scbench.leaderboard.answer_overlap.read_answers`.
    """

    findings: list[Finding] = field(default_factory=list)
    lines: int = 0
    expected: int = 0
    scored: int = 0
    answers: list[Pair] = field(default_factory=list)


def unpacked_hash(path: Path) -> str | None:
    """Return the SHA-256 of an unpacked file; None above `MOST_UNPACKED` or `MOST_LINES`.

    For a damaged file, the hash covers the part before the damage; reading it reports
    the damage.
    """
    digest = hashlib.sha256()
    size = 0
    lines = 0
    try:
        with open_predictions(str(path)) as stream:
            while chunk := stream.read(_CHUNK):
                size += len(chunk)
                lines += chunk.count(b"\n")
                if size > MOST_UNPACKED or lines > MOST_LINES:
                    return None
                digest.update(chunk)
    except (PredictionsError, *UNPACKING_ERRORS):
        pass
    return digest.hexdigest()


def answer_pair(prediction: Prediction, task: Task) -> list[Pair]:
    """Return the answer of a prediction; empty if there is none or JSON cannot express it."""
    answer = seek_answer(prediction, task)
    if isinstance(answer, Outcome):
        return []
    try:
        return [(prediction.id, canonical_json(answer.value))]
    except ValueError:
        return []


def check_predictions(
    name: str, path: Path, about: Submission, release: Release
) -> CheckedPredictions:
    """Read a predictions file and return all findings about it.

    Args:
        name: the name of the file, for messages.
        path: path to read it from.
        about: the submission that it is part of.
        release: the release that it answers.
    """
    if unpacked_hash(path) is None:
        words = {"limit": MOST_UNPACKED, "lines": MOST_LINES}
        problem = finding("too_large_unpacked", name, **words)
        return CheckedPredictions([problem])
    checker = PredictionsChecker(name, about, release)
    checker.check_file(path)
    return checker.result


class PredictionsChecker:
    """Checks a predictions file line by line, and finally for missing lines.

    Attributes:
        result: the result so far.
    """

    def __init__(self, name: str, about: Submission, release: Release) -> None:
        self.name = name
        self.about = about
        self.release = release
        names = list(release.manifest.board_records(about.tasks))
        self.instances = release.instances(names)
        self.tasks = {task.id: task for task in choose_tasks(release, names)}
        self.ids_by_sample: list[set[str]] = [set() for _ in range(about.attempts)]
        # The budgets so far, as keys in order of appearance.
        self.budgets: dict[int | None, None] = {}
        self.unscored = Counter[Status]()
        scores = sum(row.scores for row in self.instances.values())
        self.result = CheckedPredictions(expected=about.attempts * scores)

    def check_file(self, path: Path) -> None:
        """Check all lines of the file."""
        coverage = Coverage(known_ids(self.instances, self.tasks))
        limit = len(self.instances) * self.about.attempts + _SPARE_LINES
        findings = self.result.findings
        for admission, line in coverage.read(str(path), hashlib.sha256()):
            if coverage.lines > limit:
                words = {"limit": limit, "attempts": self.about.attempts}
                findings.append(
                    finding("too_many_lines", self.name, limit + 1, **words)
                )
                break
            findings += self.check_line(admission, line)
        else:
            findings += self.check_end()
        self.result.lines = coverage.lines

    def check_line(self, admission: Admission, line: Line | None) -> Iterator[Finding]:
        """Yield the findings about one line; an unreadable line is None."""
        problem = admission.problem
        if problem is not None:
            yield self.finding_of(problem, "correct the line", "problem")
            return
        if line is None:
            return
        prediction = line.prediction
        task = task_of(prediction.id)
        manifest = self.release.manifest
        if admission.kind is LineKind.NOT_IN_RELEASE:
            kind = "not_on_board" if task in manifest.tasks else "not_in_release"
            yield self.finding_at(line, kind, task=task, version=self.release.version)
            return
        yield from self.check_run(line)
        instance = self.instances[prediction.id]
        yield from self.check_status(line, instance)
        yield from self.check_usage(line, instance)
        for warning in answer_warnings(line, instance, self.tasks):
            todo = "check how the response was parsed"
            yield self.finding_of(warning, todo, "warning")
        # Only answers to the default tasks are compared with other submissions.
        is_compared = instance.task in manifest.default_tasks
        if admission.kind is LineKind.GRADED and is_compared:
            self.result.answers += answer_pair(prediction, self.tasks[instance.task])

    def finding_of(self, problem: Problem, otherwise: str, level: Level) -> Finding:
        """Return a problem that reading or grading a line reports, with advice."""
        code = problem.code
        message = problem.message.rstrip(".")
        todo = advice(code, otherwise)
        return Finding(code, message, todo, self.name, problem.line, problem.id, level)

    def finding_at(self, line: Line, kind: str, **words: object) -> Finding:
        """Return a finding about a line."""
        return finding(kind, self.name, line.number, line.prediction.id, **words)

    def check_run(self, line: Line) -> Iterator[Finding]:
        """Yield the differences between a line's run and the one in ``submission.yaml``."""
        prediction = line.prediction
        about = self.about
        expected = about.model.id or about.model.name
        # The model is "unnamed" if a prediction names none; a missing setting is None.
        if prediction.model not in {expected, "unnamed"}:
            model = printable(prediction.model)
            yield self.finding_at(line, "other_model", model=model, expected=expected)
        setting = prediction.setting
        if setting not in {about.setting, None}:
            kind = "loop_setting" if setting in LOOP_SETTINGS else "other_setting"
            yield self.finding_at(line, kind, setting=setting, expected=about.setting)
        sample = prediction.sample
        attempts = about.attempts
        if sample < attempts:
            self.ids_by_sample[sample].add(prediction.id)
        else:
            yield self.finding_at(
                line, "sample_out_of_range", sample=sample, attempts=attempts
            )
        budget = prediction.budget
        if self.budgets and budget not in self.budgets:
            # Every line may have another budget.
            before = list(islice(self.budgets, _MOST_EXAMPLES))
            yield self.finding_at(line, "other_budget", budget=budget, before=before)
        self.budgets[budget] = None

    def check_status(self, line: Line, instance: Instance) -> Iterator[Finding]:
        """Yield contradictions between a line's status and other fields; count its scores."""
        prediction = line.prediction
        absent = without_answer(prediction)
        # Some statuses without an answer score 0, others give no score.
        if absent is None or absent.status.scored:
            self.result.scored += instance.scores
        else:
            self.unscored[absent.status] += instance.scores
        status = prediction.status
        if status is None:
            return
        reason = (prediction.finish_reason or "").lower()
        if status is Status.TRUNCATED and finish_status(reason) is Status.ANSWERED:
            reason = printable(reason)
            yield self.finding_at(line, "truncated_but_finished", reason=reason)
        tokens = prediction.usage.output_tokens if prediction.usage else None
        if status in {Status.NOT_RUN, Status.MISSING} and tokens:
            yield self.finding_at(
                line, "unrun_with_tokens", status=status, tokens=tokens
            )
        if not status.scored and prediction.response is not None:
            # Is there an answer if the status is ignored?
            bare = prediction.model_copy(update={"status": None})
            shape = shape_of(self.tasks[instance.task].answer_model)
            if without_answer(bare) is None and find_answer(bare, shape) is not None:
                yield self.finding_at(line, "status_hides_answer", status=status)

    def check_usage(self, line: Line, instance: Instance) -> Iterator[Finding]:
        """Yield the contradictions between a line's usage and the setting or the prompt."""
        without_tools = self.about.setting == "no_tools"
        if without_tools:
            tool_use = find_tool_use(line.data)
            if tool_use:
                name = printable(tool_use[:80])
                yield self.finding_at(line, "usage_setting", name=name)
        usage = line.prediction.usage
        if usage is None:
            return
        output = usage.output_tokens
        reasoning = usage.reasoning_tokens
        if output is not None and reasoning is not None and reasoning > output:
            yield self.finding_at(
                line, "usage_contradicts", reasoning=reasoning, output=output
            )
        if usage.input_tokens and without_tools:
            # A token is at least one byte; the schema may have been sent in addition to
            # the prompt.
            prompt_bytes = len(f"{instance.prompt}{instance.answer_schema}".encode())
            limit = prompt_bytes + _SPARE_TOKENS + _IMAGE_TOKENS * len(instance.images)
            if usage.input_tokens > limit * max(usage.attempts or 1, 1):
                yield self.finding_at(line, "usage_input", tokens=usage.input_tokens)

    def check_end(self) -> Iterator[Finding]:
        """Yield findings about missing instances, and about scores that will be missing."""
        for sample, ids in enumerate(self.ids_by_sample):
            absent = [row_id for row_id in self.instances if row_id not in ids]
            if absent:
                examples = ", ".join(absent[:_MOST_EXAMPLES])
                if len(absent) > _MOST_EXAMPLES:
                    examples += ", ..."
                total = len(self.instances)
                words = {"sample": sample, "absent": len(absent), "total": total}
                yield finding(
                    "incomplete", self.name, None, absent[0], examples=examples, **words
                )
        scored = self.result.scored
        if not self.unscored:
            return
        if not scored:
            yield finding("nothing_scored", self.name)
            return
        counts = ", ".join(
            f"{n} {status}" for status, n in sorted(self.unscored.items())
        )
        total = scored + self.unscored.total()
        yield finding("coverage", self.name, counts=counts, scored=scored, total=total)


def find_tool_use(data: bytes) -> str | None:
    """Return the name of a count or list in a JSON line that shows tool use."""
    # Most lines contain none of these words and need not be parsed again.
    lower = data.lower()
    if not any(word.encode() in lower for word in _TOOL_WORDS):
        return None
    value = parse_json(data)
    if not isinstance(value, dict):
        return None
    amounts: dict[str, JsonValue] = {}
    usage = value.get("usage")
    if isinstance(usage, dict):
        amounts |= flat_amounts("usage", usage)
    for key in ("tool_calls", "tools_used"):
        if key in value:
            amounts[key] = value[key]
    for key, amount in amounts.items():
        if is_used(amount) and any(word in key.lower() for word in _TOOL_WORDS):
            return key
    return None


def is_used(amount: JsonValue) -> bool:
    """Whether a number is positive, or a list or mapping is not empty."""
    if isinstance(amount, list | dict):
        return bool(amount)
    return isinstance(amount, int | float) and amount > 0


def flat_amounts(
    name: str, value: Mapping[str, JsonValue], depth: int = 0
) -> Iterator[tuple[str, JsonValue]]:
    """Yield the amounts inside a mapping, with the keys on the way to each, joined by dots."""
    for key, part in value.items():
        if isinstance(part, dict) and depth < _MOST_DEPTH:
            yield from flat_amounts(f"{name}.{key}", part, depth + 1)
        else:
            yield f"{name}.{key}", part
