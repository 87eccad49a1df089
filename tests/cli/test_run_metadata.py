"""Run metadata from predictions or from a separate file, on the command line."""

import json

import polars as pl


def test_metadata_is_in_results_summary_and_tables(command, tmp_path):
    lines = [
        {
            "id": f"two_segments/{i:02d}",
            "model": "m",
            "response": "x",
            "reasoning": "hm " * 9,
        }
        for i in range(27)
    ]
    lines[0] |= {"run": {"effort": "low"}, "prompt_sha256": "a" * 64}
    file = tmp_path / "p.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    run = tmp_path / "run.json"
    run.write_text(json.dumps({"effort": "high", "date": "2026-01-02"}), "utf-8")
    out = tmp_path / "out"
    done = command(
        "scbench-grade", file, "--tasks", "two_segments", "--run", run, "--out", out
    )
    assert done.returncode == 0, done.stderr
    rows = pl.read_parquet(out / "results.parquet").sort("subtask")
    assert rows["run_metadata"].to_list()[:2] == [
        '{"effort":"low"}',
        '{"date":"2026-01-02","effort":"high"}',
    ]
    assert rows["prompt_sha256"].null_count() == 26
    assert set(rows["reasoning_characters"]) == {26}
    assert set(rows["status"]) == {"unparsed"}, "reasoning is not graded"
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert summary["runs"][0]["metadata"] == [
        {"date": "2026-01-02", "effort": "high"},
        {"effort": "low"},
    ]
    output = command("scbench", "tables", out, "--by", "run")
    assert "high / low" in output.stdout
    places = {
        line.find(word)
        for line in output.stdout.splitlines()
        for word in ("effort", "high")
    }
    assert len(places - {-1}) == 1, "words stand on the left"
    assert "overall" not in command("scbench", "tables", out).stdout
