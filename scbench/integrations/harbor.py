"""Tasks for Harbor: a folder for each instance, for agents with tools, and the verifier in it.

The agent works in a container, gets the same instructions as every prompt, and writes
``answer.json``. The verifier has a separate container, which the agent cannot read and which
needs no network. It grades the file like `scbench-grade`. Source: harbor 0.25
``models/task/config.py``, ``models/task/verifier_mode.py``, ``verifier/verifier.py``.
"""

import json
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scbench.base import __version__
from scbench.base.errors import PredictionsError
from scbench.base.model import Instance, Prediction
from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.harbor_jobs import ANSWER, answer_fields
from scbench.reward import outcome, packed, unpacked
from scbench.scoring.outcomes import normalized

_AGENT_SECONDS = 3600.0
_VERIFIER_SECONDS = 900.0
# The agent's working folder, in its container.
_HOME = str(Path(ANSWER).parent)
_PROMPT = """{prompt}

Write your final answer, in the form asked for above and nothing else, to `{answer}`.{images}
"""
_IMAGES = " The pictures are `{names}`."
_ENVIRONMENT = """FROM python:3.11-slim
WORKDIR {folder}
{copies}"""
_VERIFIER = """FROM python:3.11-slim
RUN pip install --no-cache-dir 'scbench[terrain]=={version}'
COPY . /tests/
WORKDIR {folder}
"""
_TEST = """#!/bin/sh
# Grades the answer offline. The paths can be given, to try it without containers.
absolute() {
    case "$1" in
        /*) printf '%%s' "$1" ;;
        *) printf '%%s/%%s' "$PWD" "$1" ;;
    esac
}
tests=$(absolute "${SCBENCH_TESTS:-/tests}")
answer=$(absolute "${SCBENCH_ANSWER:-%s}")
logs=$(absolute "${SCBENCH_LOGS:-/logs/verifier}")
# Python must import nothing that the agent wrote: neither from the working folder (-I, cd) nor by
# variables such as PYTHONPATH (-I).
cd /
exec python3 -I -m scbench.integrations.harbor "$tests" "$answer" "$logs"
"""
_SOLVE = """#!/bin/sh
# Holds a right answer: keep it out of reach of whatever is evaluated.
printf '%%s' %s > "${SCBENCH_ANSWER:-%s}"
"""


def write_tasks(
    instances: Iterable[Instance],
    folder: Path,
    release: str,
    floors: Mapping[str, float],
    solutions: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write a folder for each instance, and return them.

    Args:
        instances: of one release.
        folder: of all.
        release: its version.
        floors: by instance.
        solutions: correct answers by instance, as JSON, for Harbor's oracle; None for no such
            files.

    Raises:
        PredictionsError: a folder is there already.
    """
    paths = []
    for instance in instances:
        path = folder / RequestKey(instance.id).custom_id
        if path.exists():
            raise PredictionsError(
                f"{path} already exists; move it away, or choose another --out"
            )
        solution = (solutions or {}).get(instance.id)
        files = task_files(instance, release, floors.get(instance.id), solution)
        for name, content in files.items():
            target = path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            if target.suffix == ".sh":
                target.chmod(0o755)
        paths.append(path)
    return paths


def task_files(
    instance: Instance, release: str, floor: float | None, solution: str | None
) -> dict[str, bytes]:
    """Return the files of a task, content by path.

    Args:
        instance: of the task.
        release: its version.
        floor: of the instance; None if it has none.
        solution: a correct answer as JSON; None for no such file.
    """
    pictures = {
        f"picture-{number}.png": data for number, data in enumerate(instance.images, 1)
    }
    copies = ""
    sentence = ""
    if pictures:
        copies = f"COPY *.png {_HOME}/\n"
        sentence = _IMAGES.format(names="`, `".join(pictures))
    texts = {
        "task.toml": task_toml(instance, release),
        "instruction.md": _PROMPT.format(
            prompt=instance.prompt, answer=ANSWER, images=sentence
        ),
        "environment/Dockerfile": _ENVIRONMENT.format(folder=_HOME, copies=copies),
        "tests/Dockerfile": _VERIFIER.format(version=__version__, folder=_HOME),
        "tests/instance.json": json.dumps(
            {"instance": packed(instance), "floor": floor}
        ),
        "tests/test.sh": _TEST % ANSWER,
    }
    if solution is not None:
        texts["solution/solve.sh"] = _SOLVE % (shlex.quote(solution), ANSWER)
    files = {name: text.encode() for name, text in texts.items()}
    for name, data in pictures.items():
        files[f"environment/{name}"] = data
    return files


def task_toml(instance: Instance, release: str) -> str:
    """Return the settings of a task, in TOML."""
    tables: dict[str, dict[str, Any]] = {
        "task": {
            "name": f"scbench/{RequestKey(instance.id).custom_id}",
            "version": release,
            "description": f"{instance.id} of the Spatial Competence Benchmark",
            "keywords": ["spatial", instance.bucket, instance.task],
        },
        "metadata": {
            "id": instance.id,
            "release": release,
            "instance_hash": instance.content_hash,
            "difficulty": instance.difficulty,
            "category": instance.bucket,
        },
        "agent": {"timeout_sec": _AGENT_SECONDS},
        "environment": {"workdir": _HOME},
        "verifier": {"timeout_sec": _VERIFIER_SECONDS, "environment_mode": "separate"},
        "verifier.environment": {"network_mode": "no-network"},
    }
    # Strings, numbers and lists of strings are the same in JSON and TOML.
    lines = ['schema_version = "1.4"', f'artifacts = ["{ANSWER}"]']
    for table, values in tables.items():
        lines += ["", f"[{table}]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"


def verify(tests: Path, answer: Path, logs: Path) -> int:
    """Grade an answer, write ``reward.json``, and return the exit code of the verifier.

    Without a score there is no such file: Harbor counts that as an error, and never as a zero.

    Args:
        tests: folder with the instance.
        answer: file that the agent wrote, if it did.
        logs: folder of the results, created if necessary.
    """
    check = json.loads((tests / "instance.json").read_bytes())
    instance = unpacked(check["instance"])
    fields = answer_fields(answer.parent, (answer.name,))
    prediction = Prediction.model_validate({"id": instance.id, **fields})
    result = outcome(instance, prediction)
    logs.mkdir(parents=True, exist_ok=True)
    record = {"status": result.status, "reason": result.reason, "score": result.score}
    (logs / "outcome.json").write_text(json.dumps(record))
    if result.score is None:
        sys.stderr.write(
            f"{instance.id} has no score ({result.status}): {result.reason}"
        )
        return 1
    rewards = {"reward": result.score, "score": result.score}
    floor = check["floor"]
    if floor is not None and floor < 1:
        rewards["normalized_score"] = normalized(result.score, floor)
    (logs / "reward.json").write_text(json.dumps(rewards))
    return 0


if __name__ == "__main__":
    sys.exit(verify(*map(Path, sys.argv[1:4])))
