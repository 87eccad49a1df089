"""Judging elsewhere: candidates written out as prompts, decisions read back in.

Any model or person can judge: a bundle holds one prompt per line, and a decision is one line of
JSON that answers it. Decisions are taken whole or not at all.

The card of a task tells a judge what the task is and what its checks mean. It is generated from
what the task itself says, so it can neither list a check that the grader does not make, nor fall
behind it. A prompt names neither the model nor its setting, so that no judge can favour one. What
models wrote stands in fences that it cannot close.
"""

import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import polars as pl
import zstandard
from pydantic import ValidationError

from scbench.analysis.failure_modes.labels import (
    DECISIONS,
    MEANINGS,
    SLIP_PLACES,
    TEXTS,
    Decision,
    Mode,
    parsed,
    signals,
)
from scbench.base.canonical import canonical_json, parse_json, sha256
from scbench.base.errors import JsonError, ResultsError, faults_of, printable
from scbench.base.model import Prediction
from scbench.catalog import Task, get_task
from scbench.formats.predictions import (
    Line,
    Problem,
    open_predictions,
    read_predictions,
    stripped,
)
from scbench.graders.shared.checklist import COMMON_CHECKS
from scbench.release.load import Release
from scbench.schemas.base import json_schema
from scbench.scoring.answers.shape import Shape, shape_of

# Stands with every label; raised whenever prompts or cards are worded differently.
PROMPT_VERSION = "failure-modes-2"

# Characters of each part that a judge is shown.
LENGTHS: Mapping[str, int] = {
    "prompt": 20_000,
    "output": 20_000,
    "reasoning": 20_000,
    "answer": 8_000,
    "verdict": 12_000,
    "check": 1_500,
}

_IMAGE = re.compile(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=]+")


def card(task: Task) -> str:
    """Return a task's card as Markdown, in eight sections.

    Args:
        task: one that this installation can grade.

    Raises:
        CatalogError: the task's schema or grader is not installed.
    """
    shape = shape_of(task.answer_model)
    intent = (
        task.card_text.partition("\n\n")[0]
        .replace("\n", " ")
        .removeprefix("**Asks for** ")
    )
    parts = (
        f"- {text} (at most {LENGTHS[kind]:,} characters; a cut is marked)"
        for kind, text in TEXTS["input"].items()
    )
    sections = {
        "Intent": [f"The model was asked for {intent}"],
        "Output contract": _contract(task, shape),
        "Hard constraints": _constraints(task),
        "Verifier signals": _signal_table(task),
        "Tie-breaks": _cues(task, shape),
        "Judge input": [
            "- this card",
            "- subtask, score, status, finish reason and length of the reply",
            *parts,
        ],
        "Classification request": TEXTS["request"]["lines"],
    }
    text = [f"# 1. {task.title} (`{task.id}`)", ""]
    for number, (title, lines) in enumerate(sections.items(), start=2):
        text += [f"## {number}. {title}", "", *lines, ""]
    return "\n".join(text).rstrip("\n") + "\n"


def _contract(task: Task, shape: Shape) -> Iterator[str]:
    yield "```json"
    yield json.dumps(json_schema(task.answer_model), ensure_ascii=False, indent=1)
    yield "```"
    yield ""
    bare = f" A bare array is put under `{shape.keys[0]}`."
    reading, expect = TEXTS["contract"]["short" if shape.is_short else "object"]
    yield reading + bare * (not shape.is_short and len(shape.keys) == 1)
    yield expect


def _constraints(task: Task) -> Iterator[str]:
    yield TEXTS["scoring"][task.scoring]
    if task.scores > 1:
        yield (
            f"One answer gets {task.scores} scores, each by some of these checks. Judge the one "
            "that the verdict is about."
        )
    yield ""
    for check, requirement in {**task.checks, **COMMON_CHECKS}.items():
        yield f"- `{check}`: {requirement}"


def _signal_table(task: Task) -> Iterator[str]:
    yield "| signal | meaning if it fails | likely label |"
    yield "|---|---|---|"
    for signal in signals(task):
        labels = "; ".join(
            f"{mode}{' if ' * bool(when)}{when}" for mode, when in signal.likely
        )
        meaning = signal.requirement.replace("|", "\\|")
        yield f"| `{signal.check}` | Not so: {meaning} | {labels} |"
    yield ""
    yield "No check fails and the score is low all the same: local_only, as the whole falls short."


def _cues(task: Task, shape: Shape) -> Iterator[str]:
    defining = ", ".join(sorted(task.defining_checks))
    only = "the only check of this task fails, and a small change would mend it."
    facts = {
        "where": " or ".join(f"`{key}`" for key in shape.keys),
        "count": len(task.checks),
        "defining": f", or fails {defining}, without which it is another task"
        if defining
        else "",
        "partial": ", or partial credit shows that less than half is right"
        * (task.scoring == "partial"),
        "places": SLIP_PLACES,
    }
    for label, cue in TEXTS["cues"].items():
        text = (
            only
            if label == Mode.NEAR_MISS and len(task.checks) <= 1
            else cue.format(**facts)
        )
        yield f"- {MEANINGS[Mode(label)].title} (`{label}`): {text}"


def clip(text: str, limit: int) -> str:
    """Return a text of at most about so many characters, its middle cut out and the cut marked."""
    if len(text) <= limit:
        return text
    head, tail = 2 * limit // 3, limit - 2 * limit // 3
    cut = len(text) - head - tail
    return f"{text[:head]}\n[cut: {cut:,} of {len(text):,} characters]\n{text[-tail:]}"


def shown_prompt(prompt: str, images: int) -> str:
    """Return a prompt with a marker for every image that was sent with it or is inside it."""
    text = _IMAGE.sub("[image, not shown]", prompt)
    marks = (f"[image {i} of {images}, not shown]" for i in range(1, images + 1))
    return clip("\n".join([text, *marks]), LENGTHS["prompt"])


def judge_prompt(
    row: Mapping[str, Any], card: str, prompt: str, output: str | None
) -> str:
    """Return the whole prompt for a judge.

    Args:
        row: a candidate, as `scbench.analysis.failure_modes.labels.candidates` gives it.
        card: the card of its task.
        prompt: what the model was asked, as `shown_prompt` gives it.
        output: what it said, clipped; None if that is not at hand.

    Raises:
        ResultsError: the row's checks are not JSON.
    """
    facts = {
        "candidate": row["candidate"],
        "task": row["task"],
        "subtask": row["subtask"],
        "score": f"{row['score']:.4f}",
        "status": row["status"],
        "reason": row["reason"],
        "finish reason": row["finish_reason"],
        "answer found in": row["answer_source"],
        "characters of the reply": row["response_characters"],
        "characters of the reasoning": row["reasoning_characters"],
    }
    answer = (
        "[none, or too large to be kept]" if row["answer"] is None else row["answer"]
    )
    attempt = [
        f"- {name}: {value}" for name, value in facts.items() if value not in {None, ""}
    ]
    parts = [
        TEXTS["task"],
        _modes(),
        f"# Task card\n\n{card}",
        "\n".join(["# The attempt", "", *attempt]),
        f"## Prompt\n\n{_fenced(prompt)}",
        f"## Raw reply\n\n{_fenced('[not handed over]' if output is None else output)}",
        f"## Answer\n\n{_fenced(clip(answer, LENGTHS['answer']))}",
        f"## Verdict\n\n{_fenced(_verdict_lines(row))}",
    ]
    return "\n\n".join(parts) + "\n"


def _modes() -> str:
    means = MEANINGS.items()
    order = enumerate(TEXTS["decision_order"].items(), start=1)
    lines = [
        "# Failure modes",
        "",
        *(
            f"- {m.title} (`{mode}`): {m.applies} Not if {m.not_if}."
            for mode, m in means
        ),
        "",
        "Decision order; the first that applies is the label:",
        "",
        *(f"{i}. `{mode}`: {when}" for i, (mode, when) in order),
        "",
        TEXTS["ties"],
    ]
    return "\n".join(lines)


def _verdict_lines(row: Mapping[str, Any]) -> str:
    """Return checks line by line, each clipped so that none with many details hides the others."""
    checks = parsed(row, "checks") or []
    lines = (clip(canonical_json(check), LENGTHS["check"]) for check in checks)
    return clip("\n".join(lines), LENGTHS["verdict"])


def _fenced(text: str) -> str:
    """Put a text into a fence that is longer than any run of backticks in it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def export(
    rows: pl.DataFrame, release: Release, outputs: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Yield the lines of a bundle, one per candidate.

    Args:
        rows: as `scbench.analysis.failure_modes.labels.candidates` gives them.
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
                "prompt": judge_prompt(
                    row, cards[row["task"]], prompts[row["id"]], output
                ),
                "reply_schema": {
                    **schema,
                    "properties": {**schema["properties"], **fixed},
                },
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
        what = (
            "differs (its SHA-256 is another)"
            if wrong[0] in strangers
            else "is not there"
        )
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


def import_decisions(
    stream: BinaryIO, rows: pl.DataFrame
) -> tuple[pl.DataFrame, list[Problem]]:
    """Read decisions back: exactly one for each candidate.

    Args:
        stream: lines of JSON, each a `scbench.analysis.failure_modes.labels.Decision`; blank
            ones are passed over.
        rows: as `scbench.analysis.failure_modes.labels.candidates` gives them.

    Returns:
        The decisions, with columns `scbench.analysis.failure_modes.labels.DECISIONS`, and
        everything that is wrong with them. They must not be used if anything is.
    """
    expected = {
        row["candidate"]: row
        for row in rows.select("candidate", "task", "subtask", "id").iter_rows(
            named=True
        )
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
    records = (
        [] if problems else [decision.model_dump() for _, decision in decided.values()]
    )
    return pl.DataFrame(records, schema=DECISIONS), problems


def _numbered_lines(
    stream: BinaryIO, problems: list[Problem]
) -> Iterator[tuple[int, bytes]]:
    """Yield lines that are not blank, with their numbers; a stream that breaks is a problem."""
    number = 0
    try:
        for number, data in enumerate(stream, start=1):
            if text := stripped(data):
                yield number, text
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        reason = printable(str(error))
        problems.append(
            Problem("unreadable", f"reading stopped here: {reason}", number + 1)
        )


def _decision_in(text: bytes) -> Decision | str:
    try:
        value = parse_json(text)
        return Decision.model_validate(value)
    except JsonError as error:
        return f"not valid JSON: {printable(str(error))}"
    except ValidationError as error:
        return printable("; ".join(map(str, faults_of(error))))


def _misplaced(
    decision: Decision,
    expected: Mapping[str, Any],
    decided: Mapping[str, tuple[int, Decision]],
) -> str | None:
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
