r"""Stage 3a: values without their key, for replies without a JSON object.

For answers such as ``{"path": [2]}``, the value ``[2]`` counts in three places: after a mark
(``Final answer: [2]``), assigned to the key (``path = [2]``) or alone on its lines, and as the
whole reply or in its last fence. Words count in the same places if the task's grader can read them.

A value after a mark does not count if its sentence is conditional ("If so, the answer is 7") or
offers another value ("**7** or **8**"), if it is struck through (``~~7~~``), or if the next
sentence takes it back ("Wait, no"). The whole text of a truncated reply does not count as a value.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property

from pydantic import JsonValue

from scbench.graders.shared.answer_text import HEDGES, MAX_LENGTH, tidy
from scbench.scoring.answers.candidates import (
    Candidate,
    Extraction,
    bare_value,
    place_of,
)
from scbench.scoring.answers.marks import has_sign, is_frame, marks_in, pointed_at
from scbench.scoring.answers.scan import Span, fold_key
from scbench.scoring.answers.shape import Shape
from scbench.scoring.answers.visible import WORDS

Readable = Callable[[JsonValue], bool]

# The repair for an answer in words, which a mark or its place identifies as the answer.
PLAIN_TEXT = "plain_text"
# Maximum number of characters between a mark and its value.
_FAR = 200
# Maximum number of characters of a line that is an answer without a mark.
_LINE_LENGTH = 300
# Number of characters before a value that are searched for its key.
_ASSIGNMENT_LENGTH = 100

# What may come between a mark and its value: formatting, a fence, a tag, or a name (path = ).
_DIRECT = re.compile(r"(?:[\s*_`$>~\\(]|```\w*\s|</?\w+>)*(?:\w+\s*[=:]\s*)?")
# "no solution", "unknown", "N/A" and the like, up to the end or a reason.
_NONE = re.compile(
    rf"(?:{'|'.join(WORDS['none']['words'])})"
    r"(?=\Z|[.!,;(\n]|\s(?:because|since|as|for)\b|\s[-\u2013\u2014])",
    re.IGNORECASE,
)
# A name and the sign after it, up to the value.
_ASSIGNED = re.compile(r"(\w+)[*`'\"]{0,4}\s{0,9}[=:][\s*`]{0,9}\Z")
_LINE_BEGINS = re.compile(r"(?<![^\n])[ \t_`$*]{0,20}\Z")
_LINE_ENDS = re.compile(r"[ \t\r*_`$.]*+(?:\n|\Z)")
# Text that is struck through.
_STRUCK = re.compile(
    r"~~[^~\n]{1,500}~~|<(s|del|strike)>[^<\n]{0,500}</\1>", re.IGNORECASE
)
# A condition in the sentence before a mark: "If it rains, the answer is", "Had he come, ...".
_CONDITION = re.compile(
    r"""
    (?: \A | [,;:] | \b(?:but|and|then|only|even) ) \W* (?:if|unless)\b
    | \A\W* (?:had|were|suppose|supposing|assuming|otherwise)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# The end of a sentence.
_SENTENCE_END = re.compile(r"[.!?](?=[\s*_`\"')])|[\u3002\uff01\uff1f\n]")
# The beginning of a sentence that takes back the one before it.
_WITHDRAWAL = re.compile(
    r"""
    \W* (?:(?:oh|hmm+|ah|but|well|and)\b\W*)*
    (?: wait \W+ (?:no|that|this|i)\b
      | no [,.!] | scratch\ that | never\ ?mind | oops | correction
      | (?:actually|on\ second\ thoughts?) ,?\ (?:no|that|i)\b
      | (?:that|this) (?:['\u2019]s|\ is|\ was)\ (?:wrong|incorrect|not\ right|a\ mistake)
      | i\ (?:was|am)\ (?:wrong|mistaken) | i\ made\ a\ mistake
      | i\ (?:give\ up|retract|take\ (?:that|it)\ back) )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Code that prints text is not the text.
_PRINTS = re.compile(r"\bprint\s{0,5}\(")
# The beginning of an object: stage 2 has read it, or it cannot be read.
_OBJECT = re.compile(r"""\{\s*(?:["']|[^\W\d]\w*\s*:)""")
_PARAGRAPH_END = re.compile(r"\n[ \t\r]{0,20}\n")
# A line of backticks or tildes and maybe a language, then the content (second group). It is closed
# by a line with only the same number of them, by the next fence with a language, or by the end of
# the text.
_FENCE = re.compile(
    r"""
    ^[ \t]* (`{3,}|~{3,}) [^`~\n]* \n
    (.*?)
    (?: ^[ \t]* (?: \1[`~]*[ \t\r]*$ | (?=\1\w) ) | \Z )
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)


class BareValues:
    """The bare values in the visible text of a reply.

    Args:
        text: the visible text.
        spans: the JSON values in it.
        shape: shape of the answer.
        readable: whether the task's grader can read a value.
        is_cut: whether the reply was cut off by a limit or a filter.
    """

    def __init__(
        self,
        text: str,
        spans: list[Span],
        shape: Shape,
        readable: Readable,
        *,
        is_cut: bool,
    ) -> None:
        self.is_cut = is_cut
        self._full_text = text
        self._all_spans = spans
        self.shape = shape
        self.readable = readable
        # Only a single key can be left out.
        self.key = shape.keys[0] if len(shape.keys) == 1 else ""

    # The properties are computed when they are needed: in most replies an object decides.

    @cached_property
    def text(self) -> str:
        """The visible text, with spaces instead of struck-through text."""
        return _STRUCK.sub(lambda struck: " " * len(struck.group()), self._full_text)

    @cached_property
    def spans(self) -> list[Span]:
        """The JSON values that are not struck through."""
        return [span for span in self._all_spans if self.text[span.start] != " "]

    @cached_property
    def outer(self) -> list[Span]:
        """The spans that are not inside another span."""
        return [span for span in self.spans if not span.first]

    @cached_property
    def marks(self) -> list[re.Match[str]]:
        """The last marks, except those inside values."""
        if not self.key:
            return []
        marks = marks_in(self.text)
        return [mark for mark in marks if not self.is_in_value(mark.start())]

    def is_in_value(self, at: int) -> bool:
        """Whether a position is inside a JSON value."""
        return any(span.start <= at < span.end for span in self.outer)

    def last(self) -> Candidate | None:
        """Return the value that ends last; None if there is none."""
        if not self.key:
            return None
        values = (self.last_marked(), self.last_placed(), self.unmarked())
        candidates = [value for value in values if value]
        return max(candidates, key=lambda candidate: candidate.end, default=None)

    def last_marked(self, at: int = 0, *, needs_sign: bool = False) -> Candidate | None:
        """Return the value of the last mark that has one, or a candidate without an answer.

        Args:
            at: position from which marks count.
            needs_sign: whether marks without a sign do not count.
        """
        for mark in reversed(self.marks):
            if mark.start() < at or (needs_sign and not has_sign(mark)):
                continue
            if self.is_conditional(mark):
                continue
            candidate = self.behind(mark)
            if candidate is None:
                continue
            if self.is_withdrawn(mark):
                return Candidate(None, candidate.start, candidate.end)
            return candidate
        return None

    def is_conditional(self, mark: re.Match[str]) -> bool:
        """Whether the sentence with a mark begins with a condition."""
        text_before = self.text[max(0, mark.start() - _FAR) : mark.start()]
        sentence_begin = _SENTENCE_END.split(text_before)[-1]
        return _CONDITION.search(sentence_begin) is not None

    def is_withdrawn(self, mark: re.Match[str]) -> bool:
        """Whether the sentence after the one with a mark takes it back."""
        # The value may be on the line below the mark.
        after = self.text[mark.end() : mark.end() + MAX_LENGTH].lstrip()
        end = _SENTENCE_END.search(after)
        return end is not None and _WITHDRAWAL.match(after, end.end()) is not None

    def behind(self, mark: re.Match[str]) -> Candidate | None:
        """Return the value after a mark, or a candidate without an answer; None if neither."""
        marked_span = self.span_behind(mark.end())
        if marked_span:
            candidate = self.from_span(marked_span, "marked")
            if candidate:
                return candidate
        is_list = self.shape.is_list
        may_be_long = is_list or self.shape.bare_text is not None
        for content in pointed_at(mark, is_list=may_be_long):
            # "The answer is valid: the counts are 3, 4 and 5" is a sentence.
            is_sentence = is_list and not has_sign(mark) and ":" in content
            is_too_long = len(content) > MAX_LENGTH
            if is_sentence or is_too_long or _OBJECT.search(content):
                continue
            start = max(mark.string.find(content, mark.end()), mark.end())
            end = start + len(content)
            candidate = self.from_words(content, "marked", mark.start(), end)
            if candidate:
                return candidate
            if _NONE.match(tidy(content.strip())):
                return Candidate(None, mark.start(), end)
        return None

    def span_behind(self, at: int) -> Span | None:
        """Return the value with nothing but formatting between it and a position."""
        number = bisect_left(self.outer, at, key=lambda span: span.start)
        if number == len(self.outer):
            return None
        span = self.outer[number]
        is_near = span.start <= at + _FAR
        if is_near and _DIRECT.fullmatch(self.text[at : span.start]):
            return span
        return None

    def last_placed(self) -> Candidate | None:
        """Return the last value that is assigned to the key, or alone on its lines."""
        for span in reversed(self.spans):
            repair = None
            if self.is_assigned(span):
                repair = "assignment"
            elif not self.is_alone(span):
                continue
            place = place_of(self.text, span.start, span.end)
            candidate = self.from_span(span, place, repair)
            if candidate:
                return candidate
        return None

    def is_assigned(self, span: Span) -> bool:
        """Whether the key and an equals sign or a colon precede a value."""
        start = max(0, span.start - _ASSIGNMENT_LENGTH)
        name = _ASSIGNED.search(self.text[start : span.start])
        return name is not None and fold_key(name[1]) == fold_key(self.key)

    def is_alone(self, span: Span) -> bool:
        """Whether nothing but formatting is before and after a value on its lines."""
        start = max(0, span.start - _ASSIGNMENT_LENGTH)
        if not _LINE_BEGINS.search(self.text[start : span.start]):
            return False
        return _LINE_ENDS.match(self.text, span.end) is not None

    def unmarked(self) -> Candidate | None:
        """Return the words of the last fence, else of the whole text or its last paragraph."""
        text = self.text
        fences = [fence for fence in _FENCE.finditer(text) if fence[2].strip()]
        bare_text = self.shape.bare_text
        if fences:
            fence = fences[-1]
            if self.is_cut and fence.end() == len(text) and not is_closed(fence):
                return None
            start, end = fence.span(2)
            content = text[start:end]
            if not bare_text:
                content = answer_lines(content, self.shape)
            return self.from_words(content, "fence", start, end)
        if self.marks or self.is_cut:
            return None
        if bare_text:
            return self.from_words(text, "whole", 0, len(text))
        *earlier, last = _PARAGRAPH_END.split(text.strip())
        content = answer_lines(last, self.shape)
        if earlier:
            paragraph_before = earlier[-1]
            # A word at the end of prose is an answer; one at the end of a list of words need not
            # be.
            is_word = len(content.split()) == 1
            is_last_word = is_word and len(paragraph_before.split()) > 2
            is_introduced = self.shape.is_list and paragraph_before.endswith(":")
            if not is_last_word and not is_introduced:
                return None
        return self.from_words(content, "whole", 0, len(text))

    def from_words(
        self, content: str, source: str, start: int, end: int
    ) -> Candidate | None:
        """Return words as the value, if the shape or the grader accepts them."""
        stripped = content.strip()
        pattern = self.shape.bare_text
        if pattern and _PRINTS.search(stripped):
            return None
        if pattern and pattern.fullmatch(stripped):
            # The first line keeps its indentation.
            value = content.strip("\n").rstrip()
            repair = "wrapped_bare_value"
        else:
            value = tidy(stripped)
            repair = PLAIN_TEXT
            if not self.shape.is_short or not value or HEDGES.match(value):
                return None
            if not self.readable(value):
                return None
        extraction = Extraction({self.key: value}, source, (repair,))
        return Candidate(extraction, start, end)

    def from_span(
        self, span: Span, source: str, repair: str | None = None
    ) -> Candidate | None:
        """Return a JSON value as the value; the repair replaces that of `bare_value`."""
        value = span.parse()
        if value is None:
            return None
        fitted = bare_value(value, self.shape)
        if fitted is None:
            return None
        if self.shape.is_short and not self.readable(fitted.answer[self.key]):
            return None
        repairs = (repair,) if repair else fitted.repairs
        extraction = Extraction(fitted.answer, source, span.repairs + repairs)
        return Candidate(extraction, span.start, span.end)


def is_closed(fence: re.Match[str]) -> bool:
    """Whether a match of `_FENCE` at the end of a text includes its closing line."""
    return fence.string[fence.end(2) : fence.end()].strip() != ""


def answer_lines(text: str, shape: Shape) -> str:
    """Return a text that is one line, or the lines of a list; empty for any other text."""
    if len(text) > 2 * MAX_LENGTH or _OBJECT.search(text):
        return ""
    lines = [tidy(line) for line in text.split("\n") if not is_frame(line)]
    max_length = MAX_LENGTH if shape.is_list else _LINE_LENGTH
    if len(lines) == 1 and len(lines[0]) <= max_length:
        return lines[0]
    if not shape.is_list:
        return ""
    for line in lines:
        if len(line) > _LINE_LENGTH or len(line.split()) > 3:
            return ""
    return "\n".join(lines)
