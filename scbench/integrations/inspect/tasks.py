"""Tasks of Inspect: the whole benchmark, a bucket, a single task, and the configs beside.

All of them take the same parameters; ``-T tools=true -T budget=16000`` and so on.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from inspect_ai import Epochs, Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, Content, ContentImage, ContentText, GenerateConfig
from inspect_ai.scorer import Metric
from inspect_ai.solver import Solver, generate, use_tools
from inspect_ai.tool import python, web_search
from rich.markup import escape

from scbench.base.errors import ScbenchError
from scbench.base.model import LADDER, TERSE, Instance
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks
from scbench.formats.prompts.requests import chosen_instances, data_urls, select, told_apart
from scbench.integrations.inspect.scorer import by_bucket, outcome
from scbench.release.load import find_release

_PYTHON_SECONDS = 180
"""That one call of the Python tool may take."""


def sample_of(instance: Instance, budget: int | None) -> Sample:
    """Return an instance as a sample: the prompt with its pictures, and nothing that solves it."""
    content: list[Content] = [
        ContentText(text=instance.prompt),
        *(ContentImage(image=url) for url in data_urls(instance)),
    ]
    return Sample(
        id=instance.id,
        input=[ChatMessageUser(content=content)] if instance.images else instance.prompt,
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


def _task_function(default: Sequence[str] | None, own_variant: str) -> Callable[..., Task]:
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
    ) -> Task:
        """A part of the Spatial Competence Benchmark.

        Args:
            tasks: only these tasks and buckets.
            ids: only these instances.
            variant: default, terse or ladder: whose prompts are put.
            samples: how often each is asked (epochs).
            budget: limit of output tokens, which tables tell runs apart by.
            effort: Inspect's reasoning_effort.
            reasoning_tokens: Inspect's, for providers that take a number.
            tools: the paper's second setting: a Python tool in a sandbox, and web search.
            search: providers of web search, as Inspect names them; None for the model's own.
            sandbox: where Python runs: docker, or another that Inspect knows.
            release: version, folder, archive or ORG/NAME@REVISION; None for the newest.
            images: whether items with pictures are asked; without them they have no score.
        """
        try:
            source, names, instances = select(
                find_release(release), variant, names_in(tasks) or default, names_in(ids)
            )
        except ScbenchError as error:
            raise PrerequisiteError(escape(str(error))) from None
        selection = instances if images else told_apart(instances)[False]
        expected = expected_scores(chosen_instances(source, names))
        return task_of(
            MemoryDataset(
                [sample_of(instance, budget) for instance in selection],
                name=f"scbench {source.version}",
            ),
            [*_tool_solvers(search, tools=tools), generate()],
            expected,
            setting="tools" if tools else "no_tools",
            version=source.version,
            release=release,
            config=config_of(budget, effort, reasoning_tokens),
            samples=samples,
            sandbox=sandbox if tools else None,
        )

    return spatial_task


def config_of(budget: int | None, effort: str | None, tokens: int | None) -> GenerateConfig:
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


def _tool_solvers(search: str | list[str] | None, *, tools: bool) -> list[Solver]:
    providers = names_in(search)
    return [use_tools(python(timeout=_PYTHON_SECONDS), web_search(providers))] if tools else []  # type: ignore[arg-type]


def _all_functions() -> dict[str, Callable[..., Task]]:
    single = {name: ([name], "default") for name in (*BUCKETS, MANIFOLDS, *all_tasks())}
    beside = {name: (None, name) for name in (TERSE, LADDER)}
    kinds: Mapping[str, tuple[list[str] | None, str]] = {
        "spatial": (None, "default"),
        **beside,
        **single,
    }
    return {name: task(name=name)(_task_function(*parts)) for name, parts in kinds.items()}


TASKS = _all_functions()
"""What makes each task, by its name after ``scbench/``."""
