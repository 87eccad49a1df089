"""The loop as an environment of OpenEnv: reset, step and state over WebSockets.

::

    uvicorn --factory scbench.integrations.openenv:app

A session plays trials one after the other, as `scbench.loop.Environment` does; a split
is a config of the release, and a task of OpenEnv is an instance. Over HTTP each request
is a separate session, so ``/reset`` shows a prompt and ``/step`` is refused with an
explanation. Source: openenv 0.10 ``core/env_server``.
"""

from functools import lru_cache, partial
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import Action, Environment, Observation, State, create_app
from openenv.core.env_server.types import ConcurrencyConfig, EnvironmentMetadata
from typing_extensions import override

from scbench.base import __version__
from scbench.base.errors import PredictionsError, ScbenchError, describe_value
from scbench.base.model import LADDER, TERSE, Instance, Setup
from scbench.formats.prompts import data_urls, select
from scbench.grading.workers.live import live_grader
from scbench.loop import Environment as Trial
from scbench.loop import playable
from scbench.release.load import find_release
from scbench.reward import instance_of

SPLITS = ("default", TERSE, LADDER)
# Statuses of HTTP.
_BAD_REQUEST = 400
_CONFLICT = 409
# Seconds after which an idle session ends to free its place.
IDLE_SECONDS = 3600.0
# Errors of wrong arguments: our own, and those of values of another type.
_WRONG_ARGUMENTS = (ScbenchError, IndexError, TypeError, ValueError)


class NoTrialError(ScbenchError):
    """A reply came before a reset."""


class Reply(Action):
    """The model's reply, verbatim."""

    reply: str


class Shown(Observation):
    """The observation after a reply. The reward is the reply's score, 0 without an answer.

    The reward is None if the answer cannot be graded here.
    """

    observation: str
    images: list[str] = []


class TrialState(State):
    """The instance of the trial, and the trial so far as a line of a predictions file."""

    instance_id: str | None = None
    prediction: dict[str, Any] | None = None


@lru_cache(maxsize=64)
def split_instances(release: str | None, split: str, setting: str) -> list[Instance]:
    """Return the instances of a split that can be played in a setting, in order."""
    tasks = {*playable(setting)}
    instances = select(find_release(release), split).instances
    return [instance for instance in instances if instance.task in tasks]


class SpatialEnvironment(Environment[Reply, Shown, TrialState]):
    """One session: trials in one setting of the loop, on the instances of one release."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, setup: Setup, release: str | None = None) -> None:
        super().__init__()
        self._setup = setup
        self._release = release
        self._trial = Trial(setup, live_grader().run)
        self._state = TrialState()

    def _instances(self, split: str) -> list[Instance]:
        # Requests may contain any value, even an unhashable one, so a list is searched.
        if split not in list(SPLITS):
            raise PredictionsError(
                f"no split {describe_value(split)}; the splits are {', '.join(SPLITS)}"
            )
        return split_instances(self._release, split, self._setup.setting)

    @override
    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        split: str = "default",
        index: int | None = None,
        id: str | None = None,
        **_: Any,
    ) -> Shown:
        """Start a trial of the instance with an id, or of a split's instance by index or seed."""
        if id is not None:
            instance = instance_of(str(id), self._release)
        else:
            rows = self._instances(split)
            # A text before % would be a template, which can produce gigabytes.
            if seed is not None and type(seed) is not int:
                raise PredictionsError("the seed is not an integer")
            if index is None:
                index = (seed or 0) % len(rows)
            # A negative index would count from the end.
            if type(index) is not int or not 0 <= index < len(rows):
                raise PredictionsError(
                    f"no index {describe_value(index)} in the split {split!r}, "
                    f"which has the indices 0 to {len(rows) - 1}"
                )
            instance = rows[index]
        first = self._trial.reset(instance)
        self._state = TrialState(episode_id=episode_id, instance_id=instance.id)
        return Shown(
            observation=first, images=data_urls(instance), metadata={"id": instance.id}
        )

    @override
    def step(self, action: Reply, timeout_s: float | None = None, **_: Any) -> Shown:
        """Take the model's reply.

        Raises:
            NoTrialError: there was no reset.
        """
        if self._state.instance_id is None:
            raise NoTrialError(
                "no trial has begun in this session: call reset first. Over HTTP, each request is "
                "a new session; use the WebSocket /ws, as OpenEnv's clients do"
            )
        step = self._trial.step(action.reply)
        self._state.step_count += 1
        return Shown(
            observation=step.observation,
            done=step.done,
            reward=step.reward,
            metadata=step.info,
        )

    @property
    @override
    def state(self) -> TrialState:
        """The state of the trial, with its prediction so far."""
        if self._state.instance_id is not None:
            self._state.prediction = self._trial.prediction()
        return self._state

    @override
    def get_metadata(self) -> EnvironmentMetadata:
        """Return the metadata that a hub shows."""
        return EnvironmentMetadata(
            name="scbench",
            description=(
                "Spatial Competence Benchmark: spatial tasks with exact graders, "
                f"played in the setting {self._setup.setting}."
            ),
            version=__version__,
        )

    def list_splits(self) -> list[str]:
        """Return the configs of a release that have prompts."""
        return [*SPLITS]

    def num_tasks(self, split: str) -> int:
        """Return the number of instances that can be played."""
        return len(self._instances(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return the id, task, bucket and difficulty of an instance."""
        if index < 0:
            # Python would count from the end; OpenEnv turns this error into a response.
            raise IndexError(index)
        row = self._instances(split)[index]
        fields = row.model_dump(include={"id", "task", "bucket", "difficulty"})
        return {"index": index, **fields}

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return all instances of a split, as described in `get_task`."""
        return [self.get_task(split, index) for index in range(self.num_tasks(split))]


class SpatialClient(EnvClient[Reply, Shown, TrialState]):
    """A client of the served environment; each object is one session."""

    @override
    def _step_payload(self, action: Reply) -> dict[str, Any]:
        values: dict[str, Any] = action.model_dump(exclude_none=True)
        return values

    @override
    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Shown]:
        # The server sends these three separately from the observation.
        outer = {
            name: payload[name]
            for name in ("done", "reward", "metadata")
            if payload.get(name) is not None
        }
        observation = Shown.model_validate({**payload.get("observation", {}), **outer})
        return StepResult(
            observation=observation,
            reward=observation.reward,
            done=observation.done,
            metadata=observation.metadata,
        )

    @override
    def _parse_state(self, payload: dict[str, Any]) -> TrialState:
        state: TrialState = TrialState.model_validate(payload)
        return state


def app(
    setup: Setup | None = None,
    release: str | None = None,
    sessions: int = 64,
    idle_seconds: float = IDLE_SECONDS,
) -> Any:  # noqa: ANN401
    """Return the application, by default with three answers per trial.

    Args:
        setup: setting of the loop.
        release: name of the release.
        sessions: maximum number of sessions at a time.
        idle_seconds: seconds after which an idle session ends.
    """
    environment = partial(SpatialEnvironment, setup or Setup(setting="retry"), release)
    application = create_app(
        environment,
        Reply,
        Shown,
        env_name="scbench",
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=sessions, session_timeout=idle_seconds
        ),
        state_cls=TrialState,
    )
    for kind in _WRONG_ARGUMENTS:
        application.add_exception_handler(kind, as_response)
    return application


async def as_response(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001
    """Return an error in a request as a response for the client."""
    status = _CONFLICT if isinstance(error, NoTrialError) else _BAD_REQUEST
    return JSONResponse({"detail": str(error)}, status)
