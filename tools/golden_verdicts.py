"""Record the verdict (score and checks) on every reference, counter-reference and real answer.

``tests/data/verdicts/`` contains one file per task, and a test compares them. A verdict that
changes although its grader keeps its version is an error, and this program refuses to record it::

    python tools/golden_verdicts.py [TASK ...]

Raise the grader's VERSION first. New or removed answers, after a change of a builder, need no new
version. A task needs no such file before a release contains it.
"""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from scbench.base.canonical import canonical_json, sha256
from scbench.base.model import Prediction, Verdict
from scbench.catalog import Task, get_task
from scbench.freezing.freeze import own_tasks
from scbench.scoring.judge import judge
from scbench.scoring.outcomes import grade_prediction

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "data" / "verdicts"
# Real answers are not available everywhere.
REAL = ROOT.parent / "shared" / "real" / "predictions.jsonl"
_VERSION_LINE = "grader version "
_MARKS = {True: "+", False: "-", None: "?"}
# Scores within this distance are equal, because libraries may round the last digits differently.
_CLOSE = 1e-9


class Golden(NamedTuple):
    """The record of one answer's verdicts.

    Attributes:
        scores: one score per verdict.
        checks: the checks of each verdict, with + (passed), - (failed) or ? (not evaluated).
    """

    scores: tuple[float, ...]
    checks: tuple[str, ...]

    def agrees(self, twin: "Golden") -> bool:
        """Return whether two records agree."""
        if self.checks != twin.checks or len(self.scores) != len(twin.scores):
            return False
        pairs = zip(self.scores, twin.scores, strict=True)
        return all(math.isclose(a, b, rel_tol=0, abs_tol=_CLOSE) for a, b in pairs)

    def text(self) -> str:
        """Return the record as the end of a line."""
        return f"{' '.join(map(repr, self.scores))}\t{'|'.join(self.checks)}"


def main() -> None:
    """Write the verdicts of the named tasks, or of all tasks of this package with a fixed list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", help="ids of tasks; all by default")
    names = parser.parse_args().tasks
    for task in [get_task(name) for name in names] or own_tasks():
        print(write(task), flush=True)


def write(task: Task) -> str:
    """Record a task's verdicts; return a summary of the changes.

    Raises:
        SystemExit: a verdict changed, but the grader's version did not.
    """
    version, before = read(task.id)
    now = dict(judged(task))
    if not REAL.exists():
        # Verdicts on real answers are kept unchanged.
        now |= {name: verdict for name, verdict in before.items() if "\treal\t" in name}
    common = now.keys() & before.keys()
    unchanged = {name for name in common if now[name].agrees(before[name])}
    changed = common - unchanged
    if changed and version == task.grader_version:
        first = min(changed).replace("\t", " ")
        raise SystemExit(
            f"{task.id}: {len(changed)} verdicts changed, the first is {first}; raise VERSION in "
            "the grader first"
        )
    lines = [f"{_VERSION_LINE}{task.grader_version}"]
    for name in sorted(now):
        # If the score is equal, its last digits are kept as well.
        verdict = before[name] if name in unchanged else now[name]
        lines.append(f"{name}\t{verdict.text()}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{task.id}.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    added = len(now.keys() - before)
    removed = len(before.keys() - now.keys())
    return f"{task.id}: {len(now)} verdicts, {added} new, {removed} removed, {len(changed)} changed"


def read(task_id: str) -> tuple[int, dict[str, Golden]]:
    """Return the recorded grader version and verdicts of a task; 0 and none without a record."""
    path = FOLDER / f"{task_id}.tsv"
    if not path.exists():
        return 0, {}
    first, *lines = path.read_text("utf-8").splitlines()
    verdicts = {}
    for line in lines:
        name, score_text, check_text = line.rsplit("\t", 2)
        scores = tuple(map(float, score_text.split()))
        verdicts[name] = Golden(scores, tuple(check_text.split("|")))
    return int(first.removeprefix(_VERSION_LINE)), verdicts


def judged(task: Task) -> Iterator[tuple[str, Golden]]:
    """Yield the name of every answer to a task, and the current grader's verdict on it."""
    params_by_id = {}
    for i, item in enumerate(task.builder().paper()):
        params_by_id[f"{task.id}/{i:02d}"] = item.params
    for instance_id, name, answer in stored_answers(task):
        verdicts = judge(task, params_by_id[instance_id], answer)
        yield key(instance_id, name, answer), golden(verdicts)
    for digest, prediction in real_lines(task):
        outcome = grade_prediction(prediction, task, params_by_id[prediction.id])
        yield f"{prediction.id}\treal\t{digest}", golden(outcome.verdicts)


def golden(verdicts: Sequence[Verdict]) -> Golden:
    """Return the record of an answer's verdicts."""
    scores = tuple(verdict.score for verdict in verdicts)
    checks = []
    for verdict in verdicts:
        marks = [f"{check.id}{_MARKS[check.passed]}" for check in verdict.checks]
        checks.append(" ".join(marks))
    return Golden(scores, tuple(checks))


def key(instance_id: str, name: str, answer: JsonValue) -> str:
    """Return the name of an answer; the same answer to the same item has the same name."""
    return f"{instance_id}\t{name}\t{sha256(canonical_json(answer).encode())[:12]}"


def stored_answers(task: Task) -> Iterator[tuple[str, str, JsonValue]]:
    """Yield id, name and answer of each reference and counter-reference of the paper's items."""
    builder = task.builder()
    for i, item in enumerate(builder.paper()):
        instance_id = f"{task.id}/{i:02d}"
        right = builder.reference(item.params)
        yield instance_id, "reference", right.model_dump(mode="json")
        for name, answer in builder.counter_references(item.params).items():
            yield instance_id, name, answer


def real_lines(task: Task) -> Iterator[tuple[str, Prediction]]:
    """Yield the digest and the prediction of every available real answer to a task."""
    if not REAL.exists():
        return
    for line in REAL.read_bytes().splitlines():
        prediction = Prediction.model_validate(json.loads(line))
        if prediction.id.partition("/")[0] == task.id:
            yield sha256(line)[:12], prediction


if __name__ == "__main__":
    main()
