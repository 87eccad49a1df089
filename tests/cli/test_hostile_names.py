"""Model names cannot affect a terminal, not even in formats for programs."""

import io
import json
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

from scbench.cli.console import as_json, bytes_out, plain
from scbench.cli.main import app
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
def test_json_is_escaped_and_keeps_its_value(monkeypatch, shown):
    text = printed(monkeypatch, "json", shown=shown)
    assert is_harmless(text)
    assert json.loads(text) == [{"model": HOSTILE}]
    text = as_json({HOSTILE: [HOSTILE]})
    assert is_harmless(text)
    assert json.loads(text) == {HOSTILE: [HOSTILE]}
    assert "é" in text


def test_csv_is_escaped_on_a_terminal_only(monkeypatch):
    assert is_harmless(printed(monkeypatch, "csv", shown=True))
    text = printed(monkeypatch, "csv", shown=False)
    assert pl.read_csv(text.encode())["model"].to_list() == [HOSTILE]


@pytest.mark.parametrize("shown", [True, False])
def test_lines_of_files_have_escapes_on_a_terminal_only(monkeypatch, shown):
    stream = Terminal(shown)
    monkeypatch.setattr(sys, "stdout", stream)
    line = HOSTILE.encode() + b"\xff\n"
    bytes_out().write(line)
    stream.flush()
    data = stream.buffer.getvalue()
    if shown:
        assert is_harmless(data.decode())
    else:
        assert data == line


@pytest.mark.parametrize("command", ["verify", "publish"])
def test_names_in_a_foreign_release_are_escaped(monkeypatch, tmp_path, command):
    def problems(*_arguments: object, **_options: object) -> list[str]:
        return [f"{HOSTILE!s}: not in the manifest"]

    monkeypatch.setattr("scbench.freezing.verify.verify_release", problems)
    to = ["--to", str(tmp_path / "copy")] if command == "publish" else []
    done = CliRunner().invoke(app, ["release", command, str(tmp_path), *to])
    assert done.exit_code == 1
    assert "not in the manifest" in done.stdout
    assert is_harmless(done.stdout)


@pytest.mark.parametrize("name", ["::error::seen", " ::set-output name=x::1"])
@pytest.mark.parametrize("former", ["", "##[add-mask]0", "###[group]x"])
def test_names_are_no_commands_of_github_actions(monkeypatch, name, former):
    text = f"{name} {former}\n{name} a::b"
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert plain(text) == text
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    shown = plain(text)
    assert "##[" not in shown
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    assert shown.replace(" ", "") == text.replace(" ", "")
