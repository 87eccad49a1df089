"""What tests of all rooms share."""

import json
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel, RootModel

from scbench.catalog import Task, get_task
from scbench.release.freeze import build_release
from scbench.release.load import Release, find_release
from scbench.schemas.base import AnswerModel, ParamsModel

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_rows() -> list[tuple[dict, dict]]:
    """Real model answers, each with the score a right grader gives; skips where there are none."""
    folder = ROOT.parent / "shared" / "real"
    if not folder.is_dir():
        pytest.skip("the folder of real answers is not beside this checkout")
    predictions, expected = (
        [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
        for name in ("predictions.jsonl", "expected.jsonl")
    )
    return list(zip(predictions, expected, strict=True))


@pytest.fixture(scope="session")
def parity_release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """A release of the plugin's task, whose grader misbehaves on demand, and of a real one."""
    folder = tmp_path_factory.mktemp("parity") / "release"
    build_release("0.0.1", folder, [get_task("parity"), get_task("enumerate_edges")])
    return find_release(str(folder))


@pytest.fixture
def write_lines(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes predictions (objects, or text as it stands) to a file."""

    def write(*lines: object, name: str = "predictions.jsonl") -> Path:
        path = tmp_path / name
        texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
        return path

    return write


_NUMBERS = count()


class MadeUpParams(ParamsModel):
    pass


class MadeUpAnswer(AnswerModel):
    values: list[float]


class MadeUpText(RootModel[str]):
    pass


@pytest.fixture
def make_task(monkeypatch) -> Iterator[Callable[..., tuple[Task, BaseModel]]]:
    """A function that makes a task of a grader, and its only instance's parameters."""

    def make(grade, *, scores: int = 1, is_text: bool = False) -> tuple[Task, BaseModel]:
        package = f"made_up_{next(_NUMBERS)}"  # modules are kept by name
        schema, grader = ModuleType(f"{package}.schema"), ModuleType(f"{package}.grader")
        schema.Params = MadeUpParams
        schema.Answer = MadeUpText if is_text else MadeUpAnswer
        grader.grade, grader.VERSION = grade, 1
        monkeypatch.setitem(sys.modules, schema.__name__, schema)
        monkeypatch.setitem(sys.modules, grader.__name__, grader)
        task = Task("made_up", "Made up", "planning", 0, "partial", package, scores=scores)
        return task, MadeUpParams()

    return make
