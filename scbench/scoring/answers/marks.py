r"""Stage 2 for what is no object: words behind a mark, in the last fence, or alone in the reply.

A mark is ``Answer:``, ``Final answer:`` and what other languages have for it (``words.toml``),
``<answer>`` or ``\boxed{``; without an object, also "The answer is" and a heading that says no more
than "Answer". What it points at is the rest of its line, else the next one that says anything; of a
list, all lines up to a blank one. Whether it can be read is asked of the task's grader.
"""

import re
from collections.abc import Iterator
from itertools import dropwhile, takewhile
from typing import NamedTuple

from scbench.graders.shared.short_answers import MAX_LENGTH, tidy
from scbench.scoring.answers.shape import Shape
from scbench.scoring.answers.visible import WORDS

_MARK = re.compile(
    rf"""
    (?P<tag> <(?:final[ _-]?)?(?:answer|solution)\b[^<>]{{0,60}}> | <final> )
    | (?P<boxed> \\boxed\s{{0,5}}\{{ )
    | (?=[^\W\d_]) (?<![^\W_])(?<![\"'<.])(?<!\bno\s)(?<!other\s)(?<!any\s)
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
_SIGNS = ("tag", "boxed", "sign", "colon", "equals")
NONE = re.compile(
    rf"(?:{'|'.join(WORDS['none']['words'])})"
    r"(?=\Z|[.!,;(\n]|\s(?:because|since|as|for)\b|\s[-\u2013\u2014])",
    re.IGNORECASE,
)
_HTML = re.compile(
    r"</?(?:b|strong|i|em|u|p|br|div|span|code|mark|font|h[1-6])\b[^<>]{0,80}>", re.IGNORECASE
)
_STRESSED = re.compile(r"\s{0,20}(\*\*|__|`|\$)(?=\S)([^*`$\n]{1,200})(?<=\S)\1")
_OBJECT = re.compile(r"""\{\s*(?:["']|[^\W\d]\w*\s*:)""")
"""The beginning of an object, which is read elsewhere or cannot be read."""
_BRACED = re.compile(r"((?:[^{}\\]|\\.|\{(?:[^{}\\]|\\.|\{[^{}]*\})*\})*)\}", re.DOTALL)
_LINE = 300
"""Longest line, in characters, that is taken as an answer where nothing marks it."""
# A fence is a line of backticks or tildes and maybe a language; it is closed by a line of as many
# of them alone, by the next fence with a language, or by the end of the text.
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^`~\n]*\n(.*?)(?:^[ \t]*(?:\1[`~]*[ \t\r]*$|(?=\1\w))|\Z)",
    re.MULTILINE | re.DOTALL,
)


class Words(NamedTuple):
    """What may be an answer in words, where from, where it begins, and about where it ends."""

    content: str
    source: str
    start: int
    end: int


def marks_in(text: str) -> list[tuple[re.Match[str], bool]]:
    """Return the marks of a text, and whether each has a colon or is a tag."""
    if "<" in text:
        text = _HTML.sub(lambda tag: " " * len(tag.group()), text)
    return [(mark, any(mark[name] for name in _SIGNS)) for mark in _MARK.finditer(text)]


def marked(mark: re.Match[str], shape: Shape) -> Iterator[Words]:
    """Yield what a mark points at: all of it, or what is stressed. An object is read elsewhere."""
    for content in _marked_contents(mark, is_list=shape.is_list or shape.bare_text is not None):
        if len(content) <= MAX_LENGTH and not _OBJECT.search(content):
            at = max(mark.string.find(content, mark.end()), mark.end())
            yield Words(content, "marked", mark.start(), at + len(content))


def unmarked(text: str, shape: Shape) -> Iterator[Words]:
    """Yield what the last fence holds, or else the whole text or its last paragraph of a word."""
    blocks = fenced(text)
    for start, block in blocks[-1:]:
        yield Words(_answer_lines(block, shape), "fence", start, start + len(block))
    if not blocks and shape.bare_text:
        yield Words(text, "whole", 0, len(text))
    elif not blocks:
        *before, last = re.split(r"\n[ \t\r]{0,20}\n", text.strip())
        value = _answer_lines(last, shape)
        # A word at the end of prose is an answer; one at the end of a list of words need not be.
        is_last = len(value.split()) == 1 and len((before or [""])[-1].split()) > 2
        if not before or is_last or (shape.is_list and before[-1].endswith(":")):
            yield Words(value, "whole", 0, len(text))


def fenced(text: str) -> list[tuple[int, str]]:
    """Return start and content of the fenced blocks of a text that are not blank."""
    return [(block.start(2), block[2]) for block in _FENCE.finditer(text) if block[2].strip()]


def _marked_contents(mark: re.Match[str], *, is_list: bool) -> tuple[str, ...]:
    after = mark.string[mark.end() : mark.end() + MAX_LENGTH]
    if mark["boxed"]:
        braced = _BRACED.match(after)
        return (re.sub(r"\\([{}_%$])", r"\1", braced[1]),) if braced else ()
    content, closing, _ = after.partition("</")
    if mark["tag"]:
        return (content,) if closing else ()
    first, *lines = content.split("\n")
    if _is_frame(first):
        said = [*takewhile(lambda line: not _is_frame(line), dropwhile(_is_frame, lines))]
        return ("\n".join(said if is_list else said[:1]),)
    stressed = _STRESSED.match(first)
    if stressed and not is_list:
        return (stressed[2],)
    return (first, stressed[2]) if stressed else (first,)


def _is_frame(line: str) -> bool:
    """Whether a line is blank, opens or closes a fence, or frames a formula."""
    line = line.strip()
    framing = line in {"\\[", "\\]", "\\(", "\\)", "$$"}
    return framing or line.startswith("```") or not line.strip("*_`#- ")


def _answer_lines(text: str, shape: Shape) -> str:
    """Return a line, or the lines of a list; nothing if it is anything else."""
    if shape.bare_text:
        return text
    if len(text) > 2 * MAX_LENGTH or _OBJECT.search(text):
        return ""
    lines = [tidy(line) for line in text.split("\n") if not _is_frame(line)]
    single = len(lines) == 1 and len(lines[0]) <= (MAX_LENGTH if shape.is_list else _LINE)
    are_short = all(len(line) <= _LINE and len(line.split()) <= 3 for line in lines)
    return "\n".join(lines) if single or (shape.is_list and are_short) else ""
