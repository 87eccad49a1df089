"""A small release and the answers of two models, to report on."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from scbench.base.canonical import canonical_json
from scbench.base.model import Instance, Prediction
from scbench.catalog import MANIFOLDS, get_task
from scbench.formats.predictions import Line
from scbench.grading.rows.index import index_of
from scbench.grading.rows.lines import Head
from scbench.grading.rows.table import RowMaker
from scbench.grading.rows.wire import to_wire
from scbench.release.load import Reference, Release, find_release
from scbench.scoring.outcomes import grade_prediction

VERSION, HASH = "9.9.9", "small"

FEW = ("csg_union", "lego_hemispherical_shell", "shikaku_rectangles", "two_segments")


@dataclass
class Small:
    """A few instances of a release, with the attributes that a report needs."""

    held: dict[str, Instance]
    root: Path = Path("small")
    version: str = VERSION

    @property
    def manifest(self) -> SimpleNamespace:
        tasks = {row.task: row for row in self.held.values()}
        records = {
            name: SimpleNamespace(grader_version=get_task(name).grader_version)
            for name in tasks
        }
        default = [name for name in tasks if get_task(name).bucket != MANIFOLDS]
        facts = {"withdrawn": {}, "terse": {}, "pictures": {}, "default_tasks": default}
        return SimpleNamespace(rows_hash=HASH, tasks=records, **facts)

    def fitting(self, _: str) -> "Small":
        return self

    def instances(self, tasks=None) -> dict[str, Instance]:
        return {
            key: row
            for key, row in self.held.items()
            if tasks is None or row.task in tasks
        }

    def ids(self, tasks) -> list[str]:
        return list(self.instances(tasks))

    def floors(self) -> dict[str, float]:
        return dict.fromkeys(self.held, 0.125)


def graded(
    instance: Instance, answer: object, model: str, **rest: object
) -> pl.DataFrame:
    """The rows from grading one prediction."""
    prediction = Prediction(id=instance.id, answer=answer, model=model, **rest)
    data = canonical_json({"id": instance.id, "model": model}).encode()
    task = get_task(instance.task)
    params = task.params_model.model_validate_json(instance.all_params)
    outcome = to_wire(grade_prediction(prediction, task, params))
    rows = RowMaker(index_of(Small({instance.id: instance}), [task]))
    rows.add(Head.of(Line(1, data, prediction), 0), outcome)
    return rows.frame()


@pytest.fixture(scope="session")
def installed() -> Release:
    return find_release()


@pytest.fixture(scope="session")
def answers(installed: Release) -> dict[str, dict[str, list[Reference]]]:
    """Reference and counter-references of the first instance of every task, by kind."""
    found: dict[str, dict[str, list[Reference]]] = {}
    for ref in installed.references():
        if ref.id.endswith("/00"):
            found.setdefault(ref.id, {}).setdefault(ref.kind, []).append(ref)
    return found


@pytest.fixture(scope="session")
def small(installed: Release) -> Small:
    """The first instance of every task."""
    rows = installed.instances()
    return Small({key: row for key, row in rows.items() if key.endswith("/00")})


def right_and_wrong(instances: Iterable[Instance], answers) -> pl.DataFrame:
    """Answers of the models ``right`` and ``wrong``: references, and the closest wrong answers."""
    parts = []
    for instance in instances:
        kinds = answers[instance.id]
        right = kinds["reference"][0]
        wrong = max(
            kinds["counter_reference"], key=lambda ref: (ref.score, len(ref.answer))
        )
        parts.append(
            graded(instance, json.loads(right.answer), "right", setting="no_tools")
        )
        parts.append(
            graded(instance, json.loads(wrong.answer), "wrong", setting="no_tools")
        )
    return pl.concat(parts).sort("id", "subtask", maintain_order=True)


@pytest.fixture(scope="session")
def rows(small: Small, answers) -> pl.DataFrame:
    """Right and wrong answers to the first instance of a few quick tasks."""
    return right_and_wrong(small.instances(FEW).values(), answers)


@pytest.fixture
def stored(tmp_path: Path) -> Callable[[pl.DataFrame], Path]:
    """A function that puts results into a folder like scbench-grade."""

    def write(frame: pl.DataFrame, name: str = "results") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        frame.write_parquet(folder / "results.parquet")
        return folder

    return write


@pytest.fixture(scope="session")
def whole_report(small, answers, once, tmp_path_factory) -> Path:
    """A report on right and wrong answers to the first instance of every task."""
    from scbench.report import write_report  # noqa: PLC0415  (where it fails, tests should)

    folder = tmp_path_factory.mktemp("whole")

    def make(path: Path) -> None:
        frame = right_and_wrong(small.held.values(), answers)
        frame.write_parquet(folder / "results.parquet")
        write_report([folder], path, release=small, workers=2, most_bytes=10**8)

    return once("whole-report.html", make)


@pytest.fixture
def many(make_results, stored) -> Path:
    """Results of twenty items."""
    rows = [
        {"subtask": i, "task": task, "score": float(i % 2)}
        for task in ("two_segments", "csg_union")
        for i in range(10)
    ]
    return stored(make_results(*rows))
