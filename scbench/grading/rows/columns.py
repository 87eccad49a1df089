"""Rows of results as columns: made in workers, without a step in Python for each cell.

A `RowMaker` fills short columns: what the release or the run says anyway is left out, and texts and
lists that repeat stand in tables once. From these, `Completer` makes the columns of
`scbench.grading.rows.schema.Row`. They travel as a file of Arrow that nobody looks into before the
end.
"""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from scbench.base.canonical import canonical_json, sha256
from scbench.base.model import Prediction, RunMetadata, Status
from scbench.catalog import all_tasks
from scbench.formats.predictions import Line
from scbench.grading.rows.index import ReleaseIndex
from scbench.grading.rows.schema import ColumnTypes, RunKey, column_types
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.run_file import metadata_of

if TYPE_CHECKING:
    import polars as pl


class Head(NamedTuple):
    """What rows of a line hold besides the outcome.

    Attributes:
        line: its number; None of an item without one.
        position: of its instance in the release.
        run: that it belongs to.
        digest: SHA-256 of its bytes.
        finish: finish reason, as given.
        characters: length of the model's text without blanks around it.
        usage: what the provider reported, as canonical JSON.
        described: how the run was made, as canonical JSON.
        prompt: SHA-256 of the text that was sent, as given.
        reasoning: length of the reasoning that is given.
        loop: setup of the loop that it was given in, as canonical JSON.
    """

    line: int | None
    position: int
    run: RunKey
    digest: str | None = None
    finish: str | None = None
    characters: int | None = None
    usage: str | None = None
    described: str | None = None
    prompt: str | None = None
    reasoning: int | None = None
    loop: str | None = None

    @classmethod
    def of(cls, line: Line, position: int) -> "Head":
        """Return the head of a line."""
        prediction = line.prediction
        usage = prediction.usage
        return cls(
            line.number,
            position,
            RunKey(prediction.model, prediction.setting, prediction.sample, prediction.budget),
            sha256(line.data),
            prediction.finish_reason,
            _characters(prediction),
            canonical_json(usage.model_dump(exclude_none=True)) if usage else None,
            None if prediction.run is None else run_text(prediction.run),
            prediction.prompt_sha256,
            None if prediction.reasoning is None else len(prediction.reasoning.strip()),
            canonical_json(prediction.loop.model_dump(exclude_none=True))
            if prediction.loop
            else None,
        )

    @classmethod
    def read(cls, values: Sequence[Any]) -> "Head":
        """Return a head that was written as JSON."""
        line, position, run, *fields = values
        return cls(line, position, RunKey(*run), *fields)


def _characters(prediction: Prediction) -> int | None:
    if prediction.turns is not None:
        return sum(len(turn.action.strip()) for turn in prediction.turns)
    return None if prediction.response is None else len(prediction.response.strip())


def run_text(run: RunMetadata) -> str:
    """Return how a run was made, as results hold it."""
    return canonical_json(run.model_dump(mode="json", exclude_none=True))


class RowMaker:
    """Makes rows, as short columns.

    Args:
        completer: makes whole rows of them.
    """

    def __init__(self, completer: "Completer") -> None:
        self._completer = completer
        self._index = completer.index
        self._runs: dict[RunKey, int] = {}
        self._words: dict[str | None, int] = {None: 0, "": 1}
        self._lists: dict[tuple[str, ...], int] = {(): 0}
        self._outside: dict[tuple[str, int], int] = {}
        self._rows: list[tuple[Any, ...]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def run(self, run: RunKey) -> int:
        """Return the number of a run in the tables."""
        return self._runs.setdefault(run, len(self._runs))

    def _word(self, text: str | None) -> int:
        return self._words.setdefault(text, len(self._words))

    def _list(self, texts: Sequence[str]) -> int:
        return self._lists.setdefault(tuple(texts), len(self._lists)) if texts else 0

    def add(self, head: Head, outcome: WireOutcome) -> None:
        """Add the rows of a line: one per score of its instance."""
        line, position, run_key, digest, finish, characters, usage = head[:7]
        entries = self._index.entries
        run = self.run(run_key)
        status, reason = self._word(outcome.status), self._word(outcome.reason)
        source, repairs = self._word(outcome.source), self._list(outcome.repairs)
        finish_word, answer = self._word(finish), outcome.answer
        described, prompt, reasoning = self._word(head.described), head.prompt, head.reasoning
        loop, turns = self._word(head.loop), outcome.turns
        count = entries[position].scores if position < len(entries) else 1
        for i, scored in enumerate(outcome.scores or (None,) * count):
            score, failed, checks, metrics, notes = scored or (None, (), "[]", "{}", ())
            after = None if turns is None else [turn[i] if turn else None for turn in turns]
            best = max((value for value in after or () if value is not None), default=None)
            self._rows.append(  # in the order of `_short_types`
                (
                    line,
                    position,
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
                    finish_word,
                    characters,
                    usage,
                    described,
                    prompt,
                    reasoning,
                    loop,
                    after,
                    best,
                    outcome.used,
                    digest,
                )
            )
            answer = None  # it is long, and the same

    def add_outside(self, head: Head, row_id: str) -> None:
        """Add the row of an item whose task the release does not hold."""
        task_id, _, subtask = row_id.partition("/")
        place = self._outside.setdefault((task_id, int(subtask[:9])), len(self._outside))
        reason = f"release {self._index.release} does not hold {task_id}"
        position = len(self._index.entries) + place
        outcome = WireOutcome(Status.NOT_RUN.value, reason=reason)
        self.add(head._replace(position=position, usage=None), outcome)

    def add_missing(self, position: int, run: RunKey) -> None:
        """Add the rows of an item without a line."""
        self.add(Head(None, position, run), WireOutcome(Status.MISSING.value, (), "no prediction"))

    def runs(self) -> list[RunKey]:
        """Return the runs in the order of their numbers."""
        return list(self._runs)

    def frame(self) -> "pl.DataFrame":
        """Return the rows with the columns of `schema.Row`, in the order given."""
        import polars as pl  # noqa: PLC0415  (heavy; workers that only get single items need none)

        types = _short_types(self._completer.types)
        columns = zip(*self._rows, strict=True) if self._rows else ((),) * len(types)
        short = {
            name: pl.Series(name, values, dtype)
            for (name, dtype), values in zip(types.items(), columns, strict=True)
        }
        tables = self.runs(), list(self._words), list(self._lists), list(self._outside)
        return self._completer.complete(short, *tables)


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


def _short_types(types: ColumnTypes) -> ColumnTypes:
    """Return the short columns: those of results, with numbers for what stands in tables."""
    import polars as pl  # noqa: PLC0415  (as above)

    names = [
        *("line", "position", "run", "part", "status", "score", "failed_checks", "checks"),
        *("metrics", "notes", "reason", "answer", "answer_source", "repairs", "finish_reason"),
        *("response_characters", "usage", "run_metadata", "prompt_sha256", "reasoning_characters"),
        *("loop", "turn_scores", "best_score", "queries", "prediction_hash"),
    ]
    looked_up = {"position", "run", "part", *_WORDS, *_LISTS}
    return {name: pl.UInt32() if name in looked_up else types[name] for name in names}


_FROM_ENTRY = ("id", "task", "bucket", "subtask", "instance_hash", "floor", "grader_version")
_WORDS = ("status", "reason", "answer_source", "finish_reason", "run_metadata", "loop")
_LISTS = ("failed_checks", "notes", "repairs")
_LONG = ("answer", "checks", "metrics", "reason", "usage")


class Completer:
    """Makes rows of results from short columns.

    Args:
        index: what was graded against.
    """

    def __init__(self, index: ReleaseIndex) -> None:
        self.index = index
        self.types = column_types()
        self._entries = self._table(
            [(*e[:4], e.content_hash, e.floor, index.versions.get(e.task)) for e in index.entries]
        )

    def _table(self, rows: Sequence[Sequence[Any]]) -> "pl.DataFrame":
        import polars as pl  # noqa: PLC0415  (as above)

        schema = {name: self.types[name] for name in _FROM_ENTRY}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def complete(
        self,
        short: "Mapping[str, pl.Series]",
        runs: Sequence[RunKey],
        words: Sequence[str | None],
        lists: Sequence[Sequence[str]],
        outside: Sequence[tuple[str, int]],
    ) -> "pl.DataFrame":
        """Return rows with the columns of `schema.Row`; short ones refer to the other tables."""
        import polars as pl  # noqa: PLC0415  (as above)

        types = self.types
        entries = self._entries
        if outside:
            entries = pl.concat([entries, self._table([_outside(*it) for it in outside])])
        columns = {name: entries[name][short["position"]] for name in _FROM_ENTRY}
        columns["subtask"] += short["part"].cast(types["subtask"])
        parts = list(zip(*runs, strict=True)) or [()] * 4
        for name, values in zip(RunKey._fields, parts, strict=True):
            columns[name] = pl.Series(values=values, dtype=types[name])[short["run"]]
        texts = pl.Series(values=words, dtype=pl.String())
        several = pl.Series(values=list(map(list, lists)), dtype=pl.List(pl.String()))
        columns |= {name: texts[short[name]] for name in _WORDS}
        if self.index.described:
            metadata = [
                metadata_of(run.model, run.setting, run.budget, self.index.described)
                for run in runs
            ]
            beside = pl.Series(values=metadata, dtype=pl.String())[short["run"]]
            columns["run_metadata"] = columns["run_metadata"].zip_with(
                columns["run_metadata"].is_not_null(), beside
            )
        columns |= {name: several[short[name]] for name in _LISTS}
        constant = {"release": self.index.release, "release_hash": self.index.release_hash}
        for name, text in constant.items():
            columns[name] = pl.Series(values=[text]).new_from_index(0, len(short["line"]))
        return pl.DataFrame(
            [columns[name].alias(name) if name in columns else short[name] for name in types]
        )


def _outside(task_id: str, subtask: int) -> tuple[Any, ...]:
    bucket = all_tasks()[task_id].bucket
    return (f"{task_id}/{subtask:02d}", task_id, bucket, subtask, None, None, None)
