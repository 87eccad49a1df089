"""Draw one case at corners of parameter spaces, and report how long each takes and how it ends.

The case is made as for a release, with references, which are judged. Every point has to end within
a minute, with a case or with the reason why there is none::

    python tools/sweep_spaces.py [TASK ...] [--random N]

A space has too many corners to visit all. The program visits those with one parameter at an end of
its range, those with all numbers at the same end, and some with every parameter at a random end.
"""

import argparse
import json
import multiprocessing
import resource
import signal
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from scbench.base.canonical import canonical_json
from scbench.base.errors import ExperimentError
from scbench.base.seeding import Stream
from scbench.catalog import Task, available_tasks, get_task
from scbench.freezing.experiment import experiment_of
from scbench.freezing.fresh import run

# Maximum seconds for a point.
SECONDS = 60
Parameters = dict[str, Any]
_ROUND = {"kinds": ["sphere", "cone"], "min_sides": 40, "max_sides": 40}
# Points that used to take minutes without a result, before work was limited.
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


class Outcome(NamedTuple):
    """The seconds that a point takes, and the reason why it has no case (empty if it has one)."""

    seconds: float
    reason: str


def ends_of(task: Task) -> dict[str, tuple[Any, ...]]:
    """Return the ends of every parameter: its bounds, or each of its values if they are words."""
    fields = task.builder.space.model_fields
    return {name: ends_of_field(fields[name]) for name in fields if name != "count"}


def ends_of_field(field: FieldInfo) -> tuple[Any, ...]:
    """Return the ends of one parameter."""
    kind = field.annotation
    if kind is bool:
        return (False, True)
    bounds: dict[str, Any] = {}
    for rule in field.metadata:
        for name in ("ge", "gt", "le", "lt"):
            if hasattr(rule, name):
                bounds[name] = getattr(rule, name)
    if bounds:
        step = 1 if kind is int else 1e-6
        low = bounds.get("ge", bounds.get("gt", 0) + step)
        high = bounds.get("le", bounds.get("lt", low + 100) - step)
        return (low, high)
    if get_origin(kind) is tuple:
        # For a list of words, the ends are each word alone, and all words.
        words = get_args(get_args(kind)[0])
        return (*([word] for word in words), list(words))
    words = tuple(value for value in get_args(kind) if isinstance(value, str))
    return words or (field.default,)


def corners(task: Task, by_chance: int) -> Iterator[Parameters]:
    """Yield different corners of a task's space that its rules allow."""
    ends = ends_of(task)
    rng = Stream("corners", task.id)
    points: list[Parameters] = [{}, *KNOWN_HARD.get(task.id, ())]
    points += [{name: value} for name, values in ends.items() for value in values]
    for at in (0, -1):
        points.append({name: values[at] for name, values in ends.items()})
    for _ in range(by_chance):
        points.append({name: rng.choice(values) for name, values in ends.items()})
    earlier = set()
    for parameters in points:
        key = canonical_json(parameters)
        if key in earlier:
            continue
        earlier.add(key)
        try:
            task.builder.space.model_validate(parameters)
        except ValidationError:
            # The space rejects this corner, so nothing would be drawn.
            continue
        yield parameters


def outcome_in_time(seconds: int, task_id: str, parameters: Parameters) -> Outcome:
    """Return the outcome of a point, computed in a separate process with a time limit.

    The limit is in CPU time, so that a busy machine makes no difference.
    """
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.Process(
        target=_send_attempt, args=(sender, seconds, task_id, parameters)
    )
    child.start()
    # With the sender closed here, the pipe ends if the child process dies.
    sender.close()
    try:
        outcome = Outcome(*receiver.recv())
    except EOFError:
        child.join()
        outcome = Outcome(0.0, f"CRASH: exit code {child.exitcode}")
        if child.exitcode == -signal.SIGXCPU:
            outcome = Outcome(float(seconds), "TIME")
    child.join()
    return outcome


def _send_attempt(
    pipe: Any,  # noqa: ANN401  (any value)
    seconds: int,
    task_id: str,
    parameters: Parameters,
) -> None:
    """Send the outcome of a point from a child process."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    # Send a plain tuple, because the receiver may have loaded this file under another name.
    pipe.send(tuple(attempt(task_id, parameters)))


def attempt(task_id: str, parameters: Parameters) -> Outcome:
    """Make the case of a point in this process, and return the outcome."""
    start = time.process_time()
    try:
        experiment = experiment_of({"seed": 1, "task": [{"id": task_id, **parameters}]})
        (part,) = run(experiment)
        reason = part.reason
    except ExperimentError as error:
        reason = f"refused: {error}"
    except Exception as error:  # noqa: BLE001  (report it with the point)
        reason = f"CRASH {type(error).__name__}: {error}"
    return Outcome(time.process_time() - start, reason)


def main() -> None:
    """Sweep the spaces of the named tasks, or of all tasks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument(
        "--random", type=int, default=12, help="number of random corners per task"
    )
    parser.add_argument(
        "--seconds", type=int, default=SECONDS, help="CPU time limit for a point"
    )
    parser.add_argument(
        "--above", type=float, default=10, help="list points that take more CPU time"
    )
    options = parser.parse_args()
    tasks = [get_task(name) for name in options.tasks] or list(available_tasks())
    for task in tasks:
        # Seconds and parameters.
        slowest: tuple[float, str] = (0.0, "")
        points = 0
        empty = 0
        for parameters in corners(task, options.random):
            took, reason = outcome_in_time(options.seconds, task.id, parameters)
            text = json.dumps(parameters)
            points += 1
            if reason:
                empty += 1
            slowest = max(slowest, (took, text))
            if took > options.above or reason.startswith(("TIME", "CRASH")):
                print(f"  {took:6.1f} s  {text}  {reason[:120]}", flush=True)
        summary = f"{points} points, {empty} without a case, at most {slowest[0]:.1f} s"
        print(f"{task.id}: {summary}, at {slowest[1]}", flush=True)


if __name__ == "__main__":
    main()
