"""SVG shapes: a path of numbers, and ten kinds of shape that it could draw."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from pydantic import Field, JsonValue

from scbench.builders.shared.builder import Case, Point, prompt_template
from scbench.builders.shared.parameters import parameter
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.builders.svg_shapes.paths import Frame, outline, path_of, roughened
from scbench.schemas.svg_shapes import Answer, Kind, Params
from scbench.seeding import Stream

KINDS: tuple[Kind, ...] = get_args(Kind)
_LETTERS = "ABCDEFGHIJ"
_MEANINGS: Mapping[Kind, str] = {
    "triangle": "three straight sides",
    "rectangle": "four straight sides, opposite ones equally long and parallel, at right angles; "
    "a square is a rectangle, too",
    "trapezoid": "four straight sides, exactly two of them parallel",
    "kite": "four straight sides, two neighbouring ones equally long, the two others equally long "
    "as well and clearly longer",
    "pentagon": "five straight sides, no corner points inwards",
    "hexagon": "six straight sides, no corner points inwards",
    "star": "five tips with straight sides between them, every second corner points inwards",
    "ellipse": "one round curve without corners; a circle is an ellipse, too",
    "half_ellipse": "one straight side through the centre of an ellipse, along one of its axes, "
    "and half of that ellipse",
    "sector": "two straight sides from the centre of an ellipse to its rim, and the part of the "
    "rim between them, less than half of it, like a slice of a pie",
}
_ROUND: tuple[Kind, ...] = ("ellipse", "half_ellipse", "sector")
_STRAIGHT: Mapping[int, Kind] = {3: "triangle", 5: "pentagon", 6: "hexagon", 10: "star"}
_FOUR_SIDED: tuple[Kind, ...] = ("rectangle", "kite", "trapezoid")
_QUARTERS = 0.11
"""How far from its middle a diagonal has to be cut to count as not halved."""

_RULES = prompt_template(__name__)


class Space(Point):
    """Parameters of drawings."""

    shape: Kind | Literal["any"] = parameter(
        "any", "which shape it is, or any of the ten", "semantic"
    )
    rotation: int = parameter(
        180, "most degrees that it is turned by, either way", "interference", ge=0, le=180
    )
    scale: int = parameter(100, "about how long it is, in units", "scale", ge=10, le=1000)
    aspect: float = parameter(
        2.0, "most that it is stretched, in one direction", "interference", ge=1, le=3
    )
    noise: float = parameter(
        0.0,
        "how far points can be off, as a share of the narrowest gap between two of them",
        "interference",
        ge=0,
        le=0.05,
    )
    commands: Literal["absolute", "relative"] = parameter(
        "absolute", "whether coordinates are counted from the last point", "semantic"
    )
    segments: int = parameter(
        4, "pieces of a curve; those that close have at least two", "scale", ge=1, le=12
    )


class SvgShapesCase(Case):
    """A case of SVG shapes."""

    lines: int = Field(ge=0, description="straight sides, drawn or closing")
    curves: int = Field(ge=0, description="pieces of curves")
    characters: int = Field(ge=1, description="length of the path data")


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Outlines with two decimals, each kind and each letter equally likely."""

    task = "svg_shapes"
    version = 2
    case_model = SvgShapesCase
    guess_rate = 1 / len(KINDS)
    extremes = (
        {"rotation": 0, "aspect": 1, "segments": 1, "scale": 10},
        {"scale": 1000, "aspect": 3, "noise": 0.05, "commands": "relative", "segments": 12},
        {"shape": "kite", "noise": 0.05, "aspect": 3, "scale": 10},
        {"shape": "half_ellipse", "segments": 1},
        {"shape": "ellipse", "segments": 6, "commands": "relative"},
    )

    def prompt(self, params: Params) -> str:
        """Return the path and what each kind means."""
        options = "\n".join(
            f"{letter}) {named(kind)}: {_MEANINGS[kind]}"
            for letter, kind in zip(_LETTERS, params.options, strict=True)
        )
        return _RULES.format(path=params.path, options=options) + reply_short(
            f"the letter or the name of one option, {_LETTERS[0]} to {_LETTERS[-1]}"
        )

    def reference(self, params: Params) -> Answer:
        """Count sides, and tell those with four apart by where their diagonals meet."""
        return Answer(answer=named(_kind(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return kinds that miscounting leads to, other letters, and answers that are no option."""
        right = _kind(params)
        at = params.options.index(right)
        other = params.options[at - 1]
        lines, curves = sides(params.path)
        by_count: dict[int, Kind] = {3: "triangle", 4: "rectangle", 5: "pentagon", 6: "hexagon"}
        mistakes: dict[str, Kind | None] = {
            "all_pieces_are_sides": by_count.get(len(lines) + curves),
            "one_side_too_many": by_count.get(len(lines) + curves + 1),
            "one_side_too_few": by_count.get(len(lines) + curves - 1),
            "whole_for_a_part": "ellipse" if curves else None,
            "other_part": "sector" if right == "half_ellipse" else None,
            "another_of_four_sides": "trapezoid" if right == "kite" else None,
            "the_one_before": other,
        }
        wrong: dict[str, JsonValue] = {
            name: named(kind)
            for name, kind in mistakes.items()
            if kind not in {None, right} and kind
        }
        wrong |= {
            "another_letter": _LETTERS[at - 1],
            "letter_and_name_disagree": f"{_LETTERS[at]}) {named(other)}",
            "two_names": f"{named(right)} or {named(other)}",
            "place": at + 1,
            "listed": [named(right)],
            "path": params.path,
        }
        return {name: {"answer": answer} for name, answer in wrong.items()}

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return how much there is to read."""
        lines, curves = sides(params.path)
        return {"lines": len(lines), "curves": curves, "characters": len(params.path)}

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw an outline, lay it on the page, and write it down."""
        options = list(KINDS)
        rng.shuffle(options)
        kind = rng.choice(KINDS) if point.shape == "any" else point.shape
        stretch = rng.uniform(1, point.aspect)
        corners = outline(kind, stretch, point.segments, rng)
        frame = Frame(
            mirror=1 if rng.below(2) else -1,
            degrees=rng.between(-point.rotation, point.rotation),
            size=point.scale / 2 / stretch * rng.uniform(0.8, 1),
            centre=(point.scale * rng.uniform(0.8, 2), point.scale * rng.uniform(0.8, 2)),
        )
        path = path_of(
            roughened(corners, point.noise, rng),
            frame,
            stretch,
            rng,
            relative=point.commands == "relative",
            rough=point.noise > 0,
        )
        return Params(path=path, options=tuple(options))


def named(kind: str) -> str:
    """Return a kind as prompts name it."""
    return kind.replace("_", " ")


def sides(path: str) -> tuple[list[complex], int]:
    """Return where the straight sides of a path begin, in order, and its number of curves."""
    found: list[complex] = []
    curves = 0
    here = start = 0j
    for word, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = [float(number) for number in re.split(r"[ ,]+", text.strip()) if number]
        there = complex(*numbers[-2:]) + (here if word.islower() else 0) if numbers else start
        if word in "Mm":
            start = there
        elif word in "CcAa":
            curves += 1
        # Sums of decimals are not exact; distances below a hundredth are none.
        elif abs(there - here) > 0.005:
            found.append(here)
        here = there
    return found, curves


def _kind(params: Params) -> Kind:
    lines, curves = sides(params.path)
    if curves:
        return _ROUND[len(lines)]
    if len(lines) == 4:
        return _four_sided(lines)
    return _STRAIGHT[len(lines)]


def _four_sided(corners: Sequence[complex]) -> Kind:
    """Tell a rectangle, a trapezoid and a kite apart: both, none or one diagonal is halved."""
    a, b, c, d = corners
    across = ((c - a).conjugate() * (d - b)).imag
    first = ((b - a).conjugate() * (d - b)).imag / across
    second = ((b - a).conjugate() * (c - a)).imag / across
    uneven = sum(abs(share - 0.5) > _QUARTERS for share in (first, second))
    return _FOUR_SIDED[uneven]
