"""Rows of results as columns: how workers hand them over, and how they become results.

A worker fills short columns. What the release or the run says anyway is left out, texts and lists
that repeat stand in tables once, and the columns travel as Arrow bytes that nobody looks into
before the end. `complete` then gives the columns of `scbench.grading.rows.Row`, without a step in
Python for each row.
"""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from scbench.canonical import canonical_json, sha256
from scbench.catalog import all_tasks
from scbench.grading.contents import Contents
from scbench.grading.packed import Packed
from scbench.grading.reading import Line
from scbench.grading.rows import results_schema, visible
from scbench.model import Status

if TYPE_CHECKING:
    import polars as pl

RunParts = tuple[str, str | None, int, int | None]
"""Model, setting, sample and budget."""


class Head(NamedTuple):
    """What rows of a line hold besides the outcome.

    Attributes:
        line: its number.
        position: of its instance in the release.
        run: that it belongs to.
        digest: SHA-256 of its bytes.
        finish: finish reason, as given.
        characters: length of the model's text without blanks around it.
        usage: what the provider reported, as canonical JSON.
    """

    line: int
    position: int
    run: RunParts
    digest: str | None
    finish: str | None
    characters: int | None
    usage: str | None

    @classmethod
    def of(cls, line: Line, position: int) -> "Head":
        """Return the head of a line."""
        given = line.prediction
        usage = given.usage.model_dump(exclude_none=True) if given.usage else None
        return cls(
            line.number,
            position,
            (given.model, given.setting, given.sample, given.budget),
            sha256(line.data),
            given.finish_reason,
            visible(given),
            None if usage is None else canonical_json(usage),
        )


class Columns:
    """Short columns in the making.

    Args:
        contents: what is graded against.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._runs: dict[RunParts, int] = {}
        self._words: dict[str | None, int] = {None: 0, "": 1}
        self._lists: dict[tuple[str, ...], int] = {(): 0}
        self._outside: dict[tuple[str, int], int] = {}
        self._rows: list[tuple[Any, ...]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def run(self, run: RunParts) -> int:
        """Return the number of a run in the tables."""
        return self._runs.setdefault(run, len(self._runs))

    def _word(self, text: str | None) -> int:
        return self._words.setdefault(text, len(self._words))

    def _list(self, texts: Sequence[str]) -> int:
        return self._lists.setdefault(tuple(texts), len(self._lists)) if texts else 0

    def add(self, head: Head, outcome: Packed) -> None:
        """Add the rows of a line: one per score of its instance."""
        run = self.run(head.run)
        status, reason = self._word(outcome.status), self._word(outcome.reason)
        source, repairs = self._word(outcome.source), self._list(outcome.repairs)
        finish, answer = self._word(head.finish), outcome.answer
        scores = outcome.scores or (None,) * self._contents.entries[head.position].scores
        for i, scored in enumerate(scores):
            score, failed, checks, metrics, notes = scored or (None, (), "[]", "{}", ())
            self._rows.append(
                (
                    head.line,
                    head.position,
                    run,
                    i,
                    status,
                    score,
                    self._list(failed),
                    checks,
                    metrics,
                    self._list(notes),
                    reason,
                    answer,
                    source,
                    repairs,
                    finish,
                    head.characters,
                    head.usage,
                    head.digest,
                )
            )
            answer = None  # it is long, and the same

    def add_outside(self, head: Head, task_id: str, subtask: int) -> None:
        """Add the row of an item whose task the release does not hold."""
        place = self._outside.setdefault((task_id, subtask), len(self._outside))
        self._unscored(
            head._replace(position=len(self._contents.entries) + place, usage=None),
            Status.NOT_RUN,
            f"release {self._contents.release} does not hold {task_id}",
        )

    def add_missing(self, position: int, run: RunParts) -> None:
        """Add the rows of an item without a line."""
        head = Head(0, position, run, None, None, None, None)
        for i in range(self._contents.entries[position].scores):
            self._unscored(head, Status.MISSING, "no prediction", i)

    def _unscored(self, head: Head, status: Status, reason: str, i: int = 0) -> None:
        line, position, run, digest, finish, characters, usage = head
        words = self._word(status.value), self._word(reason), self._word(finish)
        self._rows.append(
            (
                line or None,
                position,
                self.run(run),
                i,
                words[0],
                None,
                0,
                "[]",
                "{}",
                0,
                words[1],
                None,
                0,
                0,
                words[2],
                characters,
                usage,
                digest,
            )
        )

    def tables(self) -> dict[str, list[Any]]:
        """Return what the columns refer to."""
        return {
            "runs": list(self._runs),
            "words": list(self._words),
            "lists": list(self._lists),
            "outside": list(self._outside),
        }

    def frame(self) -> "pl.DataFrame":
        """Return the columns as a frame."""
        import polars as pl  # noqa: PLC0415  (heavy; workers that only get single items need none)

        schema = _short_schema()
        columns = zip(*self._rows, strict=True) if self._rows else ((),) * len(schema)
        return pl.DataFrame(
            [
                pl.Series(name, values, dtype)
                for (name, dtype), values in zip(schema.items(), columns, strict=True)
            ]
        )

    def encode(self) -> bytes:
        """Return the columns as Arrow bytes; empty if there are no rows."""
        if not self._rows:
            return b""
        stream = io.BytesIO()
        self.frame().write_ipc_stream(stream, compression="lz4")
        return stream.getvalue()


def _short_schema() -> "dict[str, pl.DataType | type[pl.DataType]]":
    import polars as pl  # noqa: PLC0415  (as above)

    number, text, place = pl.Int64(), pl.String(), pl.UInt32()
    return {
        "line": number,
        "position": place,
        "run": place,
        "part": place,
        "status": place,
        "score": pl.Float64(),
        "failed_checks": place,
        "checks": text,
        "metrics": text,
        "notes": place,
        "reason": place,
        "answer": text,
        "answer_source": place,
        "repairs": place,
        "finish_reason": place,
        "response_characters": number,
        "usage": text,
        "prediction_hash": text,
    }


def decode(data: bytes) -> "pl.DataFrame":
    """Return the columns that `Columns.encode` wrote."""
    import polars as pl  # noqa: PLC0415  (as above)

    if not data:
        return pl.DataFrame(schema=_short_schema())
    return pl.read_ipc_stream(io.BytesIO(data))


_FROM_ENTRY = ("id", "task", "bucket", "subtask", "instance_hash", "grader_version")
_WORDS = ("status", "reason", "answer_source", "finish_reason")
_LISTS = ("failed_checks", "notes", "repairs")


class Completer:
    """Turns short columns into rows of results.

    Args:
        contents: what was graded against.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._schema = results_schema()
        self._entries = self._table(
            [
                (e.id, e.task, e.bucket, e.subtask, e.content_hash, contents.versions.get(e.task))
                for e in contents.entries
            ]
        )

    def _table(self, rows: Sequence[Sequence[Any]]) -> "pl.DataFrame":
        schema = {name: self._schema[name] for name in _FROM_ENTRY}
        import polars as pl  # noqa: PLC0415  (as above)

        return pl.DataFrame(rows, schema=schema, orient="row")

    def complete(
        self, short: "pl.DataFrame", tables: Mapping[str, Sequence[Any]]
    ) -> "pl.DataFrame":
        """Return rows with the columns of `scbench.grading.rows.Row`, in the order given.

        Args:
            short: what `Columns.frame` gave.
            tables: what `Columns.tables` gave, maybe through JSON.
        """
        import polars as pl  # noqa: PLC0415  (as above)

        schema = self._schema
        entries = self._entries
        if tables["outside"]:
            entries = pl.concat([entries, self._table([_outside(*it) for it in tables["outside"]])])
        runs = list(zip(*tables["runs"], strict=True)) or [()] * 4
        made = {name: entries[name][short["position"]] for name in _FROM_ENTRY}
        made["subtask"] += short["part"].cast(schema["subtask"])
        for name, values in zip(("model", "setting", "sample", "budget"), runs, strict=True):
            made[name] = pl.Series(values=values, dtype=schema[name])[short["run"]]
        words = pl.Series(values=tables["words"], dtype=pl.String())
        lists = pl.Series(values=list(map(list, tables["lists"])), dtype=pl.List(pl.String()))
        made |= {name: words[short[name]] for name in _WORDS}
        made |= {name: lists[short[name]] for name in _LISTS}
        constant = {"release": self._contents.release, "release_hash": self._contents.release_hash}
        for name, text in constant.items():
            made[name] = pl.Series(values=[text]).new_from_index(0, short.height)
        return pl.DataFrame(
            [made[name].alias(name) if name in made else short[name] for name in schema]
        )


def _outside(task_id: str, subtask: int) -> tuple[Any, ...]:
    bucket = all_tasks()[task_id].bucket
    return (f"{task_id}/{subtask:02d}", task_id, bucket, subtask, None, None)
