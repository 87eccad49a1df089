"""How heavy the house may be: its rooms, the imports between them, its modules and its names.

Layers and circles are contracts of import-linter in pyproject.toml.
"""

import ast
import importlib.util
import re
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_ROOMS, MOST_ARROWS = 20, 120
MOST_LINES = 80_000
MOST_MODULE_LINES, MOST_FUNCTION_LINES = 600, 60
VAGUE = frozenset(
    re.findall(
        r"\w+",
        "found said held told named kept wanted made drawn shown known given taken left rest own "
        "alone asked seen listed written chosen moved meant placed whole one other others more "
        "most few wide much",
    )
)
"""Words that say nothing about what they name."""
MOST_VAGUE = 0.005
FAMILIES = ("builders", "graders", "report/pictures")
"""Folders in which each task has a module or package, and functions of one name play one part."""


def room_of(path: str) -> str:
    return path.partition("/")[0].removesuffix(".py")


def imported_rooms(tree: ast.Module) -> set[str]:
    """Return the rooms that a module names in its imports, wherever they stand."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "scbench":
            modules |= {f"scbench.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module)
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in modules if name.startswith("scbench.")}


def functions(tree: ast.Module):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_lines(function: ast.FunctionDef) -> int:
    """Return how many lines stand below the signature and the docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return function.end_lineno - body[0].lineno + 1 if body else 0


def assigned_names(tree: ast.Module):
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.AsyncFunctionDef(name=name) | ast.alias(asname=str() as name):
                yield name


def test_there_are_few_rooms_and_few_arrows_between_them(trees):
    rooms = {room_of(name) for name in trees} - {"dataset_card", "releases"}  # data
    arrows = {
        (room_of(name), room)
        for name, tree in trees.items()
        for room in imported_rooms(tree)
        if {room, room_of(name)} <= rooms and room != room_of(name)
    }
    assert len(rooms) <= MOST_ROOMS, sorted(rooms)
    assert len(arrows) <= MOST_ARROWS, len(arrows)


def test_the_map_of_rooms_is_the_one_that_imports_are_held_to():
    spec = importlib.util.spec_from_file_location("room_map", ROOT / "tools" / "room_map.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text("utf-8") == tool.page_with(tool.room_map())


def test_modules_and_functions_can_be_read_in_one_sitting(texts, trees):
    lines = {name: text.count("\n") for name, text in texts.items()}
    assert {name: count for name, count in lines.items() if count > MOST_MODULE_LINES} == {}
    long = {
        f"{name}:{function.name}": body_lines(function)
        for name, tree in trees.items()
        for function in functions(tree)
        if body_lines(function) > MOST_FUNCTION_LINES
    }
    assert long == {}
    assert sum(lines.values()) <= MOST_LINES


def test_names_say_what_they_hold(trees):
    names = Counter(chain.from_iterable(map(assigned_names, trees.values())))
    vague = {name: count for name, count in names.items() if name.strip("_").lower() in VAGUE}
    assert sum(vague.values()) <= MOST_VAGUE * names.total(), vague


def test_two_private_functions_of_one_name_do_the_same(trees):
    homes = defaultdict(set)
    for name, tree in trees.items():
        family = next((family for family in FAMILIES if name.startswith(f"{family}/")), None)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_"):
                homes[node.name].add(family or name)
    twice = {name: sorted(places) for name, places in homes.items() if len(places) > 1}
    assert twice.keys() <= {"__dir__", "__getattr__"}, twice
