r"""Stage 2 for what is no object: values behind a mark, in a fence, or as the whole reply.

A mark is ``Answer:``, ``Final answer:`` and what other languages have for it, ``<answer>`` or
``\boxed{``; without an object, also "The answer is" and a heading that says no more than "Answer".
What it points at is the rest of its line, else the next one that says anything; of a list, all
lines up to a blank one. Words that only surround it are dropped; whether the rest can be read is
asked by `scbench.scoring.answers.extract`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from scbench.graders.shared.short_answers import MAX_LENGTH, tidy

_FOREIGN = (
    r"(?:endg\u00fcltige\s|finale\s)?antwort|(?:r\u00e9ponse|respuesta|resposta|risposta)"
    r"(?:\sfinale?|\sdefinitiva)?|(?:\u043e\u043a\u043e\u043d\u0447\u0430\u0442\u0435\u043b\u044c"
    r"\u043d\u044b\u0439\s)?\u043e\u0442\u0432\u0435\u0442|\u0432\u0456\u0434\u043f\u043e\u0432"
    r"\u0456\u0434\u044c|(?:\u6700\u7ec8|\u6700\u7d42)?(?:\u7b54\u6848|\u56de\u7b54)|\u7b54\u3048?"
    r"|\u6b63\u89e3|(?:\ucd5c\uc885\s)?(?:\uc815\ub2f5|\ub2f5|\ub2f5\ubcc0)|\u0627\u0644\u0625?\u062c"
    r"(?:\u0648\u0627\u0628|\u0627\u0628\u0629)(?:\s\u0627\u0644\u0646\u0647\u0627\u0626\u064a\u0629)?"
    r"|\u0909\u0924\u094d\u0924\u0930|(?:eind)?antwoord|(?:ostateczna\s)?odpowied\u017a|(?:slut)?svar"
    r"|vastaus|cevap|\u0111\u00e1p\s\u00e1n|jawaban|odpov\u011b\u010f|v\u00e1lasz|r\u0103spuns"
    r"|\u03b1\u03c0\u03ac\u03bd\u03c4\u03b7\u03c3\u03b7|\u05ea\u05e9\u05d5\u05d1\u05d4"
)
_NO_MARK = r"(?<![^\W_])(?<![\"'<.])(?<!\bno\s)(?<!other\s)(?<!any\s)"
MARK = re.compile(
    rf"""
    (?P<tag> <(?:final[ _-]?)?(?:answer|solution)\b[^<>]{{0,60}}> | <final> )
    | (?P<boxed> \\boxed\s{{0,5}}\{{ )
    | {_NO_MARK} (?P<final> final [ _-]{{1,3}} )?
      (?: (?: answer | ans(?=[:.]) ) | (?(final) (?: result | solution | output ) | (?!) ) )
      (?![^\W_]) [*_`]{{0,4}}
      (?: [^\S\n]{{0,20}}
          (?P<sign> [:\uff1a] | (?(final) (?: = | \u2192 | -> | [-\u2013\u2014][ ] ) | (?!) ) )
        | \s[^\S\n]{{0,20}} (?: is | would[ ]be ) (?![^\W_])
          (?: [ ] (?!possib|probab|like)(?:[a-z]{{2,12}}ly|thus|therefore|then|just|indeed|hence)\b
              ,? )?
          [^\S\n]{{0,20}} (?P<colon> : )? )
      (?: [*_`]{{1,4}} (?=\s) )?
    | {_NO_MARK} (?: {_FOREIGN} ) [*_`]{{0,4}} [^\S\n]{{0,5}}
      (?: (?P<foreign> [:\uff1a] ) | (?: \u662f | \u306f ) (?P<copula> [:\uff1a] )? )
      (?: [*_`]{{1,4}} (?=\s) )?
    | ^ \#{{4}} [ ]? (?= -? [\d$] )
    | ^ [#>*_ \t]{{0,12}} (?: (?:my|the) [ ]{{1,3}} )? (?: final [ ]{{1,3}} )?
      answer [*_ \t]{{0,12}} $
    | ^ [>*_` \t]{{0,12}} answer [*_`]{{0,4}} [ \t]{{0,20}} (?P<equals> = )
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_SIGNS = ("tag", "boxed", "sign", "colon", "foreign", "copula", "equals")
_NONE = re.compile(
    r"""(?: n/?a | n\.a | null | nil | none | unknown | undetermined | not\savailable
      | (?:there\sis\s)? no\s (?:(?:valid|possible|such|feasible|correct|final)\s)?
        (?: answer | solution | path | loop | tour | triangulation | packing | maze | plan )
        (?: \s(?:exists | is\spossible | found | available | can\sbe\s\w+ ) )?
      | keine?(?:\s\w+)? | unbekannt | aucune?(?:\s\w+)? | inconnue? | ninguna?(?:\s\w+)?
      | sin\ssoluci\u00f3n | desconocid[oa] | nessun[ao]?(?:\s\w+)? | sconosciut[oa]
      | nenhuma?(?:\s\w+)?
      | \u043d\u0435\u0442(?:\s\w+)? | \u043d\u0435\u0438\u0437\u0432\u0435\u0441\u0442\u043d\u043e
      | \u65e0(?:\u89e3)? | \u672a\u77e5 | \u306a\u3057 | \u4e0d\u660e | \uc5c6\uc74c
      | no\s(?:hay\s|existe\s)\w+ )
    (?= \Z | [.!,;(\n] | \s(?:because|since|as|for)\b | \s[-\u2013\u2014] )""",
    re.IGNORECASE | re.VERBOSE,
)
_HTML = re.compile(
    r"</?(?:b|strong|i|em|u|p|br|div|span|code|mark|font|h[1-6])\b[^<>]{0,80}>", re.IGNORECASE
)
_STRESSED = re.compile(r"\s{0,20}(\*\*|__|`|\$)(?=\S)([^*`$\n]{1,200})(?<=\S)\1")
_OBJECT = re.compile(r"""\{\s*(?:["']|[^\W\d]\w*\s*:)""")
"""The beginning of an object, which is read elsewhere or cannot be read."""
_LINE = 300
"""Longest line, in characters, that is taken as an answer where nothing marks it."""
_MAX_WORDS = 5
_ONE_SENTENCE = re.compile(r"[^.!?\n]*(?:\.\w[^.!?\n]*)*[.!][*_`$\"]*")
_LABEL = re.compile(r"\A[*_]{0,3}[^\W\d][\w ]{0,30}:[*_]{0,3}\s+")
"""A word such as "Total:" before the last line."""
_FRAMES = {"\\[", "\\]", "\\(", "\\)", "$$"}
"""Lines that only frame a formula."""
_FENCE = re.compile(r"(`{3,}|~{3,})[^`~]*")


class Words(NamedTuple):
    """What may be an answer in words.

    Attributes:
        value: the words, tidied.
        source: ``marked``, ``fence`` or ``whole``.
        start: where the mark begins, or the words.
        end: about where they end.
        sign: whether the mark has a colon or is a tag; only such a one replaces an object.
        is_none: whether they say no more than that there is no answer.
    """

    value: str
    source: str
    start: int
    end: int
    sign: bool = False
    is_none: bool = False


def marks_in(text: str) -> list[tuple[re.Match[str], bool]]:
    """Return the marks of a text, and whether each has a colon or is a tag."""
    if "<" in text:
        text = _HTML.sub(lambda tag: " " * len(tag.group()), text)
    return [(mark, any(mark[name] for name in _SIGNS)) for mark in MARK.finditer(text)]


def marked(mark: re.Match[str], *, sign: bool, is_list: bool) -> Iterator[Words]:
    """Yield what a mark points at: all of it, or what is stressed. An object is read elsewhere."""
    for content in _marked_contents(mark, is_list=is_list):
        value = tidy(content.strip()) if len(content) <= MAX_LENGTH else ""
        if value and not _OBJECT.search(value):
            at = max(mark.string.find(content, mark.end()), mark.end())
            is_none = _NONE.match(value) is not None
            yield Words(value, "marked", mark.start(), at + len(content), sign, is_none)


def unmarked(text: str, *, is_list: bool) -> Iterator[Words]:
    """Yield what the last fence holds, or else the whole text, if that may be an answer."""
    blocks = fenced(text)
    for start, block in blocks[-1:]:
        if value := _answer_lines(block, is_list=is_list):
            yield Words(value, "fence", start, start + len(block))
    if value := "" if blocks else _nothing_else(text, is_list=is_list):
        yield Words(value, "whole", 0, len(text))


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


def _marked_contents(mark: re.Match[str], *, is_list: bool) -> tuple[str, ...]:
    after = mark.string[mark.end() : mark.end() + MAX_LENGTH]
    if mark["tag"]:
        content, closing, _ = after.partition("</")
        return (content,) if closing else ()
    if mark["boxed"]:
        return (_braced(after),)
    first, *lines = after.partition("</")[0].split("\n")
    if not tidy(first.strip()):
        return (_lines_below(lines, is_list=is_list),)
    stressed = _STRESSED.match(first)
    if stressed and not is_list:
        return (stressed[2],)
    return (first, stressed[2]) if stressed else (first,)


def _braced(text: str) -> str:
    r"""Return text up to the brace that closes the one before it; ``\{`` is a brace in it."""
    depth = 1
    for brace in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if brace.group() in "{}":
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                return re.sub(r"\\([{}_%$])", r"\1", text[: brace.start()])
    return ""


def _lines_below(lines: list[str], *, is_list: bool) -> str:
    """Return the first line that says something, or all of them up to a blank one."""
    content: list[str] = []
    for line in lines:
        if _is_frame(line):
            if content:
                break
        else:
            content.append(line.removeprefix("> "))
            if not is_list:
                break
    return "\n".join(content)


def _is_frame(line: str) -> bool:
    """Whether a line is blank, opens or closes a fence, or frames a formula."""
    line = line.strip()
    return not line.strip("*_`#- ") or line.startswith("```") or line in _FRAMES


def _nothing_else(text: str, *, is_list: bool) -> str:
    """Return a text that is nothing but an answer, or its last paragraph of a single word."""
    paragraphs = [
        "\n".join(line for line in part.split("\n") if not _is_frame(line))
        for part in re.split(r"\n[ \t\r>]{0,20}\n", text)
    ]
    paragraphs = [part for part in paragraphs if part]
    if not paragraphs:
        return ""
    value = _answer_lines(paragraphs[0], is_list=is_list) if len(paragraphs) == 1 else ""
    if value and (
        is_list or len(value.split()) <= _MAX_WORDS or _ONE_SENTENCE.fullmatch(text.strip())
    ):
        return value
    if is_list and paragraphs[-2:-1] and paragraphs[-2].endswith(":"):
        return _answer_lines(paragraphs[-1], is_list=True)
    word = tidy(_LABEL.sub("", paragraphs[-1], count=1))
    # A word at the end of prose is an answer; one at the end of a list of words need not be.
    is_last = len(paragraphs) > 1 and len(paragraphs[-2].split()) > 2 and len(word.split()) == 1
    return word if is_last and len(word) <= _LINE else ""


def _answer_lines(text: str, *, is_list: bool) -> str:
    """Return a line, or the lines of a list; nothing if it is anything else."""
    lines = [tidy(line) for line in text.split("\n") if not _is_frame(line)]
    single = len(lines) == 1 and len(lines[0]) <= (MAX_LENGTH if is_list else _LINE)
    short_lines = is_list and all(len(line) <= _LINE and len(line.split()) <= 3 for line in lines)
    value = tidy("\n".join(lines)) if single or short_lines else ""
    return "" if _OBJECT.search(value) else value
