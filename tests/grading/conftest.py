"""Tasks made for one test."""

import sys
from collections.abc import Callable, Iterator
from itertools import count
from types import ModuleType

import pytest
from pydantic import BaseModel, RootModel

from scbench.catalog import Task
from scbench.schemas.base import AnswerModel, ParamsModel

_NUMBERS = count()


class Params(ParamsModel):
    pass


class Answer(AnswerModel):
    values: list[float]


class TextAnswer(RootModel[str]):
    pass


@pytest.fixture
def make_task(monkeypatch) -> Iterator[Callable[..., tuple[Task, BaseModel]]]:
    """A function that makes a task of a grader, and its only instance's parameters."""

    def make(grade, *, scores: int = 1, is_text: bool = False) -> tuple[Task, BaseModel]:
        package = f"made_up_{next(_NUMBERS)}"  # modules are kept by name
        schema, grader = ModuleType(f"{package}.schema"), ModuleType(f"{package}.grader")
        schema.Params, schema.Answer = Params, TextAnswer if is_text else Answer
        grader.grade, grader.VERSION = grade, 1
        monkeypatch.setitem(sys.modules, schema.__name__, schema)
        monkeypatch.setitem(sys.modules, grader.__name__, grader)
        task = Task("made_up", "Made up", "planning", 0, "partial", package, scores=scores)
        return task, Params()

    return make
