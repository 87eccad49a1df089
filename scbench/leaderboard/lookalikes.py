"""Names that look the same, and invisible characters.

Two names look the same if their skeletons are equal. In a skeleton, one character replaces all
that are drawn like it, by the confusables of Unicode (Technical Standard 39, section 4). Compatible
forms, case and spaces are ignored too.
"""

import re
import unicodedata
from functools import cache

# Categories of characters that are invisible or change the text around them.
_HIDDEN = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
# Letters and marks that are drawn as nothing: fillers and joiners, and selectors of variants.
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
# Signs of trademarks and copyright, which names may contain.
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
    """Return the hidden characters of a text, each by its number and name."""
    signs = dict.fromkeys(filter(is_hidden, text))
    return [
        f"U+{ord(sign):04X} {unicodedata.name(sign, '')}".rstrip() for sign in signs
    ]


def without_hidden_signs(text: str) -> str:
    """Return a text unchanged.

    Raises:
        ValueError: it contains hidden characters.
    """
    signs = hidden_signs(text)
    if signs:
        raise ValueError(f"contains invisible characters: {', '.join(signs[:3])}")
    return text


def without_badges(text: str) -> str:
    """Return a name unchanged.

    Raises:
        ValueError: it contains pictograms, a score or a rank, or calls itself verified.
    """
    badges = [
        sign
        for sign in text
        if unicodedata.category(sign) == "So" and sign not in _MARKS
    ]
    if badges:
        raise ValueError(f"contains the symbol {badges[0]!a}, which looks like a badge")
    # Letters that only look like these do not help.
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
    # Confusables are replaced before case is folded: a capital I looks like a small l, but its
    # small form does not. Folding gives characters that have other confusables.
    folded = "".join(map(common_sign, visible)).casefold()
    return "".join("".join(map(common_sign, folded)).split())


@cache
def common_sign(sign: str) -> str:
    """Return the character that replaces all that are drawn like a character."""
    from confusable_homoglyphs.confusables import confusables_data  # noqa: PLC0415  (an extra)

    twins = [without_formats(entry["c"]) for entry in confusables_data.get(sign, ())]
    if len(twins) != 1:
        return sign
    # The list has one twin for most characters. The common character of a group has all others
    # of the group as twins, so a twin with several is the common one.
    twin = twins[0]
    if len(confusables_data.get(twin, ())) > 1:
        return twin
    return min(sign, twin)


def without_formats(text: str) -> str:
    """Return a text without format characters, which the list of confusables contains."""
    return "".join(sign for sign in text if unicodedata.category(sign) != "Cf")
