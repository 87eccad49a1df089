"""The prompt for a judge of one candidate.

It does not name the model or its setting, so that judges cannot favour a model. Texts
written by models are in fences that the texts cannot close.
"""

import re
from collections.abc import Mapping
from typing import Any

from scbench.analysis.failure_modes.labels import json_cell
from scbench.analysis.failure_modes.modes import TEXTS, Mode, meaning_of
from scbench.base.canonical import canonical_json

# Version stored with every label; increased whenever the wording of prompts or cards
# changes.
PROMPT_VERSION = "failure-modes-3"

# Maximum characters of each part that a judge sees.
LENGTHS: Mapping[str, int] = {
    "prompt": 20_000,
    "output": 20_000,
    "reasoning": 20_000,
    "answer": 8_000,
    "verdict": 12_000,
    "check": 1_500,
}

# An image inside a text: its media type, then its bytes in Base64.
_IMAGE = re.compile(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=]+")


def judge_prompt(
    row: Mapping[str, Any], card: str, prompt: str, output: str | None
) -> str:
    """Return the whole prompt for a judge.

    Args:
        row: a candidate, as returned by `scbench.analysis.failure_modes.labels.candidates`.
        card: the card of its task.
        prompt: the model's prompt, as returned by `shown_prompt`.
        output: the model's output, clipped; None if unavailable.

    Raises:
        ResultsError: the row's checks are not JSON.
    """
    answer = row["answer"]
    if answer is None:
        answer = "[none, or too large to be stored]"
    if output is None:
        output = "[not available]"
    parts = [
        TEXTS["task"],
        modes_section(),
        f"# Task card\n\n{card}",
        attempt_section(row),
        f"## Prompt\n\n{fenced(prompt)}",
        f"## Raw reply\n\n{fenced(output)}",
        f"## Answer\n\n{fenced(clip(answer, LENGTHS['answer']))}",
        f"## Verdict\n\n{fenced(verdict_lines(row))}",
    ]
    return "\n\n".join(parts) + "\n"


def modes_section() -> str:
    """Return the meanings of the failure modes, and their decision order."""
    lines = ["# Failure modes", ""]
    for mode in Mode:
        meaning = meaning_of(mode)
        lines.append(
            f"- {meaning.title} (`{mode}`): {meaning.applies} Not if {meaning.not_if}."
        )
    lines += [
        "",
        "Decision order (the first condition that is met gives the label):",
        "",
    ]
    for number, (label, when) in enumerate(TEXTS["decision_order"].items(), start=1):
        lines.append(f"{number}. `{label}`: {when}")
    lines += ["", TEXTS["ties"]]
    return "\n".join(lines)


def attempt_section(row: Mapping[str, Any]) -> str:
    """Return the facts of a candidate."""
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
    lines = ["# The attempt", ""]
    for name, value in facts.items():
        if value not in {None, ""}:
            lines.append(f"- {name}: {value}")
    return "\n".join(lines)


def verdict_lines(row: Mapping[str, Any]) -> str:
    """Return checks line by line, each clipped so that long details do not hide other checks."""
    checks = json_cell(row, "checks") or []
    lines = [clip(canonical_json(check), LENGTHS["check"]) for check in checks]
    return clip("\n".join(lines), LENGTHS["verdict"])


def fenced(text: str) -> str:
    """Put a text into a fence that is longer than any run of backticks in it."""
    # A fence ends at a run of backticks that is at least as long.
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def shown_prompt(prompt: str, images: int) -> str:
    """Return a prompt with a marker for every image sent with it or contained in it."""
    lines = [_IMAGE.sub("[image, not shown]", prompt)]
    lines += [f"[image {i} of {images}, not shown]" for i in range(1, images + 1)]
    return clip("\n".join(lines), LENGTHS["prompt"])


def clip(text: str, limit: int) -> str:
    """Shorten a text to about this many characters; a cut in its middle is marked."""
    if len(text) <= limit:
        return text
    head = 2 * limit // 3
    tail = limit - head
    cut = len(text) - head - tail
    return f"{text[:head]}\n[cut: {cut:,} of {len(text):,} characters]\n{text[-tail:]}"
