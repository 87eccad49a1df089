"""Every kind of reply gives the same row through every route that can carry it."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest
from inspect_model import ITS_WARNINGS, MODEL, without_waiting
from loopback import Loopback, prompt_of
from stored_replies import graded

from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.gather import ImportOptions, gather
from scbench.release.load import find_release
from scbench.reward import for_trl

# The client of OpenAI's library warns of lists of parts.
PARTS_WARNING = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
pytestmark = [*ITS_WARNINGS, PARTS_WARNING]
RIGHT = "the reference answer"
WRONG = json.dumps({"segments": [[[0, 0], [1, 1]], [[0, 1], [1, 0]]]})
WORDS = "I would rather not say."
MARKED = "I will not do that."

OTHERS_LOG = "another's log"
"""Logs of Inspect from a task of another project."""
NO_FINISH = {"verifiers"}
"""It logs only the finish reasons stop, length and tool_calls."""

Rows = dict[str, tuple[str, float | None]]


@dataclass
class Kind:
    """A kind of reply, and the row that it makes.

    Attributes:
        status: of the row.
        score: of the row; None if it has none.
        text: of the message; None if it has none.
        finish: the finish reason, in the words of OpenAI's chat format.
        call: arguments of a tool call.
        refusal: words that are marked as a refusal.
        in_parts: whether the text is a list of parts.
        without: routes whose form has no such reply.
    """

    status: str
    score: float | None
    text: str | None = None
    finish: str | None = "stop"
    call: str | None = None
    refusal: str | None = None
    in_parts: bool = False
    without: set[str] = field(default_factory=set)


KINDS = {
    "right": Kind("answered", 1, RIGHT),
    "wrong": Kind("answered", 0, WRONG),
    "words": Kind("unparsed", 0, "It is hard to say."),
    "empty": Kind("unparsed", 0, ""),
    "none": Kind("unparsed", 0, None),
    "refusal in words": Kind("refused", 0, "I'm sorry, but I can't help with that."),
    "refusal that is marked": Kind(
        "refused", 0, refusal=MARKED, without={"anthropic", "gemini", "verifiers"}
    ),
    "filter": Kind("blocked", None, None, "content_filter", without=NO_FINISH),
    "filter midway": Kind("blocked", None, "Th", "content_filter", without=NO_FINISH),
    "filter behind the answer": Kind(
        "answered", 1, RIGHT, "content_filter", without=NO_FINISH
    ),
    "refusal by a classifier": Kind(
        "blocked", None, None, "refusal", without={"responses", *NO_FINISH}
    ),
    "cut off": Kind("truncated", 0, "First I think about", "length"),
    "cut off behind the answer": Kind("answered", 1, RIGHT, "length"),
    "tool call": Kind("answered", 1, None, "tool_calls", RIGHT),
    "tool call with words": Kind("answered", 1, "Here:", "tool_calls", RIGHT),
    # Inspect itself fails on them, and logs no response: an error of its call.
    "parts": Kind("answered", 1, RIGHT, in_parts=True, without={OTHERS_LOG}),
    "error": Kind("api_error", None, '{"segments": [[', "error", without=NO_FINISH),
    "error behind the answer": Kind("answered", 1, RIGHT, "error", without=NO_FINISH),
    "unknown end": Kind("api_error", None, "Well", "a_new_one", without=NO_FINISH),
    "no finish reason": Kind("answered", 1, RIGHT, None),
}
IDS = {name: f"two_segments/{place:02}" for place, name in enumerate(KINDS)}


def kinds() -> dict[str, Kind]:
    """Return the kinds by id, with the answers of these items."""
    answers = {
        one.id: one.answer for one in find_release().references() if one.score == 1
    }
    by_id = {}
    for name, kind in KINDS.items():
        values = dict(vars(kind))
        for part in ("text", "call"):
            if values[part] == RIGHT:
                values[part] = answers[IDS[name]]
        by_id[IDS[name]] = Kind(**values)
    return by_id


def message(kind: Kind) -> dict:
    made = {"role": "assistant", "content": kind.text}
    if kind.in_parts:
        made["content"] = [{"type": "text", "text": kind.text}]
    if kind.call:
        function = {"name": "submit", "arguments": kind.call}
        made["tool_calls"] = [{"id": "1", "type": "function", "function": function}]
    if kind.refusal:
        made["refusal"] = kind.refusal
    return made


def chat(kind: Kind) -> dict:
    choice = {"index": 0, "finish_reason": kind.finish, "message": message(kind)}
    return {"object": "chat.completion", "model": "M", "choices": [choice]}


def responses(kind: Kind) -> dict:
    content = []
    if kind.text is not None:
        content.append({"type": "output_text", "text": kind.text})
    if kind.refusal:
        content.append({"type": "refusal", "refusal": kind.refusal})
    output = [{"type": "message", "content": content}]
    if kind.call:
        output.append({"type": "function_call", "name": "f", "arguments": kind.call})
    ends = {
        "length": ("incomplete", "max_output_tokens"),
        "content_filter": ("incomplete", "content_filter"),
        "error": ("failed", None),
        "a_new_one": ("a_new_one", None),
    }
    status, reason = ends.get(kind.finish, ("completed", None))
    return {
        "object": "response",
        "model": "M",
        "output": output,
        "status": status,
        "incomplete_details": {"reason": reason} if reason else None,
        "error": {"code": "server_error", "message": "m"}
        if status == "failed"
        else None,
    }


def anthropic(kind: Kind) -> dict:
    content = [] if kind.text is None else [{"type": "text", "text": kind.text}]
    if kind.call:
        made = {"type": "tool_use", "name": "f", "input": json.loads(kind.call)}
        content.append(made)
    ends = {
        "stop": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "content_filter": "refusal",
    }
    stop = ends.get(kind.finish, kind.finish)
    return {"model": "M", "type": "message", "stop_reason": stop, "content": content}


def gemini(kind: Kind) -> dict:
    parts = [] if kind.text is None else [{"text": kind.text}]
    if kind.call:
        parts.append({"functionCall": {"name": "f", "args": json.loads(kind.call)}})
    ends = {
        "stop": "STOP",
        "tool_calls": "STOP",
        "length": "MAX_TOKENS",
        "content_filter": "SAFETY",
        "error": "OTHER",
    }
    finish = ends.get(kind.finish, kind.finish)
    candidate = {"finishReason": finish, "content": {"parts": parts}}
    return {"modelVersion": "M", "candidates": [candidate]}


def openai_line(body: dict, row_id: str) -> dict:
    response = {"status_code": 200, "body": body}
    return {"custom_id": custom_id(row_id), "response": response, "error": None}


def verifiers(kind: Kind, row_id: str) -> dict:
    wire = message(kind)
    # Its messages have neither an empty content nor calls in OpenAI's form.
    if not wire["content"]:
        del wire["content"]
    if kind.call:
        wire["tool_calls"] = [{"id": "1", "name": "submit", "arguments": kind.call}]
    known = {"stop", "length", "tool_calls"}
    call = {
        "finish_reason": kind.finish if kind.finish in known else None,
        "model": "M",
    }
    nodes = [{"message": {"role": "user", "content": "Q"}}]
    if len(wire) > 1:
        nodes.append({"message": wire})
    trace = {"nodes": nodes, "calls": [call], "errors": []}
    return {"task": {"data": {"id": row_id}}, "traces": [trace], "errors": []}


def own_form(kind: Kind, row_id: str) -> dict:
    """Return a line in the format of the page on predictions."""
    words = [part for part in (kind.text, kind.call, kind.refusal) if part]
    line = {"id": row_id, "model": "own form", "finish_reason": kind.finish}
    if words or kind.finish == "stop":
        line["response"] = "\n".join(words)
    # The form has no other mark of a refusal.
    if kind.refusal:
        line["status"] = "refused"
    return {name: value for name, value in line.items() if value is not None}


def custom_id(row_id: str) -> str:
    return RequestKey(row_id).custom_id


ROUTES: dict[str, Callable[[Kind, str], dict]] = {
    "openai": lambda kind, row_id: openai_line(chat(kind), row_id),
    "vllm": lambda kind, row_id: {"id": "vllm-1", **openai_line(chat(kind), row_id)},
    "responses": lambda kind, row_id: openai_line(responses(kind), row_id),
    "anthropic": lambda kind, row_id: {
        "custom_id": custom_id(row_id),
        "result": {"type": "succeeded", "message": anthropic(kind)},
    },
    "gemini": lambda kind, row_id: {"key": custom_id(row_id), "response": gemini(kind)},
    "bedrock": lambda kind, row_id: {
        "recordId": custom_id(row_id),
        "modelOutput": chat(kind),
    },
    "verifiers": verifiers,
    "own form": own_form,
}


def lines(path: Path, made: Iterable[dict]) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in made))
    return path


def rows(files: dict[str, Path], folder: Path) -> dict[str, Rows]:
    """Return the status and score of each row, by route and id."""
    predictions = folder / "predictions.jsonl"
    with predictions.open("wb") as sink:
        for route, path in files.items():
            done = gather([str(path)], sink, ImportOptions(None, route))
            assert done.problems == []
    return graded(predictions, folder / "graded")


def expected(route: str) -> Rows:
    return {
        row_id: (kind.status, kind.score)
        for row_id, kind in kinds().items()
        if route not in kind.without
    }


def table(by_route: dict[str, Rows]) -> str:
    """Return status and score of every kind of reply by every route, one line for each kind."""
    widths = [max(len(route), 13) for route in by_route]
    columns = list(zip(by_route, widths, strict=True))
    lines = [" " * 26 + " ".join(route.ljust(width) for route, width in columns)]
    for name, row_id in IDS.items():
        cells = []
        for route, width in columns:
            status, score = by_route[route].get(row_id, ("", None))
            shown = f"{status} {score:g}" if score is not None else status
            cells.append(shown.ljust(width))
        lines.append(f"{name:26}{' '.join(cells)}".rstrip())
    return "\n".join(lines)


def of_files(folder: Path) -> dict[str, Rows]:
    files = {}
    for route, make in ROUTES.items():
        made = [
            make(kind, row_id)
            for row_id, kind in kinds().items()
            if route not in kind.without
        ]
        files[route] = lines(folder / f"{route}.jsonl", made)
    return rows(files, folder)


def test_lines_of_every_format(tmp_path):
    found = of_files(tmp_path)
    print(table(found))  # noqa: T201  (shown with -s, or if it fails)
    assert found == {route: expected(route) for route in ROUTES}


def of_inspect(folder: Path, others_form: str) -> dict[str, Rows]:
    """Play the kinds by Inspect; the rows live, from our own log, and from that of another task.

    Args:
        folder: for logs.
        others_form: of the log of the other task, eval or json.
    """
    import inspect_ai  # noqa: PLC0415
    from inspect_ai.dataset import Sample  # noqa: PLC0415
    from inspect_ai.log import read_eval_log  # noqa: PLC0415
    from inspect_ai.model import get_model  # noqa: PLC0415
    from inspect_ai.solver import generate  # noqa: PLC0415

    instances = find_release().instances()
    bodies = {instances[row_id].prompt: chat(kind) for row_id, kind in kinds().items()}
    samples = [
        Sample(id=row_id, input=instances[row_id].prompt)
        for row_id in expected(OTHERS_LOG)
    ]
    another_task = inspect_ai.Task(samples, solver=generate(tool_calls="none"))
    with (
        without_waiting(),
        Loopback(lambda body: bodies[prompt_of(body)]) as loopback,
    ):
        model = get_model(MODEL, base_url=loopback.url, memoize=False)
        (log,) = inspect_ai.eval(
            "scbench/two_segments",
            model=model,
            task_args={"ids": list(IDS.values())},
            log_dir=str(folder),
            log_model_api=False,
        )
        assert len(loopback.requests) == len(KINDS)
        (others_log,) = inspect_ai.eval(
            another_task,
            model=model,
            log_dir=str(folder),
            log_format=others_form,
            continue_on_fail=True,
        )
        assert len(loopback.requests) == len(KINDS) + len(samples)
    live = {}
    for sample in read_eval_log(log.location).samples:
        if sample.error is not None:
            live[sample.id] = ("api_error", None)
            continue
        outcome = sample.scores["outcome"].metadata
        score = outcome["scores"][0] if outcome["scores"] else None
        live[sample.id] = (outcome["status"], score)
    files = {
        "Inspect's log": Path(log.location),
        OTHERS_LOG: Path(others_log.location),
    }
    return {"Inspect": live, **rows(files, folder)}


@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="extra [inspect]")
@pytest.mark.parametrize("others_form", ["eval", "json"])
def test_every_kind_by_every_route(tmp_path, monkeypatch, others_form):
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    found = {**of_files(tmp_path), **of_inspect(tmp_path, others_form)}
    print(table(found))  # noqa: T201  (shown with -s, or if it fails)
    assert found == {route: expected(route) for route in found}
    assert len(found) == len(ROUTES) + 3


def test_rewards_of_messages():
    """Messages have no finish reason, so failed or withheld ones get the score of their text."""
    by_id = {
        row_id: kind
        for row_id, kind in kinds().items()
        if kind.status not in {"api_error", "blocked"}
    }
    completions = [
        [{"role": "user", "content": "Q"}, message(kind)] for kind in by_id.values()
    ]
    scores = for_trl([], completions, id=list(by_id))
    assert scores == [kind.score for kind in by_id.values()]


def test_messages_as_text(tmp_path):
    """A reply may be a message written as JSON; it has no status then."""
    made = []
    for row_id, kind in kinds().items():
        if kind.status == "answered":
            for model, body in (("chat", chat(kind)), ("anthropic", anthropic(kind))):
                made.append(
                    {"id": row_id, "model": model, "response": json.dumps(body)}
                )
    found = graded(lines(tmp_path / "p.jsonl", made), tmp_path / "graded")
    answered = {
        row_id: (kind.status, kind.score)
        for row_id, kind in kinds().items()
        if kind.status == "answered"
    }
    assert found == {"chat": answered, "anthropic": answered}


@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="extra [inspect]")
def test_error_texts_in_place_of_a_reply(tmp_path, monkeypatch):
    """An error inside a success keeps its words; a request refused by policy is not asked again."""
    import inspect_ai  # noqa: PLC0415
    from inspect_ai.model import get_model  # noqa: PLC0415

    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    words = {
        "two_segments/00": ("Provider returned error", "api_error"),
        "two_segments/01": (
            "Gemini blocked the request: PROHIBITED_CONTENT",
            "blocked",
        ),
    }
    instances = find_release().instances()
    bodies = {
        instances[row_id].prompt: {"choices": None, "error": {"message": message}}
        for row_id, (message, _) in words.items()
    }
    with (
        without_waiting(),
        Loopback(lambda body: bodies[prompt_of(body)]) as loopback,
    ):
        (log,) = inspect_ai.eval(
            "scbench/two_segments",
            model=get_model(MODEL, base_url=loopback.url, memoize=False),
            task_args={"ids": list(words)},
            log_dir=str(tmp_path),
        )
    errors = {sample.id: sample.error is not None for sample in log.samples}
    assert errors == {"two_segments/00": True, "two_segments/01": False}
    with (tmp_path / "p.jsonl").open("wb") as sink:
        gather([log.location], sink, ImportOptions(None, "m"))
    predictions = map(json.loads, (tmp_path / "p.jsonl").read_text().splitlines())
    assert {
        line["id"]: (line["error"], line["status"]) for line in predictions
    } == words
