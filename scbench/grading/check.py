"""Validating a predictions file without grading it: every problem, with its line number."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from scbench.catalog import Task
from scbench.grading.extract import from_field, from_response, shape_of
from scbench.grading.ledger import Ledger
from scbench.grading.reading import Line, Problem, open_predictions, read_predictions
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
    if prediction.status is not None and prediction.status is not Status.ANSWERED:
        return
    model = tasks[instance.task].answer_model
    shape = shape_of(model)
    if prediction.answer is not None:
        found = from_field(prediction.answer, shape)
    elif prediction.response is not None:
        found = from_response(prediction.response, shape)
    else:
        return
    if found is None:
        yield Problem("no_answer", "no answer can be read", line.number, instance.id)
        return
    try:
        model.model_validate(found.value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        at = ".".join(str(part) for part in first["loc"]) or "answer"
        yield Problem(
            "answer_schema",
            f"the answer will score 0 for its shape: {at}: {first['msg']}",
            line.number,
            instance.id,
        )
