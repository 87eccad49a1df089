"""The board: scores with intervals, ranks and levels, by release, graders and setting.

A board covers one release and one version of each grader. Scores of different boards
cannot be compared, so they are never in one table. Each setting has separate ranks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.columns import ITEM
from scbench.analysis.ladder import climbs_of, ladder_table
from scbench.analysis.matrix import Matrix, score_matrix
from scbench.base import __version__
from scbench.base.canonical import content_hash
from scbench.base.model import LADDER
from scbench.grading.means import MEANS, Block, Means, means_of
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.collect import GRADED, BoardEntry, Collected
from scbench.leaderboard.findings import Finding, as_record
from scbench.leaderboard.ranks import Rank, Truths, ranks
from scbench.leaderboard.receipt import Score
from scbench.release.manifest import Manifest, own_name, version_key

# Columns of a level, and of ``leaderboard.parquet`` if a submission answered the ladder.
LEVELS: Mapping[str, Any] = {
    "level": pl.Float64,
    "level_low": pl.Float64,
    "level_high": pl.Float64,
    "beyond": pl.String,
}

Key = tuple[str, ...]
# The columns `LEVELS`, and rungs, the number of the ladder's rungs.
Level = dict[str, Any]
# Levels by task, by bucket, and overall.
Levels = dict[str, Level]
# A mutable part of a board, such as a row.
Row = dict[str, Any]
# A read-only part of a board.
Record = Mapping[str, Any]


def make_board(collected: Collected) -> dict[str, Any]:
    """Return the content of ``leaderboard.json``.

    Returns:
        An object with these keys:

        - ``format`` and ``package_version``;
        - ``boards``, newest release first, each with ``release``, ``graders`` (versions by task),
          ``graders_key`` (their hash), ``buckets`` and ``tasks`` (with their N), ``fingerprints``
          (tasks that were simulated on machines that compute differently, and the submissions of
          each), and ``settings``: the entries of each setting, ranked ones first, by score (on the
          ladder, by level), with levels if the model answered the ladder;
        - ``history``: the overall score of each model in each release;
        - ``refused``: the problems of submissions that were rejected;
        - ``warnings``: findings for maintainers to check.
    """
    groups: dict[Key, list[BoardEntry]] = {}
    for entry in collected.entries:
        receipt = entry.receipt
        identity = content_hash([receipt.release.rows_hash, receipt.graders])
        key = (receipt.release.version, receipt.tasks_of, identity)
        groups.setdefault(key, []).append(entry)
    levels = levels_of(collected.entries)
    # Spatial tasks come before text tasks of the same release.
    ordered_keys = sorted(
        groups, key=lambda key: (version_key(own_name(key[0])), *key[1:]), reverse=True
    )
    boards = [board_of(groups[key], levels) for key in ordered_keys]
    return {
        "format": 1,
        "package_version": __version__,
        "boards": boards,
        "history": history_of(boards),
        "refused": finding_records(collected.refused, "problems"),
        "warnings": finding_records(collected.warnings, "warnings"),
    }


def board_rows(boards: Iterable[Record]) -> Iterator[tuple[Record, str, Row]]:
    """Yield each row in the ``boards`` of `make_board`, with its board and its setting."""
    for board in boards:
        for setting, rows in board["settings"].items():
            for row in rows:
                yield board, setting, row


def finding_records(
    findings_of: Mapping[str, Sequence[Finding]], key: str
) -> list[Row]:
    """Return the records of findings about submissions, by submission."""
    records = []
    for name, findings in sorted(findings_of.items()):
        rows = [as_record(finding, name) for finding in findings]
        records.append({"submission": name, key: rows})
    return records


def board_of(entries: Sequence[BoardEntry], levels: Mapping[str, Levels]) -> Row:
    """Return the board of entries that answer the same tasks of a release.

    Args:
        entries: the entries.
        levels: see `levels_of`.
    """
    manifest = entries[0].release.manifest
    receipt = entries[0].receipt
    tables: dict[str, list[Row]] = {}
    for setting in ("no_tools", "tools"):
        peers = [entry for entry in entries if entry.about.setting == setting]
        if peers:
            tables[setting] = table_rows(peers, manifest, levels)
    records = manifest.board_records(receipt.tasks_of)
    sizes: dict[str, int] = {}
    for record in records.values():
        sizes[record.bucket] = sizes.get(record.bucket, 0) + record.scores
    buckets = {OVERALL: sum(sizes.values())}
    # With a single bucket, "overall" equals that bucket.
    if len(sizes) > 1:
        buckets |= sizes
    return {
        "release": {"version": manifest.version, "rows_hash": manifest.rows_hash},
        "tasks_of": receipt.tasks_of,
        "graders": {task: receipt.graders[task] for task in records},
        "graders_key": content_hash(receipt.graders)[:12],
        "buckets": buckets,
        "over": list(sizes),
        "tasks": {name: record.scores for name, record in records.items()},
        "fingerprints": fingerprints_of(entries),
        "settings": tables,
    }


def fingerprints_of(entries: Iterable[BoardEntry]) -> dict[str, dict[str, list[str]]]:
    """Return the submissions of each fingerprint, for tasks with several fingerprints."""
    by_task: dict[str, dict[str, list[str]]] = {}
    for entry in sorted(entries, key=lambda entry: entry.name):
        for task, fingerprints in entry.receipt.fingerprints.items():
            names_by_print = by_task.setdefault(task, {})
            for fingerprint in fingerprints:
                names_by_print.setdefault(fingerprint, []).append(entry.name)
    return {task: names for task, names in sorted(by_task.items()) if len(names) > 1}


def table_rows(
    entries: Sequence[BoardEntry], manifest: Manifest, levels: Mapping[str, Levels]
) -> list[Row]:
    """Return the rows of one table, best first (on the ladder by level), unranked ones last."""
    matrix = entry_matrix(entries)
    rows = [entry_row(entry) for entry in entries]
    ranked = np.array([entry.ranked for entry in entries])
    groups: dict[str, list[Block]] = {OVERALL: list(matrix.blocks.values())}
    for task, block in matrix.blocks.items():
        groups.setdefault(manifest.tasks[task].bucket, []).append(block)
    for name, blocks in groups.items():
        means = means_of(blocks)
        places = ranks_of(blocks, ranked)
        for i, entry in enumerate(entries):
            score = score_columns(entry.receipt.buckets[name], means, i)
            rows[i]["buckets"][name] = score | rank_columns(places.get(i))
    for task, block in matrix.blocks.items():
        means = means_of([block])
        for i, entry in enumerate(entries):
            rows[i]["tasks"][task] = score_columns(entry.receipt.tasks[task], means, i)
    for row, entry in zip(rows, entries, strict=True):
        if entry.name in levels:
            row["levels"] = levels[entry.name]
    tasks_of = entries[0].receipt.tasks_of
    return sorted(rows, key=lambda row: sort_key(row, tasks_of))


def entry_matrix(entries: Sequence[BoardEntry]) -> Matrix:
    """Return the scores of entries as a matrix with one run for each entry, in order.

    Raises:
        ValueError: the entries have results of different rows.
    """
    runs: list[pl.DataFrame] = []
    for i, entry in enumerate(entries):
        # Model names in predictions may repeat and sort differently, so runs are numbered.
        run = entry.results.with_columns(
            model=pl.lit(f"{i:09d}"),
            setting=pl.lit(None, pl.String),
            budget=pl.lit(None, pl.Int64),
        )
        if runs and not answer_rows(run).equals(answer_rows(runs[0])):
            raise ValueError(f"{entry.name}: its rows do not match the release")
        runs.append(run)
    return score_matrix(pl.concat(runs))


def answer_rows(results: pl.DataFrame) -> pl.DataFrame:
    """Return the items that have results, in order."""
    return results.select("task", *ITEM).unique().sort("task", *ITEM)


def ranks_of(blocks: Sequence[Block], ranked: Truths) -> dict[int, Rank]:
    """Return the ranks of ranked entries, by position of the entry.

    Args:
        blocks: scores of the tasks.
        ranked: whether each entry has a rank, shape (entries,).
    """
    if not ranked.any():
        return {}
    parts = []
    names: list[str] = []
    for block in blocks:
        # Each answer's share of the normalized score; answers without room above the
        # floor have none.
        shares = (
            block.u
            * block.weights()
            / np.maximum(block.normalized.weight, 1)
            / (1 - block.guessed)
        )
        parts.append(np.nan_to_num(shares)[:, ranked])
        names += block.names
    places = ranks(np.concatenate(parts), names)
    return dict(zip(np.flatnonzero(ranked).tolist(), places, strict=True))


def rank_columns(place: Rank | None) -> dict[str, int | None]:
    """Return the columns of a rank; their values are None if there is no rank."""
    return place._asdict() if place else dict.fromkeys(Rank._fields)


def score_columns(score: Score, means: Means, entry: int) -> dict[str, Any]:
    """Return the columns of an entry's score; the mean comes from the receipt."""
    cells = means.cells(entry)
    return score.model_dump() | {name: cells[name] for name in MEANS if name != "mean"}


def entry_row(entry: BoardEntry) -> Row:
    """Return the row of an entry without its scores, which are filled in later."""
    about = entry.about
    receipt = entry.receipt
    copied = entry.copied
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
        "copied": copied.as_record() if copied.marked else None,
        "overlap": {"same": copied.count, "of": sum(copied.of.values())},
        "spent": dict(entry.spent),
        "statuses": receipt.statuses,
        "buckets": {},
        "tasks": {},
        "files": {file: f"{GRADED}/{entry.name}/{file}" for file in entry.files},
        "predictions_sha256": receipt.predictions.sha256,
        "receipt": receipt.digest,
    }


def sort_key(row: Row, tasks_of: str) -> tuple[Any, ...]:
    """Return the sort key of a row in its table."""
    overall = row["buckets"][OVERALL]
    return (
        not row["ranked"],
        -height(row["levels"][OVERALL]) if tasks_of == LADDER else 0.0,
        -(overall["normalized"] or 0.0),
        -(overall["mean"] or 0.0),
        row["model"],
        row["submission"],
    )


def levels_of(entries: Sequence[BoardEntry]) -> dict[str, Levels]:
    """Return the levels of ladder submissions, by submission.

    A submission to another board gets the overall level of the same model.
    """
    levels_by_name = {}
    overall_levels = {}
    for entry in entries:
        if entry.receipt.tasks_of == LADDER:
            levels = ladder_levels(entry)
            levels_by_name[entry.name] = levels
            overall_levels[key_of(entry)] = levels[OVERALL]
    for entry in entries:
        key = key_of(entry)
        if key in overall_levels:
            levels_by_name.setdefault(entry.name, {OVERALL: overall_levels[key]})
    return levels_by_name


def key_of(entry: BoardEntry) -> Key:
    """Return the key that submissions of one model to several boards share.

    It contains the release, the organisation, the model's name and version, and the setting.
    """
    about = entry.about
    return (
        about.release,
        about.organisation,
        about.model.name,
        about.model.version,
        about.setting,
    )


def ladder_levels(entry: BoardEntry) -> Levels:
    """Return the levels of a submission that answers the ladder."""
    table = ladder_table(climbs_of(entry.results))
    table = table.rename({"low": "level_low", "high": "level_high"})
    rows = table.select("bucket", "task", *LEVELS, "rungs").to_dicts()
    levels = {}
    for row in rows:
        bucket = row.pop("bucket")
        task = row.pop("task")
        levels[task or bucket] = row
    # With a single bucket, the last row is that bucket and also "overall".
    levels.setdefault(OVERALL, rows[-1])
    return levels


def height(level: Level) -> float:
    """Return a sort key for levels; levels beyond the ladder are infinite."""
    if level["level"] is not None:
        return float(level["level"])
    above = (level["beyond"] or "").startswith("above")
    return float("inf") if above else float("-inf")


def history_of(boards: Iterable[Record]) -> list[Row]:
    """Return each model's overall score in every release with a submission."""
    models: dict[Key, Row] = {}
    for board, setting, row in board_rows(boards):
        head = {name: row[name] for name in ("organisation", "model", "version")}
        head |= {"setting": setting, "tasks_of": board["tasks_of"]}
        model = models.setdefault(tuple(head.values()), head | {"releases": []})
        release = {
            "release": board["release"]["version"],
            "graders_key": board["graders_key"],
            "ranked": row["ranked"],
        }
        overall = row["buckets"][OVERALL]
        scores = {name: overall[name] for name in (*MEANS, "rank")}
        model["releases"].append(release | scores)
    return [models[key] for key in sorted(models)]
