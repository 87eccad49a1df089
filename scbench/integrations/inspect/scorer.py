"""The scorer of Inspect's tasks: a reply becomes a line of predictions, and is graded as such.

The line is what `scbench import` makes of the log, and the grader that of ``scbench-grade``, so
both ways give the same scores and statuses.
"""

import json
from typing import Any

from anyio.to_thread import run_sync
from inspect_ai.log import transcript
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from scbench.base.errors import ScbenchError
from scbench.base.model import Status
from scbench.formats.imports.inspect_logs import GRADER_FAILED, sample_key, reply_of
from scbench.formats.imports.replies import with_turns
from scbench.grading.rows.wire import WireOutcome
from scbench.integrations.inspect.grading import grading, named_instances
from scbench.integrations.inspect.metrics import by_bucket

_REASONS = {Status.UNPARSED: "invalid_response_format", Status.REFUSED: "refusal"}
"""What Inspect calls some statuses."""


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
