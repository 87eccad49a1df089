"""Tasks of Inspect: the whole benchmark, each config, bucket and task, and trials in a loop.

All of them take the same parameters, such as ``-T tools=true -T budget=16000``. A trial
in a loop (docs/environments.md) is stored in the metadata of its sample, ``loop`` and
``turns``, so its log can be graded like any other: `scbench-grade` plays the turns
again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, Unpack

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from inspect_ai import Epochs, Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    GenerateConfigArgs,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.scorer import Metric
from inspect_ai.solver import Generate, Solver, TaskState, solver, use_tools
from inspect_ai.tool import python, web_search
from inspect_ai.util import JSONSchema
from inspect_ai.util._sandbox.compose import AUTO_COMPOSE_YAML
from inspect_ai.util._sandbox.registry import registry_find_sandboxenv
from pydantic import ValidationError
from rich.markup import escape

from scbench.base.errors import (
    FailedCallError,
    PredictionsError,
    ScbenchError,
    faults_of,
)
from scbench.base.finish_reasons import status_without_answer
from scbench.base.model import (
    CONFIGS,
    Instance,
    LoopSetting,
    Prediction,
    Setup,
    Status,
)
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks
from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.entries import Reply, failed_reply, failure
from scbench.formats.imports.inspect_logs import (
    REPLY,
    call_error,
    refused_call,
    reply_of,
    stored_fields,
)
from scbench.formats.prompts import chosen_instances, data_urls, select, split_by_images
from scbench.grading.workers.live import live_grader
from scbench.integrations.inspect.exhaustion import Watch, current_watch
from scbench.integrations.inspect.listening import (
    Listener,
    keep_raw_responses,
    listening,
)
from scbench.integrations.inspect.scorer import by_bucket, named_instances, outcome
from scbench.integrations.inspect.tracebacks import shorten_tracebacks
from scbench.loop.environment import Environment
from scbench.release.load import find_release
from scbench.scoring.outcomes import Outcome, seek_answer

# Limit of one call of the Python tool.
_PYTHON_SECONDS = 180
# Limits of one reply with tools: messages of both sides, and tokens of all its
# calls, sent and received. A reply that meets one is cut off (truncated).
MESSAGES_WITH_TOOLS = 200
TOKENS_WITH_TOOLS = 2_000_000
# Retries of a call, as in `scbench run`, if --max-retries does not set them. By
# default, Inspect retries forever.
MAX_RETRIES = 7
# Characters of a provider's error.
_MAX_ERROR = 1000
# Concurrent steps of trials; most of them wait for a process.
_MAX_STEPS = 64


# Tasks with one answer


def task_function(
    default_tasks: Sequence[str] | None, default_variant: str
) -> Callable[..., Task]:
    """Return a function that creates an Inspect task, with defaults for its parameters."""

    def spatial_task(
        tasks: str | list[str] | None = None,
        ids: str | list[str] | None = None,
        variant: str = default_variant,
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
            ids: only these items.
            variant: config of the prompts: default, terse, ladder or pictures.
            samples: answers to each item (epochs).
            budget: limit of output tokens; tables treat each limit as a separate run.
            effort: Inspect's reasoning_effort.
            reasoning_tokens: Inspect's, for providers that take a number.
            tools: the paper's second setting: a Python tool in a sandbox, and web
                search; up to 200 messages and 2,000,000 tokens per reply.
            search: providers of web search, as Inspect names them; None for the model's
                own search.
            sandbox: where Python runs: docker, or another sandbox of Inspect;
                docker:FILE names its configuration.
            release: version, folder, archive or ORG/NAME@REVISION; None for the newest.
            images: whether to include items with pictures; otherwise they have no score.
            schema: whether to require the answer's JSON Schema, if the provider can.
        """
        names = names_in(tasks) or default_tasks
        try:
            source, names, instances = select(
                find_release(release), variant, names, names_in(ids)
            )
        except ScbenchError as error:
            raise PrerequisiteError(escape(str(error))) from None
        asked_instances = (
            instances if images else split_by_images(instances).without_images
        )
        samples_of_items = [sample_of(row, budget) for row in asked_instances]
        solvers = [ask(tools=tools, schema=schema, release=release)]
        if tools:
            offered = [python(timeout=_PYTHON_SECONDS), web_search(names_in(search))]  # type: ignore[arg-type]
            solvers.insert(0, use_tools(offered))
        return task_of(
            MemoryDataset(samples_of_items, name=f"scbench {source.version}"),
            solvers,
            # Items that are not asked lower the coverage.
            expected_scores(chosen_instances(source, names)),
            source.weights(),
            setting="tools" if tools else "no_tools",
            version=source.version,
            release=release,
            config=config_of(budget, effort, reasoning_tokens),
            samples=samples,
            sandbox=sandbox_of(sandbox) if tools else None,
            is_limited=tools,
        )

    return spatial_task


def sandbox_of(text: str) -> str | tuple[str, str]:
    """Return a sandbox in Inspect's format: its type, or its type and configuration file.

    Without a named file, Inspect reads one in the working folder, such as ``compose.yaml``. A
    stranger's file could run any program on this machine, so it must be named.

    Raises:
        PrerequisiteError: there is no such sandbox, or the working folder has a file for it.
    """
    kind, _, config = text.partition(":")
    if config:
        return kind, str(Path(config).resolve())
    try:
        provider = registry_find_sandboxenv(kind)
    except ValueError as error:
        raise PrerequisiteError(escape(str(error))) from None
    names = provider.config_files()
    if provider.is_docker_compatible():
        names = [*names, AUTO_COMPOSE_YAML]
    for name in names:
        if Path(name).exists():
            raise PrerequisiteError(
                f"the sandbox {escape(kind)} would use the file {name} in this folder; start "
                f"in another folder, or choose the file with the sandbox {escape(kind)}:{name}"
            )
    return kind


def names_in(text: str | Sequence[str] | None) -> list[str] | None:
    """Return the names in a parameter of a command line, which is a text with commas or a list."""
    if text is None:
        return None
    parts = text.split(",") if isinstance(text, str) else text
    return [str(part).strip() for part in parts]


def sample_of(instance: Instance, budget: int | None) -> Sample:
    """Return an instance as a sample: the prompt with its pictures, without the solution."""
    prompt: str | list[ChatMessage] = instance.prompt
    if instance.images:
        content: list[Content] = [ContentText(text=instance.prompt)]
        content += [
            ContentImage(image=url, detail="high") for url in data_urls(instance)
        ]
        prompt = [ChatMessageUser(content=content)]
    return Sample(
        id=instance.id,
        input=prompt,
        metadata={
            "task": instance.task,
            "bucket": instance.bucket,
            "budget": budget,
            "instance_hash": instance.content_hash,
        },
    )


def expected_scores(instances: Sequence[Instance]) -> dict[str, int]:
    """Return the number of scores for one attempt at instances, by bucket."""
    counts: Counter[str] = Counter()
    for instance in instances:
        counts[instance.bucket] += instance.scores
    return dict(counts)


def config_of(
    budget: int | None, effort: str | None, tokens: int | None
) -> GenerateConfig:
    """Return Inspect's config: limits on retries and output tokens, and the reasoning effort."""
    return GenerateConfig(
        max_retries=MAX_RETRIES,
        max_tokens=budget,
        reasoning_effort=effort,  # type: ignore[arg-type]
        reasoning_tokens=tokens,
    )


def task_of(
    dataset: MemoryDataset,
    solver: Solver | list[Solver],
    expected: dict[str, int],
    weights: dict[str, float],
    *,
    setting: str,
    version: str,
    release: str | None,
    config: GenerateConfig,
    samples: int,
    sandbox: str | tuple[str, str] | None = None,
    is_limited: bool = False,
) -> Task:
    """Return a task that is graded as by `scbench-grade`.

    With ``is_limited``, a reply ends after a number of messages and tokens, because
    models may call tools forever.
    """
    shorten_tracebacks()
    metrics: list[Metric | dict[str, list[Metric]]] = [by_bucket(expected, weights)]
    return Task(
        dataset=dataset,
        solver=solver,
        scorer=outcome(release),
        metrics=metrics,
        config=config,
        epochs=Epochs(samples, "mean"),
        sandbox=sandbox,
        # A failed item affects one row, never the run; `inspect eval-retry` asks it
        # again.
        continue_on_fail=True,
        version=version,
        metadata={"setting": setting},
        message_limit=MESSAGES_WITH_TOOLS if is_limited else None,
        token_limit=TOKENS_WITH_TOOLS if is_limited else None,
    )


def _all_functions() -> dict[str, Callable[..., Task]]:
    functions = {"spatial": task_function(None, "default")}
    for config in CONFIGS:
        functions[config] = task_function(None, config)
    for name in (*BUCKETS, MANIFOLDS, *all_tasks()):
        functions[name] = task_function([name], "default")
    return {name: task(name=name)(function) for name, function in functions.items()}


# Inspect's function of each task, by its name after ``scbench/``. Inspect finds tasks by the
# decorator, so they are made on import, below the functions that make them.
TASKS = _all_functions()


@solver
def ask(
    *, tools: bool = False, schema: bool = False, release: str | None = None
) -> Solver:
    """Ask for one reply. A call that failed is an error of the sample.

    Args:
        tools: whether tool calls are answered. Otherwise no tool is offered, and a
            reply that still calls one is the model's last.
        schema: whether the reply is to follow the JSON Schema of the sample's answer.
        release: release of the samples.
    """
    # `inspect eval` has no watch for the whole run.
    watch = Watch()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        options: GenerateConfigArgs = {}
        if schema:
            instances = await run_sync(named_instances, release)
            answer_schema = instances[str(state.sample_id)].answer_schema
            json_schema = JSONSchema.model_validate_json(answer_schema)
            options["response_schema"] = ResponseSchema(
                name="answer", json_schema=json_schema, strict=True
            )
        tool_calls: Literal["loop", "none"] = "loop" if tools else "none"
        state, reply = await generated(
            state, generate, tool_calls, current_watch() or watch, **options
        )
        if status_of_reply(reply) is Status.API_ERROR:
            task_name = str(state.metadata["task"])
            # A provider may report an error after a complete answer.
            if not await run_sync(has_answer, reply, task_name):
                raise failed_call(reply)
        return state

    return solve


async def generated(
    state: TaskState,
    generate: Generate,
    tool_calls: Literal["loop", "none"],
    watch: Watch,
    **options: Unpack[GenerateConfigArgs],
) -> tuple[TaskState, Reply]:
    """Ask for a reply, and store it in the provider's format in the metadata.

    A refusal by the provider's policy is not an error, because retrying would not help.

    Raises:
        FailedCallError: the call failed, although Inspect presents it as a reply.
    """
    request = RequestKey(str(state.sample_id))
    model = str(state.model)
    listener = Listener(watch)
    keep_raw_responses(get_model().api)
    try:
        with watch.call(), listening(listener):
            state = await generate(state, tool_calls=tool_calls, **options)
        raise_refused_call(state.output)
    # Each provider has its own errors.
    except Exception as error:
        message = call_error(str(error))
        reply = listener.reply(request) if listener.has_unreadable_response else None
        if failure(message).status is Status.BLOCKED:
            reply = failed_reply(request, message)
        if reply is None or reply.fields.get("status") == Status.API_ERROR:
            if len(message) > _MAX_ERROR:
                # `inspect eval` prints errors of samples in full.
                raise FailedCallError(f"{message[:_MAX_ERROR]}...") from None
            raise
        text = reply.fields.get("response", "")
        state.output = ModelOutput.from_content(model, text)
        state.messages.append(state.output.message)
    else:
        reply = listener.reply(request)
    if reply is None:
        # A provider without raw responses, or of a form that is not known.
        state.metadata.pop(REPLY, None)
        return state, reply_of(request, model, state.output, None, {})
    state.metadata[REPLY] = stored_fields(reply)
    return state, reply


def status_of_reply(reply: Reply) -> Status | None:
    """Return the status of a reply if no answer can be read in it; None for a normal end."""
    named = reply.fields.get("status")
    if named:
        return Status(named)
    return status_without_answer(reply.fields.get("finish_reason"))


def has_answer(reply: Reply, task_name: str) -> bool:
    """Return whether the grader of a task finds an answer in a reply."""
    prediction = Prediction.model_validate_json(reply.line())
    return not isinstance(seek_answer(prediction, all_tasks()[task_name]), Outcome)


def failed_call(reply: Reply) -> FailedCallError:
    """Return the error of a call that failed although the provider sent a reply."""
    finish = reply.fields.get("finish_reason")
    message = f"the call ended with the finish reason {finish}"
    return FailedCallError(reply.fields.get("error") or message)


def raise_refused_call(output: ModelOutput) -> None:
    """Raise the error of a refused call, which Inspect presents as a reply.

    Raises:
        FailedCallError: the call was refused.
    """
    if refused_call(output):
        raise FailedCallError(call_error(output.error or output.completion))


# Trials in a loop


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

    ``setting`` is retry, probe or act. For retry: ``attempts`` is the number of answers,
    ``disclose`` what the model learns about each (score, checks or places), and ``closed`` also
    plays items that a blind guess solves at least 10 % of the time. For probe and act: ``queries``
    limits the total cost; None is each task's own limit. Without ``tasks``, tasks without the
    setting are skipped. The other parameters are those of the other tasks.
    """
    names = names_in(tasks)
    try:
        setup = Setup(
            setting=setting,
            attempts=attempts,
            disclose=disclose,
            budget=queries,
            closed=closed,
        )
        source, _, instances = select(
            find_release(release), variant, names, names_in(ids)
        )
        # A task without this setting is an error only if the user named it.
        strict = names is not None or ids is not None
        trials = list(trial_samples(instances, setup, budget, strict=strict))
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
        source.weights(),
        setting=setting,
        version=source.version,
        release=release,
        config=config_of(budget, effort, reasoning_tokens),
        samples=samples,
    )


def trial_samples(
    instances: Sequence[Instance], setup: Setup, budget: int | None, *, strict: bool
) -> Iterator[tuple[Instance, Sample]]:
    """Yield instances with the samples that begin their trials.

    Args:
        instances: instances in order.
        setup: setup of the trials.
        budget: budget of the samples.
        strict: whether an instance without this setting is an error; it is skipped otherwise.

    Raises:
        PredictionsError: a task does not have the setting.
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


@solver
def trial(setup: Setup, release: str | None = None) -> Solver:
    """Let a model play: its replies are steps of an environment until the trial ends.

    ``release`` is the release of the samples, as for `scbench.load_release`. The first
    message is the sample's input, as `scbench.loop.Environment.reset` words it.
    """
    steps = CapacityLimiter(_MAX_STEPS)
    watch = Watch()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        instances = await run_sync(named_instances, release)
        instance = instances.get(str(state.sample_id))
        if instance is None:
            raise ScbenchError(f"{state.sample_id} is not in the solver's release")
        environment = Environment(setup, live_grader().run)
        environment.reset(instance)
        done = False
        while not done and not state.completed:
            state, reply = await generated(
                state, generate, "none", current_watch() or watch
            )
            status = status_of_reply(reply)
            if status is Status.API_ERROR:
                raise failed_call(reply)
            if status is Status.BLOCKED:
                # The reply comes from the provider and is not a step of the model.
                break
            text = reply.fields.get("response", "")
            if state.output.message.tool_calls:
                # Providers refuse unanswered tool calls.
                state.messages[-1] = ChatMessageAssistant(content=text)
            step = await run_sync(environment.step, text, limiter=steps)
            state.messages.append(ChatMessageUser(content=step.observation))
            state.metadata |= environment.record
            done = step.done
        return state

    return solve
