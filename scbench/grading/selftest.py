"""Proving the installed graders: every reference must score 1.0, every counter-reference less."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scbench.base.model import Status
from scbench.base.progress import no_progress
from scbench.catalog import Task
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.workers.scheduler import OnWait, Scheduler, WorkerLimits
from scbench.grading.workers.worker import WorkItem
from scbench.release.load import Reference, Release


@dataclass(slots=True)
class SelfTest:
    """What a self-test found.

    Attributes:
        not_run: why this installation cannot grade a task, by task.
        right: references that scored 1.0, by task.
        below: counter-references that scored below 1.0, by task.
        failures: the others, each with what happened.
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
    lines = ({"id": ref.id, "answer": json.loads(ref.answer)} for ref in stored)
    items = (WorkItem(i, json.dumps(line).encode(), line["id"]) for i, line in enumerate(lines))
    scheduler = Scheduler.over(instances, tasks, limits)
    report = SelfTest()
    for done, (item, outcome) in enumerate(scheduler.run(items, on_wait), 1):
        ref = stored[item.line]
        fault = _fault(ref, outcome)
        if outcome.status == Status.NOT_RUN:
            report.not_run[instances[ref.id].task] = outcome.reason
        elif fault:
            report.failures.append(f"{ref.id}: {ref.name}: {fault}")
        else:
            counter = report.right if ref.kind == "reference" else report.below
            counter[instances[ref.id].task] += 1
        on_progress(done, 0)
    report.failures.sort()
    return report


def _fault(ref: Reference, outcome: WireOutcome) -> str:
    if not outcome.scores:
        return f"{outcome.status}: {outcome.reason}"
    score = sum(scored.score for scored in outcome.scores) / len(outcome.scores)
    if ref.kind == "reference" and score < 1:
        failed = [check for scored in outcome.scores for check in scored.failed_checks]
        return f"scores {score:g}, must be 1 (failed: {', '.join(failed)})"
    if ref.kind != "reference" and score >= 1:
        return "scores 1, must be below"
    return ""
