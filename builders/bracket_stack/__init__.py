"""Bracket stack: close what is open, last opened first."""

from collections.abc import Mapping
from itertools import accumulate

from pydantic import Field, JsonValue

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Case, Point, parameter, prompt_template
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.schemas.bracket_stack import PAIRS, Answer, Params

_CLOSING = {pair[0]: pair[1] for pair in PAIRS}


_OPENING = {closing: opening for opening, closing in _CLOSING.items()}


class Space(Point):
    """Parameters of sequences of brackets."""

    length: int = parameter(24, "number of brackets shown", "scale", ge=4, le=2000)
    max_depth: int = parameter(
        8, "most brackets open at the same time", "depth", ge=2, le=100
    )
    kinds: int = parameter(3, "number of kinds of brackets", "semantic", ge=1, le=4)


class BracketStackCase(Case):
    """A case of closing brackets."""

    depth: int = Field(ge=1, description="most brackets open at the same time")


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Walks up and down that end above the ground; how far above is drawn first."""

    task = "bracket_stack"
    version = 2
    case_model = BracketStackCase
    extremes = (
        {"length": 11, "max_depth": 2, "kinds": 4},
        {"length": 400, "max_depth": 32, "kinds": 4},
        {"length": 60, "max_depth": 32, "kinds": 1},
        {"length": 9, "max_depth": 9},
    )

    def prompt(self, params: Params) -> str:
        """Return the sequence, and what closes what."""
        kinds = ", ".join(
            " ".join(pair) for pair in PAIRS if pair[0] in params.sequence
        )
        return prompt_template(__name__).format(
            sequence=params.sequence, kinds=kinds
        ) + reply_short("the closing brackets in order")

    def reference(self, params: Params) -> Answer:
        """Keep a stack of what is open."""
        return Answer(answer=_closing(params))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return other endings, and answers that are not endings."""
        right = _closing(params)
        turned = dict(zip(")]}>", ")]}>"[1:] + ")", strict=True))
        wrong: dict[str, JsonValue] = {
            "first_opened_first": right[::-1],
            "one_lacks": right[:-1],
            "one_too_many": right + right[-1],
            "another_kind_at_the_end": right[:-1] + turned[right[-1]],
            "opening_ones": "".join(_OPENING[closing] for closing in right),
            "whole_sequence": params.sequence + right,
            "number": len(right),
            "nothing": "",
            "in_words": "close them all",
        }
        return {
            name: {"answer": answer}
            for name, answer in wrong.items()
            if answer != right
        }

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return how many brackets are open at most."""
        return {"depth": _stack_depth(params)}

    def measure(self, params: Params) -> float:
        """Return the number of brackets, by the most that are open at the same time."""
        return len(params.sequence) * _stack_depth(params)

    def blind_floor(self, params: Params) -> float:
        """Return the chance of one of the shortest endings, such as ")" or "))", or of a rule.

        The rule closes what was opened last and takes all before for closed.
        How many brackets stay open is drawn among all numbers of the right parity up to the
        greatest depth, which is taken to be the one reached; so a floor is never too low. In
        more than 400 brackets the rule is taken to earn as much as in 400.
        """
        least = 2 if len(params.sequence) % 2 == 0 else 1
        kinds = len({_CLOSING.get(bracket, bracket) for bracket in params.sequence})
        lengths = (_stack_depth(params) - least) // 2 + 1
        length = min(len(params.sequence), 402 - least)
        point = {"length": length, "max_depth": max(2, _stack_depth(params))}
        rule = self.rule_floor(_trailing_run, kinds=kinds, **point)
        return max(float(kinds**-least / lengths), rule)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw how many stay open, then a walk that ends there."""
        highest = min(point.max_depth, point.length)
        least = 2 if point.length % 2 == 0 else 1
        end = least + 2 * rng.below((highest - least) // 2 + 1)
        pairs = PAIRS[: point.kinds]
        stack: list[str] = []
        row: list[str] = []
        for remaining in range(point.length, 0, -1):
            up = len(stack) < point.max_depth and len(stack) + 1 - end <= remaining - 1
            down = bool(stack) and end - len(stack) + 1 <= remaining - 1
            if up and (not down or rng.below(2)):
                pair = rng.choice(pairs)
                row.append(pair[0])
                stack.append(pair[1])
            else:
                row.append(stack.pop())
        return Params(sequence="".join(row))


def _trailing_run(params: Params) -> str:
    run = params.sequence[len(params.sequence.rstrip("".join(_CLOSING))) :]
    return "".join(_CLOSING[bracket] for bracket in reversed(run))


def _stack_depth(params: Params) -> int:
    return max(
        accumulate(1 if bracket in _CLOSING else -1 for bracket in params.sequence)
    )


def _closing(params: Params) -> str:
    stack: list[str] = []
    for bracket in params.sequence:
        if bracket in _CLOSING:
            stack.append(_CLOSING[bracket])
        else:
            stack.pop()
    return "".join(reversed(stack))
