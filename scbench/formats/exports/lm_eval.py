"""Results as lm-evaluation-harness writes them: ``results_*.json`` and ``samples_*.jsonl``.

Schema: ``lm_eval/result_schema.py`` of 0.4.13 (``EvalResults``, ``SampleResult``). An answer
without a score has no metric, which is how the harness leaves a document out of a mean;
``sample_count`` and ``effective`` count those that have one. The text of a reply is not in results,
so the answer stands in its place.
"""

import json
from collections.abc import Iterator
from typing import Any

from scbench.base.canonical import sha256
from scbench.formats.exports.runs import Run, Try

METRIC = "score"
_FILTER = "none"


def files(run: Run) -> Iterator[tuple[str, str]]:
    """Yield the files of a run: name and text."""
    stamp = run.date.strftime("%Y-%m-%dT%H-%M-%S.%f")
    yield f"{run.name}/results_{stamp}.json", json.dumps(_results_record(run), indent=2) + "\n"
    tasks: dict[str, list[Try]] = {}
    for trial in run.tries:
        tasks.setdefault(trial.instance.task, []).append(trial)
    for task, tries in tasks.items():
        numbers = {
            row_id: n for n, row_id in enumerate(dict.fromkeys(t.instance.id for t in tries))
        }
        lines = [
            json.dumps(_lm_eval_sample(numbers[t.instance.id], t), ensure_ascii=False)
            for t in tries
        ]
        yield f"{run.name}/samples_scbench_{task}_{stamp}.jsonl", "\n".join(lines) + "\n"


def _metric_record(name: str, line: dict[str, Any]) -> dict[str, Any]:
    metrics = {"name": name, "alias": name, "sample_len": line["n"]}
    if line["mean"] is not None:
        metrics[f"{METRIC},{_FILTER}"] = line["mean"]
    counted = {"sample_count": {f"{METRIC},{_FILTER}": line["scored"]}}
    return metrics if "task" in line else metrics | counted  # the schema has it for groups only


def _results_record(run: Run) -> dict[str, Any]:
    tasks = {f"scbench_{line['task']}": line for line in run.task_lines}
    groups = {f"scbench_{line['bucket']}": line for line in run.lines}
    has_score: dict[str, dict[str, bool]] = {}  # whether there is a score, by task and id
    for trial in run.tries:
        of_task = has_score.setdefault(trial.instance.task, {})
        of_task[trial.instance.id] = (
            of_task.get(trial.instance.id, False) or trial.score is not None
        )
    inside = {
        group: [name for name, line in tasks.items() if line["bucket"] == row["bucket"]]
        for group, row in groups.items()
    }
    if "scbench_overall" in inside:
        inside["scbench_overall"] = [name for name in inside if name != "scbench_overall"]
    return {
        "results": {name: _metric_record(name, line) for name, line in {**groups, **tasks}.items()},
        "groups": {name: _metric_record(name, line) for name, line in groups.items()},
        "group_subtasks": inside,
        "configs": {
            name: {"task": name, "dataset_path": "scbench", "output_type": "generate_until"}
            for name in tasks
        },
        "versions": {name: float(run.graders[line["task"]]) for name, line in tasks.items()},
        "n-shot": dict.fromkeys(tasks, 0),
        "higher_is_better": {name: {METRIC: True} for name in {**groups, **tasks}},
        "n-samples": {
            name: {
                "original": len(has_score[line["task"]]),
                "effective": sum(has_score[line["task"]].values()),
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
