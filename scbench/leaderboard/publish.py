"""Writing a board: page, JSON, Parquet, and the files for the Hub, each whole or not at all."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scbench.base.errors import ResultsError
from scbench.base.model import LADDER
from scbench.leaderboard.board import flat_rows
from scbench.leaderboard.collect import BoardEntry
from scbench.leaderboard.hub_results import hub_results
from scbench.leaderboard.page import render_board
from scbench.machine.files import write_whole

PAGE, JSON, PARQUET = "index.html", "leaderboard.json", "leaderboard.parquet"
HUB = "eval_results"


def write_board(
    out: Path,
    board: Mapping[str, Any],
    entries: Sequence[BoardEntry] = (),
    dataset: str | None = None,
) -> list[Path]:
    """Write a board into a folder, and return the files.

    Args:
        out: the folder, which is made if it is not there.
        board: as `scbench.leaderboard.board.make_board` gives it.
        entries: those to write files for the Hub for.
        dataset: ORG/NAME of the data set on the Hub; None for no such files.

    Raises:
        ResultsError: something cannot be written.
    """
    page = render_board(board)
    text = json.dumps(board, indent=1, ensure_ascii=False) + "\n"
    table = flat_rows(board)
    files = [out / name for name in (PAGE, JSON, PARQUET)]
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(files[1], lambda part: part.write_text(text, "utf-8"))
        write_whole(files[2], lambda part: table.write_parquet(part, compression="zstd"))
        write_whole(files[0], lambda part: part.write_text(page, "utf-8"))
        if dataset is not None:
            (out / HUB).mkdir(exist_ok=True)
        for entry in entries if dataset is not None else ():
            if entry.ranked and entry.receipt.tasks_of != LADDER:
                path = out / HUB / f"{entry.name}.yaml"
                files.append(path)
                _write(path, hub_results(entry.receipt, str(dataset)))
    except OSError as error:
        raise ResultsError(f"cannot write to {out}: {error.strerror}") from None
    return files


def _write(path: Path, text: str) -> None:
    write_whole(path, lambda part: part.write_text(text, "utf-8"))
