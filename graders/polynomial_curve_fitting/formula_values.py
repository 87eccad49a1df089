"""The values of a formula in all cells of a grid, with Python's rules for numbers.

Whole numbers are exact, fractions are IEEE doubles, and ``/`` gives the correctly rounded quotient.
A double's power is the correctly rounded one, so that no result depends on a machine's own ``pow``.
What depends on x or y alone is worked out once for every column or row. Work and memory are bounded
by counting.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scbench.graders.polynomial_curve_fitting.formula import X_AXIS, Y_AXIS, Formula, Node, Op

MAX_BITS = 65_536
"""Bits of the longest whole number that may come up."""
MAX_WORK = 800_000_000
"""Roughly nanoseconds; a right answer of one term for every row of the largest picture takes 40 %
of it."""
MAX_BYTES = 150_000_000
"""Of all values that are still needed, at any time."""
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
    """Working out the formula takes more time, memory or digits than are given to it."""


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


def signs(formula: Formula, n: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where a formula is positive and where it has no value, as (row, column) arrays.

    The formula has no faults; x and y go from 0 to n - 1.

    Raises:
        FormulaCostError: it takes too long, needs too much room, or numbers get too long.
    """
    with np.errstate(all="ignore"):
        result = _Evaluation(n).run(formula)
    positive = np.asarray(result.array > 0, dtype=bool)
    failed = np.zeros((1, 1), dtype=bool) if result.failed is None else result.failed
    return np.broadcast_to(positive & ~failed, (n, n)), np.broadcast_to(failed, (n, n))


_FUNCTIONS = {Op.ADD: np.add, Op.SUBTRACT: np.subtract, Op.MULTIPLY: np.multiply}


class _Evaluation:
    def __init__(self, n: int) -> None:
        line = np.arange(n, dtype=np.int64)
        bits = (n - 1).bit_length()
        self._names = {
            X_AXIS: _Values(line[None, :], True, bits),
            Y_AXIS: _Values(line[:, None], True, bits),
        }
        self._work = 0

    def run(self, formula: Formula) -> _Values:
        nodes = formula.nodes
        uses = [0] * len(nodes)
        for node in nodes:
            for child in _children(node):
                uses[child] += 1
        live: dict[int, _Values] = {}
        memory = 0
        for number, node in enumerate(nodes):
            if not uses[number] and number < len(nodes) - 1:
                continue  # the exponent of a power
            values = live[number] = self._step(node, live)
            memory += values.size
            if memory > MAX_BYTES:
                raise FormulaCostError("needs more memory than is given to it")
            for child in _children(node):
                uses[child] -= 1
                if not uses[child]:
                    memory -= live.pop(child).size
        return live[len(nodes) - 1]

    def _step(self, node: Node, live: dict[int, _Values]) -> _Values:
        if node.op in _FUNCTIONS:  # most are
            return self._combine(node.op, live[node.first], live[node.second])
        match node.op:
            case Op.CONSTANT:
                return _constant(node.value)
            case Op.NAME:
                return self._names[node.axes]
            case Op.NEGATE:
                a = live[node.first]
                self._pay(a.array, a.bits)
                return _Values(-a.array, a.integral, a.bits, a.failed, a.guesses)
            case Op.POWER:
                return self._power(live[node.first], node.second)
            case _:
                return self._divide(live[node.first], live[node.second])

    def _combine(self, op: Op, a: _Values, b: _Values) -> _Values:
        function = _FUNCTIONS[op]
        if not (a.integral and b.integral):
            a, b = self._as_doubles(a), self._as_doubles(b)
            self._spend(2 * np.broadcast(a.array, b.array).size)
            return _Values(function(a.array, b.array), False, 0, _either(a, b))

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
        # Python raises an error where a finite number's power is beyond the doubles.
        over = np.isinf(raised) & np.isfinite(a.array)
        failed = over if a.failed is None else over | a.failed
        return _Values(raised, False, 0, failed if failed.any() else None)

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
        return _Values(a.array / b.array, False, 0, _either(a, b))

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


def _either(a: _Values, b: _Values) -> NDArray[np.bool_] | None:
    if a.failed is None or b.failed is None:
        return a.failed if b.failed is None else b.failed
    return a.failed | b.failed


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

    doubles = _by_element(a.array, attempt)
    failed = np.isnan(doubles)
    return _Values(doubles, False, 0, failed if failed.any() else None)


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
