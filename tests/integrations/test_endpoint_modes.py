"""Runs end with the correct statuses after few calls, however an endpoint misbehaves."""

import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache

import polars as pl
import pytest
from inspect_model import ITS_WARNINGS, MODEL, without_waiting
from loopback import Loopback, prompt_of
from typer.testing import CliRunner

pytest.importorskip("inspect_ai", reason="extra [inspect]")

import inspect_ai
from inspect_ai.model import get_model

import scbench
from scbench.cli import grade
from scbench.cli.main import app
from scbench.formats.predictions import MAX_LINE_BYTES
from scbench.integrations.inspect.exhaustion import MAX_FAILURES
from scbench.loop import Environment, Setup

# The client of OpenAI's library warns of lists of parts.
PARTS_WARNING = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
pytestmark = [*ITS_WARNINGS, PARTS_WARNING]
HELLO = "Answer with the one word: yes"
REFUSAL = "I'm sorry, but I can't help with that."
"""A refusal in words: a trial stores the text, and no marker."""
SECONDS = 20
"""Seconds of an attempt; ends a call that hangs."""
TRIES = 2
"""Attempts of a call: --max-retries is 1."""
LONGEST_WAIT = 30 * 60
"""The longest wait of Inspect, whatever the endpoint requests."""
WAYS = ["run", "loop", "eval", "eval loop"]


@dataclass(frozen=True)
class Mode:
    """The behaviour of an endpoint for one item.

    Attributes:
        status: of the row.
        score: of the row; None if it has none.
        reply: the form of the message, see `body`.
        fault: see `Loopback`.
        turns: of a trial of three answers.
    """

    status: str
    score: float | None
    reply: str = "text"
    fault: str = ""
    turns: int = 1


MODES = {
    "tool loop": Mode("answered", 1, "call"),
    "list content": Mode("answered", 1, "parts"),
    "refusal": Mode("refused", 0, "refusal", turns=3),
    "error": Mode("api_error", None, "error"),
    "flood": Mode("api_error", None, "flood"),
    "slow": Mode("answered", 1, fault="slow"),
    "hang": Mode("api_error", None, fault="silent!"),
    "two hours": Mode("api_error", None, fault="later!"),
}
IDS = {name: f"two_segments/{place:02}" for place, name in enumerate(MODES)}


def body(kind: str, answer: str) -> dict:
    """Return the body of a reply."""
    message: dict = {"role": "assistant", "content": answer}
    finish = "stop"
    if kind == "call":
        function = {"name": "submit", "arguments": answer}
        call = {"id": "1", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [call]}
        finish = "tool_calls"
    elif kind == "parts":
        message["content"] = [{"type": "text", "text": answer}]
    elif kind == "refusal":
        message |= {"content": None, "refusal": REFUSAL}
    elif kind == "flood":
        message["content"] = answer + MAX_LINE_BYTES * " "
    elif kind == "error":
        message["content"] = answer[:10]
        finish = "error"
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return {"object": "chat.completion", "choices": [choice]}


@cache
def instances():
    return scbench.load_release().instances(["two_segments"])


@cache
def prompt_in(way: str, row_id: str) -> str:
    """Return the first message about an item."""
    instance = instances()[row_id]
    if "loop" not in way:
        return instance.prompt
    return Environment(Setup(setting="retry")).reset(instance)


def endpoint(way: str) -> Loopback:
    """Return an endpoint that has every mode, each for one item."""
    answers = {
        entry.id: entry.answer
        for entry in scbench.load_release().references()
        if entry.score == 1
    }
    bodies = {HELLO: body("text", "yes")}
    faults = {}
    for name, mode in MODES.items():
        prompt = prompt_in(way, IDS[name])
        bodies[prompt] = body(mode.reply, answers[IDS[name]])
        if mode.fault:
            faults[prompt] = [mode.fault]
    loopback = Loopback(lambda request: bodies[prompt_of(request)])
    loopback.faults.update(faults)
    return loopback


def play(way: str, url: str, ids: list[str], folder, *, in_turn: bool = False):
    """Play items one way; return the exit code and the rows by id."""
    if way.startswith("eval"):
        (log,) = inspect_ai.eval(
            "scbench/loop" if "loop" in way else "scbench/two_segments",
            model=get_model(MODEL, base_url=url, memoize=False, max_retries=0),
            task_args={"ids": ids},
            log_dir=str(folder),
            attempt_timeout=SECONDS,
            max_retries=TRIES - 1,
            max_connections=1 if in_turn else 10,
        )
        out = folder / "graded"
        done = CliRunner().invoke(
            grade.app,
            [log.location.removeprefix("file://"), "--partial", "--out", str(out)],
        )
        code = done.exit_code
    else:
        out = folder / "out"
        listed = folder / "ids.txt"
        listed.write_text("\n".join(ids))
        options = ["run", MODEL, "-M", "max_retries=0", "--base-url", url, "--quiet"]
        options += ["--ids", str(listed), "--out", str(out)]
        options += ["--attempt-timeout", str(SECONDS), "--max-retries", str(TRIES - 1)]
        options += ["--setting", "retry"] if way == "loop" else []
        options += ["--max-connections", "1"] if in_turn else []
        code = CliRunner().invoke(app, options).exit_code
    rows = pl.read_parquet(out / "results.parquet").filter(pl.col("id").is_in(ids))
    columns = rows.select("id", "status", "score", "reason").iter_rows()
    return code, {row_id: row for row_id, *row in columns}


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """The seconds that Inspect would have waited."""
    seconds: list[float] = []

    async def at_once(wait: float) -> None:
        seconds.append(wait)

    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    with without_waiting() as patch:
        patch.setattr("inspect_ai.model._retry._sleep", at_once)
        yield seconds


@pytest.mark.parametrize("way", WAYS)
def test_every_mode_ends(way, tmp_path, waits):
    with endpoint(way) as loopback:
        _, rows = play(way, loopback.url, [*IDS.values()], tmp_path)
        calls = Counter(map(prompt_of, loopback.requests))
    # `scbench run` makes a call that failed once more.
    rounds = 1 if way.startswith("eval") else 2
    for name, mode in MODES.items():
        status, score, _ = rows[IDS[name]]
        assert (name, status, score) == (name, mode.status, mode.score)
        # On a busy machine any attempt may meet the limit of time, and is made again.
        most = TRIES * rounds * (mode.turns if "loop" in way else 1)
        assert 1 <= calls[prompt_in(way, IDS[name])] <= most, name
    assert max(waits) <= LONGEST_WAIT


def test_malformed_replies_print_no_warnings(tmp_path):
    with endpoint("run") as loopback, warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        play("run", loopback.url, [IDS["list content"]], tmp_path)
    printed = [str(warning.message) for warning in found]
    assert not [text for text in printed if "serializer" in text]


@pytest.mark.parametrize("way", WAYS)
def test_exhausted_key_ends_the_run(way, tmp_path):
    ids = [f"two_segments/{place:02}" for place in range(2 * MAX_FAILURES)]
    with endpoint(way) as loopback:
        for row_id in ids:
            loopback.faults[prompt_in(way, row_id)] = ["quota!"]
        code, rows = play(way, loopback.url, ids, tmp_path, in_turn=True)
        asked = [prompt for prompt in loopback.asked if prompt != HELLO]
    if not way.startswith("eval"):
        assert code == 5
    assert len(asked) <= MAX_FAILURES + TRIES
    words = "You exceeded your current quota."
    for status, score, reason in rows.values():
        assert (status, score) == ("api_error", None)
        assert words in reason
    assert sorted(rows) == ids
