"""How far does one public answer get? The best right answer of the ladder, repeated on a twin.

A twin is the ladder drawn with another seed. Each right answer of a task's public rungs is given to
every item of the task there; the mean of its scores above the floors, in hundredths, is printed of
the best one. An item without room above its floor counts 0. More than 30 is too much (exit code 1):
`python tools/repeat_public.py [SEED [TASK...]]`.
"""

import json
import sys

from scbench.freezing.fresh import run
from scbench.freezing.frozen_task import mean_score
from scbench.freezing.ladder import ladder
from scbench.scoring.outcomes import normalized

MOST = 30.0


def best_repeated(name: str, seed: int) -> tuple[float, str]:
    """Return what the best public answer to a task scores on the twin, and the item it is of."""
    table = ladder()
    twin = [
        (part.planned.task, part.planned.task.params_model.model_validate_json(row.all_params), ref)
        for part in run(table.experiment(tasks=[name], seed=seed), distinct=False)
        for row, ref in zip(part.instances, part.references, strict=True)
    ]
    means = {}
    for part in run(table.experiment(tasks=[name]), distinct=False):
        for public in part.references:
            answer = json.loads(public.answer)
            scores = [
                normalized(mean_score(task, item, "repeated", answer, where=ref.id), ref.floor)
                for task, item, ref in twin
                if ref.floor < 1
            ]
            means[public.id] = 100 * sum(scores) / len(twin)
    return max((score, id_) for id_, score in means.items())


def main(seed: str = "4711", *names: str) -> int:
    """Print a line for each task; return 1 if an answer scores too much."""
    worst = 0.0
    for name in names or ladder().tasks:
        score, id_ = best_repeated(name, int(seed))
        sys.stdout.write(f"{name:32} {score:5.1f}  {id_}\n")
        sys.stdout.flush()
        worst = max(worst, score)
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
