"""New games in each setting, and the tasks that can be played in it."""

from pydantic import BaseModel

from scbench.base.errors import PredictionsError
from scbench.base.model import Setup
from scbench.catalog import MANIFOLDS, Task, all_tasks
from scbench.loop.asking import Act, Probe
from scbench.loop.games import Game
from scbench.loop.retry import Retry

# If a blind guess is right at least this often, a model could try all answers.
MAX_GUESS_CHANCE = 0.1
# Module next to a grader that each setting needs.
MODULES = {"probe": "queries", "act": "actions"}


def game_of(setup: Setup, task: Task, params: BaseModel) -> Game:
    """Return a new game.

    Raises:
        PredictionsError: the task has no such setting, or a model could try every answer.
    """
    if setup.setting == "retry":
        if not setup.closed and guess_chance(task, params) >= MAX_GUESS_CHANCE:
            raise PredictionsError(
                f"{task.id} is not played in setting retry with these parameters, because a blind "
                "guess is right at least 10 % of the time; to play it anyway, set "
                "`closed`"
            )
        return Retry(setup, task, params)
    if setup.setting == "probe":
        queries = task.queries
        if queries is not None:
            return Probe(setup, task, params, queries.query_types(), queries.BUDGET)
    if setup.setting == "act":
        actions = task.actions
        if actions is not None:
            return Act(
                setup,
                task,
                params,
                actions.action_types(),
                actions.BUDGET,
                actions.Play,
            )
    raise PredictionsError(
        f"{task.id} cannot be played in setting {setup.setting}; these tasks can: "
        f"{', '.join(playable(setup.setting))}"
    )


def guess_chance(task: Task, params: BaseModel) -> float:
    """Return the chance that a blind guess is right; 0 if answers are not short texts."""
    if task.bucket != MANIFOLDS or not task.has("builders"):
        return 0.0
    return task.builder().blind_floor(params)


def playable(setting: str) -> list[str]:
    """Return the ids of the tasks that can be played in a setting of the loop."""
    tasks = all_tasks().values()
    module = MODULES.get(setting)
    if module is None:
        return [task.id for task in tasks if task.available]
    return [task.id for task in tasks if task.offers(module)]
