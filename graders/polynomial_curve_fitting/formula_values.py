"""The signs of a formula in all cells of a grid, worked out in fractions, so that none is rounded.

A value is a whole number over a denominator that all cells share, since divisors are constants.
What depends on x or y alone is worked out once for every column or row, also within products.
Memory is bounded by working on fewer cells at a time, work by counting.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scbench.graders.polynomial_curve_fitting.formula import (
    X_AXIS,
    Y_AXIS,
    Formula,
    Node,
    Op,
)

# Bits of the longest numerator or denominator that may come up; every power of degree
# 1,024 of numbers with nine digits has fewer.
MAX_BITS = 32_768
# Roughly nanoseconds: no machine is taken down. Redrawing the largest picture row by
# row, each factor over all cells, takes a twentieth of that.
MAX_WORK = 20_000_000_000
# Of all values that are still needed, at any time; more are worked out for fewer cells
# at once.
MAX_BYTES = 150_000_000
# Numerators of up to so many bits are kept in machine words, where nothing can
# overflow.
WORD_BITS = 62
# Longer numbers take Python another way of finding room for them.
_SMALL_BITS = 4_000
# To look for the longest number takes as long as a step, so it is done once in so many.
_GUESSES = 16
# A common divisor takes so many times as long as a product, as measured.
_GCD_TIMES = 8
Array = NDArray[Any]


_FUNCTIONS = {Op.ADD: np.add, Op.SUBTRACT: np.subtract, Op.MULTIPLY: np.multiply}
_UNARY = {Op.NEGATE, Op.POWER}


_TOO_LONG = "makes numbers that are too long"


class FormulaCostError(Exception):
    """Working out the formula takes more time or digits than are given to it."""


class UndefinedError(Exception):
    """The formula divides by 0."""


class _CrowdedError(Exception):
    """Values for all these cells at once take more memory than is given to them."""


@dataclass(slots=True)
class _Values:
    """Values of one step: one in all, or one per column, per row or per cell.

    ``array`` has the shape (1, 1), (1, n), (n, 1) or (n, n) and holds numerators, as machine words
    or Python's whole numbers; ``over`` is the denominator of all of them, positive. ``bits`` bounds
    the length of the numerators, ``guesses`` counts the steps since it was exact.
    """

    array: Array
    bits: int
    over: int = 1
    guesses: int = 0

    @property
    def size(self) -> int:
        """Roughly the bytes that it takes."""
        each = 8 if self.array.dtype != object else 40 + self.bits // 7
        return 100 + self.array.size * each


@dataclass(slots=True)
class _Product:
    """A product that is not yet worked out: of columns, of rows, and of cells."""

    parts: tuple[_Values | None, _Values | None, _Values | None]

    @property
    def bits(self) -> int:
        """Bound of the length of the product."""
        return sum(part.bits for part in self.parts if part)

    @property
    def size(self) -> int:
        """Roughly the bytes that it takes."""
        return sum(part.size for part in self.parts if part)


def positive_cells(formula: Formula, n: int) -> NDArray[np.bool_]:
    """Return where a formula is positive, as a (row, column) array.

    The formula has no faults; x and y go from 0 to n - 1.

    Raises:
        UndefinedError: it divides by 0.
        FormulaCostError: it takes too long, or numbers get too long.
    """
    positive = np.zeros((n, n), dtype=np.bool_)
    evaluation = _Evaluation()
    blocks = [(slice(0, n), slice(0, n))]
    while blocks:
        rows, columns = blocks.pop()
        try:
            result = evaluation.run(formula, rows, columns)
        except _CrowdedError:
            blocks += _half_blocks(rows, columns)
            continue
        positive[rows, columns] = result.array > 0
    return positive


def _half_blocks(rows: slice, columns: slice) -> list[tuple[slice, slice]]:
    high, wide = rows.stop - rows.start, columns.stop - columns.start
    if high == wide == 1:
        raise FormulaCostError("needs more memory than is given to it")
    if high >= wide:
        middle = rows.start + high // 2
        return [
            (slice(rows.start, middle), columns),
            (slice(middle, rows.stop), columns),
        ]
    middle = columns.start + wide // 2
    return [(rows, slice(columns.start, middle)), (rows, slice(middle, columns.stop))]


class _Evaluation:
    def __init__(self) -> None:
        self._work = 0
        self._names: dict[int, _Values] = {}

    def run(self, formula: Formula, rows: slice, columns: slice) -> _Values:
        """Return the values in these cells; `_CrowdedError` if they take too much memory."""
        x = np.arange(columns.start, columns.stop, dtype=np.int64)
        y = np.arange(rows.start, rows.stop, dtype=np.int64)
        self._names = {
            X_AXIS: _Values(x[None, :], int(x[-1]).bit_length()),
            Y_AXIS: _Values(y[:, None], int(y[-1]).bit_length()),
        }
        nodes = formula.nodes
        uses = [0] * len(nodes)
        for node in nodes:
            for child in _children(node):
                uses[child] += 1
        live: dict[int, _Values | _Product] = {}
        memory = 0
        for number, node in enumerate(nodes):
            if not uses[number] and number < len(nodes) - 1:
                continue  # the exponent of a power
            children = _children(node)
            values: _Values | _Product | None = self._product(
                node, [live[child] for child in children]
            )
            if values is None:
                operands = []
                for child in children:
                    memory -= live[child].size
                    live[child] = whole = self._multiplied(live[child])
                    memory += whole.size
                    operands.append(whole)
                values = self._step(node, operands)
            live[number] = values
            memory += values.size
            if memory > MAX_BYTES:
                raise _CrowdedError
            for child in children:
                uses[child] -= 1
                if not uses[child]:
                    memory -= live.pop(child).size
        return self._multiplied(live[len(nodes) - 1])

    def _product(
        self, node: Node, factors: list[_Values | _Product]
    ) -> _Product | None:
        """Return a product whose columns, rows and cells are multiplied apart.

        None if it is none, or if a number on the way may be too long.
        """
        if (
            node.op is not Op.MULTIPLY
            or sum(factor.bits for factor in factors) > MAX_BITS
        ):
            return None
        first, second = (
            factor.parts if isinstance(factor, _Product) else _split_by_shape(factor)
            for factor in factors
        )
        across, down, both = (
            self._combine(Op.MULTIPLY, a, b) if a and b else a or b
            for a, b in zip(first, second, strict=True)
        )
        return _Product((across, down, both))

    def _multiplied(self, values: "_Values | _Product") -> _Values:
        if isinstance(values, _Values):
            return values
        first, *others = (part for part in values.parts if part)
        for other in others:
            first = self._combine(Op.MULTIPLY, first, other)
        return first

    def _step(self, node: Node, operands: list[_Values]) -> _Values:
        if node.op in _FUNCTIONS:  # most are
            return self._combine(node.op, *operands)
        match node.op:
            case Op.CONSTANT:
                return _constant(node.value)
            case Op.NAME:
                return self._names[node.axes]
            case Op.NEGATE:
                a = operands[0]
                self._pay(a.array, a.bits)
                return replace(a, array=-a.array)
            case Op.POWER:
                return self._power(operands[0], node.second)
            case _:
                return self._divide(*operands)

    def _combine(self, op: Op, a: _Values, b: _Values) -> _Values:
        function, over = _FUNCTIONS[op], a.over
        if op is Op.MULTIPLY:
            self._spend(_digit_time(a.over.bit_length(), b.over.bit_length()))
            over = a.over * b.over
        elif a.over != b.over:
            self._spend(
                _GCD_TIMES * _digit_time(a.over.bit_length(), b.over.bit_length())
            )
            over = math.lcm(a.over, b.over)
            a, b = self._times(a, over // a.over), self._times(b, over // b.over)

        def bound() -> int:
            return a.bits + b.bits if op is Op.MULTIPLY else max(a.bits, b.bits) + 1

        if bound() > WORD_BITS:
            a, b = (_tightened(v) if v.guesses > _GUESSES else v for v in (a, b))
            if bound() > WORD_BITS and a.array.dtype != object != b.array.dtype:
                a, b = _tightened(a), _tightened(b)
        bits = bound()
        first, second = (
            (a.array, b.array) if bits <= WORD_BITS else (_exact(a), _exact(b))
        )
        each = _digit_time(a.bits, b.bits) if op is Op.MULTIPLY else 0
        self._pay(np.broadcast(first, second), bits, each)
        guesses = max(a.guesses, b.guesses) + 1
        return _within_bits(_Values(function(first, second), bits, over, guesses))

    def _times(self, a: _Values, factor: int) -> _Values:
        return a if factor == 1 else self._combine(Op.MULTIPLY, a, _constant(factor))

    def _power(self, a: _Values, exponent: int) -> _Values:
        if a.bits * exponent > WORD_BITS:
            a = _tightened(a)
        if (max(a.bits, a.over.bit_length()) - 1) * exponent >= MAX_BITS:
            raise FormulaCostError(_TOO_LONG)
        bits = max(1, a.bits * exponent)
        base = a.array if bits <= WORD_BITS else _exact(a)
        self._pay(base, bits, 2 * _digit_time(bits // 2, bits // 2))
        return _within_bits(_Values(np.power(base, exponent), bits, a.over**exponent))

    def _divide(self, a: _Values, b: _Values) -> _Values:
        divisor = int(b.array.flat[0])
        if divisor == 0:
            raise UndefinedError
        self._spend(
            _GCD_TIMES
            * _digit_time(a.over.bit_length(), max(b.bits, b.over.bit_length()))
        )
        quotient = Fraction(b.over, a.over * divisor)
        times = self._times(a, quotient.numerator)
        return _within_bits(replace(times, over=quotient.denominator))

    def _spend(self, time: int) -> None:
        """Count an operation that takes about this many nanoseconds."""
        self._work += 2_000 + time
        if self._work > MAX_WORK:
            raise FormulaCostError("takes more work than is given to it")

    def _pay(self, cells: "Array | np.broadcast", bits: int, each: int = 0) -> None:
        """Count an operation on whole numbers; ``each`` is the time of one long multiplication."""
        slow = (
            25 + bits // 60 + each + 250 * (bits > _SMALL_BITS)
            if bits > WORD_BITS
            else 0
        )
        self._spend(cells.size * (2 + slow))


def _children(node: Node) -> tuple[int, ...]:
    if node.op <= Op.NAME:
        return ()
    return (node.first,) if node.op in _UNARY else (node.first, node.second)


def _constant(value: int | Fraction) -> _Values:
    bits = value.numerator.bit_length()
    kind = np.int64 if bits <= WORD_BITS else object
    return _Values(np.array([[value.numerator]], dtype=kind), bits, value.denominator)


def _tightened(a: _Values) -> _Values:
    """Return the values with the exact length of the longest, in machine words if they fit."""
    longest = max(abs(int(a.array.max())), abs(int(a.array.min()))).bit_length()
    fits = a.array.dtype == object and longest <= WORD_BITS
    return _Values(a.array.astype(np.int64) if fits else a.array, longest, a.over)


def _exact(a: _Values) -> Array:
    return a.array if a.array.dtype == object else a.array.astype(object)


def _within_bits(a: _Values) -> _Values:
    if a.bits > MAX_BITS:
        a = _tightened(a)
    if max(a.bits, a.over.bit_length()) > MAX_BITS:
        raise FormulaCostError(_TOO_LONG)
    return a


def _split_by_shape(
    a: _Values,
) -> tuple[_Values | None, _Values | None, _Values | None]:
    """Return the values as one per column, one per row, or one per cell; two of them are None."""
    if a.array.shape[0] == 1:
        return a, None, None
    return (None, a, None) if a.array.shape[1] == 1 else (None, None, a)


def _digit_time(bits: int, other_bits: int) -> int:
    """Return about how many nanoseconds it takes to multiply two whole numbers, as measured."""
    short, long = sorted((bits // 30 + 1, other_bits // 30 + 1))
    time = 0.65 * short * long
    return int(time if short < 70 else time * (70 / short) ** 0.4)
