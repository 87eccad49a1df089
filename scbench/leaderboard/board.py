"""The board: scores with intervals and rank ranges, by release, grader versions and setting.

A board is of one release and of one version of each grader; scores of two are never put beside each
other as if they could be compared. Settings have ranks of their own.

For ranks, models are compared by their normalized scores, answer by answer over the same
instances, by the test of `scbench.analysis.sign_flips` as `scbench compare` makes it, corrected
over all pairs of a board: with a chance of 95 % no two models that are alike are told apart
anywhere on it, however many models there are. A model's rank is one more than the number of models
that are better beyond chance, so models that are not told apart share a rank. Its range runs from
there to the number of models that are not worse beyond chance.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from scbench.analysis.columns import ITEM
from scbench.analysis.ladder import climbs_of, ladder_table
from scbench.analysis.matrix import Matrix, score_matrix
from scbench.analysis.sign_flips import DRAWS, EXACT, draws_within, signs
from scbench.base import __version__
from scbench.base.canonical import content_hash
from scbench.base.intervals import LEVEL, Floats
from scbench.base.model import LADDER
from scbench.grading.means import MEANS, Block, Means, means_of
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.collect import GRADED, BoardEntry, Collected
from scbench.leaderboard.findings import Finding, as_record
from scbench.leaderboard.grade import Score
from scbench.release.manifest import Manifest, own_name, version_key

_CHUNK = 256
# Models whose scores differ by no more have the same scores, up to rounding.
_SAME = 1e-6

Truths = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]
_FloatsT = TypeVar("_FloatsT", npt.NDArray[np.float32], npt.NDArray[np.float64])


_RANK = ("rank", "rank_low", "rank_high")


# Columns that ``leaderboard.parquet`` has besides, where a submission answered the
# ladder.
LEVELS: Mapping[str, Any] = {
    **dict.fromkeys(("level", "level_low", "level_high"), pl.Float64),
    "beyond": pl.String,
}
SETTINGS = ("no_tools", "tools")

# Columns of ``leaderboard.parquet``: a row per submission and bucket or task, and for
# overall.
SCHEMA: Mapping[str, Any] = {
    **dict.fromkeys(
        ("release", "release_hash", "graders", "tasks_of", "setting"), pl.String
    ),
    **dict.fromkeys(
        ("submission", "organisation", "model", "version", "date"), pl.String
    ),
    **dict.fromkeys(("bucket", "task"), pl.String),
    **dict.fromkeys(("n", "expected", "scored"), pl.Int64),
    **dict.fromkeys((*MEANS, "mean_missing_as_zero"), pl.Float64),
    **dict.fromkeys(_RANK, pl.Int64),
    "receipt": pl.String,
}

# Columns that it has besides where there is a private ladder, in the rows for overall.
PRIVATE: Mapping[str, Any] = dict.fromkeys(
    ("private", "gap", "gap_low", "gap_high"), pl.Float64
)


class Rank(NamedTuple):
    """Where a model stands: its rank, and the best and the worst that it may have."""

    rank: int
    low: int
    high: int


def ranks(
    scores: Floats, answers: Sequence[str], draws: int = DRAWS, seed: int = 0
) -> list[Rank]:
    """Return the rank of each model by scores of shape (scores, models), none missing.

    Scores of the same answer are not independent.
    """
    models = scores.shape[1]
    better = told_apart(scores, answers, draws, seed)
    above, below = better.sum(axis=0), better.sum(axis=1)
    return [
        Rank(int(above[i]) + 1, int(above[i]) + 1, models - int(below[i]))
        for i in range(models)
    ]


def told_apart(
    scores: Floats, answers: Sequence[str], draws: int, seed: int = 0
) -> Truths:
    """Return which models are better than which beyond chance: [i, j] is True if i beats j."""
    models = scores.shape[1]
    better = np.zeros((models, models), dtype=bool)
    first, second = np.triu_indices(models, 1)
    if not len(first):
        return better
    places: Mapping[str, int] = {
        name: i for i, name in enumerate(dict.fromkeys(answers))
    }
    sums = np.zeros((len(places), models))
    np.add.at(sums, [places[name] for name in answers], scores)
    # Of the pair (a, b), the sum of (a - b)^2 over answers.
    squares = (sums**2).sum(axis=0)
    shared = (sums.T @ sums)[first, second]
    spread = np.sqrt(np.maximum(squares[first] + squares[second] - 2 * shared, 0))
    total = sums.sum(axis=0)
    differ = spread > _SAME
    first, second, spread = first[differ], second[differ], spread[differ]
    if not len(first):
        return better
    statistics = (total[first] - total[second]) / spread
    draw_sums = signs(len(sums), draws, seed) @ sums
    scale = np.zeros((models, models))
    scale[first, second] = 1 / spread
    apart = _beyond_chance(
        np.abs(statistics), first, second, _LargestOfDraws(draw_sums, scale), len(sums)
    )
    for a, b, value in zip(first[apart], second[apart], statistics[apart], strict=True):
        better[(a, b) if value > 0 else (b, a)] = True
    return better


def _beyond_chance(
    statistics: Floats,
    first: Places,
    second: Places,
    largest: "_LargestOfDraws",
    answers: int,
) -> Truths:
    """Return which pairs are told apart by the step-down of `scbench.analysis.sign_flips`."""
    rank = draws_within(1 - LEVEL, len(largest), answers)
    apart = np.zeros(len(statistics), dtype=bool)
    while rank >= 0 and not apart.all():
        above = ~apart & (statistics - EXACT > largest.limit(rank))
        if not above.any():
            break
        apart |= above
        largest.leave_out(first[above], second[above])
    return apart


class _LargestOfDraws:
    """The largest statistic of all pairs in each draw, worked out where it decides.

    The sums are of draws and models. Differences of pairs (models, models) are multiplied by the
    scale: 0 leaves a pair out, and where the first model is not the one further up.
    """

    def __init__(self, sums: Floats, scale: Floats) -> None:
        self._sums, self._scale = sums, scale
        rough = _largest(sums.astype(np.float32), scale.astype(np.float32))
        error = 8 * np.finfo(np.float32).eps * np.abs(sums).max() * scale.max()
        self._bound = rough.astype(np.float64) + error
        """No draw's largest is above this."""

    def __len__(self) -> int:
        return len(self._sums)

    def leave_out(self, first: Places, second: Places) -> None:
        """Leave out pairs."""
        self._scale[first, second] = 0

    def limit(self, rank: int) -> float:
        """Return what is exceeded by the largest statistic of so many draws."""
        order = np.argsort(-self._bound, kind="stable")
        done, tried = 0, min(2 * rank + 2, len(order))
        while True:
            new = order[done:tried]
            self._bound[new] = _largest(self._sums[new], self._scale)
            limit = np.sort(self._bound[order[:tried]])[-(rank + 1)]
            if tried == len(order) or limit >= self._bound[order[tried]]:
                return float(limit)
            done, tried = tried, min(2 * tried, len(order))


def _largest(sums: _FloatsT, scale: _FloatsT) -> _FloatsT:
    """Return the largest scaled difference of each draw, 0 without a pair; shape (draws,)."""
    largest = np.zeros(len(sums), dtype=sums.dtype)
    for start in range(0, len(sums), _CHUNK):
        part = np.ascontiguousarray(sums[start : start + _CHUNK].T)
        block = largest[start : start + _CHUNK]
        for first, factors in enumerate(scale):
            seconds = np.flatnonzero(factors)
            if len(seconds):
                sizes = part[seconds] - part[first]
                np.abs(sizes, out=sizes)
                sizes *= factors[seconds, None]
                np.maximum(block, sizes.max(axis=0), out=block)
    return largest


Level = dict[str, Any]
Key = tuple[str, ...]


def levels_of(entries: Iterable[BoardEntry]) -> dict[str, dict[str, Level]]:
    """Return, by submission, the levels by task, by bucket and overall of those on the ladder.

    Each has the columns `LEVELS`, and rungs, how many the ladder has.
    """
    levels_by_name: dict[str, dict[str, Level]] = {}
    for entry in entries:
        if entry.receipt.tasks_of == LADDER:
            table = ladder_table(climbs_of(entry.results)).rename(
                {"low": "level_low", "high": "level_high"}
            )
            rows = table.select("bucket", "task", *LEVELS, "rungs").to_dicts()
            levels = {row.pop("task") or row["bucket"]: row for row in rows}
            for row in rows:
                del row["bucket"]
            # Over a single bucket, "overall" is that bucket.
            levels.setdefault(OVERALL, rows[-1])
            levels_by_name[entry.name] = levels
    return levels_by_name


def key_of(entry: BoardEntry) -> Key:
    """Return what submissions of one model to several boards of a release have in common."""
    about = entry.about
    return (
        about.release,
        about.organisation,
        about.model.name,
        about.model.version,
        about.setting,
    )


def height(level: Level) -> float:
    """Return a number that levels sort by, those beyond the ladder at its ends."""
    if level["level"] is not None:
        return float(level["level"])
    above = (level["beyond"] or "").startswith("above")
    return float("inf") if above else float("-inf")


def make_board(collected: Collected) -> dict[str, Any]:
    """Return the content of ``leaderboard.json``.

    Returns:
        format, package_version; boards: newest release first, each with release, graders (versions
        by task), graders_key (their hash), buckets and tasks (with their N), fingerprints (tasks
        that were simulated on machines that compute differently, and whose submissions), and
        settings: for each the entries, ranked ones by score (on the ladder by level), then those
        without full coverage, with levels where a model answered the ladder;
        history: the overall score of each model in each release; refused: what is wrong with
        other submissions; warnings: what maintainers should look at.
    """
    groups: dict[tuple[str, str, str], list[BoardEntry]] = {}
    for entry in collected.entries:
        receipt = entry.receipt
        identity = content_hash([receipt.release.rows_hash, receipt.graders])
        key = (receipt.release.version, receipt.tasks_of, identity)
        groups.setdefault(key, []).append(entry)
    # Spatial tasks come before text tasks of the same release.
    ordered = sorted(
        groups, key=lambda key: (version_key(own_name(key[0])), *key[1:]), reverse=True
    )
    levels = levels_of(collected.entries)
    climbed = {
        key_of(entry): levels[entry.name][OVERALL]
        for entry in collected.entries
        if entry.name in levels
    }
    boards = [_board_of(groups[key], levels, climbed) for key in ordered]
    return {
        "format": 1,
        "package_version": __version__,
        "boards": boards,
        "history": _history(boards),
        "refused": _records(collected.refused, "problems"),
        "warnings": _records(collected.warnings, "warnings"),
    }


def _records(
    findings_of: Mapping[str, Sequence[Finding]], what: str
) -> list[dict[str, Any]]:
    return [
        {"submission": name, what: [as_record(finding, name) for finding in findings]}
        for name, findings in sorted(findings_of.items())
    ]


def _board_of(
    entries: Sequence[BoardEntry],
    levels: Mapping[str, dict[str, Level]],
    climbed: Mapping[Key, Level],
) -> dict[str, Any]:
    manifest, receipt = entries[0].release.manifest, entries[0].receipt
    tables: dict[str, list[dict[str, Any]]] = {}
    for setting in SETTINGS:
        of_setting = [entry for entry in entries if entry.about.setting == setting]
        if of_setting:
            tables[setting] = _ordered_rows(of_setting, manifest, levels, climbed)
    records = manifest.board_records(receipt.tasks_of)
    buckets = list(dict.fromkeys(record.bucket for record in records.values()))
    sizes = {
        bucket: sum(task.scores for task in records.values() if task.bucket == bucket)
        for bucket in buckets
    }
    return {
        "release": {"version": manifest.version, "rows_hash": manifest.rows_hash},
        "tasks_of": receipt.tasks_of,
        "graders": {task: receipt.graders[task] for task in records},
        "graders_key": content_hash(receipt.graders)[:12],
        # Over a single bucket, "overall" is that bucket.
        "buckets": {OVERALL: sum(sizes.values()), **(sizes if len(sizes) > 1 else {})},
        "over": buckets,
        "tasks": {name: record.scores for name, record in records.items()},
        "fingerprints": _fingerprints(entries),
        "settings": tables,
    }


def _fingerprints(entries: Sequence[BoardEntry]) -> dict[str, dict[str, list[str]]]:
    """Return, by task, the submissions of each fingerprint, of tasks with more than one."""
    by_task: dict[str, dict[str, list[str]]] = {}
    for entry in sorted(entries, key=lambda entry: entry.name):
        for task, names in entry.receipt.fingerprints.items():
            for name in names:
                by_task.setdefault(task, {}).setdefault(name, []).append(entry.name)
    return {
        task: by_name for task, by_name in sorted(by_task.items()) if len(by_name) > 1
    }


def _ordered_rows(
    entries: Sequence[BoardEntry],
    manifest: Manifest,
    levels: Mapping[str, dict[str, Level]],
    climbed: Mapping[Key, Level],
) -> list[dict[str, Any]]:
    """Return the rows of one table, best first (on the ladder by level), unranked ones last."""
    matrix = _entry_matrix(entries)
    groups: dict[str, list[str]] = {OVERALL: list(matrix.blocks)}
    for task in matrix.blocks:
        groups.setdefault(manifest.tasks[task].bucket, []).append(task)
    ranked = np.array([entry.ranked for entry in entries])
    of_buckets: list[dict[str, dict[str, Any]]] = [{} for _ in entries]
    of_tasks: list[dict[str, dict[str, Any]]] = [{} for _ in entries]
    for name, tasks in groups.items():
        blocks = [matrix.blocks[task] for task in tasks]
        means = means_of(blocks)
        ranks_by_entry = _ranks_by_entry(blocks, ranked)
        for i, entry in enumerate(entries):
            place = zip(_RANK, ranks_by_entry.get(i, (None, None, None)), strict=True)
            score = _score_columns(entry.receipt.buckets[name], means, i)
            of_buckets[i][name] = score | dict(place)
    for task, block in matrix.blocks.items():
        means = means_of([block])
        for i, entry in enumerate(entries):
            of_tasks[i][task] = _score_columns(entry.receipt.tasks[task], means, i)
    rows = [
        _entry_row(*parts) for parts in zip(entries, of_buckets, of_tasks, strict=True)
    ]
    for row, entry in zip(rows, entries, strict=True):
        if entry.name in levels:
            row["levels"] = levels[entry.name]
        elif key_of(entry) in climbed:
            row["levels"] = {OVERALL: climbed[key_of(entry)]}
    by_level = entries[0].receipt.tasks_of == LADDER
    return sorted(rows, key=lambda row: _sort_key(row, by_level=by_level))


def _score_columns(score: Score, means: Means, entry: int) -> dict[str, Any]:
    cells = means.cells(entry)
    return score.model_dump() | {name: cells[name] for name in MEANS if name != "mean"}


def _sort_key(row: dict[str, Any], *, by_level: bool) -> tuple[Any, ...]:
    overall = row["buckets"][OVERALL]
    level = height(row["levels"][OVERALL]) if by_level else 0.0
    score = [-(overall[name] or 0.0) for name in ("normalized", "mean")]
    return (not row["ranked"], -level, *score, row["model"], row["submission"])


def _entry_matrix(entries: Sequence[BoardEntry]) -> Matrix:
    parts: list[pl.DataFrame] = []
    for i, entry in enumerate(entries):
        run = entry.results.with_columns(
            model=pl.lit(f"{i:09d}"),
            setting=pl.lit(None, pl.String),
            budget=pl.lit(None, pl.Int64),
        )
        if i and not _answer_rows(run).equals(_answer_rows(parts[0])):
            raise ValueError(f"{entry.name}: its rows are not those of the release")
        parts.append(run)
    return score_matrix(pl.concat(parts))


def _answer_rows(results: pl.DataFrame) -> pl.DataFrame:
    return results.select("task", *ITEM).unique().sort("task", *ITEM)


def _ranks_by_entry(
    blocks: Sequence[Block], ranked: "np.ndarray[Any, np.dtype[np.bool_]]"
) -> dict[int, Rank]:
    if not ranked.any():
        return {}
    # Each answer's share of the normalized score; those without room have none.
    shares: Floats = np.concatenate(
        [
            np.nan_to_num(
                block.u
                * block.weights()
                / np.maximum(block.normalized.weight, 1)
                / (1 - block.guessed)
            )[:, ranked]
            for block in blocks
        ]
    )
    names = [name for block in blocks for name in block.names]
    return dict(zip(np.flatnonzero(ranked).tolist(), ranks(shares, names), strict=True))


def _entry_row(
    entry: BoardEntry,
    buckets: Mapping[str, dict[str, Any]],
    tasks: Mapping[str, dict[str, Any]],
) -> dict[str, Any]:
    about, receipt = entry.about, entry.receipt
    return {
        "submission": entry.name,
        "model": about.model.name,
        "version": about.model.version,
        "organisation": about.organisation,
        "date": about.date,
        "tools": list(about.tools),
        "sampling": about.sampling,
        "attempts": about.attempts,
        "links": about.links.model_dump(exclude_none=True),
        "outputs_licence": about.outputs_licence,
        "ranked": entry.ranked,
        "copied": entry.copied.as_record() if entry.copied.marked else None,
        "overlap": {"same": entry.copied.count, "of": sum(entry.copied.of.values())},
        "spent": dict(entry.spent),
        "statuses": receipt.statuses,
        "buckets": dict(buckets),
        "tasks": dict(tasks),
        "files": {file: f"{GRADED}/{entry.name}/{file}" for file in entry.files},
        "predictions_sha256": receipt.predictions.sha256,
        "receipt": receipt.digest,
    }


def _history(boards: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each model's overall score in every release that it answered."""
    models_by_key: dict[tuple[str, ...], dict[str, Any]] = {}
    for board in boards:
        for setting, rows in board["settings"].items():
            for row in rows:
                names = {
                    name: row[name] for name in ("organisation", "model", "version")
                }
                key = (*names.values(), setting, board["tasks_of"])
                what = {"setting": setting, "tasks_of": board["tasks_of"]}
                models = models_by_key.setdefault(
                    key, {**names, **what, "releases": []}
                )
                overall = row["buckets"][OVERALL]
                models["releases"].append(
                    {
                        "release": board["release"]["version"],
                        "graders_key": board["graders_key"],
                        "ranked": row["ranked"],
                        **{name: overall[name] for name in (*MEANS, "rank")},
                    }
                )
    return [models_by_key[key] for key in sorted(models_by_key)]


def flat_rows(board: Mapping[str, Any]) -> pl.DataFrame:
    """Return a board as a table with the columns `SCHEMA`, and those of levels if there are any."""
    rows: list[dict[str, Any]] = []
    schema = dict(SCHEMA)
    entries_of = (
        entries for part in board["boards"] for entries in part["settings"].values()
    )
    if any("private" in entry for entries in entries_of for entry in entries):
        schema |= PRIVATE
    for part in board["boards"]:
        head = {
            "release": part["release"]["version"],
            "release_hash": part["release"]["rows_hash"],
            "graders": part["graders_key"],
            "tasks_of": part["tasks_of"],
        }
        for setting, entries in part["settings"].items():
            for entry in entries:
                texts = {
                    key: entry[key] for key in SCHEMA if isinstance(entry.get(key), str)
                }
                levels = entry.get("levels", {})
                schema |= LEVELS if levels else {}
                private = _private_columns(entry)
                for kind, column in (("buckets", "bucket"), ("tasks", "task")):
                    rows += (
                        dict.fromkeys(SCHEMA)
                        | head
                        | texts
                        | {"setting": setting, column: name}
                        | score
                        | {key: levels[name][key] for key in LEVELS if name in levels}
                        | (private if name == OVERALL and kind == "buckets" else {})
                        for name, score in entry[kind].items()
                    )
    return pl.DataFrame(rows, schema=schema)


def _private_columns(entry: Mapping[str, Any]) -> dict[str, float]:
    if "private" not in entry:
        return {}
    gap = entry.get("gap", {})
    columns = {"gap": "difference", "gap_low": "low", "gap_high": "high"}
    return {"private": entry["private"]["mean"]} | {
        name: gap[of] for name, of in columns.items() if gap
    }
