"""The findings about a submission, and their forms for people, programs and CI.

The texts of findings are in ``findings.toml``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from scbench.base.data import packaged_toml
from scbench.base.errors import printable

Level = Literal["problem", "warning"]

# Findings about the whole submission come first, then those about these files, then the
# rest.
_FILE_ORDER = ("submission.yaml", "claimed.json", "predictions")

# Maximum number of findings shown of one kind.
_MOST_SHOWN = 20
# GitHub's commands escape these characters in a message, and two more in a property.
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


@dataclass(frozen=True, slots=True)
class Finding:
    """An error in a submission, or a possible one.

    Attributes:
        code: the kind, for programs.
        message: the error.
        todo: advice on how to correct it; empty if an earlier finding gives it.
        file: name of the file inside the submission; empty if it concerns the whole.
        line: number of the line, from 1, if any.
        id: the instance id, if any.
        level: a problem makes the submission invalid; a warning should be reviewed.
    """

    code: str
    message: str
    todo: str
    file: str = ""
    line: int | None = None
    id: str | None = None
    level: Level = "problem"

    @property
    def sentence(self) -> str:
        """The message and the advice, preceded by the instance id unless the message names it."""
        text = f"{self.message}; {self.todo}" if self.todo else self.message
        if self.id and self.id not in self.message:
            return f"{self.id}: {text}"
        return text


def finding_texts() -> Mapping[str, Any]:
    """Return ``findings.toml``: message, advice, code and level of each kind of finding."""
    return packaged_toml("scbench.leaderboard", "findings.toml")


def finding(
    kind: str,
    file: str = "",
    line: int | None = None,
    row_id: str | None = None,
    /,
    **words: object,
) -> Finding:
    """Return a finding of a kind in ``findings.toml``, with its texts filled in."""
    text = finding_texts()[kind]
    message = text["message"].format(**words)
    todo = text["todo"].format(**words)
    # Several kinds may share a code. Most are problems.
    return Finding(
        text.get("code", kind),
        message,
        todo,
        file,
        line,
        row_id,
        text.get("level", "problem"),
    )


def advice(code: str, otherwise: str) -> str:
    """Return the advice on a problem that reading or grading a line reports."""
    return str(finding_texts()["problems"].get(code, otherwise))


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by file and line."""
    return sorted(findings, key=sort_key)


def sort_key(finding: Finding) -> tuple[Any, ...]:
    """Return the sort key of a finding."""
    file = finding.file
    return (
        # False comes before True.
        file != "",
        [not file.startswith(prefix) for prefix in _FILE_ORDER],
        file,
        finding.line or 0,
        finding.level,
        finding.code,
        finding.message,
    )


def problems(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that make a submission invalid."""
    return [finding for finding in findings if finding.level == "problem"]


def limit_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the first findings of each kind, followed by the number of further ones."""
    shown = []
    counts: Counter[tuple[str, Level]] = Counter()
    for each in findings:
        kind = (each.code, each.level)
        counts[kind] += 1
        if counts[kind] <= _MOST_SHOWN:
            shown.append(each)
    for (code, level), count in counts.items():
        further = count - _MOST_SHOWN
        if further > 0:
            message = f"more findings of this kind: {further:,}"
            todo = "correct the first ones, then validate again"
            shown.append(Finding(code, message, todo, level=level))
    return shown


def with_advice_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings for a list that people read from the top: equal advice is given only once."""
    advice_so_far = set()
    for each in findings:
        advice_of_kind = (each.code, each.level, each.todo)
        yield replace(each, todo="") if advice_of_kind in advice_so_far else each
        advice_so_far.add(advice_of_kind)


def as_text(finding: Finding, where: str) -> str:
    """Return a finding as one line: place (with the user's path), kind, error and advice."""
    line = f":{finding.line}" if finding.line else ""
    text = f"{where}{line}: {finding.level} [{finding.code}] {finding.sentence}"
    return printable(text)


def as_annotation(finding: Finding, where: str) -> str:
    """Return a finding as the GitHub command that annotates a line of a pull request."""
    kind = "error" if finding.level == "problem" else "warning"
    values = {"file": where, "line": str(finding.line or ""), "title": finding.code}
    properties = []
    for key, value in values.items():
        if value:
            properties.append(f"{key}={printable(value.translate(_PROPERTY))}")
    text = printable(finding.sentence.translate(_DATA))
    return f"::{kind} {','.join(properties)}::{text}"


def as_record(finding: Finding, where: str) -> dict[str, Any]:
    """Return a finding for JSON, with its place as the user's path."""
    return asdict(finding) | {"path": where}
