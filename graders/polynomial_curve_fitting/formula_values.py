"""The values of a formula in all cells of a grid, with Python's rules for numbers.

Whole numbers are exact, fractions are IEEE doubles, and ``/`` gives the correctly rounded quotient.
A double's power is the correctly rounded one, so that no result depends on a machine's own ``pow``.
A cell has failed where a step raises an error in Python or is not finite. What depends on x or y
alone is worked out once for every column or row, also within products of whole numbers. Memory is
bounded by working on fewer cells at a time, work by counting.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scbench.graders.polynomial_curve_fitting.formula import X_AXIS, Y_AXIS, Formula, Node, Op

MAX_BITS = 16_384
"""Bits of the longest whole number that may come up; every power of degree 1,024 has fewer."""
MAX_WORK = 20_000_000_000
"""Roughly nanoseconds: no machine is taken down. Redrawing the largest picture row by row, each
factor over all cells, takes a twentieth of that."""
MAX_BYTES = 150_000_000
"""Of all values that are still needed, at any time; more are worked out for fewer cells at once."""
WORD_BITS = 62
"""Whole numbers of up to so many bits are kept in machine words, where nothing can overflow."""
_DOUBLE_BITS = 53
_SMALL_BITS = 4_000
"""Longer numbers take Python another way of finding room for them."""
_GUESSES = 16
"""To look for the longest number takes as long as a step, so it is done once in so many."""
_KEPT_BITS = 160
"""Leading bits that bounds of a power keep; those of exponent 512 agree in 100 and more."""
Array = NDArray[Any]


class FormulaCostError(Exception):
    """Working out the formula takes more time or digits than are given to it."""


class _CrowdedError(Exception):
    """Values for all these cells at once take more memory than is given to them."""


@dataclass(slots=True)
class _Values:
    """Values of one step: one in all, or one per column, per row or per cell.

    ``array`` has the shape (1, 1), (1, n), (n, 1) or (n, n) and holds machine words, Python's whole
    numbers, or doubles. ``bits`` bounds the length of whole numbers, ``guesses`` counts the steps
    since it was exact; ``failed`` marks values that Python would not give but raise an error.
    """

    array: Array
    integral: bool
    bits: int = 0
    failed: NDArray[np.bool_] | None = None
    guesses: int = 0

    @property
    def size(self) -> int:
        """Roughly the bytes that it takes."""
        each = 8 if self.array.dtype != object else 40 + self.bits // 7
        return 100 + self.array.size * each


@dataclass(slots=True)
class _Product:
    """A product of whole numbers, not yet worked out: of columns, of rows, and of cells."""

    parts: tuple[_Values | None, _Values | None, _Values | None]
    integral: bool = True

    @property
    def bits(self) -> int:
        """Bound of the length of the product."""
        return sum(part.bits for part in self.parts if part)

    @property
    def size(self) -> int:
        """Roughly the bytes that it takes."""
        return sum(part.size for part in self.parts if part)


def signs(formula: Formula, n: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where a formula is positive and where it has no value, as (row, column) arrays.

    The formula has no faults; x and y go from 0 to n - 1.

    Raises:
        FormulaCostError: it takes too long, or numbers get too long.
    """
    positive, failed = np.zeros((2, n, n), dtype=np.bool_)
    evaluation = _Evaluation()
    blocks = [(slice(0, n), slice(0, n))]
    while blocks:
        rows, columns = blocks.pop()
        try:
            with np.errstate(all="ignore"):
                result = evaluation.run(formula, rows, columns)
        except _CrowdedError:
            blocks += _half_blocks(rows, columns)
            continue
        failed[rows, columns] = False if result.failed is None else result.failed
        positive[rows, columns] = result.array > 0
    return positive & ~failed, failed


def _half_blocks(rows: slice, columns: slice) -> list[tuple[slice, slice]]:
    high, wide = rows.stop - rows.start, columns.stop - columns.start
    if high == wide == 1:
        raise FormulaCostError("needs more memory than is given to it")
    if high >= wide:
        middle = rows.start + high // 2
        return [(slice(rows.start, middle), columns), (slice(middle, rows.stop), columns)]
    middle = columns.start + wide // 2
    return [(rows, slice(columns.start, middle)), (rows, slice(middle, columns.stop))]


_FUNCTIONS = {Op.ADD: np.add, Op.SUBTRACT: np.subtract, Op.MULTIPLY: np.multiply}


class _Evaluation:
    def __init__(self) -> None:
        self._work = 0
        self._names: dict[int, _Values] = {}

    def run(self, formula: Formula, rows: slice, columns: slice) -> _Values:
        """Return the values in these cells; `_CrowdedError` if they take too much memory."""
        x = np.arange(columns.start, columns.stop, dtype=np.int64)
        y = np.arange(rows.start, rows.stop, dtype=np.int64)
        self._names = {
            X_AXIS: _Values(x[None, :], True, int(x[-1]).bit_length()),
            Y_AXIS: _Values(y[:, None], True, int(y[-1]).bit_length()),
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

    def _product(self, node: Node, factors: list[_Values | _Product]) -> _Product | None:
        """Return a product of whole numbers whose columns, rows and cells are multiplied apart.

        None if it is none, or if a number on the way may be too long.
        """
        if node.op is not Op.MULTIPLY or not all(factor.integral for factor in factors):
            return None
        if sum(factor.bits for factor in factors) > MAX_BITS:
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
                return _Values(-a.array, a.integral, a.bits, a.failed, a.guesses)
            case Op.POWER:
                return self._power(operands[0], node.second)
            case _:
                return self._divide(*operands)

    def _combine(self, op: Op, a: _Values, b: _Values) -> _Values:
        function = _FUNCTIONS[op]
        if not (a.integral and b.integral):
            a, b = self._as_doubles(a), self._as_doubles(b)
            self._spend(2 * np.broadcast(a.array, b.array).size)
            return _doubles(function(a.array, b.array), a, b)

        def bound() -> int:
            return a.bits + b.bits if op is Op.MULTIPLY else max(a.bits, b.bits) + 1

        if bound() > WORD_BITS:
            a, b = (_tightened(v) if v.guesses > _GUESSES else v for v in (a, b))
            if bound() > WORD_BITS and a.array.dtype != object != b.array.dtype:
                a, b = _tightened(a), _tightened(b)
        bits = bound()
        first, second = (a.array, b.array) if bits <= WORD_BITS else (_exact(a), _exact(b))
        each = _digit_time(a.bits, b.bits) if op is Op.MULTIPLY else 0
        self._pay(np.broadcast(first, second), bits, each)
        guesses = max(a.guesses, b.guesses) + 1
        return _within_bits(_Values(function(first, second), True, bits, None, guesses))

    def _power(self, a: _Values, exponent: int) -> _Values:
        if not a.integral:
            return self._double_power(a, exponent)
        if a.bits * exponent > WORD_BITS:
            a = _tightened(a)
        if (a.bits - 1) * exponent >= MAX_BITS:
            raise FormulaCostError("makes whole numbers that are too long")
        bits = max(1, a.bits * exponent)
        base = a.array if bits <= WORD_BITS else _exact(a)
        self._pay(base, bits, 2 * _digit_time(bits // 2, bits // 2))
        return _within_bits(_Values(np.power(base, exponent), True, bits))

    def _double_power(self, a: _Values, exponent: int) -> _Values:
        if exponent <= 1:
            array = np.ones_like(a.array) if exponent == 0 else a.array
            return _Values(array, False, 0, a.failed)
        if exponent == 2:
            self._spend(2 * a.array.size)
            raised = a.array * a.array
        else:
            self._spend(a.array.size * (1_500 + 600 * exponent.bit_length()))
            raised = _by_element(a.array, lambda value: _rounded_power(value, exponent))
        return _doubles(raised, a)

    def _divide(self, a: _Values, b: _Values) -> _Values:
        divisor = b.array.flat[0]
        if divisor == 0:
            return _Values(np.zeros((1, 1)), False, 0, np.ones((1, 1), dtype=bool))
        if a.integral and b.integral:
            a, b = _tightened(a), _tightened(b)
            if max(a.bits, b.bits) > _DOUBLE_BITS:
                self._spend(a.array.size * (500 + 2 * _digit_time(a.bits, b.bits)))
                integer = int(divisor)
                return _with_failures(a, lambda value: value / integer)
        a, b = self._as_doubles(a), self._as_doubles(b)
        self._spend(2 * a.array.size)
        return _doubles(a.array / b.array, a, b)

    def _as_doubles(self, a: _Values) -> _Values:
        if not a.integral:
            return a
        if a.array.dtype != object:
            return _Values(a.array.astype(np.float64), False)
        self._spend(a.array.size * 200)
        return _with_failures(a, float)

    def _spend(self, time: int) -> None:
        """Count an operation that takes about this many nanoseconds."""
        self._work += 2_000 + time
        if self._work > MAX_WORK:
            raise FormulaCostError("takes more work than is given to it")

    def _pay(self, cells: "Array | np.broadcast", bits: int, each: int = 0) -> None:
        """Count an operation on whole numbers; ``each`` is the time of one long multiplication."""
        slow = 25 + bits // 60 + each + 250 * (bits > _SMALL_BITS) if bits > WORD_BITS else 0
        self._spend(cells.size * (2 + slow))


def _children(node: Node) -> tuple[int, ...]:
    if node.op <= Op.NAME:
        return ()
    return (node.first,) if node.op in _UNARY else (node.first, node.second)


_UNARY = {Op.NEGATE, Op.POWER}


def _constant(value: float) -> _Values:
    if isinstance(value, float):
        return _Values(np.array([[value]]), False)
    bits = value.bit_length()
    kind = np.int64 if bits <= WORD_BITS else object
    return _Values(np.array([[value]], dtype=kind), True, bits)


def _tightened(a: _Values) -> _Values:
    """Return the values with the exact length of the longest, in machine words if they fit."""
    longest = max(abs(int(a.array.max())), abs(int(a.array.min()))).bit_length()
    fits = a.array.dtype == object and longest <= WORD_BITS
    return _Values(a.array.astype(np.int64) if fits else a.array, True, longest)


def _exact(a: _Values) -> Array:
    return a.array if a.array.dtype == object else a.array.astype(object)


def _within_bits(a: _Values) -> _Values:
    if a.bits > MAX_BITS:
        a = _tightened(a)
        if a.bits > MAX_BITS:
            raise FormulaCostError("makes whole numbers that are too long")
    return a


def _doubles(array: Array, *operands: _Values) -> _Values:
    """Return doubles, failed where they are not finite and where an operand has failed."""
    failed = ~np.isfinite(array)
    for operand in operands:
        if operand.failed is not None:
            failed = failed | operand.failed
    return _Values(array, False, 0, failed if failed.any() else None)


def _split_by_shape(a: _Values) -> tuple[_Values | None, _Values | None, _Values | None]:
    """Return the values as one per column, one per row, or one per cell; two of them are None."""
    if a.array.shape[0] == 1:
        return a, None, None
    return (None, a, None) if a.array.shape[1] == 1 else (None, None, a)


def _digit_time(bits: int, other_bits: int) -> int:
    """Return about how many nanoseconds it takes to multiply two whole numbers, as measured."""
    short, long = sorted((bits // 30 + 1, other_bits // 30 + 1))
    time = 0.65 * short * long
    return int(time if short < 70 else time * (70 / short) ** 0.4)


def _by_element(array: Array, function: Any) -> Array:  # noqa: ANN401
    results = [function(value) for value in array.ravel().tolist()]
    return np.array(results, dtype=np.float64).reshape(array.shape)


def _with_failures(a: _Values, function: Any) -> _Values:  # noqa: ANN401
    """Return doubles made of whole numbers; those that are too large for a double have failed."""

    def attempt(value: int) -> float:
        try:
            return float(function(value))
        except OverflowError:
            return math.nan

    return _doubles(_by_element(a.array, attempt))


def _rounded_power(base: float, exponent: int) -> float:
    """Return the double next to base ** exponent, ties to even; an infinity if it is too large."""
    if base == 0 or not math.isfinite(base):
        return base**exponent
    mantissa, scale = math.frexp(abs(base))
    odd_part = int(mantissa * 2.0**_DOUBLE_BITS)
    zeros = (odd_part & -odd_part).bit_length() - 1
    odd_part >>= zeros
    scale -= _DOUBLE_BITS - zeros
    low, high, shift = _power_bounds(odd_part, exponent)
    size = _nearest_double(low, scale * exponent + shift)
    if low != high and size != _nearest_double(high, scale * exponent + shift):
        size = _nearest_double(odd_part**exponent, scale * exponent)
    return -size if base < 0 and exponent % 2 else size


def _power_bounds(base: int, exponent: int) -> tuple[int, int, int]:
    """Return low, high and shift: base ** exponent is from low to high times 2 ** shift."""
    low = high = base
    shift = 0
    for bit in f"{exponent:b}"[1:]:
        low, high, shift = low * low, high * high, 2 * shift
        if bit == "1":
            low, high = low * base, high * base
        surplus = low.bit_length() - _KEPT_BITS
        if surplus > 0:
            exact = low == high and not low & ((1 << surplus) - 1)
            low >>= surplus
            high = low if exact else (high >> surplus) + 1
            shift += surplus
    return low, high, shift


def _nearest_double(factor: int, scale: int) -> float:
    """Return the double next to whole * 2 ** scale; an infinity if it is too large."""
    surplus = factor.bit_length() - 66
    if surplus > 0:
        # One more bit says whether anything was cut off, which is all that rounding asks.
        cut = factor & ((1 << surplus) - 1)
        factor, scale = factor >> surplus | (cut != 0), scale + surplus
    if scale + factor.bit_length() > 1_024:
        return math.inf
    if scale < 0:
        return factor / (1 << -scale) if scale > -1_200 else 0.0
    try:
        return float(factor << scale)
    except OverflowError:
        return math.inf
