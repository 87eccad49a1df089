"""Estimated work in a predictions file, for progress displays; scores never depend on it.

Work is measured in bytes of the file. A line of a heavy task has additional work: the
bytes that could be graded in the time of a typical verdict. A line without an answer has
no additional work.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from scbench.base.progress import no_progress
from scbench.catalog import Task
from scbench.grading.options import answers_of_tasks
from scbench.grading.workers.scheduler import OnWait

# Bytes of light tasks graded per second.
_BYTES_PER_SECOND = 1_000_000
# Suffixes of files whose size does not show the bytes in them.
_PACKED = {".gz", ".zst"}


class Display(NamedTuple):
    """A progress display, see `scbench.grading.run.grade_file`."""

    on_progress: Callable[[int, int], object]
    on_wait: OnWait


# Opens a display for a run with this much work; None if unknown.
OpenDisplay = Callable[[int | None], AbstractContextManager[Display]]


@contextmanager
def no_display(_work: int | None) -> Iterator[Display]:
    """Show nothing."""
    yield Display(no_progress, no_progress)


def extra_work(tasks: Iterable[Task]) -> dict[str, int]:
    """Return the additional work of an answer, by task; only heavy tasks have any."""
    return {
        task.id: round(task.typical * _BYTES_PER_SECOND) for task in tasks if task.heavy
    }


def work_to_come(
    predictions: str, tasks: Sequence[Task], shards: int = 1
) -> int | None:
    """Return the work in a file; None if its size is unknown.

    Args:
        predictions: path of the file.
        tasks: tasks that are graded.
        shards: number of shards, of which the run grades one.
    """
    path = Path(predictions)
    if not path.is_file() or path.suffix in _PACKED:
        return None
    extra = extra_work(tasks)
    answers = answers_of_tasks(predictions)
    additional = sum(answers.get(task, 0) * extra[task] for task in extra)
    work = path.stat().st_size + additional
    return work // shards
