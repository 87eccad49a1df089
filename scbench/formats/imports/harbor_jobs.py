"""Folders of Harbor's jobs: a folder for each trial, with its result and the agent's answer.

Rewards in them are not read: answers are graded anew. Source: harbor 0.25
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

# What agents write, in their container.
ANSWER = "/app/answer.json"
_RESULT = "result.json"
_TIMEOUT = "AgentTimeoutError"


def is_job(path: str) -> bool:
    """Return whether a path is a folder of trials."""
    return next(_results(Path(path)), None) is not None


def _results(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.glob(f"*/{_RESULT}")) if path.is_file())


def answer_fields(path: Path) -> dict[str, Any]:
    """Return what an agent wrote as fields of a prediction; nothing is an empty reply.

    JSON is the answer, anything else is text in which one is looked for.
    """
    if path.is_symlink():
        return {"response": ""}  # an agent made it, and it may lead anywhere
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


def read_job(path: str) -> Iterator[tuple[int, Reply | PredictionsError]]:
    """Yield the trials of a job with their numbers; several of one task are its samples."""
    tries: Counter[str] = Counter()
    for number, file in enumerate(_results(Path(path)), 1):
        try:
            result = json.loads(file.read_bytes())
            name = dig(result, "task_name")
            request = request_key(
                name.rpartition("/")[2] if isinstance(name, str) else name
            )
        except (PredictionsError, ValueError, OSError) as error:
            yield number, PredictionsError(f"{file.parent.name}: {error}")
            continue
        agent, info = (
            dig(result, "agent_info", "name"),
            dig(result, "agent_info", "model_info"),
        )
        model = "/".join(filter(None, (dig(info, "provider"), dig(info, "name"))))
        run = {"tools": [f"{agent} under Harbor"]} if isinstance(agent, str) else {}
        made = request._replace(sample=tries[request.id])
        tries[request.id] += 1
        yield (
            number,
            Reply(
                made, model or agent, {**_trial_fields(result, file.parent), "run": run}
            ),
        )


def _trial_fields(result: object, trial: Path) -> dict[str, Any]:
    used = dig(result, "agent_result")
    cost = dig(used, "cost_usd")
    usage = {
        "input_tokens": count(dig(used, "n_input_tokens")),
        "output_tokens": count(dig(used, "n_output_tokens")),
        "cost": cost if isinstance(cost, int | float) else None,
    }
    usage = {key: value for key, value in usage.items() if value is not None}
    answer = trial / "artifacts" / ANSWER.lstrip("/")
    failure = dig(result, "exception_info", "exception_type")
    fields = {"setting": "tools", **({"usage": usage} if usage else {})}
    if failure and not answer.is_file():
        if failure == _TIMEOUT:
            return {**fields, "status": Status.TRUNCATED.value, "response": ""}
        message = dig(result, "exception_info", "exception_message")
        words = f"{failure}: {message}"[:2000]
        return {**fields, "status": Status.API_ERROR.value, "error": words}
    return {**fields, **answer_fields(answer)}
