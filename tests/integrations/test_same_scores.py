"""The same replies give the same rows through every route."""

import json
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

import polars as pl
from stored_replies import (
    Stored,
    expected,
    graded,
    playing,
    run_lm_eval,
    stored_replies,
)

from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.gather import ImportOptions, gather
from scbench.formats.imports.tables import read_mapping
from scbench.release.load import find_release

Replies = Mapping[str, Stored]
Maker = Callable[[str, Stored], dict]

MAPPED = read_mapping("id=item,response=output,finish_reason=why")
SAYS_NO_REASON = {"lm-eval", "lighteval"}
"""They do not log why the model stopped, so a truncated reply looks like one without an answer."""


def own(row_id: str, one: Stored) -> dict:
    return {
        "id": row_id,
        "model": "own",
        "response": one.text,
        "finish_reason": one.finish,
    }


def answered(row_id: str, body: dict) -> dict:
    response = {"status_code": 200, "body": {"model": "M", **body}}
    return {
        "id": "b",
        "custom_id": RequestKey(row_id).custom_id,
        "response": response,
        "error": None,
    }


def openai_chat(row_id: str, one: Stored) -> dict:
    choice = {
        "finish_reason": one.finish,
        "message": {"role": "assistant", "content": one.text},
    }
    return answered(row_id, {"choices": [choice]})


def openai_responses(row_id: str, one: Stored) -> dict:
    cut = one.finish == "length"
    part = {"type": "output_text", "text": one.text}
    body = {"object": "response", "output": [{"type": "message", "content": [part]}]}
    body["status"] = "incomplete" if cut else "completed"
    body["incomplete_details"] = {"reason": "max_output_tokens"} if cut else None
    return answered(row_id, body)


def anthropic(row_id: str, one: Stored) -> dict:
    content = [{"type": "text", "text": one.text}] if one.text else []
    stop = {"stop": "end_turn", "length": "max_tokens"}[one.finish]
    message = {"model": "M", "stop_reason": stop, "content": content}
    result = {"type": "succeeded", "message": message}
    return {"custom_id": RequestKey(row_id).custom_id, "result": result}


def gemini(row_id: str, one: Stored) -> dict:
    finish = {"stop": "STOP", "length": "MAX_TOKENS"}[one.finish]
    made = {"finishReason": finish, "content": {"parts": [{"text": one.text}]}}
    return {
        "key": RequestKey(row_id).custom_id,
        "response": {"modelVersion": "M", "candidates": [made]},
    }


def vllm(row_id: str, one: Stored) -> dict:
    return openai_chat(row_id, one) | {"id": "vllm-1"}


def table(row_id: str, one: Stored) -> dict:
    return {"item": row_id, "output": one.text, "why": one.finish}


LINES: dict[str, Maker] = {
    "own": own,
    "openai chat": openai_chat,
    "openai responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "vllm": vllm,
    "table": table,
}


def lines(path: Path, made: Iterable[dict]) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in made))
    return path


def lighteval(path: Path, replies: Replies) -> Path:
    empty = {"reasonings": [None], "input_tokens": [1], "output_tokens": [[2]]}
    made = [
        {
            "doc": {"query": "Q", "specific": {"id": row_id}},
            "metric": {"score": 0.0},
            "model_response": {"text": [one.text], **empty},
        }
        for row_id, one in replies.items()
    ]
    pl.DataFrame(made).write_parquet(path)
    return path


def inspect_logs(folder: Path, replies: Replies) -> list[Path]:
    from inspect_ai.log import (  # noqa: PLC0415  (an extra)
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalSample,
        EvalSpec,
        write_eval_log,
    )
    from inspect_ai.model import (  # noqa: PLC0415
        ChatCompletionChoice,
        ChatMessageAssistant,
        ModelOutput,
    )

    stops = {"stop": "stop", "length": "max_tokens"}
    samples = []
    for row_id, one in replies.items():
        message = ChatMessageAssistant(content=one.text, model="M")
        choice = ChatCompletionChoice(message=message, stop_reason=stops[one.finish])
        output = ModelOutput(model="M", choices=[choice])
        samples.append(
            EvalSample(id=row_id, epoch=1, input="Q", target="", output=output)
        )
    spec = EvalSpec(
        created="2026-11-22T00:00:00+00:00",
        task="scbench",
        dataset=EvalDataset(),
        model="M",
        config=EvalConfig(),
    )
    log = EvalLog(status="success", eval=spec, samples=samples)
    paths = [folder / "log.eval", folder / "log.json"]
    for path in paths:
        write_eval_log(log, str(path))
    return paths


def written(folder: Path, replies: Replies) -> dict[str, list[Path]]:
    """Return the files that each route writes for replies."""
    files_by_way = {
        way: [lines(folder / f"{way}.jsonl", [make(*pair) for pair in replies.items()])]
        for way, make in LINES.items()
    }
    files_by_way["lighteval"] = [lighteval(folder / "details.parquet", replies)]
    if find_spec("inspect_ai") is not None:
        files_by_way |= {
            f"inspect {p.suffix}": [p] for p in inspect_logs(folder, replies)
        }
    tasks = [f"scbench_{row_id.removesuffix('/00')}" for row_id in replies]
    with playing(replies) as served:
        files_by_way["lm-eval"] = run_lm_eval(
            served.url, tasks, 1, folder / "lm-eval", {"release": "4.0.0"}
        )
    instances = find_release().instances()
    assert sorted(served.asked) == sorted(
        instances[row_id].prompt for row_id in replies
    )
    assert all(
        one["max_tokens"] == 32768 and one["stop"] == [] for one in served.requests
    )
    return files_by_way


def test_same_replies_give_the_same_rows_through_every_route(tmp_path):
    replies = stored_replies()
    files = written(tmp_path, replies)
    path = tmp_path / "predictions.jsonl"
    with path.open("wb") as sink:
        for way, paths in files.items():
            mapped = MAPPED if way == "table" else None
            assert (
                gather([*map(str, paths)], sink, ImportOptions(mapped, way)).problems
                == []
            )
    expected_rows = expected(replies)
    assert {status for status, _ in expected_rows.values()} == {
        "answered",
        "refused",
        "unparsed",
        "truncated",
    }
    assert len({score for _, score in expected_rows.values()}) == 3
    unsaid = {
        row_id: ("unparsed" if status == "truncated" else status, score)
        for row_id, (status, score) in expected_rows.items()
    }
    assert graded(path, tmp_path / "graded") == {
        way: unsaid if way in SAYS_NO_REASON else expected_rows for way in files
    }
    logged = [json.loads(path.read_text()) for path in files["lm-eval"]]
    assert all(line["doc"]["release"] == "4.0.0" for line in logged)
    logged_scores = {}
    for line in logged:
        scores = line["score"]["scores"]
        logged_scores[line["doc"]["id"]] = sum(scores) / len(scores)
    assert logged_scores == {row_id: one.score for row_id, one in replies.items()}
