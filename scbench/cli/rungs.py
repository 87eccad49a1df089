"""The ladder as a table: what draws it, and ``scbench release rungs``, which checks it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scbench.cli.console import PROBLEMS, counted, reported_errors, say

if TYPE_CHECKING:
    from scbench.freezing.experiment import Experiment
    from scbench.freezing.ladder import Ladder


_HEADS = "  rung     mean      least       most  floor  prompt  answer   draw  judge  point"


def _table(target: str | None) -> "tuple[Ladder, list[str] | None]":
    """Return the table that a file or names of tasks are about, and the tasks."""
    from scbench.cli.console import names_in
    from scbench.freezing.ladder import ladder, read_ladder

    if target is not None and target.endswith(".toml"):
        return read_ladder(Path(target)), None
    return ladder(), names_in(target)


def rungs_of(
    target: str | None, rung: int | None, count: int | None, seed: int | None, *, private: bool
) -> "Experiment":
    """Return what draws a ladder: of a table of one's own, of some tasks, or of all."""
    table, tasks = _table(target)
    return table.experiment(seed=seed, private=private, tasks=tasks, rung=rung, count=count)


def rungs(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE|TASKS",
            help="TOML file of a table of rungs, or tasks of the package's own, with commas. "
            "[default: all of them]",
            show_default=False,
        ),
    ] = None,
    rung: Annotated[int | None, typer.Option(min=1, help="Look only at this rung.")] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="Instances on each rung. [default: the table's]")
    ] = None,
) -> None:
    """Draw every rung of a ladder, and check it.

    Those beyond its top are among them.

    Each instance is solved and judged: a right answer must score 1 within the limit, prompts and
    answers be short enough, and the measure rise from rung to rung. Exit code 1: something is
    wrong.
    """
    with reported_errors():
        from scbench.freezing.ladder_check import check_ladder

        table, tasks = _table(target)
        wrong = 0
        task = ""
        for check in check_ladder(table, tasks, rung=rung, count=count):
            task_rungs = table.tasks[check.task]
            if check.task != task:
                task = check.task
                print(f"{task}: {task_rungs.measure}")  # noqa: T201
                print(_HEADS)  # noqa: T201
            if check.measures:
                ends = f"{check.mean:9.6g}  {min(check.measures):9.6g}  {max(check.measures):9.6g}"
                floor = f"{sum(check.floors) / len(check.floors):5.2f}"
                sizes = f"{floor}  {check.prompt:6}  {check.answer:6}"
                times = f"{check.drawing:5.1f}  {check.judging:5.1f}"
                point = ", ".join(f"{key} {value}" for key, value in check.point.items())
                beyond = "+" if check.rung > len(task_rungs.rungs) else " "
                print(f"  {check.rung:3}{beyond}  {ends}  {sizes}  {times}  {point}")  # noqa: T201
            for problem in check.problems:
                print(f"  {check.rung:3}   WRONG: {problem}")  # noqa: T201
            wrong += len(check.problems)
        if wrong:
            say(counted(wrong, "problem"))
            raise typer.Exit(PROBLEMS)
