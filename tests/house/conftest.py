"""The package's source, which tests of code rules read."""

import ast
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def texts() -> dict[str, str]:
    """Every module of the package, by its path in it; links are followed."""
    modules = {}
    for folder, _, names in os.walk(ROOT / "scbench", followlinks=True):
        for path in (Path(folder, name) for name in names if name.endswith(".py")):
            modules[path.relative_to(ROOT / "scbench").as_posix()] = path.read_text(
                "utf-8"
            )
    assert {
        "catalog.py",
        "base/model.py",
        "graders/csg_union/__init__.py",
    } <= modules.keys()
    return modules


@pytest.fixture(scope="session")
def trees(texts) -> dict[str, ast.Module]:
    return {name: ast.parse(text) for name, text in texts.items()}
