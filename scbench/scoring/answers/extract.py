r"""Finding the answer in a reply: one rule for every task and model (docs/answers.md).

The last JSON object in the reply counts. Three stages: what is visible
(`scbench.scoring.answers.visible`), which objects in it may be the answer
(`scbench.scoring.answers.candidates`), and, here, which counts; without an object, a bare value.

Prose is not weighed. A mark without a colon ("The answer is", a heading) counts without an object
only. It points at the rest of its line, else the next one that says anything; of a list, all up to
a blank one. Every step is linear in the length of the text.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import dropwhile, islice, takewhile

from pydantic import JsonValue

from scbench.base.model import Prediction
from scbench.graders.shared.short_answers import HEDGES, MAX_LENGTH, tidy
from scbench.scoring.answers.candidates import (
    Candidate,
    Extraction,
    bare_value,
    objects,
    place_of,
    spans_of,
)
from scbench.scoring.answers.scan import Span, folded
from scbench.scoring.answers.shape import Shape
from scbench.scoring.answers.visible import WORDS, shown, visible

__all__ = [
    "PLAIN_TEXT",
    "Extraction",
    "find_answer",
    "from_field",
    "from_response",
    "visible",
]

# The repair of an answer in words: it was found by a mark or by its place.
PLAIN_TEXT = "plain_text"
Readable = Callable[[JsonValue], bool]
_MARKS, _FAR = 50, 200
_EITHER = re.compile(
    r"(?:</?\w+>|```\w*|[\W_])*\bor\b(?:[\W_]*alternatively)?(?:</?\w+>|```\w*|[\W_])*",
    re.IGNORECASE,
)
_DIRECT = re.compile(r"(?:[\s*_`$>~\\(]|```\w*\s|</?\w+>)*(?:\w+\s*[=:]\s*)?")
_LINE_BEGINS = re.compile(r"(?<![^\n])[ \t_`$*]{0,20}\Z")
_LINE_ENDS = re.compile(r"[ \t\r*_`$.]*+(?:\n|\Z)")
_ASSIGNED = re.compile(r"(\w+)[*`'\"]{0,4}\s{0,9}(?P<sign>[=:])[\s*`]{0,9}\Z")
_MARK = re.compile(
    rf"""
    (?P<tag> <(?:final[ _-]?)?(?:answer|solution)\b[^<>]{{0,60}}> | <final> )
    | (?P<boxed> \\boxed\s{{0,5}}\{{ )
    | (?=[^\W\d_]) (?<![^\W_])(?<![\"'<.])(?<!\bno\s)(?<!other\s)(?<!any\s)(?<!lambda\s)
      (?P<final> final [ _-]{{1,3}} )?
      (?: answer | ans(?=[:.]) | (?(final) (?: result | solution | output ) | (?!) )
        | {"|".join(WORDS["marks"]["words"])} ) (?![a-z]) [*_`]{{0,4}}
      (?: [^\S\n]{{0,20}}
          (?P<sign> [:\uff1a] | (?(final) (?: = | \u2192 | -> | [-\u2013\u2014][ ] ) | (?!) ) )
        | (?: \s[^\S\n]{{0,20}} (?: {"|".join(WORDS["marks"]["is"])} ) (?![^\W_]) | [\u662f\u306f] )
          (?: [ ] (?!possib|probab|like)(?:[a-z]{{2,12}}ly|thus|therefore|then|just|indeed|hence)\b
              ,? )?
          [^\S\n]{{0,20}} (?P<colon> [:\uff1a] )? )
      (?: [*_`]{{1,4}} (?=\s) )?
    | ^ [#>*_ \t]{{0,12}} (?: (?:my|the) [ ]{{1,3}} )? (?: final [ ]{{1,3}} )?
      answer [*_ \t]{{0,12}} $
    | ^ [>*_` \t]{{0,12}} answer [*_`]{{0,4}} [ \t]{{0,20}} (?P<equals> = )
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
# A letter, or what else a mark can begin with.
_SAID = re.compile(r"[\w<\\]")
_SIGNS = ("tag", "boxed", "sign", "colon", "equals")
_NONE = re.compile(
    rf"(?:{'|'.join(WORDS['none']['words'])})"
    r"(?=\Z|[.!,;(\n]|\s(?:because|since|as|for)\b|\s[-\u2013\u2014])",
    re.IGNORECASE,
)
_HTML = re.compile(
    r"(?i)</?(?:b|strong|i|em|u|p|br|div|span|code|mark|font|h[1-6])\b[^<>]{0,80}>"
)
_STRESSED = re.compile(r"\s{0,20}(\*\*|__|`|\$)(?=\S)([^*`$\n]{1,200})(?<=\S)\1")
_OBJECT = re.compile(
    r"""\{\s*(?:["']|[^\W\d]\w*\s*:)"""
)  # is read elsewhere, or cannot be read
_BRACED = re.compile(r"((?:[^{}\\]|\\.|\{(?:[^{}\\]|\\.|\{[^{}]*\})*\})*)\}", re.DOTALL)
_LINE = 300  # characters, at most, of an answer that nothing marks
# A fence is a line of backticks or tildes and maybe a language; it is closed by a line of as many
# of them alone, by the next fence with a language, or by the end of the text.
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^`~\n]*\n(.*?)(?:^[ \t]*(?:\1[`~]*[ \t\r]*$|(?=\1\w))|\Z)",
    re.MULTILINE | re.DOTALL,
)


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
    text: str, shape: Shape, readable: Readable | None = None
) -> Extraction | None:
    """Return the answer in a model's text; None if there is none.

    Of words, it asks what the task's grader says; by default, whether they are few or a list.
    """
    text, repairs = shown(text)
    ask = readable or (
        lambda words: len(str(words).split()) < 6 or str(words).count(",") > 1
    )
    found = _Reader(text, shape, ask).answer()
    if found is None or not (repairs or found.repairs):
        return found
    repairs = tuple(dict.fromkeys((*repairs, *found.repairs)))
    return Extraction(found.value, found.source, repairs)


class _Reader:
    """One visible text, and what in it may be the answer."""

    def __init__(self, text: str, shape: Shape, readable: Readable) -> None:
        self.text, self.shape, self.readable = text, shape, readable
        self.key = shape.keys[0] if len(shape.keys) == 1 else ""
        self.spans = spans_of(text, shape)
        self.outer = [span for span in self.spans if not span.first]

    @cached_property
    def marks(self) -> list[re.Match[str]]:
        """The last marks that stand in no value."""
        plain = (
            _HTML.sub(lambda tag: " " * len(tag.group()), self.text) if self.key else ""
        )
        marks = deque(_MARK.finditer(plain), maxlen=_MARKS)
        inside = [range(span.start, span.end) for span in self.outer]
        return [
            mark for mark in marks if not any(mark.start() in one for one in inside)
        ]

    def answer(self) -> Extraction | None:
        """Return the answer; None if there is none."""
        candidates = objects(self.text, self.spans, self.shape)
        last = next(candidates, None)
        if last is None:
            best = max(self._bare(), key=lambda one: one.end, default=None)
        else:
            best = self._marked_after(last.end) or last
            if best is last and self._is_either(candidates, last):
                return None
        return best.extraction if best else None

    def _marked_after(self, at: int) -> Candidate | None:
        """Return the value of the last mark with a sign from here on, or that there is none."""
        if not _SAID.search(self.text, at):
            return None  # to look for marks takes longer than all else
        marks = [
            mark
            for mark in self.marks
            if mark.start() >= at and any(mark.group(*_SIGNS))
        ]
        return next(filter(None, map(self._marked, reversed(marks))), None)

    def _is_either(self, candidates: Iterator[Candidate], second: Candidate) -> bool:
        """Whether a candidate differs from the next before and only "or" is between them."""
        if "or" not in self.text[max(0, second.start - _FAR) : second.start].lower():
            return False  # none before it need be read
        first = next((one for one in candidates if one.end <= second.start), None)
        one, other = first and first.extraction, second.extraction
        if first is None or not one or not other or one.value == other.value:
            return False
        between = self.text[first.end : second.start]
        return len(between) <= _FAR and _EITHER.fullmatch(between) is not None

    def _marked(self, mark: re.Match[str]) -> Candidate | None:
        """Return the value behind a mark, or that there is none; None if it is neither."""
        shape, end = self.shape, mark.end()
        at = bisect_left(self.outer, end, key=lambda span: span.start)
        for span in self.outer[at : at + 1]:
            is_near = span.start <= end + _FAR and _DIRECT.fullmatch(
                self.text[end : span.start]
            )
            if is_near and (one := self._of(span, "marked")):
                return one
        for content in _pointed_at(
            mark, is_list=shape.is_list or shape.bare_text is not None
        ):
            # "The answer is valid: the counts are 3, 4 and 5" is a sentence.
            is_sentence = (
                shape.is_list and not any(mark.group(*_SIGNS)) and ":" in content
            )
            if is_sentence or len(content) > MAX_LENGTH or _OBJECT.search(content):
                continue
            at = max(mark.string.find(content, end), end) + len(content)
            if one := self._of_words(content, "marked", mark.start(), at):
                return one
            if _NONE.match(tidy(content.strip())):
                return Candidate(None, mark.start(), at)
        return None

    def _of_words(
        self, content: str, source: str, start: int, end: int
    ) -> Candidate | None:
        value, pattern, repair = tidy(content.strip()), self.shape.bare_text, PLAIN_TEXT
        if pattern and pattern.fullmatch(content.strip()):
            value, repair = content.strip("\n").rstrip(), "wrapped_bare_value"
        elif (
            not self.shape.is_short
            or HEDGES.match(value)
            or not (value and self.readable(value))
        ):
            return None
        return Candidate(Extraction({self.key: value}, source, (repair,)), start, end)

    def _of(self, span: Span, source: str, *repairs: str) -> Candidate | None:
        value = span.parse()
        bare = None if value is None else bare_value(value, self.shape)
        if bare is None or (
            self.shape.is_short and not self.readable(bare[0][self.key])
        ):
            return None
        extraction = Extraction(bare[0], source, (*span.repairs, *(repairs or bare[1])))
        return Candidate(extraction, span.start, span.end)

    def _bare(self) -> Iterator[Candidate]:
        """Yield values without their key: behind marks, alone on their lines, assigned."""
        if not self.key:
            return
        yield from islice(filter(None, map(self._marked, reversed(self.marks))), 1)
        placed = ((span, self._place(span)) for span in reversed(self.spans))
        values = (self._of(span, *place) for span, place in placed if place)
        yield from islice(filter(None, values), 1)
        yield from filter(
            None, (self._of_words(*place) for place in self._unmarked() if place[0])
        )

    def _unmarked(self) -> Iterator[tuple[str, str, int, int]]:
        """Yield the last fence, or else the whole text or its last paragraph of a word."""
        text, shape = self.text, self.shape
        blocks = [block for block in _FENCE.finditer(text) if block[2].strip()]
        for block in blocks[-1:]:
            content = block[2] if shape.bare_text else _answer_lines(block[2], shape)
            yield content, "fence", *block.span(2)
        if blocks or self.marks:
            return
        *before, last = re.split(r"\n[ \t\r]{0,20}\n", text.strip())
        value = text if shape.bare_text else _answer_lines(last, shape)
        # A word at the end of prose is an answer; one at the end of a list of words need not be.
        is_last = len(value.split()) == 1 and len((before or [""])[-1].split()) > 2
        if (
            not before
            or is_last
            or (shape.is_list and before[-1].endswith(":"))
            or shape.bare_text
        ):
            yield value, "whole", 0, len(text)

    def _place(self, span: Span) -> tuple[str, ...]:
        """Name the place of a value without its key, and its repair; nothing if it has none."""
        before = self.text[max(0, span.start - 100) : span.start]
        name = _ASSIGNED.search(before)
        if name and folded(name[1]) == folded(self.key):
            return place_of(self.text, span.start, span.end), "assignment"
        is_alone = _LINE_BEGINS.search(before) and _LINE_ENDS.match(self.text, span.end)
        return (place_of(self.text, span.start, span.end),) if is_alone else ()


def _pointed_at(mark: re.Match[str], *, is_list: bool) -> tuple[str, ...]:
    """Return what a mark points at: all of it, or what is stressed."""
    after = mark.string[mark.end() : mark.end() + MAX_LENGTH]
    if mark["boxed"]:
        braced = _BRACED.match(after)
        return (re.sub(r"\\([{}_%$])", r"\1", braced[1]),) if braced else ()
    content, closing, _ = after.partition("</")
    if mark["tag"]:
        return (content,) if closing else ()
    first, *lines = content.split("\n")
    if _is_frame(first):
        said = [
            *takewhile(lambda line: not _is_frame(line), dropwhile(_is_frame, lines))
        ]
        return ("\n".join(said if is_list else said[:1]),)
    stressed = _STRESSED.match(first)
    if stressed and not is_list:
        return (stressed[2],)
    return (first, stressed[2]) if stressed else (first,)


def _is_frame(line: str) -> bool:
    """Whether a line is blank, opens or closes a fence, or frames a formula."""
    line = line.strip()
    framing = line.startswith("```") or line in {"\\[", "\\]", "\\(", "\\)", "$$"}
    return framing or not line.strip("*_`#- ")


def _answer_lines(text: str, shape: Shape) -> str:
    """Return a line, or the lines of a list; nothing if it is anything else."""
    if len(text) > 2 * MAX_LENGTH or _OBJECT.search(text):
        return ""
    lines = [tidy(line) for line in text.split("\n") if not _is_frame(line)]
    single = len(lines) == 1 and len(lines[0]) <= (
        MAX_LENGTH if shape.is_list else _LINE
    )
    are_short = all(len(line) <= _LINE and len(line.split()) <= 3 for line in lines)
    return "\n".join(lines) if single or (shape.is_list and are_short) else ""
