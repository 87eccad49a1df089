"""The packages, the imports between them, and the names in them.

Layers and circles are contracts of import-linter in pyproject.toml.
"""

import ast
import re
import tomllib
from collections import Counter
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_ROOMS, MOST_ARROWS = 20, 125
# Words that are too vague for names.
VAGUE = frozenset(
    re.findall(
        r"\w+",
        "found said held told named kept wanted made drawn shown known given taken left rest own "
        "alone asked seen listed written chosen moved meant placed whole one other others more "
        "most few wide much",
    )
)
MOST_VAGUE = 0.005


def room_of(path: str) -> str:
    return path.partition("/")[0].removesuffix(".py")


def imported_rooms(tree: ast.Module) -> set[str]:
    """Return the packages that a module imports anywhere in its code."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "scbench":
            modules |= {f"scbench.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module)
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in modules if name.startswith("scbench.")}


def assigned_names(tree: ast.Module):
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
            ):
                yield name
            case (
                ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name)
            ):
                yield name
            case ast.AsyncFunctionDef(name=name) | ast.alias(asname=str() as name):
                yield name


def test_packages_and_imports_between_them_are_few(trees):
    rooms = {room_of(name) for name in trees} - {"dataset_card", "releases"}  # data
    arrows = set()
    for name, tree in trees.items():
        importing = room_of(name)
        if importing in rooms:
            imported = imported_rooms(tree) & rooms - {importing}
            arrows |= {(importing, room) for room in imported}
    assert len(rooms) <= MOST_ROOMS, sorted(rooms)
    assert len(arrows) <= MOST_ARROWS, len(arrows)


def test_package_map_follows_the_import_layers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(it for it in contracts if it["type"] == "layers")["layers"]
    expected = [room for layer in layers for room in layer.split(" | ")]
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| `(?:scbench/)?(\w+)(?:/|\.py)` \|", page, re.MULTILINE)
    assert rows == expected


def test_names_describe_their_values(trees):
    names = Counter(chain.from_iterable(map(assigned_names, trees.values())))
    vague = Counter()
    for name, count in names.items():
        if name.strip("_").lower() in VAGUE:
            vague[name] = count
    assert vague.total() <= MOST_VAGUE * names.total(), vague
