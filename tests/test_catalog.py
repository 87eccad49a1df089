"""The catalogue: its tasks, its errors, and tasks of other packages."""

import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import get_args

import pytest
from commands import python

import scbench.catalog
from scbench.base.errors import CatalogError
from scbench.catalog import (
    PAPER,
    REASONSCAPE,
    Dimension,
    Task,
    all_tasks,
    available_tasks,
    get_task,
)

ABSENT = Task("no_such_task", "None", "planning", "binary")

VERSIONS = """
import sys
from scbench.catalog import all_tasks
for task in all_tasks().values():
    print(task.id, task.grader_version)
names = [task.module("graders") for task in all_tasks().values()]
print("imported" if sys.modules.keys() & set(names) else "nothing imported")
"""


def ours():
    """The paper's tasks, without those of installed plugins."""
    return [task for task in all_tasks().values() if task.origin == PAPER]


def test_text_tasks_come_after_paper_tasks_and_before_plugins():
    rest = list(all_tasks().values())[len(ours()) :]
    own = [task for task in rest if task.package == "scbench"]
    assert rest[: len(own)] == own, "plugins stand last"
    texts = [task for task in own if task.origin == REASONSCAPE]
    assert {"arithmetic", "boolean"} <= {task.id for task in texts}
    assert {(task.bucket, task.scoring) for task in texts} == {("manifolds", "binary")}
    known = get_args(Dimension)
    assert all(set(task.dimensions) <= set(known) for task in own)


def test_every_task_has_a_summary_and_a_scoring_phrase():
    tasks = [task for task in all_tasks().values() if task.package == "scbench"]
    for task in tasks:
        words = task.summary.split()
        assert 5 <= len(words) <= 25, task.id
        assert task.summary[0].isupper(), task.id
        assert task.summary.endswith("."), task.id
        assert task.scored, task.id
        assert not task.scored.endswith("."), task.id
        is_binary = task.scored.startswith("1 ") and task.scored.endswith("else 0")
        # An answer with several scores, each 0 or 1, can get a share of them.
        if task.scores == 1:
            assert is_binary == (task.scoring == "binary"), task.id
    assert len({task.summary for task in tasks}) == len(tasks)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("csg_unions", "csg_union"),
        ("maze3d", "maze_3d"),
        ("delauney_triangulation", "delaunay_triangulation"),
        ("Hyper-Snake", "hyper_snake"),
    ],
)
def test_unknown_task_id_suggests_a_similar_name(wrong, near):
    with pytest.raises(CatalogError) as caught:
        get_task(wrong)
    message = str(caught.value)
    assert message.startswith(f"unknown task {wrong!r}. Did you mean ")
    assert repr(near) in message


def test_task_without_a_grader_is_unavailable_and_names_the_missing_module():
    assert not ABSENT.available
    for room, member in [
        ("schemas", "params_model"),
        ("schemas", "answer_model"),
        ("builders", "builder"),
        ("graders", "grade"),
        ("graders", "grader_version"),
        ("graders", "checks"),
    ]:
        with pytest.raises(
            CatalogError, match=f"module scbench.{room}.no_such_task is missing"
        ):
            getattr(ABSENT, member)


def test_catalogue_imports_no_task():
    code = (
        "import sys, scbench.catalog as c; "
        "[task.offers('queries') for task in c.available_tasks()]; "
        "print([name for name in sys.modules for room in ('schemas', 'builders', 'graders') "
        "if name.startswith(f'scbench.{room}.')])"
    )
    assert python(code).strip() == "[]"


# Tasks of other packages.


@pytest.fixture
def knots(tmp_path, monkeypatch):
    """A task in a separate package, as an entry point names it."""
    package = tmp_path / "knots_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name, text in {
        "graders/knots/__init__.py": "VERSION = 3",
        "builders/knots/__init__.py": "import no_such_library_of_knots",
        "dataset_card/tasks/knots.md": "**Asks for** a knot.\n",
    }.items():
        path = package / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (package / "entry.py").write_text(
        "from scbench.catalog import Task\n"
        "TASK = Task('knots', 'Knots', 'planning', 'binary', package='knots_package')\n"
        "TAKEN = Task('csg_union', 'Knots', 'planning', 'binary', package='knots_package')\n"
        "NO_TASK = 'knots'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.split(".")[0] == "knots_package"]:
        del sys.modules[name]


@pytest.fixture
def declare(monkeypatch, knots):
    """Make entry points appear installed; the catalogue is read again before and after."""

    def entries(*names):
        points = [
            EntryPoint(
                name=name.lower(),
                value=f"knots_package.entry:{name}",
                group="scbench.tasks",
            )
            for name in names
        ]
        monkeypatch.setattr(
            scbench.catalog,
            "entry_points",
            lambda group: points * (group == "scbench.tasks"),
        )
        all_tasks.cache_clear()

    yield entries
    all_tasks.cache_clear()


def test_plugin_task_comes_last(declare):
    declare("TASK")
    assert list(all_tasks())[-1] == "knots"
    task = get_task("knots")
    assert task.available
    assert available_tasks()[-1] is task
    assert task.grader_version == 3
    assert task.card_text == "**Asks for** a knot."
    with pytest.raises(
        CatalogError, match=r"module knots_package\.schemas\.knots is missing"
    ):
        _ = task.params_model


def test_duplicate_task_id_is_refused(declare):
    declare("TAKEN")
    with pytest.raises(
        CatalogError, match=r"knots_package.entry:TAKEN.*'csg_union' is taken"
    ):
        all_tasks()


def test_entry_point_must_name_a_task(declare):
    declare("NO_TASK")
    with pytest.raises(
        CatalogError, match=r"knots_package.entry:NO_TASK.*instead of a Task"
    ):
        all_tasks()


def test_grader_versions_are_read_without_imports():
    output = python(VERSIONS)
    for task in all_tasks().values():
        assert f"{task.id} {import_module(task.module('graders')).VERSION}\n" in output
    assert output.endswith("nothing imported\n")
