"""Code rules that apply to the whole package."""

import ast
import re
import sys
from pathlib import Path

import pytest
from commands import run
from depth import QUICK, TABLE, kind_of

import scbench
from scbench.catalog import all_tasks

ROOT = Path(__file__).resolve().parents[2]

HEAVY = {
    "datasets",
    "distributed",
    "gymnasium",
    "inspect_ai",
    "jsonschema_rs",
    "mlcroissant",
    "nbformat",
    "scipy",
    "selenium",
    "trimesh",
}
"""Libraries whose import takes much of the time for collecting all tests."""


def imported(tree: ast.Module) -> set[str]:
    """Return every part of the module names that a module may import."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.name for alias in node.names}
            names.add(getattr(node, "module", None) or "")
    return {part for name in names for part in name.split(".")}


def test_every_line_of_the_deep_test_table_matches_a_test():
    """A line left behind by a renaming would silently make its test a quick one."""
    deep = {line for lines in TABLE.values() for line in lines}
    for line in deep | QUICK:
        path, _, name = line.partition("::")
        file = ROOT / "tests" / path
        assert file.exists(), line
        test, _, parameter = name.partition("[")
        if test == "*":  # all tests of the module, for one task
            assert parameter in all_tasks(), line
        elif test:
            assert f"def {test}(" in file.read_text("utf-8"), line
        is_deep = kind_of(f"{line}[x-y]" if name and "[" not in name else line)
        assert bool(is_deep) == (line in deep), line
        if line in QUICK:
            assert kind_of(line.partition("[")[0] + "[x]"), f"{line} is quick anyway"


def test_collecting_the_quick_tests_loads_nothing_heavy():
    """They use `later.Later`; modules that are deep as a whole are not collected with them."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        if kind_of(path.relative_to(ROOT / "tests").as_posix()):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        for node in tree.body:
            loaded = set()
            if isinstance(node, ast.Import):
                loaded = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                loaded = {(node.module or "").partition(".")[0]}
            assert not loaded & HEAVY, f"{path}, line {node.lineno}: use later.Later"


def test_importing_scbench_loads_only_the_standard_library(tmp_path):
    code = (
        "import sys; before = set(sys.modules); import scbench; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    loaded = set(run(sys.executable, "-c", code, cwd=tmp_path).stdout.split())
    assert "scbench" in loaded
    assert loaded - {"scbench"} <= sys.stdlib_module_names


@pytest.mark.parametrize("module", ["scbench.cli.grade", "scbench.cli.main"])
def test_help_loads_nothing_heavy(tmp_path, module):
    code = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    loaded = set(run(sys.executable, "-c", code, cwd=tmp_path).stdout.split())
    assert "typer" in loaded
    assert not loaded & {
        "numpy",
        "polars",
        "pyarrow",
        "pydantic",
        "pebble",
        "rich",
        "datasets",
    }


def test_nothing_executes_or_unpickles_data(trees):
    calls = {"eval", "exec", "compile", "__import__"}
    modules = {"pickle", "marshal", "shelve", "code", "dill"}
    faults = [
        (name, node.lineno)
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in calls
    ]
    faults += [
        (name, what)
        for name, tree in trees.items()
        for what in modules & {*imported(tree)}
    ]
    assert faults == []


def test_only_pictures_name_a_single_task(trees):
    """Imports of tasks are a contract of import-linter; this checks texts.

    Not for tasks whose names are words that have other uses, such as dates.
    """
    tasks = {name for name in all_tasks() if "_" in name}
    assert "delaunay_triangulation" in tasks
    homes = ("builders/", "graders/", "schemas/", "report/pictures/")
    faults = {
        name
        for name, tree in trees.items()
        if not name.startswith(homes)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in tasks
    }
    assert faults == set()


def test_graders_use_no_clock_no_randomness_and_no_files(trees):
    barred = {"random", "time", "datetime", "secrets", "os", "uuid", "resources"}
    graders = {
        name: tree for name, tree in trees.items() if name.startswith("graders/")
    }
    faults = [
        (name, what)
        for name, tree in graders.items()
        for what in barred & imported(tree)
    ]
    faults += [
        (name, node.lineno)
        for name, tree in graders.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and ast.unparse(node) in {"np.random", "numpy.random"}
    ]
    assert faults == []


def test_ci_runs_the_commands_of_the_readme_in_order():
    of_readme, of_ci = (
        [
            line
            for line in (ROOT / name).read_text("utf-8").splitlines()
            if line.startswith("python3 ")
        ]
        for name in ("README.md", ".ci/run")
    )
    assert len(of_readme) == 2
    assert of_ci == of_readme


def test_checkout_itself_can_be_imported():
    done = run(
        sys.executable, "-S", "-c", "import scbench; print(scbench.__path__)", cwd=ROOT
    )
    assert str(ROOT) in done.stdout, done.stderr
    code = "import scbench.graders.csg_union as it; print(it.__file__)"
    done = run(sys.executable, "-c", code, cwd=ROOT)
    assert done.stdout.startswith(str(ROOT / "scbench")), done.stderr


def test_versions_agree():
    assert f'version = "{scbench.__version__}"' in (ROOT / "pyproject.toml").read_text(
        "utf-8"
    )
    assert f"version: {scbench.__version__}" in (ROOT / "CITATION.cff").read_text(
        "utf-8"
    )
    assert f"## {scbench.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_no_pattern_repeats_a_group_possessively(trees):
    """Python 3.11.0 to 3.11.4 match those wrongly, and scores must not depend on it."""
    possessive = re.compile(r"\)[*+?]\+|\)\{[\d,]+\}\+|\(\?>")
    faults = [
        (name, node.lineno)
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and possessive.search(node.value)
    ]
    assert faults == []
