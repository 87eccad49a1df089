r"""Finding the answer in a prediction: one rule for every task and model (docs/answers.md).

1. Hidden reasoning is not looked at (`visible`).
2. A candidate is any JSON value in the visible text, wherever it stands, that holds all keys the
   answer must have: by itself or under ``answer``, ``result``, ``output``, ``final``,
   ``final_answer`` or ``response``; in the arguments of a tool call; in a list of one; in a string
   that holds JSON; or as ``key = [...]``.
3. The candidate that ends last counts. If there is none, and the answer has one key, it is the last
   bare value: in a fence or on lines of its own, or after a mark (`scbench.scoring.answers.short`).
4. What stands behind it may void it: an answer that cannot be read, a final answer in words, or the
   statement that there is none. Two candidates with "or" between them are no answer.
5. What is nearly JSON is repaired (`scbench.scoring.answers.scan`), and each repair is recorded.
   NaN and a key given twice are not repaired, and no number is changed.

An `answer` field is taken as it stands.

Every step is linear in the length of the text.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pydantic import JsonValue

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError
from scbench.base.model import Prediction
from scbench.graders.shared.short_answers import tidy
from scbench.scoring.answers.scan import Scan, Span, folded, scan
from scbench.scoring.answers.shape import Shape
from scbench.scoring.answers.short import (
    MARK,
    fenced,
    find_marked,
    find_short,
    refers_back,
    takes_back,
    text_declines,
)

_NAMES = "think|thinking|reasoning|analysis|scratchpad"
_TAG = re.compile(
    rf"(?:<|&lt;)\|?(?P<closing>/?)\|?(?:{_NAMES})\b(?P<rest>[^<>&\n]{{0,200}})(?:>|&gt;)"
    r"|\[(?P<ends>/?)THINK\]|\u25c1(?P<stops>/?)think\u25b7",
    re.IGNORECASE,
)
_OF_TAGS = ("<", "&lt;", "&LT;", "&Lt;", "&lT;", "\u25c1")
_IN_BRACKETS = re.compile(r"\[/?(?i:think)\]")
_CHANNEL = re.compile(
    r"<\|channel\|>\s{0,5}(\w+)[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>"
)
_CHANNEL_ENDS = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_PLAIN_CHANNEL = re.compile(r"analysis(?=[A-Z{])")
_PLAIN_FINAL = "assistantfinal"

WRAPPERS = frozenset({"finalanswer", "final", "answer", "result", "output", "response"})
_ARGUMENTS = frozenset({"arguments", "input", "parameters"})
LAYERS = 6
TRIED = 10
_PLACEHOLDER = re.compile(r"[.\u2026\s]*|<[^<>]*>")
_Fitted = tuple[JsonValue, tuple[str, ...]]
"""An answer, and what was done to it."""
_ENTITIES = re.compile(r"[{,\[]\s{0,100}&(?:quot|apos|ldquo|#0{0,3}3[49]|#x2[27]);")
_EITHER = re.compile(r"[^.!?;{}\[\]]{0,60}\bor\b[^.!?;{}\[\]]{0,60}", re.IGNORECASE)
_FEW_WORDS = 4
_LINE = 200
PLAIN_TEXT = "plain_text"
"""The repair of an answer in words: it was found by a mark or by its place."""


def visible(reply: str) -> str:
    """Return a reply without its hidden reasoning.

    Hidden is all up to the last closing tag of think, thinking, reasoning, analysis or scratchpad,
    and all after such a tag that is opened and never closed. Of a reply in channels only the last
    ``final`` one is visible, also where the marks between them were taken out ("analysis...
    assistantfinal...").
    """
    return _outside_tags(_final_channel(reply))


def _final_channel(reply: str) -> str:
    if _PLAIN_CHANNEL.match(reply):
        return reply.rpartition(_PLAIN_FINAL)[2] if _PLAIN_FINAL in reply else ""
    if "<|channel|>" not in reply:
        return reply
    content = ""
    for channel in _CHANNEL.finditer(reply):
        if channel[1] == "final":
            end = _CHANNEL_ENDS.search(reply, channel.end())
            content = reply[channel.end() : end.start() if end else None]
    return content


def _outside_tags(text: str) -> str:
    if not any(sign in text for sign in _OF_TAGS) and not _IN_BRACKETS.search(text):
        return text  # most have none; to look for all forms takes ten times as long
    shown_from, opened_at = 0, None
    for tag in _TAG.finditer(text):
        if tag["closing"] or tag["ends"] or tag["stops"]:
            shown_from, opened_at = tag.end(), None
        elif opened_at is None and not (tag["rest"] or "").endswith("/"):
            opened_at = tag.start()
    return text[shown_from:opened_at]


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer, where it was found, and what had to be done to read it."""

    value: JsonValue
    source: str
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may be the answer, and where it stands; without an answer if it cannot be read."""

    extraction: Extraction | None
    start: int
    end: int


def candidates(text: str, scanned: Scan, shape: Shape, layers: int) -> Iterator[Candidate]:
    """Yield candidates, the one that ends last first."""
    spans = {span.end: span for span in (*scanned.outermost, *scanned.objects)}
    for span in [spans[end] for end in sorted(spans, reverse=True)][:TRIED]:
        value = span.parse()
        fitted = None if value is None else unwrapped(value, shape, layers)
        if fitted is None and value is not None and _is_assigned(text, span, shape):
            fitted = bare_value(value, shape)
            fitted = fitted and (fitted[0], ("assignment",))
        if fitted is not None:
            source = place_of(text, span.start, span.end)
            extraction = Extraction(fitted[0], source, (*span.repairs, *fitted[1]))
            yield Candidate(extraction, span.start, span.end)
        elif value is None and {*map(folded, span.keys)} >= {*map(folded, shape.keys)}:
            yield Candidate(None, span.start, span.end)


def _is_assigned(text: str, span: Span, shape: Shape) -> bool:
    """Whether ``key =`` stands right before a value."""
    if len(shape.keys) != 1:
        return False
    before = text[max(0, span.start - 100) : span.start].rstrip(" \t\n*`")
    name = re.search(r"(\w+)[*`'\"]*\s*=\Z", before)
    return name is not None and folded(name[1]) == folded(shape.keys[0])


def scan_for(text: str, shape: Shape) -> Scan:
    """Return the values in a text that may hold the keys of an answer, or wrap them."""
    names = {*map(folded, (*shape.keys, *shape.inner)), *WRAPPERS, *_ARGUMENTS}
    return scan(text, names, "answer" if shape.is_short else "")


def parsed(text: str) -> JsonValue | None:
    """Return the value of JSON text; None if it is none."""
    try:
        return parse_json(text.encode())
    except (JsonError, UnicodeEncodeError):
        return None


def place_of(text: str, start: int, end: int) -> str:
    """Name the place of a value: the whole text, a fence, or embedded in other text."""
    before, after = text[:start].rstrip(), text[end:].lstrip()
    if not before and not after:
        return "whole"
    opened = before.rpartition("\n")[2].lstrip().startswith("```")
    return "fence" if opened and (not after or after.startswith("```")) else "embedded"


def unwrapped(value: JsonValue, shape: Shape, layers: int = LAYERS) -> _Fitted | None:
    """Return the object with all keys in a value, taken out of its wrappers; None without one."""
    if not layers:
        return None
    if isinstance(value, str):
        return _in_string(value, shape, layers - 1)
    if isinstance(value, list) and len(value) == 1:
        return _deeper(value[0], "unwrapped_list", shape, layers)
    if not isinstance(value, dict):
        return None
    renamed, repairs = _renamed(value, shape)
    if all(key in renamed and _may_be(renamed[key], key, shape) for key in shape.keys):
        fitted = (
            _short_answer(renamed, shape, layers) if shape.is_short else _unquoted(renamed, shape)
        )
        return fitted and (fitted[0], (*repairs, *fitted[1]))
    for key, inside in reversed(value.items()):
        if folded(key) in WRAPPERS or ("name" in value and key in _ARGUMENTS):
            fitted = _deeper(inside, "unwrapped_answer_key", shape, layers)
            if fitted is not None:
                return fitted
    return None


def _may_be(value: JsonValue, key: str, shape: Shape) -> bool:
    """Whether a value can be meant for a key; its schema and its form in a prompt are not."""
    if not isinstance(value, dict):
        is_form = isinstance(value, str) and bool(value) and _PLACEHOLDER.fullmatch(value)
        return not (is_form and key in shape.texts)
    is_schema = isinstance(value.get("type"), str) or "$ref" in value or "anyOf" in value
    return not is_schema and (shape.is_short or key not in shape.texts)


def _deeper(value: JsonValue, repair: str, shape: Shape, layers: int) -> _Fitted | None:
    fitted = unwrapped(value, shape, layers - 1)
    return fitted and (fitted[0], (repair, *fitted[1]))


def _in_string(text: str, shape: Shape, layers: int) -> _Fitted | None:
    """Return the candidate in a string that holds JSON."""
    if not text.strip().endswith(("}", "]", '"', "`")):
        return None
    best = next(candidates(text, scan_for(text, shape), shape, layers), None)
    if best is None or best.extraction is None:
        return None
    return best.extraction.value, ("unwrapped_string", *best.extraction.repairs)


def _short_answer(value: dict[str, JsonValue], shape: Shape, layers: int) -> _Fitted | None:
    inside = value["answer"]
    if isinstance(inside, dict | list) or (isinstance(inside, str) and "{" in inside):
        fitted = _deeper(inside, "unwrapped_answer_key", shape, layers)
        if fitted is not None:
            return fitted
    if isinstance(inside, list) and len(inside) == 1 and not shape.is_list:
        return {**value, "answer": inside[0]}, ("unwrapped_list",)
    return value, ()


def _unquoted(value: dict[str, JsonValue], shape: Shape) -> _Fitted:
    """Return an object in which no array or object is written as a string."""
    texts = [key for key in shape.keys if isinstance(value[key], str) and key not in shape.texts]
    read = {key: parsed(str(value[key])) for key in texts}
    read = {key: inside for key, inside in read.items() if isinstance(inside, dict | list)}
    return ({**value, **read}, ("unwrapped_string",)) if read else (value, ())


def _renamed(
    value: dict[str, JsonValue], shape: Shape
) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    """Return an object with its keys in the case that the answer's have."""
    changed = False
    exact = frozenset(shape.names.values())

    def renamed(part: JsonValue) -> JsonValue:
        # An answer may hold tens of thousands of numbers in small lists.
        if isinstance(part, list):
            plain = not part or not isinstance(part[0], list | dict)
            return part if plain else [renamed(entry) for entry in part]
        if not isinstance(part, dict):
            return part
        return {
            new_name(key, part): renamed(inside) if isinstance(inside, list | dict) else inside
            for key, inside in part.items()
        }

    def new_name(key: str, part: dict[str, JsonValue]) -> str:
        nonlocal changed
        if key in exact:
            return key
        exact_name = shape.names.get(folded(key), key)
        if exact_name == key or exact_name in part:
            return key
        if sum(folded(sibling) == folded(key) for sibling in part) > 1:
            return key  # two keys that differ in case only
        changed = True
        return exact_name

    is_deep = len(shape.names) > len(shape.keys)
    if _all_named(value, exact) if is_deep else value.keys() <= exact:
        return value, ()
    result = {new_name(key, value): inside for key, inside in value.items()}
    if is_deep:
        result = {key: renamed(inside) for key, inside in result.items()}
    return (result, ("key_case",)) if changed else (value, ())


def _all_named(value: JsonValue, names: frozenset[str]) -> bool:
    """Whether every key in a value, at any depth, is one of the names."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if not part.keys() <= names:
                return False
            waiting += [inside for inside in part.values() if isinstance(inside, list | dict)]
        elif isinstance(part, list) and part and isinstance(part[0], list | dict):
            waiting += part
    return True


def bare_value(value: JsonValue, shape: Shape) -> _Fitted | None:
    """Put a value without its key under it; None if it cannot be the value."""
    if isinstance(value, dict):
        for key, inside in reversed(value.items()):
            if folded(key) in WRAPPERS and (fitted := bare_value(inside, shape)):
                return fitted[0], ("unwrapped_answer_key", *fitted[1])
    if len(shape.keys) != 1:
        return None
    key = shape.keys[0]
    if shape.is_short:
        if isinstance(value, list) and len(value) == 1 and not shape.is_list:
            value = value[0]
        if isinstance(value, dict | None) or (isinstance(value, list) and not shape.is_list):
            return None
        if isinstance(value, str) and _PLACEHOLDER.fullmatch(value):
            return None
        return {key: value}, ("wrapped_bare_value",)
    if isinstance(value, list) and not shape.inner:
        return {key: value}, ("wrapped_bare_array",)
    if isinstance(value, dict) and shape.inner and all(name in value for name in shape.inner):
        return {key: value}, ("wrapped_bare_value",)
    if not isinstance(value, str):
        return None
    if shape.bare_text and shape.bare_text.fullmatch(value.strip()):
        return {key: value}, ("wrapped_bare_value",)
    inside = parsed(value)
    if not isinstance(inside, list) or shape.inner:
        return None
    return {key: inside}, ("unwrapped_string", "wrapped_bare_array")


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
    extraction = _at_the_end(text, shape) or _searched(text, shape)
    return extraction and replace(extraction, repairs=(*dropped, *extraction.repairs))


def declines(response: str) -> bool:
    """Whether a text without an answer says that it will not give one."""
    return text_declines(visible(response))


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


def _searched(text: str, shape: Shape) -> Extraction | None:
    quoted = parsed(text.strip()) if text.lstrip().startswith('"') else None
    if isinstance(quoted, str):
        extraction = _searched(quoted, shape)
        return extraction and replace(extraction, repairs=("unwrapped_string", *extraction.repairs))
    text, repairs = _without_entities(_without_quotes(text))
    scanned = scan_for(text, shape)
    candidates_found = candidates(text, scanned, shape, LAYERS)
    best = next(candidates_found, None)
    if best is None:
        best = _bare_candidate(text, scanned, shape)
    elif _is_either(text, next(candidates_found, None), best):
        return None
    if best is None or best.extraction is None or any(at >= best.end for at in scanned.broken):
        return None
    extraction = _behind(text, best, scanned, shape)
    return extraction and replace(extraction, repairs=(*repairs, *extraction.repairs))


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
    if (
        first is None
        or first.extraction is None
        or second.extraction is None
        or first.end > second.start
    ):
        return False
    between = text[first.end : second.start]
    joined = _EITHER.fullmatch(between) is not None
    return joined and first.extraction.value != second.extraction.value


def _bare_candidate(text: str, scanned: Scan, shape: Shape) -> Candidate | None:
    """Return the last value without its key that stands in a fence, after a mark or alone."""
    if len(shape.keys) != 1:
        return None
    best = _bare_span(text, scanned, shape)
    if shape.is_short:
        words = find_short(text, is_list=shape.is_list)
        if words is not None and (best is None or words.end > best.end):
            extraction = Extraction({"answer": words.value}, words.source, (PLAIN_TEXT,))
            return Candidate(extraction, words.end, words.end)
    elif shape.bare_text is not None and best is None:
        return _bare_text(text, shape)
    return best


def _bare_span(text: str, scanned: Scan, shape: Shape) -> Candidate | None:
    spans = {span.end: span for span in (*scanned.outermost, *scanned.objects)}
    for span in [spans[end] for end in sorted(spans, reverse=True)][:TRIED]:
        wrapped = span.opening == "{" and not WRAPPERS.isdisjoint(map(folded, span.keys))
        place = place_of(text, span.start, span.end) if wrapped else _bare_place(text, span, shape)
        value = span.parse() if place else None
        fitted = None if value is None else bare_value(value, shape)
        if place and fitted is not None:
            extraction = Extraction(fitted[0], place, (*span.repairs, *fitted[1]))
            return Candidate(extraction, span.start, span.end)
    return None


def _bare_place(text: str, span: Span, shape: Shape) -> str:
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
    ends = [mark.end() for mark in MARK.finditer(near)]
    words = r"\w" if span.opening == "(" else r"[\[\]{}]"  # f(1) is no tuple
    return "marked" if ends and not re.search(words, near[ends[-1] :]) else ""


def _bare_text(text: str, shape: Shape) -> Candidate | None:
    """Return text that is the value of the only key, without any JSON."""
    blocks = fenced(text)
    places = [(start, block, "fence") for start, block in blocks[-1:]] or [(0, text, "whole")]
    places += [
        (mark.end(), re.split(r"</|\n\s*\n", text[mark.end() :].lstrip(), maxsplit=1)[0], "marked")
        for mark in list(MARK.finditer(text))[-1:]
    ]
    for start, content, source in reversed(places):
        bare = content.strip("\n").rstrip()
        if shape.bare_text is not None and shape.bare_text.fullmatch(bare.strip()):
            extraction = Extraction({shape.keys[0]: bare}, source, ("wrapped_bare_value",))
            return Candidate(extraction, start, start + len(content))
    return None


def _behind(text: str, best: Candidate, scanned: Scan, shape: Shape) -> Extraction | None:
    """Return the answer, or what replaces it in the text behind it; None if that voids it."""
    tail = text[best.end :]
    if best.extraction is None or takes_back(tail):
        return None
    words = find_marked(tail, is_list=shape.is_list)
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
    return None if words.sign and not refers_back(words.value) else best.extraction


def _other_words(extraction: Extraction, words: str, *, sign: bool) -> Extraction | None:
    """Compare an answer with a final one in words behind it."""
    value = extraction.value["answer"] if isinstance(extraction.value, dict) else None
    answer = tidy(str(value)).casefold()
    if answer and re.match(rf"{re.escape(answer)}(?!\w|[.,/]\d)", words.casefold()):
        return extraction
    if len(words.split()) <= _FEW_WORDS and not refers_back(words):
        return Extraction({"answer": words}, "marked", (PLAIN_TEXT,))
    return None if sign and not refers_back(words) else extraction
