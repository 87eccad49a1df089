r"""Finding an answer of a word, a number or a short list in text that holds no JSON object of it.

In the order in which they end, the last of these is taken that says anything:

- what a mark points at (`scbench.scoring.answers.marks`; the last ten are looked at): the content
  of ``<answer>`` or ``\boxed``; what is emphasised right after "Answer:", else the rest of that
  line, else the next line that is not blank. Of a list it is the whole rest of the line, else all lines
  up to the next blank one;
- a fenced block of one line, or of a list;
- the whole text, if it is one line or a list; or its last paragraph, if that is a single word.

Quotes, emphasis, LaTeX and a full stop round the answer are dropped. Whether it can be read as what
the task asks for is the grader's to say. Every step is linear in the length of the text.
"""

import re
from collections import deque
from dataclasses import dataclass

from scbench.graders.shared.short_answers import MAX_LENGTH, tidy
from scbench.scoring.answers.marks import CLOSING_TAG, MARK, declines

_MARKS = 10
_LINE = 300
"""Longest line, in characters, that is taken as an answer where nothing marks it."""
_STRESSED = re.compile(r"\s{0,20}(\*\*|__|`|\$)(?=\S)([^*`$\n]{1,200})(?<=\S)\1")
_OBJECT = re.compile(r"""\{\s*(?:["']|[^\W\d]\w*\s*:)""")
"""The beginning of an object, which is read elsewhere or cannot be read."""
_FEW = 5
_ONE_SENTENCE = re.compile(r"[^.!?\n]*(?:\.\w[^.!?\n]*)*[.!][*_`$\"]*")
_LABEL = re.compile(r"\A[*_]{0,3}[^\W\d][\w ]{0,30}:[*_]{0,3}\s+")
"""A word such as "Total:" before the last line."""
_FRAMES = {"\\[", "\\]", "\\(", "\\)", "$$"}
"""Lines that only frame a formula."""
_FENCE = re.compile(r"(`{3,}|~{3,})[^`~]*")


@dataclass(frozen=True, slots=True)
class Words:
    """An answer in words.

    Attributes:
        value: the words, tidied.
        source: ``marked``, ``fence`` or ``whole``.
        end: about where it ends in the text; for comparing only.
        sign: whether the mark is one that only an answer follows, such as a colon or a tag.
    """

    value: str
    source: str
    end: int
    sign: bool = False


def find_short(text: str, *, is_list: bool = False) -> Words | None:
    """Return an answer in words; None if there is none.

    Args:
        text: what a model said, without its reasoning.
        is_list: whether the answer can be a list, which can be given on several lines.
    """
    found = [
        words
        for words in (find_marked(text, is_list=is_list), _fence(text, is_list=is_list))
        if words is not None
    ]
    if found:
        return max(found, key=lambda words: words.end)
    return None if MARK.search(text) else _alone(text, is_list=is_list)


def find_marked(text: str, *, is_list: bool = False) -> Words | None:
    """Return what the last mark points at that points at anything; None if none does."""
    for mark in reversed(deque(MARK.finditer(text), maxlen=_MARKS)):
        content = _marked(text, mark, is_list=is_list)
        if len(content) <= MAX_LENGTH and (value := tidy(content)) and not _OBJECT.search(value):
            sign = any(
                mark[name] for name in ("tag", "boxed", "sign", "colon", "equals", "foreign")
            )
            at = text.find(content, mark.end())
            return Words(value, "marked", max(at, mark.end()) + len(content), sign)
    return None


def fenced(text: str) -> list[tuple[int, str]]:
    """Return start and content of the fenced blocks of a text that are not blank.

    A fence is a line of three or more backticks or tildes and maybe a language; it is closed by a
    line of as many of them alone, by the next fence with a language, or by the end of the text.
    """
    if "```" not in text and "~~~" not in text:
        return []
    blocks: list[tuple[int, str]] = []
    inside: list[str] | None = None
    fence, at, start = "", 0, 0
    for line in text.split("\n"):
        mark = line.strip()
        opening = _FENCE.fullmatch(mark) if mark.startswith(("```", "~~~")) else None
        at += len(line) + 1
        if inside is None:
            if opening:
                inside, fence, start = [], opening[1], at
        elif opening and opening[1].startswith(fence):
            blocks.append((start, "\n".join(inside)))
            inside, fence, start = (None, "", 0) if mark == opening[1] else ([], opening[1], at)
        else:
            inside.append(line)
    if inside:
        blocks.append((start, "\n".join(inside)))
    return [(place, block) for place, block in blocks if block.strip()]


def _marked(text: str, mark: re.Match[str], *, is_list: bool) -> str:
    """Return what a mark points at; nothing if it is cut off."""
    start = mark.end()
    if mark["tag"]:
        closing = CLOSING_TAG.search(text, start, start + MAX_LENGTH)
        return text[start : closing.start()] if closing else ""
    after = text[start : start + MAX_LENGTH]
    if mark["boxed"]:
        return _braced(after)
    first, *lines = after.partition("</")[0].split("\n")
    stressed = None if is_list else _STRESSED.match(first)
    if stressed:
        return stressed[2]
    return first if tidy(first) else _below(lines, is_list=is_list)


def _braced(text: str) -> str:
    r"""Return text up to the brace that closes the one before it; ``\{`` is a brace in it."""
    depth = 1
    for brace in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if brace.group() in "{}":
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                return re.sub(r"\\([{}_%$])", r"\1", text[: brace.start()])
    return ""


def _below(lines: list[str], *, is_list: bool) -> str:
    """Return the first line that says something, or all of them up to a blank one."""
    taken: list[str] = []
    for line in lines:
        if _is_frame(line):
            if taken:
                break
        else:
            taken.append(line.removeprefix("> "))
            if not is_list:
                break
    return "\n".join(taken)


def _is_frame(line: str) -> bool:
    """Whether a line is blank, opens or closes a fence, or frames a formula."""
    line = line.strip()
    return not line.strip("*_`#- ") or line.startswith("```") or line in _FRAMES


def _fence(text: str, *, is_list: bool) -> Words | None:
    """Return the last fenced block, if an answer can be all that is in it."""
    blocks = fenced(text)
    if not blocks:
        return None
    start, block = blocks[-1]
    if MARK.search(block):
        return None
    value = _lines(block, is_list=is_list)
    return Words(value, "fence", start + len(block)) if value else None


def _alone(text: str, *, is_list: bool) -> Words | None:
    """Return a text that is nothing but an answer, or its last paragraph of a single word."""
    paragraphs = [
        "\n".join(line for line in part.split("\n") if not _is_frame(line))
        for part in re.split(r"\n[ \t\r>]{0,20}\n", text)
    ]
    paragraphs = [part for part in paragraphs if part]
    if not paragraphs:
        return None
    value = _lines(paragraphs[0], is_list=is_list) if len(paragraphs) == 1 else ""
    if value and (is_list or len(value.split()) <= _FEW or _ONE_SENTENCE.fullmatch(text.strip())):
        return None if declines(text) else Words(value, "whole", len(text))
    word = tidy(_LABEL.sub("", paragraphs[-1], count=1))
    if is_list and paragraphs[-2:-1] and paragraphs[-2].endswith(":"):
        value = _lines(paragraphs[-1], is_list=True)
        return Words(value, "whole", len(text)) if value else None
    # A word at the end of prose is an answer; one at the end of a list of words need not be.
    if len(paragraphs) > 1 and len(paragraphs[-2].split()) > 2 and len(word.split()) == 1:
        return Words(word, "whole", len(text)) if len(word) <= _LINE else None
    return None


def _lines(text: str, *, is_list: bool) -> str:
    """Return a line, or the lines of a list; nothing if it is anything else."""
    lines = [tidy(line) for line in text.split("\n") if not _is_frame(line)]
    single = len(lines) == 1 and len(lines[0]) <= (MAX_LENGTH if is_list else _LINE)
    listed = is_list and all(len(line) <= _LINE and len(line.split()) <= 3 for line in lines)
    value = tidy("\n".join(lines)) if single or listed else ""
    return "" if _OBJECT.search(value) else value
