r"""Finding an answer of a word, a number or a short list in text that holds no JSON object of it.

In the order in which they end, the last of these is taken that says anything:

- what a mark points at (the last ten are looked at): the content of ``<answer>`` or ``\boxed``;
  what is emphasised right after "Answer:", else the rest of that line, else the next line that is
  not blank. Of a list it is the whole rest of the line, else all lines up to the next blank one;
- a fenced block of one line, or of a list;
- the whole text, if it is one line or a list; or its last paragraph, if that is a single word.

A mark is ``<answer>``, ``\boxed{``, "Answer:", "Final answer:", "The answer is", or a line that
says no more than "Answer".

Quotes, emphasis, LaTeX and a full stop round the answer are dropped. Whether it can be read as what
the task asks for is the grader's to say. Every step is linear in the length of the text.
"""

import re
from collections import deque
from dataclasses import dataclass

from scbench.graders.shared.short_answers import MAX_LENGTH, tidy

MARK = re.compile(
    r"""
    (?P<tag> <(?:final_?)?answer> )
    | (?P<boxed> \\boxed\s{0,5}\{ )
    | (?<![^\W_]) (?<!["'<]) (?<!\bno[ ]) (?<!other[ ]) (?<!any[ ]) (?P<final> final [ _]{1,3} )?
      (?: (?: answer | ans(?=[:.]) ) | (?(final) (?: result | solution | output ) | (?!) ) )
      (?![^\W_]) [*_`]{0,4}
      (?: [ \t]{0,20}
          (?P<sign> : | \uff1a | (?(final) (?: = | \u2192 | -> | [-\u2013\u2014][ ] ) | (?!) ) )
        | (?: [ \t]{1,20} | \s ) (?: is | would[ ]be ) (?![^\W_])
          [ \t]{0,20} (?P<colon> : )? )
      (?: [*_`]{1,4} (?=\s) )?
    | (?<!\w) (?: antwort | r\u00e9ponse | respuesta | resposta | risposta
        | \u043e\u0442\u0432\u0435\u0442
        | (?:\u6700\u7ec8)? \u7b54\u6848 | \u7b54\u3048 | \u6b63\u89e3 )
      [*_`]{0,4} [ \t]{0,5}
      (?P<foreign> [:\uff1a] | \u662f [:\uff1a]? ) (?: [*_`]{1,4} (?=\s) )?
    | ^ \#{4} [ ]? (?= -? [\d$] )
    | ^ [#>*_ \t]{0,12} (?: (?:my|the) [ ]{1,3} )? (?: final [ ]{1,3} )? answer [*_ \t]{0,12} $
    | ^ [>*_` \t]{0,12} answer [*_`]{0,4} [ \t]{0,20} (?P<equals> = )
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
CLOSING_TAG = re.compile("</(?:final_?)?answer>", re.IGNORECASE)

_CANNOT = (
    r"(?:i|we)(?:\s+am|\s+was|\s+were|['\u2019]m|['\u2019]re|\s+must|\s+have\s+to)?\s+"
    r"(?:can\s?not|can['\u2019]t|could\s?n['\u2019]t|could not|won['\u2019]t|will not|unable to|"
    r"not able to|was\s?n['\u2019]t able|do not have the ability|don['\u2019]t have the ability|"
    r"decline|refuse)\b"
)
_DECLINES = re.compile(rf"\b{_CANNOT}", re.IGNORECASE)
_THING = (
    r"(?:answer|solution|arrangement|path|loop|tour|cycle|packing|placement|partition|"
    r"triangulation|maze|function|polynomial|plan|route|assignment|configuration|tiling)s?"
)
_TAKES_BACK = re.compile(
    rf"""
    \b(?: no \s (?:(?:valid|possible|feasible|such|correct|exact) \s){{0,2}} {_THING} \s
          (?: exists? | is \s possible | are \s possible | can \s be \s (?:found|given) )
        | there \s (?: is | are | exists ) \s no \s
          (?:(?:valid|possible|feasible|such|correct) \s){{0,2}} {_THING} \s{{0,3}} (?: [.!,;] | $ )
        | (?: problem | puzzle | task | it | this | instance ) \s
          (?: (?:is | seems | appears) \s (?:to\sbe\s)?
              (?: impossible (?!\sto\b) | unsolvable | infeasible | not \s solvable )
            | has \s no \s {_THING} | (?:cannot|can\s?not|can['\u2019]t) \s be \s solved )
        | (?:i \s | we \s) give \s up
        | (?:i|we) \s (?:do \s not|don['\u2019]t) \s know
        | {_CANNOT} \s (?: \w+ \s )?
          (?: solve | find | determine | answer | give | provide | produce | complete | offer | help
            | do )
          \s{{0,3}} (?: (?: a | an | any | the | this | that | it | you | with ) \s{{0,3}} ){{0,2}}
          (?: (?: valid | correct | final | right | reliable | definite | such ) \s ){{0,2}}
          (?: {_THING} | puzzle | problem | question | task | request )? \s{{0,3}}
          (?: [.!,;] | $ | for\b | to\sthis | here\b )
        | (?P<ignore> ignore | disregard | discard | scrap | forget ) \s
          (?: the | that | my | this | all )? \s{{0,3}} (?: of \s )?
          (?: above | previous | earlier | answer | draft | attempt | last )
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LOOKED_AT = 20_000
_REFERS = re.compile(
    r"\b(?:above|previous(?:ly)?|earlier|preceding|before|given|shown|provided|stated|listed|this|"
    r"that|these|same|json|object|see|block)\b",
    re.IGNORECASE,
)
_MARKS = 10
_LINE = 300
"""Longest line, in characters, that is taken as an answer where nothing marks it."""
_STRESSED = re.compile(r"\s{0,20}(\*\*|__|`|\$)(?=\S)([^*`$\n]{1,200})(?<=\S)\1")
_OBJECT = re.compile(r"""\{\s*(?:["']|[^\W\d]\w*\s*:)""")
"""The beginning of an object, which is read elsewhere or cannot be read."""
_MAX_WORDS = 5
_ONE_SENTENCE = re.compile(r"[^.!?\n]*(?:\.\w[^.!?\n]*)*[.!][*_`$\"]*")
_LABEL = re.compile(r"\A[*_]{0,3}[^\W\d][\w ]{0,30}:[*_]{0,3}\s+")
"""A word such as "Total:" before the last line."""
_FRAMES = {"\\[", "\\]", "\\(", "\\)", "$$"}
"""Lines that only frame a formula."""
_FENCE = re.compile(r"(`{3,}|~{3,})[^`~]*")


def text_declines(text: str) -> bool:
    """Whether a visible text without an answer says that it will not give one."""
    ends = (text[:_LOOKED_AT], text[-_LOOKED_AT:])
    return any(_DECLINES.search(part) for part in ends) or any(
        match is not None and not match["ignore"] for match in map(_TAKES_BACK.search, ends)
    )


def takes_back(text: str) -> bool:
    """Whether the text behind an answer says that there is none, or to ignore it."""
    return _TAKES_BACK.search(text) is not None


def refers_back(text: str) -> bool:
    """Whether the text behind a mark only points at what was said before."""
    return _REFERS.search(text[:200]) is not None


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
    candidates = [
        words
        for words in (find_marked(text, is_list=is_list), _last_fence(text, is_list=is_list))
        if words is not None
    ]
    if candidates:
        return max(candidates, key=lambda words: words.end)
    return None if MARK.search(text) else _nothing_else(text, is_list=is_list)


def find_marked(text: str, *, is_list: bool = False) -> Words | None:
    """Return what the last mark points at that points at anything; None if none does."""
    for mark in reversed(deque(MARK.finditer(text), maxlen=_MARKS)):
        content = _marked_content(text, mark, is_list=is_list)
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


def _marked_content(text: str, mark: re.Match[str], *, is_list: bool) -> str:
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
    return first if tidy(first) else _lines_below(lines, is_list=is_list)


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


def _last_fence(text: str, *, is_list: bool) -> Words | None:
    """Return the last fenced block, if an answer can be all that is in it."""
    blocks = fenced(text)
    if not blocks:
        return None
    start, block = blocks[-1]
    if MARK.search(block):
        return None
    value = _answer_lines(block, is_list=is_list)
    return Words(value, "fence", start + len(block)) if value else None


def _nothing_else(text: str, *, is_list: bool) -> Words | None:
    """Return a text that is nothing but an answer, or its last paragraph of a single word."""
    paragraphs = [
        "\n".join(line for line in part.split("\n") if not _is_frame(line))
        for part in re.split(r"\n[ \t\r>]{0,20}\n", text)
    ]
    paragraphs = [part for part in paragraphs if part]
    if not paragraphs:
        return None
    value = _answer_lines(paragraphs[0], is_list=is_list) if len(paragraphs) == 1 else ""
    if value and (
        is_list or len(value.split()) <= _MAX_WORDS or _ONE_SENTENCE.fullmatch(text.strip())
    ):
        return None if text_declines(text) else Words(value, "whole", len(text))
    word = tidy(_LABEL.sub("", paragraphs[-1], count=1))
    if is_list and paragraphs[-2:-1] and paragraphs[-2].endswith(":"):
        value = _answer_lines(paragraphs[-1], is_list=True)
        return Words(value, "whole", len(text)) if value else None
    # A word at the end of prose is an answer; one at the end of a list of words need not be.
    if len(paragraphs) > 1 and len(paragraphs[-2].split()) > 2 and len(word.split()) == 1:
        return Words(word, "whole", len(text)) if len(word) <= _LINE else None
    return None


def _answer_lines(text: str, *, is_list: bool) -> str:
    """Return a line, or the lines of a list; nothing if it is anything else."""
    lines = [tidy(line) for line in text.split("\n") if not _is_frame(line)]
    single = len(lines) == 1 and len(lines[0]) <= (MAX_LENGTH if is_list else _LINE)
    short_lines = is_list and all(len(line) <= _LINE and len(line.split()) <= 3 for line in lines)
    value = tidy("\n".join(lines)) if single or short_lines else ""
    return "" if _OBJECT.search(value) else value
