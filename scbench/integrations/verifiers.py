"""A verifiers taskset: the release, its ladder and new instances, for evaluation and training.

verifiers 0.4 loads environments by the name of a top-level package. ``scbench_env`` is that
package: the folder that ``scbench export verifiers`` prints, which can be installed and pushed to
the hub as it is. It only imports the names of this module.

Sources: verifiers 0.4.0 ``v1/taskset.py``, ``v1/task.py``, ``v1/harness.py``.
"""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, Self, cast

from pydantic import model_validator

from scbench.base.errors import PredictionsError
from scbench.base.model import (
    LADDER,
    Instance,
    LoopSetting,
    Prediction,
    Setup,
    Status,
    rung_of,
)
from scbench.catalog import get_task
from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.entries import chat_outcome, reply, with_turns
from scbench.formats.prompts import data_urls, select
from scbench.grading.rows.wire import to_wire
from scbench.grading.workers.live import live_grader
from scbench.loop import Environment
from scbench.release.load import find_release
from scbench.reward import instance_of, outcome, packed, unpacked

__all__ = ["SpatialEnv", "SpatialHarness", "SpatialTaskset"]

# Threads for steps of trials, most of which wait for a process. Rewards use another
# pool, so that they do not wait behind them.
_STEPS = ThreadPoolExecutor(64, "scbench steps")


def _check_openai() -> None:
    """Refuse to start if the extras ``inspect`` and ``verifiers`` are both installed."""
    try:
        installed = version("openai")
    except PackageNotFoundError:
        return
    if int(installed.partition(".")[0]) >= 3:
        raise ModuleNotFoundError(
            f"verifiers needs openai below 3, but {installed} is installed, because "
            "Inspect needs it. Install scbench[verifiers] and scbench[inspect] in "
            "separate environments"
        )


_check_openai()

import httpx  # noqa: E402
import verifiers.v1 as vf  # noqa: E402
from verifiers.v1.dialects.chat import message_to_wire  # noqa: E402
from verifiers.v1.utils.loaders import harness_class  # noqa: E402


class SpatialData(vf.TaskData):
    """The data of a rollout: complete new instances, or ids of a release's instances."""

    bucket: str
    task_id: str
    release: str | None = None
    instance: str | None = None
    setup: dict[str, Any] | None = None
    """Setup of a loop, see `scbench.loop`; None if the model answers directly."""


class SpatialTask(vf.Task[SpatialData]):
    """One instance, which the model gets once; graded as by `scbench-grade`."""

    @property
    def key(self) -> str:
        """The id of the instance."""
        return str(self.data.id)

    @vf.reward
    async def scbench(self, trace: vf.Trace) -> float:
        """Return the score in [0, 1].

        Raises:
            RuntimeError: the reply cannot be graded, so the rollout is an error instead
                of a 0.
        """
        finish = trace.calls[-1].finish_reason if trace.calls else None
        wire = None
        for message in trace.assistant_messages[-1:]:
            # The wire format has "" for text that a filter removed, which is not an
            # empty answer.
            if message.content is not None or message.tool_calls:
                wire = message_to_wire(message)
        text, state = chat_outcome(wire, finish)
        last_reply = reply(RequestKey(self.key), None, text, state, {})
        line = with_turns(last_reply, trace.info).line()
        prediction = Prediction.model_validate_json(line)
        instance = instance_in(self.data)
        # A simulation runs in a separate process, so that other rewards do not wait for it.
        if get_task(instance.task).heavy:
            result = await asyncio.wrap_future(live_grader().submit(instance, line))
        else:
            result = to_wire(await asyncio.to_thread(outcome, instance, prediction))
        if result.score is None:
            raise RuntimeError(
                f"{self.key} has no score ({result.status}): {result.reason}"
            )
        return result.score


def instance_in(data: SpatialData) -> Instance:
    """Return the instance of a rollout."""
    if data.instance:
        return unpacked(data.instance)
    return instance_of(str(data.id), data.release)


class SpatialConfig(vf.TasksetConfig):
    """The instances chosen."""

    tasks: list[str] = []
    """Tasks and buckets; by default all of the config."""
    config: Literal["default", "terse", "ladder", "pictures"] = "default"
    """Config of the release: default, terse (short prompts), ladder or pictures."""
    release: str | None = None
    """Version, folder, archive or ORG/NAME@REVISION; by default the newest installed."""
    rung: int | None = None
    """Only this rung of the ladder."""
    fresh: int = 0
    """Number of instances to draw for each task (and rung), instead of a release; needs `tasks`."""
    seed: int = 0
    """Base seed of drawn instances; each gets its own seed, derived by hash."""
    parameters: dict[str, Any] = {}
    """Parameters of drawn instances, see `scbench tasks TASK`."""
    images: bool = True
    """Whether to include prompts with pictures."""
    setting: LoopSetting | None = None
    """retry, probe or act for a loop (docs/environments.md); None for a direct answer."""
    attempts: int = 3
    """Maximum number of answers (retry)."""
    disclose: Literal["score", "checks", "places"] = "checks"
    """What the model learns about an answer (retry)."""
    closed: bool = False
    """Whether to play items that a blind guess solves at least 10 % of the time (retry)."""
    queries: int | None = None
    """Limit on the cost of queries (probe) or actions (act); by default the task's own."""

    @property
    def setup(self) -> Setup | None:
        """The rules of a trial; None if there is no loop."""
        if self.setting is None:
            return None
        return Setup(
            setting=self.setting,
            attempts=self.attempts,
            disclose=self.disclose,
            closed=self.closed,
            budget=self.queries,
        )


class SpatialTaskset(vf.Taskset[SpatialTask, SpatialConfig]):
    """The benchmark as a taskset."""

    def load(self) -> Iterator[SpatialTask]:
        """Yield the tasks, in the order of the release or in the order in which they are drawn.

        Raises:
            ScbenchError: no such task, config, release, rung or parameter.
        """
        config = self.config
        setup = config.setup
        sources = fresh_instances(config) if config.fresh else frozen_instances(config)
        for source in sources:
            if source.images and not config.images:
                continue
            instance = source
            if setup is not None:
                try:
                    first = Environment(setup).reset(source)
                except PredictionsError:
                    # A task without this setting is an error only if the user named it.
                    if config.tasks:
                        raise
                    continue
                instance = source.model_copy(update={"prompt": first})
            data = SpatialData(
                id=instance.id,
                name=instance.id,
                prompt=prompt_messages(instance),
                bucket=instance.bucket,
                task_id=instance.task,
                release=None if config.fresh else config.release,
                instance=packed(source) if config.fresh else None,
                setup=None if setup is None else setup.model_dump(),
            )
            yield SpatialTask(data, config.task)


def fresh_instances(config: SpatialConfig) -> Iterator[Instance]:
    """Yield new instances of the tasks of a config.

    Raises:
        ScbenchError: no task is named, or there is no such task, rung or parameter.
    """
    from scbench.freezing.fresh import generate  # noqa: PLC0415  (heavy)
    from scbench.freezing.stream import tasks_of  # noqa: PLC0415

    if not config.tasks:
        raise PredictionsError(
            "fresh needs tasks: name the tasks to generate items for"
        )
    point = {"rung": config.rung, **config.parameters}
    for task in tasks_of(config.tasks):
        yield from generate(task.id, config.fresh, config.seed, **point)


def frozen_instances(config: SpatialConfig) -> Iterator[Instance]:
    """Yield the instances of a release.

    Raises:
        ScbenchError: no such release, config or task; or options that need fresh instances.
    """
    if config.parameters or config.seed:
        raise PredictionsError(
            "parameters and seed work only with fresh items: set fresh to the number of items"
        )
    if config.rung is not None and config.config != LADDER:
        raise PredictionsError("rungs need the config ladder or fresh items")
    release = find_release(config.release)
    for instance in select(release, config.config, config.tasks).instances:
        if config.rung is None or rung_of(instance.id) == config.rung:
            yield instance


def prompt_messages(instance: Instance) -> str | list[vf.UserMessage]:
    """Return the prompt in verifiers' format: a text, or a message with pictures."""
    if not instance.images:
        return instance.prompt
    text = vf.TextContentPart(text=instance.prompt)
    pictures = [
        vf.ImageUrlContentPart(image_url=vf.ImageUrlSource(url=url))
        for url in data_urls(instance)
    ]
    return [vf.UserMessage(content=[text, *pictures])]


class SpatialHarness(vf.Harness[vf.HarnessConfig]):
    """The default harness, which calls the model without tools: once, or in each turn of a trial.

    The harness ``null`` of verifiers does the same in a program that uv installs for it first.
    """

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,  # noqa: ARG002  (nothing is run)
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],  # noqa: ARG002  (there are no tools)
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Call the model through verifiers' own proxy, which records the calls."""
        system, prompt = self.resolve_prompt(data)
        messages = prompt
        if not isinstance(messages, list):
            messages = [vf.UserMessage(content=messages or "")]
        if system:
            messages = [vf.SystemMessage(content=system), *messages]
        history = [message_to_wire(message) for message in messages]
        headers = {"Authorization": f"Bearer {secret}"}
        trial = await asyncio.to_thread(begun_trial, cast(SpatialData, data))
        # Verifiers itself limits how long a model may take.
        async with httpx.AsyncClient(timeout=httpx.Timeout(None)) as client:
            while True:
                body = {"model": ctx.model, "messages": history}
                answer = await client.post(
                    f"{endpoint}/chat/completions", json=body, headers=headers
                )
                if not answer.is_success:
                    message = f"HTTP {answer.status_code}: {answer.text[:500]}"
                    return vf.ProgramResult(exit_code=1, stdout="", stderr=message)
                choice = answer.json()["choices"][0]
                text, state = chat_outcome(choice["message"], choice["finish_reason"])
                # A filter's reply is not a step of the model.
                if trial is None or state.status is Status.BLOCKED:
                    return vf.ProgramResult(exit_code=0, stdout="", stderr="")
                text = text or ""
                step = await asyncio.get_running_loop().run_in_executor(
                    _STEPS, trial.step, text
                )
                history += [
                    {"role": "assistant", "content": text},
                    {"role": "user", "content": step.observation},
                ]
                trace.info |= trial.record
                if step.done:
                    return vf.ProgramResult(exit_code=0, stdout="", stderr="")


def begun_trial(data: SpatialData) -> Environment | None:
    """Return a newly started trial of a task; None if its model answers directly."""
    if data.setup is None:
        return None
    trial = Environment(Setup(**data.setup), live_grader().run)
    trial.reset(instance_in(data))
    return trial


class SpatialEnvConfig(vf.SingleAgentEnvConfig):
    """The settings of the environment, which needs no sandbox because it only makes calls."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())

    @model_validator(mode="after")
    def _walled(self) -> Self:
        """Refuse a harness that would run the model's commands on this machine."""
        harness = self.agent.harness
        if harness is None or not isinstance(self.agent.runtime, vf.SubprocessConfig):
            return self
        if harness_class(harness.id).EXECUTES_CODE:
            raise ValueError(
                f"the harness {harness.id!r} would run the model's code on this machine; "
                "choose a sandbox, such as --env.agent.runtime.type docker"
            )
        return self


class SpatialEnv(vf.SingleAgentEnv, vf.Env[SpatialEnvConfig]):
    """An environment with one agent, which plays each task once."""
