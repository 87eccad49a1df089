"""The card that explains a task and its checks to a judge.

It is generated from the task, so it always lists the grader's checks.
"""

import json
from collections.abc import Iterator

from scbench.analysis.failure_modes.judge_prompts import LENGTHS
from scbench.analysis.failure_modes.modes import (
    SLIP_PLACES,
    TEXTS,
    Mode,
    meaning_of,
    signals,
)
from scbench.catalog import Task
from scbench.graders.shared.checklist import COMMON_CHECKS
from scbench.schemas.base import json_schema
from scbench.scoring.answers.shape import Shape, shape_of


def card(task: Task) -> str:
    """Return a task's card as Markdown, in eight sections.

    Args:
        task: a task that this installation can grade.

    Raises:
        CatalogError: the task's schema or grader is not installed.
    """
    shape = shape_of(task.answer_model)
    first_paragraph = task.card_text.partition("\n\n")[0].replace("\n", " ")
    intent = first_paragraph.removeprefix("**Asks for** ")
    sections = {
        "Intent": [f"The model was asked for {intent}"],
        "Output contract": contract_lines(task, shape),
        "Hard constraints": constraint_lines(task),
        "Verifier signals": signal_lines(task),
        "Tie-breaks": cue_lines(task, shape),
        "Judge input": input_lines(),
        "Classification request": TEXTS["request"]["lines"],
    }
    text = [f"# 1. {task.title} (`{task.id}`)", ""]
    for number, (title, lines) in enumerate(sections.items(), start=2):
        text += [f"## {number}. {title}", "", *lines, ""]
    return "\n".join(text).rstrip("\n") + "\n"


def contract_lines(task: Task, shape: Shape) -> Iterator[str]:
    """Yield the format of the answer, and the rules for reading it."""
    yield "```json"
    yield json.dumps(json_schema(task.answer_model), ensure_ascii=False, indent=1)
    yield "```"
    yield ""
    reading, expect = TEXTS["contract"]["short" if shape.is_short else "object"]
    if not shape.is_short and len(shape.keys) == 1:
        reading += f" A bare array is read as the value of `{shape.keys[0]}`."
    yield reading
    yield expect


def constraint_lines(task: Task) -> Iterator[str]:
    """Yield the scoring of the task, and its checks."""
    yield TEXTS["scoring"][task.scoring]
    if task.scores > 1:
        yield (
            f"Each answer gets {task.scores} scores, each based on some of these checks. "
            "Judge only the score that the verdict is about."
        )
    yield ""
    for check, requirement in {**task.checks, **COMMON_CHECKS}.items():
        yield f"- `{check}`: {requirement}"


def signal_lines(task: Task) -> Iterator[str]:
    """Yield a table of the checks, with the likely label if each fails."""
    yield "| check | requirement that was not met | likely label |"
    yield "|---|---|---|"
    for signal in signals(task):
        labels = []
        for mode, when in signal.likely:
            labels.append(f"{mode} if {when}" if when else str(mode))
        meaning = signal.requirement.replace("|", "\\|")
        yield f"| `{signal.check}` | {meaning} | {'; '.join(labels)} |"
    yield ""
    yield "If no check fails but the score is low, the label is local_only."


def cue_lines(task: Task, shape: Shape) -> Iterator[str]:
    """Yield the conditions for each label in this task."""
    facts = {
        "where": " or ".join(f"`{key}`" for key in shape.keys),
        "count": len(task.checks),
        "defining": "",
        "partial": "",
        "places": SLIP_PLACES,
    }
    if task.defining_checks:
        defining = ", ".join(sorted(task.defining_checks))
        facts["defining"] = f", or fails {defining}, which defines the task"
    if task.scoring == "partial":
        facts["partial"] = ", or partial credit shows that less than half is right"
    for label, cue in TEXTS["cues"].items():
        text = cue.format(**facts)
        if label == Mode.NEAR_MISS and len(task.checks) <= 1:
            text = (
                "the only check of this task fails, and a small change would make the answer "
                "correct."
            )
        yield f"- {meaning_of(Mode(label)).title} (`{label}`): {text}"


def input_lines() -> Iterator[str]:
    """Yield the parts of a judge's prompt."""
    yield "- this card"
    yield "- subtask, score, status, finish reason and length of the reply"
    for kind, text in TEXTS["input"].items():
        limit = LENGTHS[kind]
        yield f"- {text} (at most {limit:,} characters; cuts are marked)"
