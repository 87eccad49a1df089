"""What cannot be copied: scores on a private ladder beside the public ones, and the gap of the two.

The maintainers hold a folder that is never published::

    release/        a ladder, drawn with `scbench generate ladder --private --out FOLDER/release`
    submissions/    what labs sent: answers to its prompts
    graded/         results, written here; they hold answers, so they are no part of the board

A private submission says what the public one says, the release included whose twin the ladder is,
and ``tasks: ladder``. Nothing of it is shown but names, scores, levels and ranks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from scbench.analysis.gap import gap_table
from scbench.base.errors import ResultsError
from scbench.base.model import LADDER
from scbench.base.progress import no_progress
from scbench.grading.means import MEANS
from scbench.grading.score_tables import OVERALL
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.board import Key, key_of, make_board
from scbench.leaderboard.collect import BoardEntry, Collected, collect
from scbench.leaderboard.findings import finding
from scbench.leaderboard.folder import ABOUT
from scbench.leaderboard.validate import Organisation
from scbench.release.load import open_release

RELEASE, SUBMISSIONS = "release", "submissions"
_SCORE = (*MEANS, "rank", "rank_low", "rank_high")
_GAP = ("pairs", "public", "private", "difference", "low", "high", "p_value", "verdict")


def collect_private(
    folder: Path,
    out: Path,
    limits: WorkerLimits,
    *,
    regrade: bool = False,
    organisations: Sequence[Organisation] | None = None,
    on_step: Callable[[str], object] = no_progress,
) -> Collected:
    """Read or grade what was sent to a private ladder, as `scbench.leaderboard.collect.collect`.

    Results are written into the maintainers' folder.

    Raises:
        ResultsError: one of the two folders lies in the other, or the release is no private ladder.
        ScbenchError: something cannot be read or written.
    """
    here, there = folder.resolve(), out.resolve()
    if here == there or here in there.parents or there in here.parents:
        raise ResultsError(
            f"{folder} is private, so it and the board's {out} must lie apart"
        )
    release = open_release(folder / RELEASE)
    if not (release.manifest.is_ladder and release.manifest.is_generated):
        raise ResultsError(
            f"{folder / RELEASE} is no private ladder; `scbench generate ladder --private --out "
            f"{folder / RELEASE}` draws one"
        )
    done = collect(
        *(folder / SUBMISSIONS, folder, lambda _: release, limits),
        regrade=regrade,
        reports=False,
        organisations=organisations,
        on_step=on_step,
    )
    for entry in done.entries:
        if entry.about.tasks != LADDER:
            done.refused[entry.name] = [
                finding("wrong_tasks", ABOUT, tasks=entry.about.tasks)
            ]
    done.entries = [
        replace(entry, files=())
        for entry in done.entries
        if entry.about.tasks == LADDER
    ]
    return done


def add_private(
    board: dict[str, Any], collected: Collected, private: Collected
) -> None:
    """Put private scores and gaps beside the public ones, and private boards below all others."""
    private_board = make_board(private)
    scores: dict[Key, dict[str, Any]] = {}
    for part in private_board["boards"]:
        for setting, rows in part["settings"].items():
            for row in rows:
                overall = {name: row["buckets"][OVERALL][name] for name in _SCORE}
                scores[_row_key(row, setting)] = overall | {
                    "level": row["levels"][OVERALL]
                }
    # Two ladders are two releases: keys are compared without them.
    there = {key_of(entry)[1:]: entry for entry in private.entries}
    gaps = {
        key: _overall_gap(entry, there[key])
        for entry in collected.entries
        if entry.receipt.tasks_of == LADDER and (key := key_of(entry)[1:]) in there
    }
    for part in board["boards"]:
        for setting, rows in part["settings"].items():
            for row in rows:
                key = _row_key(row, setting)
                if key in scores:
                    row["private"] = scores[key]
                if key in gaps:
                    row["gap"] = gaps[key]
    board["boards"] += [part | {"private": True} for part in private_board["boards"]]
    for name in ("refused", "warnings"):
        board[name] += [record | {"private": True} for record in private_board[name]]


def _row_key(row: Mapping[str, Any], setting: str) -> Key:
    return (row["organisation"], row["model"], row["version"], setting)


def _overall_gap(public: BoardEntry, private: BoardEntry) -> dict[str, Any]:
    names = {
        "model": pl.lit(
            public.about.title
        ),  # predictions may call it otherwise here and there
        "setting": pl.lit(public.about.setting),
        "budget": pl.lit(None, pl.Int64),
    }
    table = gap_table(
        *(entry.results.with_columns(**names) for entry in (public, private))
    )
    row = table.filter(pl.col("rung").is_null()).row(-1, named=True)
    return {name: row[name] for name in _GAP}
