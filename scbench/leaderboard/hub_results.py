"""The ``.eval_results`` file that makes the Hub show a model's scores on a data set's board.

Its keys are those that huggingface_hub reads and writes (``EvalResultEntry``). The Hub knows the
tasks by the names in the release's ``eval.yaml``: ``default`` for all, and one for each bucket.
"""

import re
from typing import Any

import yaml

from scbench.base.errors import ResultsError
from scbench.base.model import LADDER
from scbench.catalog import MANIFOLDS
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.receipt import Receipt

_DATASET = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


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
    shown = dict(sorted(receipt.buckets.items(), key=lambda pair: _order(pair[0])))
    if receipt.tasks_of == MANIFOLDS:
        del shown[OVERALL]  # the default config has no text tasks
    for name, score in shown.items():
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


def _order(bucket: str) -> tuple[bool, str]:
    return bucket != OVERALL, bucket
