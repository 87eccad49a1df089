"""The scorer of our Inspect tasks: a reply becomes a line of predictions and is graded as such.

The line is the same as from `scbench import`, and is graded as by ``scbench-grade``, so
both ways give the same scores and statuses. Grading runs in separate processes, so that
Inspect's event loop never waits for it.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from anyio.to_thread import run_sync
from inspect_ai.log import transcript
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState

from scbench.base.canonical import canonical_json
from scbench.base.errors import ScbenchError
from scbench.base.model import CONFIGS, Instance, Status
from scbench.formats.imports.entries import with_turns
from scbench.formats.imports.inspect_logs import (
    GRADER_FAILED,
    REPLY,
    reply_of,
    sample_key,
)
from scbench.grading.rows.table import floor_in_loop
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.score_tables import OVERALL, headline
from scbench.grading.stored_answers import StoredAnswer, bucket_lines
from scbench.grading.workers.live import live_grader
from scbench.release.load import Release, find_release

UNSCORED = float("nan")
# Inspect's names of some statuses.
_REASONS = {Status.UNPARSED: "invalid_response_format", Status.REFUSED: "refusal"}


class GraderFailedError(ScbenchError):
    """A grader failed on an answer, which is an error of the sample and never a score of 0."""


@lru_cache(maxsize=8)
def named_instances(release: str | None) -> Mapping[str, Instance]:
    """Return the instances of all configs of a release by id; cached by the release's name.

    Raises:
        ReleaseError: there is no such release.
    """
    instances: dict[str, Instance] = {}
    for config in configs_of(find_release(release)):
        instances |= config.instances()
    return instances


@lru_cache(maxsize=8)
def named_floors(release: str | None) -> Mapping[str, float]:
    """Return the floors of the instances of all configs of a release by id.

    Raises:
        ReleaseError: there is no such release.
    """
    floors: dict[str, float] = {}
    for config in configs_of(find_release(release)):
        floors |= config.floors()
    return floors


def configs_of(release: Release) -> Iterator[Release]:
    """Yield a release and its other configs, such as terse and ladder, if present."""
    yield release
    for name in CONFIGS:
        if getattr(release.manifest, name):
            config, _ = release.choose([name])
            yield config


@metric(scores="unreduced")
def by_bucket(
    expected: Mapping[str, int] | None = None,
    weights: Mapping[str, float] | None = None,
) -> Metric:
    """The score, mean and coverage of each bucket, as `scbench-grade` prints them.

    The score is the normalized one. Samples without a score (errors, blocked replies,
    answers that cannot be graded here) do not count as 0: they lower the coverage.

    Args:
        expected: number of scores for one attempt at all items, by bucket. The coverage
            is a share of this number; None for no coverage.
        weights: weights of tasks in the release; None to compute them from the floors.
    """

    def measure(scores: list[SampleScore]) -> Value:
        answers = stored_answers(scores)
        lines = bucket_lines(answers, weights)
        tries = 1 + max((answer.sample for answer in answers), default=0)
        values: dict[str, str | int | float | bool | None] = {}
        for name in dict.fromkeys([*(expected or ()), *lines]):
            line = lines.get(name)
            values[name] = UNSCORED
            values[f"{name} mean"] = UNSCORED
            if line is not None:
                score = headline(line)
                values[name] = UNSCORED if score is None else score
                values[f"{name} mean"] = line["mean"]
            if expected is None:
                continue
            coverage = 0.0
            if line:
                buckets = lines if name == OVERALL else [name]
                count = sum(expected.get(bucket, 0) for bucket in buckets)
                coverage = line["scored"] / (count * tries)
            values[f"{name} coverage"] = coverage
        return values

    return measure


def stored_answers(scores: list[SampleScore]) -> list[StoredAnswer]:
    """Return the answers whose scores Inspect stored; epochs of an item are its samples."""
    tries: Counter[str] = Counter()
    answers = []
    for sample in scores:
        about = sample.sample_metadata or {}
        graded = sample.score.metadata or {}
        row_id = str(sample.sample_id)
        answer = StoredAnswer(
            row_id,
            tries[row_id],
            about["task"],
            about["bucket"],
            graded["status"],
            # Logs of earlier versions have none.
            graded.get("floor"),
            graded["scores"],
        )
        answers.append(answer)
        tries[row_id] += 1
    return answers


@scorer(metrics=[by_bucket()])
def outcome(release: str | None = None) -> Scorer:
    """Grade replies with the benchmark's graders; release is as for `scbench.load_release`.

    A score's metadata has the status, the single scores, their checks, and the floor. A status
    without a score makes the sample unscored.
    """

    async def grade(state: TaskState, target: Target) -> Score:  # noqa: ARG001  (Inspect's form)
        request = sample_key(str(state.sample_id), state.epoch, state.metadata)
        # Loading a release takes seconds, so a thread does it.
        instances = await run_sync(named_instances, release)
        if request.id not in instances:
            raise ScbenchError(f"{request.id} is not in the scorer's release")
        limit: str | None = None
        for event in transcript().events:
            if event.event == "sample_limit":
                limit = event.type
        stored = state.metadata.get(REPLY)
        reply = reply_of(request, str(state.model), state.output, limit, {}, stored)
        line = with_turns(reply, state.metadata).line()
        instance = instances[request.id]
        future = live_grader().submit(instance, line)
        result = await run_sync(future.result, abandon_on_cancel=True)
        floors = await run_sync(named_floors, release)
        loop = state.metadata.get("loop")
        floor = floor_in_loop(
            None if loop is None else canonical_json(loop),
            instance.bucket,
            floors.get(instance.id),
        )
        return as_score(result, floor)

    return grade


def as_score(result: WireOutcome, floor: float | None = None) -> Score:
    """Return an outcome in Inspect's format, with the floor of its instance.

    Raises:
        GraderFailedError: the outcome has no score because the grader failed.
    """
    status = Status(result.status)
    if status is Status.GRADER_ERROR:
        raise GraderFailedError(f"{GRADER_FAILED}: {result.reason}")
    scores = [verdict.score for verdict in result.scores]
    verdicts = []
    failed_checks: list[str] = []
    for verdict in result.scores:
        checks = json.loads(verdict.checks)
        metrics = json.loads(verdict.metrics)
        verdicts.append({"checks": checks, "metrics": metrics, "notes": verdict.notes})
        failed_checks += [check["message"] for check in checks if not check["passed"]]
    metadata: dict[str, Any] = {
        "status": result.status,
        "scores": scores,
        "floor": floor,
        "verdicts": verdicts,
        "source": result.source,
        "repairs": result.repairs,
    }
    if result.turns is not None:
        metadata |= {"turns": result.turns, "queries": result.used}
    # The same check may fail in several verdicts.
    messages = "\n".join(dict.fromkeys(failed_checks))
    remarks: dict[str, Any] = {
        "answer": result.answer,
        "explanation": result.reason or messages or None,
        "metadata": metadata,
    }
    if not status.scored:
        return Score.unscored(reason=result.status, **remarks)
    reason = None if status is Status.ANSWERED else _REASONS.get(status, result.status)
    return Score(value=sum(scores) / len(scores), reason=reason, **remarks)
