"""Names of models cannot affect a terminal, also in the formats for programs."""

import io
import json
import sys

import polars as pl
import pytest

from scbench.cli.console import as_json
from scbench.cli.printing import Result, write_result

# Clear screen, 8-bit control sequence, line separator, right-to-left override, joined emoji.
HOSTILE = "a\x1b[2J\x9b2Jb\u2028c\u202ed\n\u200d\U000e0001é"


class Terminal(io.TextIOWrapper):
    """Standard output; a terminal if ``shown`` is set."""

    def __init__(self, shown: bool) -> None:
        super().__init__(io.BytesIO(), "utf-8")
        self.shown = shown

    def isatty(self) -> bool:
        return self.shown


def printed(monkeypatch, style, *, shown):
    stream = Terminal(shown)
    monkeypatch.setattr(sys, "stdout", stream)
    write_result(Result(pl.DataFrame({"model": [HOSTILE]}), []), style, None)
    return stream.buffer.getvalue().decode()


def is_harmless(text: str) -> bool:
    return all(character.isprintable() or character == "\n" for character in text)


@pytest.mark.parametrize("shown", [True, False])
def test_json_has_escapes_and_the_same_value(monkeypatch, shown):
    text = printed(monkeypatch, "json", shown=shown)
    assert is_harmless(text)
    assert json.loads(text) == [{"model": HOSTILE}]
    text = as_json({HOSTILE: [HOSTILE]})
    assert is_harmless(text)
    assert json.loads(text) == {HOSTILE: [HOSTILE]}
    assert "é" in text


def test_csv_has_escapes_on_a_terminal_only(monkeypatch):
    assert is_harmless(printed(monkeypatch, "csv", shown=True))
    text = printed(monkeypatch, "csv", shown=False)
    assert pl.read_csv(text.encode())["model"].to_list() == [HOSTILE]
