"""Results as a log of Inspect, which `inspect view` shows: written by its own library.

Schema: ``inspect_ai.log.EvalLog`` of 0.3.285. Tries at an instance are its epochs. An answer
without a score is unscored with its status as the reason, and is in no metric. The text of a reply
is not in results, so the answer stands in its place.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scbench.base import __version__
from scbench.formats.exports.runs import Run, Try

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

SCORER = "scbench"


def files(run: Run) -> Iterator[tuple[str, str]]:
    """Yield the log of a run: name and text.

    Raises:
        ModuleNotFoundError: inspect_ai is not installed.
    """
    from inspect_ai.log import (  # noqa: PLC0415  (an extra)
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalMetric,
        EvalResults,
        EvalScore,
        EvalSpec,
    )

    scored = sum(trial.score is not None for trial in run.tries)
    ids = list(dict.fromkeys(trial.instance.id for trial in run.tries))
    means = {line["bucket"]: line for line in run.lines}
    metrics = {
        name: EvalMetric(name=name, value=line["mean"], metadata={"coverage": line["coverage"]})
        for name, line in means.items()
        if line["mean"] is not None
    }
    score = EvalScore(
        name=SCORER,
        scorer=SCORER,
        scored_samples=scored,
        unscored_samples=len(run.tries) - scored,
        metrics=metrics,
    )
    log = EvalLog(
        status="success",
        eval=EvalSpec(
            eval_id=run.key,
            run_id=run.key,
            task_id=run.key,
            created=run.date.isoformat(),
            task="scbench/results",
            dataset=EvalDataset(name=f"scbench {run.release}", samples=len(ids), sample_ids=ids),
            model=run.model,
            config=EvalConfig(epochs=1 + max((trial.sample for trial in run.tries), default=0)),
            packages={"scbench": __version__},
            metadata={"setting": run.setting, "budget": run.budget, "graders": dict(run.graders)},
        ),
        results=EvalResults(
            total_samples=len(run.tries), completed_samples=len(run.tries), scores=[score]
        ),
        samples=[_log_sample(run, trial) for trial in run.tries],
    )
    yield f"{run.name}-{run.key}.json", log.model_dump_json(indent=1, exclude_none=True) + "\n"


def _log_sample(run: Run, trial: Try) -> "EvalSample":
    from inspect_ai.log import EvalSample  # noqa: PLC0415  (an extra)
    from inspect_ai.model import ModelOutput, ModelUsage  # noqa: PLC0415
    from inspect_ai.scorer import Score  # noqa: PLC0415

    remarks: dict[str, Any] = {
        "answer": trial.answer or None,
        "explanation": trial.explanation or None,
        "metadata": {"status": trial.status},
    }
    score = (
        Score.unscored(reason=trial.status, **remarks)
        if trial.score is None
        else Score(value=trial.score, **remarks)
    )
    counts = {name: trial.usage.get(name) or 0 for name in ("input_tokens", "output_tokens")}
    usage = ModelUsage(
        **counts,
        reasoning_tokens=trial.usage.get("reasoning_tokens"),
        total_tokens=sum(counts.values()),
    )
    output = ModelOutput.from_content(run.model, trial.answer)
    for choice in output.choices:
        choice.message.id = f"{trial.instance.id}#{trial.sample}"
    return EvalSample(
        id=trial.instance.id,
        epoch=trial.sample + 1,
        input=trial.instance.prompt,
        target="",
        output=output,
        scores={SCORER: score},
        metadata={
            "task": trial.instance.task,
            "bucket": trial.instance.bucket,
            "status": trial.status,
        },
        model_usage={run.model: usage} if trial.usage else {},
        uuid=f"{run.key}-{trial.instance.id}-{trial.sample}",
    )
