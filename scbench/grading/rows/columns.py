"""Rows of results as columns: made in workers, without a step in Python for each of them.

A worker fills short columns: what the release or the run says anyway is left out, and texts and
lists that repeat stand in tables once. From these, `Completer` makes the columns of
`scbench.grading.rows.schema.Row`. They travel as a file of Arrow that nobody looks into before the
end.
"""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from scbench.canonical import canonical_json, sha256
from scbench.catalog import all_tasks
from scbench.grading.rows.index import Contents
from scbench.grading.rows.schema import results_schema, visible
from scbench.grading.rows.wire import Packed
from scbench.model import Status
from scbench.predictions import Line

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
    """Rows in the making, as short columns.

    Args:
        completer: makes whole rows of them.
    """

    def __init__(self, completer: "Completer") -> None:
        self._completer = completer
        self._contents = completer.contents
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

    def runs(self) -> list[RunParts]:
        """Return the runs in the order of their numbers."""
        return list(self._runs)

    def frame(self) -> "pl.DataFrame":
        """Return the rows with the columns of `schema.Row`, in the order given."""
        import polars as pl  # noqa: PLC0415  (heavy; workers that only get single items need none)

        schema = _short_schema()
        columns = zip(*self._rows, strict=True) if self._rows else ((),) * len(schema)
        short = {
            name: pl.Series(name, values, dtype)
            for (name, dtype), values in zip(schema.items(), columns, strict=True)
        }
        tables = Tables(self.runs(), list(self._words), list(self._lists), list(self._outside))
        return self._completer.complete(short, tables)


def encode(frame: "pl.DataFrame") -> bytes:
    """Return rows as a file of Arrow; nothing if there are none."""
    if frame.is_empty():
        return b""
    stream = io.BytesIO()
    frame.write_ipc(stream, compression="lz4")
    return stream.getvalue()


def text_bytes(frame: "pl.DataFrame") -> int:
    """Return how many bytes the texts of rows have that can be long."""
    import polars as pl  # noqa: PLC0415  (as above)

    sums = frame.select(pl.col(_LONG).str.len_bytes().cast(pl.Int64).sum())
    return sum(size or 0 for size in sums.row(0))


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


_FROM_ENTRY = ("id", "task", "bucket", "subtask", "instance_hash", "grader_version")
_WORDS = ("status", "reason", "answer_source", "finish_reason")
_LISTS = ("failed_checks", "notes", "repairs")
_LONG = ("answer", "checks", "metrics", "reason", "usage")


class Tables(NamedTuple):
    """What short columns refer to: runs, texts, lists of texts, and items outside the release."""

    runs: Sequence[RunParts]
    words: Sequence[str | None]
    lists: Sequence[Sequence[str]]
    outside: Sequence[tuple[str, int]]


class Completer:
    """Makes rows of results from short columns.

    Args:
        contents: what was graded against.
    """

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
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

    def complete(self, short: "Mapping[str, pl.Series]", tables: Tables) -> "pl.DataFrame":
        """Return rows with the columns of `schema.Row`, in the order given."""
        import polars as pl  # noqa: PLC0415  (as above)

        schema = self._schema
        entries = self._entries
        if tables.outside:
            entries = pl.concat([entries, self._table([_outside(*it) for it in tables.outside])])
        runs = list(zip(*tables.runs, strict=True)) or [()] * 4
        made = {name: entries[name][short["position"]] for name in _FROM_ENTRY}
        made["subtask"] += short["part"].cast(schema["subtask"])
        for name, values in zip(("model", "setting", "sample", "budget"), runs, strict=True):
            made[name] = pl.Series(values=values, dtype=schema[name])[short["run"]]
        words = pl.Series(values=tables.words, dtype=pl.String())
        lists = pl.Series(values=list(map(list, tables.lists)), dtype=pl.List(pl.String()))
        made |= {name: words[short[name]] for name in _WORDS}
        made |= {name: lists[short[name]] for name in _LISTS}
        constant = {"release": self.contents.release, "release_hash": self.contents.release_hash}
        for name, text in constant.items():
            made[name] = pl.Series(values=[text]).new_from_index(0, len(short["line"]))
        return pl.DataFrame(
            [made[name].alias(name) if name in made else short[name] for name in schema]
        )


def _outside(task_id: str, subtask: int) -> tuple[Any, ...]:
    bucket = all_tasks()[task_id].bucket
    return (f"{task_id}/{subtask:02d}", task_id, bucket, subtask, None, None)
