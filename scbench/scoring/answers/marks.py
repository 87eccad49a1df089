r"""Marks of a final answer, such as ``Final answer:``, and the text that they point to.

``**Answer:** `[1, 2]` `` points to ``[1, 2]``, ``<answer>7</answer>`` to ``7``, and ``\boxed{7}``
to ``7``. A mark points to the rest of its line, or else to the next non-empty line; for a list, to
all lines up to a blank one.

A mark has a sign if it is a tag, a box, or ends with a colon or an equals sign. Marks without
a sign ("The answer is", a heading) are sentences.
"""

import re
from collections import deque

from scbench.graders.shared.answer_text import MAX_LENGTH
from scbench.scoring.answers.visible import WORDS

# Maximum number of marks returned (the last ones).
_MAX_MARKS = 50

# <answer>, <final_answer>, <solution type="list">, <final>
_TAG = r"<(?:final[ _-]?)?(?:answer|solution)\b[^<>]{0,60}> | <final>"
_BOX = r"\\boxed\s{0,5}\{"
# A letter that starts a word, except in quotes, in a name, or after these words on the line.
_WORD_BEGINS = (
    r"(?=[^\W\d_]) (?<![^\W_]) (?<![\"'<.]) "
    r"(?<!\bno[^\S\n]) (?<!other[^\S\n]) (?<!any[^\S\n]) (?<!lambda[^\S\n])"
)
# "answer", "ans:", with "final" also "result", or the word for it in another language.
_NOUN = (
    r"(?: answer | ans(?=[:.]) | (?(final) (?: result | solution | output ) | (?!) )"
    rf" | {'|'.join(WORDS['marks']['words'])} )"
)
# A colon; after "final answer" also an equals sign, an arrow or a dash.
_SIGN = (
    r"(?P<sign> [:\uff1a]"
    r" | (?(final) (?: = | \u2192 | -> | [-\u2013\u2014][ ] ) | (?!) ) )"
)
# "is", also in other languages, and an adverb ("is therefore"), but no adverb of doubt.
_IS = (
    rf"(?: \s[^\S\n]{{0,20}} (?: {'|'.join(WORDS['marks']['is'])} ) (?![^\W_])"
    r" | [\u662f\u306f] )"
    r"(?: [ ] (?!possib|probab|like)"
    r"(?:[a-z]{2,12}ly|thus|therefore|then|just|indeed|hence)\b ,? )?"
)
# A line with nothing but "Answer", "Final answer", "## The answer".
_HEADING = (
    r"^ [#>*_ \t]{0,12} (?: (?:my|the) [ ]{1,3} )? (?: final [ ]{1,3} )? "
    r"answer [*_ \t]{0,12} $"
)
# A line that begins with "answer =".
_ASSIGNMENT = r"^ [>*_` \t]{0,12} answer [*_`]{0,4} [ \t]{0,20} (?P<equals> = )"
# "#### 39", as in GSM8K: a heading of the fourth level that ends the text.
# The blanks after the text are matched once, because a text may have many headings before blanks.
_LAST_HEADING = r"^ \#{4} [ ]{1,3} (?= (?: [^\n]{0,199} \S | [^\S\n] ) \s*+ \Z )"
_MARK = re.compile(
    rf"""
    (?P<tag> {_TAG} )
    | (?P<boxed> {_BOX} )
    | {_WORD_BEGINS}
      (?P<final> final [ _-]{{1,3}} )?
      {_NOUN} (?![a-z]) [*_`]{{0,4}}
      (?: [^\S\n]{{0,20}} {_SIGN}
        | {_IS} [^\S\n]{{0,20}} (?P<colon> [:\uff1a] )? )
      (?: [*_`]{{1,4}} (?=\s) )?
    | {_HEADING}
    | {_ASSIGNMENT}
    | {_LAST_HEADING}
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_SIGN_GROUPS = ("tag", "boxed", "sign", "colon", "equals")
# A letter, or another character that a mark can begin with.
_FIRST_CHARACTER = re.compile(r"[\w<\\#]")
# Tags that only format text.
_HTML = re.compile(
    r"(?i)</?(?:b|strong|i|em|u|p|br|div|span|code|mark|font|h[1-6])\b[^<>]{0,80}>"
)
# Text in bold, in a code span or in a formula.
_STRESSED = re.compile(r"\s{0,20}(\*\*|__|`|\$)(?=\S)([^*`$\n]{1,200})(?<=\S)\1")
# The content of a box: up to its brace, with up to two levels of braces inside.
_BOX_CONTENT = re.compile(
    r"((?:[^{}\\]|\\.|\{(?:[^{}\\]|\\.|\{[^{}]*\})*\})*)\}", re.DOTALL
)
# The end of a sentence in Chinese or Japanese ("is" in Japanese is at the end), and everything
# after it.
_EAST_ASIAN_END = re.compile(r"(?:\u3067\u3059|\u3002).*\Z")
# After a value: another value or a condition.
_ALTERNATIVE = re.compile(r"\W*(?:\w+\s){0,2}?(?:or|if|unless)\b", re.IGNORECASE)
_LATEX_ESCAPE = re.compile(r"\\([{}_%$])")
_FORMULA_FRAMES = {"\\[", "\\]", "\\(", "\\)", "$$"}


def marks_in(text: str) -> list[re.Match[str]]:
    """Return the last marks of a text, in order. HTML tags count as spaces."""
    plain = _HTML.sub(_blanked, text)
    return list(deque(_MARK.finditer(plain), maxlen=_MAX_MARKS))


def _blanked(tag: re.Match[str]) -> str:
    # The replacement has the same length, so that positions stay the same.
    return " " * len(tag.group())


def may_have_mark(text: str, at: int) -> bool:
    """Whether a mark may follow a position; much faster than searching for a mark."""
    return _FIRST_CHARACTER.search(text, at) is not None


def has_sign(mark: re.Match[str]) -> bool:
    """Whether a mark is more than words: a tag, a box, or words with a colon or an equals sign."""
    return any(mark.group(*_SIGN_GROUPS))


def pointed_at(mark: re.Match[str], *, is_list: bool) -> tuple[str, ...]:
    """Return the texts that a mark may point to, the most likely first.

    Args:
        mark: a mark.
        is_list: whether the answer may span several lines.
    """
    after = mark.string[mark.end() : mark.end() + MAX_LENGTH]
    if mark["boxed"]:
        content = _BOX_CONTENT.match(after)
        return (_LATEX_ESCAPE.sub(r"\1", content[1]),) if content else ()
    content_of_tag, closing_tag, _ = after.partition("</")
    if mark["tag"]:
        return (content_of_tag,) if closing_tag else ()
    first, *lines = content_of_tag.split("\n")
    if is_frame(first):
        return (_next_lines(lines, is_list=is_list),)
    first = _EAST_ASIAN_END.sub("", first)
    stressed = _STRESSED.match(first)
    if stressed is None:
        return (first,)
    if _ALTERNATIVE.match(first, stressed.end()):
        return (first,)
    return (first, stressed[2]) if is_list else (stressed[2],)


def _next_lines(lines: list[str], *, is_list: bool) -> str:
    """Return the first non-empty line; for a list, all lines up to a frame."""
    content: list[str] = []
    for line in lines:
        if not is_frame(line):
            content.append(line)
            if not is_list:
                break
        elif content:
            break
    return "\n".join(content)


def is_frame(line: str) -> bool:
    """Whether a line is blank, opens or closes a fence, or frames a formula."""
    line = line.strip()
    if line.startswith("```") or line in _FORMULA_FRAMES:
        return True
    return not line.strip("*_`#- ")
