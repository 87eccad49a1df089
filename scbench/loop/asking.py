"""Settings in which a model asks the task's simulator, or acts on its state, before it answers."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from inspect import cleandoc
from typing import Any, cast, get_args

from pydantic import BaseModel, JsonValue, ValidationError
from typing_extensions import override

from scbench.base.canonical import canonical_json
from scbench.base.errors import CannotGrade, PredictionsError, faults_of, printable
from scbench.base.model import MAX_OBSERVATION, Prediction, Setup, Status
from scbench.catalog import Task, all_tasks
from scbench.graders.shared.interaction import Action, Play, Query, QueryError
from scbench.loop.games import UNJUDGED, Game, Move, State, is_answer, unjudged
from scbench.scoring.answers.extract import visible
from scbench.scoring.answers.scan import scan
from scbench.scoring.outcomes import Outcome, describe_error, simulator_lock

_SPARE = 6
"""Replies beyond what the budget is enough for: the answer, and some that go wrong."""
_FAULT = 500


def last_object(reply: str, *keys: str) -> JsonValue | None:
    """Return the last JSON object in a reply that has one of these keys; None without one."""
    result = scan(visible(reply), keys)
    spans = [
        span for span in (*result.outermost, *result.objects) if not set(keys).isdisjoint(span.keys)
    ]
    for span in sorted(spans, key=lambda span: -span.end)[:1]:
        return span.parse()
    return None


class Asking(Game):
    """A game with moves: queries or actions.

    Attributes:
        budget: what moves may cost.

    Args:
        setup: what the model is promised.
        task: of the instance.
        params: of the instance.
        kinds: of moves.
        budget: where the setup gives none.
    """

    key: str
    """Of the object that is a move."""

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
        self.kinds: Mapping[str, type[Query | Action]] = {
            get_args(kind.model_fields[self.key].annotation)[0]: kind for kind in kinds
        }

    @property
    @override
    def limit(self) -> int:
        return self.budget + _SPARE

    @property
    def described(self) -> str:
        """What the prompt says of the moves there are."""
        return "\n\n".join(
            f"- {name}: {' '.join(cleandoc(kind.__doc__ or '').split())}"
            for name, kind in self.kinds.items()
        )

    @property
    def has_left(self) -> str:
        """What is left, as an observation ends."""
        return (
            f"Left of the budget: {self.budget - self.used} of {self.budget}. Replies left: "
            f"{self.replies_left}."
        )

    def move(self, request: JsonValue) -> Move:
        """Carry out a move, and count its cost; a bad one is told what is wrong with it."""
        move = self._read(request)
        if isinstance(move, str):
            return self._wrong(move)
        try:
            cost = move.cost()
        except (ArithmeticError, ValueError):  # of numbers that no computer can count with
            return self._wrong("what it costs cannot be counted.")
        if self.used + cost > self.budget:
            return self._wrong(f"it costs {cost}, which is more than is left of the budget.")
        self.used += cost
        try:
            with simulator_lock(self.task):
                observation = self.carry_out(move)
        except QueryError as error:
            return self._wrong(f"{str(error)[:_FAULT].rstrip('.')}.")
        except MemoryError:
            raise
        except CannotGrade as error:
            return self.ended(Outcome(Status.NOT_RUN, reason=str(error)[:_FAULT]))
        except Exception as error:  # noqa: BLE001  (a task that fails is not a model that fails)
            return self.ended(Outcome(Status.GRADER_ERROR, reason=describe_error(error)))
        return Move(f"{canonical_json(observation)[: MAX_OBSERVATION // 2]}\n{self.has_left}")

    def ended(self, outcome: Outcome) -> Move:
        """End the trial without a score."""
        self.over = True
        return Move(UNJUDGED, outcome)

    @abstractmethod
    def carry_out(self, move: Any) -> dict[str, Any]:  # noqa: ANN401  (each task has its own)
        """Return what is seen."""

    def _wrong(self, why: str) -> Move:
        return Move(f"This {self.key} was not carried out: {why}\n{self.has_left}")

    def _read(self, request: JsonValue) -> Query | Action | str:
        """Return the move that an object is, or what is wrong with it."""
        name = request.get(self.key) if isinstance(request, dict) else None
        kind = self.kinds.get(name) if isinstance(name, str) else None
        if kind is None:
            name_text = printable(str(name)[:40]) if isinstance(name, str) else "no word"
            return f"{self.key} must be one of {', '.join(self.kinds)}; it is {name_text}."
        try:
            return kind.model_validate(request)
        except ValidationError as error:
            return f"{'; '.join(map(str, faults_of(error, 3)))[:_FAULT]}."
        except (ArithmeticError, ValueError):  # a number that no computer holds
            return "a value in it cannot be read."


class Probe(Asking):
    """Queries within a budget, then one answer."""

    key = "query"

    @property
    @override
    def rules(self) -> str:
        return (
            "Before you answer you may ask, one query in each reply. A reply that holds a JSON "
            'object with the key "query" is a query; of several such objects the last one counts. '
            "In the next message you are told what is seen, as JSON. A query costs 1 where "
            f"nothing else is said, and all of them together may cost {self.budget}; one that is "
            "read costs even if it turns out to make no sense. A reply without such an object is "
            "your answer, in the form asked for above; the trial ends with it, and it alone is "
            f"scored. There are at most {self.limit} replies, and the last of them must be the "
            f"answer.\n\nQueries:\n\n{self.described}"
        )

    @override
    def carry_out(self, move: Query) -> dict[str, Any]:
        return move.observe(self.params)

    @override
    def take(self, reply: str) -> Move:
        request = last_object(reply, self.key)
        if request is not None and self.replies_left:
            return self.move(request)
        if request is not None:
            self.over = True
            return Move("This was the last reply, and it is no answer. The trial is over.")
        outcome = self.judge_reply(reply)
        if unjudged(outcome):
            return self.ended(outcome)
        self.over = is_answer(outcome) or not self.replies_left
        if is_answer(outcome):
            return Move("This is your answer. The trial is over.", outcome)
        message = "This reply holds neither a query nor an answer that can be read."
        return Move(f"{message} {'The trial is over.' if self.over else self.has_left}", outcome)


class Act(Asking):
    """Actions on the true state; what was done is the answer."""

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
        self._done: list[JsonValue] = []

    @property
    @override
    def rules(self) -> str:
        with simulator_lock(self.task):
            observation = canonical_json(self._play.look())
        return (
            "Do not give this answer at once: carry it out, one action in each reply. A reply that "
            'holds a JSON object with the key "action" is an action; of several such objects the '
            "last one counts. It is done at once and cannot be undone, and in the next message you "
            "are told what is seen then, as JSON. An action costs 1 where nothing else is said, "
            f"and all of them together may cost {self.budget}; one that is read costs even if it "
            'cannot be done. The trial ends when you reply {"done": true}, when the budget is '
            f"spent, when nothing more can be done, or after {self.limit} replies. What was done "
            f"by then is scored as the answer asked for above.\n\nActions:\n\n{self.described}\n\n"
            f"What is seen now:\n\n{observation}"
        )

    @property
    @override
    def state(self) -> State:
        return super().state | {"actions": list(self._done)}

    @override
    def restore(self, state: State) -> None:
        super().restore(state)
        self._play, self._done = self._kind(self.params), list(state["actions"])
        for action in self._done:
            self._play.step(cast(Action, self._read(action)))

    @override
    def carry_out(self, move: Action) -> dict[str, Any]:
        observation = self._play.step(move)
        self._done.append(move.model_dump(mode="json"))
        return observation

    @override
    def final(self) -> Outcome:
        return self.judged(Prediction.model_construct(id="", answer=self._play.answer))

    @override
    def take(self, reply: str) -> Move:
        request = last_object(reply, self.key, "done")
        before = len(self._done)
        if isinstance(request, dict) and request.get("done") is True and self.key not in request:
            self.over = True
            move = Move("You are done.")
        elif request is None:
            move = Move(f'This reply holds no "action" that can be read. {self.has_left}')
        else:
            move = self.move(request)
        if move.outcome is not None:
            return move
        self.over = (
            self.over or self._play.over or self.used >= self.budget or not self.replies_left
        )
        # How good it is so far is not told; to simulate it after each action would take too long.
        judged = self.over or (len(self._done) > before and not self.task.heavy)
        outcome = self.final() if judged else None
        if outcome is not None and unjudged(outcome):
            return self.ended(outcome)
        return Move(
            f"{move.observation}\nThe trial is over." if self.over else move.observation, outcome
        )


def asking_game(setup: Setup, task: Task, params: BaseModel) -> Asking:
    """Return the beginning of a game of setting probe or act.

    Raises:
        PredictionsError: the task has no such setting.
    """
    if setup.setting == "probe" and (queries := task.queries) is not None:
        return Probe(setup, task, params, queries.QUERIES, queries.BUDGET)
    if setup.setting == "act" and (actions := task.actions) is not None:
        return Act(setup, task, params, actions.ACTIONS, actions.BUDGET, actions.Play)
    raise PredictionsError(
        f"{task.id} cannot be played in setting {setup.setting}; these can: "
        f"{', '.join(playable(setup.setting))}"
    )


def playable(setting: str) -> list[str]:
    """Return the ids of the tasks that can be played in a setting of the loop."""
    module = {"probe": "queries", "act": "actions"}.get(setting)
    return [
        task.id
        for task in all_tasks().values()
        if (task.available if module is None else task.offers(module))
    ]
