"""Columns of the results, a row per score or the reason why there is none, and how they are made.

Workers make them, without a step in Python for each cell.

A `RowMaker` fills short columns: what the release or the run says anyway is left out, and texts and
lists that repeat stand in tables once. From these, `Completer` makes the columns of
`Row`. They travel as a file of Arrow that nobody looks into before the
end.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

from scbench.base.canonical import canonical_json, sha256
from scbench.base.model import Prediction, RunMetadata, Status
from scbench.catalog import all_tasks
from scbench.formats.predictions import Line
from scbench.grading.rows.index import ReleaseIndex, metadata_of
from scbench.grading.rows.wire import WireOutcome

if TYPE_CHECKING:
    import polars as pl


ColumnTypes = dict[str, "pl.DataType | type[pl.DataType]"]


_FROM_ENTRY = (
    "id",
    "task",
    "bucket",
    "subtask",
    "instance_hash",
    "floor",
    "grader_version",
)
_WORDS = ("status", "reason", "answer_source", "finish_reason", "run_metadata", "loop")
_LISTS = ("failed_checks", "notes", "repairs")
# What a `RowMaker` fills, in its order.
_SHORT = (
    *(
        "line",
        "position",
        "run",
        "status",
        "reason",
        "answer_source",
        "repairs",
        "finish_reason",
    ),
    *(
        "response_characters",
        "usage",
        "run_metadata",
        "prompt_sha256",
        "reasoning_characters",
    ),
    *(
        "loop",
        "queries",
        "prediction_hash",
        "part",
        "score",
        "failed_checks",
        "checks",
        "metrics",
    ),
    *("notes", "answer", "turn_scores", "best_score"),
)
# Short columns of numbers for what stands in tables.
_LOOKED_UP = {"position", "run", "part", *_WORDS, *_LISTS}
_NO_VERDICT: tuple[float | None, list[str], str, str, list[str]] = (
    None,
    [],
    "[]",
    "{}",
    [],
)
_LONG = ("answer", "checks", "metrics", "reason", "usage")


class RunKey(NamedTuple):
    """What makes a line one of a run: same model, setting, sample and budget."""

    model: str
    setting: str | None
    sample: int
    budget: int | None

    @property
    def order(self) -> tuple[object, ...]:
        """What runs are sorted by."""
        budget = self.budget
        return (
            self.model,
            self.setting or "",
            self.sample,
            budget is not None,
            budget or 0,
        )

    def __str__(self) -> str:
        parts = [f"model {self.model!r}"]
        parts += [f"setting {self.setting}"] if self.setting else []
        parts += [f"sample {self.sample}"] if self.sample else []
        parts += [f"budget {self.budget}"] if self.budget is not None else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the results: one score, or the reason why there is none.

    Attributes:
        line: line of the predictions file; None for a row that had no line.
        id: instance id. Rows of one answer with several scores share it and differ in `subtask`.
        setting: "no_tools", "tools", one of `scbench.base.model.LOOP_SETTINGS`, or None if the
            file does not say.
        score: in [0, 1]; None if the status is unscored.
        failed_checks: ids of the checks that did not pass.
        checks: every check of the verdict, as canonical JSON.
        metrics: the verdict's metrics, as canonical JSON.
        notes: remarks, such as keys that were ignored.
        reason: why there is no answer or no score; empty if there is one.
        answer: the answer as canonical JSON, if found and of moderate size.
        answer_source: where it was found (see `scbench.scoring.answers.extract`).
        repairs: what had to be done to read it.
        response_characters: length of the model's text without blanks around it; None if the line
            gives none.
        usage: what the provider reported, as canonical JSON.
        run_metadata: how the run was made (`scbench.base.model.RunMetadata`), as canonical JSON.
        prompt_sha256: of the text that was sent, as the line says.
        reasoning_characters: length of the reasoning that the line gives; None if it gives none.
        loop: setup of a loop (`scbench.base.model.Played`), as canonical JSON; None of other lines.
        turn_scores: after each turn of a loop, of its answer; null for turns without one.
        best_score: the best of these.
        queries: what queries (probe) or actions (act) cost.
        prediction_hash: SHA-256 of the line's bytes.
        instance_hash: content hash of the instance; None if the release does not hold it.
        floor: score of the best answer without insight, by the release; None if it is not known.
            In setting retry, what guesses earn in all the answers that may be given.
        turn_floors: that after each number of answers, up to all (retry); None of other lines.
        grader_version: version of the task's grader.
    """

    line: int | None
    id: str
    task: str
    bucket: str
    subtask: int
    model: str
    setting: str | None
    sample: int
    budget: int | None
    status: str
    score: float | None
    failed_checks: list[str]
    checks: str
    metrics: str
    notes: list[str]
    reason: str
    answer: str | None
    answer_source: str | None
    repairs: list[str]
    finish_reason: str | None
    response_characters: int | None
    usage: str | None
    run_metadata: str | None
    prompt_sha256: str | None
    reasoning_characters: int | None
    loop: str | None
    turn_scores: list[float] | None
    best_score: float | None
    queries: int | None
    prediction_hash: str | None
    instance_hash: str | None
    floor: float | None
    turn_floors: list[float] | None
    grader_version: int | None
    release: str
    release_hash: str


def column_types() -> ColumnTypes:
    """Return the column types of the results, as polars knows them."""
    import polars as pl  # noqa: PLC0415  (heavy; wanted once per run)

    types = {
        int: pl.Int64(),
        float: pl.Float64(),
        str: pl.String(),
        list[str]: pl.List(pl.String),
        list[float]: pl.List(pl.Float64),
    }
    return {
        name: types[hint if hint in types else get_args(hint)[0]]
        for name, hint in get_type_hints(Row).items()
    }


class Head(NamedTuple):
    """What rows of a line hold besides the outcome.

    The line is None of an item without one; digest and prompt are SHA-256, of the line and of the
    text that was sent; lengths are in characters; usage, how the run was described, and the setup
    of a loop are canonical JSON.
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
            RunKey(
                prediction.model,
                prediction.setting,
                prediction.sample,
                prediction.budget,
            ),
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
    """Makes rows, as short columns, for a `Completer`."""

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
        entries, position = self._index.entries, head.position
        instance_scores = entries[position].scores if position < len(entries) else 1
        scores = outcome.scores or (_NO_VERDICT,) * instance_scores
        word, texts = self._word, self._list
        in_all = (
            *(
                head.line,
                position,
                self.run(head.run),
                word(outcome.status),
                word(outcome.reason),
            ),
            *(
                word(outcome.source),
                texts(outcome.repairs),
                word(head.finish),
                head.characters,
            ),
            *(
                head.usage,
                word(head.described),
                head.prompt,
                head.reasoning,
                word(head.loop),
            ),
            *(outcome.used, head.digest),
        )
        for i, (score, failed, checks, metrics, notes) in enumerate(scores):
            after = best = None
            if outcome.turns is not None:
                after = [turn[i] if turn else None for turn in outcome.turns]
                best = max(
                    (value for value in after if value is not None), default=None
                )
            # The answer is long, and the same in all rows.
            answer = None if i else outcome.answer
            verdict = (i, score, texts(failed), checks, metrics, texts(notes))
            self._rows.append((*in_all, *verdict, answer, after, best))

    def add_outside(self, head: Head, row_id: str) -> None:
        """Add the row of an item whose task the release does not hold."""
        task_id, _, subtask = row_id.partition("/")
        place = self._outside.setdefault(
            (task_id, int(subtask[:9])), len(self._outside)
        )
        reason = f"release {self._index.release} does not hold {task_id}"
        position = len(self._index.entries) + place
        outcome = WireOutcome(Status.NOT_RUN.value, reason=reason)
        self.add(head._replace(position=position, usage=None), outcome)

    def add_missing(self, position: int, run: RunKey) -> None:
        """Add the rows of an item without a line."""
        self.add(
            Head(None, position, run),
            WireOutcome(Status.MISSING.value, (), "no prediction"),
        )

    def runs(self) -> list[RunKey]:
        """Return the runs in the order of their numbers."""
        return list(self._runs)

    def packed(self) -> bytes:
        """Return the rows as JSON for `unpacked`: to import polars takes longer than few rows."""
        tables = self.runs(), list(self._words), list(self._lists), list(self._outside)
        return json.dumps([self._rows, *tables], separators=(",", ":")).encode()

    @classmethod
    def unpacked(cls, completer: "Completer", data: bytes) -> "RowMaker":
        """Return what `packed` gave, in another process."""
        maker = cls(completer)
        maker._rows, runs, words, lists, outside = json.loads(data)
        maker._runs = {RunKey(*run): i for i, run in enumerate(runs)}
        maker._words = {word: i for i, word in enumerate(words)}
        maker._lists = {tuple(texts): i for i, texts in enumerate(lists)}
        maker._outside = {
            (task_id, number): i for i, (task_id, number) in enumerate(outside)
        }
        return maker

    def frame(self) -> "pl.DataFrame":
        """Return the rows with the columns of `Row`, in the order given."""
        import polars as pl  # noqa: PLC0415  (heavy; workers that only get single items need none)

        types = self._completer.types
        if not self._rows:
            return pl.DataFrame(schema=types)
        short = {
            name: pl.Series(
                name, values, pl.UInt32() if name in _LOOKED_UP else types[name]
            )
            for name, values in zip(_SHORT, zip(*self._rows, strict=True), strict=True)
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


class Completer:
    """Makes rows of results, of what was graded against, from short columns."""

    def __init__(self, index: ReleaseIndex) -> None:
        self.index = index

    @cached_property
    def types(self) -> ColumnTypes:
        """The column types of the results."""
        return column_types()

    @cached_property
    def _entries(self) -> "pl.DataFrame":
        versions = self.index.versions
        return self._table(
            [
                (*e[:4], e.content_hash, e.floor, versions.get(e.task))
                for e in self.index.entries
            ]
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
        """Return rows with the columns of `Row`; short ones refer to the other tables."""
        import polars as pl  # noqa: PLC0415  (as above)

        types = self.types
        entries = self._entries
        if outside:
            entries = pl.concat(
                [entries, self._table([_outside(*it) for it in outside])]
            )
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
        columns["turn_floors"] = _turn_floors(
            columns["loop"], columns["floor"], columns["bucket"]
        )
        by_then = columns["turn_floors"].list.last()
        columns["floor"] = by_then.zip_with(by_then.is_not_null(), columns["floor"])
        constant = {
            "release": self.index.release,
            "release_hash": self.index.release_hash,
        }
        for name, text in constant.items():
            columns[name] = pl.Series(values=[text]).new_from_index(
                0, len(short["line"])
            )
        return pl.DataFrame(
            [
                columns[name].alias(name) if name in columns else short[name]
                for name in types
            ]
        )


def _turn_floors(
    loops: "pl.Series", floors: "pl.Series", buckets: "pl.Series"
) -> "pl.Series":
    """Return what guesses earn after each number of answers that may be given; null elsewhere."""
    import polars as pl  # noqa: PLC0415  (as above)

    kind = pl.List(pl.Float64)
    setups = {text: json.loads(text) for text in loops.unique() if text is not None}
    counts = {
        t: range(1, s["attempts"] + 1)
        for t, s in setups.items()
        if s["setting"] == "retry"
    }
    if not counts:
        return pl.Series(values=[None], dtype=kind).new_from_index(0, len(loops))
    from scbench.loop.environment import floor_after  # noqa: PLC0415  (few runs have loops)

    rows = zip(loops, floors, buckets, strict=True)
    lists = [
        None
        if floor is None or loop not in counts
        else [floor_after(b, floor, n) for n in counts[loop]]
        for loop, floor, b in rows
    ]
    return pl.Series(values=lists, dtype=kind)


def _outside(task_id: str, subtask: int) -> tuple[Any, ...]:
    bucket = all_tasks()[task_id].bucket
    return (f"{task_id}/{subtask:02d}", task_id, bucket, subtask, None, None, None)
