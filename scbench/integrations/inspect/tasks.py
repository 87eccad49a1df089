"""Tasks of Inspect: the whole benchmark, a bucket, a single task, and the configs beside.

All of them take the same parameters; ``-T tools=true -T budget=16000`` and so on. A trial in a loop
(docs/environments.md) is kept in the metadata of its sample, ``loop`` and ``turns``, so its log can
be graded like every other: `scbench-grade` plays the turns again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from inspect_ai import Epochs, Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    ResponseSchema,
)
from inspect_ai.scorer import Metric
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, use_tools
from inspect_ai.tool import python, web_search
from inspect_ai.util import JSONSchema
from pydantic import ValidationError
from rich.markup import escape

from scbench.base.errors import PredictionsError, ScbenchError, faults_of
from scbench.base.finish_reasons import finish_status
from scbench.base.model import CONFIGS, Instance, LoopSetting, Setup, Status
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks
from scbench.formats.imports.inspect_logs import call_error, refused_call
from scbench.formats.prompts import chosen_instances, data_urls, select, told_apart
from scbench.grading.workers.live import live_grader
from scbench.integrations.inspect.scorer import by_bucket, named_instances, outcome
from scbench.loop.environment import Environment
from scbench.release.load import find_release

# That one call of the Python tool may take.
_PYTHON_SECONDS = 180
# Steps of trials at a time: most of them wait for a process.
_STEPS = 64


def sample_of(instance: Instance, budget: int | None) -> Sample:
    """Return an instance as a sample: the prompt with its pictures, and nothing that solves it."""
    content: list[Content] = [
        ContentText(text=instance.prompt),
        *(ContentImage(image=url) for url in data_urls(instance)),
    ]
    return Sample(
        id=instance.id,
        input=[ChatMessageUser(content=content)]
        if instance.images
        else instance.prompt,
        metadata={
            "task": instance.task,
            "bucket": instance.bucket,
            "budget": budget,
            "instance_hash": instance.content_hash,
        },
    )


def expected_scores(instances: Sequence[Instance]) -> dict[str, int]:
    """Return how many scores one try at instances has, by bucket."""
    counts: Counter[str] = Counter()
    for instance in instances:
        counts[instance.bucket] += instance.scores
    return dict(counts)


def names_in(text: str | Sequence[str] | None) -> list[str] | None:
    """Return names that a command line gave, with commas or as a list."""
    parts = text.split(",") if isinstance(text, str) else text
    return None if parts is None else [str(part).strip() for part in parts]


def _task_function(
    default: Sequence[str] | None, own_variant: str
) -> Callable[..., Task]:
    """Return what makes a task, of these names and this config where the user says nothing."""

    def spatial_task(
        tasks: str | list[str] | None = None,
        ids: str | list[str] | None = None,
        variant: str = own_variant,
        samples: int = 1,
        budget: int | None = None,
        effort: str | None = None,
        reasoning_tokens: int | None = None,
        tools: bool = False,  # noqa: FBT001, FBT002  (a parameter of Inspect's command line)
        search: str | list[str] | None = None,
        sandbox: str = "docker",
        release: str | None = None,
        images: bool = True,  # noqa: FBT001, FBT002
        schema: bool = False,  # noqa: FBT001, FBT002
    ) -> Task:
        """A part of the Spatial Competence Benchmark.

        Args:
            tasks: only these tasks and buckets.
            ids: only these instances.
            variant: default, terse, ladder or pictures: whose prompts are put.
            samples: how often each is asked (epochs).
            budget: limit of output tokens, which tables tell runs apart by.
            effort: Inspect's reasoning_effort.
            reasoning_tokens: Inspect's, for providers that take a number.
            tools: the paper's second setting: a Python tool in a sandbox, and web search.
            search: providers of web search, as Inspect names them; None for the model's own.
            sandbox: where Python runs: docker, or another that Inspect knows.
            release: version, folder, archive or ORG/NAME@REVISION; None for the newest.
            images: whether items with pictures are asked; without them they have no score.
            schema: whether replies are held to the answer's JSON Schema, where a provider can.
        """
        try:
            source, names, instances = select(
                find_release(release),
                variant,
                names_in(tasks) or default,
                names_in(ids),
            )
        except ScbenchError as error:
            raise PrerequisiteError(escape(str(error))) from None
        selection = instances if images else told_apart(instances)[False]
        expected = expected_scores(chosen_instances(source, names))
        solvers: list[Solver] = [
            structured(release) if schema else generate(),
            check_call(),
        ]
        if tools:
            offered = [python(timeout=_PYTHON_SECONDS), web_search(names_in(search))]  # type: ignore[arg-type]
            solvers.insert(0, use_tools(offered))
        return task_of(
            MemoryDataset(
                [sample_of(instance, budget) for instance in selection],
                name=f"scbench {source.version}",
            ),
            solvers,
            expected,
            setting="tools" if tools else "no_tools",
            version=source.version,
            release=release,
            config=config_of(budget, effort, reasoning_tokens),
            samples=samples,
            sandbox=sandbox if tools else None,
        )

    return spatial_task


def config_of(
    budget: int | None, effort: str | None, tokens: int | None
) -> GenerateConfig:
    """Return how a model is asked: its limit of output tokens, and how much it reasons."""
    return GenerateConfig(
        max_tokens=budget,
        reasoning_effort=effort,  # type: ignore[arg-type]
        reasoning_tokens=tokens,
    )


def task_of(
    dataset: MemoryDataset,
    solver: Solver | list[Solver],
    expected: Mapping[str, int],
    *,
    setting: str,
    version: str,
    release: str | None,
    config: GenerateConfig,
    samples: int,
    sandbox: str | None = None,
) -> Task:
    """Return a task that is graded as `scbench-grade` does."""
    metrics: list[Metric | dict[str, list[Metric]]] = [by_bucket(dict(expected))]
    return Task(
        dataset=dataset,
        solver=solver,
        scorer=outcome(release),
        metrics=metrics,
        config=config,
        epochs=Epochs(samples, "mean"),
        sandbox=sandbox,
        # An item that fails is one row, never the run; `inspect eval-retry` asks it again.
        continue_on_fail=True,
        version=version,
        metadata={"setting": setting},
    )


def _all_functions() -> dict[str, Callable[..., Task]]:
    single = {name: ([name], "default") for name in (*BUCKETS, MANIFOLDS, *all_tasks())}
    beside = {name: (None, name) for name in CONFIGS}
    kinds: Mapping[str, tuple[list[str] | None, str]] = {
        "spatial": (None, "default"),
        **beside,
        **single,
    }
    return {
        name: task(name=name)(_task_function(*parts)) for name, parts in kinds.items()
    }


# What makes each task, by its name after ``scbench/``.
TASKS = _all_functions()


class RefusedCallError(ScbenchError):
    """A provider did not take a call: an error of the sample, which is never a zero."""


def _no_refused_call(state: TaskState) -> TaskState:
    if refused_call(state.output):
        raise RefusedCallError(
            call_error(state.output.error or state.output.completion)
        )
    return state


@solver
def check_call() -> Solver:
    """Make a call that the provider refused an error, as Inspect does with most of them.

    Some it words like replies: prompts that are too long for the model.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  (its form)
        return _no_refused_call(state)

    return solve


@solver
def structured(release: str | None = None) -> Solver:
    """Ask for the JSON of a sample's answer schema; the release is that of the samples."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        instance = (await run_sync(named_instances, release))[str(state.sample_id)]
        schema = JSONSchema.model_validate_json(instance.answer_schema)
        form = ResponseSchema(name="answer", json_schema=schema, strict=True)
        return await generate(state, response_schema=form)

    return solve


@solver
def trial(setup: Setup, release: str | None = None) -> Solver:
    """Let a model play: its replies are steps of an environment, until that is done.

    The release is that of the samples, as `scbench.load_release` takes it. The first message is the
    sample's input, as `scbench.loop.Environment.reset` words it.
    """
    steps = CapacityLimiter(_STEPS)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        instance = (await run_sync(named_instances, release)).get(str(state.sample_id))
        if instance is None:
            raise ScbenchError(
                f"{state.sample_id} is not in the release that the solver was given"
            )
        environment = Environment(setup, live_grader().run)
        environment.reset(instance)
        done = False
        while not done and not state.completed:
            state = _no_refused_call(await generate(state))
            if finish_status(state.output.stop_reason) is Status.BLOCKED:
                break  # the provider said this, not the model
            step = await run_sync(
                environment.step, state.output.completion, limiter=steps
            )
            state.messages.append(ChatMessageUser(content=step.observation))
            state.metadata |= environment.record
            done = step.done
        return state

    return solve


def _trial_samples(
    instances: Sequence[Instance], setup: Setup, budget: int | None, *, strict: bool
) -> Iterator[tuple[Instance, Sample]]:
    """Yield instances with the samples that begin trials; in strict ones each task has it."""
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
    closed: bool = False,  # noqa: FBT001, FBT002  (a parameter of Inspect's command line)
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

    The setting is retry, probe or act: ``attempts`` answers may be given (retry), of which
    ``disclose`` tells score, checks or places; ``queries`` is what queries (probe) or actions (act)
    may cost, None for each task's own budget; ``closed`` plays what a blind guess solves one time
    in ten or more (retry). Tasks without the setting are left out if none is
    named. All else is as for the other tasks.
    """
    try:
        setup = Setup(
            setting=setting,
            attempts=attempts,
            disclose=disclose,
            budget=queries,
            closed=closed,
        )
        names = names_in(tasks)
        source, _, instances = select(
            find_release(release), variant, names, names_in(ids)
        )
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
