r"""Finding the answer in a reply: one rule for every task and model (docs/answers.md).

The last JSON object in the reply counts. The stages, with an example for each at the top of its
module:

1. `scbench.scoring.answers.visible`: the visible text, without reasoning.
2. `scbench.scoring.answers.scan`: the JSON values in it, and
   `scbench.scoring.answers.candidates`: those that may be the answer.
3. Here: the one that counts. Without an object, a value without its key
   (`scbench.scoring.answers.bare`).

For answers such as ``{"path": [2]}``, the last stage finds::

    {"path": [1]} No: {"path": [2]}         {"path": [2]}, which ends last
    {"path": [1]} Final answer: [2]         {"path": [2]}, by a mark with a sign
    {"path": [1]} Final answer: unknown.    nothing
    {"path": [1]} or {"path": [2]}          nothing
    So path = [2]                           {"path": [2]}, as there is no object

The sentences around an object do not matter. Every step is linear in the length of the text.
"""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from scbench.base.model import Prediction
from scbench.scoring.answers.bare import PLAIN_TEXT, BareValues, Readable
from scbench.scoring.answers.candidates import Candidate, Extraction, objects, spans_of
from scbench.scoring.answers.marks import may_have_mark
from scbench.scoring.answers.shape import Shape
from scbench.scoring.answers.visible import shown, visible

__all__ = [
    "PLAIN_TEXT",
    "Extraction",
    "Readable",
    "find_answer",
    "from_field",
    "from_response",
    "visible",
]

# Characters, at most, between two objects with "or" between them.
_FAR = 200
_FORMATTING = r"(?:</?\w+>|```\w*|[\W_])*"
# "or" and nothing else, as in {...} or alternatively: {...}
_EITHER = re.compile(
    rf"{_FORMATTING}\bor\b(?:[\W_]*alternatively)?{_FORMATTING}", re.IGNORECASE
)


def find_answer(
    prediction: Prediction, shape: Shape, readable: Readable | None = None
) -> Extraction | None:
    """Return the answer of a prediction; None if there is none that can be read."""
    if prediction.answer is not None:
        return from_field(prediction.answer, shape)
    return from_response(prediction.response or "", shape, readable)


def from_field(answer: JsonValue, shape: Shape) -> Extraction:
    """Return the answer in a prediction's ``answer`` field, unchanged."""
    if shape.is_short and not isinstance(answer, dict):
        return Extraction({"answer": answer}, "answer", ("wrapped_bare_value",))
    return Extraction(answer, "answer")


def from_response(
    text: str, shape: Shape, readable: Readable | None = None
) -> Extraction | None:
    """Return the answer in a model's text; None if there is none.

    Args:
        text: the whole reply.
        shape: of the task's answers.
        readable: whether the task's grader can read a value without its key; by default, whether
            it is brief.
    """
    visible_text, text_repairs = shown(text)
    extraction = counting_answer(visible_text, shape, readable or is_brief)
    if extraction is None:
        return None
    repairs = dict.fromkeys((*text_repairs, *extraction.repairs))
    return Extraction(extraction.value, extraction.source, tuple(repairs))


def is_brief(value: JsonValue) -> bool:
    """Whether a value has fewer than six words, or is a list."""
    words = str(value)
    return len(words.split()) < 6 or words.count(",") > 1


def counting_answer(text: str, shape: Shape, readable: Readable) -> Extraction | None:
    """Return the answer that counts in a visible text."""
    spans = spans_of(text, shape)
    bare_values = BareValues(text, spans, shape, readable)
    candidates = objects(text, spans, shape)
    last = next(candidates, None)
    if last is None:
        bare = bare_values.last()
        return bare.extraction if bare else None
    if may_have_mark(text, last.end):
        marked = bare_values.last_marked(last.end, needs_sign=True)
        if marked:
            return marked.extraction
    if is_either(text, candidates, last):
        return None
    return last.extraction


def is_either(text: str, candidates: Iterator[Candidate], last: Candidate) -> bool:
    """Whether the last two candidates differ, with nothing but "or" between them.

    Args:
        text: the visible text.
        candidates: those before the last one, the nearest first.
        last: the last one.
    """
    # Saves reading the candidates before in most replies.
    if "or" not in text[max(0, last.start - _FAR) : last.start].lower():
        return False
    for candidate in candidates:
        # An object inside the last one is not a second candidate.
        if candidate.end <= last.start:
            between = text[candidate.end : last.start]
            is_or = len(between) <= _FAR and _EITHER.fullmatch(between) is not None
            return is_or and differ(candidate, last)
    return False


def differ(first: Candidate, second: Candidate) -> bool:
    """Whether two candidates have different answers."""
    if first.extraction is None or second.extraction is None:
        return False
    return first.extraction.value != second.extraction.value
