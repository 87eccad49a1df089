"""Polynomials: scores at the limits, exploits of the research grader, hostile texts."""

import re
from fractions import Fraction

import pytest
from bounds import a_minute_of_work, peak
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.catalog import get_task
from scbench.graders.polynomial_curve_fitting import CHECKS, grade
from scbench.schemas.polynomial_curve_fitting import Answer, Params

HEAD = "def f(x, y):\n    return "
BUILDER = get_task("polynomial_curve_fitting").builder()
PAPER = [item.params for item in BUILDER.paper()]
HALVES = Params(grid=("####....",) * 8)
"""Black where x < 4."""
HOSTILE = {
    "tower": lambda: "x + y + 9**9**9",
    "tower_of_brackets": lambda: "x*y + (((10**500)**500)**500)**500",
    "tower_of_letters": lambda: "**".join(["x"] * 20_000) + "+y",
    "brackets": lambda: "(" * 190_000 + "x" + ")" * 190_000,
    "signs": lambda: "-" * 120_000 + "x*y",
    "digits": lambda: "x + y + " + "9" * 399_000,
    "blanks": lambda: "x + y" + " \n" * 190_000 + "*",
    "longer_numbers": lambda: "*".join(f"({10**90}*x+{i}*y)" for i in range(1_000)),
    "powers_of_doubles": lambda: "+".join(f"(x+{i}.5*y)**511" for i in range(18_000)),
    "kept_values": lambda: (
        "+".join(f"(x+{i}*y)" for i in range(9_000))
        + "".join(f"-(x+{i}*y)" for i in range(8_999, -1, -1))
    ),
    "pending_values": lambda: (
        "+".join(f"((x+{i}*y)**500" for i in range(149)) + "*x" + ")" * 149
    ),
}
"""Texts that would exhaust the stack, memory or time of an ordinary parser."""


def verdict(body, params=HALVES, head=HEAD):
    return grade(params, Answer(function=head + body))


def failed(body, params=HALVES, head=HEAD):
    checks = verdict(body, params, head).checks
    return [check.id for check in checks if check.passed is False]


@pytest.mark.parametrize(
    ("body", "matched", "score"),
    [
        ("6 - x + 0*y", 48, 0.31640625),
        ("(6 - x)*(2*(x - 6)**2 + 2*(y - 7)**2 - 1)", 48, 0.31640625),
        ("(11 - 2*x)*(2*(x - 5)**2 + 2*y**2 - 1)", 49, (49 / 64) ** 4),
        ("(11 - 2*x)*(2*(x - 6)**2 + 2*y**2 - 1)", 47, 0),
        ("7 - 2*x + 0*y", 64, 1),
        ("(7 - 2*x)*(2*(x - 7)**2 + 2*(y - 7)**2 - 1)", 63, (63 / 64) ** 4),
        ("2*x - 7 + 0*y", 0, 0),
        ("1 + x + y", 32, 0),
        ("-1 - x - y", 32, 0),
    ],
)
def test_scores_at_the_boundaries(body, matched, score):
    result = verdict(body)
    assert result.metrics["matched"] == matched
    assert result.score == score


@pytest.mark.parametrize(
    ("sign", "rows"),
    [(1, ["#" * 8] * 7 + ["#######."]), (-1, ["." * 8] * 7 + [".......#"])],
    ids=["1", "-1"],
)
def test_one_colour_scores_0(sign, rows):
    params = Params(grid=tuple(rows))
    result = verdict(f"{sign}*(x + y + 1)", params)
    assert result.metrics["matched"] == 63
    assert result.score == 0
    assert failed(f"{sign}*(x + y + 1)", params)[0] == "two_colours"


def test_texts_over_the_limits_are_rejected():
    too_long = f"{HEAD}x + y".ljust(400_000) + "+ 1"
    too_deep = f"{HEAD}{'(' * 151}x + y{')' * 151}"
    for text in (too_long, too_deep):
        checks = grade(HALVES, Answer(function=text)).checks
        failing = [check.id for check in checks if check.passed is False]
        assert failing == ["resource_limit"]
    right = f"{HEAD}7 - 2*x + 0*y"
    # Blanks at the end do not count.
    assert grade(HALVES, Answer(function=f"{right}{' ' * 600_000}")).score == 1
    deep = f"{HEAD}{'(' * 150}7 - 2*x + 0*y{')' * 150}"
    assert grade(HALVES, Answer(function=deep)).score == 1
    long = right.ljust(400_000 - 3) + "+ 0"
    assert len(long) == 400_000
    assert grade(HALVES, Answer(function=long)).score == 1


@pytest.mark.parametrize(
    ("text", "check"),
    [
        (f"{HEAD}[[1, 0], [0, 1]][y][x]", "text"),
        (f"{HEAD}7 - 2*\N{MATHEMATICAL ITALIC SMALL X} + y*0", "text"),
        (f"{HEAD}7 - 2*x + 0*y > 0", "text"),
        (f"{HEAD}7 - 2*x + 0*y # ok", "text"),
        (f"{HEAD}7 // 2 - x + 0*y", "text"),
        (f"{HEAD}x + y\x00", "text"),
        (f"{HEAD}x + y + 0x10", "text"),
        (f"{HEAD}x + y + 1_000", "text"),
        (f"{HEAD}x + y + 1e400", "text"),
        (f"{HEAD}x + y + {'1' * 401}", "text"),
        ("def f(x, y):\n    xx = x - 4\n    return xx + y", "text"),
        ("import os\ndef f(x, y):\n    return x + y", "text"),
        ("```\ndef f(x, y):\n    return x + y\n```", "text"),
        ("I cannot do that.", "text"),
        ("", "form"),
        ("x + y", "form"),
        ("def f(y, x):\n    return x + y", "form"),
        ("def f(x, y):\n    x + y", "form"),
        ("def f(x, y):\n    return x + y\n    return x", "form"),
        ("def f(x, y):\n    return x, y", "form"),
        ("def f(x, y):\n    return 2x + y", "form"),
        ("def f(x, y):\n    return x + f(x, y)", "form"),
        (f"{HEAD}x/y", "polynomial"),
        (f"{HEAD}x**-1 + y", "polynomial"),
        (f"{HEAD}x**y", "polynomial"),
        (f"{HEAD}x + y + 9**9**9", "polynomial"),
        (f"{HEAD}x + 1", "variables"),
        (f"{HEAD}1", "variables"),
    ],
)
def test_faults_and_exploits_fail_their_own_check(text, check):
    result = grade(HALVES, Answer(function=text))
    assert result.score == 0
    assert next(c.id for c in result.checks if c.passed is False) == check
    assert {c.id for c in result.checks} == set(CHECKS)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x,y):return 7-2*x+0*y",
        "\n\n  def f(x, y):\n\n \t\n    return(7 - 2*x + 0*y)\n\n",
        "def f(x, y):\r\n\treturn 7 - 2*x + 0*y\r\n",
        "def f(\n  x,\n  y,\n):\n return (\n7 - 2*x\n\n+ 0*y)",
        "def f(x, y):\n    return 7 - 2*x \\\n + 0*y",
        "def f ( x , y ) :\n    return +7 --(-2)*x + .0*y + 0.e5",
    ],
)
def test_layout_allowed_by_python_is_accepted(text):
    assert grade(HALVES, Answer(function=text)).score == 1


@settings(max_examples=30)
@given(
    st.integers(0, 3),
    st.integers(1, 9),
    st.sampled_from([" ", "\n", "\t", "\\\n"]),
    st.integers(0, 20),
)
def test_equivalent_formulas_keep_the_score(which, factor, blank, shift):
    params = PAPER[which]
    text = BUILDER.reference(params).function
    body = text.partition("return ")[2]
    for _ in range(shift % 3):
        body = f"({body})"
    positive = f"{HEAD}{factor}*({body})*(1 + x**2*y**2)"
    assert grade(params, Answer(function=positive)).score == 1
    spaced = re.sub(r"([-+*])(?!\*)(?<!\*\*)", rf"\1{blank}", body)
    assert grade(params, Answer(function=f"{HEAD}({spaced})")).score == 1
    mirrored = Params(grid=tuple(row[::-1] for row in params.grid))
    flipped = body.replace("x", f"({len(params.grid) - 1}-x)")
    assert grade(mirrored, Answer(function=HEAD + flipped)).score == 1
    turned = Params(grid=tuple(map("".join, zip(*params.grid, strict=True))))
    exchanged = body.translate(str.maketrans("xy", "yx"))
    assert grade(turned, Answer(function=HEAD + exchanged)).score == 1


@settings(max_examples=40)
@given(st.lists(st.integers(-50, 50), min_size=6, max_size=6))
def test_scores_match_cell_counts(c):
    body = f"{c[0]} + {c[1]}*x + {c[2]}*y + {c[3]}*x*x + {c[4]}*x*y + {c[5]}*y**2"
    grid = PAPER[1].grid
    matched = positive = 0
    for y in range(12):
        for x in range(12):
            value = c[0] + c[1] * x + c[2] * y
            value += c[3] * x * x + c[4] * x * y + c[5] * y * y
            positive += value > 0
            matched += (value > 0) == (grid[y][x] == "#")
    share = Fraction(matched, 144)
    has_two_colours = 0 < positive < 144
    expected = share**4 if share >= Fraction(3, 4) and has_two_colours else 0
    assert verdict(body, PAPER[1]).score == float(expected)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_graded_with_bounded_time_and_memory(name):
    before = peak()
    with a_minute_of_work():
        assert verdict(HOSTILE[name](), PAPER[8]).score == 0
    assert peak() - before < 500_000  # KiB


def test_degree_limit_counts_vanishing_terms():
    limited = Params(grid=("#.", ".."), max_degree=2)
    fine = Answer(function="def f(x, y): return 1 - 2*x - 2*y + 0*x*y")
    assert grade(limited, fine).score == 1
    assert grade(limited.model_copy(update={"max_degree": None}), fine).score == 1
    # The term of degree 3 vanishes, but it counts.
    steep = Answer(function="def f(x, y): return 1 - 2*x - 2*y + 0*x*x*y")
    verdict = grade(limited, steep)
    assert verdict.score == 0
    (check,) = [check for check in verdict.checks if check.id == "polynomial"]
    assert "the total degree is 3, above 2" in check.message
    assert grade(limited.model_copy(update={"max_degree": None}), steep).score == 1
    assert "max_degree" not in Params(grid=("#.", "..")).model_dump()
