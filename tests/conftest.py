"""What tests of all rooms share."""

import json
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from pydantic import BaseModel, RootModel

from scbench.catalog import Task, get_task
from scbench.grading.rows import results_schema
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


PAPER = ROOT / "tests" / "data" / "paper"


def make_results(*rows: dict) -> pl.DataFrame:
    """Results as scbench-grade writes them, of rows that name what is not usual in them."""
    usual = {"setting": "no_tools", "sample": 0, "status": "answered", "model": "m"}
    usual |= {"instance_hash": "x", "grader_version": 1, "release": "9.9.9", "release_hash": "h"}
    usual |= {"checks": "[]", "metrics": "{}", "failed_checks": [], "notes": [], "repairs": []}
    usual |= {"reason": "", "subtask": 0, "task": "two_segments"}
    full = []
    for given in rows:
        row = dict.fromkeys(results_schema()) | usual | given
        task = get_task(row["task"])
        number = row["subtask"] if task.scores == 1 else 0
        full.append(row | {"id": f"{task.id}/{number:02d}", "bucket": task.bucket})
    return pl.DataFrame(full, schema=results_schema())


@pytest.fixture(scope="session", name="make_results")
def _make_results() -> Callable[..., pl.DataFrame]:
    return make_results


@pytest.fixture(scope="session")
def paper_numbers() -> dict:
    """The paper's tables and what is stored behind them."""
    return json.loads((PAPER / "paper_tables.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def paper_results(paper_numbers) -> pl.DataFrame:
    """The published scores of the paper's six runs, as if all had been answered."""
    scores = json.loads((PAPER / "paper_scores.json").read_text("utf-8"))
    return make_results(
        *(
            {"model": model["key"], "setting": setting, "task": task, "subtask": i, "score": score}
            for model in paper_numbers["models"]
            for setting in ("no_tools", "tools")
            for task, found in scores[model[f"{setting}_run"]].items()
            for i, score in enumerate(map(float, found))
        )
    )


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
