"""Answers of a word, a number or a short list, under the one key ``answer``.

Text tasks use these types for it. All of them take a string too, because text is what most answers
are read from; the graders read a number, a truth value or a list out of it
(`scbench.graders.shared.short_answers`). A model of such an answer is known by this shape:
``answer`` is its only required key and can be a scalar (`scbench.scoring.answers.shape.shape_of`).
"""

from pydantic import StrictBool

from scbench.schemas.base import Number, Text
from scbench.schemas.whole_numbers import WholeNumber

ShortAnswer = WholeNumber | Text
"""A whole number, a word, the letter or the text of an option, a date."""

ShortNumber = WholeNumber | Number | Text
"""A number, whole or not; a fraction is a string such as ``"2/3"``."""

ShortTruth = StrictBool | WholeNumber | Text
"""A truth value: as JSON writes it, as 0 or 1, or as a word."""

ShortList = WholeNumber | Text | tuple[WholeNumber | Text, ...]
"""Words or numbers in order, or a set of them; as an array, or as a string with separators."""
