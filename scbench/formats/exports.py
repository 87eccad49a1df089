"""Results in the schemas of others: every-eval-ever, logs of Inspect, lm-evaluation-harness.

The text of a reply is not in results, so the answer stands in its place.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from scbench.base import __version__
from scbench.base.canonical import content_hash, sha256
from scbench.base.model import Instance

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

SCORER = "scbench"
METRIC = "score"
_FILTER = "none"
SCHEMA_VERSION = "0.3.0"


class Schema(StrEnum):
    """Whose files are written."""

    EVERY_EVAL_EVER = "every-eval-ever"
    INSPECT = "inspect"
    LM_EVAL = "lm-eval"


@dataclass(frozen=True, slots=True)
class Try:
    """One answer to one instance.

    Attributes:
        score: the mean of its scores; None if it has none, and the status says why.
        answer: as JSON; empty if none was found.
        explanation: the reason why there is no answer or score, or the checks that failed.
        usage: what the provider reported.
    """

    instance: Instance
    sample: int
    status: str
    score: float | None
    answer: str
    explanation: str
    finish_reason: str | None
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """All answers of one run.

    Attributes:
        date: of the answers, midnight in UTC.
        release: version of the release it was graded against.
        graders: version of each task's grader.
        lines: rows of the table by bucket, see `score_table`.
        task_lines: those of the table by task.
        tries: in the order of the results.
    """

    model: str
    setting: str | None
    budget: int | None
    date: datetime
    release: str
    graders: Mapping[str, int]
    lines: list[dict[str, Any]]
    task_lines: list[dict[str, Any]]
    tries: list[Try]

    @property
    def name(self) -> str:
        """What tells it apart from others, for names of files."""
        parts = [
            self.model,
            self.setting,
            None if self.budget is None else str(self.budget),
        ]
        return re.sub(r"[^A-Za-z0-9._-]+", "_", "-".join(filter(None, parts)))[:100]

    @property
    def key(self) -> str:
        """A short hash of what was graded, the same on every machine."""
        scores = [
            [trial.instance.content_hash, trial.sample, trial.score]
            for trial in self.tries
        ]
        identity = [self.model, self.setting, self.budget, self.release]
        return content_hash([*identity, scores])[:16]


def run_files(run: Run, schema: Schema, organization: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a run, name and text.

    Args:
        run: all its answers.
        schema: whose files.
        organization: who evaluated, for every-eval-ever.

    Raises:
        ModuleNotFoundError: inspect_ai is not installed, and its log is asked for.
    """
    match schema:
        case Schema.EVERY_EVAL_EVER:
            return _every_eval_ever(run, organization)
        case Schema.INSPECT:
            return _inspect_log(run)
        case Schema.LM_EVAL:
            return _lm_eval(run)


def _every_eval_ever(run: Run, organization: str) -> Iterator[tuple[str, str]]:
    """Yield what schema 0.3.0 (github.com/evaleval/every_eval_ever) requires, and few fields more.

    A file for the run, and one with its single answers. The schema cannot say that an answer is
    unscored: such answers are left out of the samples, and the coverage of each mean stands beside
    it as a result of its own.
    """
    text = json.dumps(_evaluation(run, organization), indent=1, ensure_ascii=False)
    yield f"{run.name}-{run.key}.json", f"{text}\n"
    scored = (trial for trial in run.tries if trial.score is not None)
    lines = (
        json.dumps(_sample_record(run, trial), ensure_ascii=False) for trial in scored
    )
    yield f"{run.name}-{run.key}_samples.jsonl", "".join(f"{line}\n" for line in lines)


def _evaluation_id(run: Run) -> str:
    return f"scbench/{run.name}/{int(run.date.timestamp())}-{run.key}"


def _evaluation(run: Run, organization: str) -> dict[str, Any]:
    results = []
    for line in [*run.lines, *run.task_lines]:
        name = line.get("task") or line["bucket"]
        if line["mean"] is not None:
            results.append(_result_record(name, line["mean"]))
        results.append(_result_record(f"{name}, coverage", line["coverage"]))
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": _evaluation_id(run),
        "retrieved_timestamp": str(int(run.date.timestamp())),
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "third_party",
        },
        "eval_library": {"name": "scbench", "version": __version__},
        "model_info": {
            "name": run.model,
            "id": run.model,
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
                "setting": run.setting or "unknown",
                **(
                    {}
                    if run.budget is None
                    else {"output_token_budget": str(run.budget)}
                ),
            },
        },
        "evaluation_results": results,
    }


def _result_record(name: str, value: float) -> dict[str, Any]:
    return {
        "evaluation_name": name,
        "source_data": {
            "dataset_name": "scbench",
            "source_type": "hf_dataset",
            "hf_repo": "scbench/scbench",
        },
        "metric_config": {
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": {"score": value},
    }


def _sample_record(run: Run, trial: Try) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": _evaluation_id(run),
        "model_id": run.model,
        "evaluation_name": trial.instance.task,
        "sample_id": trial.instance.id
        if not trial.sample
        else f"{trial.instance.id}#{trial.sample}",
        "interaction_type": "single_turn",
        "input": {"raw": trial.instance.prompt, "reference": []},
        "output": {"raw": [trial.answer]},
        "answer_attribution": [],
        "evaluation": {"score": trial.score, "is_correct": trial.score == 1.0},
    }


def _inspect_log(run: Run) -> Iterator[tuple[str, str]]:
    """Yield the log that `inspect view` shows: ``inspect_ai.log.EvalLog`` of 0.3.285.

    Tries at an instance are its epochs. An answer without a score is unscored with its status as
    the reason, and is in no metric.
    """
    from inspect_ai import log as inspect  # noqa: PLC0415  (an extra)

    scored = sum(trial.score is not None for trial in run.tries)
    ids = list(dict.fromkeys(trial.instance.id for trial in run.tries))
    metrics = {
        line["bucket"]: inspect.EvalMetric(
            name=line["bucket"],
            value=line["mean"],
            metadata={"coverage": line["coverage"]},
        )
        for line in run.lines
        if line["mean"] is not None
    }
    score = inspect.EvalScore(
        name=SCORER,
        scorer=SCORER,
        scored_samples=scored,
        unscored_samples=len(run.tries) - scored,
        metrics=metrics,
    )
    text = inspect.EvalLog(
        status="success",
        eval=inspect.EvalSpec(
            eval_id=run.key,
            run_id=run.key,
            task_id=run.key,
            created=run.date.isoformat(),
            task="scbench/results",
            dataset=inspect.EvalDataset(
                name=f"scbench {run.release}", samples=len(ids), sample_ids=ids
            ),
            model=run.model,
            config=inspect.EvalConfig(
                epochs=1 + max((trial.sample for trial in run.tries), default=0)
            ),
            packages={"scbench": __version__},
            metadata={
                "setting": run.setting,
                "budget": run.budget,
                "graders": dict(run.graders),
            },
        ),
        results=inspect.EvalResults(
            total_samples=len(run.tries),
            completed_samples=len(run.tries),
            scores=[score],
        ),
        samples=[_log_sample(run, trial) for trial in run.tries],
    ).model_dump_json(indent=1, exclude_none=True)
    yield f"{run.name}-{run.key}.json", f"{text}\n"


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
    counts = {
        name: trial.usage.get(name) or 0 for name in ("input_tokens", "output_tokens")
    }
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


def _lm_eval(run: Run) -> Iterator[tuple[str, str]]:
    """Yield ``results_*.json`` and ``samples_*.jsonl``, by ``lm_eval/result_schema.py`` of 0.4.13.

    An answer without a score has no metric, which is how the harness leaves a document out of a
    mean; ``sample_count`` and ``effective`` count those that have one.
    """
    stamp = run.date.strftime("%Y-%m-%dT%H-%M-%S.%f")
    yield (
        f"{run.name}/results_{stamp}.json",
        json.dumps(_results_record(run), indent=2) + "\n",
    )
    tasks: dict[str, list[Try]] = {}
    for trial in run.tries:
        tasks.setdefault(trial.instance.task, []).append(trial)
    for task, tries in tasks.items():
        numbers = {
            row_id: n
            for n, row_id in enumerate(dict.fromkeys(t.instance.id for t in tries))
        }
        lines = [
            json.dumps(_lm_eval_sample(numbers[t.instance.id], t), ensure_ascii=False)
            for t in tries
        ]
        yield (
            f"{run.name}/samples_scbench_{task}_{stamp}.jsonl",
            "\n".join(lines) + "\n",
        )


def _metric_record(name: str, line: dict[str, Any]) -> dict[str, Any]:
    metrics = {"name": name, "alias": name, "sample_len": line["n"]}
    if line["mean"] is not None:
        metrics[f"{METRIC},{_FILTER}"] = line["mean"]
    counted = {"sample_count": {f"{METRIC},{_FILTER}": line["scored"]}}
    return (
        metrics if "task" in line else metrics | counted
    )  # the schema has it for groups only


def _results_record(run: Run) -> dict[str, Any]:
    tasks = {f"scbench_{line['task']}": line for line in run.task_lines}
    groups = {f"scbench_{line['bucket']}": line for line in run.lines}
    documents = {(trial.instance.task, trial.instance.id) for trial in run.tries}
    scored = {
        (trial.instance.task, trial.instance.id)
        for trial in run.tries
        if trial.score is not None
    }
    original, effective = (
        Counter(task for task, _ in pairs) for pairs in (documents, scored)
    )
    inside = {
        group: [name for name, line in tasks.items() if line["bucket"] == row["bucket"]]
        for group, row in groups.items()
    }
    if "scbench_overall" in inside:
        inside["scbench_overall"] = [
            name for name in inside if name != "scbench_overall"
        ]
    return {
        "results": {
            name: _metric_record(name, line)
            for name, line in {**groups, **tasks}.items()
        },
        "groups": {name: _metric_record(name, line) for name, line in groups.items()},
        "group_subtasks": inside,
        "configs": {
            name: {
                "task": name,
                "dataset_path": "scbench",
                "output_type": "generate_until",
            }
            for name in tasks
        },
        "versions": {
            name: float(run.graders[line["task"]]) for name, line in tasks.items()
        },
        "n-shot": dict.fromkeys(tasks, 0),
        "higher_is_better": {name: {METRIC: True} for name in {**groups, **tasks}},
        "n-samples": {
            name: {
                "original": original[line["task"]],
                "effective": effective[line["task"]],
            }
            for name, line in tasks.items()
        },
        "config": {"model": run.model, "model_args": None},
        "date": run.date.timestamp(),
        "model_source": "scbench",
        "model_name": run.model,
        "model_name_sanitized": run.name,
    }


def _lm_eval_sample(number: int, trial: Try) -> dict[str, Any]:
    document = {
        "id": trial.instance.id,
        "sample": trial.sample,
        "status": trial.status,
        "explanation": trial.explanation,
    }
    scored = {} if trial.score is None else {METRIC: trial.score}
    return {
        "doc_id": number,
        "doc": document,
        "target": "",
        "arguments": {"gen_args_0": {"arg_0": trial.instance.prompt, "arg_1": {}}},
        "resps": [[trial.answer]],
        "filtered_resps": [trial.answer],
        "filter": _FILTER,
        "metrics": list(scored),
        "doc_hash": sha256(json.dumps(document, ensure_ascii=False)),
        "prompt_hash": sha256(trial.instance.prompt),
        "target_hash": sha256(""),
        **scored,
    }
