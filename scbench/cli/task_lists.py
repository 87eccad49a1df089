"""``scbench tasks``: the tasks of this installation or of a release, and their parameters."""

import json
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from scbench.analysis.layout import Sheet, markdown
from scbench.analysis.terminal_tables import terminal
from scbench.base.errors import ReleaseError, did_you_mean
from scbench.base.wording import counted
from scbench.catalog import available_tasks, get_task
from scbench.cli.console import as_json, reported_errors
from scbench.cli.options import ListForm
from scbench.cli.task_introductions import example_of, introduction
from scbench.freezing.ladder import TaskLadder
from scbench.freezing.listing import describe_task
from scbench.release.load import Release, find_release

app = typer.Typer(rich_markup_mode=None)


@app.command()
def tasks(
    task: Annotated[
        str | None,
        typer.Argument(show_default=False, help="Task to show in detail."),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            help=(
                "List only the tasks of this release: an installed version, a folder, a .zip "
                "file, or ORG/NAME@REVISION on the Hub."
            )
        ),
    ] = None,
    style: Annotated[
        ListForm, typer.Option("--format", help="Format of the list.")
    ] = "table",
) -> None:
    """List the tasks, or the parameters of one task.

    For one task, shows the bounds and the default of each parameter.
    """
    with reported_errors():
        if release is not None:
            records = release_tasks(find_release(release), task)
        elif task is not None:
            records = [describe_task(get_task(task)) | example_of(get_task(task))]
        else:
            records = [describe_task(each) for each in available_tasks()]
        if style == "json":
            text = as_json(records if task is None else records[0]) + "\n"
        elif release is not None:
            text = release_text(records, style)
        elif task is None:
            text = tasks_text(records, style)
        else:
            text = introduction(records[0], style) + parameters_text(records[0], style)
        sys.stdout.write(text)


def release_tasks(release: Release, task_id: str | None) -> list[dict[str, Any]]:
    """Return the tasks of a release as JSON values, or one of them.

    Raises:
        ReleaseError: the release does not contain that task.
    """
    in_manifest = release.manifest.tasks
    ids = list(in_manifest)
    if task_id is not None:
        if task_id not in in_manifest:
            raise ReleaseError(
                f"release {release.version} does not contain the task "
                f"{task_id!r}.{did_you_mean(task_id, in_manifest)}"
            )
        ids = [task_id]
    weights = release.weights()
    records = []
    for name in ids:
        task = get_task(name)
        record = {
            "id": name,
            "title": task.title,
            "bucket": in_manifest[name].bucket,
            "scores": in_manifest[name].scores,
            "scoring": task.scoring,
            "grader_version": in_manifest[name].grader_version,
            "weight": weights[name],
        }
        records.append(record)
    return records


def release_text(records: Sequence[dict[str, Any]], style: ListForm) -> str:
    """Return the table of the tasks of a release."""
    heads = ["task", "bucket", "scores", "scoring", "weight", "grader", "title"]
    rows = [
        [
            record["id"],
            record["bucket"],
            str(record["scores"]),
            record["scoring"],
            f"{record['weight']:.3f}",
            f"v{record['grader_version']}",
            record["title"],
        ]
        for record in records
    ]
    return table_text("Tasks of the release", heads, rows, style)


def tasks_text(records: Sequence[dict[str, Any]], style: ListForm) -> str:
    """Return the table of the tasks of this installation."""
    heads = ["task", "bucket", "scores", "scoring", "parameters"]
    rows = []
    for record in records:
        parameters = [parameter["name"] for parameter in record["parameters"]]
        row = [
            record["id"],
            record["bucket"],
            # Text tasks have no fixed list.
            str(record["scores"] or "-"),
            record["scoring"],
            ", ".join(parameters),
        ]
        rows.append(row)
    return table_text("Tasks", heads, rows, style)


def parameters_text(record: dict[str, Any], style: ListForm) -> str:
    """Return a table of a task's parameters, with a table of its ladder, if it has one."""
    size = (
        f"{counted(record['scores'], 'score')}"
        if record["scores"]
        else "all items are generated"
    )
    title = (
        f"{record['id']}: {record['title']}, {record['bucket']}, {size}, "
        f"{record['scoring']}"
    )
    heads = ["parameter", "values", "default", "kind", "meaning"]
    rows = [
        [
            parameter["name"],
            parameter["values"],
            value_text(parameter["default"]),
            parameter["kind"] or "-",
            parameter["description"],
        ]
        for parameter in record["parameters"]
    ]
    text = table_text(title, heads, rows, style)
    if record["dimensions"]:
        text += f"\nStresses: {', '.join(record['dimensions'])}.\n"
    for name, meaning in record["facts"].items():
        text += f"Property recorded with each item: {name} ({meaning}).\n"
    if record["ladder"]:
        text += f"\n{ladder_text(record['ladder'], style)}"
    return text


def ladder_text(table: dict[str, Any], style: ListForm) -> str:
    """Return the rungs of a task as a table; a plus marks those beyond its top."""
    top = len(table["rungs"])
    rows = []
    for number, point in enumerate([*table["rungs"], *table["beyond"]], 1):
        mark = "+" if number > top else ""
        values = [f"{name} {value_text(value)}" for name, value in point.items()]
        rows.append([f"{number}{mark}", ", ".join(values)])
    title = f"Ladder: {table['measure']}. {table['words']}"
    if table["beyond"]:
        title += " A + marks rungs beyond those in releases."
    least_items = TaskLadder.model_validate(table).least_items
    title += f" Each rung has at least {least_items:,} different items."
    for key in ("small", "room"):
        # The reason for an exception that the task needs.
        if table[key]:
            title += f" {table[key]}"
    return table_text(title, ["rung", "point"], rows, style)


def value_text(value: object) -> str:
    """Return a value of a parameter in command-line form."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)


def table_text(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], style: ListForm
) -> str:
    """Return a table for a terminal or in Markdown; its last column may wrap."""
    text_columns = frozenset(heads) - {"scores", "weight"}
    sheet = Sheet(title, heads, rows, text_columns, wraps=frozenset(heads[-1:]))
    write = markdown if style == "markdown" else terminal
    return write(sheet) + "\n"
