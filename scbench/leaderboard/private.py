"""Scores on a private ladder next to the public ones, and their gap.

The maintainers have a folder that is never published::

    release/        a ladder, drawn with `scbench generate ladder --private --out FOLDER/release`
    submissions/    answers to its prompts, as sent by labs
    graded/         results, written here; they contain answers, so the board does not link to them

A private submission has the same ``submission.yaml`` as the public one, with the same
release and ``tasks: ladder``. Only its names, scores, levels and ranks are shown.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from scbench.analysis.gap import gap_table
from scbench.base.errors import ResultsError
from scbench.base.model import LADDER
from scbench.base.progress import no_progress
from scbench.grading.expected_work import OpenDisplay, no_display
from scbench.grading.means import MEANS
from scbench.grading.score_tables import OVERALL
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.board import Key, Record, Row, board_rows, key_of, make_board
from scbench.leaderboard.collect import BoardEntry, Collected, collect
from scbench.leaderboard.findings import finding
from scbench.leaderboard.names import Organisation
from scbench.leaderboard.submission_files import ABOUT
from scbench.machine.files import private_files
from scbench.release.load import open_release

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
    open_display: OpenDisplay = no_display,
) -> Collected:
    """Read or grade the submissions to a private ladder.

    This works like `scbench.leaderboard.collect.collect`, but results are written into
    the maintainers' folder.

    Raises:
        ResultsError: one of the two folders contains the other, or the release is not a
            private ladder.
        ScbenchError: something cannot be read or written.
    """
    # The board's folder is published, so it must not contain anything private.
    private_folder = folder.resolve()
    board_folder = out.resolve()
    if (
        private_folder == board_folder
        or private_folder in board_folder.parents
        or board_folder in private_folder.parents
    ):
        raise ResultsError(
            f"{folder} is private, so neither it nor the leaderboard's folder {out} may contain "
            "the other"
        )
    place = folder / "release"
    release = open_release(place)
    if not (release.manifest.is_ladder and release.manifest.is_generated):
        raise ResultsError(
            f"{place} is not a private ladder; create one with `scbench generate ladder --private "
            f"--out {place}`"
        )
    # Results contain answers.
    with private_files():
        collected = collect(
            folder / "submissions",
            folder,
            lambda _: release,
            limits,
            regrade=regrade,
            reports=False,
            organisations=organisations,
            on_step=on_step,
            open_display=open_display,
        )
    entries = []
    for entry in collected.entries:
        tasks = entry.about.tasks
        if tasks == LADDER:
            # Without files, the board links to none.
            entries.append(replace(entry, files=()))
        else:
            collected.refused[entry.name] = [finding("wrong_tasks", ABOUT, tasks=tasks)]
    collected.entries = entries
    return collected


def add_private(
    board: dict[str, Any], collected: Collected, private: Collected
) -> None:
    """Add private scores and gaps to a board's rows, and append the private boards.

    Args:
        board: the public board, changed in place.
        collected: the public submissions.
        private: the private submissions.
    """
    private_board = make_board(private)
    scores: dict[Key, dict[str, Any]] = {}
    for key, row in keyed_rows(private_board):
        overall = row["buckets"][OVERALL]
        scores[key] = {name: overall[name] for name in _SCORE}
        scores[key]["level"] = row["levels"][OVERALL]
    # The two ladders are different releases, so keys are compared without the release.
    private_entries = {key_of(entry)[1:]: entry for entry in private.entries}
    gaps = {}
    for entry in collected.entries:
        key = key_of(entry)[1:]
        if entry.receipt.tasks_of == LADDER and key in private_entries:
            gaps[key] = overall_gap(entry, private_entries[key])
    for key, row in keyed_rows(board):
        if key in scores:
            row["private"] = scores[key]
        if key in gaps:
            row["gap"] = gaps[key]
    board["boards"] += [part | {"private": True} for part in private_board["boards"]]
    for name in ("refused", "warnings"):
        board[name] += [record | {"private": True} for record in private_board[name]]


def keyed_rows(board: Record) -> Iterator[tuple[Key, Row]]:
    """Yield the rows of a board with their `key_of` keys, without the release."""
    for _, setting, row in board_rows(board["boards"]):
        yield (row["organisation"], row["model"], row["version"], setting), row


def overall_gap(public: BoardEntry, private: BoardEntry) -> dict[str, Any]:
    """Return the overall gap between a model's public and private scores."""
    # The two predictions files may name the model differently.
    names = {
        "model": pl.lit(public.about.title),
        "setting": pl.lit(public.about.setting),
        "budget": pl.lit(None, pl.Int64),
    }
    table = gap_table(
        public.results.with_columns(**names), private.results.with_columns(**names)
    )
    overall = table.filter(pl.col("rung").is_null()).row(-1, named=True)
    return {name: overall[name] for name in _GAP}
