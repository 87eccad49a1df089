"""Paragraphs of prompts, broken into lines."""

import re
from textwrap import fill

_WIDTH = 100
_NO_BREAK = "\N{NO-BREAK SPACE}"
# An equation or a range, or the coordinates of a point.
_UNIT = re.compile(r"\S+ [<>]?= \S+|\([-\d., ]+\)")


def wrapped(paragraph: str, indent: str = "") -> str:
    """Wrap a paragraph at 100 characters without breaking equations or points.

    Args:
        paragraph: the text.
        indent: start of every line except the first.
    """
    glued = _UNIT.sub(lambda unit: unit[0].replace(" ", _NO_BREAK), paragraph)
    lines = fill(glued, _WIDTH, subsequent_indent=indent)
    return lines.replace(_NO_BREAK, " ")
