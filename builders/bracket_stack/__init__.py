"""Bracket stack: close the open brackets, starting with the last one opened.

An example of the puzzle, with the answer >]:

    [({}<>)<
"""

from collections.abc import Mapping
from typing import Self

from pydantic import Field, JsonValue, model_validator

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Case,
    Point,
    parameter,
    prompt_template,
    under,
)
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.builders.shared.words import enumeration
from scbench.schemas.bracket_stack import PAIRS, Answer, Params

# Each bracket's partner.
_CLOSING = {pair[0]: pair[1] for pair in PAIRS}
_OPENING = {pair[1]: pair[0] for pair in PAIRS}
# A closing bracket of another kind, for each closing bracket.
_ANOTHER = {")": "]", "]": "}", "}": ">", ">": ")"}


class Space(Point):
    """Parameters of sequences of brackets."""

    length: int = parameter(24, "number of brackets shown", "scale", ge=4, le=2000)
    max_depth: int = parameter(
        8, "maximum number of brackets open at the same time", "depth", ge=2, le=100
    )
    kinds: int = parameter(3, "number of kinds of brackets", "semantic", ge=1, le=4)
    min_open: int = parameter(
        1,
        "minimum number of unclosed brackets",
        "depth",
        later=True,
        ge=1,
        le=100,
    )

    @model_validator(mode="after")
    def _can_stay_open(self) -> Self:
        # One less, because the number that stays open has the parity of the length.
        most = min(self.max_depth, self.length) - 1
        if self.min_open > max(most, 1):
            raise ValueError(f"min_open {self.min_open} is above {max(most, 1)}")
        return self


class BracketStackCase(Case):
    """A case of closing brackets."""

    depth: int = Field(
        ge=1, description="maximum number of brackets open at the same time"
    )


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Sequences drawn as walks that end above 0; the final height is drawn first."""

    task = "bracket_stack"
    version = 3
    draws = 2
    case_model = BracketStackCase
    extremes = (
        {"length": 11, "max_depth": 2, "kinds": 4},
        {"length": 400, "max_depth": 32, "kinds": 4},
        {"length": 60, "max_depth": 32, "kinds": 1},
        {"length": 9, "max_depth": 9},
        {"length": 60, "max_depth": 20, "min_open": 11},
    )

    def prompt(self, params: Params) -> str:
        """Return the sequence, and the pairs of brackets in it."""
        pairs = [" ".join(pair) for pair in PAIRS if pair[0] in params.sequence]
        pairs_in_use = f"The pairs in use are {enumeration(pairs)}."
        if len(pairs) == 1:
            pairs_in_use = f"The only pair in use is {pairs[0]}."
        text = prompt_template(__name__).format(
            sequence=params.sequence, pairs_in_use=pairs_in_use
        )
        return text + reply_short("the closing brackets in order")

    def reference(self, params: Params) -> Answer:
        """Keep a stack of the open brackets."""
        return Answer(answer=closing_of(params))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return other endings, and answers that are not endings."""
        right = closing_of(params)
        wrong: dict[str, JsonValue] = {
            "first_opened_first": right[::-1],
            "one_missing": right[:-1],
            "one_too_many": right + right[-1],
            "another_kind_at_the_end": right[:-1] + _ANOTHER[right[-1]],
            "opening_ones": "".join(_OPENING[closing] for closing in right),
            "whole_sequence": params.sequence + right,
            "number": len(right),
            "nothing": "",
            "in_words": "close them all",
        }
        # An ending can read the same from both sides.
        if wrong["first_opened_first"] == right:
            del wrong["first_opened_first"]
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the maximum number of brackets that are open at the same time."""
        return {"depth": stack_depth(params)}

    def measure(self, params: Params) -> float:
        """Return the number of brackets times the maximum number that are open at the same time."""
        return len(params.sequence) * stack_depth(params)

    def blind_floor(self, params: Params) -> float:
        """Return the score of a shortest ending, such as ")" or "))", or of a rule if higher.

        The rule closes the last run of opening brackets, as if all earlier ones were closed. The
        number of brackets that stay open is drawn from all numbers of the right parity up to the
        maximum depth. That is assumed to be the depth reached, so a floor is never too low. In
        more than 400 brackets, the rule is assumed to score the same as in 400.
        """
        depth = stack_depth(params)
        shortest = shortest_ending(len(params.sequence))
        kinds = len({_CLOSING.get(bracket, bracket) for bracket in params.sequence})
        # The numbers of brackets that can stay open; all are equally likely.
        endings = (depth - shortest) // 2 + 1
        guess = kinds**-shortest / endings
        # At most 400 or 401 brackets, so that the parity is kept.
        rule = self.rule_floor(
            close_last_run,
            kinds=kinds,
            length=min(len(params.sequence), 402 - shortest),
            max_depth=max(2, depth),
        )
        return max(float(guess), rule)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw the number of brackets that stay open, then a walk that ends there."""
        highest = min(point.max_depth, point.length)
        shortest = shortest_ending(point.length)
        if point.min_open > shortest:
            # The smallest number of the right parity that is large enough.
            shortest = point.min_open + (point.length - point.min_open) % 2
        # The height is drawn first, so that short and long endings are equally likely.
        final = shortest + 2 * rng.below((highest - shortest) // 2 + 1)
        pairs = PAIRS[: point.kinds]
        # The closing brackets of all open brackets.
        stack: list[str] = []
        sequence = ""
        for step in range(point.length):
            # A step is possible if later steps can still reach the final height.
            later_steps = point.length - step - 1
            can_open = (
                len(stack) < point.max_depth and len(stack) + 1 - final <= later_steps
            )
            can_close = len(stack) > 0 and final - len(stack) + 1 <= later_steps
            if can_open and (not can_close or rng.below(2)):
                pair = rng.choice(pairs)
                sequence += pair[0]
                stack.append(pair[1])
            else:
                sequence += stack.pop()
        return Params(sequence=sequence)


def shortest_ending(length: int) -> int:
    """Return the smallest number of brackets that can stay open, given the parity of the length."""
    return 2 if length % 2 == 0 else 1


def closing_of(params: Params) -> str:
    """Return the closing brackets for the brackets that are still open."""
    stack: list[str] = []
    for bracket in params.sequence:
        if bracket in _CLOSING:
            stack.append(_CLOSING[bracket])
        else:
            stack.pop()
    return "".join(reversed(stack))


def stack_depth(params: Params) -> int:
    """Return the maximum number of brackets that are open at the same time."""
    depth = 0
    deepest = 0
    for bracket in params.sequence:
        depth += 1 if bracket in _CLOSING else -1
        deepest = max(deepest, depth)
    return deepest


def close_last_run(params: Params) -> str:
    """Return an answer that closes only the opening brackets at the end of the sequence."""
    answer = ""
    for bracket in reversed(params.sequence):
        if bracket not in _CLOSING:
            break
        answer += _CLOSING[bracket]
    return answer
