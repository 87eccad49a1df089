"""Run metadata from lines and from a separate file, and where it is stored."""

import json

from scbench.grading.run_file import metadata_of, read_run_file


def write(tmp_path, value):
    path = tmp_path / "run.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def test_single_object_applies_to_all_runs_and_the_last_match_counts(tmp_path):
    result = read_run_file(write(tmp_path, {"effort": "high", "tools": []}))
    assert metadata_of("any", None, None, result) == '{"effort":"high","tools":[]}'
    listed = read_run_file(
        write(
            tmp_path, [{"effort": "low"}, {"model": "b", "budget": 8, "effort": "high"}]
        )
    )
    assert metadata_of("b", "tools", 8, listed) == '{"effort":"high"}'
    assert metadata_of("b", "tools", None, listed) == '{"effort":"low"}'
