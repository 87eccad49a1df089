"""Tasks made for one test."""

import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from pydantic import BaseModel, RootModel

from scbench.catalog import Task
from scbench.schemas.base import AnswerModel, ParamsModel


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
        schema, grader = ModuleType("made_up.schema"), ModuleType("made_up.grader")
        schema.Params, schema.Answer = Params, TextAnswer if is_text else Answer
        grader.grade, grader.VERSION = grade, 1
        monkeypatch.setitem(sys.modules, "made_up.schema", schema)
        monkeypatch.setitem(sys.modules, "made_up.grader", grader)
        task = Task("made_up", "Made up", "planning", 0, "partial", "made_up", scores=scores)
        return task, Params()

    return make
