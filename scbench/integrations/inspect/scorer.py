"""The scorer of Inspect's tasks: a reply becomes a line of predictions, and is graded as such.

The line is what `scbench import` makes of the log, and the grader that of ``scbench-grade``, so
both ways give the same scores and statuses.
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anyio.to_thread import run_sync
from inspect_ai.log import transcript
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from scbench.base.errors import ScbenchError
from scbench.base.model import Status
from scbench.formats.imports.inspect_logs import GRADER_FAILED, reply_of, sample_key
from scbench.formats.imports.replies import with_turns
from scbench.grading.rows.wire import WireOutcome
from scbench.integrations.inspect.grading import grading, named_instances

if TYPE_CHECKING:
    import polars as pl

UNSCORED = float("nan")
_REASONS = {Status.UNPARSED: "invalid_response_format", Status.REFUSED: "refusal"}
"""What Inspect calls some statuses."""


@metric(scores="unreduced")
def by_bucket(expected: Mapping[str, int] | None = None) -> Metric:
    """The mean of each bucket and its coverage, as `scbench.grading.score_tables` has them.

    Samples without a score (errors, blocked replies, what cannot be graded here) are no zeros:
    they lower the coverage. It is of all items of the tasks, however many were asked.

    Args:
        expected: scores that one try at all items of the tasks has, by bucket; None if that is not
            known, and then no coverage is given.
    """

    def measure(scores: list[SampleScore]) -> Value:
        from scbench.grading.score_tables import OVERALL, score_table  # noqa: PLC0415  (heavy)

        rows, tries = _rows(scores)
        lines = score_table(rows, "bucket").to_dicts() if len(rows) else []
        found = {line["bucket"]: line for line in lines}
        made: dict[str, str | int | float | bool | None] = {}
        for name in dict.fromkeys([*(expected or ()), *found]):
            line = found.get(name)
            made[name] = UNSCORED if line is None else line["mean"]
            if expected is not None:
                parts = found if name == OVERALL else [name]
                count = sum(expected.get(part, 0) for part in parts)
                made[f"{name} coverage"] = line["scored"] / (count * tries) if line else 0.0
        return made

    return measure


def _rows(scores: list[SampleScore]) -> "tuple[pl.DataFrame, int]":
    """Return rows of results, as far as tables need them, and how often items were tried."""
    import polars as pl  # noqa: PLC0415  (heavy)

    tries: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    for one in scores:
        told, row_id = one.sample_metadata or {}, str(one.sample_id)
        tries[row_id] += 1
        rows += (
            {
                "id": row_id,
                "subtask": place,
                "sample": tries[row_id] - 1,
                "task": told["task"],
                "bucket": told["bucket"],
                "score": score,
            }
            for place, score in enumerate((one.score.metadata or {})["scores"])
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
    """Grade replies with the benchmark's graders.

    Args:
        release: which one the samples are of, as `scbench.load_release` takes it.

    Returns:
        A scorer. A score's metadata holds the status, the single scores, and their checks; what has
        a status without a score is unscored.
    """

    async def grade(state: TaskState, target: Target) -> Score:  # noqa: ARG001  (Inspect's form)
        asked = sample_key(str(state.sample_id), state.epoch, state.metadata)
        if asked.id not in await run_sync(named_instances, release):
            raise ScbenchError(f"{asked.id} is not in the release that the scorer was given")
        limits = [event.type for event in transcript().events if event.event == "sample_limit"]
        limit = limits[-1] if limits else None
        made = with_turns(
            reply_of(asked, str(state.model), state.output, limit, {}), state.metadata
        )
        future = grading(release).submit(asked.id, made.line(None, None))
        return as_score(await run_sync(future.result, abandon_on_cancel=True))

    return grade


def as_score(found: WireOutcome) -> Score:
    """Return an outcome as Inspect has it.

    Raises:
        GraderFailedError: it has none, for no fault of the model.
    """
    status = Status(found.status)
    if status is Status.GRADER_ERROR:
        raise GraderFailedError(f"{GRADER_FAILED}: {found.reason}")
    scores = [verdict.score for verdict in found.scores]
    told: dict[str, Any] = {
        "answer": found.answer,
        "explanation": found.reason or "\n".join(_explained(found)) or None,
        "metadata": {
            "status": found.status,
            "scores": scores,
            "verdicts": [
                {
                    "checks": json.loads(verdict.checks),
                    "metrics": json.loads(verdict.metrics),
                    "notes": verdict.notes,
                }
                for verdict in found.scores
            ],
            "source": found.source,
            "repairs": found.repairs,
            **({} if found.turns is None else {"turns": found.turns, "queries": found.used}),
        },
    }
    if not status.scored:
        return Score.unscored(reason=found.status, **told)
    reason = None if status is Status.ANSWERED else _REASONS.get(status, found.status)
    return Score(value=sum(scores) / len(scores), reason=reason, **told)


def _explained(found: WireOutcome) -> list[str]:
    """Return what failed, each in a sentence."""
    checks = [check for verdict in found.scores for check in json.loads(verdict.checks)]
    return list(dict.fromkeys(check["message"] for check in checks if not check["passed"]))
