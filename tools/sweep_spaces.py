"""Draw one case at corners of parameter spaces, and say how long each takes and what came of it.

The case is made as for a release: with its references, which are judged. Every point has to end
within a minute, with a case or with the reason why there is none::

    python tools/sweep_spaces.py [TASK ...] [--random N]

The corners of a space are too many to visit all. Visited are those where one parameter is at an end
of its range, those where all numbers are at one end, and some where every parameter is at one of
its ends by chance.
"""

import argparse
import json
import multiprocessing
import resource
import signal
import time
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import ValidationError

from scbench.base.canonical import canonical_json
from scbench.base.errors import ExperimentError
from scbench.base.seeding import Stream
from scbench.catalog import Task, available_tasks, get_task
from scbench.freezing.experiment import experiment_of
from scbench.freezing.fresh import run

SECONDS = 60
Parameters = dict[str, Any]
_ROUND = {"kinds": ["sphere", "cone"], "min_sides": 40, "max_sides": 40}
# Points from which nothing came for minutes, before work was counted.
KNOWN_HARD: dict[str, list[Parameters]] = {
    "hamiltonian_loop": [{"size": 30, "blocked": 0.25, "obstacles": "cells"}],
    "shikaku_rectangles": [
        {"min_candidates": 300},
        {"min_nodes": 50},
        {"width": 20, "height": 20, "min_nodes": 50},
    ],
    "polynomial_curve_fitting": [
        {"size": 128, "min_degree": 2, "max_degree": 2},
        {"size": 128, "min_degree": 8, "max_degree": 8},
    ],
    "csg_union": [_ROUND, _ROUND | {"max_vertices": 1000}],
    "lego_hemispherical_shell": [
        {"form": "dome", "min_inner_cm": 3, "max_inner_cm": 25},
        {"form": "dome", "min_inner_cm": 25, "max_inner_cm": 25},
    ],
    "largest_printable_prime": [
        {"group": 2, "digits": 10, "forbidden": 0, "font": "tailless"}
        | {"min_height_mm": 150, "max_height_mm": 150}
    ],
    "terrain_levelling": [{"size": 48, "flat_tolerance": 0.1, "share": 0.7}],
}


def ends_of(task: Task) -> dict[str, tuple[Any, ...]]:
    """Return the ends of every parameter: its bounds, or each of its values if they are words."""
    ends: dict[str, tuple[Any, ...]] = {}
    for name, field in task.builder.space.model_fields.items():
        if name == "count":
            continue
        bounds: dict[str, Any] = {}
        for rule in field.metadata:
            bounds |= {
                k: getattr(rule, k)
                for k in ("ge", "gt", "le", "lt")
                if hasattr(rule, k)
            }
        if field.annotation is bool:
            ends[name] = (False, True)
        elif bounds:
            is_integer = field.annotation is int
            step = 1 if is_integer else 1e-6
            low = bounds.get("ge", bounds.get("gt", 0) + step)
            high = bounds.get("le", bounds.get("lt", low + 100) - step)
            ends[name] = (low, high)
        elif get_origin(field.annotation) is tuple:
            words = get_args(get_args(field.annotation)[0])
            ends[name] = (*([word] for word in words), list(words))
        else:
            words = [
                value for value in get_args(field.annotation) if isinstance(value, str)
            ]
            ends[name] = tuple(words) or (field.default,)
    return ends


def corners(task: Task, by_chance: int) -> Iterator[Parameters]:
    """Yield corners of a task's space that its rules allow, none twice."""
    ends = ends_of(task)
    rng = Stream("corners", task.id)
    points: list[Parameters] = [{}, *KNOWN_HARD.get(task.id, ())]
    points += [{name: value} for name, values in ends.items() for value in values]
    points += [{name: values[at] for name, values in ends.items()} for at in (0, -1)]
    points += [
        {name: rng.choice(values) for name, values in ends.items()}
        for _ in range(by_chance)
    ]
    earlier = set()
    for parameters in points:
        key = canonical_json(parameters)
        if key in earlier:
            continue
        earlier.add(key)
        try:
            task.builder.space.model_validate(parameters)
        except ValidationError:
            continue  # said at once, and nothing is drawn
        yield parameters


def attempt(task_id: str, parameters: Parameters) -> tuple[float, str]:
    """Return how long a point takes, in seconds, and why it gives no case; nothing if it does."""
    start = time.process_time()
    try:
        experiment = experiment_of({"seed": 1, "task": [{"id": task_id, **parameters}]})
        (part,) = run(experiment)
        reason = part.reason
    except ExperimentError as error:
        reason = f"refused: {error}"
    except Exception as error:  # noqa: BLE001  (to be told of any point)
        reason = f"CRASH {type(error).__name__}: {error}"
    return time.process_time() - start, reason


def within(seconds: int, task_id: str, parameters: Parameters) -> tuple[float, str]:
    """Return the same as `attempt`, from a process of its own that may use some time.

    Time is that of the processor, so that a busy machine makes no difference.
    """
    mine, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.Process(
        target=_send_attempt, args=(theirs, seconds, task_id, parameters)
    )
    child.start()
    theirs.close()
    try:
        result: tuple[float, str] = mine.recv()
    except EOFError:
        child.join()
        ended = child.exitcode == -signal.SIGXCPU
        result = (
            (float(seconds), "TIME")
            if ended
            else (0.0, f"CRASH: exit code {child.exitcode}")
        )
    child.join()
    return result


def _send_attempt(
    pipe: Any,  # noqa: ANN401  (any value)
    seconds: int,
    task_id: str,
    parameters: Parameters,
) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    pipe.send(attempt(task_id, parameters))


def main() -> None:
    """Sweep the spaces of the tasks named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument(
        "--random", type=int, default=12, help="corners by chance, for each task"
    )
    parser.add_argument("--seconds", type=int, default=SECONDS, help="time for a point")
    parser.add_argument(
        "--above", type=float, default=10, help="points that take more are listed"
    )
    options = parser.parse_args()
    tasks = [get_task(name) for name in options.tasks] or list(available_tasks())
    for task in tasks:
        slowest: tuple[float, str] = (0.0, "")
        points = empty = 0
        for parameters in corners(task, options.random):
            took, reason = within(options.seconds, task.id, parameters)
            points, empty = points + 1, empty + bool(reason)
            slowest = max(slowest, (took, json.dumps(parameters)))
            if took > options.above or reason.startswith(("TIME", "CRASH")):
                print(
                    f"  {took:6.1f} s  {json.dumps(parameters)}  {reason[:120]}",
                    flush=True,
                )
        summary = f"{points} points, {empty} without a case, at most {slowest[0]:.1f} s"
        print(f"{task.id}: {summary}, at {slowest[1]}", flush=True)


if __name__ == "__main__":
    main()
