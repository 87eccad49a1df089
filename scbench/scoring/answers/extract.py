r"""Answer extraction, by the same rules for every task and model (docs/answers.md).

The last JSON object in the reply counts. There are three stages. Each module starts with an
example:

1. `scbench.scoring.answers.visible`: the visible text, without reasoning.
2. `scbench.scoring.answers.scan`: the JSON values in it, and
   `scbench.scoring.answers.candidates`: those that may be the answer.
3. This module: the candidate that counts. If there is no object, it is a bare value,
   that is, one without its key (`scbench.scoring.answers.bare`).

For answers such as ``{"path": [2]}``, the last stage finds::

    {"path": [1]} No: {"path": [2]}         {"path": [2]}, which ends last
    {"path": [2]} {"path": [                {"path": [2]}, as the end only repeats it
    {"path": [1]} Final answer: [2]         {"path": [2]}, as the colon marks a later answer
    {"path": [1]} Final answer: unknown.    nothing, as the marked answer cannot be read
    {"path": [1]} or {"path": [2]}          nothing, as the reply does not decide
    So path = [2]                           {"path": [2]}, as there is no object

The sentences around an object do not matter. Every step is linear in the length of the text.
"""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from scbench.base.finish_reasons import finish_status
from scbench.base.model import Prediction, Status
from scbench.scoring.answers.bare import BareValues, Readable
from scbench.scoring.answers.candidates import Candidate, Extraction, objects, spans_of
from scbench.scoring.answers.marks import may_have_mark
from scbench.scoring.answers.scan import Span
from scbench.scoring.answers.shape import Shape
from scbench.scoring.answers.visible import visible_with_repairs

# Statuses of finish reasons that mean the reply was cut off.
_CUT = {Status.TRUNCATED, Status.BLOCKED, Status.API_ERROR}
# Objects with more characters between them are not alternatives.
_MOST_BETWEEN = 200
# HTML tags, code fences with their language, and any character that is not a letter or digit. Only
# one of the three can match at any character, so the pattern does not backtrack.
_FORMATTING = r"(?:</?\w+>|(?<!`)`{3}\w*|(?!</?\w+>|(?<!`)`{3})[\W_])*"
# Only formatting around "or", as in {...} or alternatively: {...}
_ONLY_OR = re.compile(
    rf"{_FORMATTING}\bor\b(?:[\W_]*alternatively)?{_FORMATTING}", re.IGNORECASE
)


def find_answer(
    prediction: Prediction, shape: Shape, readable: Readable | None = None
) -> Extraction | None:
    """Return the answer of a prediction; None if there is no readable one."""
    if prediction.answer is not None:
        return from_field(prediction.answer, shape)
    is_cut = finish_status(prediction.finish_reason) in _CUT
    return from_response(prediction.response or "", shape, readable, is_cut=is_cut)


def from_field(answer: JsonValue, shape: Shape) -> Extraction:
    """Return the answer in a prediction's ``answer`` field, unchanged."""
    if shape.is_short and not isinstance(answer, dict):
        return Extraction({"answer": answer}, "answer", ("wrapped_bare_value",))
    return Extraction(answer, "answer")


def from_response(
    text: str,
    shape: Shape,
    readable: Readable | None = None,
    *,
    is_cut: bool = False,
) -> Extraction | None:
    """Return the answer in a model's text; None if there is none.

    Args:
        text: the whole reply.
        shape: shape of the task's answers.
        readable: returns whether the task's grader can read a bare value; by default
            `is_brief`.
        is_cut: whether the reply was cut off by a limit or a filter.
    """
    visible_text, text_repairs = visible_with_repairs(text)
    spans = spans_of(visible_text, shape)
    bare_values = BareValues(
        visible_text, spans, shape, readable or is_brief, is_cut=is_cut
    )
    extraction = answer_that_counts(visible_text, spans, shape, bare_values)
    if extraction is None:
        return None
    repairs = dict.fromkeys((*text_repairs, *extraction.repairs))
    return Extraction(extraction.value, extraction.source, tuple(repairs))


def is_brief(value: JsonValue) -> bool:
    """Whether a value has fewer than six words, or at least two commas, as a list has."""
    text = str(value)
    return len(text.split()) < 6 or text.count(",") > 1


def answer_that_counts(
    text: str, spans: list[Span], shape: Shape, bare_values: BareValues
) -> Extraction | None:
    """Return the answer that counts in the visible text of a reply; None if there is none.

    Args:
        text: the visible text.
        spans: the JSON values in it.
        shape: shape of the task's answers.
        bare_values: the bare values in it.
    """
    # Yields from the end of the text backwards.
    candidates = objects(text, spans, shape)
    last = next(candidates, None)
    if last and last.extraction is None:
        last = repeated_at_end(text, spans, candidates) or last
    if last is None:
        bare = bare_values.last()
        return bare.extraction if bare else None
    if may_have_mark(text, last.end):
        # After an object, words such as "the answer is" are mostly prose. Only a mark
        # with a sign ("Final answer:", "path =", a box, a tag) overrides the object.
        marked = bare_values.last_marked(last.end, needs_sign=True)
        if marked:
            # None if the marked value cannot be read: the mark still excludes the
            # object.
            return marked.extraction
    if offers_two_answers(text, last, candidates):
        return None
    return last.extraction


def repeated_at_end(
    text: str, spans: list[Span], earlier: Iterator[Candidate]
) -> Candidate | None:
    """Return the last complete candidate if the text ends while repeating it; else None.

    Args:
        text: the visible text.
        spans: the JSON values in it.
        earlier: the candidates before the last one, the nearest first.
    """
    starts = [span.start for span in spans if span.state == "cut"]
    if not starts:
        return None
    # All of them are nested, because the text ends inside each.
    tail_start = min(starts)
    tail = without_blanks(text[tail_start:])
    for candidate in earlier:
        if candidate.end > tail_start:
            continue
        # The nearest one before the tail decides.
        is_repeated = without_blanks(text[candidate.start : candidate.end]).startswith(
            tail
        )
        return candidate if candidate.extraction and is_repeated else None
    return None


def without_blanks(text: str) -> str:
    """Return text without whitespace."""
    return "".join(text.split())


def offers_two_answers(
    text: str, last: Candidate, earlier: Iterator[Candidate]
) -> bool:
    """Whether the last two candidates differ, with nothing but "or" between them.

    Args:
        text: the visible text.
        last: the last candidate.
        earlier: the candidates before it, the nearest first.
    """
    # Most replies have no "or" here, and their earlier candidates need not be parsed.
    text_before = text[max(0, last.start - _MOST_BETWEEN) : last.start]
    if "or" not in text_before.lower():
        return False
    for candidate in earlier:
        if candidate.end > last.start:
            # An object inside the last one is not a second answer.
            continue
        # The nearest one outside decides.
        between = text[candidate.end : last.start]
        if len(between) > _MOST_BETWEEN or not _ONLY_OR.fullmatch(between):
            return False
        return differ(candidate, last)
    return False


def differ(first: Candidate, second: Candidate) -> bool:
    """Whether two candidates have different answers."""
    # An object that states that there is no answer is not an alternative.
    if first.extraction is None or second.extraction is None:
        return False
    return first.extraction.value != second.extraction.value
