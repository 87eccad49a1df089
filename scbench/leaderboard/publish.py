"""Atomic writing of the board: page, JSON, table, and files for the Hub.

The ``.eval_results`` files make the Hub show a model's scores on a dataset's board; see
`scbench.analysis.eval_results`.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scbench.analysis.eval_results import HubScore, eval_results
from scbench.base.errors import ResultsError
from scbench.base.model import LADDER
from scbench.base.wording import counted
from scbench.catalog import MANIFOLDS
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.board_table import flat_rows
from scbench.leaderboard.collect import BoardEntry
from scbench.leaderboard.page import render_board
from scbench.leaderboard.receipt import Receipt
from scbench.machine.files import write_whole

PAGE, JSON, PARQUET = "index.html", "leaderboard.json", "leaderboard.parquet"
# Folder of the files for the Hub.
HUB = "eval_results"


def write_board(
    out: Path,
    board: Mapping[str, Any],
    entries: Sequence[BoardEntry] = (),
    dataset: str | None = None,
) -> list[Path]:
    """Write a board into a folder, which is created if necessary, and return the files.

    Args:
        out: the folder.
        board: see `scbench.leaderboard.board.make_board`.
        entries: the entries for which files for the Hub are written.
        dataset: the dataset on the Hub, as ORG/NAME; None to write no such files.

    Raises:
        ResultsError: something cannot be written.
    """
    page = render_board(board)
    text = json.dumps(board, indent=1, ensure_ascii=False) + "\n"
    table = flat_rows(board)
    files = [out / PAGE, out / JSON, out / PARQUET]
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_text(out / JSON, text)
        write_whole(
            out / PARQUET, lambda part: table.write_parquet(part, compression="zstd")
        )
        # The page comes last, because it links to the other files.
        write_text(out / PAGE, page)
        if dataset is not None:
            (out / HUB).mkdir(exist_ok=True)
            for entry in entries:
                if entry.ranked and entry.receipt.tasks_of != LADDER:
                    path = out / HUB / f"{entry.name}.yaml"
                    files.append(path)
                    write_text(path, hub_results(entry.receipt, dataset))
    except OSError as error:
        raise ResultsError(f"cannot write to {out}: {error.strerror}") from None
    return files


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    write_whole(path, lambda part: part.write_text(text, "utf-8"))


def hub_results(
    receipt: Receipt,
    dataset: str,
    *,
    revision: str | None = None,
    source: str | None = None,
) -> str:
    """Return the text of a file for ``.eval_results/`` of a model's repository.

    Args:
        receipt: receipt with the scores.
        dataset: ORG/NAME on the Hub.
        revision: revision of the dataset.
        source: address of a page that shows the result.

    Raises:
        ResultsError: the dataset's board cannot show the result (missing scores, or ladder scores),
            or ``dataset`` is not a valid name.
    """
    if receipt.tasks_of == LADDER:
        raise ResultsError(
            "the Hub's board has no levels; submit results of another config"
        )
    if not receipt.complete:
        overall = receipt.overall
        raise ResultsError(
            f"only {overall.scored} of {overall.expected} scores exist, and the Hub's "
            "board needs all of them"
        )
    notes = (
        f"normalized score; {receipt.setting.replace('_', '-')}; "
        f"scbench release {receipt.release.version}, "
        f"{counted(receipt.attempts, 'answer')} per instance, receipt {receipt.digest[:16]}"
    )
    names = [OVERALL, *sorted(receipt.buckets.keys() - {OVERALL})]
    if receipt.tasks_of == MANIFOLDS:
        # The default config has no text tasks.
        names.remove(OVERALL)
    values: dict[str, HubScore] = {}
    for name in names:
        score = receipt.buckets[name]
        # There is no normalized score if no answer has room above its floor.
        if score.normalized is not None:
            values[name] = HubScore(score.normalized, score.mean or 0.0)
    return eval_results(
        dataset, values, receipt.date, notes, revision=revision, source=source
    )
