"""Graders never import a builder, touch a file, read a clock, or use random numbers."""

import ast
import json
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from commands import python
from contract import attempts, touched, watched

from scbench.catalog import Task

IMPURE = {"datetime", "os", "random", "secrets", "time", "uuid"}
IMPORT = """
import json, sys
from scbench.catalog import available_tasks
found = {}
for task in available_tasks():
    before = set(sys.modules)
    task.grade
    found[task.id] = [name for name in sys.modules.keys() - before if "builders" in name.split(".")]
print(json.dumps(found))
"""


def names_in(task: Task) -> set[str]:
    """Return every name that a grader or its shared code imports, in functions too."""
    home = Path(find_spec(task.module("graders")).origin).parent
    result = set()
    for path in [*home.rglob("*.py"), *(home.parent / "shared").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Import(names):
                    result |= {alias.name for alias in names}
                case ast.ImportFrom(module, names):
                    result |= {f"{module or ''}.{alias.name}" for alias in names}
                case ast.Attribute(ast.Name("np" | "numpy"), "random"):
                    result.add("numpy.random")
                case ast.Constant(str(text)) if ".builders." in text:
                    result.add(text)
    return result


@cache
def loaded_builders() -> dict[str, list[str]]:
    """Return the builders that importing each grader loads, in a fresh process."""
    return json.loads(python(IMPORT))


def test_grader_imports_no_builder(task):
    asked = {name for name in names_in(task) if "builders" in name.split(".")}
    assert not asked
    assert not loaded_builders()[task.id]


def test_grader_touches_no_file(task):
    if task.isolated:
        return  # it passes parts of answers to a child process
    for params, answer in islice(attempts(task), 12):
        watched(task, params, answer)
    assert not touched[task.id]


def test_grader_uses_no_clock_and_no_randomness(task):
    used = {name for name in names_in(task) if IMPURE & {*name.split(".")[:2]}}
    assert not used
