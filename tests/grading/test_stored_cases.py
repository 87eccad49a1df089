"""Answers that scored too much or too little in an earlier release, if a folder has them."""

import re
from statistics import mean

from scbench.catalog import get_task
from scbench.freezing.floors import floor_of
from scbench.release.load import find_release
from scbench.scoring.judge import judge

# How far an honest answer's score may be from the one that its note names.
HONEST = 0.05


def params_of(task, item_id):
    """The parameters of an item of the paper or the ladder."""
    number = item_id.partition("/")[2]
    if number.isdecimal():
        return task.builder().paper()[int(number)].params
    row = find_release().ladder().instances([task.id])[item_id]
    return task.params_model.model_validate_json(row.params)


def test_stored_cases_get_the_correct_score(stored_cases):
    for folder, case in stored_cases:
        task = get_task(case["id"].partition("/")[0])
        params = params_of(task, case["id"])
        verdicts = judge(task, params, case["answer"])
        score = mean(verdict.score for verdict in verdicts)
        if folder == "holes":
            most = case["below"]
            if task.id == "csg_union":
                floor = floor_of(task, params).score
                most = min(most, max(floor, 0.5) + 1e-9)
            assert score < most, case["note"]
        else:
            named = re.search(r"by volume ([0-9.]+)", case["note"])
            right = float(named[1]) if named else 1.0
            # A score by volume above 0.95 counts as 1.
            right = 1.0 if right > 0.95 else right
            assert abs(score - right) <= HONEST, case["note"]
