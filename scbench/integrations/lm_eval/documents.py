"""Documents and scores of the tasks in this folder, for lm-evaluation-harness.

The YAML files name these functions. Documents come from an installed release, or from the one
named on the command line: ``--metadata '{"release": "fresh"}'``. Sources: lm-eval 0.4.13
``api/task.py``, ``evaluator.py``.
"""

import io
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from secrets import token_hex
from typing import Any

import datasets
from PIL import Image, ImageFile

import scbench
from scbench.base.errors import PredictionsError
from scbench.base.model import PICTURES
from scbench.formats.imports.harnesses import NO_REPLY
from scbench.formats.prompts import select
from scbench.grading.score_tables import OVERALL, headline
from scbench.grading.stored_answers import StoredAnswer, bucket_lines
from scbench.release.load import Release
from scbench.reward import cached_release, instance_of

_log = logging.getLogger("scbench")

Document = Mapping[str, Any]

# The harness's setting for the text that replaces a missing reply.
_PLACEHOLDER = "LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER"
# The values of ``images`` in calls of `load`; a run of both kinds has both.
_loaded: set[bool] = set()
# Pictures by document. They are opened here, and read when the harness makes a request.
_opened: dict[str, list[ImageFile.ImageFile]] = {}


def load(
    tasks: str | None = None,
    config: str | None = None,
    release: str | None = None,
    *,
    images: bool = False,
    **_: object,
) -> dict[str, datasets.Dataset]:
    """Return the documents of a task, as the split ``test``, either with pictures or without.

    Args:
        tasks: ids of tasks and buckets, separated by commas; None for all.
        config: terse or ladder; None for the default.
        release: as for `scbench.load_release`.
        images: whether the documents are those with pictures.

    Raises:
        ScbenchError: there is no such release, config or task; the config is pictures;
            or the run has documents of both kinds, for which lm-eval 0.4.13 drops all
            pictures (``models/api_models.py`` looks only at the first request).
    """
    for name, value in {"tasks": tasks, "config": config, "release": release}.items():
        # Values come from YAML, in which 5 and [a] are no text.
        if not isinstance(value, str | None):
            raise PredictionsError(f"{name} must be text, not {value!r}")
    _loaded.add(images)
    marker = _mark_absent_replies()
    if len(_loaded) > 1:
        raise PredictionsError(
            "run scbench_images separately: if some prompts have no pictures, the harness "
            "silently drops the pictures of all the others"
        )
    if config == PICTURES:
        raise PredictionsError(
            "this harness cannot run the pictures config, because some of its models drop "
            "pictures; use `scbench run`, `scbench prompts`, Inspect or verifiers"
        )
    names = tasks.split(",") if tasks else None
    instances = select(cached_release(release), config or "default", names).instances
    selection = [instance for instance in instances if bool(instance.images) == images]
    if not images and len(selection) < len(instances):
        skipped = ", ".join(instance.id for instance in instances if instance.images)
        _log.warning(
            "left out because they have pictures (see scbench_images): %s", skipped
        )
    documents = [
        {
            "id": row.id,
            "prompt": row.prompt,
            "instance_hash": row.content_hash,
            "release": release,
            NO_REPLY: marker,
        }
        for row in selection
    ]
    return {"test": datasets.Dataset.from_list(documents)}


def _mark_absent_replies() -> str:
    """Make the harness mark missing replies, which otherwise look like empty ones.

    Returns:
        The marker, which is random: a model that writes a known one would avoid a zero.
    """
    # It reads the setting when its models are imported, which may already have
    # happened.
    # The harness may load this file several times, so the environment has the marker.
    marker = os.environ.get(_PLACEHOLDER) or f"(there was no reply: {token_hex(16)})"
    os.environ[_PLACEHOLDER] = marker
    models = sys.modules.get("lm_eval.models.api_models")
    if models is not None:
        setattr(models, _PLACEHOLDER, marker)
    return marker


def process_results(
    document: Document, results: Sequence[str | None]
) -> dict[str, dict[str, Any]]:
    """Return the data that metrics need from a reply; empty if it cannot be graded.

    The harness leaves a document without a metric out of its metrics, and does not count it in
    ``effective``.
    """
    text = results[0]
    # A picture that was not read still has its tiles.
    if any(picture.tile for picture in _opened.get(document["id"], ())):
        _log.warning(
            "%s was sent without its pictures, so it has no score", document["id"]
        )
        return {}
    if text is None or text == document.get(NO_REPLY):
        _log.warning("%s has no reply, so it has no score", document["id"])
        return {}
    result = scbench.outcome(document["id"], text, document["release"])
    if result.score is None:
        _log.warning(
            "%s has no score (%s): %s", document["id"], result.status, result.reason
        )
        return {}
    instance = instance_of(document["id"], document["release"])
    source = cached_release(document["release"]).fitting(instance.id)
    answer = StoredAnswer(
        instance.id,
        0,
        instance.task,
        instance.bucket,
        result.status.value,
        floors_of(source)[instance.id],
        [verdict.score for verdict in result.verdicts],
    )
    stored = answer._asdict() | {"weight": source.weights()[instance.task]}
    return {"score": stored, "mean": stored}


@lru_cache(maxsize=8)
def floors_of(release: Release) -> Mapping[str, float]:
    """Return the floors of the instances of a release's config."""
    return release.floors()


def score(answers: Sequence[Mapping[str, Any]]) -> float:
    """Return the normalized score of all replies, as `scbench-grade` prints it."""
    value = headline(line_over(answers))
    return float("nan") if value is None else value


def mean(answers: Sequence[Mapping[str, Any]]) -> float:
    """Return the mean score of all replies."""
    value: float = line_over(answers)["mean"]
    return value


def line_over(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the overall line of the table that `scbench-grade` prints.

    Args:
        answers: as `process_results` returns them.
    """
    weights = {answer["task"]: answer["weight"] for answer in answers}
    stored = []
    for answer in answers:
        fields = {name: answer[name] for name in StoredAnswer._fields}
        stored.append(StoredAnswer(**fields))
    lines = bucket_lines(stored, weights)
    # With a single bucket there is no overall line.
    return lines.get(OVERALL) or next(iter(lines.values()))


def pictures(document: Document) -> list[ImageFile.ImageFile]:
    """Return the pictures of a document's prompt, in order."""
    images = instance_of(document["id"], document["release"]).images
    _opened[document["id"]] = [Image.open(io.BytesIO(data)) for data in images]
    return _opened[document["id"]]
