r"""Finding an answer of a word, a number or a short list in text that holds no JSON object of it.

A final answer that is clearly marked is taken, the last one that says anything (of the last ten
marks):

- ``<answer> ... </answer>`` and ``\boxed{ ... }``;
- "Answer: ..." and "The answer is ...", also with words before such as "Final": what is emphasised
  right after it, else the rest of that line, else the next line that is not blank. Of a list it is
  the whole rest of the line, else all lines up to the next blank one;
- an object that lacks the quotes round its value, such as ``{"answer": B}``.

If nothing is marked, the whole text is taken, provided that it is a single word or number. Quotes,
emphasis, LaTeX and a full stop round the answer are dropped. Every step is linear in the length of
the text.
"""

import re
from collections import deque

from scbench.graders.shared.short_answers import MOST, tidy

_MARKS = 10
_WORD = 200
"""Longest text, in characters, that is taken as a single word."""

_MARK = re.compile(
    r"""
    (?P<tag> <answer> )
    | (?P<boxed> \\boxed\s{0,5}\{ )
    | \{ \s{0,20} ["']?answer["']? \s{0,20} : \s{0,20} (?P<bare> [^{}\[\]"'\n]{1,200} ) \}
    | (?<![^\W_]) (?<!["'<]) (?P<final> final [ ]{1,3} )? answer (?![^\W_]) [*_`]{0,4}
      (?: [ \t]{0,20} (?: : | (?(final) = | (?!) ) ) | [ \t]{1,20} is (?![^\W_]) [ \t]{0,20} :? )
      (?: [*_`]{1,4} (?=\s) )?
    | ^ [#*_ \t]{0,12} (?: final [ ]{1,3} )? answer [*_ \t]{0,12} $
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_CLOSING_TAG = re.compile("</answer>", re.IGNORECASE)
_STRESSED = re.compile(r"\s{0,20}(\*\*|__|`|\$)(?=\S)([^*`$\n]{1,200})(?<=\S)\1")
_FRAMES = {"\\[", "\\]", "\\(", "\\)", "$$"}
"""Lines that only frame a formula."""


def find_short(text: str, *, is_list: bool = False) -> tuple[str, str] | None:
    """Return an answer and where it was found, ``marked`` or ``whole``; None if there is none.

    Args:
        text: what a model said, without its reasoning.
        is_list: whether the answer can be a list, which can be given on several lines.
    """
    marks = deque(_MARK.finditer(text), maxlen=_MARKS)
    for mark in reversed(marks):
        content = _marked(text, mark, is_list=is_list)
        if len(content) <= MOST and (value := tidy(content)):
            return value, "marked"
    if marks or len(text) > MOST:
        return None
    lines = [line for line in text.split("\n") if not _is_frame(line)]
    word = tidy(lines[0]) if len(lines) == 1 else ""
    return (word, "whole") if 0 < len(word) <= _WORD and len(word.split()) == 1 else None


def _marked(text: str, mark: re.Match[str], *, is_list: bool) -> str:
    """Return what a mark points at; nothing if it is cut off."""
    if mark["bare"]:
        return mark["bare"]
    start = mark.end()
    if mark["tag"]:
        closing = _CLOSING_TAG.search(text, start, start + MOST)
        return text[start : closing.start()] if closing else ""
    after = text[start : start + MOST]
    if mark["boxed"]:
        return _braced(after)
    first, *lines = after.partition("</")[0].split("\n")
    stressed = None if is_list else _STRESSED.match(first)
    if stressed:
        return stressed[2]
    return first if tidy(first) else _below(lines, is_list=is_list)


def _braced(text: str) -> str:
    """Return text up to the brace that closes the one before it."""
    depth = 1
    for brace in re.finditer(r"[{}]", text):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return text[: brace.start()]
    return ""


def _below(lines: list[str], *, is_list: bool) -> str:
    """Return the first line that says something, or all of them up to a blank one."""
    taken: list[str] = []
    for line in lines:
        if _is_frame(line):
            if taken:
                break
        else:
            taken.append(line)
            if not is_list:
                break
    return "\n".join(taken)


def _is_frame(line: str) -> bool:
    """Whether a line is blank, opens or closes a fence, or frames a formula."""
    line = line.strip()
    return not line.strip("*_`#- ") or line.startswith("```") or line in _FRAMES
