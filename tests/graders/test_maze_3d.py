"""Mazes: the specification's examples, and routes compared with exhaustive search."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.graders.maze_3d import grade
from scbench.schemas.maze_3d import Answer, Params

FORGIVEN = [
    "A0B\r\n888\r\n222", "\n\nA0B\n888\n222\n\n", " A0B\n888\n222 \t", "A0B  \n888 \n222\N{NBSP}",
]  # fmt: skip


def params(n, a, b, jumps, share=100, route=20):
    return Params(
        size=n,
        a_height=a,
        b_height=b,
        jumps=jumps,
        max_height_percent=share,
        min_route_percent=route,
    )


def verdict(maze, expected):
    return grade(expected, Answer(maze=tuple(maze.split("/"))))


def failed(maze, expected):
    checks = verdict(maze, expected).checks
    return [check.id for check in checks if check.passed is False]


@pytest.mark.parametrize(
    ("maze", "numbers", "wrong"),
    [
        ("A0B/888/222", (3, 5, 5, 1), None), ("A3B/888/222", (3, 5, 5, 1), None),
        ("A4B/888/222", (3, 5, 5, 1), "jumps"), ("A4B/888/222", (3, 5, 5, 0), None),
        ("AB5/814/823", (3, 5, 0, 1), None), ("A6B/888/222", (3, 5, 5, 0), None),
        ("A7B/888/222", (3, 5, 5, 0), "route"), ("A05/090/50B", (3, 5, 5, 1), "one_route"),
        ("A0B/454/222", (3, 5, 5, 0), "one_route"), ("A55B/9599/9559/9559", (4, 5, 5, 0), None),
        ("A00B/9999/2222/7777", (4, 5, 5, 0), "route"), ("A04/99B/222", (3, 5, 5, 0), "route"),
        ("A555B/99999/22222/77777/00000", (5, 5, 5, 0), None),
        ("A55B9/99999/22222/77777/00000", (5, 5, 5, 0), "coverage"),
        ("A5/5B", (2, 5, 5, 0), "one_route"), ("A0B/888/22", (3, 5, 5, 1), "shape"),
        ("A0B/4.4/222", (3, 5, 5, 0), "characters"),
        ("A669B/98581/01472/39160/87432", (5, 5, 0, 2, 30), None),
        ("A669B/95581/01472/39160/87432", (5, 5, 0, 2, 30), "one_route"),
        ("A669B/98581/01472/39360/87432", (5, 5, 0, 2, 30), "jumps"),
    ],
)  # fmt: skip
def test_specification_examples(maze, numbers, wrong):
    assert failed(maze, params(*numbers)) == ([wrong] if wrong else [])
    assert verdict(maze, params(*numbers)).score == (wrong is None)


def test_a_and_b_count_at_their_heights():
    # 3 of 9 cells have height 5 if A and B count, otherwise 1.
    maze = "A5B/012/346"
    low, high = (params(3, 5, 5, 0, share=share, route=0) for share in (33, 34))
    assert failed(maze, low) == ["height_share"]
    assert failed(maze, high) == []
    share_check = verdict(maze, params(3, 5, 5, 0, share=33)).checks[3]
    assert share_check.details == {"count": 1, "offenders": [[5, 3]]}


def test_shares_are_compared_exactly():
    # 30 of 100 cells are 30 %; 31 are more. The row of fives is the route.
    rows = ["A55555555B", "9999999999"] + ["0123467888"] * 6 + ["7" * 10, "9" * 10]
    text = "/".join(rows)
    count = sum(row.count("8") for row in rows)
    assert count == 18
    for height, share, wrong in (("9", 20, []), ("9", 19, ["height_share"])):
        assert text.count(height) == 20
        assert failed(text, params(10, 5, 5, 0, share=share, route=10)) == wrong
    assert failed(text, params(10, 5, 5, 0, share=20, route=11)) == ["coverage"]


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        ("", ["shape", "ends"]), ("A0\n888\n222", ["shape", "ends"]), ("A0B\n888", ["shape"]),
        ("A0B\n\n888\n222", ["shape"]), ("Here it is:\nA0B\n888\n222", ["shape", "characters"]),
        ("A0B\n8\N{SUPERSCRIPT TWO}8\n222", ["characters"]),
        ("A0B\n8\N{DEVANAGARI DIGIT TWO}8\n222", ["characters"]),
        ("A0B\n8\N{FULLWIDTH DIGIT TWO}8\n222", ["characters"]), ("A0A\n8B8\n222", ["ends"]),
        ("000\n888\n222", ["ends"]), ("A0B\r888\r222", ["shape", "characters"]),
        ("__content_violation__", ["shape", "characters", "ends"]), ("A" * 500, ["resource_limit"]),
        ("\r\n" * 10**6 + "A" + "\n" * 10**6 + "B", ["resource_limit"]),
    ],
)  # fmt: skip
def test_bad_texts_fail_their_own_checks(text, checks):
    result = grade(params(3, 5, 5, 1, share=40), Answer.model_validate(text))
    assert [check.id for check in result.checks if check.passed is False] == checks
    assert result.score == 0


@pytest.mark.parametrize("text", FORGIVEN)
@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: {"maze": text}])
def test_line_ends_and_trailing_blanks_are_ignored(text, wrap):
    assert grade(params(3, 5, 5, 1), Answer.model_validate(wrap(text))).score == 1


def every_route(n, heights, start, end):
    """Return all simple routes, trying every move that the rules allow."""
    routes = []

    def at(x, y):
        is_inside = 0 <= x < n and 0 <= y < n
        return heights[y * n + x] if is_inside else None

    def walk(x, y, way):
        if (x, y) == end:
            routes.append(way)
            return
        here = at(x, y)
        for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            moves = []
            near, far = (x + dx, y + dy), (x + 2 * dx, y + 2 * dy)
            if at(*near) is not None and abs(at(*near) - here) <= 1:
                moves.append(near)
            if at(*far) == here and at(*near) <= here - 2:
                moves.append(far)
            for move in moves:
                if move not in way:
                    walk(*move, [*way, move])

    walk(*start, [start])
    return routes


@settings(max_examples=150)
@given(
    n=st.integers(2, 4),
    heights=st.lists(st.sampled_from([0, 2, 3, 5, 6, 8]), min_size=16, max_size=16),
    ends=st.tuples(st.integers(0, 15), st.integers(0, 15)),
)
def test_routes_match_exhaustive_search(n, heights, ends):
    start, end = (end % (n * n) for end in ends)
    if start == end:
        return
    heights = heights[: n * n]
    cells = [str(height) for height in heights]
    cells[start], cells[end] = "A", "B"
    maze = "/".join("".join(cells[y * n : y * n + n]) for y in range(n))
    expected = params(n, heights[start], heights[end], 0, route=0)
    result = verdict(maze, expected)
    routes = every_route(n, heights, (start % n, start // n), (end % n, end // n))
    passed = {check.id: check.passed for check in result.checks}
    assert passed["route"] == bool(routes)
    if not routes:
        return
    assert passed["one_route"] == (len(routes) == 1)
    assert [tuple(at) for at in result.metrics["route"]] in routes
    other = [tuple(at) for at in result.metrics["other_route"]]
    if len(routes) > 1:
        assert other in routes
        return
    assert not other

    # Requirements that the only route meets exactly, and one more than that.
    (route,) = routes
    jumps = sum(abs(x - u) + abs(y - v) == 2 for (x, y), (u, v) in pairwise(route))
    assert len(result.metrics["jumped_over"]) == jumps
    share = 100 * len(route) // (n * n)
    tight = expected.model_copy(update={"min_route_percent": share, "jumps": jumps})
    assert verdict(maze, tight).score == 1
    for change in ({"min_route_percent": share + 1}, {"jumps": jumps + 1}):
        assert verdict(maze, tight.model_copy(update=change)).score == 0


def test_stated_ends_must_be_met():
    expected = params(3, 5, 5, 1)
    a_is_wrong = (
        "A must be in row 0, column 1 (counting from 0), but is in row 0, column 0."
    )
    b_is_wrong = (
        "B must be in row 2, column 0 (counting from 0), but is in row 0, column 2."
    )
    for ends, messages in (
        (((0, 0), (0, 2)), []),
        (((0, 1), (0, 2)), [a_is_wrong]),
        (((0, 0), (2, 0)), [b_is_wrong]),
    ):
        stated = expected.model_copy(update={"ends": ends})
        result = verdict("A0B/888/222", stated)
        assert result.score == (messages == [])
        assert [c.message for c in result.checks if c.passed is False] == messages
        # The other checks are unaffected.
        assert result.metrics["route"] == [[0, 0], [2, 0]]
    for wrong in ([[0, 0], [0, 0]], [[0, 0], [0, 3]], [[-1, 0], [0, 1]]):
        with pytest.raises(ValueError, match="ends"):
            Params.model_validate({**expected.model_dump(), "ends": wrong})
