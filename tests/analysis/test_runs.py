"""Runs as their predictions describe them."""

import json

from scbench.analysis.runs import run_table, runs_sheet


def said(**fields):
    return json.dumps(fields)


def test_what_lines_say_is_put_together(make_results):
    rows = make_results(
        {"subtask": 0, "score": 1.0, "run_metadata": said(effort="high", tools=[], temperature=1)},
        {"subtask": 1, "score": 1.0, "run_metadata": said(effort="low", tools=[], temperature=1)},
        {"subtask": 2, "status": "missing"},
        {"model": "z", "subtask": 0, "score": 1.0, "prompt_sha256": "0" * 64},
    )
    first, second = run_table(rows).to_dicts()
    assert (first["effort"], first["tools"], first["temperature"]) == ("high / low", "none", "1")
    assert (first["date"], first["rows"], first["prompts_hashed"]) == (None, 3, 0)
    assert (second["effort"], second["prompts_hashed"]) == (None, 1)
    sheet = runs_sheet(run_table(rows))
    assert "effort" in sheet.heads
    assert "date" not in sheet.heads, "nobody gives one"
    assert sheet.rows[1][sheet.heads.index("effort")] == "-"
