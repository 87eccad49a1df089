"""Measure how much a single public answer earns when it is repeated on a twin of the ladder.

A twin is the ladder drawn with another seed. Each correct answer to a public item of a task is
given to every item of the task on the twin. For each task, the program prints the best answer and
its mean score above the floors, in hundredths. Items with a floor of 1 count 0. More than 30 is too
much (exit code 1): `python tools/repeat_public.py [SEED [TASK...]]`.
"""

import sys

from scbench.catalog import get_task
from scbench.freezing.fresh import run
from scbench.freezing.ladder import ladder
from scbench.freezing.ladder_check import items_of, scores_above

MOST = 30.0


def main(seed: str = "4711", *names: str) -> int:
    """Print a line for each task; return 1 if an answer scores too high."""
    worst = 0.0
    for name in names or ladder().tasks:
        score, id_ = best_repeated(name, int(seed))
        print(f"{name:32} {score:5.1f}  {id_}", flush=True)
        worst = max(worst, score)
    return int(worst > MOST)


def best_repeated(name: str, seed: int) -> tuple[float, str]:
    """Return the twin score of a task's best public answer, and the answer's item."""
    table = ladder()
    task = get_task(name)
    items = []
    number = 0
    for part in run(table.experiment(tasks=[name], seed=seed), distinct=False):
        items += [item for item in items_of(part) if item.reference.floor < 1]
        number += len(part.instances)
    means = []
    for part in run(table.experiment(tasks=[name]), distinct=False):
        for public in items_of(part):
            total = sum(scores_above(task, public, items))
            means.append((100 * total / number, public.reference.id))
    return max(means)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
