"""Formulas: parsed like Python, evaluated in fractions, at bounded cost."""

import ast
import io
import math
import operator
import re
import tokenize
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.graders.polynomial_curve_fitting import formula_values
from scbench.graders.polynomial_curve_fitting.formula import (
    MAX_DEGREE,
    FormulaError,
    foreign_tokens,
    parse,
    plain_lines,
)
from scbench.graders.polynomial_curve_fitting.formula_values import (
    MAX_BITS,
    FormulaCostError,
    UndefinedError,
    Values,
    digit_time,
    positive_cells,
)

HEAD = "def f(x, y):\n    return "
NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
SIGNS = {"+", "-", "*", "/", "**", "(", ")", ",", ":"}
LAYOUT = {
    tokenize.NEWLINE,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
# Parts of formulas, layout, and tokens that formulas must not have.
PIECES = [
    "x", "y", "(", ")", "+", "-", "*", "/", "**", "2", "0.5", ".5", "3.", "1e2", "007", "00",
    " ", "\n", "\t", "\\\n", "\r\n", ",", "return", "f", "def", ":", "//", "=", "#", ";",
    "1_0", "0x1", "2j", "''", "[", "if", "x2", "X", "\n    ", "\n\n", "()", "-x**2", "+y",
]  # fmt: skip
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def has_only_formula_tokens(text):
    names = {"def", "return", "f", "x", "y"}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        match token.type:
            case tokenize.NAME:
                is_allowed = token.string in names
            case tokenize.OP:
                is_allowed = token.string in SIGNS
            case tokenize.NUMBER:
                is_allowed = NUMBER.fullmatch(token.string)
            case _:
                is_allowed = token.type in LAYOUT
        if not is_allowed:
            return False
    return True


def is_formula(expression):
    allowed = ast.BinOp | ast.UnaryOp | ast.Name | ast.Constant | ast.operator
    for node in ast.walk(expression):
        if not isinstance(node, allowed | ast.unaryop | ast.expr_context):
            return False
        if isinstance(node, ast.Name) and node.id not in {"x", "y"}:
            return False
        if isinstance(node, ast.Constant) and not math.isfinite(node.value):
            return False
    return True


def parse_with_python(text: str) -> ast.expr | None:
    """Return the expression if Python's parser finds one valid function."""
    if not text.isascii():
        return None
    try:
        if not has_only_formula_tokens(text):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, tokenize.TokenError):
        return None
    match tree.body:
        case [
            ast.FunctionDef(
                name="f",
                args=ast.arguments(
                    posonlyargs=[],
                    args=[ast.arg("x", None), ast.arg("y", None)],
                    vararg=None,
                    kwonlyargs=[],
                    kwarg=None,
                    defaults=[],
                ),
                body=[ast.Return(ast.expr() as expression)],
                returns=None,
            )
        ] if is_formula(expression):
            return expression
    return None


def parse_or_none(text: str):
    text = plain_lines(text)
    if not text.isascii() or foreign_tokens(text):
        return None
    try:
        return parse(text)
    except FormulaError:
        return None


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join))
def test_parser_agrees_with_python(body):
    for text in (HEAD + body, f"def f(x,y):return {body}", f"{HEAD}({body})"):
        given = text.strip()
        assert (parse_or_none(given) is None) == (parse_with_python(given) is None), (
            repr(given)
        )


def atoms():
    numbers = st.sampled_from(
        ["0", "1", "3", "12", "0.5", "2.25", ".1", "1e3", "98765432109876", "9e307"]
    )
    return st.sampled_from(["x", "y"]) | numbers


def combine(inner):
    sign = st.sampled_from(["+", "-", "*", " - ", "*-"])
    suffix = st.sampled_from(["/3", "/0.7", "**0", "**2", "**3", "**7", "**40"])
    return (
        st.tuples(inner, sign, inner).map("".join)
        | st.tuples(inner, suffix).map("".join)
        | inner.map("({})".format)
        | inner.map("-{}".format)
    )


def formulas():
    return st.recursive(atoms(), combine, max_leaves=12)


def by_fractions(node, text, x, y):
    """Evaluate with Python's operators on fractions, reading numbers as written."""
    match node:
        case ast.Constant():
            return Fraction(ast.get_source_segment(text, node))
        case ast.Name(name):
            return Fraction({"x": x, "y": y}[name])
        case ast.UnaryOp(op, operand):
            value = by_fractions(operand, text, x, y)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left, ast.Pow(), ast.Constant(exponent)):
            return by_fractions(left, text, x, y) ** exponent
        case ast.BinOp(left, op, right):
            a, b = by_fractions(left, text, x, y), by_fractions(right, text, x, y)
            return OPERATORS[type(op)](a, b)
    raise AssertionError(node)


@settings(max_examples=150)
@given(formulas())
def test_signs_match_fractions(body):
    text = HEAD + body
    formula = parse_or_none(text)
    if formula is None or formula.faults:
        return
    try:
        positive = positive_cells(formula, 5)
    except FormulaCostError:
        assert body.count("**40") > 1
        return
    expression = parse_with_python(text)
    for y in range(5):
        for x in range(5):
            value = by_fractions(expression, text, x, y)
            assert positive[y, x] == (value > 0), (body, x, y)


@pytest.mark.parametrize(
    "body",
    [
        "x/y",
        "x**y",
        "x**-1",
        "x**2**2",
        "x**513",
        "(x**512)**3",
        "(x*y)**512*x",
    ],
)
def test_non_polynomials_and_high_degrees_are_faults(body):
    assert parse(HEAD + body).faults


@pytest.mark.parametrize(
    "body", ["x**512*x**512", "(x*y)**512", "x/(2*3 - 1)", "x**0", "3**0*x"]
)
def test_degree_limit_and_constant_divisors_are_allowed(body):
    formula = parse(HEAD + body)
    assert not formula.faults
    assert formula.nodes[-1].degree <= MAX_DEGREE


@pytest.mark.parametrize(
    ("bits", "fine"),
    [(62, True), (63, True), (64, True), (MAX_BITS, True), (MAX_BITS + 1, False)],
)
def test_numbers_are_exact_up_to_size_limit(bits, fine):
    assert positive_cells(parse(f"{HEAD}({2**63 - 1})**512 + 0*x + 0*y"), 2).all()
    # 2**(bits - 1) has this many bits; factors have exponents of at most 512.
    steps = []
    left = bits - 1
    while left:
        steps.append(f"2**{min(left, 512)}")
        left -= min(left, 512)
    power = "*".join(steps)
    for body in (f"{power} - {power} + 1 + 0*x + 0*y", f"(x + y + 1)/({power}) + 0*x"):
        formula = parse(HEAD + body)
        if fine:
            assert positive_cells(formula, 2).all()
        else:
            with pytest.raises(FormulaCostError, match="too long"):
                positive_cells(formula, 2)


@pytest.mark.parametrize(
    ("body", "positive"),
    [
        ("x*10.0**512 + y + 1", 9),
        ("1 - (x*1e200)**2 + y", 3),
        ("x*1e308*1e308 - x*1e308*1e308 - y", 0),
        ("(x*1e308*10.0)**0 - y", 3),
        ("1e308 + x*1e308 + y - 1e308", 8),
        ("x + 1e16 - 1e16", 6),
        ("(x - 1.5)/1e300/1e300 + 0*y", 3),
        ("x*0.1 + 0.2 - 0.3 + 0*y", 3),
        ("(x - 1/3*3)*(-1/7) + 0*y", 3),
        ("1/(-3)*(x - 1) + 0*y", 3),
        ("10**400/10**399 + x + y", 9),
    ],
)
def test_values_are_not_rounded_and_do_not_overflow(body, positive):
    assert int(positive_cells(parse(HEAD + body), 3).sum()) == positive


@pytest.mark.parametrize(
    "body", ["x/0 + y", "0*(x/0) + 1 + y", "x/(0.1 + 0.2 - 0.3) + y", "0/0*x"]
)
def test_division_by_0_is_undefined(body):
    with pytest.raises(UndefinedError):
        positive_cells(parse(HEAD + body), 3)


def test_work_is_limited(monkeypatch):
    costly = parse(HEAD + "+".join(f"(x*y + {i})**50" for i in range(40)))
    positive_cells(costly, 16)
    monkeypatch.setattr(formula_values, "MAX_WORK", 1_000_000)
    with pytest.raises(FormulaCostError, match="too much work"):
        positive_cells(costly, 16)


def test_work_limit_is_inclusive(monkeypatch):
    def work(formula: str) -> int:
        evaluation = formula_values.Evaluation()
        evaluation.run(parse(HEAD + formula), slice(0, 4), slice(0, 4))
        return evaluation._work

    formula = "x*y + x**2"
    needed = work(formula)
    monkeypatch.setattr(formula_values, "MAX_WORK", needed)
    assert work(formula) == needed
    monkeypatch.setattr(formula_values, "MAX_WORK", needed - 1)
    with pytest.raises(FormulaCostError, match="too much work"):
        work(formula)


@pytest.mark.parametrize(
    ("bits", "other_bits", "time"),
    [
        (29, 29, 0),  # one digit each
        (30, 60, 3),  # 2 and 3 digits: 0.65 * 6
        (60, 30, 3),
        (2069, 2069, 3094),  # 69 digits: 0.65 * 69 * 69
        (2099, 2099, 3185),
        (4199, 4199, 9655),  # 140 digits, by Karatsuba: 12740 / 2**0.4
        (4199, 0, 91),
    ],
)
def test_product_time_grows_with_both_lengths(bits, other_bits, time):
    assert digit_time(bits, other_bits) == time


def test_size_of_values():
    words = Values(np.ones((2, 3), np.int64), 1)
    assert words.size == 100 + 6 * 8
    integers = Values(np.full((2, 3), 2**70, object), 71)
    assert integers.size == 100 + 6 * (40 + 10)


@pytest.mark.parametrize(("bits", "result"), [(31, 62), (32, 2)])
def test_loose_bounds_are_tightened_when_a_power_may_overflow(bits, result):
    """Square 1, given only an upper bound on its bits."""
    loose = Values(np.ones((1, 1), np.int64), bits)
    squared = formula_values.Evaluation()._power(loose, 2)
    assert (squared.bits, squared.array.dtype) == (result, np.int64)


def test_large_values_are_computed_in_smaller_blocks(monkeypatch):
    # Nested products, whose 59 left factors wait until the innermost bracket is computed.
    opened = "".join(f"(x + {i}*y - 3)**7*(" for i in range(1, 60))
    closed = ")" * 59
    crowded = parse(f"{HEAD}{opened}x - y{closed} + x/0.3 - 2*y**3")
    drawn = positive_cells(crowded, 11)
    for limit in (60_000, 20_000):
        monkeypatch.setattr(formula_values, "MAX_BYTES", limit)
        assert (positive_cells(crowded, 11) == drawn).all()
    monkeypatch.setattr(formula_values, "MAX_BYTES", 1_000)
    with pytest.raises(FormulaCostError, match="too much memory"):
        positive_cells(crowded, 11)
