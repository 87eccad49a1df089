"""A measurement: items selected by a seed, one answer to each, no feedback.

Answers are ordinary predictions with the setting ``human`` and an alias, and nothing else about the
person. They are appended one by one, so the same command continues a session that ended early.
"""

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from pydantic import JsonValue

from scbench.base.errors import PredictionsError, ReleaseError
from scbench.base.model import HUMAN, Instance
from scbench.base.seeding import Stream
from scbench.base.wording import counted
from scbench.formats.predictions import Problem, read_predictions
from scbench.machine.files import open_regular
from scbench.play.items import Items

# Maximum seconds that are counted for one item: nobody thinks about one item for a day.
MOST_SECONDS = 86_400.0


class StudyPlan(NamedTuple):
    """The choice of items.

    Attributes:
        tasks: ids of the tasks.
        rungs: rungs of the ladder.
        per_rung: items from each rung of each task.
        minutes: time for the whole session, not counting pauses.
        seed: the same seed gives the same items in the same order.
    """

    tasks: Sequence[str]
    rungs: Sequence[int]
    per_rung: int
    minutes: float
    seed: int


class StudyStep(NamedTuple):
    """The state of a session.

    Attributes:
        instance: the item to answer next; None when the session is over.
        number: number of items answered so far.
        total: number of items in the plan.
        seconds_left: time that is left, in seconds.
    """

    instance: Instance | None
    number: int
    total: int
    seconds_left: float


def planned_items(items: Items, plan: StudyPlan) -> list[Instance]:
    """Return the items of a plan, with tasks mixed and rungs rising.

    Raises:
        ReleaseError: a task has no ladder, or a rung has too few items.
    """
    chosen: list[Instance] = []
    for rung in plan.rungs:
        of_rung: list[Instance] = []
        for task in plan.tasks:
            ids = list(items.of_task(task).rungs.get(rung, ()))
            if len(ids) < plan.per_rung:
                raise ReleaseError(
                    f"{task} has {counted(len(ids), 'item')} on rung {rung}, but the plan asks for "
                    f"{plan.per_rung}"
                )
            stream = Stream("study", plan.seed, task, rung)
            of_rung += map(items.instance, stream.sample(ids, plan.per_rung))
        Stream("study order", plan.seed, rung).shuffle(of_rung)
        chosen += of_rung
    return chosen


class Study:
    """One session of one person.

    Args:
        instances: the items, in order.
        player: the alias of the person in predictions.
        seconds: time for all items, in seconds.
        out: predictions file; items in it are not shown again.

    Raises:
        PredictionsError: the file cannot be read, or belongs to another player.
        ReleaseError: the file cannot be written.
    """

    def __init__(
        self, instances: Sequence[Instance], player: str, seconds: float, out: Path
    ) -> None:
        self._instances = list(instances)
        self._player = player
        self._seconds = seconds
        self._out = out
        self._spent: dict[str, float] = earlier_times(out, player)
        # Requests are answered in several threads.
        self._lock = Lock()
        # A person should not work on an item that cannot be saved.
        check_writable(out)

    def step(self) -> StudyStep:
        """Return the state of the session."""
        seconds_left = self._seconds - math.fsum(self._spent.values())
        open_items = [item for item in self._instances if item.id not in self._spent]
        answered = len(self._instances) - len(open_items)
        instance = open_items[0] if open_items and seconds_left > 0 else None
        return StudyStep(
            instance, answered, len(self._instances), max(seconds_left, 0.0)
        )

    def record(self, row_id: str, answer: JsonValue, seconds: float) -> None:
        """Append an answer to the file; None for an item that was skipped.

        Raises:
            ReleaseError: the item is not the current one, the time is implausible, or the file
                cannot be written.
        """
        if not 0 <= seconds <= MOST_SECONDS:
            raise ReleaseError(f"seconds must be from 0 to {MOST_SECONDS:,.0f}")
        seconds = float(seconds)
        with self._lock:
            step = self.step()
            if step.instance is None or step.instance.id != row_id:
                raise ReleaseError(
                    f"{row_id} is not the item to answer now; reload the page"
                )
            line = prediction(step.instance, self._player, answer, seconds)
            text = json.dumps(line, ensure_ascii=False) + "\n"
            append_whole(self._out, text.encode())
            self._spent[row_id] = seconds


def check_writable(path: Path) -> None:
    """Create a file if needed.

    Raises:
        ReleaseError: it cannot be written.
    """
    try:
        path.open("ab").close()
    except OSError as error:
        raise ReleaseError(f"cannot write to {path}: {error.strerror}") from None


def append_whole(path: Path, data: bytes) -> None:
    """Append bytes to a file as new lines, all of them or none.

    Raises:
        ReleaseError: the lines cannot be written.
    """
    try:
        with path.open("a+b", buffering=0) as stream:
            size = stream.seek(0, os.SEEK_END)
            # An editor may have left the last line without its end.
            stream.seek(max(size - 1, 0))
            line_end = b"" if stream.read(1) in {b"", b"\n"} else b"\n"
            remainder = memoryview(line_end + data)
            try:
                # A full disk may accept only some of the bytes.
                while remainder:
                    remainder = remainder[stream.write(remainder) :]
            except OSError:
                stream.truncate(size)
                raise
    except OSError as error:
        raise ReleaseError(
            f"the answer was not saved: cannot write to {path} ({error.strerror}); free "
            "some disk space, and send it again"
        ) from None


def prediction(
    instance: Instance, player: str, answer: JsonValue, seconds: float
) -> Mapping[str, JsonValue]:
    """Return an answer as a line of a predictions file."""
    line: dict[str, JsonValue] = {
        "id": instance.id,
        "instance_hash": instance.content_hash,
        "model": player,
        "setting": HUMAN,
        "usage": {"seconds": round(seconds, 1)},
    }
    if answer is None:
        # A person who skips an item gives no answer, which scores 0.
        line["response"] = ""
    else:
        line["answer"] = answer
    return line


def earlier_times(out: Path, player: str) -> dict[str, float]:
    """Return the seconds spent on the items that a file contains, by id.

    Raises:
        PredictionsError: the file cannot be read, or contains answers of another player.
    """
    spent: dict[str, float] = {}
    try:
        stream = open_regular(out)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise PredictionsError(f"cannot read {out}: {error.strerror}") from None
    with stream:
        # Not unpacked: answers are appended as plain text.
        for line in read_predictions(stream, hashlib.sha256()):
            if isinstance(line, Problem):
                raise PredictionsError(f"{out}: line {line.line}: {line.message}")
            answered = line.prediction
            if answered.model != player:
                raise PredictionsError(
                    f"{out} contains answers of {answered.model}, not of {player}; choose "
                    "another file with --out"
                )
            seconds = answered.usage.seconds if answered.usage else None
            spent[answered.id] = seconds or 0.0
    return spent
