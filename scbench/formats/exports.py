"""Results in the schemas of other programs: every-eval-ever, Inspect, lm-evaluation-harness.

In each schema, the score of a bucket or task is the normalized score; the mean has a
separate name. Results do not contain the text of replies, so each schema contains the
answer instead.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from scbench.base import __version__
from scbench.base.canonical import content_hash, sha256
from scbench.base.model import Instance

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Score

# A JSON object.
Record = dict[str, Any]

# Version of every-eval-ever's schema.
SCHEMA_VERSION = "0.3.0"
NO_DEVELOPER = "unnamed"
# Characters that some systems forbid in paths, and separators.
_NOT_IN_PATHS = re.compile(r'[/:<>"\\|?*\x00-\x1f]')
SCORER = "scbench"
# Metrics of lm-evaluation-harness, which names them with the filter that the reply went through.
METRIC = "score"
MEAN_METRIC = "mean"
_FILTER = "none"
_OVERALL_GROUP = "scbench_overall"


class Schema(StrEnum):
    """The programs whose formats are supported."""

    EVERY_EVAL_EVER = "every-eval-ever"
    INSPECT = "inspect"
    LM_EVAL = "lm-eval"


@dataclass(frozen=True, slots=True)
class Try:
    """One answer to one instance.

    Attributes:
        instance: the instance.
        sample: sample number, starting at 0.
        status: see `scbench.base.model.Status`.
        score: the mean of its scores; None without a score, in which case the status
            gives the reason.
        answer: the answer as JSON; empty if there is none.
        explanation: the reason why there is no answer or score, or the checks that failed.
        finish_reason: finish reason as the provider named it.
        usage: usage as the provider reported it.
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
        name: name of the run in file names, see `file_names`.
        model: name of the model in the results.
        setting: setting of the run, such as no_tools.
        budget: budget of tokens; None for none.
        date: date of the answers, midnight in UTC.
        release: version of the release that was graded against.
        graders: version of each task's grader.
        lines: rows of the table by bucket, see `score_table`, with a key ``score`` for
            the main score, see `headline`.
        task_lines: rows of the table by task.
        tries: answers in the order of the results.
    """

    name: str
    model: str
    setting: str | None
    budget: int | None
    date: datetime
    release: str
    graders: Mapping[str, int]
    lines: list[Record]
    task_lines: list[Record]
    tries: list[Try]

    @property
    def key(self) -> str:
        """A short hash of the graded answers, the same on every machine."""
        scores = [
            [trial.instance.content_hash, trial.sample, trial.score]
            for trial in self.tries
        ]
        identity = [self.model, self.setting, self.budget, self.release]
        return content_hash([*identity, scores])[:16]

    @property
    def scored(self) -> list[Try]:
        """The attempts that have a score."""
        return [trial for trial in self.tries if trial.score is not None]


def file_names(runs: Collection[tuple[object, ...]]) -> dict[tuple[object, ...], str]:
    """Return a name for the files of each run, from its model, setting and budget.

    Runs whose names differ only in characters that paths must not contain, or only in case, get a
    short hash in addition.
    """
    names: dict[tuple[object, ...], str] = {}
    for run in runs:
        text = "-".join(str(value) for value in run if value is not None)
        # A name that consists of dots would be another folder, and a leading dot would
        # hide the file.
        names[run] = re.sub(r"[^A-Za-z0-9._-]+", "_", text)[:100].lstrip(".") or "_"
    counts = Counter(name.lower() for name in names.values())
    for run, name in names.items():
        if counts[name.lower()] > 1:
            names[run] = f"{name}-{content_hash(list(run))[:8]}"
    return names


def run_files(run: Run, schema: Schema, organization: str) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file of a run.

    Args:
        run: the run with all its answers.
        schema: the program whose files are written.
        organization: the evaluating organisation, for every-eval-ever.

    Raises:
        ModuleNotFoundError: inspect_ai, which writes Inspect's logs, is not installed.
    """
    match schema:
        case Schema.EVERY_EVAL_EVER:
            return every_eval_ever(run, organization)
        case Schema.INSPECT:
            return inspect_log(run)
        case Schema.LM_EVAL:
            return lm_eval(run)


# every-eval-ever


def every_eval_ever(run: Run, organization: str) -> Iterator[tuple[str, str]]:
    """Yield results in schema 0.3.0 of github.com/evaleval/every_eval_ever.

    There is one file for the run and one for its single answers. The schema cannot mark
    an answer as unscored, so such answers are left out of the samples. The mean and the
    coverage of each score are separate results next to it. Files have the paths that
    its validator requires.
    """
    evaluation = evaluation_record(run, organization)
    # The validator accepts no other names; a run always gets the same name.
    name = UUID(content_hash([run.key])[:32], version=4)
    path = f"{datastore_folder(run.model)}/{name}"
    samples_path = f"{path}_samples.jsonl"
    if run.scored:
        evaluation["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": samples_path,
            "total_rows": len(run.scored),
        }
    text = json.dumps(evaluation, indent=1, ensure_ascii=False)
    yield f"{path}.json", f"{text}\n"
    if run.scored:
        evaluation_id = evaluation["evaluation_id"]
        samples = [sample_record(run, evaluation_id, trial) for trial in run.scored]
        yield samples_path, json_lines(samples)


def datastore_folder(model: str) -> str:
    """Return the folder of a model's files: data/scbench/DEVELOPER/MODEL.

    A name without a slash has no developer.
    """
    developer, slash, name = model.partition("/")
    if not slash:
        developer = NO_DEVELOPER
        name = model
    return "/".join(["data", "scbench", path_part(developer), path_part(name)])


def path_part(name: str) -> str:
    """Return a name that is valid in paths on every system; most names stay unchanged."""
    part = _NOT_IN_PATHS.sub("_", name)[:100].rstrip(" .")
    return f"_{part}" if part in {"", "data"} else part


def json_lines(records: list[Record]) -> str:
    """Return records as JSON Lines."""
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    return "".join(lines)


def evaluation_record(run: Run, organization: str) -> Record:
    """Return the record of a run in the schema of every-eval-ever."""
    timestamp = int(run.date.timestamp())
    results = []
    for line in [*run.lines, *run.task_lines]:
        name = line.get("task") or line["bucket"]
        figures = {
            name: line["score"],
            f"{name}, mean": line["mean"],
            f"{name}, coverage": line["coverage"],
        }
        for figure, value in figures.items():
            if value is not None:
                results.append(_result_record(figure, value))
    details = {
        "deployment_type": "unknown",
        "model_availability": "unknown",
        "setting": run.setting or "unknown",
    }
    if run.budget is not None:
        details["output_token_budget"] = str(run.budget)
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"scbench/{run.name}/{timestamp}-{run.key}",
        "retrieved_timestamp": str(timestamp),
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "third_party",
        },
        "eval_library": {"name": "scbench", "version": __version__},
        "model_info": {
            "name": run.model,
            "id": run.model,
            **({} if "/" in run.model else {"developer": NO_DEVELOPER}),
            "additional_details": details,
        },
        "evaluation_results": results,
    }


def _result_record(name: str, value: float) -> Record:
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


def sample_record(run: Run, evaluation_id: str, trial: Try) -> Record:
    """Return the record of an attempt in the schema of every-eval-ever."""
    sample_id = trial.instance.id
    if trial.sample:
        sample_id = f"{sample_id}#{trial.sample}"
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation_id,
        "model_id": run.model,
        "evaluation_name": trial.instance.task,
        "sample_id": sample_id,
        "interaction_type": "single_turn",
        "input": {"raw": trial.instance.prompt, "reference": []},
        "output": {"raw": [trial.answer]},
        "answer_attribution": [],
        "evaluation": {"score": trial.score, "is_correct": trial.score == 1.0},
    }


# Inspect


def inspect_log(run: Run) -> Iterator[tuple[str, str]]:
    """Yield the log that `inspect view` shows: ``inspect_ai.log.EvalLog`` of 0.3.285.

    Attempts at an instance are its epochs. An answer without a score is marked as
    unscored, with its status as the reason, and is not in any metric.
    """
    from inspect_ai import log as inspect  # noqa: PLC0415  (an extra)

    ids = list(dict.fromkeys(trial.instance.id for trial in run.tries))
    epochs = 1 + max((trial.sample for trial in run.tries), default=0)
    metrics = {}
    for line in run.lines:
        bucket = line["bucket"]
        for name, value in ((bucket, line["score"]), (f"{bucket} mean", line["mean"])):
            if value is not None:
                metrics[name] = inspect.EvalMetric(
                    name=name,
                    value=value,
                    metadata={"coverage": line["coverage"]},
                )
    score = inspect.EvalScore(
        name=SCORER,
        scorer=SCORER,
        scored_samples=len(run.scored),
        unscored_samples=len(run.tries) - len(run.scored),
        metrics=metrics,
    )
    spec = inspect.EvalSpec(
        eval_id=run.key,
        run_id=run.key,
        task_id=run.key,
        created=run.date.isoformat(),
        task="scbench/results",
        dataset=inspect.EvalDataset(
            name=f"scbench {run.release}", samples=len(ids), sample_ids=ids
        ),
        model=run.model,
        config=inspect.EvalConfig(epochs=epochs),
        packages={"scbench": __version__},
        metadata={
            "setting": run.setting,
            "budget": run.budget,
            "graders": dict(run.graders),
        },
    )
    log = inspect.EvalLog(
        status="success",
        eval=spec,
        results=inspect.EvalResults(
            total_samples=len(run.tries),
            completed_samples=len(run.tries),
            scores=[score],
        ),
        samples=[log_sample(run, trial) for trial in run.tries],
    )
    text = log.model_dump_json(indent=1, exclude_none=True)
    yield f"{run.name}-{run.key}.json", f"{text}\n"


def log_sample(run: Run, trial: Try) -> "EvalSample":
    """Return an attempt as a sample of Inspect's log."""
    from inspect_ai.log import EvalSample  # noqa: PLC0415  (an extra)
    from inspect_ai.model import ModelOutput, ModelUsage  # noqa: PLC0415

    inputs = trial.usage.get("input_tokens") or 0
    outputs = trial.usage.get("output_tokens") or 0
    usage = ModelUsage(
        input_tokens=inputs,
        output_tokens=outputs,
        reasoning_tokens=trial.usage.get("reasoning_tokens"),
        total_tokens=inputs + outputs,
    )
    output = ModelOutput.from_content(run.model, trial.answer)
    for choice in output.choices:
        # Inspect would draw a random id.
        choice.message.id = f"{trial.instance.id}#{trial.sample}"
    return EvalSample(
        id=trial.instance.id,
        epoch=trial.sample + 1,
        input=trial.instance.prompt,
        target="",
        output=output,
        scores={SCORER: _log_score(trial)},
        metadata={
            "task": trial.instance.task,
            "bucket": trial.instance.bucket,
            "status": trial.status,
        },
        model_usage={run.model: usage} if trial.usage else {},
        uuid=f"{run.key}-{trial.instance.id}-{trial.sample}",
    )


def _log_score(trial: Try) -> "Score":
    from inspect_ai.scorer import Score  # noqa: PLC0415  (an extra)

    remarks: Record = {
        "answer": trial.answer or None,
        "explanation": trial.explanation or None,
        "metadata": {"status": trial.status},
    }
    if trial.score is None:
        return Score.unscored(reason=trial.status, **remarks)
    return Score(value=trial.score, **remarks)


# lm-evaluation-harness


def lm_eval(run: Run) -> Iterator[tuple[str, str]]:
    """Yield ``results_*.json`` and ``samples_*.jsonl``, by ``lm_eval/result_schema.py`` of 0.4.13.

    An answer without a score has no metric, so the harness leaves it out of means.
    ``sample_count`` and ``effective`` count answers with a score.
    """
    stamp = run.date.strftime("%Y-%m-%dT%H-%M-%S.%f")
    results = json.dumps(results_record(run), indent=2)
    yield f"{run.name}/results_{stamp}.json", f"{results}\n"
    tasks: dict[str, list[Try]] = {}
    for trial in run.tries:
        tasks.setdefault(trial.instance.task, []).append(trial)
    for task, tries in tasks.items():
        # All samples of one instance are one document.
        numbers: dict[str, int] = {}
        samples = []
        for trial in tries:
            number = numbers.setdefault(trial.instance.id, len(numbers))
            samples.append(lm_eval_sample(number, trial))
        yield f"{run.name}/samples_scbench_{task}_{stamp}.jsonl", json_lines(samples)


def results_record(run: Run) -> Record:
    """Return the results of a run as lm-evaluation-harness writes them."""
    tasks = {f"scbench_{line['task']}": line for line in run.task_lines}
    groups = {f"scbench_{line['bucket']}": line for line in run.lines}
    group_results = {name: _metric_record(name, row) for name, row in groups.items()}
    for name, row in groups.items():
        # The schema has this field for groups only.
        group_results[name]["sample_count"] = {
            f"{metric},{_FILTER}": row["scored"] for metric in (METRIC, MEAN_METRIC)
        }
    task_results = {name: _metric_record(name, row) for name, row in tasks.items()}
    results = group_results | task_results
    original = document_counts(run.tries)
    effective = document_counts(run.scored)
    configs = {}
    versions = {}
    sizes = {}
    for name, row in tasks.items():
        task = row["task"]
        configs[name] = {
            "task": name,
            "dataset_path": "scbench",
            "output_type": "generate_until",
        }
        versions[name] = float(run.graders[task])
        sizes[name] = {"original": original[task], "effective": effective[task]}
    return {
        "results": results,
        "groups": group_results,
        "group_subtasks": group_members(groups, tasks),
        "configs": configs,
        "versions": versions,
        "n-shot": dict.fromkeys(tasks, 0),
        "higher_is_better": {
            name: {METRIC: True, MEAN_METRIC: True} for name in results
        },
        "n-samples": sizes,
        "config": {"model": run.model, "model_args": None},
        "date": run.date.timestamp(),
        "model_source": "scbench",
        "model_name": run.model,
        "model_name_sanitized": run.name,
    }


def _metric_record(name: str, line: Record) -> Record:
    record = {"name": name, "alias": name, "sample_len": line["n"]}
    for metric in (METRIC, MEAN_METRIC):
        if line[metric] is not None:
            record[f"{metric},{_FILTER}"] = line[metric]
    return record


def document_counts(tries: list[Try]) -> Counter[str]:
    """Return the number of different instances in attempts, by task."""
    documents = {(trial.instance.task, trial.instance.id) for trial in tries}
    return Counter(task for task, _ in documents)


def group_members(
    groups: dict[str, Record], tasks: dict[str, Record]
) -> dict[str, list[str]]:
    """Return the tasks of each bucket, and the buckets of the whole benchmark."""
    members: dict[str, list[str]] = {group: [] for group in groups}
    for name, line in tasks.items():
        group = f"scbench_{line['bucket']}"
        if group in members:
            members[group].append(name)
    if _OVERALL_GROUP in members:
        members[_OVERALL_GROUP] = [name for name in members if name != _OVERALL_GROUP]
    return members


def lm_eval_sample(number: int, trial: Try) -> Record:
    """Return an attempt as a sample of lm-evaluation-harness, numbered by its instance."""
    document = {
        "id": trial.instance.id,
        "sample": trial.sample,
        "status": trial.status,
        "explanation": trial.explanation,
    }
    # The score of one answer is not normalized and counts in the mean.
    metrics = {} if trial.score is None else {MEAN_METRIC: trial.score}
    return {
        "doc_id": number,
        "doc": document,
        "target": "",
        "arguments": {"gen_args_0": {"arg_0": trial.instance.prompt, "arg_1": {}}},
        "resps": [[trial.answer]],
        "filtered_resps": [trial.answer],
        "filter": _FILTER,
        "metrics": list(metrics),
        "doc_hash": sha256(json.dumps(document, ensure_ascii=False)),
        "prompt_hash": sha256(trial.instance.prompt),
        "target_hash": sha256(""),
        **metrics,
    }
