"""External judges: candidates are exported as prompts, and decisions are imported.

Any model or person can judge: a bundle has one prompt per line, and a decision is one line of JSON
that answers it. Either all decisions are read or none.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import polars as pl
from pydantic import ValidationError

from scbench.analysis.failure_modes.cards import card
from scbench.analysis.failure_modes.judge_prompts import (
    LENGTHS,
    PROMPT_VERSION,
    clip,
    judge_prompt,
    shown_prompt,
)
from scbench.analysis.failure_modes.labels import DECISIONS, Decision
from scbench.base.canonical import canonical_json, parse_json, sha256
from scbench.base.errors import JsonError, ResultsError, faults_of, printable
from scbench.base.model import Prediction
from scbench.catalog import get_task
from scbench.formats.predictions import (
    UNPACKING_ERRORS,
    Line,
    Problem,
    open_predictions,
    read_predictions,
    stripped,
)
from scbench.release.load import Release
from scbench.schemas.base import json_schema

# Maximum characters of a name in a message.
_CLIP = 100


def export(
    rows: pl.DataFrame, release: Release, outputs: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Yield the lines of a bundle, one per candidate.

    Args:
        rows: as returned by `scbench.analysis.failure_modes.labels.candidates`.
        release: the release of the results; prompts come from it.
        outputs: outputs of the models, as returned by `read_outputs`.

    Yields:
        JSON objects with candidate (its name), task, subtask, prompt_version, prompt (the whole
        text for the judge) and reply_schema (the JSON Schema of its decision).

    Raises:
        ResultsError: the results are for another release, or a row's checks are not JSON.
        ReleaseError: the release cannot be read.
    """
    release = release.fitting(rows["release"][0]) if rows.height else release
    check_release(rows, release)
    tasks = list(rows["task"].unique())
    cards = {task: card(get_task(task)) for task in tasks}
    prompts = {}
    for row_id, instance in release.instances(tasks).items():
        prompts[row_id] = shown_prompt(instance.prompt, len(instance.images))
    schema = json_schema(Decision)
    for row in rows.iter_rows(named=True):
        output = None if outputs is None else outputs[row["candidate"]]
        line = {key: row[key] for key in ("candidate", "task", "subtask")}
        # A decision must match this candidate.
        properties = dict(schema["properties"])
        for key, value in line.items():
            properties[key] = {**properties[key], "const": value}
        prompt = judge_prompt(row, cards[row["task"]], prompts[row["id"]], output)
        line |= {
            "prompt_version": PROMPT_VERSION,
            "prompt": prompt,
            "reply_schema": {**schema, "properties": properties},
        }
        yield canonical_json(line)


def check_release(rows: pl.DataFrame, release: Release) -> None:
    """Refuse results of another release.

    Raises:
        ResultsError: the results are for another release.
    """
    release_hash = release.manifest.rows_hash
    for version, digest in rows.select("release", "release_hash").unique().iter_rows():
        if digest != release_hash:
            raise ResultsError(
                f"the results are from release {version} ({digest[:12]}), but {release.root} has "
                f"{release.version} ({release_hash[:12]}); prompts must come from the release that "
                "was graded"
            )


def read_outputs(rows: pl.DataFrame, paths: Iterable[str]) -> dict[str, str]:
    """Return the outputs of models, clipped for a judge, by candidate.

    Args:
        rows: candidates.
        paths: the graded predictions files, as for
            `scbench.formats.predictions.open_predictions`.

    Raises:
        ResultsError: a line is missing, or differs from the graded one.
        PredictionsError: a file cannot be opened.
    """
    graded = set(rows.select("line", "prediction_hash").iter_rows())
    graded_lines = {line for line, _ in graded}
    replies: dict[tuple[int, str], str] = {}
    different: set[int] = set()
    for path in paths:
        with open_predictions(path) as stream:
            for entry in read_predictions(stream, hashlib.sha256()):
                if not isinstance(entry, Line) or entry.number not in graded_lines:
                    continue
                key = (entry.number, sha256(entry.data))
                # A line number alone could belong to a different file.
                if key in graded:
                    replies[key] = reply_text(entry.prediction)
                else:
                    different.add(entry.number)
    missing = sorted(line for line, digest in graded if (line, digest) not in replies)
    if missing:
        fault = "is missing"
        if missing[0] in different:
            fault = "has a different SHA-256"
        raise ResultsError(
            f"these are not the predictions that were graded: {len(missing)} of "
            f"{len(graded)} lines with candidates cannot be found; the first, line "
            f"{missing[0]}, {fault}"
        )
    keys = rows.select("candidate", "line", "prediction_hash")
    return {name: replies[line, digest] for name, line, digest in keys.iter_rows()}


def reply_text(prediction: Prediction) -> str:
    """Return the reply and its reasoning, each clipped."""
    reply = "[no text: the prediction gives the answer below as data]"
    if prediction.response is not None:
        reply = clip(prediction.response, LENGTHS["output"])
    reasoning = prediction.reasoning or ""
    if not reasoning.strip():
        return reply
    return f"{reply}\n\n[reasoning before it]\n{clip(reasoning, LENGTHS['reasoning'])}"


def import_decisions(
    stream: BinaryIO, rows: pl.DataFrame
) -> tuple[pl.DataFrame, list[Problem]]:
    """Read decisions back: exactly one for each candidate.

    Args:
        stream: lines of JSON, each a `scbench.analysis.failure_modes.labels.Decision`;
            blank lines are skipped.
        rows: as returned by `scbench.analysis.failure_modes.labels.candidates`.

    Returns:
        The decisions, with columns `scbench.analysis.failure_modes.labels.DECISIONS`,
        and all their problems. If there is any problem, the decisions must not be used.
    """
    expected = {}
    for row in rows.select("candidate", "task", "subtask", "id").iter_rows(named=True):
        expected[row["candidate"]] = row
    problems: list[Problem] = []
    decided: dict[str, tuple[int, Decision]] = {}
    for number, text in _numbered_lines(stream, problems):
        decision = decision_in(text)
        if isinstance(decision, str):
            problems.append(Problem("bad_decision", decision, number))
            continue
        problem = _misplaced(decision, expected, decided)
        if problem:
            problems.append(Problem("misplaced", problem, number, decision.candidate))
        # The first decision is used, and a second one is an error.
        decided.setdefault(decision.candidate, (number, decision))
    for name, row in expected.items():
        if name not in decided:
            words = f"no decision for {name} ({row['id']})"
            problems.append(Problem("missing", words, id=name))
    records = []
    if not problems:
        records = [decision.model_dump() for _, decision in decided.values()]
    return pl.DataFrame(records, schema=DECISIONS), problems


def _numbered_lines(
    stream: BinaryIO, problems: list[Problem]
) -> Iterator[tuple[int, bytes]]:
    """Yield non-blank lines with their numbers; a broken stream is a problem."""
    number = 0
    try:
        for number, data in enumerate(stream, start=1):
            text = stripped(data)
            if text:
                yield number, text
    except UNPACKING_ERRORS as error:
        words = f"reading stopped here: {printable(str(error))}"
        problems.append(Problem("unreadable", words, number + 1))


def decision_in(text: bytes) -> Decision | str:
    """Return the decision in a line, or a description of its errors."""
    try:
        return Decision.model_validate(parse_json(text))
    except JsonError as error:
        return f"not valid JSON: {printable(str(error))}"
    except ValidationError as error:
        return printable("; ".join(map(str, faults_of(error))))


def _misplaced(
    decision: Decision,
    expected: Mapping[str, Any],
    decided: Mapping[str, tuple[int, Decision]],
) -> str | None:
    """Return why a decision does not match an undecided candidate; None if it matches."""
    name = printable(decision.candidate[:_CLIP])
    row = expected.get(decision.candidate)
    if row is None:
        return f"there is no candidate {name!r} in these results"
    if decision.candidate in decided:
        return f"line {decided[decision.candidate][0]} already contains a decision for {name}"
    if (decision.task, decision.subtask) != (row["task"], row["subtask"]):
        return (
            f"{name} is subtask {row['subtask']} of {row['task']}, not {decision.subtask} of "
            f"{printable(decision.task[:_CLIP])}"
        )
    return None
