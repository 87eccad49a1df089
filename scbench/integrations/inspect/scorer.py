"""The scorer of Inspect's tasks: a reply becomes a line of predictions, and is graded as such.

The line is what `scbench import` makes of the log, and the grader that of ``scbench-grade``, so
both ways give the same scores and statuses. It runs in processes beside Inspect's event loop.
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
from scbench.formats.imports.inspect_logs import GRADER_FAILED, reply_of, sample_key
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.score_tables import OVERALL, score_table
from scbench.grading.workers.live import live_grader
from scbench.release.load import find_release

UNSCORED = float("nan")
# What Inspect calls some statuses.
_REASONS = {Status.UNPARSED: "invalid_response_format", Status.REFUSED: "refusal"}


@lru_cache(maxsize=8)
def named_instances(release: str | None) -> Mapping[str, Instance]:
    """Return the instances of all configs of a release by id, looked up once by its name.

    Raises:
        ReleaseError: there is no such release.
    """
    source = find_release(release)
    configs = (name for name in CONFIGS if getattr(source.manifest, name))
    beside = [source.choose([name])[0] for name in configs]
    return {
        name: row
        for part in [source, *beside]
        for name, row in part.instances().items()
    }


@metric(scores="unreduced")
def by_bucket(expected: Mapping[str, int] | None = None) -> Metric:
    """The mean of each bucket and its coverage, as `scbench.grading.score_tables` has them.

    Samples without a score (errors, blocked replies, what cannot be graded here) are no zeros:
    they lower the coverage. It is of ``expected``, the scores by bucket that one try at all items
    has, however many were asked; without that there is no coverage.
    """

    def measure(scores: list[SampleScore]) -> Value:
        rows, tries = _result_rows(scores)
        lines = score_table(rows, "bucket").to_dicts() if len(rows) else []
        by_name = {line["bucket"]: line for line in lines}
        values: dict[str, str | int | float | bool | None] = {}
        for name in dict.fromkeys([*(expected or ()), *by_name]):
            line = by_name.get(name)
            values[name] = UNSCORED if line is None else line["mean"]
            if expected is not None:
                parts = by_name if name == OVERALL else [name]
                count = sum(expected.get(part, 0) for part in parts)
                values[f"{name} coverage"] = (
                    line["scored"] / (count * tries) if line else 0.0
                )
        return values

    return measure


def _result_rows(scores: list[SampleScore]) -> tuple[pl.DataFrame, int]:
    """Return rows of results, as far as tables need them, and how often items were tried."""
    tries: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    for sample in scores:
        metadata, row_id = sample.sample_metadata or {}, str(sample.sample_id)
        tries[row_id] += 1
        rows += (
            {
                "id": row_id,
                "subtask": place,
                "sample": tries[row_id] - 1,
                "task": metadata["task"],
                "bucket": metadata["bucket"],
                "score": score,
            }
            for place, score in enumerate((sample.score.metadata or {})["scores"])
        )
    frame = pl.DataFrame(rows, schema_overrides={"score": pl.Float64()}).with_columns(
        model=pl.lit("model"),
        setting=pl.lit("no_tools"),
        budget=pl.lit(None, pl.Int64),
        status=pl.lit(Status.ANSWERED.value),
        instance_hash=pl.lit(""),
        floor=pl.lit(None, pl.Float64),
    )
    return frame, max(tries.values(), default=1)


class GraderFailedError(ScbenchError):
    """A grader failed on an answer: an error of the sample, which is never a zero."""


@scorer(metrics=[by_bucket()])
def outcome(release: str | None = None) -> Scorer:
    """Grade replies with the benchmark's graders; release is as `scbench.load_release` takes it.

    A score's metadata holds the status, the single scores, and their checks; what has a status
    without a score is unscored.
    """

    async def grade(state: TaskState, target: Target) -> Score:  # noqa: ARG001  (Inspect's form)
        request = sample_key(str(state.sample_id), state.epoch, state.metadata)
        if request.id not in await run_sync(named_instances, release):
            raise ScbenchError(
                f"{request.id} is not in the release that the scorer was given"
            )
        limits = [
            event.type for event in transcript().events if event.event == "sample_limit"
        ]
        limit = limits[-1] if limits else None
        prediction = with_turns(
            reply_of(request, str(state.model), state.output, limit, {}), state.metadata
        )
        line = prediction.line(None, None)
        future = live_grader().submit(named_instances(release)[request.id], line)
        return as_score(await run_sync(future.result, abandon_on_cancel=True))

    return grade


def as_score(result: WireOutcome) -> Score:
    """Return an outcome as Inspect has it.

    Raises:
        GraderFailedError: it has none, for no fault of the model.
    """
    status = Status(result.status)
    if status is Status.GRADER_ERROR:
        raise GraderFailedError(f"{GRADER_FAILED}: {result.reason}")
    scores = [verdict.score for verdict in result.scores]
    remarks: dict[str, Any] = {
        "answer": result.answer,
        "explanation": result.reason or "\n".join(_failed_messages(result)) or None,
        "metadata": {
            "status": result.status,
            "scores": scores,
            "verdicts": [
                {
                    "checks": json.loads(verdict.checks),
                    "metrics": json.loads(verdict.metrics),
                    "notes": verdict.notes,
                }
                for verdict in result.scores
            ],
            "source": result.source,
            "repairs": result.repairs,
            **(
                {}
                if result.turns is None
                else {"turns": result.turns, "queries": result.used}
            ),
        },
    }
    if not status.scored:
        return Score.unscored(reason=result.status, **remarks)
    reason = None if status is Status.ANSWERED else _REASONS.get(status, result.status)
    return Score(value=sum(scores) / len(scores), reason=reason, **remarks)


def _failed_messages(result: WireOutcome) -> list[str]:
    checks = [
        check for verdict in result.scores for check in json.loads(verdict.checks)
    ]
    return list(
        dict.fromkeys(check["message"] for check in checks if not check["passed"])
    )
