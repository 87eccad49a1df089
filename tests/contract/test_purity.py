"""What no grader may do: ask a builder, touch a file, look at a clock, or play dice."""

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


def names_in(task: Task) -> set[str]:
    """Every name that a grader, or what it shares with others, imports, in functions too."""
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


@cache
def loaded() -> dict[str, list[str]]:
    """The builders that importing each grader loads, in a process that has none."""
    return json.loads(python(IMPORT))


def test_the_grader_asks_no_builder(task):
    asked = {name for name in names_in(task) if "builders" in name.split(".")}
    assert not asked
    assert not loaded()[task.id]


def test_the_grader_touches_no_file(task):
    if task.isolated:
        return  # it hands parts of answers to a child
    for params, answer in islice(attempts(task), 12):
        watched(task, params, answer)
    assert not touched[task.id]


def test_the_grader_has_no_clock_and_no_randomness(task):
    used = {name for name in names_in(task) if IMPURE & {*name.split(".")[:2]}}
    assert not used
