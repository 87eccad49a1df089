"""What is wrong with a submission, and how it is printed: for people, programs and CI.

What findings say stands in ``findings.toml``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from scbench.base.data import packaged_toml
from scbench.base.errors import printable

_ORDER = ("", "submission.yaml", "claimed.json", "predictions")

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
# How GitHub's commands write signs in a message, and in what comes before it.
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})

Level = Literal["problem", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or that may be."""

    code: str  #: kind, for programs.
    message: str  #: what is wrong.
    todo: str  #: what to do about it.
    file: str = (
        ""  #: name of the file inside the submission; empty if it concerns the whole.
    )
    line: int | None = None  #: number of the line, from 1, where there is one.
    id: str | None = None  #: instance id, where there is one.
    level: Level = (
        "problem"  #: a problem makes the submission unfit, a warning asks for a look.
    )


def _finding_texts() -> Mapping[str, Any]:
    return packaged_toml("scbench.leaderboard", "findings.toml")


def finding(
    kind: str,
    file: str = "",
    line: int | None = None,
    row_id: str | None = None,
    /,
    **words: object,
) -> Finding:
    """Return a finding of a kind in ``findings.toml``, whose texts are filled with words."""
    text = _finding_texts()[kind]
    message, todo = (text[part].format(**words) for part in ("message", "todo"))
    code, level = text.get("code", kind), text.get("level", "problem")
    return Finding(code, message, todo, file, line, row_id, level)


def advice(code: str, otherwise: str) -> str:
    """Return what to do about a problem of a line that reading or grading tells."""
    return str(_finding_texts()["problems"].get(code, otherwise))


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by file and line."""

    def place(finding: Finding) -> tuple[Any, ...]:
        places = [
            i for i, name in enumerate(_ORDER) if name and finding.file.startswith(name)
        ]
        file = 0 if not finding.file else places[0] if places else len(_ORDER)
        return (
            file,
            finding.file,
            finding.line or 0,
            finding.level,
            finding.code,
            finding.message,
        )

    return sorted(findings, key=place)


def problems(findings: Iterable[Finding]) -> list[Finding]:
    """Return those that make a submission invalid."""
    return [finding for finding in findings if finding.level == "problem"]


def as_text(finding: Finding, where: str) -> str:
    """Return a finding as one line: place as the user knows it, kind, what is wrong, what to do."""
    line = f":{finding.line}" if finding.line else ""
    row = f"{finding.id}: " if finding.id and finding.id not in finding.message else ""
    text = f"{where}{line}: {finding.level} [{finding.code}] {row}{finding.message}; {finding.todo}"
    return printable(text)


def as_annotation(finding: Finding, where: str) -> str:
    """Return a finding as the command that makes GitHub mark a line of a pull request."""
    kind = "error" if finding.level == "problem" else "warning"
    parts = {"file": where, "line": str(finding.line or ""), "title": finding.code}
    properties = ",".join(
        f"{key}={printable(value.translate(_PROPERTY))}"
        for key, value in parts.items()
        if value
    )
    row = f"{finding.id}: " if finding.id and finding.id not in finding.message else ""
    text = f"{row}{finding.message}; {finding.todo}".translate(_DATA)
    return f"::{kind} {properties}::{printable(text)}"


def as_record(finding: Finding, where: str) -> dict[str, Any]:
    """Return a finding for JSON, with the place as the user knows it."""
    return asdict(finding) | {"path": where}


# Forms of one line per finding.
WRITERS: dict[str, Callable[[Finding, str], str]] = {
    "text": as_text,
    "github": as_annotation,
}
