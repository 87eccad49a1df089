"""Reads results for analysis, and rejects results that are not comparable.

Missing rows, duplicates, unknown tasks, impossible scores, and rows of two releases or
grader versions raise errors that name the cause.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from scbench.analysis.columns import ITEM
from scbench.analysis.prompts import is_reworded, prompt_words
from scbench.analysis.result_files import is_partial, read_results_file
from scbench.base.errors import ResultsError, did_you_mean
from scbench.base.model import LOOP_SETTINGS, Status, plain_id
from scbench.catalog import MANIFOLDS, all_tasks
from scbench.grading.means import RUN
from scbench.grading.output import SUMMARY
from scbench.grading.summary import fingerprints_in
from scbench.release.load import (
    config_of,
    installed_releases,
    release_in_results,
)
from scbench.release.manifest import PLUS_TERSE, own_name
from scbench.release.sources import read_manifest

# Columns that every analysis needs.
NEEDED = (
    "id",
    "task",
    "bucket",
    "subtask",
    "model",
    "setting",
    "sample",
    "budget",
    "status",
    "score",
    "instance_hash",
    "grader_version",
    "release",
    "release_hash",
)

# Maximum number of names in a message.
_MAX_NAMES = 5
# Scores of binary tasks may differ from 0 and 1 by the rounding error of a sum.
_EXACT = 1e-9


def read_results(
    paths: str | Path | Iterable[str | Path],
    columns: Sequence[str] = (),
    *,
    partial: bool = False,
    add_file_names: bool = False,
    both_prompts: bool = False,
) -> pl.DataFrame:
    """Return the rows of one or more results files, checked to belong together.

    Args:
        paths: ``results.parquet`` files, or the folders that contain them; or a single
            one.
        columns: columns of the results to read in addition to `NEEDED`.
        partial: whether whole tasks may be missing, even if ``summary.json`` does not say that the
            predictions were graded as such.
        add_file_names: add the file's name to a run that is in several files; otherwise
            this is an error.
        both_prompts: accept results for terse prompts or pictures in addition to full
            prompts. They then have the ids of the full prompts, and their models' names
            end in `scbench.analysis.prompts.ON_TERSE` or one of `ON_PICTURES`; rows
            without a counterpart for full prompts are left out.

    Returns:
        Columns `NEEDED`, floor and ``columns``, in the order of the files. Rows whose instance is
        not in the release are left out.

    Raises:
        ResultsError: see `check_results`; or a file cannot be read or is not a results file.
    """
    # Each once, in this order; floors are null in results of earlier versions.
    all_columns = tuple(dict.fromkeys((*NEEDED, "floor", *columns)))
    if isinstance(paths, str | Path):
        paths = [paths]
    frames = {str(path): read_results_file(Path(path), all_columns) for path in paths}
    if not frames:
        raise ResultsError("give at least one results file")
    # If one file is partial, the whole table is partial.
    partial = partial or any(is_partial(Path(path)) for path in frames)
    if both_prompts:
        frames = _with_full_ids(frames, partial=partial)
    results = pl.concat(_with_file_names(frames) if add_file_names else frames.values())
    # With both kinds of prompts, the full ones determine the expected items.
    full = results.filter(~is_reworded()) if both_prompts else results
    if 0 < full.height < results.height:
        check_results(full, partial=partial)
        results = _of_one_release(results, full["release"][0])
    else:
        check_results(results, partial=partial)
    # A row with an unknown id has no hash.
    return results.filter(pl.col("instance_hash").is_not_null())


def config_in(path: str | Path) -> str:
    """Return the config of the results in a file; empty for the default.

    Raises:
        ResultsError: the file cannot be read or is not a results file.
    """
    releases = read_results_file(Path(path), ("release",))["release"]
    return config_of(releases[0]) if len(releases) else ""


def _with_full_ids(
    frames: dict[str, pl.DataFrame], *, partial: bool
) -> dict[str, pl.DataFrame]:
    """Give results for other prompts the ids of the full ones, if both are present."""
    full = [frame.filter(~is_reworded()).select("id") for frame in frames.values()]
    ids = set(pl.concat(full)["id"])
    if not ids:
        return frames
    renamed = {}
    for path, frame in frames.items():
        if frame.filter(is_reworded()).is_empty():
            renamed[path] = frame
            continue
        # Checked here, because rows without a twin are removed below.
        check_results(frame, partial=partial)
        names = frame["id"].unique()
        row_id = pl.col("id")
        full_id = row_id.replace_strict({name: plain_id(name) for name in names})
        suffix = row_id.replace_strict({name: prompt_words(name) for name in names})
        rows = frame.with_columns(id=full_id, model=pl.col("model") + suffix)
        renamed[path] = rows.filter(row_id.is_in(ids))
    return renamed


def _with_file_names(frames: Mapping[str, pl.DataFrame]) -> list[pl.DataFrame]:
    """Add the path to the model's name, for runs that are in more than one file."""
    runs = pl.concat([frame.select(RUN).unique() for frame in frames.values()])
    # A run is unique in each file, so duplicates are in several files.
    repeated = runs.filter(runs.is_duplicated()).unique()
    repeated = repeated.with_columns(is_repeated=pl.lit(value=True))
    renamed = []
    for path, frame in frames.items():
        with_path = pl.concat_str("model", pl.lit(f" ({path})"))
        rows = frame.join(
            repeated, on=RUN, how="left", nulls_equal=True, maintain_order="left"
        )
        model = pl.when("is_repeated").then(with_path).otherwise("model")
        renamed.append(rows.with_columns(model=model).drop("is_repeated"))
    return renamed


def _of_one_release(results: pl.DataFrame, release: str) -> pl.DataFrame:
    """Return results for several kinds of prompts, each checked separately, as one release."""
    is_twin = is_reworded() & pl.col("release").str.starts_with(own_name(release))
    name = pl.when(is_twin).then(pl.lit(release)).otherwise("release")
    renamed = results.with_columns(release=name)
    rows = renamed.filter(pl.col("instance_hash").is_not_null())
    check_release(rows)
    check_grader_versions(rows)
    check_duplicates(rows)
    return renamed


def comparable_rows(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that may share a mean: without loop trials, if there are other answers.

    Raises:
        ResultsError: there are only loop trials, of several settings.
    """
    is_trial = pl.col("setting").is_in(LOOP_SETTINGS).fill_null(value=False)
    # A trial has several answers, so its mean has a different meaning.
    single_answers = results.filter(~is_trial)
    if not single_answers.is_empty():
        return single_answers
    settings = sorted(results["setting"].unique())
    if len(settings) > 1:
        raise ResultsError(
            f"the results have different settings ({', '.join(settings)}), which cannot be "
            "averaged together; give results of only one setting"
        )
    return results


def machine_warnings(results: pl.DataFrame) -> list[str]:
    """Return a warning for each task graded on machines that compute differently.

    Args:
        results: columns of a run, task and metrics.
    """
    remarks = []
    for task in fingerprints_in(results.lazy()):
        runs_of_machine: dict[str, set[str]] = {}
        by_run = results.filter(task=task).group_by(RUN, maintain_order=True)
        for run, rows in by_run:
            name = " ".join(str(value) for value in run if value is not None)
            for machine in fingerprints_in(rows.lazy()).get(task, ()):
                runs_of_machine.setdefault(machine, set()).add(name)
        # All runs were graded on machines that compute the same results.
        if len(runs_of_machine) < 2:
            continue
        machines_with_runs = "; ".join(
            f"{machine}: {', '.join(sorted(names))}"
            for machine, names in sorted(runs_of_machine.items())
        )
        remarks.append(
            f"{task} was simulated on machines that compute differently, so scores may differ "
            f"for this reason alone ({machines_with_runs}). Grade all runs on one machine to "
            "compare them."
        )
    return remarks


def check_results(results: pl.DataFrame, *, partial: bool = False) -> None:
    """Reject results that are incomplete or cannot be combined.

    Args:
        results: columns `NEEDED`.
        partial: whether whole tasks may be missing.

    Raises:
        ResultsError: two releases, two versions of a grader, tasks that the catalogue does not
            know, a duplicate or missing score, an impossible score, or a score with an
            unscored status.
    """
    rows = results.filter(pl.col("instance_hash").is_not_null())
    if rows.is_empty():
        raise ResultsError("the results contain no item of their release")
    check_release(rows)
    check_tasks(rows)
    check_grader_versions(rows)
    check_scores(rows)
    check_statuses(rows)
    check_duplicates(rows)
    check_holes(rows, partial=partial)


def check_release(rows: pl.DataFrame) -> None:
    """Refuse rows from more than one release.

    Raises:
        ResultsError: the rows come from more than one release.
    """
    releases = rows.select("release", "release_hash").unique()
    if releases.height <= 1:
        return
    releases = releases.sort("release", "release_hash")
    release_names = {own_name(name) for name in releases["release"]}
    # Configs of one release have the same hash and different names.
    reworded = releases.filter(is_reworded())["release"].to_list()
    is_one_release = (
        len(release_names) == 1 and releases["release_hash"].n_unique() == 1
    )
    if reworded and is_one_release:
        is_terse = reworded[0].endswith(PLUS_TERSE)
        prompts = "terse prompts" if is_terse else "pictures"
        raise ResultsError(
            f"the results are for full prompts and {prompts}, which cannot share a table; use "
            "`scbench compare`"
        )
    names = ", ".join(
        f"{release} ({digest[:12]})" for release, digest in releases.iter_rows()
    )
    raise ResultsError(
        f"the results are from {releases.height} releases: {names}; scores on different "
        "releases are not comparable, so grade all predictions against one release"
    )


def check_tasks(rows: pl.DataFrame) -> None:
    """Refuse rows of tasks that are not in the catalogue.

    Raises:
        ResultsError: a row has a task that is not in the catalogue.
    """
    tasks = all_tasks()
    unknown = sorted(set(rows["task"].unique()) - tasks.keys())
    if unknown:
        raise ResultsError(
            f"unknown task {', '.join(map(repr, unknown[:_MAX_NAMES]))} in the results."
            f"{did_you_mean(unknown[0], tasks)}"
        )


def check_grader_versions(rows: pl.DataFrame) -> None:
    """Refuse rows of a task that were graded by two versions of its grader.

    Raises:
        ResultsError: a task has such rows; the message names the versions.
    """
    versions = rows.group_by("task").agg(pl.col("grader_version").unique().sort())
    mixed = versions.filter(pl.col("grader_version").list.len() > 1).sort("task")
    if mixed.height:
        names = "; ".join(
            f"{task} by versions {', '.join(map(str, numbers))}"
            for task, numbers in mixed.head(_MAX_NAMES).iter_rows()
        )
        raise ResultsError(
            f"the results were graded by different grader versions: {names}; grade them again with "
            "one version of scbench"
        )


def refuse_rows(bad: pl.DataFrame, message: str) -> None:
    """Reject impossible rows; the message has their number and the first of them."""
    if bad.height:
        raise ResultsError(message.format(rows=bad.height, **bad.row(0, named=True)))


def check_scores(rows: pl.DataFrame) -> None:
    """Reject impossible scores and floors.

    Raises:
        ResultsError: a score or floor is impossible.
    """
    score = pl.col("score")
    binary = [task.id for task in all_tasks().values() if task.scoring == "binary"]
    is_fraction = (score - score.round()).abs() > _EXACT
    is_wrong_fraction = pl.col("task").is_in(binary) & is_fraction
    is_outside = ~score.is_between(0.0, 1.0)
    # Scores that cannot be compared (NaN) are impossible, too.
    is_impossible = (is_outside | is_wrong_fraction).fill_null(value=True)
    refuse_rows(
        rows.filter(score.is_not_null() & is_impossible),
        "impossible scores ({rows}): {id} (subtask {subtask}) of model {model!r} has the score "
        "{score}",
    )
    if "floor" in rows.columns:
        refuse_rows(
            rows.filter(~pl.col("floor").is_between(0.0, 1.0)),
            "{id} has the floor {floor}; a floor must be from 0 to 1",
        )


def check_statuses(rows: pl.DataFrame) -> None:
    """Reject scores that contradict their status, because coverage would be wrong."""
    scored = [status.value for status in Status if status.scored]
    has_fitting_status = pl.col("status").is_in(scored) == pl.col("score").is_not_null()
    is_known = pl.col("status").is_in([status.value for status in Status])
    is_right = (has_fitting_status & is_known).fill_null(value=False)
    refuse_rows(
        rows.filter(~is_right),
        "scores that contradict their status ({rows}): {id} (subtask {subtask}) of model "
        "{model!r} has the status {status!r} but the score {score}",
    )


def check_duplicates(rows: pl.DataFrame) -> None:
    """Reject duplicate scores.

    Raises:
        ResultsError: a score occurs twice.
    """
    key = [*RUN, "sample", *ITEM]
    # Rows with different hashes are different, and counting hashes is fast.
    if rows.select(key).hash_rows().n_unique() == rows.height:
        return
    refuse_rows(
        rows.group_by(key).len().filter(pl.col("len") > 1).sort(key),
        "duplicate scores ({rows}): {id} (subtask {subtask}, sample {sample}) of model {model!r} "
        "occurs {len} times; is a file named twice, or do two runs have the same model name?",
    )


def check_holes(rows: pl.DataFrame, *, partial: bool) -> None:
    """Check that every sample of every run has a row, scored or not, for every expected score."""
    occurring = rows.select("task", *ITEM).unique().group_by("task").len()
    # Without the release, the scores of all runs together are expected.
    expected = expected_scores(rows) or dict(occurring.iter_rows())
    by_task = rows.group_by(*RUN, "sample", "task").agg(count=pl.len().cast(pl.Int64))
    expected_count = pl.col("task").replace_strict(
        expected, default=0, return_dtype=pl.Int64
    )
    with_expected = by_task.with_columns(expected=expected_count)
    holes = with_expected.filter(pl.col("count") != pl.col("expected"))
    if holes.height:
        row = holes.sort(*RUN, "sample", "task").row(0, named=True)
        further = ""
        if holes.height > 1:
            further = f" (more such gaps: {holes.height - 1})"
        raise ResultsError(
            f"the results are incomplete: sample {row['sample']} of model {row['model']!r} has "
            f"{row['count']} of {row['expected']} scores of {row['task']}{further}"
        )
    if partial:
        return
    # Text tasks are graded only on request, so a run may not have them.
    spatial = {task for task in expected if all_tasks()[task].bucket != MANIFOLDS}
    required = spatial or expected.keys()
    by_sample = by_task.group_by(*RUN, "sample").agg("task").sort(*RUN, "sample")
    for row in by_sample.iter_rows(named=True):
        present = set(row["task"])
        missing = sorted(required - present)
        # Text tasks may be graded alone.
        if not missing or not present & required:
            continue
        further = ""
        if len(missing) > _MAX_NAMES:
            further = f" and {len(missing) - _MAX_NAMES} more"
        raise ResultsError(
            f"sample {row['sample']} of model {row['model']!r} has no rows of "
            f"{', '.join(missing[:_MAX_NAMES])}{further}; if this is intended, grade with "
            f"--partial or --tasks, and keep {SUMMARY} next to the results"
        )


def release_weights(rows: pl.DataFrame) -> dict[str, float]:
    """Return the weights of tasks in the rows' release; empty if it is not installed."""
    # Weights of another release with the same name would be wrong.
    if rows.is_empty() or not expected_scores(rows):
        return {}
    version = rows["release"][0]
    return release_in_results(version).weights()


def expected_scores(rows: pl.DataFrame) -> dict[str, int]:
    """Return the number of scores by task of the rows' release; empty if it is not installed."""
    release, release_hash = rows.select("release", "release_hash").row(0)
    folder = installed_releases().get(own_name(release))
    manifest = read_manifest(folder) if folder else None
    if manifest is None or manifest.rows_hash != release_hash:
        return {}
    # The manifest of a release lists the default config.
    if config_of(release):
        manifest = manifest.of_config(config_of(release))
    return {task: record.scores for task, record in manifest.tasks.items()}
