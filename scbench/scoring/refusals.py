"""Refusals: detection of replies that decline in their first or last sentence."""

import re

from scbench.scoring.answers.visible import visible_text

# Maximum number of characters read from a sentence.
_SENTENCE = 400
_SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+|\n+")
# "cannot", "am not able to", "must decline", "don't have the tools", ...
_CANNOT = (
    r"(?:can\s?not|can['\u2019]?t|could\s?not|could\s?n['\u2019]?t|will\snot|won['\u2019]?t"
    r"|(?:am|are|is|was|were|be|['\u2019]m|['\u2019]re)\s(?:\w+\s)?(?:un|not\s(?:\w+\s)?)"
    r"able\sto"
    r"|(?:was|were)n['\u2019]t\sable\sto|unable\sto|(?:must|have\sto)\s(?:\w+\s)?decline"
    r"|decline\sto|refuse|do\s?n(?:['\u2019]|o)t\shave\s(?:the\s|any\s)?"
    r"(?:ability|means|tools?|way)|(?:am|['\u2019]m)\snot\scomfortable)"
)
# Verbs of answering: "I cannot exclude it" is not a refusal.
_ANSWERING = (
    r"(?:answer|assist|help|solve|solution|complete|provide|give|offer|produce|generate|comply"
    r"|fulfil\w*|determine|find|compute|calculate"
    r"|work\s(?:this|it|that)\sout|do\s(?:this|that|it|so)"
    r"|see\s(?:it|the\s(?:image|picture|figure|attach\w+))|view|access|open|continue|proceed|process|finish|engage|respond|run"
    r"|execute"
    r"|draw|decide|say|tell|with\s(?:this|that|the))"
)
_TASK = r"(?:problem|puzzle|task|question|request|instance|it|this|that)"
_DECLINES = re.compile(
    rf"""
    # "I am not able to solve this", "I can't."
    \b(?:I|we)\b [^.;]{{0,20}} {_CANNOT} (?= [^,.;]{{0,60}} \b{_ANSWERING}\b | \s*[.!]?\Z )
    # "I don't know how", "I give up", "I would rather not"
    | \b(?:I|we) \s (?:\w+\s)? (?: do\s?n(?:['\u2019]|o)t \s know
          (?= \W*\Z | \s (?:the\s(?:answer|solution)|how|what|that|this|it)\b ) | have \s no \s idea
        | give \s up | must \s decline | decline
        | refuse (?= \s to\b | \W*\Z ) | pass \s* [.!]?\Z
        | would \s rather \s not )
    | \bI['\u2019]d \s rather \s not \b
    # An apology at the beginning
    | ^ \W* (?:(?:but|so|therefore|unfortunately|hence),?\s)?
        (?:I['\u2019]?\s?a?m \s (?:\w+\s)?sorry | sorry | my \s apologies | I \s apologi[sz]e
        | I \s regret | as \s an? \s (?:AI|language) )
    # "This puzzle is impossible", "the task has no solution"
    | \b{_TASK} \s (?:\w+\s)? (?: (?:is|seems|appears) \s (?:to\sbe\s)?
          (?:impossible|unsolvable|infeasible|not\s(?:solvable|possible)) (?! \s to \b )
        | has \s no \s (?:\w+\s)? (?:answer|solution)
        | can\s?(?:not|['\u2019]t) \s be \s (?:solved|answered|done|determined) )
    # "No solution exists", "there is no valid answer", "it is impossible to solve"
    | \bno \s (?:\w+\s){{0,2}} (?:answer|solution)s? \s
      (?:exists?|is\spossible|can\sbe|(?:was|were)\sfound)
    | \bthere \s (?:is|are) \s no \s (?:\w+\s){{0,2}} (?:answer|solution)
    | \b(?:it|this) \s is \s (?:not \s possible | impossible) \s (?:for \s me \s)? to \s
      (?:\w+\s)? {_ANSWERING} \b
    # Apologies and "I cannot" in German, Spanish, French, Italian, Portuguese, Russian, Chinese,
    # Japanese and Korean
    | ^ \W* (?: es \s tut \s mir \s leid | (?:ich|wir) \s (?:kann|k\u00f6nnen) \s .{{0,60}} \s nicht
        | lo \s siento | no \s puedo | je \s suis \s d\u00e9sol | d\u00e9sol
        | je \s ne \s (?:peux|sais) | mi \s dispiace | non \s posso | desculpe
        | n\u00e3o \s (?:posso|consigo) | \u0438\u0437\u0432\u0438\u043d\u0438
        | \u043a \s \u0441\u043e\u0436\u0430\u043b\u0435\u043d\u0438\u044e
        | \u044f \s \u043d\u0435 \s \u043c\u043e\u0433\u0443 | \u62b1\u6b49 | \u5bf9\u4e0d\u8d77
        | \u6211\u65e0\u6cd5 | \u7533\u3057\u8a33 | \uc8c4\uc1a1 )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A sentence about these declines to show the reasoning, not the answer.
_REASONING = re.compile(
    r"\b(?:chain[ -]of[ -]thought|reasoning|thought\s(?:process|s)|thinking|scratch\s?pad"
    r"|internal\s\w+|intermediate\s\w+|step[ -]by[ -]step)\b",
    re.IGNORECASE,
)


def declines(response: str) -> bool:
    """Whether a text without an answer is a refusal."""
    text = visible_text(response).strip(" \t\r\n*_`>#")
    # Only these are read, because reasoning in between often expresses doubt.
    first = _SENTENCE_END.split(text[:_SENTENCE], maxsplit=1)[0]
    last = _SENTENCE_END.split(text[-_SENTENCE:])[-1]
    return any(is_refusal(sentence) for sentence in (first, last))


def is_refusal(sentence: str) -> bool:
    """Whether a sentence declines to answer, not just to show the reasoning."""
    if _REASONING.search(sentence):
        return False
    return _DECLINES.search(sentence) is not None
