r"""Finding the answer in a prediction: one rule for every task and model (docs/answers.md).

1. Hidden reasoning is not looked at (`scbench.scoring.answers.visible`).
2. A candidate is any JSON value in the visible text, wherever it stands, that holds all keys the
   answer must have: by itself or under ``answer``, ``result``, ``output``, ``final``,
   ``final_answer`` or ``response``; in the arguments of a tool call; in a list of one; in a string
   that holds JSON; or as ``key = [...]``.
3. The candidate that ends last counts. If there is none, and the answer has one key, it is the last
   bare value: in a fence or on lines of its own, or after a mark (`scbench.scoring.answers.marks`).
4. What stands behind it may void it: an answer that cannot be read, a final answer in words, or the
   statement that there is none. Two candidates with "or" between them are no answer.
5. What is nearly JSON is repaired (`scbench.scoring.answers.scan`), and each repair is recorded.
   NaN and a key given twice are not repaired, and no number is changed.

An `answer` field is taken as it stands.

Every step is linear in the length of the text.
"""

import html
import re
from dataclasses import replace

from pydantic import JsonValue

from scbench.base.model import Prediction
from scbench.graders.shared.short_answers import tidy
from scbench.scoring.answers import marks
from scbench.scoring.answers.candidates import (
    LAYERS,
    TRIED,
    WRAPPERS,
    Candidate,
    Extraction,
    bare_value,
    candidates,
    parsed,
    place_of,
    scan_for,
    unwrapped,
)
from scbench.scoring.answers.scan import Scan, Span, folded
from scbench.scoring.answers.shape import Shape
from scbench.scoring.answers.short import fenced, find_marked, find_short
from scbench.scoring.answers.visible import visible

_ENTITIES = re.compile(r"[{,\[]\s{0,100}&(?:quot|apos|ldquo|#0{0,3}3[49]|#x2[27]);")
_EITHER = re.compile(r"[^.!?;{}\[\]]{0,60}\bor\b[^.!?;{}\[\]]{0,60}", re.IGNORECASE)
_FEW_WORDS = 4
_LINE = 200
PLAIN_TEXT = "plain_text"
"""The repair of an answer in words: it was found by a mark or by its place."""


def find_answer(prediction: Prediction, shape: Shape) -> Extraction | None:
    """Return the answer of a prediction; None if there is none that can be read."""
    if prediction.answer is not None:
        return from_field(prediction.answer, shape)
    return from_response(prediction.response or "", shape)


def from_field(answer: JsonValue, shape: Shape) -> Extraction:
    """Return the answer given in a prediction's ``answer`` field."""
    if shape.is_short and not isinstance(answer, dict):
        return Extraction({"answer": answer}, "answer", ("wrapped_bare_value",))
    return Extraction(answer, "answer")


def from_response(response: str, shape: Shape) -> Extraction | None:
    """Return the answer in a model's text by the rule of this module; None if there is none."""
    text = visible(response)
    dropped = ("dropped_reasoning",) if len(text) < len(response) else ()
    found = _at_the_end(text, shape) or _search(text, shape)
    return found and replace(found, repairs=(*dropped, *found.repairs))


def declines(response: str) -> bool:
    """Whether a text without an answer says that it will not give one."""
    return marks.declines(visible(response))


def _at_the_end(text: str, shape: Shape) -> Extraction | None:
    """Return the answer of a text that ends with a sound object of it, as most do."""
    tail = text.rstrip()
    if tail.endswith("```"):
        tail = tail[:-3].rstrip()
    if not tail.endswith("}"):
        return None
    start = 0 if tail.startswith("{") else tail.rfind("\n{") + 1
    near = max(0, start - 130)
    if not tail.startswith("{", start):
        return None
    if "or" in tail[near:start].lower() and _EITHER.search(tail, near, start):
        return None
    value = parsed(tail[start:])
    if not isinstance(value, dict) or not all(key in value for key in shape.keys):
        return None
    fitted = unwrapped(value, shape)
    return fitted and Extraction(fitted[0], place_of(text, start, len(tail)), fitted[1])


def _search(text: str, shape: Shape) -> Extraction | None:
    """Return the answer in visible text."""
    quoted = parsed(text.strip()) if text.lstrip().startswith('"') else None
    if isinstance(quoted, str):
        found = _search(quoted, shape)
        return found and replace(found, repairs=("unwrapped_string", *found.repairs))
    text, repairs = _without_entities(_without_quotes(text))
    scanned = scan_for(text, shape)
    candidates_found = candidates(text, scanned, shape, LAYERS)
    best = next(candidates_found, None)
    if best is None:
        best = _bare(text, scanned, shape)
    elif _is_either(text, next(candidates_found, None), best):
        return None
    if best is None or best.extraction is None or any(at >= best.end for at in scanned.broken):
        return None
    found = _behind(text, best, scanned, shape)
    return found and replace(found, repairs=(*repairs, *found.repairs))


def _without_quotes(text: str) -> str:
    """Return a text in which the last fence holds what was in it as a string of JSON."""
    blocks = fenced(text)[-1:]
    if not blocks or not blocks[0][1].lstrip().startswith('"'):
        return text
    start, block = blocks[0]
    inside = parsed(block.strip())
    if not isinstance(inside, str):
        return text
    return f"{text[:start]}{inside}{text[start + len(block) :]}"


def _without_entities(text: str) -> tuple[str, tuple[str, ...]]:
    if "&" in text and _ENTITIES.search(text):
        return html.unescape(text), ("html_entities",)
    return text, ()


def _is_either(text: str, first: Candidate | None, second: Candidate) -> bool:
    """Whether two candidates that differ are joined by "or"."""
    if first is None or first.extraction is None or second.extraction is None or first.end > second.start:
        return False
    between = text[first.end : second.start]
    joined = _EITHER.fullmatch(between) is not None
    return joined and first.extraction.value != second.extraction.value


def _bare(text: str, scanned: Scan, shape: Shape) -> Candidate | None:
    """Return the last value without its key that stands in a fence, after a mark or alone."""
    if len(shape.keys) != 1:
        return None
    best = _bare_span(text, scanned, shape)
    if shape.is_short:
        words = find_short(text, is_list=shape.is_list)
        if words is not None and (best is None or words.end > best.end):
            found = Extraction({"answer": words.value}, words.source, (PLAIN_TEXT,))
            return Candidate(found, words.end, words.end)
    elif shape.bare_text is not None and best is None:
        return _bare_text(text, shape)
    return best


def _bare_span(text: str, scanned: Scan, shape: Shape) -> Candidate | None:
    spans = {span.end: span for span in (*scanned.outermost, *scanned.objects)}
    for span in [spans[end] for end in sorted(spans, reverse=True)][:TRIED]:
        wrapped = span.opening == "{" and not WRAPPERS.isdisjoint(map(folded, span.keys))
        place = place_of(text, span.start, span.end) if wrapped else _place(text, span, shape)
        value = span.parse() if place else None
        fitted = None if value is None else bare_value(value, shape)
        if place and fitted is not None:
            found = Extraction(fitted[0], place, (*span.repairs, *fitted[1]))
            return Candidate(found, span.start, span.end)
    return None


def _place(text: str, span: Span, shape: Shape) -> str:
    """Name the place of a value that stands on lines of its own or after a mark; else nothing."""
    if span.opening == "[" and text.endswith("\\", 0, span.start):
        return ""  # a formula
    begin = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    before, after = text[begin : span.start], text[span.end : end if end >= 0 else None]
    if not before.strip(" \t>*_`$-") and not after.strip(" \t\r*_`$."):
        return place_of(text, span.start, span.end)
    name = re.fullmatch(r"\W*(\w+?)[*_`]*\s*:\s*[*_`]*", before) if len(before) < _LINE else None
    if name and '"' not in before and folded(name[1]) == folded(shape.keys[0]):
        return "marked"
    near = text[max(0, span.start - 400) : span.start]
    ends = [mark.end() for mark in marks.MARK.finditer(near)]
    words = r"\w" if span.opening == "(" else r"[\[\]{}]"  # f(1) is no tuple
    return "marked" if ends and not re.search(words, near[ends[-1] :]) else ""


def _bare_text(text: str, shape: Shape) -> Candidate | None:
    """Return text that is the value of the only key, without any JSON."""
    blocks = fenced(text)
    places = [(start, block, "fence") for start, block in blocks[-1:]] or [(0, text, "whole")]
    places += [
        (mark.end(), re.split(r"</|\n\s*\n", text[mark.end() :].lstrip(), maxsplit=1)[0], "marked")
        for mark in list(marks.MARK.finditer(text))[-1:]
    ]
    for start, content, source in reversed(places):
        bare = content.strip("\n").rstrip()
        if shape.bare_text is not None and shape.bare_text.fullmatch(bare.strip()):
            found = Extraction({shape.keys[0]: bare}, source, ("wrapped_bare_value",))
            return Candidate(found, start, start + len(content))
    return None


def _behind(text: str, best: Candidate, scanned: Scan, shape: Shape) -> Extraction | None:
    """Return the answer, or what replaces it in the text behind it; None if that voids it."""
    rest = text[best.end :]
    if best.extraction is None or marks.takes_back(rest):
        return None
    words = find_marked(rest, is_list=shape.is_list)
    if words is None or not re.search(r"\w", words.value):
        return best.extraction
    if shape.is_short:
        return _other_words(best.extraction, words.value, sign=words.sign)
    later = Scan(outermost=scanned.outermost.copy())
    while later.outermost and later.outermost[0].start < best.end:
        later.outermost.popleft()
    bare = _bare_span(text, later, shape)
    if bare is not None:
        return bare.extraction
    return None if words.sign and not marks.refers_back(words.value) else best.extraction


def _other_words(found: Extraction, words: str, *, sign: bool) -> Extraction | None:
    """Compare an answer with a final one in words behind it."""
    value = found.value["answer"] if isinstance(found.value, dict) else None
    said = tidy(str(value)).casefold()
    if said and re.match(rf"{re.escape(said)}(?!\w|[.,/]\d)", words.casefold()):
        return found
    if len(words.split()) <= _FEW_WORDS and not marks.refers_back(words):
        return Extraction({"answer": words}, "marked", (PLAIN_TEXT,))
    return None if sign and not marks.refers_back(words) else found
