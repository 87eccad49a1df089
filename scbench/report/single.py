"""A single item: an instance with or without a prediction, stored result or reference."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple, TypeVar

from scbench.analysis.results import read_results
from scbench.base.errors import ReleaseError, ResultsError, did_you_mean, printable
from scbench.base.model import Instance, task_of
from scbench.base.progress import no_progress
from scbench.base.wording import counted
from scbench.catalog import MANIFOLDS, get_task
from scbench.formats.imports.gather import gather, is_own
from scbench.formats.predictions import (
    Line,
    open_predictions,
    parse_line,
    read_predictions,
)
from scbench.grading.rows.index import index_of
from scbench.grading.rows.lines import Head
from scbench.grading.rows.table import RowMaker
from scbench.grading.workers.jobs import WorkItem
from scbench.grading.workers.scheduler import OnWait, Scheduler, WorkerLimits
from scbench.release.load import Release
from scbench.report.draw.scene import Mesh
from scbench.report.entries import render_entry, score_text
from scbench.report.figures import answer_of, figure_of, picture_of
from scbench.report.html import page_parts, render_page
from scbench.report.items import COLUMNS, Item, Run, items_of, run_labels
from scbench.report.picture import Picture, drawing_error, solids_of

# Maximum number of runs, and of models, named in a message.
_LABELS = 5
_MODELS = 10
# Maximum number of characters printed of an answer.
_LONGEST = 2_000
# Label before a check, by whether it passed.
_CHECK_WORDS = {True: "ok    ", False: "FAILED", None: "-     "}

T = TypeVar("T")


class RunChoice(NamedTuple):
    """A filter that selects one of several answers to an instance; None matches all."""

    model: str | None = None
    setting: str | None = None
    budget: int | None = None
    sample: int | None = None

    def fits(self, run: Run) -> bool:
        """Return whether a run matches the filter."""
        return all(choice in {None, has} for choice, has in zip(self, run, strict=True))


def find_instance(release: Release, name: str) -> Instance:
    """Return an instance of a release.

    Raises:
        ReleaseError: no instance has this id.
    """
    task = task_of(name)
    if task not in release.manifest.tasks:
        raise ReleaseError(
            f"release {release.version} has no task {task!r}."
            f"{did_you_mean(task, release.manifest.tasks)}"
        )
    instances = release.instances([task])
    if name not in instances:
        ids = list(instances)
        raise ReleaseError(
            f"release {release.version} has no item {name!r}; those of {task} are {ids[0]} to "
            f"{ids[-1]}"
        )
    return instances[name]


def answered_by(
    predictions: str, instance: Instance, choice: RunChoice
) -> tuple[Line, str]:
    """Return the first line of predictions (``-`` for standard input) that answers an instance.

    Args:
        predictions: a file in any format that `scbench-grade` reads.
        instance: instance to find.
        choice: selects one of several answers.

    Returns:
        The line, and a note if there are several.

    Raises:
        PredictionsError: the file cannot be read.
        ResultsError: no line answers the instance, or the chosen model is not in the file.
    """
    lines = []
    models = set()
    # All lines are read, because several may answer the instance.
    for line in lines_of(predictions):
        models.add(line.prediction.model)
        if line.prediction.id == instance.id and choice.fits(run_of_line(line)):
            lines.append(line)
    check_model(choice, models, predictions)
    labels = run_labels(run_of_line(line) for line in lines)
    numbered = [f"line {line.number}: {labels[run_of_line(line)]}" for line in lines]
    return first_match(lines, numbered, instance, predictions)


def lines_of(predictions: str) -> Iterator[Line]:
    """Yield the lines of a predictions file that can be graded, of any format.

    Lines from another program's file are numbered by their entries there.

    Raises:
        PredictionsError: the file cannot be read.
    """
    if is_own(predictions):
        with open_predictions(predictions) as stream:
            yield from readable_lines(stream)
        return
    with TemporaryFile() as converted:
        gathered = gather([predictions], converted)
        converted.seek(0)
        for line in readable_lines(converted):
            _, number = gathered.origin(line.number)
            yield replace(line, number=number)


def readable_lines(stream: BinaryIO) -> Iterator[Line]:
    """Yield the lines of predictions in our own format that have no problem."""
    for line in read_predictions(stream, hashlib.sha256()):
        if isinstance(line, Line):
            yield line


def check_model(choice: RunChoice, models: Iterable[str], source: str) -> None:
    """Check that a file contains answers of the chosen model, if a model is chosen.

    Raises:
        ResultsError: the file has no answers of that model.
    """
    names = sorted(models)
    if choice.model is None or choice.model in names or not names:
        return
    model_names = ", ".join(map(printable, names[:_MODELS]))
    if len(names) > _MODELS:
        model_names += f" and {len(names) - _MODELS} more"
    raise ResultsError(
        f"{source} has no model {choice.model!r}; its models are {model_names}."
        f"{did_you_mean(choice.model, names)}"
    )


def run_of_line(line: Line) -> Run:
    """Return the run of a prediction."""
    prediction = line.prediction
    return prediction.model, prediction.setting, prediction.budget, prediction.sample


def stored_by(results: Path, instance: Instance, choice: RunChoice) -> tuple[Item, str]:
    """Return the first item on an instance in a results file or its folder.

    Returns:
        The item, and a note if there are several.

    Raises:
        ResultsError: the file cannot be read, no row is on this instance, or the chosen model is
            not in the file.
    """
    rows = read_results([results], COLUMNS, partial=True)
    check_model(choice, rows["model"].unique(), str(results))
    rows = rows.filter(
        (rows["id"] == instance.id) & (rows["instance_hash"] == instance.content_hash)
    )
    items = [item for item in items_of(rows) if choice.fits(item.run)]
    labels = list(run_labels(item.run for item in items).values())
    return first_match(items, labels, instance, str(results))


def first_match(
    matches: Sequence[T], labels: Sequence[str], instance: Instance, source: str
) -> tuple[T, str]:
    """Return the first match, and a note on the others if there are any.

    Raises:
        ResultsError: there is no match.
    """
    if not matches:
        raise ResultsError(f"{source} contains no matching answer to {instance.id}")
    if len(matches) == 1:
        return matches[0], ""
    other_labels = "; ".join(labels[1 : _LABELS + 1])
    if len(labels) > _LABELS + 1:
        other_labels += f" and {len(labels) - _LABELS - 1} more"
    note = (
        f"{source} has {counted(len(matches), 'answer')} to {instance.id}; the first "
        f"({labels[0]}) is shown. For another ({other_labels}), use --model, --setting, --budget "
        "or --sample."
    )
    return matches[0], note


def reference_line(release: Release, instance: Instance) -> Line:
    """Return the release's reference answer to an instance as a line of predictions.

    Raises:
        ReleaseError: the release has no reference answer to it.
    """
    for ref in release.references():
        if ref.id != instance.id or ref.kind != "reference":
            continue
        answer = json.loads(ref.answer)
        value = {"id": ref.id, "model": "reference", "answer": answer}
        line = parse_line(json.dumps(value).encode(), 1)
        if isinstance(line, Line):
            return line
    raise ReleaseError(
        f"release {release.version} contains no reference answer to {instance.id}"
    )


def grade_line(
    line: Line,
    instance: Instance,
    release: Release,
    limits: WorkerLimits,
    on_wait: OnWait = no_progress,
) -> Item:
    """Grade one prediction exactly as a run does, in a worker process."""
    task = get_task(instance.task)
    scheduler = Scheduler.over({instance.id: instance}, [task], limits)
    work = [WorkItem(line.number, line.data, instance.id)]
    ((_, outcome),) = scheduler.run(work, on_wait)
    index = index_of(release, [task])
    rows = RowMaker(index)
    rows.add(Head.of(line, index.known_ids.positions[instance.id]), outcome)
    return items_of(rows.frame())[0]


def item_without_answer(instance: Instance) -> Item:
    """Return an instance as an item without an answer."""
    return Item(instance.id, instance.task, instance.bucket, instance.content_hash)


def picture(item: Item, instance: Instance) -> Picture:
    """Draw an item.

    Raises:
        ResultsError: its task has no pictures, or the answer cannot be drawn.
    """
    task = get_task(item.task)
    try:
        item_picture = picture_of(task, instance.all_params, item.answer, item.verdicts)
    except Exception as error:
        raise ResultsError(f"cannot draw {item.id}: {drawing_error(error)}") from error
    if item_picture is None:
        raise ResultsError(
            f"{task.title} has no pictures; use --text to see the prompt and checks"
        )
    return item_picture


def solids(item: Item, instance: Instance) -> list[Mesh]:
    """Return the solids of an item.

    Raises:
        ResultsError: the item has no solids, or they cannot be made.
    """
    task = get_task(item.task)
    make = solids_of(task)
    meshes: list[Mesh] = []
    try:
        params = task.params_model.model_validate_json(instance.all_params)
        answer = answer_of(task, item.answer)
        # An unreadable answer has no solids, so do not show those of the instance.
        has_solids = answer is not None or not item.status
        if make and has_solids:
            meshes = make(params, answer)
    except Exception as error:
        raise ResultsError(
            f"cannot build the solids of {item.id}: {drawing_error(error)}"
        ) from error
    if not any(len(mesh.faces) for mesh in meshes):
        advice = "choose an answer, for example with --reference"
        if item.status:
            advice = "the answer has none"
        raise ResultsError(f"{item.id} has no solids to write: {advice}")
    return meshes


def single_page(
    item: Item, instance: Instance, item_picture: Picture, response: str | None
) -> str:
    """Return a page that shows one item.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    from markupsafe import Markup  # noqa: PLC0415  (comes with Jinja2, an extra)

    figure = figure_of(item_picture)
    runs = {item.run: ""}
    body = render_entry(item, figure, instance, runs, response, template="body.html.j2")
    return render_page(
        "single.html.j2",
        title=f"{item.id} · scbench",
        heading=item.id,
        facts=list(fact_rows(item, instance)),
        body=Markup(body),  # noqa: S704  (escaped by its own template)
        **page_parts(in_3d=any(view.scene for view in figure.views)),
    )


def fact_rows(item: Item, instance: Instance) -> Iterator[tuple[str, str]]:
    """Yield labels and values that describe an item's task and, if present, its answer."""
    yield "Task", f"{get_task(item.task).title} ({item.bucket}), {instance.difficulty}"
    if item.status:
        yield "Model", run_labels([item.run])[item.run]
        yield "Score", f"{score_text(item.score)} ({item.status})"


def as_text(item: Item, instance: Instance, item_picture: Picture | None) -> str:
    """Return an item for a terminal: its text form if there is one, and every check."""
    lines = [f"{item.id}: {get_task(item.task).title}, {instance.difficulty}"]
    if item.status:
        label = run_labels([item.run])[item.run]
        lines.append(f"{label}: score {score_text(item.score)}, {item.status}")
    if item_picture is not None and item_picture.text is not None:
        lines += ["", item_picture.text.rstrip("\n")]
    # The prompts of text tasks are short.
    if item_picture is None or item.bucket == MANIFOLDS:
        lines += ["", instance.prompt]
    else:
        lines += ["", item_picture.caption]
    if item.answer is not None:
        answer = item.answer
        if len(answer) > _LONGEST:
            answer = f"{answer[:_LONGEST]} ..."
        lines += ["", f"answer: {answer}"]
    if item.reason:
        lines += ["", item.reason]
    verdicts = item.verdicts
    for i, verdict in enumerate(verdicts):
        lines.append("")
        if len(verdicts) > 1:
            lines.append(f"criterion {i}: {score_text(verdict.score)}")
        for check in verdict.checks:
            lines.append(f"{_CHECK_WORDS[check.passed]}  {check.id}: {check.message}")
        lines += [f"note: {note}" for note in verdict.notes]
    return "\n".join(lines)
