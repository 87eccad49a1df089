"""Validating a predictions file without grading it: every problem, with its line number."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from scbench.catalog import Task
from scbench.grading.extract import find_answer, shape_of
from scbench.grading.ledger import Ledger
from scbench.grading.outcome import without_answer
from scbench.grading.reading import Line, Problem, open_predictions, read_predictions
from scbench.judge import MAX_VALUES, schema_check, size_check
from scbench.model import Instance, Prediction, Status
from scbench.release.load import Release


@dataclass(slots=True)
class Checked:
    """What a check found.

    Attributes:
        problems: what makes the file unfit; exit code 1 if there is any.
        warnings: what will be graded, but is likely not meant: answers that will score 0 for
            their shape, rows outside the release.
        lines: lines read.
        usable: lines that will be graded.
    """

    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    lines: int = 0
    usable: int = 0


def check_file(path: str, release: Release, tasks: Sequence[Task], *, partial: bool) -> Checked:
    """Read a whole file and return everything that is wrong with it.

    Raises:
        ScbenchError: the file or the release cannot be used at all.
    """
    held = list(release.manifest.tasks)
    instances = release.instances(held)
    by_id = {task.id: task for task in tasks}
    ledger = Ledger(instances, held, list(by_id))
    found = Checked()
    with open_predictions(path) as stream:
        for entry in read_predictions(stream, hashlib.sha256()):
            found.lines += 1
            admitted = ledger.admit(entry) if isinstance(entry, Line) else entry
            if isinstance(admitted, Problem):
                found.problems.append(admitted)
            elif isinstance(entry, Line) and admitted is not None:
                if admitted.startswith(":"):
                    message = f"release {release.version} does not hold {admitted[1:]}"
                    found.warnings.append(
                        Problem("not_in_release", message, entry.number, entry.prediction.id)
                    )
                    continue
                found.usable += 1
                found.warnings += _answer_warnings(entry, instances[admitted], by_id)
    if not found.lines:
        found.problems.append(Problem("empty", "the file holds no predictions"))
    if not partial:
        found.problems += ledger.incomplete()
    return found


def _answer_warnings(line: Line, instance: Instance, tasks: dict[str, Task]) -> Iterator[Problem]:
    prediction: Prediction = line.prediction
    absent = without_answer(prediction)
    if absent is not None:
        if prediction.status is None:
            message = f"there is no answer: {absent.reason}; it will count as {absent.status}"
            yield Problem("no_answer", message, line.number, instance.id)
        return
    model = tasks[instance.task].answer_model
    found = find_answer(prediction, shape_of(model))
    if found is None:
        if prediction.status is None or prediction.status is Status.ANSWERED:
            yield Problem("no_answer", "no answer can be read", line.number, instance.id)
        return
    # Two bytes a value is the least, so short lines need not be counted.
    limit = size_check(found.value) if len(line.data) > 2 * MAX_VALUES else None
    if limit is not None:
        yield Problem(limit.id, f"will score 0: {limit.message}", line.number, instance.id)
        return
    try:
        model.model_validate(found.value)
    except ValidationError as error:
        message = f"will score 0: {schema_check(error, found.value).message}"
        yield Problem("answer_schema", message, line.number, instance.id)
