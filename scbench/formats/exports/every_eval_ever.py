"""Results as every-eval-ever has them: a file for each run, and one with its single answers.

Schema 0.3.0 (github.com/evaleval/every_eval_ever, ``every_eval_ever/schemas/``): the fields it
requires, and few more. It cannot say that an answer is unscored: such answers are left out of the
samples, and the coverage of each mean stands beside it as a result of its own. The text of a reply
is not in results, so the answer stands in its place.
"""

import json
from collections.abc import Iterator
from typing import Any

from scbench.base import __version__
from scbench.formats.exports.runs import Run, Try

SCHEMA_VERSION = "0.3.0"


def files(run: Run, organization: str = "unnamed") -> Iterator[tuple[str, str]]:
    """Yield the files of a run, name and text, with who evaluated."""
    stem = f"{run.name}-{run.key}"
    samples = f"{stem}_samples.jsonl"
    yield (
        f"{stem}.json",
        json.dumps(_evaluation(run, organization), indent=1, ensure_ascii=False) + "\n",
    )
    lines = (
        json.dumps(_sample_record(run, trial), ensure_ascii=False)
        for trial in run.tries
        if trial.score is not None
    )
    yield samples, "".join(f"{line}\n" for line in lines)


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
                **({} if run.budget is None else {"output_token_budget": str(run.budget)}),
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
