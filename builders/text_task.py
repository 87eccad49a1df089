"""What builders of text tasks share: no fixed list, a plain target, a closing for prompts."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from scbench.builders.builder import AnswerT, Builder, PaperItem, ParamsT, PointT
from scbench.seeding import QuickStream


class TextBuilder(Builder[ParamsT, AnswerT, PointT]):
    """Makes the cases of a text task, whose answer has the one key ``answer``.

    The schema's ``Answer`` uses a type of `scbench.schemas.short`.
    """

    stream = QuickStream

    def paper(self) -> list[PaperItem[ParamsT]]:
        """Return no instances: all of them are drawn."""
        return []

    def target(self, params: ParamsT) -> str:
        """Return the right answer as plain text, such as ``42``; a list with commas."""
        answer: Any = self.reference(params)
        return plain(answer.answer)


def plain(answer: str | float | Sequence[str | int]) -> str:
    """Return the value of an answer as a person would write it."""
    return ", ".join(map(str, answer)) if isinstance(answer, list | tuple) else str(answer)


@cache
def reply_short(what: str, *, quoted: bool = True) -> str:
    """Return the closing lines of a prompt that asks for a word, a number or a short list.

    Args:
        what: what the answer is, to follow "The answer is", such as "a whole number".
        quoted: whether it is a JSON string; else it stands there bare, as a number or a list.
    """
    form = '{"answer": "..."}' if quoted else '{"answer": ...}'
    return (
        f"The answer is {what}.\n"
        f"Give it as one JSON object of this form, as the last thing in your reply:\n\n{form}\n"
    )
