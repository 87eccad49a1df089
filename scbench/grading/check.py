"""Checks before a run: each line of a predictions file, and the installed graders."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from scbench.base.model import Check, Instance, Status, task_of
from scbench.base.progress import no_progress
from scbench.catalog import Task
from scbench.formats.predictions import TEXT_AS_ANSWER, Line, Problem, unread_keys
from scbench.grading.options import Imported
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.index import LineKind, index_of
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.workers.jobs import WorkItem
from scbench.grading.workers.scheduler import OnWait, Scheduler, WorkerLimits
from scbench.release.load import Reference, Release
from scbench.scoring.answers.extract import find_answer
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.judge import validate
from scbench.scoring.outcomes import readable_by, without_answer


@dataclass(slots=True)
class Checked:
    """The result of a check.

    Attributes:
        problems: errors in the file.
        warnings: lines that will be graded, but probably not as intended: answers that
            will score 0 because of their shape, rows outside the release.
        lines: number of lines.
        usable: number of lines that will be graded.
    """

    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    lines: int = 0
    usable: int = 0

    def fields(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "problems": [problem.fields() for problem in self.problems],
            "warnings": [problem.fields() for problem in self.warnings],
            "lines": self.lines,
            "usable": self.usable,
        }


def check_file(
    path: str,
    release: Release,
    tasks: Sequence[Task],
    *,
    partial: bool,
    exclude_withdrawn: bool = False,
    imported: Imported | None = None,
) -> Checked:
    """Read a whole file, or ``-``, and return all its errors.

    Raises:
        ScbenchError: the file or the release cannot be used at all.
    """
    by_id = {task.id: task for task in tasks}
    instances = release.instances(by_id)
    coverage = Coverage(
        index_of(release, tasks, exclude_withdrawn=exclude_withdrawn).known_ids,
        imported.origin if imported else None,
    )
    checked = Checked()
    for admission, line in coverage.read(path, hashlib.sha256()):
        if admission.problem is not None:
            checked.problems.append(admission.problem)
        elif line is None:
            continue
        elif admission.kind is LineKind.NOT_IN_RELEASE:
            row_id = line.prediction.id
            message = f"release {release.version} does not contain {task_of(row_id)}"
            outside = Problem("not_in_release", message, line.number, row_id)
            checked.warnings.append(outside)
        elif admission.kind is LineKind.GRADED:
            checked.usable += 1
            instance = instances[line.prediction.id]
            checked.warnings += answer_warnings(line, instance, by_id)
    checked.lines = coverage.lines
    # A text answer already has a warning at its line.
    unread = {**coverage.unread}
    unread.pop(TEXT_AS_ANSWER, None)
    for message in unread_keys(unread):
        checked.warnings.append(Problem("unread_key", message))
    nothing = coverage.nothing_graded()
    if nothing is not None:
        checked.problems.append(nothing)
    if not partial:
        checked.problems += coverage.incomplete()
    if imported is not None:
        problems = map(imported.with_origin, checked.problems)
        checked.problems = [*imported.problems, *problems]
        checked.warnings = list(map(imported.with_origin, checked.warnings))
    return checked


def answer_warnings(
    line: Line, instance: Instance, tasks: dict[str, Task]
) -> Iterator[Problem]:
    """Yield why a usable line's answer will score 0 for its form or will count as no answer."""
    prediction = line.prediction
    if prediction.turns:
        return  # grading will replay it
    absent = without_answer(prediction)
    if absent is not None:
        if prediction.status is None:
            message = f"no answer: {absent.reason}; the row will get the status {absent.status}"
            yield Problem("no_answer", message, line.number, instance.id)
        return
    task = tasks[instance.task]
    shape = shape_of(task.answer_model)
    readable = None
    # Only the grader can tell whether a text answer is readable.
    if shape.is_short:
        params = task.params_model.model_validate_json(instance.all_params)
        readable = readable_by(task, params)
    match = find_answer(prediction, shape, readable)
    if match is None:
        if prediction.status in {None, Status.ANSWERED}:
            message = "no answer found in the reply"
            yield Problem("no_answer", message, line.number, instance.id)
        return
    valid = validate(task.answer_model, match.value, len(line.data))
    if isinstance(valid, Check):
        message = f"will score 0: {valid.message}"
        yield Problem(valid.id, message, line.number, instance.id)


@dataclass(slots=True)
class SelfTest:
    """The result of a self-test.

    Attributes:
        not_run: by task, the reason why it cannot be graded here.
        right: by task, number of references that scored 1.0.
        below: by task, number of counter-references that scored below 1.0.
        failures: all other answers, each with the reason.
    """

    not_run: dict[str, str] = field(default_factory=dict)
    right: Counter[str] = field(default_factory=Counter)
    below: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def self_test(
    release: Release,
    tasks: Sequence[Task],
    limits: WorkerLimits,
    on_progress: Callable[[int, int], object] = no_progress,
    on_wait: OnWait = no_progress,
) -> SelfTest:
    """Grade the stored answers of a release exactly as predictions are graded.

    Raises:
        ScbenchError: the release cannot be read, or workers cannot be started.
    """
    instances = release.instances([task.id for task in tasks])
    stored = [ref for ref in release.references() if ref.id in instances]
    scheduler = Scheduler.over(instances, tasks, limits)
    report = SelfTest()
    results = scheduler.run(reference_items(stored), on_wait)
    for done, (item, outcome) in enumerate(results, 1):
        ref = stored[item.line]
        task = instances[ref.id].task
        fault = fault_of(ref, outcome)
        if outcome.status == Status.NOT_RUN:
            report.not_run[task] = outcome.reason
        elif fault:
            report.failures.append(f"{ref.id}: {ref.name}: {fault}")
        elif ref.kind == "reference":
            report.right[task] += 1
        else:
            report.below[task] += 1
        on_progress(done, 0)
    report.failures.sort()
    return report


def reference_items(references: Sequence[Reference]) -> Iterator[WorkItem]:
    """Yield references as items to grade; line numbers are their positions."""
    for i, ref in enumerate(references):
        line = {"id": ref.id, "answer": json.loads(ref.answer)}
        yield WorkItem(i, json.dumps(line).encode(), ref.id)


def fault_of(ref: Reference, outcome: WireOutcome) -> str:
    """Return why a reference's score is wrong; empty if it is right."""
    score = outcome.score
    if score is None:
        return f"{outcome.status}: {outcome.reason}"
    if ref.kind == "reference" and score < 1:
        failed: list[str] = []
        for scored in outcome.scores:
            failed += scored.failed_checks
        return f"score {score:g} instead of 1 (failed: {', '.join(failed)})"
    if ref.kind != "reference" and score >= 1:
        return "score 1, but a wrong answer must score less"
    return ""
