"""Folders of Harbor's jobs: a folder for each trial, with its result and the agent's answer.

Their rewards are ignored: answers are graded again. Source: harbor 0.25
``models/trial/paths.py``, ``models/trial/result.py``.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jiter

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError, PredictionsError
from scbench.base.model import Status
from scbench.formats.imports.entries import Reply, count, dig, request_key
from scbench.formats.predictions import MAX_LINE_BYTES
from scbench.machine.files import read_foreign

# Agents write this file in their container.
ANSWER = "/app/answer.json"
_RESULT = "result.json"
_TRIAL_RESULTS = f"*/{_RESULT}"
# Path of the answer in the folder of a trial.
_ARTIFACT = ("artifacts", *Path(ANSWER).parts[1:])
# Bytes of a line of predictions reserved for fields other than the answer.
_OTHER_FIELDS = 2**16
_TIMEOUT = "AgentTimeoutError"
# Maximum characters imported of an error.
_MAX_ERROR = 2000


def is_job(path: str) -> bool:
    """Return whether a path is a folder of trials."""
    return any(map(os.path.isfile, Path(path).glob(_TRIAL_RESULTS)))


def read_job(path: str) -> Iterator[tuple[int, Reply | PredictionsError]]:
    """Yield the trials of a job with their numbers; several of one task are its samples."""
    job = Path(path)
    tries: Counter[str] = Counter()
    number = 0
    for trial in sorted(job.iterdir()):
        # Unlike the methods of paths, these functions do not raise if a folder is unreadable.
        is_trial = os.path.isdir(trial)  # noqa: PTH112
        is_unfinished = os.access(trial, os.X_OK) and not os.path.lexists(
            trial / _RESULT
        )
        if not is_trial or is_unfinished:
            continue
        number += 1
        try:
            data = read_foreign(job, (trial.name, _RESULT), MAX_LINE_BYTES)
            # Python programs may write NaN, for example as a cost.
            result = jiter.from_json(data)
            name = dig(result, "task_name")
            if isinstance(name, str):
                # Names of tasks begin with the name of their owner.
                name = name.rpartition("/")[2]
            request = request_key(name)
        except (PredictionsError, ValueError, OSError) as error:
            yield number, PredictionsError(f"{trial.name}: {error}")
            continue
        sample = request._replace(sample=tries[request.id])
        tries[request.id] += 1
        agent = _name(result, "agent_info", "name")
        info = dig(result, "agent_info", "model_info")
        names = (_name(info, "provider"), _name(info, "name"))
        model = "/".join(filter(None, names)) or agent
        fields = _trial_fields(result, trial)
        run = {"tools": [f"{agent} under Harbor"]} if agent else {}
        fields["run"] = run
        yield number, Reply(sample, model, fields)


def _name(value: object, *path: str) -> str | None:
    """Return the text at a path in JSON; None if there is none."""
    name = dig(value, *path)
    return name if isinstance(name, str) and name else None


def _trial_fields(result: object, trial: Path) -> dict[str, Any]:
    fields: dict[str, Any] = {"setting": "tools"}
    usage = _usage_fields(dig(result, "agent_result"))
    if usage:
        fields["usage"] = usage
    failure = dig(result, "exception_info", "exception_type")
    # An agent that failed after writing its answer has an answer.
    has_answer = os.path.isfile(trial.joinpath(*_ARTIFACT))  # noqa: PTH113  (never raises)
    if not failure or has_answer:
        return fields | answer_fields(trial.parent, (trial.name, *_ARTIFACT))
    message = dig(result, "exception_info", "exception_message")
    error = f"{failure}: {message}"[:_MAX_ERROR]
    if failure == _TIMEOUT:
        truncated = {"status": Status.TRUNCATED.value, "response": "", "error": error}
        return fields | truncated
    return fields | {"status": Status.API_ERROR.value, "error": error}


def _usage_fields(agent_result: object) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "input_tokens": count(dig(agent_result, "n_input_tokens")),
        "output_tokens": count(dig(agent_result, "n_output_tokens")),
    }
    cost = dig(agent_result, "cost_usd")
    if type(cost) in {int, float} and 0 <= cost <= sys.float_info.max:
        usage["cost"] = cost
    return {name: value for name, value in usage.items() if value is not None}


def answer_fields(folder: Path, names: Sequence[str]) -> dict[str, Any]:
    """Return an agent's answer as fields of a prediction; an empty reply if it cannot be read.

    JSON is used as the answer; from anything else, the answer is extracted as from a
    reply. An answer that is too long for a line of predictions is not read.

    Args:
        folder: folder of the file.
        names: see `read_foreign`.
    """
    try:
        data = read_foreign(folder, names, MAX_LINE_BYTES)
    except OSError:
        return {"response": ""}
    try:
        value = parse_json(data)
    except (JsonError, ValueError):
        value = None
    fields: dict[str, Any] = {"response": data.decode(errors="replace")}
    if isinstance(value, dict | list):
        fields = {"answer": value}
    line = json.dumps(fields, ensure_ascii=False).encode(errors="replace")
    if len(line) > MAX_LINE_BYTES - _OTHER_FIELDS:
        return {"response": ""}
    return fields
