"""Answers to text tasks as models write them: right ones, and the check that wrong ones fail."""

import json
from typing import NamedTuple

import pytest

from scbench.catalog import get_task
from scbench.scoring.judge import judge

SEQUENCE = {
    "start": 5,
    "modulus": 100,
    "base": [{"kind": "add", "amount": 3}, {"kind": "multiply", "amount": 2}],
    "interference": [{"kind": "every", "n": 4, "amount": -1}],
    "shown": 3,
    "asked": 3,
}
"""The terms are 5, 8, 16, 19 - 1 = 18, 36, 39."""
DATE = {
    "story": "well", "opening": "Ann digs.", "events": ["the start", "the end", "the middle"],
    "date_format": "MM_DD_YYYY", "given": [[0, 2024, 2, 28, 0]], "steps": [[1, "days", 5, 0]],
    "asked": 1, "style": 0,
}  # fmt: skip
BALLS = {
    "domain": "balls", "people": ["Alice", "Omar", "Vera"],
    "things": ["red ball", "blue ball", "green ball"], "events": [[True, 0, 1, 0]], "asked": 0,
    "options": ["green ball", "red ball", "blue ball"], "anchor_format": "number", "opening": 0,
}  # fmt: skip
THINGS = {
    "entries": [
        ["a", "", "saw", "tools"],
        ["thirty-two", "big", "owls", "birds"],
        ["12", "old", "hoes", "tools"],
    ],
    "groups": ["tools"],
    "anchor_format": "none",
    "opening": 0,
}
GAMMA = ["Gamma: The Return", 1992, ["comedy"], ["family", "work"]]
FILMS = {
    "liked": [GAMMA],
    "choices": [
        ["Alpha", 1990, ["crime", "drama"], ["police"]],
        ["Beta", 1991, ["drama"], ["police", "family"]],
        GAMMA,
    ],
    "genre_weight": 2,
    "theme_weight": 3,
    "template": "list",
    "opening": 0,
}
BELLS = {
    "story": "test",
    "opening": "It is told.",
    "events": [
        [f"the bell {name}", "ring", "rings", "rang", "rung"] for name in "abcde"
    ],
    "rules": [[2, "all", [[0, True], [1, True]]], [4, "all", [[3, True]]]],
    "told": [[0, True], [1, True], [3, True]],
    "outcome": 2,
    "question": "necessary_set",
    "candidates": [3, 0, 4, 1],
    "style": 0,
}
"""The right answer is B and D."""
BELL = BELLS | {"question": "but_for", "candidates": [0]}
HALF = {
    "path": "M 10,0 A 10 10 0 0 1 -10,0 Z",
    "options": [
        "half_ellipse", "triangle", "rectangle", "trapezoid", "kite", "pentagon", "hexagon",
        "star", "ellipse", "sector",
    ],
}  # fmt: skip
WORDS = {
    "words": ["beta", "Zoo", "alpha", "ALPS"], "order": "ascending", "case_sensitive": True,
}  # fmt: skip


class Case(NamedTuple):
    """Answers to one item of a text task."""

    task_id: str
    item: dict
    right: list
    message: str
    """Part of the message about wrong values."""
    wrong: dict
    """Wrong answers, by the first check that fails."""


CASES = [
    Case("arithmetic", {"expression": "1 / 2"}, [
        "1/2", "2/4", "0.5", 0.5, "-1/-2", "\\frac{1}{2}", "+0.50",
    ], "", {
        "value": ["2/1", 0, "0.5000001", 1, 10**4000],
        "readable": ["half", "", "1/2 or 2/1", "1 / 2 / 1"],
        "answer_schema": [True, None, ["1/2"]],
    }),
    Case("boolean", {"expression": "T OR T", "format": "T_F"}, ["T", "true.", True, 1], "T", {
        "value": ["F", False, 0],
        "readable": ["TRUE FALSE", "NOT TRUE", "", 2, "10"],
        "answer_schema": [1.5, ["TRUE"], None],
    }),
    Case("bracket_stack", {"sequence": "([{}<"}, [">])", "> ] )", "`>])`", '">])"'], "", {
        "value": [">)]", ">]", ">]))"],
        "readable": ["([{}<>])", "three", "", 3],
    }),
    Case("but_for_causation", BELLS, [
        ["B", "D"], ["D", "B"], ["b", "d"], ["B", "D", "B"], "B, D", "B D", "B and D", "(B), (D)",
        "B) the bell a rang, D) the bell b rang", ["the bell a rang", "the bell b rang"],
        "- B\n- D", "**B**, **D**", ["Event B", "the event D"], "Events B and D", "B, D only",
    ], "The necessary events are B, D, not", {
        "value": [["B"], ["B", "D", "A"], ["A", "C"], "A"],
        "readable": [
            ["B", "E"], [], "", "none", "and", ["B", 4], True, 2, "BD", "B) the bell b rang, D",
        ],
        "answer_schema": [None, [["B"]], [True], 1.5],
    }),
    Case("but_for_causation", BELL, [
        "no", "No.", "**no**", "false", "n", False, 0, 0.0,
    ], "The answer is no, not", {
        "value": ["yes", True, 1, "Y"],
        "readable": ["yes no", "the bell a rang", ["no"], 2, ""],
        "answer_schema": [None, 0.5],
    }),
    Case("dates", DATE, [
        "03/04/2024", "3/4/2024", "2024-03-04", " **03/04/2024**. ",
    ], "The date is 03/04/2024, not", {
        "date": ["04/03/2024", "03/04/2023", "03/05/2024", "2024-04-03"],
        "readable": [
            "02/30/2024", "03/04/24", "04.03.2024", "03/04/2024 or 03/05/2024", 20240304, "",
        ],
        "answer_schema": [["03/04/2024"], None, True],
    }),
    Case("letter_counting", {
        "words": [["Banana", True], ["apple", False], ["AVOCADO", True]], "letters": "a",
    }, [5, "5", " 5. ", "**5**", "+5"], "", {
        "value": [6, 3],
        "readable": ["about five", "5 or 6", "", "5.5"],
    }),
    Case("movies", FILMS, [
        "C", "c", "(C)", "Choice C", "Gamma: The Return", "gamma: the return",
        "Gamma: The Return (1992)", "C) Gamma: The Return", "(C) Gamma: The Return (1992)",
    ], "Gamma: The Return has 8 points, ", {
        "value": ["A", "Beta", "Beta (1991)"],
        "readable": ["D", "C or A", "C) Beta", "Gamma", 2, "Gamma: The Return (1991)", ""],
        "answer_schema": [["C"], None],
    }),
    Case("objects", THINGS, [13, "13", " 13.", "13.0", "$13$", "total = 13"], "", {
        "value": [12, "45", -13],
        "readable": ["13 14", "", "13.5", "thirteen or so", "about 13 tools"],
        "answer_schema": [[13], None, True],
    }),
    Case("pattern_interference", SEQUENCE, [
        [18, 36, 39], "18, 36, 39", "18 36 39", ["18", "36", "39"],
    ], "", {
        "terms": [[19, 38, 41]],
        "count": [[18, 36], [18, 36, 39, 78], 18],
        "readable": ["eighteenth", ""],
    }),
    Case("shuffle", BALLS, [
        "C", "(C)", "C.", "Option C", "blue ball", "the blue ball", "C) blue ball",
        "(C) the blue ball", "blue ball (C)", "**C**",
    ], "Alice ends up with blue ball, not", {
        "value": ["B", "red ball", "A) the green ball"],
        "readable": ["D", "C or A", "C) red ball", "ball", 3, "", "yellow ball"],
        "answer_schema": [["C"], None],
    }),
    Case("svg_shapes", HALF, [
        "A", "(A)", "Option A", "half ellipse", "Half  Ellipse.", "A) half ellipse",
        "half ellipse (A)",
    ], "The shape is A) half ellipse, not", {
        "shape": ["B", "ellipse", "J) sector"],
        "readable": ["A) ellipse", "K", "circle", "ellipse or sector", "A, B", 1, ""],
        "answer_schema": [["A"], True, None],
    }),
    Case("word_sorting", WORDS, [
        ["ALPS", "Zoo", "alpha", "beta"], ["alps", "zoo", "Alpha", "BETA"],
        "ALPS, Zoo, alpha, beta", "1. ALPS\n2. Zoo\n3. alpha\n4. beta",
    ], "", {
        "order": [["alpha", "ALPS", "beta", "Zoo"]],
        "words": [["ALPS", "Zoo", "alpha"], ["ALPS", "Zoo", "alpha", "beta", "beta"], ["beta"]],
        "readable": [""],
    }),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.task_id for case in CASES])
def test_right_and_wrong_answers_of_text_tasks(case):
    task = get_task(case.task_id)
    params = task.params_model.model_validate_json(json.dumps(case.item))
    for answer in case.right:
        (verdict,) = judge(task, params, {"answer": answer})
        assert (verdict.score, verdict.failed) == (1, ()), answer
    for check_id, answers in case.wrong.items():
        for answer in answers:
            (verdict,) = judge(task, params, {"answer": answer})
            assert verdict.score == 0
            failed = [check.id for check in verdict.checks if check.passed is False]
            assert failed[0] == check_id, answer
            if check_id in {"value", "shape", "date"}:
                assert case.message in verdict.failed[0].message
