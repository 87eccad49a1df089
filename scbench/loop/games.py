"""The settings of the loop as games: what is said first, and what a reply is answered with.

What a verdict tells the model goes as far as the setup discloses, and is never the reference.
Messages of checks are written for whoever reads results, and where an instance has one right answer
they may say it ("The value is 12, not 13."). Of such tasks a failed check is told in full only if
it follows from prompt and answer alone (``OWN_FAULTS`` of the grader: an overlap, an index out of
range), and else named by its rule, as the task's ``CHECKS`` word it.

A game is pure: the same task, parameters and replies give the same observations on every machine.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from itertools import accumulate
from typing import Any, TypeVar, cast, get_args

from pydantic import BaseModel, JsonValue, ValidationError
from typing_extensions import override

from scbench.base.canonical import canonical_json
from scbench.base.data import packaged_toml
from scbench.base.errors import CannotGrade, PredictionsError, faults_of, printable
from scbench.base.model import (
    MAX_OBSERVATION,
    Check,
    Prediction,
    Setup,
    Status,
    Verdict,
)
from scbench.catalog import MANIFOLDS, Task, all_tasks
from scbench.graders.shared.checklist import COMMON_CHECKS
from scbench.graders.shared.interaction import Action, Play, Query, QueryError
from scbench.scoring.answers.extract import visible
from scbench.scoring.answers.scan import scan
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.outcomes import (
    Outcome,
    describe_error,
    grade_prediction,
    simulator_lock,
)

# Characters of all that is told, about.
_MAX_DISCLOSED = 10_000
_SENTENCE = 300
# Characters of a check's places, at most.
_PLACES = 1_500
# Entries that are shown of each list: as many as fit.
_SIZES = (20, 5, 2, 1)
# Checks of the form alone, which are worded without the instance.
_OF_SHAPE = frozenset({"answer_found", "answer_schema"})
# Calls a function with arguments somewhere else, and returns what it returns.
Run = Callable[..., Any]
_T = TypeVar("_T")
# Of a game: small, and JSON.
State = dict[str, Any]
# Replies beyond what the budget is enough for: the answer, and some that go wrong.
_SPARE = 6
_FAULT = 500
# Replies in a row with neither query nor answer after which a probe ends.
_TALK = 5
_TEXTS: Mapping[str, Mapping[str, str]] = packaged_toml("scbench.loop", "rules.toml")


UNJUDGED = "This answer cannot be judged on this machine. The trial ends here, without a score."
_CLOSED = 0.1


def one_right(task: Task) -> bool:
    """Whether an instance has one right answer, which its checks could say."""
    return task.one_answer or shape_of(task.answer_model).is_short


def disclosed(task: Task, verdicts: tuple[Verdict, ...], disclose: str) -> list[str]:
    """Return the lines that are told of a judged answer besides its score."""
    if disclose == "score":
        return []
    lines = list(_failed_checks(task, verdicts, places=disclose == "places"))
    ends = accumulate(map(len, lines))
    fitting = [
        line for line, end in zip(lines, ends, strict=True) if end <= _MAX_DISCLOSED
    ]
    omitted = len(lines) - len(fitting)
    if omitted:
        fitting.append(f"- and {omitted} more")
    return ["Checks that failed:", *fitting] if fitting else []


def _failed_checks(
    task: Task, verdicts: tuple[Verdict, ...], *, places: bool
) -> Iterator[str]:
    hidden = one_right(task)
    own = _OF_SHAPE | task.own_faults
    for number, verdict in enumerate(verdicts, 1):
        of = f" (score {number} of {len(verdicts)})" if len(verdicts) > 1 else ""
        for check in verdict.checks:
            if check.passed is not False:
                continue
            if hidden and check.id not in own:
                rule = task.checks.get(check.id) or COMMON_CHECKS.get(check.id, "")
                yield f"- {check.id}{of}: broken is the rule: {rule}"
            else:
                where = f"\n  {_places_text(check)}" if places and check.details else ""
                yield f"- {check.id}{of}: {_clip_text(check.message, _SENTENCE)}{where}"


def _clip_text(text: str, limit: int) -> str:
    omitted = len(text) - limit
    return text if omitted <= 0 else f"{text[:limit]}... ({omitted} more characters)"


def _places_text(check: Check) -> str:
    for limit in _SIZES:
        text = canonical_json(
            {key: _first_entries(value, limit) for key, value in check.details.items()}
        )
        if len(text) <= _PLACES:
            return text
    return f"its places take {len(text):,} characters and are left out"


def _first_entries(value: JsonValue, limit: int) -> JsonValue:
    """Return a value with the first entries of each list, and a count of those left out."""
    if isinstance(value, dict):
        return {key: _first_entries(inside, limit) for key, inside in value.items()}
    if not isinstance(value, list | tuple):
        return _clip_text(value, _SENTENCE) if isinstance(value, str) else value
    entries = [_first_entries(inside, limit) for inside in value[:limit]]
    omitted = len(value) - len(entries)
    return [*entries, f"and {omitted} more"] if omitted else entries


@dataclass(frozen=True, slots=True)
class Move:
    """What came of one reply.

    Attributes:
        observation: what the model is shown then.
        outcome: of the answer, if the reply was taken for one.
    """

    observation: str
    outcome: Outcome | None = None


class Game(ABC):
    """One trial.

    Attributes:
        turn: replies so far.
        over: whether it has ended.
        run: what makes simulations of heavy tasks; None for this thread, one at a time.
        used: what queries or actions have cost so far.
    """

    def __init__(self, setup: Setup, task: Task, params: BaseModel) -> None:
        self.setup = setup
        self.task = task
        self.params = params
        self.turn = self.used = 0
        self.over = False
        self.run: Run | None = None

    @property
    @abstractmethod
    def limit(self) -> int:
        """Replies after which it ends at the latest."""

    @property
    @abstractmethod
    def rules(self) -> str:
        """What the prompt says of it, in sentences."""

    @abstractmethod
    def take(self, reply: str) -> Move:
        """Answer a reply; called while the game is not over."""

    @property
    def replies_left(self) -> int:
        """Replies that may still be given."""
        return self.limit - self.turn

    @property
    def state(self) -> State:
        """Where the game stands."""
        return {"turn": self.turn, "used": self.used, "over": self.over}

    def restore(self, state: State) -> None:
        """Go where a state says."""
        self.turn, self.used, self.over = state["turn"], state["used"], state["over"]

    def play(self, reply: str) -> Move:
        """Take a reply and count it."""
        self.turn += 1
        return self.take(reply)

    def judged(self, prediction: Prediction) -> Outcome:
        """Return what comes of an answer."""
        return self.simulated(grade_prediction, prediction, self.task, self.params)

    def simulated(self, function: Callable[..., _T], *arguments: object) -> _T:
        """Return what a function gives: one of a heavy task in a process, or after all others."""
        if self.run is not None and self.task.heavy:
            return cast(_T, self.run(function, *arguments))
        with simulator_lock(self.task):
            return function(*arguments)

    def judge_reply(self, reply: str) -> Outcome:
        """Return what comes of the answer in a reply, as everywhere else."""
        return self.judged(Prediction.model_construct(id="", response=reply))


def is_answer(outcome: Outcome) -> bool:
    """Whether there was an answer that could be read, and a score of it."""
    return outcome.status is Status.ANSWERED


def unjudged(outcome: Outcome) -> bool:
    """Whether it is not the model's doing that there is no score."""
    return not outcome.status.scored


def _few_digits(score: float) -> str:
    """Return a score in few digits; it says 0 or 1 only if it is."""
    text = f"{score:.6g}"
    return text if text != "1" or score == 1 else "almost 1, not quite 1"


class Retry(Game):
    """Answers, and what is wrong with each, until one has the full score or none is left."""

    @property
    @override
    def limit(self) -> int:
        return self.setup.attempts

    @property
    @override
    def rules(self) -> str:
        attempts, disclose = self.setup.attempts, self.setup.disclose
        tells = (
            "one_right" if disclose != "score" and one_right(self.task) else disclose
        )
        return _TEXTS["rules"]["retry"].format(
            attempts=attempts, plural="s" * (attempts > 1), tells=_TEXTS["tells"][tells]
        )

    @override
    def take(self, reply: str) -> Move:
        outcome = self.judge_reply(reply)
        head = f"Answer {self.turn} of {self.limit}: "
        if unjudged(outcome):
            self.over = True
            return Move(UNJUDGED, outcome)
        if not is_answer(outcome):
            lines = [f"{head}no answer can be read from this reply."]
        else:
            lines = [f"{head}score {_few_digits(outcome.score or 0.0)} of 1."]
            lines += disclosed(self.task, outcome.verdicts, self.setup.disclose)
        full = outcome.score == 1
        self.over = full or not self.replies_left
        if full:
            lines.append("That is the full score. The trial is over.")
        elif self.over:
            lines.append("That was the last time. The trial is over.")
        else:
            lines.append(
                f"You may answer {self.replies_left} more time{'s' * (self.replies_left > 1)}."
            )
        return Move("\n".join(lines), outcome)


def last_object(reply: str, *keys: str) -> JsonValue | None:
    """Return the last JSON object in a reply that has one of these keys; None without one."""
    for span in reversed(scan(visible(reply), keys)):
        if not set(keys).isdisjoint(span.keys):
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
        except (
            ArithmeticError,
            ValueError,
        ):  # of numbers that no computer can count with
            return self._wrong("what it costs cannot be counted.")
        if self.used + cost > self.budget:
            return self._wrong(
                f"it costs {cost}, which is more than is left of the budget."
            )
        self.used += cost
        try:
            observation = self.carry_out(move)
        except QueryError as error:
            return self._wrong(f"{str(error)[:_FAULT].rstrip('.')}.")
        except MemoryError:
            raise
        except CannotGrade as error:
            return self.ended(Outcome(Status.NOT_RUN, reason=str(error)[:_FAULT]))
        except Exception as error:  # noqa: BLE001  (a task that fails is not a model that fails)
            return self.ended(
                Outcome(Status.GRADER_ERROR, reason=describe_error(error))
            )
        return Move(
            f"{canonical_json(observation)[: MAX_OBSERVATION // 2]}\n{self.has_left}"
        )

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
            name_text = (
                printable(str(name)[:40]) if isinstance(name, str) else "no word"
            )
            return (
                f"{self.key} must be one of {', '.join(self.kinds)}; it is {name_text}."
            )
        try:
            return kind.model_validate(request)
        except ValidationError as error:
            return f"{'; '.join(map(str, faults_of(error, 3)))[:_FAULT]}."
        except (ArithmeticError, ValueError):  # a number that no computer holds
            return "a value in it cannot be read."


class Probe(Asking):
    """Queries within a budget, then one answer.

    Attributes:
        talk: replies since the last query that hold neither.
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
        return _TEXTS["rules"]["probe"].format(
            budget=self.budget, limit=self.limit, described=self.described, talk=_TALK
        )

    @override
    def carry_out(self, move: Query) -> dict[str, Any]:
        return self.simulated(move.observe, self.params)

    @override
    def take(self, reply: str) -> Move:
        request = last_object(reply, self.key)
        if request is not None and self.replies_left:
            self.talk = 0
            return self.move(request)
        if request is not None:
            self.over = True
            return Move(
                "This was the last reply, and it is no answer. The trial is over."
            )
        outcome = self.judge_reply(reply)
        if unjudged(outcome):
            return self.ended(outcome)
        self.talk += 1
        self.over = is_answer(outcome) or not self.replies_left or self.talk == _TALK
        if is_answer(outcome):
            return Move("This is your answer. The trial is over.", outcome)
        message = "This reply holds neither a query nor an answer that can be read."
        return Move(
            f"{message} {'The trial is over.' if self.over else self.has_left}", outcome
        )


def _next_state(play: Play, action: Action) -> tuple[Play, dict[str, Any]]:
    """Return a state after an action, which may be a copy in a process, and what is seen."""
    observation = play.step(action)
    return play, observation


class Act(Asking):
    """Actions change the state; what was done is the answer."""

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
        observation = canonical_json(self.simulated(self._play.look))
        return _TEXTS["rules"]["act"].format(
            budget=self.budget,
            limit=self.limit,
            described=self.described,
            observation=observation,
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
            self._play, _ = self.simulated(_next_state, self._play, self._read(action))

    @override
    def carry_out(self, move: Action) -> dict[str, Any]:
        self._play, observation = self.simulated(_next_state, self._play, move)
        self._done.append(move.model_dump(mode="json"))
        return observation

    def final(self) -> Outcome:
        """Return what comes of what was done so far."""
        return self.judged(Prediction.model_construct(id="", answer=self._play.answer))

    @override
    def take(self, reply: str) -> Move:
        request = last_object(reply, self.key, "done")
        before = len(self._done)
        if (
            isinstance(request, dict)
            and request.get("done") is True
            and self.key not in request
        ):
            self.over = True
            move = Move("You are done.")
        elif request is None:
            move = Move(
                f'This reply holds no "action" that can be read. {self.has_left}'
            )
        else:
            move = self.move(request)
        if move.outcome is not None:
            return move
        self.over = (
            self.over
            or self._play.over
            or self.used >= self.budget
            or not self.replies_left
        )
        # How good it is so far is not told; to simulate it after each action would take too long.
        judged = self.over or (len(self._done) > before and not self.task.heavy)
        outcome = self.final() if judged else None
        if outcome is not None and unjudged(outcome):
            return self.ended(outcome)
        return Move(
            f"{move.observation}\nThe trial is over."
            if self.over
            else move.observation,
            outcome,
        )


def game_of(setup: Setup, task: Task, params: BaseModel) -> Game:
    """Return the beginning of a game.

    Raises:
        PredictionsError: the task has no such setting; or its answers can be gone through.
    """
    if setup.setting == "retry":
        if not setup.closed and _guess_chance(task, params) >= _CLOSED:
            raise PredictionsError(
                f"{task.id} is not played in setting retry: at this point a blind guess is right "
                "one time in ten or more often, so answers can be gone through; ask for it (closed)"
            )
        return Retry(setup, task, params)
    if setup.setting == "probe" and (queries := task.queries) is not None:
        return Probe(setup, task, params, queries.QUERIES, queries.BUDGET)
    if setup.setting == "act" and (actions := task.actions) is not None:
        return Act(setup, task, params, actions.ACTIONS, actions.BUDGET, actions.Play)
    raise PredictionsError(
        f"{task.id} cannot be played in setting {setup.setting}; these can: "
        f"{', '.join(playable(setup.setting))}"
    )


def _guess_chance(task: Task, params: BaseModel) -> float:
    """Return the chance that a blind guess is right; 0 where answers are no short texts."""
    if task.bucket != MANIFOLDS or not task.has("builders"):
        return 0.0
    return task.builder().blind_floor(params)


def playable(setting: str) -> list[str]:
    """Return the ids of the tasks that can be played in a setting of the loop."""
    module = {"probe": "queries", "act": "actions"}.get(setting)
    return [
        task.id
        for task in all_tasks().values()
        if (task.available if module is None else task.offers(module))
    ]
