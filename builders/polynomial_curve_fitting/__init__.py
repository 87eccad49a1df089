"""Polynomial curve fitting: prompts, fresh pictures, and a solver by linear programming."""

import math
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.polynomial_curve_fitting.baselines import baselines
from scbench.builders.polynomial_curve_fitting.png import indexed_png, magnified
from scbench.builders.polynomial_curve_fitting.separating_polynomial import (
    as_text,
    row_by_row,
    separate,
)
from scbench.builders.shared.builder import Builder, Point, prompt_template, reply_as
from scbench.builders.shared.parameters import parameter
from scbench.graders.polynomial_curve_fitting.formula import (
    MAX_BRACKETS,
    MAX_CHARACTERS,
    MAX_DEGREE,
    MAX_EXPONENT,
    MAX_NODES,
    MAX_NUMBER,
)
from scbench.graders.polynomial_curve_fitting.formula_values import (
    MAX_BITS,
    MAX_BYTES,
    MAX_WORK,
    WORD_BITS,
)
from scbench.schemas.polynomial_curve_fitting import Answer, Params

_TRIES = 60
_WORK = 5_000_000
"""Terms of polynomials times cells that one draw may look at."""
_MAX_DEGREE = 10
_IMAGE_FROM = 48
_WHITE_BLACK = ((255, 255, 255), (0, 0, 0))
_LEAST_GAP = 1e-9
_LEAST_SHARE = 0.1

_PROMPT = prompt_template(__name__)
_QUOTING = "The text goes into one JSON string, in which a line break is written as \\n.\n"

_TEXT_PICTURE = """\
Below is a picture of {n} x {n} cells. # is a black cell and . is a white one.

{grid}"""

_IMAGE_SHOWN = """\
The attached image shows a picture of {n} x {n} cells, each black or white."""
_IMAGE_PICTURE = """\
The attached image is a picture of {n} x {n} cells. Every cell is a square of {factor} x {factor}
pixels, so the image measures {side} x {side} pixels; there are no lines between cells and there is
no border. A cell is either black or white."""


class Space(Point):
    """Parameters of pictures: bright blobs, dark hollows and waves, smoothed, cut at a level."""

    size: int = parameter(
        24, "rows and columns; from 48 on the prompt shows the picture as an image", ge=8, le=128
    )
    fill: float = parameter(0.45, "share of black cells", ge=0.2, le=0.8)
    blobs: int = parameter(4, "number of bright blobs", ge=1, le=12)
    hollows: int = parameter(1, "number of dark blobs", ge=0, le=6)
    waves: int = parameter(2, "number of faint waves", ge=0, le=4)
    frequency: int = parameter(2, "most periods of a wave across the picture", ge=1, le=3)
    swell: int = parameter(
        1,
        "how many times as high waves are; above 1 they wind the edge",
        ge=1,
        le=10,
        exclude_if=lambda value: value == 1,
    )
    smoothing: int = parameter(2, "times that the field is smoothed", ge=0, le=6)
    min_degree: int = parameter(3, "least total degree that can draw every cell right", ge=1, le=10)
    max_degree: int = parameter(6, "largest value that this least degree may have", ge=1, le=10)

    @model_validator(mode="after")
    def _ordered(self) -> "Space":
        if self.min_degree > self.max_degree:
            raise ValueError(f"min_degree {self.min_degree} is above max_degree {self.max_degree}")
        return self


class RandomSource(Protocol):
    """What `field` needs of a source of random numbers."""

    def uniform(self, low: float, high: float) -> float:
        """Return a float from low to high."""
        ...

    def between(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        ...

    def unit(self) -> float:
        """Return a float in [0, 1)."""
        ...


class TaskBuilder(Builder[Params, Answer, Space]):
    """Pictures that some polynomial of low degree draws without an error."""

    task = "polynomial_curve_fitting"
    version = 2

    def words(self, params: Params) -> dict[str, object]:
        """Return the picture, or where to find it, and the limits of a formula."""
        n = len(params.grid)
        if n >= _IMAGE_FROM:
            factor = _pixels_per_cell(n)
            picture = _IMAGE_PICTURE.format(n=n, factor=factor, side=n * factor)
            brief = _IMAGE_SHOWN.format(n=n)
        else:
            picture = _TEXT_PICTURE.format(n=n, grid="\n".join(_ruled(params.grid)))
            brief = picture
        return {
            "picture": picture,
            "n": n,
            "last": n - 1,
            "cells": n * n,
            "number": MAX_NUMBER,
            "exponent": MAX_EXPONENT,
            "degree": MAX_DEGREE,
            "characters": MAX_CHARACTERS,
            "nodes": MAX_NODES,
            "brackets": MAX_BRACKETS,
            "bits": MAX_BITS,
            "largest": sys.float_info.max,
            "work": MAX_WORK,
            "bytes": MAX_BYTES,
            "word": WORD_BITS,
            "shown": brief,
        }

    def prompt(self, params: Params) -> str:
        """Return the picture, or where to find it, and the rules."""
        return _PROMPT.format(**self.words(params)) + _QUOTING + reply_as('{"function": text}')

    def images(self, params: Params) -> tuple[bytes, ...]:
        """Return the picture as a PNG file if the prompt does not print it."""
        n = len(params.grid)
        if n < _IMAGE_FROM:
            return ()
        cells = [[int(cell == "#") for cell in row] for row in params.grid]
        return (indexed_png(magnified(cells, _pixels_per_cell(n)), _WHITE_BLACK),)

    def reference(self, params: Params) -> Answer:
        """Solve linear programs of rising degree; failing that, draw row by row."""
        return Answer(function=_solve(params))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return other readings of the picture, near misses, and what older graders let pass."""
        text = _solve(params)
        wrong: dict[str, JsonValue] = dict(_misreadings(params.grid, text))
        wrong |= _loopholes(params.grid, text)
        answers: dict[str, JsonValue] = {
            name: {"function": example} for name, example in wrong.items()
        }
        return answers | {
            "no_function": {},
            "misspelt_key": {"formula": text},
            "coefficients": {"function": [[1, 0], [0, -1]]},
            "bare_text": text,
        }

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return a line and a conic through the picture."""
        return baselines(params)

    def measure(self, params: Params) -> float:
        """Return the least total degree that draws every cell right.

        Raises:
            GenerationError: none that is tried does.
        """
        for degree in range(1, _MAX_DEGREE + 1):
            if separate(params.grid, degree).possible:
                return degree
        raise GenerationError(f"no degree up to {_MAX_DEGREE} draws this picture")

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw pictures until one needs a degree in the wanted range.

        Raises:
            GenerationError: no such picture in 60 tries, or fewer if they are large.
        """
        terms = (point.max_degree + 1) * (point.max_degree + 2) // 2
        tries = min(_TRIES, max(2, _WORK // (terms * point.size**2)))
        for _ in range(tries):
            grid = _cut(field(point, rng), point.fill)
            if grid is None:
                continue
            black = sum(row.count("#") for row in grid) / point.size**2
            if (
                _LEAST_SHARE <= black <= 1 - _LEAST_SHARE
                and separate(grid, point.min_degree - 1).possible is False
                and separate(grid, point.max_degree).possible is True
            ):
                return Params(grid=grid)
        raise GenerationError(
            f"no picture of {point.size} x {point.size} cells that needs a degree from "
            f"{point.min_degree} to {point.max_degree} came up in {tries} tries; ask for a wider "
            "range of degrees, or for more blobs and waves if the degree is to be high"
        )


@lru_cache(maxsize=64)
def _solve(params: Params) -> str:
    for degree in range(1, _MAX_DEGREE + 1):
        separation = separate(params.grid, degree)
        if separation.coefficients is not None:
            return as_text(separation.coefficients, len(params.grid))
    return row_by_row(params.grid)


def field(point: Space, rng: RandomSource) -> NDArray[np.float64]:
    """Return the smooth field that a picture is cut from, as a (row, column) array.

    The numbers are drawn in the order of the paper's generator.
    """
    n = point.size
    line = np.arange(n, dtype=float)
    total = np.zeros((n, n))

    def blob(spread: tuple[float, float], height: tuple[float, float]) -> NDArray[np.float64]:
        cx, cy = rng.uniform(0, n - 1), rng.uniform(0, n - 1)
        width = rng.uniform(spread[0] * n, spread[1] * n)
        peak = rng.uniform(*height)
        across, down = (
            np.array([math.exp(-((k - c) ** 2) / (2 * width * width)) for k in line])
            for c in (cx, cy)
        )
        return np.asarray(peak * down[:, None] * across[None, :])

    for _ in range(point.blobs):
        total += blob((0.18, 0.38), (0.9, 1.6))
    for _ in range(point.hollows):
        total -= blob((0.25, 0.5), (0.4, 0.9))
    for _ in range(point.waves):
        fx, fy = rng.between(1, point.frequency), rng.between(1, point.frequency)
        phase = rng.uniform(0, 2 * math.pi)
        height = point.swell * rng.uniform(0.05, 0.12)
        height = height if rng.unit() > 0.5 else -height
        across = [2 * math.pi * k * fx / n for k in range(n)]
        down = [2 * math.pi * k * fy / n + phase for k in range(n)]
        sin_x, cos_x = (np.array([f(a) for a in across]) for f in (math.sin, math.cos))
        sin_y, cos_y = (np.array([f(a) for a in down]) for f in (math.sin, math.cos))
        total += height * (sin_y[:, None] * cos_x[None, :] + cos_y[:, None] * sin_x[None, :])
    for _ in range(point.smoothing):
        for axis in (0, 1):
            edged = np.pad(total, [(1, 1) if k == axis else (0, 0) for k in (0, 1)], mode="edge")
            low, middle, high = (
                np.take(edged, np.arange(start, start + n), axis) for start in range(3)
            )
            total = (low + 2 * middle + high) / 4
    return total


def _cut(total: NDArray[np.float64], fill: float) -> tuple[str, ...] | None:
    """Return the picture of what reaches the level that leaves this share black.

    None if the level is so close to the next lower value that machines could differ.
    """
    ordered = np.sort(total, axis=None)
    k = int((1 - fill) * (total.size - 1))
    if k == 0 or ordered[k] - ordered[k - 1] < _LEAST_GAP:
        return None
    level = (ordered[k] + ordered[k - 1]) / 2
    return tuple("".join("#" if value > level else "." for value in row) for row in total)


def _pixels_per_cell(n: int) -> int:
    return max(8, min(16, 768 // n))


def _ruled(grid: tuple[str, ...]) -> Iterator[str]:
    """Yield the rows with their numbers, below the numbers of the columns."""
    n = len(grid)
    if n > 10:
        yield "       " + "".join(str(x // 10) if x % 10 == 0 else " " for x in range(n))
    yield "    x  " + "".join(str(x % 10) for x in range(n))
    for y, row in enumerate(grid):
        yield f"y = {y:<2} {row}" if n > 10 else f"y = {y}  {row}"


def _misreadings(grid: tuple[str, ...], text: str) -> Iterator[tuple[str, str]]:
    """Yield right formulas spoilt by one mistake that changes the picture."""
    n = len(grid)
    head, _, body = text.partition("return ")
    yield "black_and_white_exchanged", f"{head}return -({body})"
    # The factor is negative in one cell only.
    yield "one_cell_wrong", f"{head}return ({body})*(2*(x-{n // 2})**2+2*(y-{n // 3})**2-1)"
    if grid != tuple("".join(column) for column in zip(*grid, strict=True)):
        exchanged = body.translate(str.maketrans("xy", "yx"))
        yield "x_and_y_exchanged", f"{head}return {exchanged}"
    if grid != grid[::-1]:
        yield "rows_from_the_bottom", head + "return " + body.replace("y", f"({n - 1}-y)")
    if grid != tuple(row[::-1] for row in grid):
        yield "columns_from_the_right", head + "return " + body.replace("x", f"({n - 1}-x)")
    yield "all_black", f"{head}return x**2 + y**2 + 1"
    yield "all_white", f"{head}return 0*x*y"


def _loopholes(grid: tuple[str, ...], text: str) -> dict[str, JsonValue]:
    """Return texts that draw the picture if they are run as Python, and others that must not be."""
    head, _, body = text.partition("return ")
    table = "[" + ", ".join(f"[{', '.join(str(int(c == '#')) for c in row)}]" for row in grid) + "]"
    n = len(grid)
    bits = int("".join(grid)[::-1].translate(str.maketrans("#.", "10")), 2)
    look_alike = "\N{MATHEMATICAL ITALIC SMALL X}"
    return {
        "list_look_up": f"{head}return {table}[y][x] + 0*x*y",
        "bit_look_up": f"{head}return {bits:#x} >> ({n}*y + x) & 1",
        "look_alike_letters": f"{head}return {body.replace('x', look_alike)}",
        "look_alike_builtin": f"{head}return ({body})*\N{FULLWIDTH LATIN SMALL LETTER L}en((x, y))",
        "comparison": f"{head}return ({body}) > 0",
        "condition": f"{head}return 1 if ({body}) > 0 else 0",
        "local_variable": f"{head}xx = {body}\n    return xx + 0*x*y",
        "two_functions": f"{text}\n\n{head}return x + y + 1",
        "text_after_it": f"{text}\n\nf(0, 0)",
        "comment": f"{text}  # fits every cell",
        "fenced": f"```python\n{text}\n```",
        "annotations": f"def f(x: int, y: int) -> int:\n    return {body}",
        "default_values": f"def f(x=0, y=0):\n    return {body}",
        "lambda": f"f = lambda x, y: {body}",
        "formula_only": body,
        "caret": f"{head}return {body.replace('**', '^')}",
        "rational": f"{head}return ({body})/(1 + x**2 + y**2)",
        "negative_power": f"{head}return ({body})*(1 + x**2 + y**2)**-1",
        "root": f"{head}return ({body})*(1 + x**2 + y**2)**0.5",
        "power_of_x": f"{head}return ({body})*2**x",
        "whole_division": f"{head}return ({body})*2//2",
        "tower": f"{head}return ({body})*9**9**9",
        "degree_too_high": f"{head}return ({body})*((x**2 + y**2 + 1)**500)**2",
        "division_by_zero": f"{head}return ({body})/0",
        "infinity": f"{head}return ({body})*1e999",
        "bracket_left_open": f"{head}return (\n        {body}\n",
        "deep_brackets": f"{head}return {'(' * 1_000}{body}{')' * 1_000}",
        "not_indented": f"def f(x, y):\nreturn {body}",
        "no_x_or_y": f"{head}return 1",
        "y_missing": f"{head}return x - {n // 2}",
        "refusal": "I cannot find such a polynomial.",
        "empty": "",
    }
