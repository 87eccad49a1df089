"""The card of a task, which tells a judge what the task is and what its checks mean.

Cards are generated from what the task itself says, so none can list a check that the grader does
not make, or fall behind it.
"""

import json
from collections.abc import Iterable, Iterator

from scbench.analysis.failure_modes.labels import MEANINGS, SLIP_PLACES, Mode, Signal, signals
from scbench.analysis.failure_modes.prompts import LENGTHS
from scbench.catalog import Task
from scbench.graders.shared.checklist import COMMON_CHECKS
from scbench.schemas.base import json_schema
from scbench.scoring.answers.shape import Shape, shape_of

_ASKS = "**Asks for** "


def card(task: Task) -> str:
    """Return a task's card as Markdown, in eight sections.

    Args:
        task: one that this installation can grade.

    Raises:
        CatalogError: the task's schema or grader is not installed.
    """
    task_signals = signals(task)
    sections = (
        ("Intent", [_intent(task)]),
        ("Output contract", _contract(task)),
        ("Hard constraints", _constraints(task)),
        ("Verifier signals", _signal_table(task_signals)),
        ("Tie-breaks", _cues(task, shape_of(task.answer_model))),
        ("Judge input", _input()),
        ("Classification request", _request()),
    )
    text = [f"# 1. {task.title} (`{task.id}`)", ""]
    for number, (title, lines) in enumerate(sections, start=2):
        text += [f"## {number}. {title}", "", *lines, ""]
    return "\n".join(text).rstrip("\n") + "\n"


def _intent(task: Task) -> str:
    """Return what the task asks for, by the first paragraph of its text on the dataset card."""
    first = task.card_text.partition("\n\n")[0].replace("\n", " ")
    return f"The model was asked for {first.removeprefix(_ASKS)}"


def _contract(task: Task) -> Iterator[str]:
    shape = shape_of(task.answer_model)
    yield "```json"
    yield json.dumps(json_schema(task.answer_model), ensure_ascii=False, indent=1)
    yield "```"
    yield ""
    if shape.is_short:
        yield (
            "The answer is the last JSON object in the reply with the key `answer`; else what the "
            "last mark points at (`Answer:`, `The answer is`, an `<answer>` tag, `\\boxed{}`), a "
            "fence of one line, or the whole reply if it is one line. Quotes, emphasis and blanks "
            "round it do not matter."
        )
        yield (
            "Expect two answers where one was asked for, words of explanation in the place of the "
            "answer, and replies that end before an answer is marked."
        )
        return
    yield (
        "The answer is the last JSON object in the reply that has every required key, wherever it "
        "stands outside hidden reasoning; small slips in the JSON are repaired."
        + (f" A bare array is put under `{shape.keys[0]}`." if len(shape.keys) == 1 else "")
    )
    yield (
        "Expect a missing or misspelt key, numbers or lists as strings, an expression where a "
        "number belongs, and an answer cut off before its last bracket; none of these is mended. "
        "Keys that were not asked for are ignored."
    )


def _constraints(task: Task) -> Iterator[str]:
    scores = (
        "Every score is 0 or 1: any check below that fails makes it 0."
        if task.scoring == "binary"
        else "Scores lie between 0 and 1; some of the checks below void a score, others only show "
        "what it lacks."
    )
    yield scores
    if task.scores > 1:
        yield (
            f"One answer gets {task.scores} scores, each by some of these checks. Judge the one "
            "that the verdict is about."
        )
    yield ""
    for check, requirement in {**task.checks, **COMMON_CHECKS}.items():
        yield f"- `{check}`: {requirement}"


def _signal_table(task_signals: Iterable[Signal]) -> Iterator[str]:
    yield "| signal | meaning if it fails | likely label |"
    yield "|---|---|---|"
    for signal in task_signals:
        labels = "; ".join(
            f"{mode.value} if {when}" if when else mode.value for mode, when in signal.likely
        )
        meaning = signal.requirement.replace("|", "\\|")
        yield f"| `{signal.check}` | Not so: {meaning} | {labels} |"
    yield ""
    yield "No check fails and the score is low all the same: local_only, as the whole falls short."


def _cues(task: Task, shape: Shape) -> Iterator[str]:
    """Yield a cue for each label."""
    where = " or ".join(f"`{key}`" for key in shape.keys)
    count = len(task.checks)
    defining = sorted(task.defining_checks)
    cues = {
        Mode.EVASION: f"the reply declines, or {where} is missing, empty or a placeholder.",
        Mode.TRIVIALIZED: "the reply gives other keys, or values of another kind"
        + (
            f", or fails {', '.join(defining)}, without which it is another task"
            if defining
            else ""
        )
        + ", or says that it solves something simpler.",
        Mode.NEAR_MISS: f"one of the {count} checks of this task fails, at one or two places, and "
        "a change there would mend it."
        if count > 1
        else "the only check of this task fails, and a small change would mend it.",
        Mode.LOCAL_ONLY: "checks fail together"
        + (", or partial credit shows that less than half is right" * (task.scoring == "partial"))
        + f", or one fails at more than {SLIP_PLACES} places.",
        Mode.OVERTHINKING: "the reply is long, goes on to something else than was asked, or is cut "
        "short by its own length, and what it gives is of no use.",
    }
    for mode, cue in cues.items():
        yield f"- {MEANINGS[mode].title} (`{mode.value}`): {cue}"


def _input() -> Iterator[str]:
    yield "- this card"
    yield "- subtask, score, status, finish reason and length of the reply"
    kinds = {
        "prompt": "the prompt as the model saw it, images replaced by a marker",
        "output": "the raw reply with whatever reasoning it shows, if it was handed over",
        "reasoning": "the reasoning that the predictions hold beside it",
        "answer": "the answer that was found in it",
        "verdict": "the verdict: every check that was made, with what it found",
    }
    for kind, text in kinds.items():
        yield f"- {text} (at most {LENGTHS[kind]:,} characters; a cut is marked)"


def _request() -> Iterator[str]:
    yield (
        "The verdict outranks the answer, the answer outranks the raw reply, and what the reply "
        "says of itself counts least. Choose exactly one label by the decision order."
    )
    yield (
        "Reply with one JSON object and nothing else, with the keys candidate, task, subtask, "
        "failure_mode, confidence, justification and evidence_tags, as the reply schema says."
    )
