"""``scbench tasks``: tasks and their parameters."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scbench.cli.console import as_json, reported_errors

if TYPE_CHECKING:
    from collections.abc import Sequence


class ListForm(StrEnum):
    """How tasks and parameters are listed."""

    TABLE = "table"
    MARKDOWN = "markdown"
    JSON = "json"


def tasks(
    task: Annotated[
        str | None, typer.Argument(help="List the parameters of this task.", show_default=False)
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(help="List the tasks that a release holds: version, folder, .zip or Hub."),
    ] = None,
    style: Annotated[ListForm, typer.Option("--format", help="How they are listed.")] = (
        ListForm.TABLE
    ),
) -> None:
    """List tasks, or one task's parameters.

    Bounds and defaults stand beside them.
    """
    with reported_errors():
        from scbench.catalog import available_tasks, get_task
        from scbench.freezing.listing import describe_task

        if release is not None:
            _held(release)
            return
        if task is not None:
            found = describe_task(get_task(task))
            sys.stdout.write(
                as_json(found) + "\n" if style is ListForm.JSON else _one(found, style)
            )
            return
        every = [describe_task(known) for known in available_tasks()]
        sys.stdout.write(as_json(every) + "\n" if style is ListForm.JSON else _all(every, style))


def _held(name: str) -> None:
    from scbench.catalog import get_task
    from scbench.release.load import find_release

    for task_id, record in find_release(name).manifest.tasks.items():
        task = get_task(task_id)
        print(  # noqa: T201
            f"{task_id:30} {record.bucket:14} {record.scores:5}  {task.scoring:8} "
            f"v{record.grader_version}  {task.title}"
        )


def _all(every: "Sequence[dict[str, Any]]", style: ListForm) -> str:
    heads = ["task", "bucket", "scores", "scoring", "parameters"]
    rows = [
        [
            row["id"],
            row["bucket"],
            str(row["scores"] or "-"),
            row["scoring"],
            ", ".join(parameter["name"] for parameter in row["parameters"]),
        ]
        for row in every
    ]
    return _listed("Tasks", heads, rows, style)


def _one(found: "dict[str, Any]", style: ListForm) -> str:
    size = f"{found['scores']} scores" if found["scores"] else "all cases are drawn"
    title = f"{found['id']}: {found['title']}, {found['bucket']}, {size}, {found['scoring']}"
    heads = ["parameter", "values", "default", "kind", "meaning"]
    rows = [
        [
            parameter["name"],
            parameter["values"],
            _default(parameter["default"]),
            parameter["kind"] or "-",
            parameter["description"],
        ]
        for parameter in found["parameters"]
    ]
    text = _listed(title, heads, rows, style)
    if found["dimensions"]:
        text += f"\nStresses: {', '.join(found['dimensions'])}.\n"
    for name, meaning in found["facts"].items():
        text += f"Recorded with each case: {name} ({meaning}).\n"
    if found["ladder"]:
        text += f"\n{_ladder(found['ladder'], style)}"
    return text


def _ladder(held: "dict[str, Any]", style: ListForm) -> str:
    points = [*held["rungs"], *held["beyond"]]
    rows = [
        [
            f"{number}{'+' * (number > len(held['rungs']))}",
            ", ".join(f"{name} {_default(value)}" for name, value in point.items()),
        ]
        for number, point in enumerate(points, 1)
    ]
    beyond = " + is beyond those that releases hold." if held["beyond"] else ""
    title = f"Ladder: {held['measure']}. {held['words']}{beyond}"
    return _listed(title, ["rung", "point"], rows, style)


def _default(value: object) -> str:
    import json

    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)


def _listed(
    title: str, heads: "Sequence[str]", rows: "Sequence[Sequence[str]]", style: ListForm
) -> str:
    """Return a table whose last column is as long as it must be."""
    from scbench.analysis.layout import Sheet, markdown

    if style is ListForm.MARKDOWN:
        return markdown(Sheet(title, heads, rows, frozenset(heads) - {"scores"})) + "\n"
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads) - 1)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
        for row in (heads, *rows)
    ]
    return "\n".join([title, "", *(line.rstrip() for line in lines)]) + "\n"
