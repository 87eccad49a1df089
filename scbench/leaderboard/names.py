"""Names that look alike: what a reader of a board could take for another's.

Two names look alike if their skeletons are the same: signs that are drawn alike are one sign then,
by the confusables of Unicode (Technical Standard 39, section 4), as are forms that are compatible,
cases and blanks.
"""

import unicodedata
from functools import cache

_HIDDEN = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
"""Categories of signs that nobody sees, or that change what stands beside them."""
_BLANK = frozenset(
    [*map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0))]
    + [chr(sign) for first, last in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
       for sign in range(first, last + 1)]
)  # fmt: skip
"""Letters and marks that are drawn as nothing: fillers, joiners, selectors of variants."""


def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in _HIDDEN or sign in _BLANK


def hidden(text: str) -> list[str]:
    """Return the signs of a name that cannot be seen, each by its number and name."""
    signs = dict.fromkeys(filter(_is_hidden, text))
    return [f"U+{ord(sign):04X} {unicodedata.name(sign, '')}".rstrip() for sign in signs]


@cache
def skeleton(text: str) -> str:
    """Return what names that look alike have in common."""
    normal = unicodedata.normalize("NFKC", text)
    bare = "".join(sign for sign in normal if not _is_hidden(sign))
    return "".join("".join(map(_common_sign, _folded_signs(bare))).split())


def _folded_signs(text: str) -> str:
    # Cases fold into each other only after signs that stand for another case did: a large I is a
    # small l to the eye.
    return "".join(map(_common_sign, text)).casefold()


@cache
def _common_sign(sign: str) -> str:
    """Return the sign that stands for all that are drawn like it."""
    from confusable_homoglyphs.confusables import confusables_data  # noqa: PLC0415  (an extra)

    alike = [_without_formats(entry["c"]) for entry in confusables_data.get(sign, ())]
    if len(alike) != 1:
        return sign
    # The list names a sign's like, or for that one, all signs it is the like of.
    (twin,) = alike
    return min(sign, twin) if len(confusables_data.get(twin, ())) <= 1 else twin


def _without_formats(text: str) -> str:
    return "".join(sign for sign in text if unicodedata.category(sign) != "Cf")
