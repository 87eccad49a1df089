r"""Finding the answer in a reply: one rule for every task and model (docs/answers.md).

The last JSON object in the reply counts. Three stages: what is visible
(`scbench.scoring.answers.visible`), which values in it may be the answer
(`scbench.scoring.answers.candidates`, `scbench.scoring.answers.marks`), and, here, which counts.
Prose is not weighed. Every step is linear in the length of the text.
"""

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace

from pydantic import JsonValue

from scbench.base.model import Prediction
from scbench.graders.shared.short_answers import HEDGES
from scbench.scoring.answers.candidates import (
    Candidate,
    Extraction,
    bare_value,
    by_end,
    cut_at,
    objects,
    place_of,
    scan_for,
)
from scbench.scoring.answers.marks import Words, fenced, marked, marks_in, unmarked
from scbench.scoring.answers.scan import Scan, Span, folded, parsed
from scbench.scoring.answers.shape import Shape
from scbench.scoring.answers.visible import visible

__all__ = ["PLAIN_TEXT", "Extraction", "find_answer", "from_field", "from_response", "visible"]

PLAIN_TEXT = "plain_text"
"""The repair of an answer in words: it was found by a mark or by its place."""
Readable = Callable[[JsonValue], bool]
"""Whether a value can be read as what the task asks for."""
_MARKS = 50
_INVISIBLE = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_ENTITIES = re.compile(r"[{,\[]\s{0,100}&(?:quot|apos|ldquo|#0{0,3}3[49]|#x2[27]);")
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
    text = visible(response)
    dropped = ("dropped_reasoning",) if len(text) < len(response) else ()
    found = _Reader(text, shape, readable).answer()
    return found and replace(found, repairs=tuple(dict.fromkeys((*dropped, *found.repairs))))


def _typed(value: JsonValue) -> bool:
    """Whether words can be an answer, as far as that is seen without the instance."""
    is_word = isinstance(value, str) and "\n" not in value and value.count(",") < 2
    return not is_word or len(str(value).split()) <= _MAX_WORDS


def _held(answer: JsonValue) -> JsonValue:
    return answer["answer"] if isinstance(answer, dict) else None


class _Reader:
    """One visible text, and what in it may be the answer."""

    def __init__(self, text: str, shape: Shape, readable: Readable | None) -> None:
        self.repairs: tuple[str, ...] = ()
        self.text = self._plain(text)
        self.shape = shape
        self.readable = readable or _typed
        self.scanned: Scan = scan_for(self.text, shape)
        self.marks = marks_in(self.text)[-_MARKS:]
        self.outer = [*self.scanned.outermost]

    def _plain(self, text: str) -> str:
        """Return a text without quotes round all of it or its last fence, and without entities."""
        blocks = fenced(text)[-1:]
        start, part = (0, text) if text.lstrip().startswith('"') else (blocks or [(0, "")])[0]
        inside = parsed(part.strip()) if part.lstrip().startswith('"') else None
        if isinstance(inside, str):
            self.repairs += ("unwrapped_string",) if not start else ()
            text = f"{text[:start]}{inside}{text[start + len(part) :]}"
        if "&" in text and _ENTITIES.search(text):
            self.repairs += ("html_entities",)
            text = html.unescape(text)
        if not text.isascii() and _INVISIBLE.search(text):
            self.repairs += ("special_blanks",)
            text = _INVISIBLE.sub("", text)
        return text

    def answer(self) -> Extraction | None:
        """Return the answer; None if there is none."""
        found = (one for one in objects(self.text, self.scanned, self.shape) if self._is_meant(one))
        last = next(found, None)
        if last is None:
            best = max(self._bare(), key=lambda one: one.end, default=None)
        else:
            best = self._last_marked(last.end, signed=True) or last
            before = next((one for one in found if one.end <= last.start), None)
            if best is last and before is not None and self._is_either(before, last):
                return None
        if best is None or cut_at(self.text, self.scanned, self.shape) >= best.end:
            return None
        found_answer = best.extraction
        return found_answer and replace(
            found_answer, repairs=(*self.repairs, *found_answer.repairs)
        )

    def _is_meant(self, one: Candidate) -> bool:
        """Whether an object is no piece of code: ``{"answer": result}``."""
        if one.extraction is None or "unquoted_value" not in one.extraction.repairs:
            return True
        return self.readable(_held(one.extraction.value))

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
        if len(self.shape.keys) != 1 or self._is_inside(mark.start()):
            return None
        at = bisect_left(self.outer, mark.end(), key=lambda span: span.start)
        span = self.outer[at] if at < len(self.outer) else None
        if span and not (mark["equals"] and span.end - span.start <= 2):  # a program begins so
            gap = self.text[mark.end() : min(span.start, mark.end() + _FAR)]
            near = span.start <= mark.end() + _FAR
            if near and _DIRECT.fullmatch(gap) and (one := self._of(span, "marked")):
                return one
        for words in marked(mark, is_list=self.shape.is_list):
            # "The answer is valid: the counts are 3, 4 and 5" is a sentence.
            is_value = sign or not self.shape.is_list or ":" not in words.value
            if is_value and (one := self._of_words(words)):
                return one
        return None

    def _of_words(self, words: Words) -> Candidate | None:
        key = self.shape.keys[0]
        hedged = HEDGES.match(words.value)
        if self.shape.is_short and not hedged and self.readable(words.value):
            extraction = Extraction({key: words.value}, words.source, (PLAIN_TEXT,))
            return Candidate(extraction, words.start, words.end)
        return Candidate(None, words.start, words.end) if words.is_none else None

    def _of(self, span: Span, source: str, *repairs: str) -> Candidate | None:
        value = span.parse()
        bare = None if value is None else bare_value(value, self.shape)
        if bare is None or (self.shape.is_short and not self.readable(_held(bare[0]))):
            return None
        extraction = Extraction(bare[0], source, (*span.repairs, *(repairs or bare[1])))
        return Candidate(extraction, span.start, span.end)

    def _is_inside(self, place: int) -> bool:
        """Whether a place lies in an object or array."""
        at = bisect_right(self.outer, place, key=lambda span: span.start) - 1
        return at >= 0 and place < self.outer[at].end

    def _bare(self) -> Iterator[Candidate]:
        """Yield values without their key: behind marks, alone on their lines, assigned."""
        if len(self.shape.keys) != 1:
            return
        if one := self._last_marked():
            yield one
        for span in by_end(self.scanned):
            source, *repairs = self._place(span)
            if source and (one := self._of(span, source, *repairs)):
                yield one
                break
        if self.shape.is_short:
            for words in unmarked(self.text, is_list=self.shape.is_list):
                one = self._of_words(words)
                if one is not None and not (self.marks and words.source == "whole"):
                    yield one
        elif self.shape.bare_text is not None:
            yield from self._texts(self.shape.bare_text)

    def _place(self, span: Span) -> tuple[str, ...]:
        """Name the place of a value without its key, and its repair; blank if it has none."""
        text = self.text
        if span.opening == "[" and text.endswith("\\", 0, span.start):
            return ("",)  # a formula
        name = _ASSIGNED.search(text[max(0, span.start - 100) : span.start])
        if name and folded(name[1]) == folded(self.shape.keys[0]):
            empty = span.end - span.start <= 2
            return ("",) if empty else (place_of(text, span.start, span.end), "assignment")
        begin = text.rfind("\n", 0, span.start) + 1
        end = text.find("\n", span.end)
        before, after = text[begin : span.start], text[span.end : end if end >= 0 else None]
        alone = re.fullmatch(r"[ \t>_`$]*\**", before) and not after.strip(" \t\r*_`$.")
        return (place_of(text, span.start, span.end) if alone else "",)

    def _texts(self, pattern: re.Pattern[str]) -> Iterator[Candidate]:
        """Yield text that is the value of the only key, without any JSON."""
        blocks = fenced(self.text)
        places = [(start, block, "fence") for start, block in blocks[-1:]]
        places = places or [(0, self.text, "whole")]
        for mark, _ in self.marks[-1:]:
            rest = re.split(r"</|\n\s*\n", self.text[mark.end() :].lstrip(), maxsplit=1)[0]
            places.append((mark.end(), rest, "marked"))
        for start, content, source in places:
            bare = content.strip("\n").rstrip()
            if pattern.fullmatch(bare.strip()):
                extraction = Extraction({self.shape.keys[0]: bare}, source, ("wrapped_bare_value",))
                yield Candidate(extraction, start, start + len(content))
