"""Base classes for the builders of text tasks, and the closing lines of their prompts."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from string import ascii_uppercase
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

# Number of cases that measure the score of a constant answer.
DRAWS = 2000
# Number of cases that measure the score of a rule that does not solve them.
RULE_DRAWS = 400


class TextBuilder(Builder[ParamsT, AnswerT, PointT]):
    """Provides the cases of a text task, whose answers have one key, ``answer``.

    The task's ``Answer`` model uses a type of `scbench.schemas.base`.
    """

    stream = QuickStream

    def paper(self) -> list[PaperItem[ParamsT]]:
        """Return no fixed instances: all instances are drawn."""
        return []

    @classmethod
    def constant_floor(cls, **parameters: int | bool) -> float:
        """Return the score of the best constant answer at a point of the space, from `DRAWS` cases.

        The most common answer of one half of the cases is scored on the other half, so that
        choosing it does not raise its score. The standard error is at most 1.6 points.
        """
        return _constant_floor(cls, tuple(sorted(parameters.items())))

    @classmethod
    def rule_floor(cls, rule: Callable[[Any], str], **parameters: JsonValue) -> float:
        """Return the score of a rule that does not solve the cases, from `RULE_DRAWS` cases.

        Args:
            rule: makes an answer from an instance.
            parameters: the point of the space.

        Returns:
            The share of correct answers; its standard error is at most 2.5 points.
        """
        return _rule_floor(cls, rule, tuple(sorted(parameters.items())))

    def target(self, params: ParamsT) -> str:
        """Return the correct answer as plain text, such as ``42``; lists are joined by commas."""
        answer: Any = self.reference(params)
        return answer_text(answer.answer)


@cache
def _constant_floor(
    builder: type[TextBuilder[Any, Any, Any]],
    parameters: tuple[tuple[str, int | bool], ...],
) -> float:
    cases = _cases_at("floor", builder, dict(parameters), DRAWS)
    targets = [case["target"] for case in cases]
    choosing = targets[0::2]
    counting = targets[1::2]
    [(most_common, _)] = Counter(choosing).most_common(1)
    return counting.count(most_common) / len(counting)


@cache
def _rule_floor(
    builder: type[TextBuilder[Any, Any, Any]],
    rule: Callable[[Any], str],
    parameters: tuple[tuple[str, Any], ...],
) -> float:
    cases = _cases_at("rule", builder, dict(parameters), RULE_DRAWS)
    hits = 0
    for case in cases:
        params = builder.params_model.model_validate(case["instance"])
        if rule(params) == case["target"]:
            hits += 1
    return hits / len(cases)


def _cases_at(
    name: str,
    builder: type[TextBuilder[Any, Any, Any]],
    parameters: dict[str, Any],
    count: int,
) -> list[dict[str, Any]]:
    """Return cases at a point, the same ones every time."""
    stream = Stream(name, builder.task, builder.draws, parameters)
    return builder(stream).generate_random(count=count, **parameters)


class ComposingBuilder(TextBuilder[ParamsT, AnswerT, PointT]):
    """A text task whose prompts are written while cases are drawn, for speed.

    `compose` gets the answer and the prompt's words from the draw, and returns the
    instance as JSON without creating a model. `prompt`, `target` and `facts` compute
    the same from the instance alone; the contract suite compares both.
    """

    @abstractmethod
    def compose(self, point: PointT, rng: Stream) -> Composed:
        """Draw an instance and return it with its prompt, target and facts."""

    def draw(self, point: PointT, rng: Stream) -> ParamsT:
        """Draw one instance."""
        instance, *_ = self.compose(point, rng)
        return self.params_of(instance)


def options_text(options: Iterable[str]) -> str:
    """Return options, one on a line, after the letters (A), (B) and so on."""
    pairs = zip(ascii_uppercase, options, strict=False)
    return "\n".join([f"({letter}) {option}" for letter, option in pairs])


def answer_text(answer: str | float | Sequence[str | int]) -> str:
    """Return the value of an answer as a person would write it."""
    if isinstance(answer, list | tuple):
        return ", ".join(str(item) for item in answer)
    return str(answer)


@cache
def reply_short(description: str, *, quoted: bool = True) -> str:
    """Return the closing lines of a prompt that asks for a word, a number or a short list.

    Args:
        description: the description of the answer, which follows "must be".
        quoted: whether the answer is a JSON string; otherwise it is a bare number or list.
    """
    kind = ", as a JSON string" if quoted else ""
    closing = reply_as('{"answer": ...}', give="Give it")
    return f"Your answer must be {description}{kind}.\n{closing}"
