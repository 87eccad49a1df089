"""Run every block of docs/integrations.md, in order, in one folder."""

import json
import re
import sys
from pathlib import Path
from statistics import fmean
from types import ModuleType, SimpleNamespace

import commands
import polars as pl
from loopback import Loopback

import scbench
from scbench.formats.forms import Form
from scbench.formats.prompts import Request, Settings, line_of

PAGE = Path(__file__).parents[1] / "docs" / "integrations.md"
BLOCKS = re.findall(
    r"^```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
)
(OFFLINE,) = re.findall(
    r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
)


def reply_to(request: dict, place: int) -> dict:
    """Answer a request as a batch API does: with a reply or with an error."""
    if place % 5 == 0:
        return {
            "custom_id": request["custom_id"],
            "response": None,
            "error": {"code": "expired"},
        }
    choice = {"finish_reason": "stop", "message": {"content": "I would draw it."}}
    body = {"model": request["body"]["model"], "choices": [choice]}
    response = {"status_code": 200, "body": body}
    return {"custom_id": request["custom_id"], "response": response, "error": None}


def prepare(folder: Path, block: str) -> None:
    """Write the files that a block expects other programs to have written."""
    if "chat/output.jsonl" in block:
        with (folder / "chat" / "prompts-001.jsonl").open() as file:
            asked = [json.loads(line) for line in file if "two_segments" in line]
        made = [reply_to(request, place) for place, request in enumerate(asked)]
        for name, expected in (("output", False), ("errors", True)):
            lines = [
                json.dumps(line) + "\n"
                for line in made
                if (line["error"] is not None) == expected
            ]
            (folder / "chat" / f"{name}.jsonl").write_text("".join(lines))
    if "answers.csv" in block:
        (folder / "answers.csv").write_text("item,try,output\ntwo_segments/07,1,none\n")


def test_vllm_script_writes_predictions(tmp_path, monkeypatch):
    """A stand-in replaces the library: models need more than this machine has."""
    instances = scbench.load_release().instances()
    asked = [instances["two_segments/07"], instances["polynomial_curve_fitting/04"]]
    lines = [line_of(Request(one, 1, None), Form.SCBENCH, Settings()) for one in asked]
    (tmp_path / "prompts.jsonl").write_bytes(b"".join(lines))
    talks = []
    message = SimpleNamespace(
        text="I would draw it.", finish_reason="length", token_ids=[1, 2]
    )
    answer = SimpleNamespace(outputs=[message], prompt_token_ids=[3])
    stand_in = ModuleType("vllm")
    stand_in.SamplingParams = dict
    stand_in.LLM = lambda _: SimpleNamespace(
        chat=lambda given, _: talks.extend(given) or [answer] * 2
    )
    monkeypatch.setitem(sys.modules, "vllm", stand_in)
    monkeypatch.chdir(tmp_path)
    exec(OFFLINE, {})  # noqa: S102
    first, second = (talk[0]["content"] for talk in talks)
    assert first == asked[0].prompt
    assert [part["type"] for part in second] == ["text", "image_url"]
    report = scbench.grade_file(
        tmp_path / "offline.jsonl", tmp_path / "out", partial=True, workers=1
    )
    rows = report.results.filter(pl.col("status") != "missing")
    assert rows.select("status", "sample").rows() == [("truncated", 1)] * 2
    assert json.loads(rows["usage"][0]) == {"input_tokens": 1, "output_tokens": 2}


def test_blocks_run_in_order(tmp_path, monkeypatch):
    monkeypatch.setenv("ACME_API_KEY", "none")
    elsewhere = [block for block in BLOCKS if "vf-eval" in block]
    assert (
        len(elsewhere) == 1
    )  # run by tests/integrations/test_verifiers.py: it excludes Inspect
    with Loopback({}) as model:
        monkeypatch.setenv("ACME_BASE_URL", model.url)
        for block in BLOCKS:
            if block not in elsewhere:
                run(tmp_path, block)


def run(folder: Path, block: str) -> None:
    prepare(folder, block)
    done = commands.run("bash", "-euo", "pipefail", "-c", block, cwd=folder, code=0)
    assert "Traceback" not in done.stderr
    if "chat/output.jsonl" in block:
        summary = json.loads((folder / "graded" / "summary.json").read_text())
        assert summary["problem_counts"] == {}
        lines = (folder / "predictions.jsonl").read_bytes()
        assert lines == (folder / "graded" / "imported.jsonl").read_bytes()
    if "lm_eval" in block:
        samples = [
            json.loads(line)
            for path in folder.glob("harness-logs/*/samples_*.jsonl")
            for line in path.read_text().splitlines()
        ]
        rows = pl.read_parquet(folder / "by-harness" / "results.parquet").filter(
            pl.col("score").is_not_null()
        )
        scores = dict(rows.select("id", "score").iter_rows())
        means = {one["doc"]["id"]: fmean(one["score"]["scores"]) for one in samples}
        assert means == scores
        assert len(samples) == 272
    if "answers.csv" in block:
        (line,) = (folder / "mapped.jsonl").read_text().splitlines()
        assert json.loads(line) == {
            "id": "two_segments/07",
            "model": "my-model",
            "setting": "no_tools",
            "sample": 1,
            "response": "none",
        }
