"""The signs of a formula in all cells of a grid, computed in exact fractions.

A value is an integer over a denominator that all cells share, since divisors are constants.
Values that depend only on x or only on y are computed once for every column or row,
also within products. Computing fewer cells at a time limits memory; counting steps
limits work.
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
)
from scbench.graders.polynomial_curve_fitting.nodes import Node, Op

# Maximum bits of a numerator or denominator; every power of degree 1,024 of numbers
# with nine digits has fewer.
MAX_BITS = 32_768
# Maximum work, roughly in nanoseconds. Redrawing the largest picture row by row, each
# factor over all cells, needs a twentieth of it.
MAX_WORK = 20_000_000_000
# Maximum bytes of all values needed at one time; above it, fewer cells are computed
# together.
MAX_BYTES = 150_000_000
# Numerators of up to this many bits are stored in machine words without overflow.
WORD_BITS = 62
# Python allocates longer numbers differently.
_SMALL_BITS = 4_000
# Finding the longest number takes as long as a step, so it is done only once in this
# many steps.
_GUESSES = 16
# Measured time of a common divisor, relative to a product.
_GCD_TIMES = 8
# Minimum nanoseconds of one operation.
_OVERHEAD = 2_000
_FUNCTIONS = {Op.ADD: np.add, Op.SUBTRACT: np.subtract, Op.MULTIPLY: np.multiply}
_UNARY = {Op.NEGATE, Op.POWER}
_TOO_LONG = "produces numbers that are too long"
Array = NDArray[Any]
Block = tuple[slice, slice]


class FormulaCostError(Exception):
    """Evaluating the formula needs more work, memory or digits than allowed."""


class UndefinedError(Exception):
    """The formula divides by 0."""


class CrowdedError(Exception):
    """The values for all these cells need more memory than allowed."""


@dataclass(slots=True)
class Values:
    """Values of one step: a single one, or one per column, row or cell."""

    array: Array
    """Numerators, as machine words or Python integers; (1, 1), (1, n), (n, 1) or (n, n)."""
    bits: int
    """Upper bound of the length of the numerators."""
    over: int = 1
    """The denominator of all of them, positive."""
    guesses: int = 0
    """Steps since the bound was exact."""

    @property
    def in_words(self) -> bool:
        """Whether the numerators are machine words."""
        return self.array.dtype != object

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        each = 8 if self.in_words else 40 + self.bits // 7
        return 100 + self.array.size * each

    def exact(self) -> Array:
        """Return the numerators as Python integers."""
        return self.array.astype(object) if self.in_words else self.array

    def tightened(self) -> "Values":
        """Return the values with the exact length of the longest, in machine words if they fit."""
        largest = max(abs(int(self.array.max())), abs(int(self.array.min())))
        bits = largest.bit_length()
        array = self.array
        if bits <= WORD_BITS and not self.in_words:
            array = array.astype(np.int64)
        return Values(array, bits, self.over)


@dataclass(slots=True)
class Product:
    """A product that is not yet computed: of columns, of rows, and of cells."""

    parts: tuple[Values | None, Values | None, Values | None]

    @property
    def bits(self) -> int:
        """Upper bound of the product's length."""
        return sum(part.bits for part in self.parts if part)

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        return sum(part.size for part in self.parts if part)


def positive_cells(formula: Formula, n: int) -> NDArray[np.bool_]:
    """Return a mask (row, column) of the cells where a formula is positive.

    The formula has no faults; x and y go from 0 to n - 1.

    Raises:
        UndefinedError: the formula divides by 0.
        FormulaCostError: the formula needs too much work, or numbers get too long.
    """
    positive = np.zeros((n, n), dtype=np.bool_)
    evaluation = Evaluation()
    blocks = [(slice(0, n), slice(0, n))]
    while blocks:
        rows, columns = blocks.pop()
        try:
            result = evaluation.run(formula, rows, columns)
        except CrowdedError:
            blocks += half_blocks(rows, columns)
            continue
        positive[rows, columns] = result.array > 0
    return positive


def half_blocks(rows: slice, columns: slice) -> list[Block]:
    """Return the halves of a block of cells, cut across its longer side.

    Raises:
        FormulaCostError: the block is a single cell.
    """
    high = rows.stop - rows.start
    wide = columns.stop - columns.start
    if high == wide == 1:
        raise FormulaCostError("needs too much memory")
    if high >= wide:
        middle = rows.start + high // 2
        return [
            (slice(rows.start, middle), columns),
            (slice(middle, rows.stop), columns),
        ]
    middle = columns.start + wide // 2
    return [(rows, slice(columns.start, middle)), (rows, slice(middle, columns.stop))]


class Evaluation:
    """Evaluates a formula block by block, and counts the work of all blocks."""

    def __init__(self) -> None:
        self._work = 0
        self._names: dict[int, Values] = {}

    def run(self, formula: Formula, rows: slice, columns: slice) -> Values:
        """Return the values in these cells.

        Raises:
            CrowdedError: the values need too much memory.
        """
        x = np.arange(columns.start, columns.stop, dtype=np.int64)
        y = np.arange(rows.start, rows.stop, dtype=np.int64)
        self._names = {
            X_AXIS: Values(x[None, :], int(x[-1]).bit_length()),
            Y_AXIS: Values(y[:, None], int(y[-1]).bit_length()),
        }
        nodes = formula.nodes
        # Number of remaining uses of each step; values are freed after their last use.
        uses = [0] * len(nodes)
        for node in nodes:
            for child in children_of(node):
                uses[child] += 1
        live: dict[int, Values | Product] = {}
        memory = 0
        for number, node in enumerate(nodes):
            # The exponent of a power is not a node.
            if not uses[number] and number < len(nodes) - 1:
                continue
            children = children_of(node)
            values: Values | Product | None = self._product(
                node, [live[child] for child in children]
            )
            if values is None:
                operands = []
                for child in children:
                    memory -= live[child].size
                    multiplied = self._multiplied(live[child])
                    live[child] = multiplied
                    memory += multiplied.size
                    operands.append(multiplied)
                values = self._step(node, operands)
            live[number] = values
            memory += values.size
            if memory > MAX_BYTES:
                raise CrowdedError
            for child in children:
                uses[child] -= 1
                if not uses[child]:
                    memory -= live.pop(child).size
        return self._multiplied(live[len(nodes) - 1])

    def _product(self, node: Node, factors: list[Values | Product]) -> Product | None:
        """Return a product whose columns, rows and cells are multiplied separately.

        None if the node is not a product, or if an intermediate number may be too long.
        """
        if node.op is not Op.MULTIPLY:
            return None
        if sum(factor.bits for factor in factors) > MAX_BITS:
            return None
        first, second = map(parts_of, factors)
        columns, rows, cells = map(self._product_of_parts, first, second)
        return Product((columns, rows, cells))

    def _product_of_parts(self, a: Values | None, b: Values | None) -> Values | None:
        """Return the product of two parts; if one is missing, the other."""
        if a and b:
            return self._combine(Op.MULTIPLY, a, b)
        return a or b

    def _multiplied(self, values: Values | Product) -> Values:
        """Return the values of a product."""
        if isinstance(values, Values):
            return values
        result, *factors = (part for part in values.parts if part)
        for factor in factors:
            result = self._combine(Op.MULTIPLY, result, factor)
        return result

    def _step(self, node: Node, operands: list[Values]) -> Values:
        if node.op in _FUNCTIONS:  # most nodes
            return self._combine(node.op, *operands)
        match node.op:
            case Op.CONSTANT:
                return constant(node.value)
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

    def _combine(self, op: Op, a: Values, b: Values) -> Values:
        """Add, subtract or multiply."""
        over = a.over
        if op is Op.MULTIPLY:
            self._spend(digit_time(a.over.bit_length(), b.over.bit_length()))
            over = a.over * b.over
        elif a.over != b.over:
            time = digit_time(a.over.bit_length(), b.over.bit_length())
            self._spend(_GCD_TIMES * time)
            over = math.lcm(a.over, b.over)
            a = self._times(a, over // a.over)
            b = self._times(b, over // b.over)
        # Bounds get looser with every step, so measure again before using longer
        # numbers.
        if result_bits(op, a, b) > WORD_BITS:
            if a.guesses > _GUESSES:
                a = a.tightened()
            if b.guesses > _GUESSES:
                b = b.tightened()
            if a.in_words and b.in_words and result_bits(op, a, b) > WORD_BITS:
                a = a.tightened()
                b = b.tightened()
        bits = result_bits(op, a, b)
        first = a.array
        second = b.array
        if bits > WORD_BITS:
            first = a.exact()
            second = b.exact()
        each = digit_time(a.bits, b.bits) if op is Op.MULTIPLY else 0
        self._pay(np.broadcast(first, second), bits, each)
        guesses = max(a.guesses, b.guesses) + 1
        array = _FUNCTIONS[op](first, second)
        return within_bits(Values(array, bits, over, guesses))

    def _times(self, a: Values, factor: int) -> Values:
        return a if factor == 1 else self._combine(Op.MULTIPLY, a, constant(factor))

    def _power(self, a: Values, exponent: int) -> Values:
        if a.bits * exponent > WORD_BITS:
            a = a.tightened()
        if (max(a.bits, a.over.bit_length()) - 1) * exponent >= MAX_BITS:
            raise FormulaCostError(_TOO_LONG)
        bits = max(1, a.bits * exponent)
        base = a.array if bits <= WORD_BITS else a.exact()
        # The last squaring takes most of the time; doubling it covers the earlier ones.
        self._pay(base, bits, 2 * digit_time(bits // 2, bits // 2))
        return within_bits(Values(np.power(base, exponent), bits, a.over**exponent))

    def _divide(self, a: Values, b: Values) -> Values:
        """Divide by a constant."""
        divisor = int(b.array.flat[0])
        if divisor == 0:
            raise UndefinedError
        longer = max(b.bits, b.over.bit_length())
        self._spend(_GCD_TIMES * digit_time(a.over.bit_length(), longer))
        quotient = Fraction(b.over, a.over * divisor)
        times = self._times(a, quotient.numerator)
        return within_bits(replace(times, over=quotient.denominator))

    def _spend(self, time: int) -> None:
        """Count an operation that takes about this many nanoseconds."""
        self._work += _OVERHEAD + time
        if self._work > MAX_WORK:
            raise FormulaCostError("takes too much work")

    def _pay(self, cells: Array | np.broadcast, bits: int, each: int = 0) -> None:
        """Count an operation on integers; ``each`` is the time of one long multiplication."""
        time = 2
        if bits > WORD_BITS:
            time += 25 + bits // 60 + each
        if bits > _SMALL_BITS:
            time += 250
        self._spend(cells.size * time)


def children_of(node: Node) -> tuple[int, ...]:
    """Return the numbers of a node's operands."""
    if node.op <= Op.NAME:
        return ()
    return (node.first,) if node.op in _UNARY else (node.first, node.second)


def constant(value: int | Fraction) -> Values:
    """Return one value for all cells."""
    bits = value.numerator.bit_length()
    kind = np.int64 if bits <= WORD_BITS else object
    return Values(np.array([[value.numerator]], dtype=kind), bits, value.denominator)


def result_bits(op: Op, a: Values, b: Values) -> int:
    """Return an upper bound of the length of sums, differences or products."""
    return a.bits + b.bits if op is Op.MULTIPLY else max(a.bits, b.bits) + 1


def within_bits(a: Values) -> Values:
    """Return the values unchanged.

    Raises:
        FormulaCostError: a value is too long.
    """
    if a.bits > MAX_BITS:
        a = a.tightened()
    if max(a.bits, a.over.bit_length()) > MAX_BITS:
        raise FormulaCostError(_TOO_LONG)
    return a


def parts_of(
    factor: Values | Product,
) -> tuple[Values | None, Values | None, Values | None]:
    """Return the factors of a value by column, by row, and by cell."""
    if isinstance(factor, Product):
        return factor.parts
    if factor.array.shape[0] == 1:
        return factor, None, None
    if factor.array.shape[1] == 1:
        return None, factor, None
    return None, None, factor


def digit_time(bits: int, other_bits: int) -> int:
    """Return the approximate nanoseconds of multiplying two integers, from measurements."""
    # Python's digits have 30 bits; from 70 digits on, it uses Karatsuba multiplication.
    short, long = sorted((bits // 30 + 1, other_bits // 30 + 1))
    time = 0.65 * short * long
    if short >= 70:
        time *= (70 / short) ** 0.4
    return int(time)
