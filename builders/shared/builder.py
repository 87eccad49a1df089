"""The interface of every builder, and what they all do alike.

A builder is also a generator over a parameter space, with the member names that users of task
manifolds know: `rng`, `generate_random`, `get_generation_schema`, `get_result_schema`.
"""

import json
import sys
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
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
# What is in a case besides its point and seed: instance, input, target and facts.
Composed = tuple[dict[str, JsonValue], str, str, dict[str, JsonValue]]


# Begins the closing lines of a prompt.
_GIVE = "Give your answer"


class Point(BaseModel):
    """A point of a builder's parameter space. Each builder adds its own parameters to `count`."""

    unprinted: ClassVar[frozenset[str]] = frozenset()
    """Parameters that would tell the answer; no row of a release holds them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    count: int = Field(
        default=1, ge=1, le=1_000_000, description="how many cases to make"
    )

    def _not_above(self, limit: int, *names: str) -> None:
        """Refuse parameters whose sum is above a limit."""
        if sum(getattr(self, name) for name in names) > limit:
            values = " and ".join(f"{name} ({getattr(self, name)})" for name in names)
            raise ValueError(f"{values} are more than {limit} together")


class Case(BaseModel):
    """One generated case. A builder with facts to tell has a subclass with a field for each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: str = Field(description="the full text put to a model")
    target: str = Field(
        description="a right answer; canonical JSON unless the task's is text"
    )
    params: dict[str, JsonValue] = Field(
        description="the point it was drawn at, without count"
    )
    seed: int = Field(description="with params, enough to make this one case again")
    instance: dict[str, JsonValue] = Field(
        description="the parameters that the grader uses"
    )


@dataclass(frozen=True, slots=True)
class PaperItem(Generic[ParamsT]):
    """One instance to be frozen: of the paper's list, or drawn.

    Attributes:
        params: its parameters.
        difficulty: easy, medium, hard or very-hard.
        seed: it was drawn with, if it was drawn.
        point: where it was drawn, with the facts of the case (`Builder.point_of`); None in a list.
        proves: whether its counter-references are stored as well. Of many cases that are drawn
            alike, a few are enough to prove a grader.
        name: what it is called within its task; by default its number.
    """

    params: ParamsT
    difficulty: str
    seed: int | None = None
    point: Mapping[str, JsonValue] | None = None
    proves: bool = True
    name: str = ""


class Builder(ABC, Generic[ParamsT, AnswerT, PointT]):
    """Makes the instances of one task.

    A subclass is named ``TaskBuilder``, gives its models as ``Builder[Params, Answer, Space]``,
    sets `task` and `version`, and writes `words` and `form` or else `prompt`, and three more
    methods: `reference`, `counter_references` and `draw`; and `images` if prompts carry pictures.

    Args:
        rng: the generator's only source of randomness; the runner seeds it. Without one, a stream
            named for the task is used.
    """

    task: ClassVar[str]
    """Id of the task."""
    version: ClassVar[int]
    """Raised whenever an instance or a prompt changes."""
    params_model: ClassVar[type[BaseModel]]
    answer_model: ClassVar[type[BaseModel]]
    space: ClassVar[type[Point]]
    """Pydantic model of the parameter space; all three are taken from the base's arguments."""
    case_model: ClassVar[type[Case]] = Case
    """Pydantic model of a case; one with facts has a field for each."""
    stream: ClassVar[type[Stream]] = Stream
    """Kind of stream that cases are drawn from."""
    form: ClassVar[str]
    """An answer as a prompt shows it, see `reply_as`; for tasks that do not write `prompt`."""
    extremes: ClassVar[tuple[Mapping[str, JsonValue], ...]] = ()
    """Points at the rim of the space, where the contract suite looks as well."""

    def __init_subclass__(cls) -> None:
        models = get_args(cls.__orig_bases__[0])  # type: ignore[attr-defined]  # it is generic
        if not any(isinstance(model, TypeVar) for model in models):
            cls.params_model, cls.answer_model, cls.space = models

    def __init__(self, rng: BitSource | None = None) -> None:
        self.rng: BitSource = Stream("builder", self.task) if rng is None else rng

    # What a task writes.

    def prompt(self, params: ParamsT) -> str:
        """Return the full text put to a model; it states every rule and tolerance of the grader.

        By default ``prompt.txt``, filled with `words`, and that the answer has the form `form`.
        """
        return prompt_template(self._folder()).format(**self.words(params)) + reply_as(
            self.form
        )

    def words(self, params: ParamsT) -> Mapping[str, object]:  # noqa: ARG002
        """Return what the names in the templates ``prompt.txt`` and ``terse.txt`` stand for."""
        return {}

    def images(self, params: ParamsT) -> tuple[bytes, ...]:  # noqa: ARG002
        """Return the PNG files that belong to the prompt; none for most tasks."""
        return ()

    @abstractmethod
    def reference(self, params: ParamsT) -> AnswerT:
        """Solve the instance. The answer must score 1.0.

        Raises:
            GenerationError: none was found; it always is for what `draw` gave.
        """

    @abstractmethod
    def counter_references(self, params: ParamsT) -> Mapping[str, JsonValue]:
        """Return at least three named answers that must score below 1, for every instance.

        Each is a mistake worth catching: a rule dropped, a near miss, a hole of an older grader.
        """

    @abstractmethod
    def draw(self, point: PointT, rng: Stream) -> ParamsT:
        """Draw one solvable instance.

        Raises:
            GenerationError: the point cannot give one within the builder's bound on work.
        """

    def facts(self, params: ParamsT) -> dict[str, JsonValue]:  # noqa: ARG002
        """Return what else is known of a case; the other fields of `case_model`."""
        return {}

    def baselines(self, params: ParamsT) -> Mapping[str, JsonValue]:  # noqa: ARG002
        """Return named answers without insight, for any instance of the space.

        The best one's score is the instance's floor, see `frozen_task`. Names are short
        and plain, such as "one row"; which answer has a name does not depend on the right one. A
        task where such answers score nothing, or where guesses are better told by `blind_floor`,
        has none.
        """
        return {}

    def best_baseline(self, params: ParamsT, grade: Callable[[Any, Any], Any]) -> float:
        """Return the best score of the answers without insight, of which there must be one."""
        answers = map(self.answer_model.model_validate, self.baselines(params).values())
        return max(float(grade(params, answer).score) for answer in answers)

    def blind_floor(self, params: ParamsT) -> float:  # noqa: ARG002
        """Return what the best blind guess or constant earns on average at an instance's point."""
        return 0.0

    def measure(self, params: ParamsT) -> float:
        """Return how hard an instance of the ladder is: the count that ``ladder.toml`` names.

        It depends on the instance alone, and rises from rung to rung in the mean.

        Raises:
            GenerationError: it rests on a search that came to nothing.
        """
        raise NotImplementedError(
            f"{self.task} has no measure, so no ladder can be drawn of it"
        )

    def target(self, params: ParamsT) -> str:
        """Return a right answer as text: the reference as canonical JSON."""
        return canonical_json(self.reference(params).model_dump(mode="json"))

    def solved(self, params: ParamsT) -> tuple[str, dict[str, JsonValue]]:
        """Return `target` and `facts`; overridden where both rest on the same work."""
        return self.target(params), self.facts(params)

    def compose(self, point: PointT, rng: Stream) -> Composed:
        """Draw an instance and say all that a case holds of it.

        Raises:
            GenerationError: see `draw`.
        """
        params = self.draw(point, rng)
        target, facts = self.solved(params)
        return self.as_json(params), self.prompt(params), target, facts

    # What all tasks share.

    @classmethod
    def _folder(cls) -> str:
        # A subclass may lie in a module without a folder.
        modules = (kind.__module__ for kind in cls.__mro__)
        return next(name for name in modules if hasattr(sys.modules[name], "__path__"))

    def terse(self, params: ParamsT) -> str | None:
        """Return a prompt that says only what the paper's says; None without a ``terse.txt``.

        It is for instances of the fixed list. The template is filled with `words`, and the prompt
        ends as the full one does: how an answer is written is not what the two differ in.
        """
        template = files(self._folder()).joinpath("terse.txt")
        if not template.is_file():
            return None
        _, mark, closing = self.prompt(params).rpartition(_GIVE)
        return f"{template.read_text('utf-8').format(**self.words(params))}\n{mark}{closing}"

    def pictured(
        self, params: ParamsT, style: str
    ) -> tuple[str, tuple[bytes, ...]] | None:
        """Return a prompt that leaves the data to pictures, and these; None if it cannot be.

        The task's ``picture.py`` draws (`draw` returns canvases), and ``picture.toml`` says what
        the prompt says in place of the data: ``instead`` of parts of ``prompt.txt``, ``words`` in
        place of those of `words`, and as ``{marks}`` what is seen in a style, see `styles`.
        """
        if style not in self.styles():
            return None
        drawing = import_module(f"{self._folder()}.picture")
        canvases = drawing.draw(params, style)
        if not canvases:
            return None
        table = toml_file(self._folder(), "picture.toml")
        text = prompt_template(self._folder())
        for part in table.get("instead", ()):
            if text.count(part["of"]) != 1:
                raise ValueError(
                    f"{self.task}: prompt.txt must say once: {part['of']!r}"
                )
            text = text.replace(part["of"], part["say"])
        words = {
            **self.words(params),
            **table.get("words", {}),
            "marks": table["marks"][style],
        }
        if hasattr(drawing, "words"):
            words |= drawing.words(params)
        prompt = text.format(**words) + reply_as(table.get("form") or self.form)
        return prompt, tuple(canvas.png() for canvas in canvases)

    @classmethod
    def styles(cls) -> tuple[str, ...]:
        """Return the styles in which its pictures are drawn; none for a task without them."""
        if not files(cls._folder()).joinpath("picture.toml").is_file():
            return ()
        return tuple(toml_file(cls._folder(), "picture.toml")["marks"])

    @classmethod
    def picture_rungs(cls) -> tuple[int, ...]:
        """Return the rungs of the ladder whose instances are drawn as well."""
        drawn = bool(cls.styles())
        return tuple(
            toml_file(cls._folder(), "picture.toml").get("rungs", ()) if drawn else ()
        )

    def paper(self) -> list[PaperItem[ParamsT]]:
        """Return the instances of the fixed list in order, from its ``instances.json``."""
        return [
            PaperItem(
                self._params(item["params"]), item["difficulty"], item.get("seed")
            )
            for item in data_file(self._folder(), "instances.json")["instances"]
        ]

    def as_json(self, params: ParamsT) -> dict[str, JsonValue]:
        """Return an instance as JSON values."""
        # Quicker than model_dump, which is this with checks of its options.
        return self.params_model.__pydantic_serializer__.to_python(params, mode="json")  # type: ignore[no-any-return]

    def _params(self, data: object) -> ParamsT:
        return self.params_model.model_validate(data)  # type: ignore[return-value]

    def case(self, point: PointT, seed: int) -> Case:
        """Make the case that this seed gives at this point, whatever was made before.

        Raises:
            GenerationError: see `draw`.
        """
        return self.case_model(**self.rows_at(point)(seed))

    def rows_at(self, point: PointT) -> Callable[[int], dict[str, Any]]:
        """Return what makes cases at a point from their seeds, as JSON values.

        Faster for many cases than `case`, which validates each.
        """
        at: dict[str, JsonValue] = point.model_dump(mode="json", exclude={"count"})
        streams = Streams("case", self.task, self.version, at, kind=self.stream)
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

    def point_of(self, case: Case) -> dict[str, JsonValue]:
        """Return what a release's column ``point`` holds of a case: parameters and facts."""
        facts = case.model_dump(mode="json", exclude=set(Case.model_fields))
        return {**case.params, **facts}

    def unprinted(self) -> frozenset[str]:
        """Return what no row's column ``point`` may hold: facts, and parameters that tell."""
        return self.space.unprinted | (
            self.case_model.model_fields.keys() - Case.model_fields
        )

    def generate_random(self, **params: object) -> list[dict[str, Any]]:
        """Make ``count`` cases at a point of the parameter space.

        Args:
            params: fields of `get_generation_schema`; the others take their defaults.

        Returns:
            One dictionary per case, as `get_result_schema` describes it.

        Raises:
            pydantic.ValidationError: naming each bad field, its bounds and what was given.
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
def data_file(package: str, name: str) -> Any:  # noqa: ANN401  (its reader knows what it holds)
    """Return what a JSON file in a task's folder holds; it is read once, and not to be changed."""
    return json.loads(files(package).joinpath(name).read_text("utf-8"))


@cache
def toml_file(package: str, name: str) -> dict[str, Any]:
    """Return what a TOML file in a task's folder holds; it is read once, and not to be changed."""
    return tomllib.loads(files(package).joinpath(name).read_text("utf-8"))


@cache
def prompt_template(package: str, name: str = "prompt.txt") -> str:
    """Return the text of a task's prompt, from a file in its folder, to be formatted."""
    return files(package).joinpath(name).read_text("utf-8")


def reply_as(form: str, *, give: str = _GIVE) -> str:
    """Return the closing lines of a prompt, which say how the answer is to be given.

    The form has names or dots for what is to be filled in, so that it is not itself an answer.
    """
    return (
        f"{give} as one JSON object of the form below, as the last thing in your reply.\n"
        f"The last JSON object in your reply counts.\n\n{form}\n"
    )


# Length or scale, depth, interference, semantic complexity.
Kind = Literal["scale", "depth", "interference", "semantic"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def parameter(
    default: object,
    description: str,
    kind: Kind | None = None,
    *,
    later: bool = False,
    **bounds: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Return the field of a parameter in a space, with what else `pydantic.Field` takes.

    The kind is that of the difficulty that it sets, where tables group by it. One that a space got
    later is left out of points at its default, so that older points and their seeds stay.
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
    """Return the kind of every parameter of a space that has one, in the order of its fields."""
    kinds: dict[str, Kind] = {}
    for name, field in space.model_fields.items():
        extra = field.json_schema_extra
        if isinstance(extra, dict) and extra.get("kind") in KINDS:
            kinds[name] = extra["kind"]  # type: ignore[assignment]  # it is among the kinds
    return kinds


def under(key: str, answers: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return named answers, each as an object that has it under this key."""
    return {name: {key: answer} for name, answer in answers.items()}


def draw_direction(rng: Stream) -> tuple[float, float]:
    """Return cosine and sine of a random angle; those of libraries differ, so none is asked."""
    t, quarter = rng.unit(), rng.below(4)
    x, y = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    for _ in range(quarter):
        x, y = -y, x
    return x, y


def plain(value: float) -> str:
    """Return every digit of a number, without an exponent or a useless ``.0``.

    >>> plain(6.0), plain(0.5), plain(-1.902113), plain(1e-05)
    ('6', '0.5', '-1.902113', '0.00001')
    """
    return f"{Decimal(repr(value)):f}".removesuffix(".0")
