"""Tasks for Harbor: a folder with prompt and verifier for each instance, for agents with tools.

The agent works in a container, gets the same instructions as every prompt, and writes
``answer.json``. The verifier has a separate container, which the agent cannot read and which
needs no network. It grades the file like `scbench-grade`. ``dataset.toml`` lists all tasks of a
folder with their hashes, for `harbor publish`. Source: harbor 0.25 ``models/task/config.py``,
``models/task/verifier_mode.py``, ``verifier/verifier.py``, ``models/dataset/manifest.py``,
``publisher/packager.py``.
"""

import json
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scbench.base import __version__
from scbench.base.canonical import sha256
from scbench.base.errors import PredictionsError
from scbench.base.model import Instance, Prediction
from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.harbor_jobs import ANSWER, answer_fields
from scbench.machine.files import whole_file
from scbench.reward import outcome, packed, unpacked
from scbench.scoring.outcomes import normalized

# Time limits of an agent and of its verifier.
_AGENT_SECONDS = 3600.0
_VERIFIER_SECONDS = 900.0
# The agent's working folder, in its container.
_HOME = str(Path(ANSWER).parent)
_PROMPT = """{prompt}

Write your final answer, in the form described above and nothing else, to `{answer}`.{images}
"""
_IMAGES = " The pictures are `{names}`."
_ENVIRONMENT = """FROM python:3.11-slim
WORKDIR {folder}
{copies}"""
_VERIFIER = """FROM python:3.11-slim
{install}
COPY . /tests/
WORKDIR {folder}
"""
_INSTALL = "RUN pip install --no-cache-dir {options}'scbench[terrain]=={version}'"
# Files in the verifier's folder of results. Harbor reads both kinds of rewards; we
# write only JSON.
_OUTCOME = "outcome.json"
_REWARD = "reward.json"
_REWARD_TEXT = "reward.txt"
# The manifest of all tasks, and the name of the data set in it.
DATASET = "dataset.toml"
_DATASET_NAME = "scbench/scbench"
# Folder of wheels, in the context of a verifier's image.
_WHEELS = "wheels"
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
# Contains a correct answer: keep it away from the agent.
printf '%%s' %s > "${SCBENCH_ANSWER:-%s}"
"""


def write_tasks(
    instances: Iterable[Instance],
    folder: Path,
    release: str,
    floors: Mapping[str, float],
    solutions: Mapping[str, str] | None = None,
    wheels: Sequence[Path] = (),
) -> list[Path]:
    """Write a folder for each instance and the manifest of all, and return the folders.

    Args:
        instances: instances of one release.
        folder: folder of all instances.
        release: version of the release.
        floors: floors by instance.
        solutions: right answers by instance, as JSON, for Harbor's oracle; None for no such files.
        wheels: files that the images of verifiers install, see `install_line`.

    Raises:
        PredictionsError: a folder or the manifest already exists.
    """
    manifest = folder / DATASET
    if manifest.exists():
        raise PredictionsError(
            f"{manifest} already exists; move it elsewhere, or choose another --out"
        )
    install = install_line(wheels)
    paths = []
    digests: dict[str, str] = {}
    for instance in instances:
        path = folder / RequestKey(instance.id).custom_id
        if path.exists():
            raise PredictionsError(
                f"{path} already exists; move it elsewhere, or choose another --out"
            )
        solution = (solutions or {}).get(instance.id)
        floor = floors.get(instance.id)
        files = task_files(instance, release, floor, solution, install)
        for wheel in wheels:
            files[f"tests/{_WHEELS}/{wheel.name}"] = wheel.read_bytes()
        for name, content in files.items():
            target = path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            if target.suffix == ".sh":
                target.chmod(0o755)
        digests[task_name(instance)] = task_digest(files)
        paths.append(path)
    manifest.write_text(dataset_toml(release, digests))
    return paths


def install_line(wheels: Sequence[Path]) -> str:
    """Return the line of a verifier's Dockerfile that installs scbench.

    Args:
        wheels: wheels to install; empty to install from a package index. With the wheel
            of scbench alone, its dependencies come from the index; with more wheels,
            everything comes from them.

    Raises:
        PredictionsError: the wheel of this version of scbench is not among them.
    """
    if not wheels:
        return _INSTALL.format(options="", version=__version__)
    ours = [wheel for wheel in wheels if wheel.name.startswith("scbench-")]
    if not any(wheel.name.startswith(f"scbench-{__version__}-") for wheel in ours):
        raise PredictionsError(
            f"--wheels contains no wheel of scbench {__version__}; make it in a clone of scbench "
            "with: pip wheel --no-deps --wheel-dir FOLDER ."
        )
    options = f"--find-links /tmp/{_WHEELS} "
    if len(wheels) > len(ours):
        options = f"--no-index {options}"
    copy = f"COPY {_WHEELS} /tmp/{_WHEELS}"
    return f"{copy}\n{_INSTALL.format(options=options, version=__version__)}"


def wheels_in(folder: Path) -> list[Path]:
    """Return the wheels in a folder, by name.

    Raises:
        PredictionsError: the folder contains no wheels.
    """
    wheels = sorted(folder.glob("*.whl"))
    if not wheels:
        raise PredictionsError(f"{folder} contains no wheels (*.whl)")
    return wheels


def task_name(instance: Instance) -> str:
    """Return the name of an instance's task."""
    return f"scbench/{RequestKey(instance.id).custom_id}"


def task_digest(files: Mapping[str, bytes]) -> str:
    """Return the hash of a task's files, as Harbor computes it."""
    lines = [f"{name}\0{sha256(files[name])}\n" for name in sorted(files)]
    return f"sha256:{sha256(''.join(lines))}"


def dataset_toml(release: str, digests: Mapping[str, str]) -> str:
    """Return the manifest of a data set of tasks, in TOML; digests are by task."""
    lines = [
        'schema_version = "1.0"',
        "",
        "[dataset]",
        f"name = {json.dumps(_DATASET_NAME)}",
        f"version = {json.dumps(release)}",
        'description = "Spatial Competence Benchmark: spatial tasks with exact graders"',
        'keywords = ["spatial", "geometry", "planning"]',
    ]
    for name, digest in digests.items():
        lines += ["", "[[tasks]]"]
        lines += [f"name = {json.dumps(name)}", f"digest = {json.dumps(digest)}"]
    return "\n".join(lines) + "\n"


def task_files(
    instance: Instance,
    release: str,
    floor: float | None,
    solution: str | None,
    install: str,
) -> dict[str, bytes]:
    """Return the files of a task, content by path.

    Args:
        instance: instance of the task.
        release: version of the release.
        floor: floor of the instance; None if it has none.
        solution: a right answer as JSON; None for no such file.
        install: see `install_line`.
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
        "tests/Dockerfile": _VERIFIER.format(install=install, folder=_HOME),
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
            "name": task_name(instance),
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

    Without a score there is no such file, which Harbor counts as an error and never as
    a zero.

    Args:
        tests: folder with the instance.
        answer: file that the agent wrote, if any.
        logs: folder of the results, created if necessary; earlier results in it are removed.
    """
    # Done first: if grading is killed, no earlier reward must be left.
    clear_results(logs)
    check = json.loads((tests / "instance.json").read_bytes())
    instance = unpacked(check["instance"])
    fields = answer_fields(answer.parent, (answer.name,))
    prediction = Prediction.model_validate({"id": instance.id, **fields})
    result = outcome(instance, prediction)
    record = {"status": result.status, "reason": result.reason, "score": result.score}
    write_result(logs / _OUTCOME, record)
    if result.score is None:
        sys.stderr.write(
            f"{instance.id} has no score ({result.status}): {result.reason}"
        )
        return 1
    rewards = {"reward": result.score, "score": result.score}
    floor = check["floor"]
    if floor is not None and floor < 1:
        rewards["normalized_score"] = normalized(result.score, floor)
    write_result(logs / _REWARD, rewards)
    return 0


def clear_results(logs: Path) -> None:
    """Create the folder of results, and remove our files from it.

    An agent that shares the verifier's container may have left a reward, a pipe, or anything else
    at these paths.
    """
    if logs.is_symlink() or not logs.is_dir():
        logs.unlink(missing_ok=True)
        logs.mkdir(parents=True)
    for name in (_OUTCOME, _REWARD, _REWARD_TEXT):
        path = logs / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def write_result(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record completely or not at all, without following a link."""
    with whole_file(path) as part:
        part.write_text(json.dumps(record))


if __name__ == "__main__":
    sys.exit(verify(*map(Path, sys.argv[1:4])))
