"""Every task by id: its bucket, its size, and where its schema, builder and grader live.

The catalogue imports no task. A task is found by its name in `scbench.schemas`, `scbench.builders`
and `scbench.graders`, and imported when it is used.

**Adding a task from another package.** Declare an entry point in the group ``scbench.tasks`` that
names a `Task`::

    [project.entry-points."scbench.tasks"]
    knots = "my_package.knots:TASK"

where ``TASK = Task(id="knots", ..., package="my_package.knots")`` and that package holds the
modules ``schema``, ``builder`` and ``grader``, a text ``card.md``, and if it has pictures a module
``picture``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import find_spec
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Literal

from scbench.errors import CatalogError, did_you_mean
from scbench.model import Bucket, Verdict

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scbench.builders.builder import Builder
    from scbench.report.picture import Picture

ENTRY_POINT_GROUP = "scbench.tasks"

BUCKETS: tuple[str, ...] = ("axiomatic", "constructive", "planning")
"""The paper's buckets, in the order of its tables."""
MANIFOLDS = "manifolds"
"""Bucket of the parametric text tasks: apart from the paper's, and in no overall mean."""

Dimension = Literal[
    "multi-hop reasoning",
    "working memory",
    "tokenization",
    "novel input patterns",
    "distraction",
    "interference",
]
"""What makes a task hard (spec: manifolds)."""

SECONDS = 120.0
"""Wall-clock limit of one verdict, where a task says nothing else."""


@cache
def _load(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise CatalogError(f"there is no module {name}, so its task cannot be used") from None


Grade = Callable[[Any, Any], "Verdict | tuple[Verdict, ...]"]
Draw = Callable[[Any, Any, Sequence[Verdict]], "Picture"]


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    Attributes:
        id: stable name, used in instance ids.
        title: name in tables.
        bucket: one of `BUCKETS`, or "manifolds" for the parametric text tasks.
        n: number of scores in the task's fixed list; 285 over the tasks of this package. 0 for a
            text task, whose instances are all drawn.
        scoring: "binary" (0 or 1) or "partial" (any value in [0, 1]).
        package: for tasks of other packages, the package that holds the modules ``schema``,
            ``builder`` and ``grader`` and the text ``card.md``; empty for ours.
        heavy: whether one verdict can take long enough to be scheduled by itself.
        seconds: wall-clock limit of one verdict, generous: graders bound their work by counting,
            and this only ends what hangs.
        scores: how many scores one answer gets.
        isolated: whether its grader runs parts of answers in a walled-in child.
        dimensions: what it stresses, for tables; empty where nobody has said.
    """

    id: str
    title: str
    bucket: Bucket
    n: int
    scoring: Literal["binary", "partial"]
    package: str = ""
    heavy: bool = False
    scores: int = 1
    seconds: float = SECONDS
    isolated: bool = False
    dimensions: tuple[Dimension, ...] = ()

    def __str__(self) -> str:
        return self.id

    def _module_name(self, room: str) -> str:
        if self.package:
            return f"{self.package}.{room.removesuffix('s')}"
        return f"scbench.{room}.{self.id}"

    def _module(self, room: str) -> ModuleType:
        return _load(self._module_name(room))

    @property
    def available(self) -> bool:
        """Whether this installation can grade the task."""
        try:
            return find_spec(self._module_name("graders")) is not None
        except ModuleNotFoundError:  # the package of another's task is gone
            return False

    @property
    def instances(self) -> int:
        """Number of instances in the task's fixed list."""
        return self.n // self.scores

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
    def grade(self) -> Grade:
        """The pure function ``grade(params, answer)``."""
        return self._module("graders").grade  # type: ignore[no-any-return]

    @property
    def grader_version(self) -> int:
        """Version of the grader; raised whenever a score could move."""
        return self._module("graders").VERSION  # type: ignore[no-any-return]

    @property
    def draw(self) -> "Draw | None":
        """What makes its picture, ``draw(params, answer, verdicts)``; None if nothing does."""
        name = f"{self.package}.picture" if self.package else f"scbench.report.pictures.{self.id}"
        return import_module(name).draw if find_spec(name) else None

    @property
    def card_text(self) -> str:
        """What the dataset card says of the task, as Markdown."""
        folder = files(self.package or "scbench.dataset_card")
        name = "card.md" if self.package else f"tasks/{self.id}.md"
        return folder.joinpath(name).read_text("utf-8").strip()

    @property
    def checks(self) -> Mapping[str, str]:
        """Id and requirement of every check the grader makes, in order."""
        return self._module("graders").CHECKS  # type: ignore[no-any-return]

    @property
    def defining_checks(self) -> frozenset[str]:
        """Checks whose failure means that another, easier task was solved: ``DEFINING``, if any."""
        return frozenset(getattr(self._module("graders"), "DEFINING", ()))


_OURS = (
    Task("topology_enumeration", "Topology Enumeration", "axiomatic", 10, "binary"),
    Task("enumerate_edges", "Enumerate Edges", "axiomatic", 8, "binary"),
    Task("classify_behaviour", "Classify Behaviour", "axiomatic", 13, "binary"),
    Task("half_subdivision_neighbours", "Half-Subdivision Neighbours", "axiomatic", 17, "binary"),
    Task("two_segments", "Two Segments", "axiomatic", 27, "binary"),
    Task("lego_hemispherical_shell", "Lego Hemispherical Shell", "constructive", 8, "partial"),
    Task("csg_union", "CSG Union", "constructive", 22, "partial", heavy=True),
    Task(
        "tetrahedra_shadow_projection",
        "Tetrahedra Shadow Projection",
        "constructive",
        20,
        "partial",
    ),
    Task("voxel_grid_projection", "Voxel Grid Projection", "constructive", 6, "binary"),
    Task("polynomial_curve_fitting", "Polynomial Curve Fitting", "constructive", 9, "partial"),
    Task("delaunay_triangulation", "Delaunay Triangulation", "constructive", 25, "binary"),
    Task("hamiltonian_loop", "Hamiltonian Loop", "constructive", 10, "binary"),
    Task("pipe_loop_fitting", "Pipe Loop Fitting", "constructive", 40, "binary"),
    Task("hide_and_seek", "Hide and Seek", "constructive", 6, "partial", heavy=True),
    Task("pack_rectangular_prisms", "Pack Rectangular Prisms", "constructive", 9, "partial"),
    Task(
        "interlocking_parts",
        "Interlocking Parts",
        "constructive",
        9,
        "binary",
        heavy=True,
        scores=9,
        isolated=True,
    ),
    Task("largest_printable_prime", "Largest 3D-Printable Prime", "constructive", 1, "partial"),
    Task("shikaku_rectangles", "Shikaku Rectangles", "constructive", 6, "binary"),
    Task("maze_3d", "3D Maze", "planning", 6, "binary"),
    Task("hyper_snake", "Hyper-Snake", "planning", 13, "partial"),
    Task("fluid_simulation", "Fluid Simulation", "planning", 11, "partial", heavy=True),
    Task(
        "terrain_levelling",
        "Terrain Levelling",
        "planning",
        9,
        "partial",
        heavy=True,
        seconds=3600.0,
    ),
)

_TEXTS = (
    Task(
        "arithmetic",
        "Arithmetic",
        "manifolds",
        0,
        "binary",
        dimensions=("multi-hop reasoning", "working memory", "tokenization"),
    ),
    Task(
        "boolean",
        "Boolean Logic",
        "manifolds",
        0,
        "binary",
        dimensions=("multi-hop reasoning", "working memory", "novel input patterns"),
    ),
    Task(
        "objects",
        "Objects",
        "manifolds",
        0,
        "binary",
        dimensions=("working memory", "distraction"),
    ),
    Task(
        "shuffle",
        "Shuffle",
        "manifolds",
        0,
        "binary",
        dimensions=("multi-hop reasoning", "working memory", "distraction"),
    ),
    Task(
        "dates",
        "Dates",
        "manifolds",
        0,
        "binary",
        dimensions=("multi-hop reasoning", "working memory", "distraction"),
    ),
    Task(
        "movies",
        "Movies",
        "manifolds",
        0,
        "binary",
        dimensions=("multi-hop reasoning", "working memory", "interference"),
    ),
    Task(
        "bracket_stack",
        "Bracket Stack",
        "manifolds",
        0,
        "binary",
        dimensions=("working memory", "tokenization"),
    ),
    Task(
        "word_sorting",
        "Word Sorting",
        "manifolds",
        0,
        "binary",
        dimensions=("working memory", "tokenization"),
    ),
    Task(
        "svg_shapes",
        "SVG Shapes",
        "manifolds",
        0,
        "binary",
        dimensions=("novel input patterns", "tokenization", "working memory"),
    ),
    Task(
        "pattern_interference",
        "Pattern Interference",
        "manifolds",
        0,
        "binary",
        dimensions=("multi-hop reasoning", "novel input patterns", "interference"),
    ),
    Task(
        "letter_counting",
        "Letter Counting",
        "manifolds",
        0,
        "binary",
        dimensions=("tokenization", "working memory", "distraction"),
    ),
    Task(
        "but_for_causation",
        "But-for Causation",
        "manifolds",
        0,
        "binary",
        dimensions=("multi-hop reasoning", "working memory", "distraction", "interference"),
    ),
)
"""Text tasks over parameter spaces (spec: manifolds)."""


@cache
def all_tasks() -> Mapping[str, Task]:
    """Return every task the benchmark knows, by id, in table order; other packages' tasks last.

    Raises:
        CatalogError: an entry point is not a `Task`, or uses an id that is taken.
    """
    tasks = {task.id: task for task in (*_OURS, *_TEXTS)}
    for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name):
        task = entry.load()
        if not isinstance(task, Task):
            raise CatalogError(f"entry point {entry.value!r} gives {type(task)}, not a Task")
        if task.id in tasks:
            raise CatalogError(f"entry point {entry.value!r}: task id {task.id!r} is taken")
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


def listed_tasks() -> tuple[Task, ...]:
    """Return this package's tasks with a fixed list, installed or not: the paper's 22."""
    return _OURS
