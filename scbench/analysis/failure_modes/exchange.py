"""Judging elsewhere: candidates written out as prompts, decisions read back in.

Any model or person can judge: a bundle holds one prompt per line, and a decision is one line of
JSON that answers it. Decisions are taken whole or not at all.
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import polars as pl
import zstandard
from pydantic import ValidationError

from scbench.analysis.failure_modes.cards import card
from scbench.analysis.failure_modes.decisions import DECISIONS, Decision
from scbench.analysis.failure_modes.prompts import (
    LENGTHS,
    PROMPT_VERSION,
    clip,
    judge_prompt,
    shown_prompt,
)
from scbench.base.canonical import canonical_json, parse_json, sha256
from scbench.base.errors import JsonError, ResultsError, faults_of, printable
from scbench.base.model import Prediction
from scbench.catalog import get_task
from scbench.formats.predictions import Line, Problem, open_predictions, read_predictions
from scbench.release.load import Release
from scbench.schemas.base import json_schema


def export(
    rows: pl.DataFrame, release: Release, outputs: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Yield the lines of a bundle, one per candidate.

    Args:
        rows: as `scbench.analysis.failure_modes.candidates.candidates` gives them.
        release: the one the results are of; prompts come from it.
        outputs: what the models said, as `read_outputs` gives it.

    Yields:
        JSON objects with candidate (its name), task, subtask, prompt_version, prompt (all that a
        judge is to read) and reply_schema (the JSON Schema of its decision).

    Raises:
        ResultsError: the results are of another release, or a row's checks are not JSON.
        ReleaseError: the release cannot be read.
    """
    release = release.fitting(rows["release"][0]) if rows.height else release
    for version, digest in rows.select("release", "release_hash").unique().iter_rows():
        if digest != release.manifest.rows_hash:
            raise ResultsError(
                f"the results are of release {version} ({digest[:12]}), and {release.root} holds "
                f"{release.version} ({release.manifest.rows_hash[:12]}); prompts must come from "
                "the release that was graded"
            )
    tasks = list(rows["task"].unique())
    cards = {task: card(get_task(task)) for task in tasks}
    prompts = {
        name: shown_prompt(instance.prompt, len(instance.images))
        for name, instance in release.instances(tasks).items()
    }
    schema = json_schema(Decision)
    for row in rows.iter_rows(named=True):
        output = None if outputs is None else outputs[row["candidate"]]
        line = {key: row[key] for key in ("candidate", "task", "subtask")}
        fixed = {key: {**schema["properties"][key], "const": line[key]} for key in line}
        yield canonical_json(
            line
            | {
                "prompt_version": PROMPT_VERSION,
                "prompt": judge_prompt(row, cards[row["task"]], prompts[row["id"]], output),
                "reply_schema": {**schema, "properties": {**schema["properties"], **fixed}},
            }
        )


def read_outputs(rows: pl.DataFrame, paths: Iterable[str]) -> dict[str, str]:
    """Return what the models said, clipped for a judge, by candidate.

    Args:
        rows: candidates.
        paths: the predictions files that they were graded from, as
            `scbench.formats.predictions.open_predictions` takes them.

    Raises:
        ResultsError: a line is not there, or not the one that was graded.
        PredictionsError: a file cannot be opened.
    """
    graded = set(rows.select("line", "prediction_hash").iter_rows())
    lines = {line for line, _ in graded}
    texts: dict[tuple[int, str], str] = {}
    strangers: set[int] = set()
    for path in paths:
        with open_predictions(path) as stream:
            for entry in read_predictions(stream, hashlib.sha256()):
                if not isinstance(entry, Line) or entry.number not in lines:
                    continue
                place = (entry.number, sha256(entry.data))
                if place in graded:
                    texts[place] = _reply_text(entry.prediction)
                else:
                    strangers.add(entry.number)
    wrong = sorted(line for line, digest in graded if (line, digest) not in texts)
    if wrong:
        what = "differs (its SHA-256 is another)" if wrong[0] in strangers else "is not there"
        raise ResultsError(
            f"these are not the predictions that were graded: of {len(graded)} lines that "
            f"candidates come from, {len(wrong)} cannot be found; the first, line {wrong[0]}, "
            f"{what}"
        )
    keys = rows.select("candidate", "line", "prediction_hash")
    return {name: texts[line, digest] for name, line, digest in keys.iter_rows()}


def _reply_text(prediction: Prediction) -> str:
    """Return the reply, and the reasoning that is given beside it, each clipped."""
    reply = "[no text: the answer below was handed over as data]"
    if prediction.response is not None:
        reply = clip(prediction.response, LENGTHS["output"])
    if not (prediction.reasoning or "").strip():
        return reply
    reasoning = clip(prediction.reasoning or "", LENGTHS["reasoning"])
    return f"{reply}\n\n[reasoning before it]\n{reasoning}"


def import_decisions(stream: BinaryIO, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[Problem]]:
    """Read decisions back: exactly one for each candidate.

    Args:
        stream: lines of JSON, each a `scbench.analysis.failure_modes.decisions.Decision`; blank
            ones are passed over.
        rows: as `scbench.analysis.failure_modes.candidates.candidates` gives them.

    Returns:
        The decisions, with columns `scbench.analysis.failure_modes.decisions.DECISIONS`, and
        everything that is wrong with them. They must not be used if anything is.
    """
    expected = {
        row["candidate"]: row
        for row in rows.select("candidate", "task", "subtask", "id").iter_rows(named=True)
    }
    problems: list[Problem] = []
    decided: dict[str, tuple[int, Decision]] = {}
    for number, text in _numbered_lines(stream, problems):
        decision = _decision_in(text)
        if isinstance(decision, str):
            problems.append(Problem("bad_decision", decision, number))
            continue
        problem = _misplaced(decision, expected, decided)
        if problem:
            problems.append(Problem("misplaced", problem, number, decision.candidate))
        decided.setdefault(decision.candidate, (number, decision))
    problems += [
        Problem("missing", f"there is no decision on {name} ({row['id']})", id=name)
        for name, row in expected.items()
        if name not in decided
    ]
    records = [] if problems else [decision.model_dump() for _, decision in decided.values()]
    return pl.DataFrame(records, schema=DECISIONS), problems


def _numbered_lines(stream: BinaryIO, problems: list[Problem]) -> Iterator[tuple[int, bytes]]:
    """Yield lines that are not blank, with their numbers; a stream that breaks is a problem."""
    number = 0
    try:
        for number, data in enumerate(stream, start=1):
            text = data.removeprefix(b"\xef\xbb\xbf").strip()
            if text:
                yield number, text
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        reason = printable(str(error))
        problems.append(Problem("unreadable", f"reading stopped here: {reason}", number + 1))


def _decision_in(text: bytes) -> Decision | str:
    """Return a line's decision, or what is wrong with it."""
    try:
        value = parse_json(text)
        return Decision.model_validate(value)
    except JsonError as error:
        return f"not valid JSON: {printable(str(error))}"
    except ValidationError as error:
        return printable("; ".join(map(str, faults_of(error))))


def _misplaced(
    decision: Decision, expected: Mapping[str, Any], decided: Mapping[str, tuple[int, Decision]]
) -> str | None:
    """Return what is wrong with a decision among the others."""
    name = printable(decision.candidate[:100])
    row = expected.get(decision.candidate)
    if row is None:
        return f"there is no candidate {name!r} in these results"
    if decision.candidate in decided:
        return f"{name} was decided on line {decided[decision.candidate][0]} already"
    if (decision.task, decision.subtask) != (row["task"], row["subtask"]):
        return (
            f"{name} is subtask {row['subtask']} of {row['task']}, not {decision.subtask} of "
            f"{printable(decision.task[:100])}"
        )
    return None
