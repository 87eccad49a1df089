"""Folders of Harbor's jobs: a folder for each trial, with its result and the agent's answer.

Rewards in them are not read: answers are graded again. Source: harbor 0.25
``models/trial/paths.py``, ``models/trial/result.py``.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError, PredictionsError
from scbench.base.model import Status
from scbench.formats.imports.entries import Reply, count, dig, request_key
from scbench.formats.predictions import MAX_LINE_BYTES

# Agents write this file in their container.
ANSWER = "/app/answer.json"
_TRIAL_RESULTS = "*/result.json"
_TIMEOUT = "AgentTimeoutError"
# Characters of an error that are imported.
_MAX_ERROR = 2000


def is_job(path: str) -> bool:
    """Return whether a path is a folder of trials."""
    return any(file.is_file() for file in Path(path).glob(_TRIAL_RESULTS))


def read_job(path: str) -> Iterator[tuple[int, Reply | PredictionsError]]:
    """Yield the trials of a job with their numbers; several of one task are its samples."""
    files = [file for file in sorted(Path(path).glob(_TRIAL_RESULTS)) if file.is_file()]
    tries: Counter[str] = Counter()
    for number, file in enumerate(files, 1):
        trial = file.parent
        try:
            result = json.loads(file.read_bytes())
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
        agent = dig(result, "agent_info", "name")
        info = dig(result, "agent_info", "model_info")
        names = (dig(info, "provider"), dig(info, "name"))
        model = "/".join(filter(None, names)) or agent
        fields = _trial_fields(result, trial)
        run = {"tools": [f"{agent} under Harbor"]} if isinstance(agent, str) else {}
        fields["run"] = run
        yield number, Reply(sample, model, fields)


def _trial_fields(result: object, trial: Path) -> dict[str, Any]:
    fields: dict[str, Any] = {"setting": "tools"}
    usage = _usage_fields(dig(result, "agent_result"))
    if usage:
        fields["usage"] = usage
    answer = trial / "artifacts" / ANSWER.lstrip("/")
    failure = dig(result, "exception_info", "exception_type")
    # An agent that failed after it wrote its answer has an answer.
    if not failure or answer.is_file():
        return fields | answer_fields(answer)
    if failure == _TIMEOUT:
        return fields | {"status": Status.TRUNCATED.value, "response": ""}
    message = dig(result, "exception_info", "exception_message")
    error = f"{failure}: {message}"[:_MAX_ERROR]
    return fields | {"status": Status.API_ERROR.value, "error": error}


def _usage_fields(agent_result: object) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "input_tokens": count(dig(agent_result, "n_input_tokens")),
        "output_tokens": count(dig(agent_result, "n_output_tokens")),
    }
    cost = dig(agent_result, "cost_usd")
    if isinstance(cost, int | float):
        usage["cost"] = cost
    return {name: value for name, value in usage.items() if value is not None}


def answer_fields(path: Path) -> dict[str, Any]:
    """Return an agent's answer as fields of a prediction; without a file, an empty reply.

    JSON is the answer itself; anything else is a reply that an answer is extracted from.
    """
    # The agent made the link, and it may lead anywhere.
    if path.is_symlink():
        return {"response": ""}
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_LINE_BYTES)
    except OSError:
        return {"response": ""}
    try:
        value = parse_json(data)
    except (JsonError, ValueError):
        value = None
    if isinstance(value, dict | list):
        return {"answer": value}
    return {"response": data.decode(errors="replace")}
