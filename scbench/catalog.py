"""Every task by id: its bucket, its size, and where its schema, builder and grader live.

Those of this package stand in ``tasks.toml``. The catalogue imports no task: one is found by its
name in `scbench.schemas`, `scbench.builders` and `scbench.graders`, and imported when it is used.

**Adding a task from another package.** Declare an entry point in the group ``scbench.tasks`` that
names a `Task`::

    [project.entry-points."scbench.tasks"]
    knots = "my_package:TASK"

where ``TASK = Task(id="knots", ..., package="my_package")``. That package has the layout of this
one: ``schemas/knots.py``, ``builders/knots/``, ``graders/knots/``, the text
``dataset_card/tasks/knots.md``, and if the task has pictures ``report/pictures/knots.py``. If a
model may ask or act before it answers, ``graders/knots/queries.py`` or ``actions.py`` says how
(`scbench.graders.shared.interaction`).
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
# Bucket of the parametric text tasks: apart from the paper's, and in no overall mean.
MANIFOLDS: Bucket = "manifolds"

# Origin of the tasks of the SCBench paper, whose instances are a fixed list.
PAPER = "paper"
# Origin of the text tasks, whose instances are all drawn.
REASONSCAPE = "reasonscape"

# What makes a text task hard.
Dimension = Literal[
    "multi-hop reasoning",
    "working memory",
    "tokenization",
    "novel input patterns",
    "distraction",
    "interference",
]

_VERSION = re.compile(r"^VERSION = (\d+)$", re.MULTILINE)

# Wall-clock limit of one verdict, where a task says nothing else.
SECONDS = 120.0


@cache
def _load_module(*names: str) -> ModuleType:
    name = ".".join(names)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(
            f"{error.name}."
        ):  # a library that the module needs
            raise
        raise CatalogError(
            f"there is no module {name}, so its task cannot be used"
        ) from None


@cache
def _version_in_source(name: str) -> int:
    """Return the VERSION of a grader; read from its source, since importing it can take long."""
    loader = getattr(find_spec(name), "loader", None)
    source = loader.get_source(name) if isinstance(loader, InspectLoader) else None
    match = _VERSION.search(source or "")
    return int(match[1]) if match else int(_load_module(name).VERSION)


_ParamsT_contra = TypeVar("_ParamsT_contra", contravariant=True)
_AnswerT_contra = TypeVar("_AnswerT_contra", contravariant=True)


class Grader(Protocol[_ParamsT_contra, _AnswerT_contra]):
    """What a task's ``grade`` is: a pure function of an instance's parameters and an answer."""

    def __call__(
        self, params: _ParamsT_contra, answer: _AnswerT_contra, /
    ) -> Verdict | tuple[Verdict, ...]:
        """Return the verdict, or as many as the task has scores."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    Where a task counts follows from its bucket alone. One in a bucket of the paper has a fixed list
    of instances; if it is of this package, the next release freezes it, and it is then in that
    release's default config, its overall mean and its leaderboard. One of `MANIFOLDS` is in a
    release if ``builders/manifolds.toml`` draws it, and in none of those. One that is frozen is on
    the ladder too if ``builders/ladder.toml`` has a table of it. Releases frozen before
    stay as they are: how many tasks and scores there are is a release's to say.

    Attributes:
        id: stable name, used in instance ids.
        title: name in tables.
        bucket: one of `BUCKETS`, or "manifolds" for the parametric text tasks.
        scoring: "binary" (0 or 1) or "partial" (any value in [0, 1]).
        origin: where it comes from: `PAPER`, `REASONSCAPE`, or a name of its author's choice. It
            says whose published numbers a task has, and nothing is counted or chosen by it.
        package: the import package that holds its modules (see above).
        heavy: whether one verdict can take long enough to be scheduled by itself.
        seconds: wall-clock limit of one verdict, generous: graders bound their work by counting,
            and this only ends what hangs.
        scores: how many scores one answer gets.
        isolated: whether its grader runs parts of answers in a sandbox.
        fingerprinted: whether its scores depend on how the machine computes; its verdicts have the
            metric ``fingerprint`` then, and its grader module a function of that name.
        one_answer: whether an instance has one right answer, but for the order of its parts; two
            models that give the same one need not have heard it from each other.
        dimensions: what it stresses, for tables; empty where nobody has said.
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
    isolated: bool = False
    fingerprinted: bool = False
    one_answer: bool = False
    dimensions: tuple[Dimension, ...] = ()

    def __str__(self) -> str:
        return self.id

    def module(self, kind: str) -> str:
        """Return the name of one of its modules, such as the one in ``graders``."""
        return f"{self.package}.{kind}.{self.id}"

    def has(self, kind: str) -> bool:
        """Return whether it has such a module."""
        try:
            return find_spec(self.module(kind)) is not None
        except (
            ModuleNotFoundError
        ):  # the folder, or the package of another's task, is not there
            return False

    def _module(self, kind: str) -> ModuleType:
        return _load_module(self.package, kind, self.id)

    @property
    def available(self) -> bool:
        """Whether this installation can grade the task."""
        return self.has("graders")

    @property
    def params_model(self) -> "type[BaseModel]":
        """Pydantic model of an instance's parameters."""
        return self._module("schemas").Params  # type: ignore[no-any-return]

    @property
    def answer_model(self) -> "type[BaseModel]":
        """Pydantic model of an answer."""
        return self._module("schemas").Answer  # type: ignore[no-any-return]

    @property
    def builder(self) -> "type[Builder[Any, Any, Any]]":
        """The class that makes instances."""
        return self._module("builders").TaskBuilder  # type: ignore[no-any-return]

    @property
    def grade(self) -> "Grader[BaseModel, BaseModel]":
        """The function that judges, of the task's `params_model` and `answer_model`."""
        return self._module("graders").grade  # type: ignore[no-any-return]

    def _beside_grader(self, name: str) -> ModuleType | None:
        return (
            _load_module(f"{self.module('graders')}.{name}")
            if self.offers(name)
            else None
        )

    def offers(self, name: str) -> bool:
        """Return whether ``queries`` or ``actions`` are beside its grader; imports nothing."""
        grader = find_spec(self.module("graders")) if self.has("graders") else None
        places = grader and grader.submodule_search_locations
        return bool(
            places and PathFinder.find_spec(f"{self.module('graders')}.{name}", places)
        )

    @property
    def queries(self) -> "Queries | None":
        """What a model may ask before it answers; None where nothing can be asked."""
        return cast("Queries | None", self._beside_grader("queries"))

    @property
    def actions(self) -> "Actions | None":
        """What a model may do to the instance's state; None where nothing can be done."""
        return cast("Actions | None", self._beside_grader("actions"))

    @property
    def grader_version(self) -> int:
        """Version of the grader; raised whenever a score could move."""
        name = self.module("graders")
        return (
            int(sys.modules[name].VERSION)
            if name in sys.modules
            else _version_in_source(name)
        )

    def fingerprint(self) -> str | None:
        """Return what tells machines apart that compute otherwise; None where none could."""
        if not self.fingerprinted:
            return None
        try:
            return self._module("graders").fingerprint()  # type: ignore[no-any-return]
        except CannotGrade:
            return None

    def machine_facts(self) -> Mapping[str, str]:
        """Return what decides scores on this machine beside our code: its grader's function.

        Raises:
            CannotGrade: this machine cannot grade the task.
        """
        facts = getattr(self._module("graders"), "machine_facts", dict)
        return facts()

    @property
    def card_text(self) -> str:
        """What the dataset card says of the task, as Markdown."""
        texts = files(f"{self.package}.dataset_card").joinpath("tasks")
        return texts.joinpath(f"{self.id}.md").read_text("utf-8").strip()

    @property
    def checks(self) -> Mapping[str, str]:
        """Id and requirement of every check the grader makes, in order."""
        return self._module("graders").CHECKS  # type: ignore[no-any-return]

    @property
    def defining_checks(self) -> frozenset[str]:
        """Checks whose failure means that another, easier task was solved: ``DEFINING``, if any."""
        return frozenset(getattr(self._module("graders"), "DEFINING", ()))

    @property
    def own_faults(self) -> frozenset[str]:
        """Checks whose failure follows from prompt and answer alone: ``OWN_FAULTS``, if any.

        A model that tries again is told of these in full even if there is one right answer.
        """
        return frozenset(getattr(self._module("graders"), "OWN_FAULTS", ()))


@cache
def all_tasks() -> Mapping[str, Task]:
    """Return every task the benchmark knows, by id, in table order; other packages' tasks last.

    Raises:
        CatalogError: an entry point is not a `Task`, or uses an id that is taken.
    """
    tasks = {
        task_id: Task(
            task_id, **fields | {"dimensions": tuple(fields.get("dimensions", ()))}
        )
        for task_id, fields in packaged_toml("scbench", "tasks.toml").items()
    }
    for entry in sorted(
        entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name
    ):
        task = entry.load()
        if not isinstance(task, Task):
            raise CatalogError(
                f"entry point {entry.value!r} gives {type(task)}, not a Task"
            )
        if task.id in tasks:
            raise CatalogError(
                f"entry point {entry.value!r}: task id {task.id!r} is taken"
            )
        tasks[task.id] = task
    return MappingProxyType(tasks)


def get_task(task_id: str) -> Task:
    """Return one task.

    Raises:
        CatalogError: no such task; the message names near ones.
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
