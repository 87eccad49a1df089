"""Names that look the same, and invisible characters.

Two names look the same if their skeletons are equal. A skeleton replaces characters
that look alike by a single one, according to Unicode's confusables (Technical Standard
39, section 4). Differences in compatibility forms (NFKC), case and spaces are ignored
too.
"""

import re
import unicodedata
from functools import cache

# Categories of characters that are invisible or change the text around them.
_HIDDEN = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
# Invisible letters and marks: fillers, joiners, and variant selectors.
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
# Trademark and copyright signs, which names may contain.
_MARKS = "\u00a9\u00ae\u2122"
# Scores and ranks, after NFKC and case folding. A version such as "4.5" is neither.
_CLAIM = re.compile(
    r"""
    [\d.,]*\d\s*[%\u2030\u066a]                             # 98.7 %
    | [\d.,]*\d\s*/\s*100\b                                 # 98.7/100
    | (\#|\bno\.?|\bn\u00ba|\brank(ed)?|\btop)\s*\d  # #1, No. 1, rank 1, top 3
    | \b(1st|2nd|3rd|first|second|third)\b(\s+(place|rank)\b|$)
    | \b(scor(e|es|ed|ing)|sota|state[\s-]of[\s-]the[\s-]art)\b
    """,
    re.VERBOSE,
)
_SELECTORS = (
    range(0x180B, 0x1810),
    range(0xFE00, 0xFE10),
    range(0xE0100, 0xE01F0),
)


def is_hidden(sign: str) -> bool:
    """Whether a character is invisible or changes the text around it."""
    if unicodedata.category(sign) in _HIDDEN or sign in _BLANK:
        return True
    return any(ord(sign) in selectors for selectors in _SELECTORS)


def hidden_signs(text: str) -> list[str]:
    """Return the hidden characters of a text by code point and name."""
    signs = dict.fromkeys(filter(is_hidden, text))
    return [
        f"U+{ord(sign):04X} {unicodedata.name(sign, '')}".rstrip() for sign in signs
    ]


def without_hidden_signs(text: str) -> str:
    """Return a text unchanged; refuse hidden characters.

    Raises:
        ValueError: it contains hidden characters.
    """
    signs = hidden_signs(text)
    if signs:
        raise ValueError(f"contains invisible characters: {', '.join(signs[:3])}")
    return text


def without_badges(text: str) -> str:
    """Return a name unchanged; refuse badges, scores and ranks.

    Raises:
        ValueError: it contains pictograms, a score, a rank, or the word "verified".
    """
    badges = [
        sign
        for sign in text
        if unicodedata.category(sign) == "So" and sign not in _MARKS
    ]
    if badges:
        raise ValueError(f"contains the symbol {badges[0]!a}, which looks like a badge")
    # The skeleton also catches lookalike letters.
    if "verified" in text.casefold() or skeleton("verified") in skeleton(text):
        raise ValueError("must not contain the word 'verified'")
    claim = _CLAIM.search(unicodedata.normalize("NFKC", text).casefold())
    if claim:
        raise ValueError(f"must not contain a score or a rank ({claim[0].strip()!a})")
    return text


@cache
def skeleton(text: str) -> str:
    """Return the skeleton of a name."""
    normal = unicodedata.normalize("NFKC", text)
    visible = (sign for sign in normal if not is_hidden(sign))
    # Replace confusables before folding case: a capital I looks like a small l, but a
    # small i does not. Folding may produce characters with other confusables.
    folded = "".join(map(common_sign, visible)).casefold()
    return "".join("".join(map(common_sign, folded)).split())


@cache
def common_sign(sign: str) -> str:
    """Return the character that replaces a character and its lookalikes."""
    from confusable_homoglyphs.confusables import confusables_data  # noqa: PLC0415  (an extra)

    twins = [without_formats(entry["c"]) for entry in confusables_data.get(sign, ())]
    if len(twins) != 1:
        return sign
    # The list has one twin for most characters. The group's main character lists all
    # others as twins, so a twin with several twins is the main one.
    twin = twins[0]
    if len(confusables_data.get(twin, ())) > 1:
        return twin
    return min(sign, twin)


def without_formats(text: str) -> str:
    """Return a text without format characters, which occur in the list of confusables."""
    return "".join(sign for sign in text if unicodedata.category(sign) != "Cf")
