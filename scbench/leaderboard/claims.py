"""The content of ``claimed.json``: normalized scores claimed by a submission."""

from pydantic import JsonValue

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError, did_you_mean, printable
from scbench.leaderboard.findings import Finding, finding


def read_claims(
    data: bytes, names: list[str], file: str
) -> tuple[dict[str, float], list[Finding]]:
    """Return claimed scores (0 to 100) by bucket or task, and the errors in them.

    The file is ``{"scores": {"overall": 61.2, ...}}``, or the ``summary.json`` of scbench-grade.

    Args:
        data: the content of the file.
        names: the buckets and tasks that have a score.
        file: name of the file.
    """
    try:
        value = parse_json(data)
    except JsonError as error:
        return {}, [finding("bad_claims", file, 1, reason=f"not valid JSON: {error}")]
    scores = claimed_scores(value)
    if not scores:
        return {}, [
            finding("bad_claims", file, 1, reason="the file contains no scores")
        ]
    # Valid claims are returned even if others are invalid.
    claims = {}
    findings = []
    for name, claim in scores.items():
        if name not in names:
            label = printable(name[:50])
            similar_name = did_you_mean(name, names).strip()
            todo = similar_name or f"use one of the names {', '.join(names[:4])}, ..."
            findings.append(finding("unknown_claim", file, name=label, todo=todo))
        elif (
            isinstance(claim, bool)
            or not isinstance(claim, int | float)
            or not 0 <= claim <= 100
        ):
            reason = f"{name}: the claim must be a number from 0 to 100"
            findings.append(finding("bad_claims", file, reason=reason))
        else:
            claims[name] = float(claim)
    return claims, findings


def claimed_scores(value: JsonValue) -> dict[str, JsonValue] | None:
    """Return the scores in either form of the file, unchecked; None for other content."""
    if not isinstance(value, dict):
        return None
    if "buckets" in value:
        return summary_scores(value)
    if value.keys() != {"scores"}:
        return None
    scores = value["scores"]
    return scores if isinstance(scores, dict) else None


def summary_scores(summary: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    """Return the scores in a summary (0 to 100); None if it has more than one run."""
    scores: dict[str, JsonValue] = {}
    names: set[str] = set()
    for part, column in (("buckets", "bucket"), ("tasks", "task")):
        rows = summary.get(part, [])
        if not isinstance(rows, list):
            return None
        for row in rows:
            name = row.get(column) if isinstance(row, dict) else None
            # A repeated name belongs to a second run.
            if not isinstance(row, dict) or not isinstance(name, str) or name in names:
                return None
            names.add(name)
            score = row.get("normalized")
            # Tasks without room above their floors have no score.
            if isinstance(score, int | float):
                scores[name] = 100 * score
    return scores
