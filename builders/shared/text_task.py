"""What builders of text tasks share: no fixed list, a plain target, a closing for prompts."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from pydantic import JsonValue

from scbench.base.seeding import QuickStream, Stream
from scbench.builders.shared.builder import (
    AnswerT,
    Builder,
    Composed,
    PaperItem,
    ParamsT,
    PointT,
    reply_as,
)

# Cases that tell what a constant answer earns.
DRAWS = 2000
# Cases that tell what a rule earns that does not solve them.
RULE_DRAWS = 400


class TextBuilder(Builder[ParamsT, AnswerT, PointT]):
    """Makes the cases of a text task, whose answer has the one key ``answer``.

    The schema's ``Answer`` uses a type of `scbench.schemas.base`.
    """

    stream = QuickStream

    def paper(self) -> list[PaperItem[ParamsT]]:
        """Return no instances: all of them are drawn."""
        return []

    @classmethod
    def constant_floor(cls, **parameters: int | bool) -> float:
        """Return what the best constant answer earns at a point of the space, by `DRAWS` cases.

        It is the commonest answer of one half of them, counted in the other half, so that it is
        not the better for having been chosen; the standard error is at most 1.6 points.
        """
        return _constant_floor(cls, tuple(sorted(parameters.items())))

    @classmethod
    def rule_floor(cls, rule: Callable[[Any], str], **parameters: JsonValue) -> float:
        """Return what a rule that does not solve the case earns at a point, by `RULE_DRAWS` cases.

        The rule makes the answer of an instance; the standard error is at most 2.5 points.
        """
        return _rule_floor(cls, rule, tuple(sorted(parameters.items())))

    def target(self, params: ParamsT) -> str:
        """Return the right answer as plain text, such as ``42``; a list with commas."""
        answer: Any = self.reference(params)
        return answer_text(answer.answer)


@cache
def _constant_floor(
    builder: type[TextBuilder[Any, Any, Any]],
    parameters: tuple[tuple[str, int | bool], ...],
) -> float:
    stream = Stream("floor", builder.task, builder.version, dict(parameters))
    cases = builder(stream).generate_random(count=DRAWS, **dict(parameters))
    first, second = ([case["target"] for case in cases[i::2]] for i in (0, 1))
    (commonest, _), *_ = Counter(first).most_common(1)
    return second.count(commonest) / len(second)


@cache
def _rule_floor(
    builder: type[TextBuilder[Any, Any, Any]],
    rule: Callable[[Any], str],
    parameters: tuple[tuple[str, Any], ...],
) -> float:
    stream = Stream("rule", builder.task, builder.version, dict(parameters))
    cases = builder(stream).generate_random(count=RULE_DRAWS, **dict(parameters))
    instances = (
        builder.params_model.model_validate(case["instance"]) for case in cases
    )
    right = [
        rule(i) == case["target"] for i, case in zip(instances, cases, strict=True)
    ]
    return right.count(True) / len(right)


class ComposingBuilder(TextBuilder[ParamsT, AnswerT, PointT]):
    """A text task whose cases are written as they are drawn, for speed.

    `compose` knows the answer and the words of the prompt from drawing, and gives the instance as
    JSON at once, so that no model is made. `prompt`, `target` and `facts` find the same from the
    instance alone; the contract suite compares.
    """

    @abstractmethod
    def compose(self, point: PointT, rng: Stream) -> Composed:
        """Draw an instance and say all that a case holds of it."""

    def draw(self, point: PointT, rng: Stream) -> ParamsT:
        """Draw one instance."""
        instance, *_ = self.compose(point, rng)
        return self._params(instance)


def answer_text(answer: str | float | Sequence[str | int]) -> str:
    """Return the value of an answer as a person would write it."""
    return (
        ", ".join(map(str, answer)) if isinstance(answer, list | tuple) else str(answer)
    )


@cache
def reply_short(what: str, *, quoted: bool = True) -> str:
    """Return the closing lines of a prompt that asks for a word, a number or a short list.

    ``what`` follows "must be"; unless it is quoted, it is a bare number or list.
    """
    kind = ", as a JSON string" if quoted else ""
    return f"Your answer must be {what}{kind}.\n" + reply_as(
        '{"answer": ...}', give="Give it"
    )
