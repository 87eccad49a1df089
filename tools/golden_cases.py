"""Record a hash of the first fresh cases of every task, because the cases of a seed must not drift.

``tests/data/golden_cases.json`` contains the hashes, and a test compares them. Cases that change
although their builder keeps its version are an error, and this program refuses to record them::

    python tools/golden_cases.py [TASK ...]

Raise the builder's version first. A task needs no hash before a release contains it.
"""

import argparse
import json
from pathlib import Path

from scbench.base.canonical import content_hash
from scbench.base.errors import GenerationError
from scbench.catalog import Task, available_tasks, get_task
from scbench.freezing.draw import draw
from scbench.freezing.experiment import experiment_of, plan
from scbench.machine.processes import open_executor

PATH = Path(__file__).resolve().parent.parent / "tests" / "data" / "golden_cases.json"
SEED = 7
COUNT = 2


def main() -> None:
    """Write the hashes of the named tasks, or of all tasks of this package."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    tasks = [get_task(name) for name in parser.parse_args().tasks]
    if not tasks:
        tasks = [task for task in available_tasks() if task.package == "scbench"]
    old = stored()
    new = {task.id: golden(task) for task in tasks}
    drifted = []
    for name, cases in new.items():
        before = old.get(name, cases)
        # The first entry is the builder's version.
        if cases != before and cases[0] == before[0]:
            drifted.append(name)
    if drifted:
        names = ", ".join(drifted)
        parser.exit(1, f"other cases with the same builder version: {names}\n")
    PATH.write_text(json.dumps(old | new, indent=1) + "\n", "utf-8")


def golden(task: Task) -> list[object]:
    """Return the version of a task's builder, and a hash of its first cases.

    Raises:
        GenerationError: the cases cannot be drawn here.
    """
    block = {"id": task.id, "count": COUNT}
    experiment = experiment_of({"seed": SEED, "task": [block]})
    with open_executor(1) as executor:
        (case,) = draw(plan(experiment), SEED, executor, set())
    if case.reason:
        raise GenerationError(case.reason)
    return [task.builder.version, content_hash(list(case.cases))]


def stored() -> dict[str, list[object]]:
    """Return the recorded versions and hashes by task."""
    if not PATH.exists():
        return {}
    cases: dict[str, list[object]] = json.loads(PATH.read_text("utf-8"))
    return cases


if __name__ == "__main__":
    main()
