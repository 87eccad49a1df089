"""Writing a board: page, JSON, Parquet, and the files for the Hub, each whole or not at all.

Keys of the ``.eval_results`` files, which make the Hub show a model's scores on a data set's board,
are those that huggingface_hub reads and writes (``EvalResultEntry``). The Hub knows the tasks by
the names in the release's ``eval.yaml``: ``default`` for all, and one for each bucket.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from scbench.base.errors import ResultsError
from scbench.base.model import LADDER
from scbench.catalog import MANIFOLDS
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.board import flat_rows
from scbench.leaderboard.collect import BoardEntry
from scbench.leaderboard.grade import Receipt
from scbench.leaderboard.page import render_board
from scbench.machine.files import write_whole

_DATASET = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
PAGE, JSON, PARQUET = "index.html", "leaderboard.json", "leaderboard.parquet"
HUB = "eval_results"


def hub_results(
    receipt: Receipt, dataset: str, *, revision: str | None = None, source: str | None = None
) -> str:
    """Return the text of a file for ``.eval_results/`` of a model's repository.

    Args:
        receipt: of a submission with full coverage.
        dataset: ORG/NAME of the data set on the Hub that holds the release.
        revision: its Git revision, if it is to be named.
        source: address of a page that shows the result, such as the board or the report.

    Raises:
        ResultsError: scores are missing, or are of the ladder, so that the data set's board cannot
            take the result; or ``dataset`` is no name.
    """
    if not _DATASET.fullmatch(dataset):
        raise ResultsError(f"{dataset!r} is not the name of a data set; name it as ORG/NAME")
    if receipt.tasks_of == LADDER:
        raise ResultsError("the Hub's board has means of the other configs, and no levels")
    if not receipt.complete:
        overall = receipt.overall
        raise ResultsError(
            f"only {overall.scored} of {overall.expected} scores are there, and the Hub's board "
            "takes means over all of them"
        )
    notes = (
        f"{receipt.setting.replace('_', '-')}; scbench release {receipt.release.version}, "
        f"{receipt.attempts} answer(s) per instance, receipt {receipt.digest[:16]}"
    )
    entries: list[dict[str, Any]] = []
    ordered = dict(sorted(receipt.buckets.items(), key=lambda pair: (pair[0] != OVERALL, pair[0])))
    if receipt.tasks_of == MANIFOLDS:
        del ordered[OVERALL]  # the default config has no text tasks
    for name, score in ordered.items():
        where = {"id": dataset, "task_id": "default" if name == OVERALL else name}
        entries.append(
            {
                "dataset": where | ({"revision": revision} if revision else {}),
                "value": round(100 * (score.mean or 0.0), 1),
                "date": receipt.date,
                **({"source": {"url": source, "name": "scbench"}} if source else {}),
                "notes": notes,
            }
        )
    return yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=100)


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
        _write_file(files[1], text)
        write_whole(files[2], lambda part: table.write_parquet(part, compression="zstd"))
        _write_file(files[0], page)
        if dataset is not None:
            (out / HUB).mkdir(exist_ok=True)
        for entry in entries if dataset is not None else ():
            if entry.ranked and entry.receipt.tasks_of != LADDER:
                path = out / HUB / f"{entry.name}.yaml"
                files.append(path)
                _write_file(path, hub_results(entry.receipt, str(dataset)))
    except OSError as error:
        raise ResultsError(f"cannot write to {out}: {error.strerror}") from None
    return files


def _write_file(path: Path, text: str) -> None:
    write_whole(path, lambda part: part.write_text(text, "utf-8"))
