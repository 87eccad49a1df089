"""The interface of every builder, and the parts that all builders share.

A builder provides the instances of one task: it reads fixed ones from a list, or draws
new ones at a point of its parameter space. The generator methods have the names that
users of task manifolds know: `rng`, `generate_random`, `get_generation_schema`,
`get_result_schema`.
"""

import json
import sys
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from scbench.base.canonical import canonical_json
from scbench.base.seeding import BitSource, Stream, Streams

ParamsT = TypeVar("ParamsT", bound=BaseModel)
AnswerT = TypeVar("AnswerT", bound=BaseModel)
PointT = TypeVar("PointT", bound="Point")
# The parts of a case other than its point and seed: instance, input, target and facts.
Composed = tuple[dict[str, JsonValue], str, str, dict[str, JsonValue]]
# The kind of difficulty that a parameter sets: length, depth, noise or meaning.
Kind = Literal["scale", "depth", "interference", "semantic"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Start of the closing lines of a prompt; `Builder.terse` searches for it.
_GIVE = "Give your answer"


class Point(BaseModel):
    """A point of a builder's parameter space. Each builder adds its own parameters to `count`."""

    unprinted: ClassVar[frozenset[str]] = frozenset()
    """Parameters that would give the answer away; release rows omit them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    count: int = Field(
        default=1, ge=1, le=1_000_000, description="number of cases to generate"
    )

    def _not_above(self, limit: int, *names: str) -> None:
        """Raise a ValueError if the sum of some parameters is above a limit."""
        values = {name: getattr(self, name) for name in names}
        if sum(values.values()) > limit:
            terms = " and ".join(f"{name} ({value})" for name, value in values.items())
            raise ValueError(f"{terms} add up to more than {limit}")


class Case(BaseModel):
    """One generated case. Builders with facts define a subclass with a field for each fact."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: str = Field(description="the full text sent to a model")
    target: str = Field(
        description="a right answer: text if the task's answers are text, otherwise canonical "
        "JSON"
    )
    params: dict[str, JsonValue] = Field(
        description="the parameter values from which this item was generated, except `count`"
    )
    seed: int = Field(description="together with params, enough to recreate this item")
    instance: dict[str, JsonValue] = Field(
        description="the parameters that the grader uses"
    )


@dataclass(frozen=True, slots=True)
class PaperItem(Generic[ParamsT]):
    """An instance to freeze, from the paper's list or drawn.

    Attributes:
        params: its parameters.
        difficulty: easy, medium, hard or very-hard.
        seed: the seed it was drawn with; None for a listed instance without a seed.
        point: parameters and facts of the drawn case (`Builder.point_of`); None in a list.
        proves: whether its counter-references are stored as well. A few of many similar
            cases are enough to test a grader.
        name: its name within the task; by default its number.
        reference: its reference as canonical JSON, if the draw already found it.
    """

    params: ParamsT
    difficulty: str
    seed: int | None = None
    point: Mapping[str, JsonValue] | None = None
    proves: bool = True
    name: str = ""
    reference: str = ""


class Builder(ABC, Generic[ParamsT, AnswerT, PointT]):
    """Provides the instances of one task.

    A subclass is named ``TaskBuilder`` and names its models in ``Builder[Params, Answer, Space]``.
    It sets `task` and `version`. It defines `words` and `form`, or instead `prompt`, and three more
    methods: `reference`, `counter_references` and `draw`. It defines `images` if its prompts
    include pictures.

    Args:
        rng: the generator's only source of randomness; the runner seeds it. The default is a
            stream named after the task.
    """

    task: ClassVar[str]
    """Id of the task."""
    version: ClassVar[int]
    """Raised whenever an instance or a prompt changes."""
    draws: ClassVar[int] = 1
    """Raised whenever a seed gives a different instance. Rewording a prompt does not change it."""
    params_model: ClassVar[type[BaseModel]]
    answer_model: ClassVar[type[BaseModel]]
    space: ClassVar[type[Point]]
    """Pydantic model of the parameter space. The three models are the base's type arguments."""
    case_model: ClassVar[type[Case]] = Case
    """Pydantic model of a case, with a field for each fact."""
    stream: ClassVar[type[Stream]] = Stream
    """Kind of stream that cases are drawn from."""
    form: ClassVar[str]
    """The form of an answer, see `reply_as`; for tasks that do not define `prompt`."""
    extremes: ClassVar[tuple[Mapping[str, JsonValue], ...]] = ()
    """Points at the edge of the space, which the contract suite also tests."""

    def __init_subclass__(cls) -> None:
        models = get_args(cls.__orig_bases__[0])  # type: ignore[attr-defined]  # it is generic
        # Base classes such as TextBuilder pass type variables on and have no models.
        if not any(isinstance(model, TypeVar) for model in models):
            cls.params_model, cls.answer_model, cls.space = models

    def __init__(self, rng: BitSource | None = None) -> None:
        self.rng: BitSource = Stream("builder", self.task) if rng is None else rng

    # The methods that a task defines.

    def prompt(self, params: ParamsT) -> str:
        """Return the full prompt, which states every rule and tolerance of the grader.

        The default is ``prompt.txt``, filled with `words`, followed by a closing that shows `form`.
        """
        text = prompt_template(self.folder()).format(**self.words(params))
        return text + reply_as(self.form)

    def words(self, params: ParamsT) -> Mapping[str, object]:  # noqa: ARG002
        """Return the values for the templates ``prompt.txt`` and ``terse.txt``, by name."""
        return {}

    def images(self, params: ParamsT) -> tuple[bytes, ...]:  # noqa: ARG002
        """Return the PNG files of the prompt; most tasks have none."""
        return ()

    @abstractmethod
    def reference(self, params: ParamsT) -> AnswerT:
        """Solve the instance. The answer must score 1.0.

        Raises:
            GenerationError: no solution was found; this cannot happen for an instance
                from `draw`.
        """

    @abstractmethod
    def counter_references(self, params: ParamsT) -> Mapping[str, JsonValue]:
        """Return at least three named answers that must score below 1, for every instance.

        Each is a mistake that a grader must catch: an ignored rule, a near miss, a bug
        in an older grader.
        """

    def honest_faults(self, params: ParamsT) -> Mapping[str, tuple[JsonValue, float]]:  # noqa: ARG002
        """Return named answers that are slightly wrong, each with its score by the task's formula.

        They are honest mistakes, such as a correct answer that is shifted, scaled or
        rounded, or has a missing element. Rules against tricks must not change
        their scores. The default is none.
        """
        return {}

    @abstractmethod
    def draw(self, point: PointT, rng: Stream) -> ParamsT:
        """Draw one solvable instance.

        Raises:
            GenerationError: no instance was found within the builder's work limit.
        """

    def facts(self, params: ParamsT) -> dict[str, JsonValue]:  # noqa: ARG002
        """Return the facts of a case: the extra fields of `case_model`."""
        return {}

    def baselines(self, params: ParamsT) -> Mapping[str, JsonValue]:  # noqa: ARG002
        """Return named answers that can be made for any instance without solving it.

        The best score among them is the instance's floor, see `frozen_task`. Names are
        short, such as "one row". An answer's name does not depend on the correct
        answer. Tasks have none if such answers score 0, or if `blind_floor` is the
        better measure.
        """
        return {}

    def has_baseline_above(
        self, limit: float, params: ParamsT, grade: Callable[[Any, Any], Any]
    ) -> bool:
        """Return whether any baseline scores above a limit."""
        # No score exceeds 1, so the baselines need not be computed.
        if limit >= 1:
            return False
        for value in self.baselines(params).values():
            answer = self.answer_model.model_validate(value)
            if grade(params, answer).score > limit:
                return True
        return False

    def blind_floor(self, params: ParamsT) -> float:  # noqa: ARG002
        """Return the mean score of the best blind guess or constant at an instance's point."""
        return 0.0

    def measure(self, params: ParamsT) -> float:
        """Return the difficulty of a ladder instance: the count that ``ladder.toml`` names.

        It depends only on the instance. Its mean rises from rung to rung.

        Raises:
            GenerationError: the search that computes the count found nothing.
        """
        raise NotImplementedError(
            f"{self.task} has no measure, so it cannot have a ladder"
        )

    def carried_over(
        self,
        answer: AnswerT,
        params: ParamsT,  # noqa: ARG002
        onto: ParamsT,  # noqa: ARG002
    ) -> JsonValue:
        """Adapt an answer to one instance for another, to measure transfer.

        The default is the unchanged answer. Tasks whose instances differ only in
        their frame override it: they move the answer into the new frame.
        """
        return answer.model_dump(mode="json")

    def target(self, params: ParamsT) -> str:
        """Return a correct answer as text: the reference as canonical JSON."""
        return canonical_json(self.reference(params).model_dump(mode="json"))

    def solved(self, params: ParamsT) -> tuple[str, dict[str, JsonValue]]:
        """Return `target` and `facts`; override this if both need the same computation."""
        return self.target(params), self.facts(params)

    def compose(self, point: PointT, rng: Stream) -> Composed:
        """Draw an instance and return it with its prompt, target and facts.

        Raises:
            GenerationError: see `draw`.
        """
        params = self.draw(point, rng)
        target, facts = self.solved(params)
        return self.as_json(params), self.prompt(params), target, facts

    # The methods that all tasks share.

    @classmethod
    def folder(cls) -> str:
        """Return the package that has the task's data files."""
        # A subclass may be in a plain module, so the folder is that of the nearest
        # package.
        modules = [kind.__module__ for kind in cls.__mro__]
        packages = [name for name in modules if hasattr(sys.modules[name], "__path__")]
        return packages[0]

    def terse(self, params: ParamsT) -> str | None:
        """Return a prompt with the same information as the paper's; None without ``terse.txt``.

        It is meant for instances from the fixed list. The template is filled with `words`.
        The closing is the same as in the full prompt, because the answer format is the
        same.
        """
        template = files(self.folder()).joinpath("terse.txt")
        if not template.is_file():
            return None
        text = template.read_text("utf-8").format(**self.words(params))
        _, mark, closing = self.prompt(params).rpartition(_GIVE)
        return f"{text}\n{mark}{closing}"

    def pictured(
        self, params: ParamsT, style: str
    ) -> tuple[str, tuple[bytes, ...]] | None:
        """Return a prompt with its data in pictures, and the PNG files.

        The `draw` of the task's ``picture.py`` returns canvases. ``picture.toml`` changes the
        prompt: ``instead`` replaces parts of ``prompt.txt``, ``words`` replaces values of `words`,
        and ``{marks}`` becomes the description of a style (see `styles`).

        Returns:
            None if the task has no such style, or the data do not fit a picture.
        """
        if style not in self.styles():
            return None
        drawing = import_module(f"{self.folder()}.picture")
        canvases = drawing.draw(params, style)
        if not canvases:
            return None
        table = toml_file(self.folder(), "picture.toml")
        text = prompt_template(self.folder())
        for part in table.get("instead", ()):
            if text.count(part["of"]) != 1:
                raise ValueError(
                    f"{self.task}: prompt.txt must contain exactly once: {part['of']!r}"
                )
            text = text.replace(part["of"], part["say"])
        words = dict(self.words(params))
        words.update(table.get("words", {}))
        words["marks"] = table["marks"][style]
        if hasattr(drawing, "words"):
            words.update(drawing.words(params))
        prompt = text.format(**words) + reply_as(table.get("form") or self.form)
        return prompt, tuple(canvas.png() for canvas in canvases)

    @classmethod
    def styles(cls) -> tuple[str, ...]:
        """Return the styles of the task's pictures; none for a task without pictures."""
        if not files(cls.folder()).joinpath("picture.toml").is_file():
            return ()
        return tuple(toml_file(cls.folder(), "picture.toml")["marks"])

    @classmethod
    def picture_rungs(cls) -> tuple[int, ...]:
        """Return the rungs of the ladder whose instances also get pictures."""
        if not cls.styles():
            return ()
        return tuple(toml_file(cls.folder(), "picture.toml").get("rungs", ()))

    def paper(self) -> list[PaperItem[ParamsT]]:
        """Return the instances of the fixed list in order, from ``instances.json``."""
        items = []
        for item in data_file(self.folder(), "instances.json")["instances"]:
            params = self.params_of(item["params"])
            items.append(PaperItem(params, item["difficulty"], item.get("seed")))
        return items

    def as_json(self, params: ParamsT) -> dict[str, JsonValue]:
        """Return an instance as JSON values."""
        # Faster than model_dump, which also checks its options.
        return self.params_model.__pydantic_serializer__.to_python(params, mode="json")  # type: ignore[no-any-return]

    def params_of(self, data: object) -> ParamsT:
        """Return the parameters of an instance from JSON values."""
        return self.params_model.model_validate(data)  # type: ignore[return-value]

    def case(self, point: PointT, seed: int) -> Case:
        """Return the case of a seed at a point; it does not depend on earlier cases.

        Raises:
            GenerationError: see `draw`.
        """
        return self.case_model(**self.rows_at(point)(seed))

    def rows_at(self, point: PointT) -> Callable[[int], dict[str, Any]]:
        """Return a function from seeds to cases at a point, as JSON values.

        For many cases this is faster than `case`, which validates each of them.
        """
        at: dict[str, JsonValue] = point.model_dump(mode="json", exclude={"count"})
        streams = Streams("case", self.task, self.draws, at, kind=self.stream)
        compose = self.compose

        def make(seed: int) -> dict[str, Any]:
            instance, text, target, facts = compose(point, streams.of(seed))
            return {
                "input": text,
                "target": target,
                "params": at.copy(),
                "seed": seed,
                "instance": instance,
                **facts,
            }

        return make

    def group(self, point: PointT, instance: Mapping[str, Any]) -> tuple[str, float]:
        """Return the group of an item, and the share of a point's items that the group may have.

        A builder defines groups if a small sample could otherwise consist of one kind of items, for
        which a blind guess is right. By default, all items are in one group.

        Args:
            point: the point at which the item was drawn.
            instance: its parameters as JSON values.
        """
        del point, instance
        return "", 1.0

    def point_of(self, case: Case) -> dict[str, JsonValue]:
        """Return the value of the release column ``point``: a case's parameters and facts."""
        facts = case.model_dump(mode="json", exclude=set(Case.model_fields))
        return {**case.params, **facts}

    def unprinted(self) -> frozenset[str]:
        """Return the facts and parameters that the column ``point`` must not contain."""
        facts = self.case_model.model_fields.keys() - Case.model_fields
        return self.space.unprinted | facts

    def generate_random(self, **params: object) -> list[dict[str, Any]]:
        """Make ``count`` cases at a point of the parameter space.

        Args:
            params: fields of `get_generation_schema`; missing fields get their defaults.

        Returns:
            One dictionary per case, as described by `get_result_schema`.

        Raises:
            pydantic.ValidationError: a field is invalid; the error names it, its bounds and value.
            GenerationError: see `draw`.
        """
        point: Any = self.get_generation_schema().model_validate(params)
        seeds = [self.rng.getrandbits(63) for _ in range(point.count)]
        make = self.rows_at(point)
        return [make(seed) for seed in seeds]

    def get_generation_schema(self) -> type[Point]:
        """Return the pydantic model of the parameters: bounds, defaults, descriptions."""
        return self.space

    def get_result_schema(self) -> type[BaseModel]:
        """Return the pydantic model of one case."""
        return self.case_model


@cache
def data_file(package: str, name: str) -> Any:  # noqa: ANN401  (the caller knows the type)
    """Return the content of a JSON file in a task's folder. It is cached: do not change it."""
    return json.loads(files(package).joinpath(name).read_text("utf-8"))


@cache
def toml_file(package: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file in a task's folder. It is cached: do not change it."""
    return tomllib.loads(files(package).joinpath(name).read_text("utf-8"))


@cache
def prompt_template(package: str, name: str = "prompt.txt") -> str:
    """Return the template of a task's prompt, from a file in its folder."""
    return files(package).joinpath(name).read_text("utf-8")


def reply_as(form: str, *, give: str = _GIVE) -> str:
    """Return the closing lines of a prompt, which describe the reply format.

    The form has names or dots in place of values, so that it is not an answer itself.
    """
    return (
        f"{give} as one JSON object of the form below, at the end of your reply.\n"
        f"Only the last JSON object in your reply counts.\n\n{form}\n"
    )


def parameter(
    default: object,
    description: str,
    kind: Kind | None = None,
    *,
    later: bool = False,
    **bounds: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Return the field of a parameter in a space.

    Args:
        default: its default value.
        description: its meaning, for schemas and documentation.
        kind: the kind of difficulty that it sets; tables group by it.
        later: whether it was added after the space's first release. If so, its default
            is omitted from points, so that older points keep their seeds.
        bounds: further arguments of `pydantic.Field`.
    """
    extra: Any = {"kind": kind} if kind else None
    if later:
        bounds["exclude_if"] = lambda value: value == default
    return Field(
        default=default, description=description, json_schema_extra=extra, **bounds
    )


def chance(default: float, description: str, kind: Kind) -> Any:  # noqa: ANN401
    """Return the field of a parameter from 0 to 1, see `parameter`."""
    return parameter(default, description, kind, ge=0, le=1)


def kinds_of(space: type[BaseModel]) -> Mapping[str, Kind]:
    """Return the kinds of a space's parameters, in the order of its fields."""
    kinds: dict[str, Kind] = {}
    for name, field in space.model_fields.items():
        extra = field.json_schema_extra
        if isinstance(extra, dict) and extra.get("kind") in KINDS:
            kinds[name] = extra["kind"]  # type: ignore[assignment]  # it is among the kinds
    return kinds


def without_right(answers: Mapping[str, Any], right: object) -> dict[str, JsonValue]:
    """Return the named answers that differ from the right one, because a mistake can lead to it."""
    return {name: answer for name, answer in answers.items() if answer != right}


def with_truths(numbers: Iterable[int]) -> list[int]:
    """Replace 0 by False and 1 by True, which are equal in Python."""
    truths = {0: False, 1: True}
    return [truths.get(number, number) for number in numbers]


def under(key: str, answers: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return named answers, each wrapped in an object with this key."""
    return {name: {key: answer} for name, answer in answers.items()}


def draw_direction(rng: Stream) -> tuple[float, float]:
    """Return the cosine and sine of a random angle."""
    # Math libraries differ in the last digits of sin and cos. So the point is a
    # rational point in the first quarter of the unit circle, turned by a random number
    # of right angles.
    t = rng.unit()
    quarter_turns = rng.below(4)
    x = (1 - t * t) / (1 + t * t)
    y = 2 * t / (1 + t * t)
    for _ in range(quarter_turns):
        x, y = -y, x
    return x, y


def plain(value: float) -> str:
    """Return a number with all its digits, without an exponent or a trailing ``.0``.

    >>> plain(6.0), plain(0.5), plain(-1.902113), plain(1e-05)
    ('6', '0.5', '-1.902113', '0.00001')
    """
    return f"{Decimal(repr(value)):f}".removesuffix(".0")
