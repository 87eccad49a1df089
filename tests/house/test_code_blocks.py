"""Code on the pages is valid: commands and their options exist, Python compiles, data parses.

Nothing is run here, so all pages take a moment; integrations and analyse are run
elsewhere.
"""

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from scbench.cli.grade import app as grade
from scbench.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
SESSIONS = re.findall(
    r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text("utf-8"), re.MULTILINE
)
OF_OTHERS = {"trl", "vllm"}
"""Libraries that pages import but the tests do not install."""


def blocks(page: Path, *kinds: str) -> list[str]:
    return [
        code
        for _, kind, code in BLOCK.findall(page.read_text("utf-8"))
        if kind in kinds
    ]


def commands(code: str) -> Iterator[list[str]]:
    """Yield the words of each command of a block, as a shell would split them."""
    for line in code.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split = True
        words: list[str] = []
        target = False
        for word in [*lexer, ";"]:
            if set(word) <= set("|&;()"):
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    del words[0]
                if words:
                    yield words
                words = []
            elif set(word) <= {"<", ">"}:
                target = True
            elif target or word == "...":
                target = False
            else:
                words.append(word)


def fault(words: list[str]) -> str | None:
    """Return why a command could not be started, or None."""
    name = words[0].removeprefix(".venv/bin/")
    if name == "pip":
        return next(
            (f"no extra {extra}" for extra in extras(words) if extra not in EXTRAS),
            None,
        )
    if name in {"pytest", "python"}:
        paths = [word for word in words[1:] if "/" in word]
        return next(
            (f"no file {path}" for path in paths if not (ROOT / path).exists()), None
        )
    if "nox" in words and "-s" in words:
        session = words[words.index("-s") + 1].partition("-")[0]
        return None if session in SESSIONS else f"no session {session}"
    if name not in {"scbench", "scbench-grade"}:
        return None
    command = typer.main.get_command(app if name == "scbench" else grade)
    rest, context = words[1:], None
    try:
        while True:
            context = command.make_context(name, list(rest), parent=context)
            if not hasattr(command, "resolve_command"):
                return None
            rest = [*context._protected_args, *context.args]
            name, command, rest = command.resolve_command(context, rest)
    except typer.Exit:  # --help and the like
        return None
    except Exception as error:  # noqa: BLE001  (whatever the parser says)
        message = (
            error.format_message() if hasattr(error, "format_message") else repr(error)
        )
        return None if "does not exist" in message else message


def extras(words: list[str]) -> list[str]:
    return [
        name
        for word in words
        for name in ",".join(re.findall(r"(?:scbench|\.)\[(.*)\]", word)).split(",")
        if name
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_their_options_exist(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    faults = {
        shlex.join(words): fault(words)
        for code in blocks(page, "sh")
        for words in commands(code)
    }
    assert {line: why for line, why in faults.items() if why} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_compiles_and_its_imports_exist(page):
    for code in blocks(page, "python"):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Import):
                assert all(find_spec(alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module not in OF_OTHERS:
                module = import_module(node.module)
                assert all(hasattr(module, alias.name) for alias in node.names)
