"""All tasks by id: bucket, size, and the modules of schema, builder and grader.

``tasks.toml`` lists the tasks of this package. The catalogue imports no task. Modules of a task are
found by name in `scbench.schemas`, `scbench.builders` and `scbench.graders`, and imported when
first used.

**Adding a task from another package.** Declare an entry point in the group ``scbench.tasks`` that
names a `Task`::

    [project.entry-points."scbench.tasks"]
    knots = "my_package:TASK"

where ``TASK = Task(id="knots", ..., package="my_package")``. That package has the same layout as
this one: ``schemas/knots.py``, ``builders/knots/``, ``graders/knots/``, the text
``dataset_card/tasks/knots.md``, and if the task has pictures ``report/pictures/knots.py``. If a
model may ask or act before it answers, ``graders/knots/queries.py`` or ``actions.py`` defines the
moves (`scbench.graders.shared.interaction`).
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.machinery import PathFinder
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import find_spec
from operator import attrgetter
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

from scbench.base.data import packaged_toml
from scbench.base.errors import CannotGrade, CatalogError, did_you_mean
from scbench.base.model import Bucket, Verdict

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scbench.builders.shared.builder import Builder
    from scbench.graders.shared.interaction import Actions, Queries

ENTRY_POINT_GROUP = "scbench.tasks"

# The paper's buckets, in the order of its tables.
BUCKETS: tuple[str, ...] = ("axiomatic", "constructive", "planning")
# Bucket of the parametric text tasks, which are not the paper's and not in any overall mean.
MANIFOLDS: Bucket = "manifolds"

# Origin of the tasks of the SCBench paper, whose instances are a fixed list.
PAPER = "paper"
# Origin of the text tasks, whose instances are all drawn.
REASONSCAPE = "reasonscape"

# Demands of a text task on a model.
Dimension = Literal[
    "multi-hop reasoning",
    "working memory",
    "tokenization",
    "novel input patterns",
    "distraction",
    "interference",
]

# Line of a grader that states its version.
VERSION_LINE = re.compile(r"^VERSION = (\d+)$", re.MULTILINE)
# Default wall-clock limit of one verdict, in seconds.
SECONDS = 120.0

_ParamsT_contra = TypeVar("_ParamsT_contra", contravariant=True)
_AnswerT_contra = TypeVar("_AnswerT_contra", contravariant=True)


class Grader(Protocol[_ParamsT_contra, _AnswerT_contra]):
    """A task's ``grade``: a pure function of an instance's parameters and an answer."""

    def __call__(
        self, params: _ParamsT_contra, answer: _AnswerT_contra, /
    ) -> Verdict | tuple[Verdict, ...]:
        """Return the verdict, or one for each score of the task."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    The bucket alone determines where a task counts. A task in a bucket of the paper has
    a fixed list of instances. If it belongs to this package, the next release freezes
    it and includes it in the default config, the overall mean and the leaderboard. A
    task of `MANIFOLDS` is in a release if ``builders/manifolds.toml`` draws it, but
    never in the default config, the overall mean or the leaderboard. A frozen task is
    also on the ladder if ``builders/ladder.toml`` has a table for it. Earlier releases
    do not change: each release defines its own numbers of tasks and scores.

    Attributes:
        id: stable name, used in instance ids.
        title: name in tables.
        bucket: one of `BUCKETS`, or "manifolds" for the parametric text tasks.
        scoring: "binary" (0 or 1) or "partial" (any value in [0, 1]).
        origin: source of the task's published numbers: `PAPER`, `REASONSCAPE`, or any name that the
            task's author chooses. It has no other effect.
        package: the import package that contains its modules (see above).
        heavy: whether one verdict can take long enough to be scheduled separately.
        seconds: wall-clock limit of one verdict. It is generous: graders limit their work by
            counting steps, so it only ends verdicts that hang.
        typical: CPU time of a typical verdict of a heavy task, in seconds, for progress displays; 0
            if it is short.
        scores: how many scores one answer gets.
        isolated: whether its grader runs parts of answers in a sandbox.
        fingerprinted: whether its scores depend on how the machine computes. If so, its verdicts
            have the metric ``fingerprint``, and its grader module has a function of that name.
        one_answer: whether an instance has one correct answer, up to the order of its parts;
            identical answers of two models then do not indicate copying.
        dimensions: its demands on a model, for tables; empty if none are stated.
        summary: what it asks, in one plain sentence.
        scored: how an answer is scored, as a phrase that can follow "Score:".
    """

    id: str
    title: str
    bucket: Bucket
    scoring: Literal["binary", "partial"]
    origin: str = ""
    package: str = "scbench"
    heavy: bool = False
    scores: int = 1
    seconds: float = SECONDS
    typical: float = 0.0
    isolated: bool = False
    fingerprinted: bool = False
    one_answer: bool = False
    dimensions: tuple[Dimension, ...] = ()
    summary: str = ""
    scored: str = ""

    def __str__(self) -> str:
        return self.id

    def module(self, kind: str) -> str:
        """Return the name of one of its modules, such as the one in ``graders``."""
        return f"{self.package}.{kind}.{self.id}"

    def has(self, kind: str) -> bool:
        """Return whether it has such a module; imports at most the packages above it."""
        try:
            return find_spec(self.module(kind)) is not None
        except ModuleNotFoundError:
            # The folder is missing, or the package of an external task is not installed.
            return False

    @property
    def available(self) -> bool:
        """Whether this installation can grade the task."""
        return self.has("graders")

    @property
    def params_model(self) -> "type[BaseModel]":
        """Pydantic model of an instance's parameters."""
        return load_module(self.module("schemas")).Params  # type: ignore[no-any-return]

    @property
    def answer_model(self) -> "type[BaseModel]":
        """Pydantic model of an answer."""
        return load_module(self.module("schemas")).Answer  # type: ignore[no-any-return]

    @property
    def builder(self) -> "type[Builder[Any, Any, Any]]":
        """The class that creates instances."""
        return load_module(self.module("builders")).TaskBuilder  # type: ignore[no-any-return]

    @property
    def grade(self) -> "Grader[BaseModel, BaseModel]":
        """The grading function, for the task's `params_model` and `answer_model`."""
        return load_module(self.module("graders")).grade  # type: ignore[no-any-return]

    def offers(self, name: str) -> bool:
        """Return whether the module (``queries`` or ``actions``) exists; does not import it."""
        if not self.has("graders"):
            return False
        grader = find_spec(self.module("graders"))
        # A grader that is a single file has no modules next to it.
        if grader is None or not grader.submodule_search_locations:
            return False
        # Unlike importlib.util.find_spec, this does not import the grader first.
        module = f"{self.module('graders')}.{name}"
        return (
            PathFinder.find_spec(module, grader.submodule_search_locations) is not None
        )

    def _module_beside_grader(self, name: str) -> ModuleType | None:
        if not self.offers(name):
            return None
        return load_module(f"{self.module('graders')}.{name}")

    @property
    def queries(self) -> "Queries | None":
        """The module of the queries a model may make before it answers; None if there are none."""
        return cast("Queries | None", self._module_beside_grader("queries"))

    @property
    def actions(self) -> "Actions | None":
        """The module of the actions on the instance's state; None if there are none."""
        return cast("Actions | None", self._module_beside_grader("actions"))

    @property
    def grader_version(self) -> int:
        """Version of the grader, increased whenever a score could change."""
        name = self.module("graders")
        if name in sys.modules:
            return int(sys.modules[name].VERSION)
        return version_in_source(name)

    def fingerprint(self) -> str | None:
        """Return a fingerprint, which differs between machines that compute differently.

        None if scores do not depend on the machine, or if this machine cannot grade the
        task.
        """
        if not self.fingerprinted:
            return None
        try:
            return load_module(self.module("graders")).fingerprint()  # type: ignore[no-any-return]
        except CannotGrade:
            return None

    def machine_facts(self) -> Mapping[str, str]:
        """Return the facts of this machine that affect scores, by name.

        Raises:
            CannotGrade: this machine cannot grade the task.
        """
        # Most graders have no such function: their scores are the same everywhere.
        facts_of_machine = getattr(
            load_module(self.module("graders")), "machine_facts", dict
        )
        return facts_of_machine()

    @property
    def card_text(self) -> str:
        """The task's section of the dataset card, as Markdown."""
        texts = files(f"{self.package}.dataset_card").joinpath("tasks")
        return texts.joinpath(f"{self.id}.md").read_text("utf-8").strip()

    @property
    def checks(self) -> Mapping[str, str]:
        """Id and requirement of every check the grader makes, in order."""
        return load_module(self.module("graders")).CHECKS  # type: ignore[no-any-return]

    @property
    def defining_checks(self) -> frozenset[str]:
        """Checks whose failure means that another, easier task was solved: ``DEFINING``, if any."""
        return frozenset(getattr(load_module(self.module("graders")), "DEFINING", ()))

    @property
    def own_faults(self) -> frozenset[str]:
        """Checks whose failure follows from prompt and answer alone: ``OWN_FAULTS``, if any.

        In retry, a model sees these in full even if an item has only one correct answer.
        """
        return frozenset(getattr(load_module(self.module("graders")), "OWN_FAULTS", ()))


@cache
def all_tasks() -> Mapping[str, Task]:
    """Return every task the benchmark knows, by id, in table order; other packages' tasks last.

    Raises:
        CatalogError: an entry point is not a `Task`, or uses an id that is taken.
    """
    tasks = {}
    for task_id, fields in packaged_toml("scbench", "tasks.toml").items():
        # TOML gives lists, but a task must be hashable.
        dimensions = tuple(fields.get("dimensions", ()))
        tasks[task_id] = Task(task_id, **{**fields, "dimensions": dimensions})
    # Sorted, so that the order does not depend on the installation.
    entries = sorted(entry_points(group=ENTRY_POINT_GROUP), key=attrgetter("name"))
    for entry in entries:
        task = entry.load()
        if not isinstance(task, Task):
            raise CatalogError(
                f"entry point {entry.value!r} returns {type(task)} instead of a Task"
            )
        if task.id in tasks:
            raise CatalogError(
                f"entry point {entry.value!r}: the task id {task.id!r} is taken"
            )
        tasks[task.id] = task
    return MappingProxyType(tasks)


def get_task(task_id: str) -> Task:
    """Return one task.

    Raises:
        CatalogError: no such task; the message suggests similar ones.
    """
    tasks = all_tasks()
    if task_id not in tasks:
        raise CatalogError(f"unknown task {task_id!r}.{did_you_mean(task_id, tasks)}")
    return tasks[task_id]


def available_tasks() -> tuple[Task, ...]:
    """Return the tasks that this installation can build and grade, in table order."""
    return tuple(task for task in all_tasks().values() if task.available)


def paper_tasks() -> tuple[Task, ...]:
    """Return the tasks of the SCBench paper, in table order."""
    return tuple(task for task in all_tasks().values() if task.origin == PAPER)


@cache
def load_module(name: str) -> ModuleType:
    """Import a module of a task.

    Raises:
        CatalogError: there is no such module.
        ModuleNotFoundError: a library that the module needs is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        # The missing module may be this one, or a package above it.
        if not f"{name}.".startswith(f"{error.name}."):
            raise
        raise CatalogError(
            f"module {name} is missing, so its task cannot be used"
        ) from None


@cache
def version_in_source(name: str) -> int:
    """Return the VERSION of a grader from its source, because importing it can be slow."""
    loader = getattr(find_spec(name), "loader", None)
    source = loader.get_source(name) if isinstance(loader, InspectLoader) else None
    match = VERSION_LINE.search(source or "")
    if match is None:
        return int(load_module(name).VERSION)
    return int(match[1])
