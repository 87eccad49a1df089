"""The scorer of Inspect's tasks: a reply becomes a line of predictions, and is graded as such.

The line is the one that `scbench import` makes of the log, and the grader that of
``scbench-grade``, so both ways give the same scores and statuses. Grading runs in separate
processes, so that Inspect's event loop never waits for it.
"""

import json
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import polars as pl
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

from scbench.base.errors import ScbenchError
from scbench.base.model import CONFIGS, Instance, Status
from scbench.formats.imports.entries import with_turns
from scbench.formats.imports.inspect_logs import (
    GRADER_FAILED,
    REPLY,
    reply_of,
    sample_key,
)
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.score_tables import OVERALL, score_table
from scbench.grading.workers.live import live_grader
from scbench.release.load import find_release

UNSCORED = float("nan")
# Inspect's names of some statuses.
_REASONS = {Status.UNPARSED: "invalid_response_format", Status.REFUSED: "refusal"}


class GraderFailedError(ScbenchError):
    """A grader failed on an answer: an error of the sample, never a score of 0."""


@lru_cache(maxsize=8)
def named_instances(release: str | None) -> Mapping[str, Instance]:
    """Return the instances of all configs of a release by id; cached by the release's name.

    Raises:
        ReleaseError: there is no such release.
    """
    source = find_release(release)
    instances = dict(source.instances())
    for name in CONFIGS:
        if getattr(source.manifest, name):
            config, _ = source.choose([name])
            instances |= config.instances()
    return instances


@metric(scores="unreduced")
def by_bucket(expected: Mapping[str, int] | None = None) -> Metric:
    """The mean of each bucket and its coverage, as `scbench.grading.score_tables` has them.

    Samples without a score (errors, blocked replies, what cannot be graded here) are not scored 0:
    they lower coverage.

    Args:
        expected: number of scores for one attempt at all items, by bucket. The coverage is a share
            of it, however many items were asked; None for no coverage.
    """

    def measure(scores: list[SampleScore]) -> Value:
        rows, tries = result_rows(scores)
        lines = score_table(rows, "bucket").to_dicts() if len(rows) else []
        by_name = {line["bucket"]: line for line in lines}
        values: dict[str, str | int | float | bool | None] = {}
        for name in dict.fromkeys([*(expected or ()), *by_name]):
            line = by_name.get(name)
            values[name] = UNSCORED if line is None else line["mean"]
            if expected is None:
                continue
            coverage = 0.0
            if line:
                buckets = by_name if name == OVERALL else [name]
                count = sum(expected.get(bucket, 0) for bucket in buckets)
                coverage = line["scored"] / (count * tries)
            values[f"{name} coverage"] = coverage
        return values

    return measure


def result_rows(scores: list[SampleScore]) -> tuple[pl.DataFrame, int]:
    """Return the rows of results that tables need, and the number of attempts at each item."""
    tries: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    for sample in scores:
        metadata = sample.sample_metadata or {}
        row_id = str(sample.sample_id)
        for place, score in enumerate((sample.score.metadata or {})["scores"]):
            row = {
                "id": row_id,
                "subtask": place,
                "sample": tries[row_id],
                "task": metadata["task"],
                "bucket": metadata["bucket"],
                "score": score,
            }
            rows.append(row)
        tries[row_id] += 1
    # Tables group rows by columns that are the same in all of them here.
    frame = pl.DataFrame(rows, schema_overrides={"score": pl.Float64()}).with_columns(
        model=pl.lit("model"),
        setting=pl.lit("no_tools"),
        budget=pl.lit(None, pl.Int64),
        status=pl.lit(Status.ANSWERED.value),
        instance_hash=pl.lit(""),
        floor=pl.lit(None, pl.Float64),
    )
    return frame, max(tries.values(), default=1)


@scorer(metrics=[by_bucket()])
def outcome(release: str | None = None) -> Scorer:
    """Grade replies with the benchmark's graders; release is as for `scbench.load_release`.

    A score's metadata has the status, the single scores, and their checks. A status without a score
    makes the sample unscored.
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
        future = live_grader().submit(instances[request.id], line)
        return as_score(await run_sync(future.result, abandon_on_cancel=True))

    return grade


def as_score(result: WireOutcome) -> Score:
    """Return an outcome in Inspect's form.

    Raises:
        GraderFailedError: it has no score because the grader failed.
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
