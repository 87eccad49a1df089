"""The settings with moves: probe (queries before an answer) and act (actions)."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from inspect import cleandoc
from typing import Any, get_args

from pydantic import BaseModel, JsonValue, ValidationError
from typing_extensions import override

from scbench.base.canonical import canonical_json
from scbench.base.errors import CannotGrade, faults_of, printable
from scbench.base.model import MAX_OBSERVATION, Prediction, Setup, Status
from scbench.catalog import Task
from scbench.graders.shared.interaction import Action, Play, Query, QueryError
from scbench.loop.games import (
    TEXTS,
    UNJUDGED,
    Game,
    Move,
    State,
    is_answer,
    is_unscored,
)
from scbench.scoring.answers.scan import scan
from scbench.scoring.answers.visible import visible_text
from scbench.scoring.outcomes import Outcome, describe_error

# Replies in addition to those that the budget pays for: the answer, and some failed
# ones.
SPARE_REPLIES = 6
# A probe ends after this number of replies in a row without a query or answer.
MAX_TALK = 5
# Maximum characters of a message about a bad move.
MAX_FAULT = 500
# Maximum characters of a move's name in such a message.
MAX_NAME = 40


class BadMoveError(Exception):
    """A move that is not carried out; the message, a sentence, is shown to the model."""


class Asking(Game):
    """A game with moves: queries or actions.

    Attributes:
        budget: limit on the total cost of moves.

    Args:
        setup: setup that the rules announce to the model.
        task: task of the instance.
        params: parameters of the instance.
        kinds: kinds of moves.
        budget: budget if the setup gives none.
    """

    key: str
    """Key of the JSON object that is a move."""

    def __init__(
        self,
        setup: Setup,
        task: Task,
        params: BaseModel,
        kinds: Sequence[type[Query] | type[Action]],
        budget: int,
    ) -> None:
        self.budget = budget if setup.budget is None else setup.budget
        super().__init__(setup.model_copy(update={"budget": self.budget}), task, params)
        self.kinds: dict[str, type[Query | Action]] = {}
        for kind in kinds:
            # The key is a field of a literal type: the name of the move.
            names = get_args(kind.model_fields[self.key].annotation)
            self.kinds[names[0]] = kind

    @property
    @override
    def limit(self) -> int:
        return self.budget + SPARE_REPLIES

    @property
    def moves_text(self) -> str:
        """The available moves, as the prompt states them."""
        texts = []
        for name, kind in self.kinds.items():
            words = cleandoc(kind.__doc__ or "").split()
            texts.append(f"- {name}: {' '.join(words)}")
        return "\n\n".join(texts)

    @property
    def budget_text(self) -> str:
        """The end of an observation: the remaining budget and replies."""
        return (
            f"Budget left: {self.budget - self.used} of {self.budget}. Replies left: "
            f"{self.replies_left}."
        )

    def move(self, request: JsonValue) -> Move:
        """Carry out a move and count its cost; for a bad move, return its faults."""
        try:
            move = self.move_in(request)
            cost = self.cost_of(move)
        except BadMoveError as error:
            return self.refusal(str(error))
        # A readable move is charged even if it makes no sense for the instance.
        self.used += cost
        try:
            observation = self.carry_out(move)
        except QueryError as error:
            fault = str(error)[:MAX_FAULT].rstrip(".")
            return self.refusal(f"{fault}.")
        except MemoryError:
            raise
        except CannotGrade as error:
            return self.ended(Outcome(Status.NOT_RUN, reason=str(error)[:MAX_FAULT]))
        except Exception as error:  # noqa: BLE001  (the task failed, not the model)
            return self.ended(
                Outcome(Status.GRADER_ERROR, reason=describe_error(error))
            )
        # A file may contain MAX_OBSERVATION characters, including the rest of the message.
        text = canonical_json(observation)[: MAX_OBSERVATION // 2]
        return Move(f"{text}\n{self.budget_text}")

    @abstractmethod
    def carry_out(self, move: Any) -> dict[str, Any]:  # noqa: ANN401  (each task has its own)
        """Return the observation of a move.

        Raises:
            QueryError: the move makes no sense for this instance.
            CannotGrade: this machine cannot simulate the task.
        """

    def move_in(self, request: JsonValue) -> Query | Action:
        """Return the move described by a JSON object.

        Raises:
            BadMoveError: the object is not a move.
        """
        name = request.get(self.key) if isinstance(request, dict) else None
        if not isinstance(name, str):
            actual = "missing or not text"
        elif name in self.kinds:
            return validated_move(self.kinds[name], request)
        else:
            actual = printable(name[:MAX_NAME])
        raise BadMoveError(
            f"{self.key} must be one of {', '.join(self.kinds)}; it is {actual}."
        )

    def cost_of(self, move: Query | Action) -> int:
        """Return the cost of a move.

        Raises:
            BadMoveError: the cost exceeds the remaining budget.
        """
        try:
            cost = move.cost()
        except (ArithmeticError, ValueError):
            # Its numbers are too large for arithmetic.
            raise BadMoveError("its cost cannot be computed.") from None
        if self.used + cost > self.budget:
            raise BadMoveError(f"it costs {cost}, which exceeds the remaining budget.")
        return cost

    def refusal(self, why: str) -> Move:
        """Return the observation of a move that is not carried out."""
        return Move(f"This {self.key} was not carried out: {why}\n{self.budget_text}")

    def ended(self, outcome: Outcome) -> Move:
        """End the trial without a score."""
        self.over = True
        return Move(UNJUDGED, outcome)


def validated_move(kind: type[Query | Action], request: JsonValue) -> Query | Action:
    """Return a validated move of this kind.

    Raises:
        BadMoveError: some fields are wrong; the message has at most three faults.
    """
    try:
        return kind.model_validate(request)
    except ValidationError as error:
        faults = "; ".join(map(str, faults_of(error, 3)))
        raise BadMoveError(f"{faults[:MAX_FAULT]}.") from None
    except (ArithmeticError, ValueError):
        # A number is too large.
        raise BadMoveError("a number in it is too large.") from None


def last_object(reply: str, *keys: str) -> JsonValue | None:
    """Return the last JSON object in a reply that has one of these keys; None if there is none."""
    for span in reversed(scan(visible_text(reply), keys)):
        if not set(keys).isdisjoint(span.keys):
            return span.parse()
    return None


class Probe(Asking):
    """Queries within a budget, then one answer.

    Attributes:
        talk: replies since the last query; none of them contains a query or answer.
    """

    key = "query"
    talk = 0

    @property
    @override
    def state(self) -> State:
        return {**super().state, "talk": self.talk}

    @override
    def restore(self, state: State) -> None:
        super().restore(state)
        self.talk = state["talk"]

    @property
    @override
    def rules(self) -> str:
        return TEXTS["rules"]["probe"].format(
            budget=self.budget,
            limit=self.limit,
            described=self.moves_text,
            talk=MAX_TALK,
        )

    @override
    def carry_out(self, move: Query) -> dict[str, Any]:
        return self.simulated(move.observe, self.params)

    @override
    def take(self, reply: str) -> Move:
        request = last_object(reply, self.key)
        if request is not None:
            # After a query, there must be a reply left for the answer.
            if self.replies_left:
                self.talk = 0
                return self.move(request)
            self.over = True
            return Move(
                "This was your last reply, and it is not an answer. The trial is over."
            )
        outcome = self.judge_reply(reply)
        if is_unscored(outcome):
            return self.ended(outcome)
        self.talk += 1
        if is_answer(outcome):
            self.over = True
            return Move("This is your answer. The trial is over.", outcome)
        self.over = not self.replies_left or self.talk == MAX_TALK
        consequence = "The trial is over." if self.over else self.budget_text
        return Move(
            f"This reply contains no readable query or answer. {consequence}",
            outcome,
        )


class Act(Asking):
    """Actions that change a state; the final state is the answer.

    Args:
        setup: setup that the rules announce to the model.
        task: task of the instance.
        params: parameters of the instance.
        kinds: kinds of actions.
        budget: budget if the setup gives none.
        play: creates the state before the first action.
    """

    key = "action"

    def __init__(
        self,
        setup: Setup,
        task: Task,
        params: BaseModel,
        kinds: Sequence[type[Action]],
        budget: int,
        play: type[Play],
    ) -> None:
        super().__init__(setup, task, params, kinds, budget)
        self._kind = play
        self._play = play(params)
        self._actions: list[JsonValue] = []

    @property
    @override
    def rules(self) -> str:
        observation: Mapping[str, Any] = self.simulated(self._play.look)
        return TEXTS["rules"]["act"].format(
            budget=self.budget,
            limit=self.limit,
            described=self.moves_text,
            observation=canonical_json(observation),
        )

    @property
    @override
    def state(self) -> State:
        return {**super().state, "actions": list(self._actions)}

    @override
    def restore(self, state: State) -> None:
        super().restore(state)
        self._actions = list(state["actions"])
        self._play = self._kind(self.params)
        # A simulator's state is not JSON, so its actions are repeated.
        for action in self._actions:
            move = self.move_in(action)
            self._play, _ = self.simulated(next_state, self._play, move)

    @override
    def carry_out(self, move: Action) -> dict[str, Any]:
        self._play, observation = self.simulated(next_state, self._play, move)
        self._actions.append(move.model_dump(mode="json"))
        return observation

    @override
    def take(self, reply: str) -> Move:
        actions_before = len(self._actions)
        move = self.move_in_reply(reply)
        # The simulator failed, so the trial ended.
        if move.outcome is not None:
            return move
        is_spent = self.used >= self.budget or not self.replies_left
        self.over = self.over or self._play.over or is_spent
        has_acted = len(self._actions) > actions_before
        # The score so far is recorded but not shown. Simulating a heavy task after each action
        # would take too long.
        outcome = None
        if self.over or (has_acted and not self.task.heavy):
            outcome = self.final()
            if is_unscored(outcome):
                return self.ended(outcome)
        observation = move.observation
        if self.over:
            observation += "\nThe trial is over."
        return Move(observation, outcome)

    def move_in_reply(self, reply: str) -> Move:
        """Carry out the action in a reply, or end the game if that is the action."""
        request = last_object(reply, self.key, "done")
        if request is None:
            return Move(f'This reply contains no readable "action". {self.budget_text}')
        # An action counts even in an object that also says "done".
        is_done = (
            isinstance(request, dict)
            and request.get("done") is True
            and self.key not in request
        )
        if is_done:
            self.over = True
            return Move("You are done.")
        return self.move(request)

    def final(self) -> Outcome:
        """Return the outcome of the actions so far."""
        return self.judged(Prediction.model_construct(id="", answer=self._play.answer))


def next_state(play: Play, action: Action) -> tuple[Play, dict[str, Any]]:
    """Return the state after an action (maybe a copy from a process) and its observation."""
    observation = play.step(action)
    return play, observation
