"""Write down the verdict on every reference, counter-reference and real answer: score and checks.

``tests/data/verdicts/`` holds them, one file per task, and a test compares. A verdict that changes
while its grader keeps its version is a fault, and this program refuses to write it down::

    python tools/golden_verdicts.py [TASK ...]

Raise the grader's VERSION first. Answers that are new or gone, as builders change, need no new
version. A task needs no such file until a release holds it.
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
REAL = ROOT.parent / "shared" / "real" / "predictions.jsonl"
_MARKS = {True: "+", False: "-", None: "?"}
# Scores this near are the same: libraries may round the last digits differently.
_CLOSE = 1e-9


class Golden(NamedTuple):
    """What was written down of one answer.

    Attributes:
        scores: one for each verdict.
        checks: for each verdict its checks in order, each with + (passed), - or ? (not evaluated).
    """

    scores: tuple[float, ...]
    checks: tuple[str, ...]

    def agrees(self, twin: "Golden") -> bool:
        """Whether two verdicts are the same."""
        return (
            self.checks == twin.checks
            and len(self.scores) == len(twin.scores)
            and all(
                math.isclose(a, b, rel_tol=0, abs_tol=_CLOSE)
                for a, b in zip(self.scores, twin.scores, strict=True)
            )
        )


def golden(verdicts: Sequence[Verdict]) -> Golden:
    """Return what is written down of verdicts."""
    return Golden(
        tuple(verdict.score for verdict in verdicts),
        tuple(
            " ".join(f"{check.id}{_MARKS[check.passed]}" for check in verdict.checks)
            for verdict in verdicts
        ),
    )


def key(instance_id: str, name: str, answer: JsonValue) -> str:
    """Return what names an answer: the same answer of the same item has the same name."""
    return f"{instance_id}\t{name}\t{sha256(canonical_json(answer).encode())[:12]}"


def read(task_id: str) -> tuple[int, dict[str, Golden]]:
    """Return the grader version and the verdicts written down for a task; 0 and none if none."""
    path = FOLDER / f"{task_id}.tsv"
    if not path.exists():
        return 0, {}
    first, *lines = path.read_text("utf-8").splitlines()
    verdicts = {}
    for line in lines:
        instance_id, name, digest, scores, checks = line.split("\t")
        verdicts[f"{instance_id}\t{name}\t{digest}"] = Golden(
            tuple(map(float, scores.split())), tuple(checks.split("|"))
        )
    return int(first.removeprefix("grader version ")), verdicts


def stored_answers(task: Task) -> Iterator[tuple[str, str, JsonValue]]:
    """Yield id, name and answer of every reference and counter-reference of the paper's items."""
    builder = task.builder()
    for i, item in enumerate(builder.paper()):
        instance_id = f"{task.id}/{i:02d}"
        yield (
            instance_id,
            "reference",
            builder.reference(item.params).model_dump(mode="json"),
        )
        for name, answer in builder.counter_references(item.params).items():
            yield instance_id, name, answer


def real_lines(task: Task) -> Iterator[tuple[str, Prediction]]:
    """Yield the digest and the prediction of every real answer to a task that is at hand."""
    if not REAL.exists():
        return
    for line in REAL.read_bytes().splitlines():
        prediction = Prediction.model_validate(json.loads(line))
        if prediction.id.partition("/")[0] == task.id:
            yield sha256(line)[:12], prediction


def judged(task: Task) -> Iterator[tuple[str, Golden]]:
    """Yield the name of every answer to a task with the verdict of today's grader."""
    params = [item.params for item in task.builder().paper()]
    for instance_id, name, answer in stored_answers(task):
        at = params[int(instance_id.partition("/")[2])]
        yield key(instance_id, name, answer), golden(judge(task, at, answer))
    for digest, prediction in real_lines(task):
        at = params[int(prediction.id.partition("/")[2])]
        outcome = grade_prediction(prediction, task, at)
        yield f"{prediction.id}\treal\t{digest}", golden(outcome.verdicts)


def write(task: Task) -> str:
    """Write a task's verdicts down; return a word on what changed.

    Raises:
        SystemExit: a verdict changed, and the grader's version did not.
    """
    version, before = read(task.id)
    now = dict(judged(task))
    if not REAL.exists():  # they are not at hand everywhere, and stay
        now |= {name: verdict for name, verdict in before.items() if "\treal\t" in name}
    changed = [
        name for name in now.keys() & before if not now[name].agrees(before[name])
    ]
    if changed and version == task.grader_version:
        first = min(changed).replace("\t", " ")
        raise SystemExit(
            f"{task.id}: {len(changed)} verdicts changed, the first is {first}; raise VERSION in "
            "the grader first"
        )
    lines = [f"grader version {task.grader_version}"]
    for name in sorted(now):
        content = now[name] if name in changed or name not in before else before[name]
        lines.append(
            f"{name}\t{' '.join(map(repr, content.scores))}\t{'|'.join(content.checks)}"
        )
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{task.id}.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    added, gone = len(now.keys() - before), len(before.keys() - now.keys())
    return f"{task.id}: {len(now)} verdicts, {added} new, {gone} gone, {len(changed)} changed"


def main() -> None:
    """Write the verdicts of the tasks named, or of all of ours that have a fixed list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", help="ids of tasks; all by default")
    names = parser.parse_args().tasks
    for task in [get_task(name) for name in names] or own_tasks():
        print(write(task), flush=True)


if __name__ == "__main__":
    main()
