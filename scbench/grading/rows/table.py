"""The rows of the results as a table.

Workers create the rows of long chunks and send them as an Arrow file, which is read
only at the end of the run.
"""

import io
import json
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scbench.base.model import Status
from scbench.catalog import all_tasks
from scbench.grading.rows.columns import RunKey, column_types
from scbench.grading.rows.index import IndexEntry, ReleaseIndex
from scbench.grading.rows.lines import ChunkAccount, GradedLine, Head
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.run_file import metadata_of

if TYPE_CHECKING:
    import polars as pl

# Columns of texts that can be long.
_LONG = ("answer", "checks", "metrics", "reason", "usage")


class RowMaker:
    """Creates the rows of lines graded against an index."""

    def __init__(self, index: ReleaseIndex, lines: Iterable[GradedLine] = ()) -> None:
        self._index = index
        self._rows: list[dict[str, Any]] = []
        for line in lines:
            self.add(line.head, line.outcome)

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, head: Head, outcome: WireOutcome) -> None:
        """Add the rows of a line: one per score of its instance."""
        is_outside = head.position < 0
        entry = (
            entry_outside(head.id) if is_outside else self._index.entries[head.position]
        )
        run = head.run
        # Metadata in a line overrides metadata in a file next to the predictions.
        metadata = head.described
        if metadata is None and self._index.described:
            metadata = metadata_of(
                run.model, run.setting, run.budget, self._index.described
            )
        floors = floors_by_turn(head.loop, entry.bucket, entry.floor)
        floor = floor_in_loop(head.loop, entry.bucket, entry.floor)
        scores = outcome.scores
        # A line without a verdict gets a row for each score of its instance.
        for i in range(len(scores) or entry.scores):
            scored = scores[i] if scores else None
            turn_scores = None
            best_score = None
            if outcome.turns is not None:
                turn_scores = [turn[i] if turn else None for turn in outcome.turns]
                present = [score for score in turn_scores if score is not None]
                best_score = max(present, default=None)
            row = {
                "line": head.line,
                "id": entry.id,
                "task": entry.task,
                "bucket": entry.bucket,
                "subtask": entry.subtask + i,
                "model": run.model,
                "setting": run.setting,
                "sample": run.sample,
                "budget": run.budget,
                "status": outcome.status,
                "score": scored.score if scored else None,
                "failed_checks": scored.failed_checks if scored else [],
                "checks": scored.checks if scored else "[]",
                "metrics": scored.metrics if scored else "{}",
                "notes": scored.notes if scored else [],
                "reason": outcome.reason,
                # The answer is long, and the same in all rows.
                "answer": outcome.answer if i == 0 else None,
                "answer_source": outcome.source,
                "repairs": outcome.repairs,
                "finish_reason": head.finish,
                "response_characters": head.characters,
                "usage": head.usage,
                "run_metadata": metadata,
                "prompt_sha256": head.prompt,
                "reasoning_characters": head.reasoning,
                "loop": head.loop,
                "turn_scores": turn_scores,
                "best_score": best_score,
                "queries": outcome.used,
                "prediction_hash": head.digest,
                "instance_hash": None if is_outside else entry.content_hash,
                "floor": floor,
                "turn_floors": floors,
                "grader_version": self._index.versions.get(entry.task),
                "release": self._index.release,
                "release_hash": self._index.release_hash,
            }
            self._rows.append(row)

    def add_missing(self, position: int, run: RunKey) -> None:
        """Add the rows of an item without a line."""
        outcome = WireOutcome(Status.MISSING.value, reason="no prediction")
        self.add(Head(None, position, run), outcome)

    def frame(self) -> "pl.DataFrame":
        """Return the rows with the columns of `Row`, in the order they were added."""
        import polars as pl  # noqa: PLC0415  (heavy; workers that only get single items need none)

        return pl.DataFrame(self._rows, schema=column_types())


def entry_outside(row_id: str) -> IndexEntry:
    """Return an entry for an item of the catalogue whose task the release does not contain."""
    task_id, _, subtask = row_id.partition("/")
    # No release has longer numbers, and they may not fit into the column.
    number = int(subtask[:9])
    bucket = all_tasks()[task_id].bucket
    return IndexEntry(f"{task_id}/{number:02d}", task_id, bucket, number, 1, "", "")


def floor_in_loop(loop: str | None, bucket: str, floor: float | None) -> float | None:
    """Return the floor of an answer; in setting retry, it includes repeated guesses.

    Args:
        loop: setup of the loop as JSON; None for answers without a loop.
        bucket: bucket of the task.
        floor: floor of the instance; None if it is not known.
    """
    floors = floors_by_turn(loop, bucket, floor)
    return floor if floors is None else floors[-1]


def floors_by_turn(
    loop: str | None, bucket: str, floor: float | None
) -> list[float] | None:
    """Return the score of guessing after each number of answers; None outside setting retry."""
    if loop is None or floor is None:
        return None
    attempts = retry_attempts(loop)
    if attempts is None:
        return None
    from scbench.loop.environment import floor_after  # noqa: PLC0415  (few runs have loops)

    return [floor_after(bucket, floor, count) for count in range(1, attempts + 1)]


@lru_cache(maxsize=64)
def retry_attempts(loop: str) -> int | None:
    """Return the number of answers that a loop allows; None if its setting is not retry."""
    setup = json.loads(loop)
    if setup["setting"] != "retry":
        return None
    attempts: int = setup["attempts"]
    return attempts


def make_table(
    index: ReleaseIndex, account: ChunkAccount, lines: Iterable[GradedLine]
) -> bytes:
    """Return the rows of a chunk as an Arrow file; record their number and sizes in its account."""
    frame = RowMaker(index, lines).frame()
    table = encode(frame)
    account.rows = frame.height
    account.text = text_bytes(frame)
    account.size = len(table)
    return table


def encode(frame: "pl.DataFrame") -> bytes:
    """Return rows as an Arrow file; empty without rows."""
    if frame.is_empty():
        return b""
    stream = io.BytesIO()
    frame.write_ipc(stream, compression="lz4")
    return stream.getvalue()


def text_bytes(frame: "pl.DataFrame") -> int:
    """Return the size in bytes of the long text columns of rows."""
    import polars as pl  # noqa: PLC0415  (as above)

    sums = frame.select(pl.col(_LONG).str.len_bytes().cast(pl.Int64).sum())
    return sum(size or 0 for size in sums.row(0))
