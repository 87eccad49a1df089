"""SVG shapes: name the shape that a path draws, out of ten kinds.

An example of the puzzle, with the answer B or triangle:

    M 10,80 L 40,20 C 40,20 70,80 70,80 L 30,80 Z
    A) kite    B) triangle    C) sector    ...

Straight sides are drawn in several pieces, as lines or as straight curves. So every kind can have
the same numbers of commands, and only geometry distinguishes them.
"""

import re
from collections.abc import Mapping
from typing import ClassVar, Literal, get_args

from pydantic import Field, JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Case,
    Point,
    data_file,
    parameter,
    prompt_template,
    under,
)
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.builders.svg_shapes.outlines import divide_sides, outline, shift_points
from scbench.builders.svg_shapes.paths import Frame, path_of
from scbench.builders.svg_shapes.sides import is_blurred, kind_of, sides_of
from scbench.schemas.svg_shapes import Answer, Kind, Params

KINDS: tuple[Kind, ...] = get_args(Kind)
_LETTERS = "ABCDEFGHIJ"
# The kinds that a number of sides suggests.
_BY_COUNT: Mapping[int, Kind] = {
    3: "triangle",
    4: "rectangle",
    5: "pentagon",
    6: "hexagon",
}
# Minimum number of pieces of an outline: a star needs this many. Only outlines of curves alone
# have fewer.
_PIECES = 10
# Maximum number of outlines drawn until one is clear.
_TRIES = 500


class Space(Point):
    """Parameters of drawings."""

    unprinted: ClassVar = frozenset({"shape"})

    shape: Kind | Literal["any"] = parameter(
        "any",
        "kind of shape; with 'any', one of the ten kinds is drawn at random",
        "semantic",
    )
    rotation: int = parameter(
        180,
        "largest rotation in degrees, in either direction",
        "interference",
        ge=0,
        le=180,
    )
    scale: int = parameter(
        100, "approximate length of the shape, in units", "scale", ge=10, le=1000
    )
    aspect: float = parameter(
        2.0,
        "largest factor by which the shape is stretched in one direction",
        "interference",
        ge=1,
        le=3,
    )
    noise: float = parameter(
        0.0,
        "largest error in the position of a point, as a share of the smallest distance between "
        "two points",
        "interference",
        ge=0,
        le=0.05,
    )
    commands: Literal["absolute", "relative"] = parameter(
        "absolute",
        "whether coordinates are absolute, or relative to the last point",
        "semantic",
    )
    segments: int = parameter(
        4,
        "number of pieces of a curve; closed curves have at least two",
        "scale",
        ge=1,
        le=40,
    )


class SvgShapesCase(Case):
    """A case of SVG shapes."""

    kind: Kind = Field(description="the kind of shape")
    lines: int = Field(ge=0, description="number of commands that draw lines")
    curves: int = Field(
        ge=0,
        description="number of curve commands, some of which may draw straight lines",
    )
    characters: int = Field(ge=1, description="length of the path data")


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Outlines with two decimals. All kinds and letters are equally likely."""

    task = "svg_shapes"
    version = 3
    draws = 2
    case_model = SvgShapesCase
    extremes = (
        {"rotation": 0, "aspect": 1, "segments": 1, "scale": 10},
        {
            "scale": 1000,
            "aspect": 3,
            "noise": 0.05,
            "commands": "relative",
            "segments": 12,
        },
        {"shape": "kite", "noise": 0.05, "aspect": 3, "scale": 10},
        {"shape": "half_ellipse", "segments": 1},
        {"shape": "ellipse", "segments": 6, "commands": "relative"},
    )

    def prompt(self, params: Params) -> str:
        """Return the path and the meaning of each kind."""
        meanings = data_file(__package__, "meanings.json")
        options = []
        for letter, kind in zip(_LETTERS, params.options, strict=True):
            name = kind_name(kind)
            options.append(f"{letter}) {name}: {meanings[kind]}")
        question = prompt_template(__name__).format(
            path=params.path, options="\n".join(options)
        )
        return question + reply_short(
            f"the letter or the name of one option, {_LETTERS[0]} to {_LETTERS[-1]}"
        )

    def reference(self, params: Params) -> Answer:
        """Count sides; shapes with four sides are identified by where their diagonals meet."""
        return Answer(answer=kind_name(right_kind(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the results of miscounting, other letters, and answers that are not options."""
        right = right_kind(params)
        position = params.options.index(right)
        neighbour = params.options[position - 1]
        sides = sides_of(params.path)
        n = len(sides)
        mistakes: dict[str, Kind | None] = {
            "all_sides_are_straight": _BY_COUNT.get(n),
            "one_side_too_many": _BY_COUNT.get(n + 1),
            "one_side_too_few": _BY_COUNT.get(n - 1),
        }
        if any(side.is_curved for side in sides):
            mistakes["whole_for_a_part"] = "ellipse"
        if right == "half_ellipse":
            mistakes["other_part"] = "sector"
        if right == "kite":
            mistakes["another_of_four_sides"] = "trapezoid"
        mistakes["the_one_before"] = neighbour
        wrong: dict[str, JsonValue] = {}
        for name, kind in mistakes.items():
            if kind and kind != right:
                wrong[name] = kind_name(kind)
        wrong |= {
            "another_letter": _LETTERS[position - 1],
            "letter_and_name_disagree": f"{_LETTERS[position]}) {kind_name(neighbour)}",
            "two_names": f"{kind_name(right)} or {kind_name(neighbour)}",
            "place": position + 1,
            "listed": [kind_name(right)],
            "path": params.path,
        }
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the kind of shape and the length of the path."""
        words = params.path.upper()
        return {
            "kind": right_kind(params),
            "lines": words.count("L"),
            "curves": words.count("C") + words.count("A"),
            "characters": len(params.path),
        }

    def measure(self, params: Params) -> float:
        """Return how many numbers the path contains, doubled if coordinates are relative."""
        numbers = len(re.findall(r"\d+(?:\.\d+)?", params.path))
        is_relative = params.path[0] == "m"
        return 2 * numbers if is_relative else numbers

    def blind_floor(self, params: Params) -> float:
        """Return 1 divided by the number of kinds.

        The prompt does not reveal whether a point of the space allows only one kind.
        """
        return 1 / len(params.options)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw an outline, place it on the page, and write its path."""
        options = list(KINDS)
        rng.shuffle(options)
        kind = rng.choice(KINDS) if point.shape == "any" else point.shape
        for _ in range(_TRIES):
            path = draw_path(kind, point, rng)
            if not is_blurred(path) and kind_of(path) == kind:
                return Params(path=path, options=tuple(options))
        raise GenerationError(
            f"no clear {kind_name(kind)} of this size in {_TRIES} draws; use a larger scale or "
            "fewer segments"
        )


def kind_name(kind: str) -> str:
    """Return a kind as prompts name it."""
    return kind.replace("_", " ")


def right_kind(params: Params) -> Kind:
    """Return the kind of shape that the path draws."""
    kind = kind_of(params.path)
    if kind is None:
        raise ValueError("the path draws none of the ten shapes")
    return kind


def draw_path(kind: Kind, point: Space, rng: Stream) -> str:
    """Draw an outline of a kind, its place on the page, and the commands that draw it."""
    stretch = rng.uniform(1, point.aspect)
    # All kinds have as many curves as kinds with a curved side.
    cubics = max(2, point.segments)
    pieces = max(_PIECES, cubics + 2) + rng.below(5)
    smooth = outline(kind, stretch, point.segments, rng)
    corners = shift_points(smooth, point.noise, rng)
    frame = Frame(
        mirror=1 if rng.below(2) else -1,
        degrees=rng.between(-point.rotation, point.rotation),
        size=point.scale / 2 / stretch * rng.uniform(0.8, 1),
        centre=(point.scale * rng.uniform(0.8, 2), point.scale * rng.uniform(0.8, 2)),
        stretch=stretch,
    )
    return path_of(
        divide_sides(corners, pieces, rng),
        frame,
        rng,
        relative=point.commands == "relative",
        rough=point.noise > 0,
        cubics=cubics,
    )
