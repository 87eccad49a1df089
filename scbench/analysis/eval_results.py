"""Files for ``.eval_results/`` in a model's repository, from which the Hub shows scores.

The keys are the ones that huggingface_hub reads and writes (``EvalResultEntry``). The
Hub knows the tasks by the names in the release's ``eval.yaml``: ``default`` for all,
and one for each bucket.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from scbench.analysis.sheets import rounded
from scbench.base.errors import ResultsError
from scbench.base.model import OneShot
from scbench.base.wording import counted
from scbench.formats.exports import Run
from scbench.grading.score_tables import OVERALL, headline
from scbench.release.load import Release

# ORG/NAME with the characters that the Hub allows.
_DATASET = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


class HubScore(NamedTuple):
    """A score that the Hub shows.

    Attributes:
        normalized: the score, from 0 to 1.
        mean: the mean of all scores, for the notes.
    """

    normalized: float
    mean: float


def run_results(run: Run, release: Release, dataset: str) -> str:
    """Return the text of the file of a run.

    Args:
        run: the run with all its answers.
        release: the release that was graded against.
        dataset: ORG/NAME on the Hub.

    Raises:
        ResultsError: the run is in a loop, uses a config other than the default, or has
            missing items or scores.
    """
    if run.setting is None or run.setting not in get_args(OneShot):
        raise ResultsError(
            f"{run.name}: the Hub's board shows only runs with one answer per item, not runs with "
            f"the setting {run.setting}"
        )
    if release.manifest.config:
        raise ResultsError(
            f"{run.name}: the Hub's board is for the default config, not for "
            f"{release.manifest.config}"
        )
    answered_ids = {trial.instance.id for trial in run.tries}
    not_asked = release.instances().keys() - answered_ids
    if not_asked:
        raise ResultsError(
            f"{run.name}: the Hub's board needs every item, but the results do not "
            f"include {counted(len(not_asked), 'item')}, such as {min(not_asked)}"
        )
    values: dict[str, HubScore] = {}
    for line in run.lines:
        if line["mean"] is None or line["coverage"] < 1:
            raise ResultsError(
                f"{run.name}: the Hub's board needs all scores, but the coverage of "
                f"{line['bucket']} is {line['coverage']:.1%}"
            )
        score = headline(line)
        # It is missing if no answer has room above its floor.
        if score is not None:
            values[line["bucket"]] = HubScore(score, line["mean"])
    # The whole benchmark comes first.
    values = {OVERALL: values.pop(OVERALL), **values}
    notes = (
        f"normalized score; {run.setting.replace('_', '-')}; "
        f"scbench release {run.release}, results {run.key}"
    )
    return eval_results(dataset, values, run.date.strftime("%Y-%m-%d"), notes)


def eval_results(
    dataset: str,
    values: Mapping[str, HubScore],
    date: str,
    notes: str,
    *,
    revision: str | None = None,
    source: str | None = None,
) -> str:
    """Return the text of a file.

    Args:
        dataset: ORG/NAME on the Hub.
        values: scores by bucket, and for "overall".
        date: date of the answers.
        notes: notes on how the run was made.
        revision: revision of the data set.
        source: address of a page that shows the result.

    Raises:
        ResultsError: ``dataset`` is not a valid name.
    """
    import yaml  # noqa: PLC0415  (an extra)

    if not _DATASET.fullmatch(dataset):
        raise ResultsError(f"{dataset!r} is not the name of a dataset; use ORG/NAME")
    entries = []
    for name, score in values.items():
        place = {"id": dataset, "task_id": "default" if name == OVERALL else name}
        if revision:
            place["revision"] = revision
        value = float(rounded(100 * score.normalized))
        entry: dict[str, Any] = {"dataset": place, "value": value, "date": date}
        if source:
            entry["source"] = {"url": source, "name": "scbench"}
        entries.append(entry | {"notes": f"{notes}; mean {rounded(100 * score.mean)}"})
    text: str = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=100)
    return text
