"""Polynomial curve fitting: redraw a picture of black and white cells with a polynomial's sign.

An example of the puzzle, with one of the answers: f is above 0 in the black cells only.

        x  0123
    y = 0  .##.
    y = 1  ####
    y = 2  ####
    y = 3  .##.

    def f(x, y):
        return 14 - (2*x-3)**2 - (2*y-3)**2

Fresh pictures need a polynomial of a known degree.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.polynomial_curve_fitting.honest_faults import faulty_polynomials
from scbench.builders.polynomial_curve_fitting.polynomials import (
    Array,
    as_text,
    coefficient_table,
    in_powers,
    positions,
    row_by_row,
    terms_in_cells,
    whole_coefficients,
)
from scbench.builders.polynomial_curve_fitting.separation import separate
from scbench.builders.shared.builder import (
    Builder,
    Point,
    data_file,
    parameter,
    prompt_template,
    under,
)
from scbench.builders.shared.png import indexed_png, magnified
from scbench.graders import polynomial_curve_fitting as rules
from scbench.graders.polynomial_curve_fitting import formula, formula_values
from scbench.schemas.polynomial_curve_fitting import Answer, Params

# Maximum number of pictures that one draw tries.
_TRIES = 60
# Factor on the tries if only pictures that baselines draw badly will do.
_TRIES_FACTOR = 30
# Limit on terms times cells of all polynomials that one draw tries.
_WORK = 5_000_000
_MAX_DEGREE = 10
# From this number of rows on, the prompt shows the picture as an image.
_IMAGE_FROM = 48
_WHITE_BLACK = ((255, 255, 255), (0, 0, 0))
# Values of a field that are closer could be ordered differently on another machine.
_LEAST_GAP = 1e-9
# Minimum share of cells of each colour.
_LEAST_SHARE = 0.1
# Degree of the third baseline if formulas may have any degree.
_HIGHEST_FIT = 8
# Scale at which the coefficients of baselines are rounded.
_SCALE = 1e6
# Rounding changes a baseline's value in a cell by less than this.
_ROUNDING = 1e-4


class Space(Point):
    """Parameters of pictures: bright blobs, dark hollows and waves, smoothed, cut at a level."""

    size: int = parameter(
        24,
        "number of rows and columns; from 48 on, the prompt shows the picture as an image",
        ge=8,
        le=128,
    )
    fill: float = parameter(0.45, "share of black cells", ge=0.2, le=0.8)
    blobs: int = parameter(4, "number of bright blobs", ge=1, le=12)
    hollows: int = parameter(1, "number of dark blobs", ge=0, le=6)
    waves: int = parameter(2, "number of faint waves", ge=0, le=4)
    frequency: int = parameter(
        2, "maximum number of periods of a wave across the picture", ge=1, le=3
    )
    swell: int = parameter(
        1,
        "factor by which the height of waves is multiplied; values above 1 make the outline wind",
        ge=1,
        le=10,
        later=True,
    )
    smoothing: int = parameter(2, "number of times the field is smoothed", ge=0, le=6)
    min_degree: int = parameter(
        3,
        "lower limit of the lowest total degree that draws every cell correctly",
        ge=1,
        le=10,
    )
    max_degree: int = parameter(
        6,
        "upper limit of the lowest total degree that draws every cell correctly",
        ge=1,
        le=10,
    )

    greedy: float = parameter(
        1.0,
        "highest score that a least-squares line or conic may reach; if limited is set, the same "
        "limit applies to a least-squares fit of degree max_degree",
        gt=0, le=1, later=True,
    )  # fmt: skip
    limited: bool = parameter(
        False,
        "whether max_degree limits the total degree of the formula",
        later=True,
    )

    @model_validator(mode="after")
    def _ordered(self) -> "Space":
        if self.min_degree > self.max_degree:
            raise ValueError(
                f"min_degree {self.min_degree} is above max_degree {self.max_degree}"
            )
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Pictures that some polynomial of low degree draws without an error."""

    task = "polynomial_curve_fitting"
    version = 5
    draws = 5
    form = '{"function": text}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the picture, or where to find it, and the limits of a formula."""
        n = len(params.grid)
        if n >= _IMAGE_FROM:
            factor = _pixels_per_cell(n)
            picture = prompt_template(__package__, "prompt_image.txt").format(
                n=n, factor=factor, side=n * factor
            )
            brief = prompt_template(__package__, "prompt_image_brief.txt").format(n=n)
        else:
            picture = prompt_template(__package__, "prompt_text.txt").format(
                n=n, grid="\n".join(lines_with_rulers(params.grid))
            )
            brief = picture
        return {
            "picture": picture,
            "degrees": degrees_text(params),
            "n": n,
            "last": n - 1,
            "cells": n * n,
            "number": formula.MAX_NUMBER,
            "exponent": formula.MAX_EXPONENT,
            "degree": formula.MAX_DEGREE,
            "characters": formula.MAX_CHARACTERS,
            "brackets": formula.MAX_BRACKETS,
            "bits": formula_values.MAX_BITS,
            "megabytes": formula_values.MAX_BYTES // 10**6,
            "seconds": formula_values.MAX_WORK // 10**9,
            "scale": formula.MAX_SCALE,
            "shown": brief,
        }

    def images(self, params: Params) -> tuple[bytes, ...]:
        """Return the picture as a PNG file if the prompt does not print it."""
        n = len(params.grid)
        if n < _IMAGE_FROM:
            return ()
        pixels = magnified(black_cells(params.grid), _pixels_per_cell(n))
        return (indexed_png(pixels, _WHITE_BLACK),)

    def reference(self, params: Params) -> Answer:
        """Solve linear programs of rising degree; failing that, draw row by row."""
        return Answer(function=solve(params))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return other readings of the picture, near misses, and texts that must not pass."""
        text = solve(params)
        wrong: dict[str, JsonValue] = dict(misreadings(params.grid, text))
        wrong |= loopholes(params.grid, text)
        answers = under("function", wrong)
        answers["no_function"] = {}
        answers["misspelt_key"] = {"formula": text}
        answers["coefficients"] = {"function": [[1, 0], [0, -1]]}
        answers["bare_text"] = text
        return answers

    def honest_faults(self, params: Params) -> Mapping[str, tuple[JsonValue, float]]:
        """Return the polynomial with rounded coefficients and with other constants."""
        coefficients = coefficients_of(params)
        if coefficients is None:
            return {}
        black = np.array(black_cells(params.grid)) == 1
        faults = faulty_polynomials(coefficients, black)
        return {
            name: ({"function": text}, score) for name, (text, score) in faults.items()
        }

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the polynomials of some degrees that are nearest to the picture by least squares.

        They are a line, a conic, and a polynomial of the highest degree allowed, or of degree 8 if
        there is no limit.
        """
        highest = params.max_degree or _HIGHEST_FIT
        fits = {
            "least-squares line": least_squares(params, 1),
            "least-squares conic": least_squares(params, min(2, highest)),
            "least-squares fit of the highest degree": least_squares(params, highest),
        }
        return under("function", fits)

    def measure(self, params: Params) -> float:
        """Return the least total degree that draws every cell right."""
        for degree in range(1, _MAX_DEGREE + 1):
            if separate(params.grid, degree).possible:
                return degree
        raise GenerationError(
            f"no polynomial of degree {_MAX_DEGREE} or less draws this picture"
        )

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw pictures until one needs a degree in the range."""
        terms = (point.max_degree + 1) * (point.max_degree + 2) // 2
        tries = min(_TRIES, max(2, _WORK // (terms * point.size**2)))
        if point.greedy < 1:
            tries *= _TRIES_FACTOR
        limit = point.max_degree if point.limited else None
        for _ in range(tries):
            grid = cut_at_level(draw_field(point, rng), point.fill)
            if grid is not None and self.fits_point(point, grid, limit):
                return Params(grid=grid, max_degree=limit)
        raise GenerationError(
            f"{tries} tries found no picture of {point.size} x {point.size} cells that needs a "
            f"degree from {point.min_degree} to {point.max_degree}; ask for a wider range of "
            "degrees, a larger greedy or, for high degrees, more blobs and waves"
        )

    def fits_point(
        self, point: Space, grid: tuple[str, ...], limit: int | None
    ) -> bool:
        """Return whether a picture has enough of both colours and is as hard as the point requires.

        Args:
            point: the requested parameters.
            grid: the picture.
            limit: highest total degree that formulas may have; None if there is no limit.
        """
        black = sum(row.count("#") for row in grid) / point.size**2
        if not _LEAST_SHARE <= black <= 1 - _LEAST_SHARE:
            return False
        # The quickest check comes first, and the exact scores of baselines last.
        if point.greedy < 1 and least_fit_score(grid, limit) > point.greedy:
            return False
        if separate(grid, point.max_degree).possible is not True:
            return False
        if separate(grid, point.min_degree - 1).possible is not False:
            return False
        return point.greedy == 1 or fit_score(grid, limit) <= point.greedy


@lru_cache(maxsize=64)
def solve(params: Params) -> str:
    """Return the text of a polynomial of the least degree, or else of any degree."""
    coefficients = coefficients_of(params)
    if coefficients is None:
        return row_by_row(params.grid)
    return as_text(coefficients, len(params.grid))


def coefficients_of(params: Params) -> list[list[int]] | None:
    """Return the coefficients of a polynomial of the least degree; None if none was found."""
    # A low degree has few terms, so its text is short.
    for degree in range(1, _MAX_DEGREE + 1):
        separation = separate(params.grid, degree)
        if separation.coefficients is not None:
            return separation.coefficients
    return None


def degrees_text(params: Params) -> str:
    """Return the prompt's sentence about the degree of the formula."""
    if params.max_degree is None:
        return "Any degree and any mixed terms are allowed."
    limit = params.max_degree
    return (
        f"The total degree of f, as written, is at most {limit}. "
        "Terms that cancel out count, too."
    )


def black_cells(grid: Sequence[str]) -> list[list[int]]:
    """Return the rows of a picture with 1 for black and 0 for white."""
    return [[int(cell == "#") for cell in row] for row in grid]


def _pixels_per_cell(n: int) -> int:
    """Return the side of a cell in pixels; pictures of n rows are at most about 768 pixels high."""
    return max(8, min(16, 768 // n))


def lines_with_rulers(grid: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a picture, with the numbers of its columns and rows."""
    n = len(grid)
    if n > 10:
        tens = [str(x // 10) if x % 10 == 0 else " " for x in range(n)]
        yield "       " + "".join(tens)
    yield "    x  " + "".join(str(x % 10) for x in range(n))
    for y, row in enumerate(grid):
        yield f"y = {y:<2} {row}"


def misreadings(grid: tuple[str, ...], text: str) -> Iterator[tuple[str, str]]:
    """Yield correct formulas spoilt by one mistake that changes the picture."""
    n = len(grid)
    head, _, body = text.partition("return ")
    head += "return "
    yield "black_and_white_exchanged", f"{head}-({body})"
    # The factor is negative in only one cell.
    factor = f"(2*(x-{n // 2})**2+2*(y-{n // 3})**2-1)"
    yield "one_cell_wrong", f"{head}({body})*{factor}"
    if grid != tuple(map("".join, zip(*grid, strict=True))):
        exchanged = body.translate(str.maketrans("xy", "yx"))
        yield "x_and_y_exchanged", head + exchanged
    if grid != grid[::-1]:
        yield "rows_from_the_bottom", head + body.replace("y", f"({n - 1}-y)")
    if grid != tuple(row[::-1] for row in grid):
        yield "columns_from_the_right", head + body.replace("x", f"({n - 1}-x)")
    yield "all_black", f"{head}x**2 + y**2 + 1"
    yield "all_white", f"{head}0*x*y"


def loopholes(grid: tuple[str, ...], text: str) -> dict[str, JsonValue]:
    """Return formulas that draw the picture only if run as Python, or must not be run."""
    head, _, body = text.partition("return ")
    n = len(grid)
    # The first cell is the lowest bit.
    bits = "".join(grid)[::-1].translate(str.maketrans("#.", "10"))
    parts = {
        "head": head,
        "body": body,
        "text": text,
        "table": black_cells(grid),
        "n": n,
        "half": n // 2,
        "bits": hex(int(bits, 2)),
        "alike": body.replace("x", "\N{MATHEMATICAL ITALIC SMALL X}"),
        "carets": body.replace("**", "^"),
        "opened": "(" * 1_000,
        "closed": ")" * 1_000,
    }
    templates: dict[str, str] = data_file(__package__, "loopholes.json")
    return {name: template.format(**parts) for name, template in templates.items()}


def fit_degrees(limit: int | None) -> tuple[int, ...]:
    """Return the total degrees of the least-squares fits that measure a picture."""
    return (1, 2) if limit is None else (1, min(2, limit), limit)


def least_squares(params: Params, degree: int) -> str:
    """Return the polynomial nearest to 1 in black cells and -1 in white cells."""
    n = len(params.grid)
    terms = legendre_terms(n, degree)
    solution = np.linalg.lstsq(terms, signs(params.grid), rcond=None)[0]
    coefficients = coefficient_table(solution, degree)
    powers = in_powers(coefficients, np.polynomial.legendre.leg2poly)
    return as_text(whole_coefficients(powers, _SCALE, n), n)


def fit_score(grid: tuple[str, ...], limit: int | None) -> float:
    """Return the best score of the least-squares fits."""
    params = Params(grid=grid, max_degree=limit)
    scores = []
    for degree in fit_degrees(limit):
        answer = Answer(function=least_squares(params, degree))
        scores.append(float(rules.grade(params, answer).score))
    return max(scores)


def least_fit_score(grid: Sequence[str], limit: int | None) -> float:
    """Return a lower bound on the score of the best fit, without creating the formulas."""
    target = signs(grid)
    most = 0
    for degree in fit_degrees(limit):
        basis = orthonormal_terms(len(grid), degree)
        values = basis @ (basis.T @ target)
        # A picture of one colour scores 0.
        if values.min() < -_ROUNDING and values.max() > _ROUNDING:
            most = max(most, int((values * target > _ROUNDING).sum()))
    return float((most / target.size) ** 4) if 4 * most >= 3 * target.size else 0.0


def signs(grid: Sequence[str]) -> Array:
    """Return 1 for each black cell and -1 for each white cell, row by row."""
    cells: Array = np.array(black_cells(grid)).ravel() * 2.0 - 1.0
    return cells


def legendre_terms(n: int, degree: int) -> Array:
    """Return products of Legendre polynomials in every cell, as (cell, term)."""
    factors = np.polynomial.legendre.legvander(positions(n), degree)
    return terms_in_cells(factors, degree)


@lru_cache(maxsize=32)
def orthonormal_terms(n: int, degree: int) -> Array:
    """Return an orthonormal basis of the polynomials of a degree, as (cell, vector)."""
    basis: Array = np.linalg.qr(legendre_terms(n, degree))[0]
    return basis


def draw_field(point: Space, rng: Stream) -> Array:
    """Draw the smooth field from which a picture is cut, as a (row, column) array.

    Numbers are drawn in the same order as in the paper's generator.
    """
    total: Array = np.zeros((point.size, point.size))
    for _ in range(point.blobs):
        total += draw_blob(point.size, (0.18, 0.38), (0.9, 1.6), rng)
    for _ in range(point.hollows):
        total -= draw_blob(point.size, (0.25, 0.5), (0.4, 0.9), rng)
    for _ in range(point.waves):
        total += draw_wave(point, rng)
    # One pass smooths down and across: rows and columns change places after each half.
    for _ in range(2 * point.smoothing):
        edged = np.pad(total, ((1, 1), (0, 0)), mode="edge")
        total = ((edged[:-2] + 2 * edged[1:-1] + edged[2:]) / 4).T
    return total


def draw_blob(
    n: int, spread: tuple[float, float], height: tuple[float, float], rng: Stream
) -> Array:
    """Draw a bell over n rows and columns; its spread is a fraction of the picture."""
    # The order of draws is fixed: centre, width, peak.
    centre_x = rng.uniform(0, n - 1)
    centre_y = rng.uniform(0, n - 1)
    width = rng.uniform(spread[0] * n, spread[1] * n)
    peak = rng.uniform(*height)

    def bell(centre: float) -> list[float]:
        return [math.exp(-((k - centre) ** 2) / (2 * width * width)) for k in range(n)]

    blob: Array = np.outer(peak * np.array(bell(centre_y)), bell(centre_x))
    return blob


def draw_wave(point: Space, rng: Stream) -> Array:
    """Draw a faint wave with whole numbers of periods across and down the picture."""
    n = point.size
    across = rng.between(1, point.frequency)
    down = rng.between(1, point.frequency)
    phase = rng.uniform(0, 2 * math.pi)
    height = point.swell * rng.uniform(0.05, 0.12)
    if rng.unit() <= 0.5:
        height = -height
    angles_x = [2 * math.pi * k * across / n for k in range(n)]
    angles_y = [2 * math.pi * k * down / n + phase for k in range(n)]
    # numpy's sine and cosine differ between machines.
    sin_x = list(map(math.sin, angles_x))
    cos_x = list(map(math.cos, angles_x))
    sin_y = list(map(math.sin, angles_y))
    cos_y = list(map(math.cos, angles_y))
    wave: Array = height * (np.outer(sin_y, cos_x) + np.outer(cos_y, sin_x))
    return wave


def cut_at_level(total: Array, fill: float) -> tuple[str, ...] | None:
    """Return the picture in which this share of cells, the highest, is black.

    None if the picture could differ between machines.
    """
    # The level lies halfway between two consecutive values.
    ordered = np.sort(total, axis=None)
    k = int((1 - fill) * (total.size - 1))
    if k == 0 or ordered[k] - ordered[k - 1] < _LEAST_GAP:
        return None
    level = (ordered[k] + ordered[k - 1]) / 2
    rows = (total > level).tolist()
    return tuple("".join("#" if is_black else "." for is_black in row) for row in rows)
