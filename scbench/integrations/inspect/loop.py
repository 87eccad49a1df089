"""Inspect's solver and task of the loop: settings retry, probe and act (docs/loop.md).

A trial is kept in the metadata of its sample, ``loop`` and ``turns``, so its log can be graded like
every other: `scbench-grade` plays the turns again.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from anyio.to_thread import run_sync
from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import Generate, Solver, TaskState, solver
from pydantic import ValidationError
from rich.markup import escape

from scbench.base.errors import PredictionsError, ScbenchError, faults_of
from scbench.base.model import Instance, LoopSetting, Setup
from scbench.formats.prompts.requests import select
from scbench.integrations.inspect.grading import named_instances
from scbench.integrations.inspect.tasks import (
    config_of,
    expected_scores,
    names_in,
    sample_of,
    task_of,
)
from scbench.loop.environment import Environment
from scbench.release.load import find_release

_FILTERED = "content_filter"


@solver
def trial(setup: Setup, release: str | None = None) -> Solver:
    """Let a model play: its replies are steps of an environment, until that is done.

    Args:
        setup: what the model is promised.
        release: which one the samples are of, as `scbench.load_release` takes it.

    Returns:
        A solver. The first message is the sample's input, as `scbench.loop.Environment.reset`
        words it.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        instance = (await run_sync(named_instances, release)).get(str(state.sample_id))
        if instance is None:
            raise ScbenchError(f"{state.sample_id} is not in the release that the solver was given")
        environment = Environment(setup)
        environment.reset(instance)
        done = False
        while not done and not state.completed:
            state = await generate(state)
            if state.output.stop_reason == _FILTERED:
                break  # the provider said this, not the model
            step = await run_sync(environment.step, state.output.completion)
            state.messages.append(ChatMessageUser(content=step.observation))
            state.metadata |= environment.record
            done = step.done
        return state

    return solve


def _trial_samples(
    instances: Sequence[Instance], setup: Setup, budget: int | None, *, strict: bool
) -> Iterator[tuple[Instance, Sample]]:
    """Yield instances with the samples that begin their trials.

    Raises:
        PredictionsError: a task has no such setting, and it was named.
    """
    for instance in instances:
        environment = Environment(setup)
        try:
            first = environment.reset(instance)
        except PredictionsError:
            if strict:
                raise
            continue
        sample = sample_of(instance.model_copy(update={"prompt": first}), budget)
        sample.metadata = (sample.metadata or {}) | environment.record
        yield instance, sample


@task(name="loop")
def loop(
    setting: LoopSetting = "retry",
    attempts: int = 3,
    disclose: Literal["score", "checks", "places"] = "checks",
    queries: int | None = None,
    tasks: str | list[str] | None = None,
    ids: str | list[str] | None = None,
    variant: str = "default",
    samples: int = 1,
    budget: int | None = None,
    effort: str | None = None,
    reasoning_tokens: int | None = None,
    release: str | None = None,
    images: bool = True,  # noqa: FBT001, FBT002  (a parameter of Inspect's command line)
) -> Task:
    """The Spatial Competence Benchmark with feedback: graders and simulators in the loop.

    Args:
        setting: retry, probe or act.
        attempts: answers that may be given (retry).
        disclose: what is told of an answer (retry): score, checks or places.
        queries: what queries (probe) or actions (act) may cost; None for each task's own budget.
        tasks: only these tasks and buckets; None for all that have the setting.
        ids: only these instances.
        variant: default, terse or ladder: whose prompts are put.
        samples: how often each is asked (epochs).
        budget: limit of output tokens of each reply, which tables tell runs apart by.
        effort: Inspect's reasoning_effort.
        reasoning_tokens: Inspect's, for providers that take a number.
        release: version, folder, archive or ORG/NAME@REVISION; None for the newest.
        images: whether items with pictures are asked; without them they have no score.
    """
    try:
        setup = Setup(setting=setting, attempts=attempts, disclose=disclose, budget=queries)
        names = names_in(tasks)
        source, _, instances = select(find_release(release), variant, names, names_in(ids))
        strict = names is not None or ids is not None
        trials = list(_trial_samples(instances, setup, budget, strict=strict))
    except ValidationError as error:
        raise PrerequisiteError(escape(str(faults_of(error, 1)[0]))) from None
    except ScbenchError as error:
        raise PrerequisiteError(escape(str(error))) from None
    return task_of(
        MemoryDataset(
            [sample for instance, sample in trials if images or not instance.images],
            name=f"scbench {source.version} {setting}",
        ),
        trial(setup, release),
        expected_scores([instance for instance, _ in trials]),
        setting=setting,
        version=source.version,
        release=release,
        config=config_of(budget, effort, reasoning_tokens),
        samples=samples,
    )
