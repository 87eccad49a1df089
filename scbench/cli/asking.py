"""What `scbench submission init` asks for, where options did not say it."""

import sys
from collections.abc import Mapping
from typing import Any

import typer

from scbench.cli.console import USAGE, say


def asked(given: Mapping[str, str | None]) -> dict[str, str]:
    """Return what was given, and ask for the rest."""
    missing = [name for name, value in given.items() if value is None]
    if missing and not sys.stdin.isatty():
        options = ", ".join(f"--{name}" for name in missing)
        say(f"error: this is no terminal to ask at; give {options}")
        raise typer.Exit(USAGE)
    hints = {"date": "Date, as YYYY-MM-DD", "setting": "Setting, no_tools or tools"}
    return {
        name: value if value is not None else ask(name, hints.get(name, name.capitalize()))
        for name, value in given.items()
    }


def ask(name: str, words: str) -> str:
    """Ask for one value at the terminal."""
    if not sys.stdin.isatty():
        say(f"error: this is no terminal to ask at; give --{name}")
        raise typer.Exit(USAGE)
    return str(typer.prompt(words.replace("-", " ") if name != "date" else words)).strip()


def parameter(text: str) -> tuple[str, Any]:
    """Return a parameter's name and value; the value is JSON where it can be read so."""
    from scbench.base.canonical import parse_json
    from scbench.base.errors import JsonError

    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        say(f"error: --sampling takes KEY=VALUE, not {text!r}")
        raise typer.Exit(USAGE)
    try:
        return key.strip(), parse_json(value.encode())
    except JsonError:
        return key.strip(), value.strip()


def about_of(record: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return what `submission.yaml` will say, or say what is wrong with it and end."""
    from scbench.base.canonical import canonical_json
    from scbench.leaderboard.submission import read_submission

    about, findings = read_submission(canonical_json(record).encode(), "")
    for finding in findings:
        say(f"error: {finding.message}; {finding.todo}")
    if about is None:
        raise typer.Exit(USAGE)
    return about
