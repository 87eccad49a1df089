"""An incompatible OpenSCAD library gives no verdict, and the error names the difference."""

import ast
import importlib.util
from pathlib import Path

import pytest

from scbench.base.errors import CannotGrade
from scbench.base.model import Prediction, Status
from scbench.catalog import get_task
from scbench.graders.interlocking_parts import printed_parts
from scbench.graders.interlocking_parts.printed_parts import read_parts
from scbench.scoring.outcomes import grade_prediction

ROOT = Path(__file__).resolve().parents[3]
HOME = ROOT / "graders" / "interlocking_parts"
STAND_IN = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location(__name__, {path!r})
library = sys.modules[__name__] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(library)
Evaluator = library.Evaluator
{change}
"""
NO_SEGMENTS = "del Evaluator._fn_segments"
MORE_PARAMETERS = (
    "Evaluator._get_arg = lambda self, args, pos, name, kind, default: default"
)
MORE_STEPS = """
arguments_of = Evaluator._resolve_args
def twice(self, arguments, ctx):
    arguments_of(self, arguments, ctx)
    return arguments_of(self, arguments, ctx)
Evaluator._resolve_args = twice
"""
OTHER_PLACES = """
cube = Evaluator._generate_cube
def moved(self, params, children, node):
    return cube(self, {**params, "size": [1.001 * side for side in params["size"]]}, children, node)
Evaluator._generate_cube = moved
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Return a function that puts a changed library before the installed one."""
    real = Path(importlib.util.find_spec("openscad_evaluator").origin).parent
    monkeypatch.setattr(printed_parts, "_unlike", None)
    monkeypatch.setattr(printed_parts, "_cache", {})

    def change(text: str) -> None:
        package = tmp_path / "openscad_evaluator"
        package.mkdir()
        (package / "__init__.py").write_text(f"__path__.append({str(real)!r})\n")
        path = str(real / "evaluator.py")
        (package / "evaluator.py").write_text(STAND_IN.format(path=path, change=text))
        monkeypatch.syspath_prepend(tmp_path)

    return change


@pytest.mark.parametrize(
    ("change", "difference_found"),
    [
        (NO_SEGMENTS, "Evaluator._fn_segments is missing"),
        (
            MORE_PARAMETERS,
            "Evaluator._get_arg takes (self args pos name kind default), not (self",
        ),
        (MORE_STEPS, "steps of 'difference() { cube("),
        (OTHER_PLACES, "hash of corners of 'difference() { cube("),
    ],
)
def test_incompatible_library_is_reported_with_version_and_difference(
    library, change, difference_found
):
    library(change)
    for _ in range(2):  # the second time, from the cached result
        with pytest.raises(CannotGrade) as caught:
            read_parts([("OpenSCAD", "cube(2);")])
        assert "openscad-evaluator 1.8." in str(caught.value)
        assert "pip install 'openscad-evaluator>=1.8,<1.9'" in str(caught.value)
        assert f"the first: {difference_found}" in str(caught.value)


def test_incompatible_library_grades_only_meshes(library):
    library(MORE_STEPS)
    task = get_task("interlocking_parts")
    params = task.builder().paper()[0].params
    part = {
        "fileType": "OpenSCAD",
        "fileContents": "cube(2);",
        "transform": [1, *[0] * 15],
    }
    for kind, status in (("OpenSCAD", Status.NOT_RUN), ("STL", Status.ANSWERED)):
        answer = {"parts": [{**part, "fileType": kind}]}
        prediction = Prediction(id="interlocking_parts/00", model="m", answer=answer)
        outcome = grade_prediction(prediction, task, params)
        assert outcome.status is status, outcome.reason
        assert (" instead of 1185" in outcome.reason) == (kind == "OpenSCAD")


def test_private_names_in_use_are_checked():
    text = ""
    for name in ("openscad_child.py", "openscad_steps.py", "openscad_2021.py"):
        text += (HOME / name).read_text("utf-8")
    owners = {"_library", "library", "evaluator", "library.Evaluator"}
    accessors = {"getattr", "setattr"}
    used = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Attribute(value=owner, attr=name) if name.startswith("_"):
                if ast.unparse(owner) in owners:
                    used.add(name)
            case ast.Call(func=function) if ast.unparse(function) in accessors:
                used |= {
                    arg.value for arg in node.args if isinstance(arg, ast.Constant)
                }
    assert {"_fn_segments", "_resolve_font", "_eval_range", "_triangulate_face"} <= used
    text += (HOME / "openscad_library.json").read_text("utf-8")
    names = [name for name in used if isinstance(name, str)]
    assert [name for name in names if f'{name}"' not in text] == []
