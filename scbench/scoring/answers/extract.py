r"""Finding the answer in a reply: one rule for every task and model (docs/answers.md).

The last JSON object in the reply counts. Three stages: what is visible
(`scbench.scoring.answers.visible`), which values in it may be the answer
(`scbench.scoring.answers.candidates`, `scbench.scoring.answers.marks`), and, here, which counts.
Prose is not weighed. Every step is linear in the length of the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace

from pydantic import JsonValue

from scbench.base.model import Prediction
from scbench.graders.shared.short_answers import HEDGES, tidy
from scbench.scoring.answers.candidates import (
    Candidate,
    Extraction,
    bare_value,
    objects,
    place_of,
    spans_of,
)
from scbench.scoring.answers.marks import NONE, Words, marked, marks_in, unmarked
from scbench.scoring.answers.scan import Span, folded
from scbench.scoring.answers.shape import Shape
from scbench.scoring.answers.visible import shown, visible

__all__ = ["PLAIN_TEXT", "Extraction", "find_answer", "from_field", "from_response", "visible"]

PLAIN_TEXT = "plain_text"
"""The repair of an answer in words: it was found by a mark or by its place."""
Readable = Callable[[JsonValue], bool]
"""Whether a value can be read as what the task asks for."""
_MARKS = 50
_EITHER = re.compile(
    r"(?:</?\w+>|```\w*|[\W_])*\bor\b(?:[\W_]*alternatively)?(?:</?\w+>|```\w*|[\W_])*",
    re.IGNORECASE,
)
_FAR = 200
_MAX_WORDS = 5
_DIRECT = re.compile(r"(?:[\s*_`$>~\\(]|```\w*\s|</?\w+>)*(?:\w+\s*[=:]\s*)?")
_ASSIGNED = re.compile(r"(\w+)[*`'\"]{0,4}\s{0,9}(?P<sign>[=:])[\s*`]{0,9}\Z")


def find_answer(
    prediction: Prediction, shape: Shape, readable: Readable | None = None
) -> Extraction | None:
    """Return the answer of a prediction; None if there is none that can be read."""
    if prediction.answer is not None:
        return from_field(prediction.answer, shape)
    return from_response(prediction.response or "", shape, readable)


def from_field(answer: JsonValue, shape: Shape) -> Extraction:
    """Return the answer given in a prediction's ``answer`` field, as it stands."""
    if shape.is_short and not isinstance(answer, dict):
        return Extraction({"answer": answer}, "answer", ("wrapped_bare_value",))
    return Extraction(answer, "answer")


def from_response(
    response: str, shape: Shape, readable: Readable | None = None
) -> Extraction | None:
    """Return the answer in a model's text; None if there is none.

    Args:
        response: the text.
        shape: of the task's answers.
        readable: for answers in words, what the task's grader says of one; by default only their
            types are asked.
    """
    text, repairs = shown(response)
    found = _Reader(text, shape, readable or _typed).answer()
    return found and replace(found, repairs=tuple(dict.fromkeys((*repairs, *found.repairs))))


def _typed(value: JsonValue) -> bool:
    """Whether words can be an answer, as far as that is seen without the instance."""
    is_word = isinstance(value, str) and "\n" not in value and value.count(",") < 2
    return not is_word or len(str(value).split()) <= _MAX_WORDS


class _Reader:
    """One visible text, and what in it may be the answer."""

    def __init__(self, text: str, shape: Shape, readable: Readable) -> None:
        self.text, self.shape, self.readable = text, shape, readable
        self.key = shape.keys[0] if len(shape.keys) == 1 else ""
        self.spans = spans_of(text, shape)
        self.outer = [span for span in self.spans if span.is_outer]
        marks = marks_in(text)[-_MARKS:] if self.key else []
        self.marks = [(mark, sign) for mark, sign in marks if not self._is_inside(mark.start())]

    def _is_inside(self, place: int) -> bool:
        """Whether a place lies in an object or array."""
        at = bisect_right(self.outer, place, key=lambda span: span.start) - 1
        return at >= 0 and place < self.outer[at].end

    def answer(self) -> Extraction | None:
        """Return the answer; None if there is none."""
        candidates = objects(self.text, self.spans, self.shape)
        last = next(candidates, None)
        if last is None:
            best = max(self._bare(), key=lambda one: one.end, default=None)
        else:
            best = self._last_marked(last.end, signed=True) or last
            before = next((one for one in candidates if one.end <= last.start), None)
            if best is last and before is not None and self._is_either(before, last):
                return None
        return best.extraction if best else None

    def _is_either(self, first: Candidate, second: Candidate) -> bool:
        """Whether two candidates that differ have nothing but "or" between them."""
        between = self.text[first.end : second.start]
        one, other = first.extraction, second.extraction
        differ = one is not None and other is not None and one.value != other.value
        return differ and len(between) <= _FAR and _EITHER.fullmatch(between) is not None

    def _last_marked(self, after: int = 0, *, signed: bool = False) -> Candidate | None:
        """Return what the last mark behind a place says that says anything."""
        for mark, sign in reversed(self.marks):
            if mark.start() < after:
                break
            if (sign or not signed) and (one := self._marked(mark, sign=sign)):
                return one
        return None

    def _marked(self, mark: re.Match[str], *, sign: bool) -> Candidate | None:
        """Return the value behind a mark, or that there is none; None if it is neither."""
        at = bisect_left(self.outer, mark.end(), key=lambda span: span.start)
        for span in self.outer[at : at + 1]:
            near = span.start <= mark.end() + _FAR
            is_direct = near and _DIRECT.fullmatch(self.text[mark.end() : span.start])
            if is_direct and (one := self._of(span, "marked")):
                return one
        for words in marked(mark, self.shape):
            # "The answer is valid: the counts are 3, 4 and 5" is a sentence.
            is_value = sign or not self.shape.is_list or ":" not in words.content
            if is_value and (one := self._of_words(words)):
                return one
        return None

    def _of_words(self, words: Words) -> Candidate | None:
        value, extraction = tidy(words.content.strip()), None
        if self.shape.bare_text and self.shape.bare_text.fullmatch(words.content.strip()):
            bare = words.content.strip("\n").rstrip()
            extraction = Extraction({self.key: bare}, words.source, ("wrapped_bare_value",))
        elif self.shape.is_short and value and not HEDGES.match(value) and self.readable(value):
            extraction = Extraction({self.key: value}, words.source, (PLAIN_TEXT,))
        is_none = words.source == "marked" and NONE.match(value) is not None
        return Candidate(extraction, *words[2:]) if extraction or is_none else None

    def _of(self, span: Span, source: str, *repairs: str) -> Candidate | None:
        value = span.parse()
        bare = None if value is None else bare_value(value, self.shape)
        if bare is None or (self.shape.is_short and not self.readable(bare[0][self.key])):
            return None
        extraction = Extraction(bare[0], source, (*span.repairs, *(repairs or bare[1])))
        return Candidate(extraction, span.start, span.end)

    def _bare(self) -> Iterator[Candidate]:
        """Yield values without their key: behind marks, alone on their lines, assigned."""
        if not self.key:
            return
        if one := self._last_marked():
            yield one
        for span in reversed(self.spans):
            source, *repairs = self._place(span)
            if source and (one := self._of(span, source, *repairs)):
                yield one
                break
        for words in unmarked(self.text, self.shape):
            if not (self.marks and words.source == "whole") and (one := self._of_words(words)):
                yield one

    def _place(self, span: Span) -> tuple[str, ...]:
        """Name the place of a value without its key, and its repair; blank if it has none."""
        text = self.text
        if text.endswith("\\", 0, span.start):
            return ("",)  # a formula
        name = _ASSIGNED.search(text[max(0, span.start - 100) : span.start])
        if name and folded(name[1]) == folded(self.key):
            return place_of(text, span.start, span.end), "assignment"
        begin = text.rfind("\n", 0, span.start) + 1
        end = text.find("\n", span.end)
        before, after = text[begin : span.start], text[span.end : end if end >= 0 else None]
        alone = re.fullmatch(r"[ \t_`$]*\**", before) and not after.strip(" \t\r*_`$.")
        return (place_of(text, span.start, span.end) if alone else "",)
