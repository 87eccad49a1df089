"""Reading results for analysis: what cannot be compared is refused, by name.

Nothing is guessed. A file with holes, duplicates, unknown tasks, impossible scores, or rows of two
releases or two versions of a grader ends with an error that says which.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from scbench.base.errors import ResultsError, did_you_mean
from scbench.base.model import DRAWN, LOOP_SETTINGS, SYMBOLS, Status, plain_id, style_of
from scbench.catalog import MANIFOLDS, all_tasks
from scbench.grading.means import RUN
from scbench.grading.output import SUMMARY
from scbench.grading.rows.columns import column_types
from scbench.grading.summary import fingerprints_in
from scbench.machine.children import checked_parquet
from scbench.release.load import config_of, find_release, installed_releases
from scbench.release.manifest import PLUS_PICTURES, PLUS_TERSE, own_name
from scbench.release.sources import read_manifest

# Columns that tell scores of one sample of a run apart.
ITEM = ("id", "subtask")

# Columns that every analysis needs.
NEEDED = (
    *("id", "task", "bucket", "subtask", "model", "setting", "sample", "budget"),
    *("status", "score", "instance_hash", "grader_version", "release", "release_hash"),
)

# Columns that results of earlier versions lack; they are null there.
NEWER = (
    *("floor", "run_metadata", "prompt_sha256", "reasoning_characters"),
    *("loop", "turn_scores", "turn_floors", "best_score", "queries"),
)
# Ends the name of a model whose answers to terse prompts stand beside those to full
# ones.
ON_TERSE = " (terse prompts)"
# The same where the data of prompts was in pictures, by their style.
ON_PICTURES = {DRAWN: " (pictures)", SYMBOLS: " (pictures of symbols)"}

_MAX_NAMES = 5
# Scores of binary tasks may differ from 0 and 1 by the rounding of a sum.
_EXACT = 1e-9
# Which rows are of terse prompts, or of pictures.
_REWORDED = pl.col("release").str.ends_with(PLUS_TERSE) | pl.col(
    "release"
).str.ends_with(PLUS_PICTURES)


def _columns_of(kind: Any, *names: str) -> dict[str, Any]:  # noqa: ANN401
    """Return the types of columns, of names with blanks between."""
    return dict.fromkeys(" ".join(names).split(), kind)


texts, counts, figures = (
    partial(_columns_of, kind) for kind in (pl.String, pl.Int64, pl.Float64)
)
"""Types of columns of texts, of whole numbers and of numbers."""
# Columns that tell runs apart.
RUN_TYPES = texts("model setting") | counts("budget")
# Columns that tell the lines of a table apart, and what a line is over.
LINE_TYPES = texts("bucket task over")


def read_results(
    paths: str | Path | Iterable[str | Path],
    columns: Sequence[str] = (),
    *,
    partial: bool = False,
    tell_apart: bool = False,
    both_prompts: bool = False,
) -> pl.DataFrame:
    """Return the rows of one or more results files, checked to belong together.

    Args:
        paths: ``results.parquet`` files, or the folders that hold them; or one of those.
        columns: more columns of the results to read besides `NEEDED`.
        partial: whether tasks may lack as a whole, even if ``summary.json`` does not say that the
            predictions were graded as such.
        tell_apart: give a run that is in several files the name of the file as well; without it,
            that is an error.
        both_prompts: accept results of terse prompts, or of pictures, beside those of full ones.
            Their ids are then those of the full prompts, and their models' names end in `ON_TERSE`
            or one of `ON_PICTURES`; rows that the full prompts have no twin of are left out.

    Returns:
        Columns `NEEDED`, floor and ``columns``, in the order of the files. Rows whose instance the
        release does not hold are left out.

    Raises:
        ResultsError: see `check_results`; or a file cannot be read or is no results file.
    """
    needed = tuple(dict.fromkeys((*NEEDED, "floor", *columns)))
    if isinstance(paths, str | Path):
        paths = [paths]
    frames = {str(path): _read_results_file(Path(path), needed) for path in paths}
    if not frames:
        raise ResultsError("name at least one results file")
    partial = partial or any(map(_meant_partial, frames))
    if both_prompts:
        frames = _by_prompt(frames, partial=partial)
    results = pl.concat(_told_apart(frames) if tell_apart else frames.values())
    own = results.filter(~_REWORDED) if both_prompts else results
    if 0 < own.height < results.height:
        check_results(own, partial=partial)
        results = _of_one_release(results, own["release"][0])
    else:
        check_results(results, partial=partial)
    return results.filter(pl.col("instance_hash").is_not_null())


def config_in(path: str | Path) -> str:
    """Return the config that the results in a file are of; empty for the default.

    Raises:
        ResultsError: it cannot be read or is no results file.
    """
    releases = _read_results_file(Path(path), ("release",))["release"]
    return config_of(releases[0]) if len(releases) else ""


def _read_results_file(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    file = path / "results.parquet" if path.is_dir() else path
    if not file.is_file():
        below = sorted(
            results.parent.name for results in path.glob("*/results.parquet")
        )
        if below:
            raise ResultsError(
                f"{path} holds no results itself, but folders that do ({', '.join(below[:5])}); "
                f"name those you want, or all: {path}/*"
            )
        raise ResultsError(
            f"no such file: {file}; scbench-grade writes one into its --out folder"
        )
    with file.open("rb") as opened:
        is_parquet = opened.read(4) == b"PAR1"
    if not is_parquet:
        raise ResultsError(
            f"{file} holds no results (it is no Parquet file); if it holds predictions, grade it "
            f"first: scbench-grade {file}"
        )
    schema = column_types()
    with checked_parquet(file, ResultsError) as lazy:
        stored = lazy.collect_schema()
        absent = [name for name in columns if name not in stored and name in NEWER]
        lacking = [name for name in columns if name not in stored and name not in NEWER]
        if lacking:
            raise ResultsError(
                f"{file} is no results file: it has no column {lacking[0]!r}"
            )
        frame = lazy.select(name for name in columns if name in stored).collect()
        frame = frame.with_columns(pl.lit(None).alias(name) for name in absent).select(
            columns
        )
    for name in columns:
        if frame.schema[name] not in {schema[name], pl.Null}:
            raise ResultsError(
                f"{file}: column {name!r} is {frame.schema[name]}, must be {schema[name]}"
            )
    return frame.cast({name: schema[name] for name in columns})


def _meant_partial(path: str) -> bool:
    """Return whether predictions were graded as some of all, which their summary says."""
    folder = Path(path) if os.path.isdir(path) else Path(path).parent  # noqa: PTH112
    try:
        return bool(json.loads((folder / SUMMARY).read_bytes())["partial"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _by_prompt(
    frames: dict[str, pl.DataFrame], *, partial: bool
) -> dict[str, pl.DataFrame]:
    """Bring results of other prompts to the ids of the full ones, if there are both."""
    own = pl.concat(
        [frame.filter(~_REWORDED).select("id") for frame in frames.values()]
    )
    if own.is_empty():
        return frames
    ids = set(own["id"])
    out = {}
    for path, frame in frames.items():
        if frame.filter(_REWORDED).is_empty():
            out[path] = frame
            continue
        check_results(frame, partial=partial)
        known = {
            name: (plain_id(name), _prompt_words(name)) for name in frame["id"].unique()
        }
        plain, words = (
            pl.col("id").replace_strict({name: pair[i] for name, pair in known.items()})
            for i in (0, 1)
        )
        renamed = frame.with_columns(id=plain, model=pl.col("model") + words)
        out[path] = renamed.filter(pl.col("id").is_in(ids))
    return out


def _prompt_words(row_id: str) -> str:
    """Return what the name of a model ends in whose answer has this id."""
    style = style_of(row_id)
    return (
        ON_PICTURES[style] if style else ON_TERSE if plain_id(row_id) != row_id else ""
    )


def _of_one_release(results: pl.DataFrame, release: str) -> pl.DataFrame:
    """Return results of several prompts, each checked by itself, as those of one release."""
    named = results.with_columns(
        release=pl.when(
            _REWORDED & pl.col("release").str.starts_with(own_name(release))
        )
        .then(pl.lit(release))
        .otherwise("release")
    )
    rows = named.filter(pl.col("instance_hash").is_not_null())
    _one_release(rows)
    one_grader(rows)
    _nothing_twice(rows)
    return named


def _told_apart(frames: Mapping[str, pl.DataFrame]) -> list[pl.DataFrame]:
    """Add the path to the model's name, for runs that more than one file holds."""
    runs = pl.concat([frame.select(RUN).unique() for frame in frames.values()])
    twice = (
        runs.filter(runs.is_duplicated())
        .unique()
        .with_columns(twice=pl.lit(value=True))
    )
    return [
        frame.join(twice, on=RUN, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            model=pl.when("twice")
            .then(pl.concat_str("model", pl.lit(f" ({path})")))
            .otherwise("model")
        )
        .drop("twice")
        for path, frame in frames.items()
    ]


def kept_apart(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that may share a mean over runs: no trials of a loop beside other answers.

    Raises:
        ResultsError: there are trials of several settings, and nothing else.
    """
    at_once = results.filter(
        ~pl.col("setting").is_in(LOOP_SETTINGS).fill_null(value=False)
    )
    if not at_once.is_empty():
        return at_once
    settings = sorted(results["setting"].unique())
    if len(settings) > 1:
        raise ResultsError(
            f"the results are of the settings {', '.join(settings)}, which share no mean; name "
            "results of one of them"
        )
    return results


def machines(results: pl.DataFrame) -> list[str]:
    """Return a sentence for each task that runs were judged on by machines that compute otherwise.

    Args:
        results: columns of a run, task and metrics.
    """
    remarks = []
    for task in fingerprints_in(results.lazy()):
        runs: dict[str, set[str]] = {}
        for run, part in results.filter(task=task).group_by(RUN, maintain_order=True):
            for name in fingerprints_in(part.lazy()).get(task, ()):
                runs.setdefault(name, set()).add(
                    " ".join(str(v) for v in run if v is not None)
                )
        if len(runs) > 1:
            places = "; ".join(
                f"{name}: {', '.join(sorted(of))}" for name, of in sorted(runs.items())
            )
            remarks.append(
                f"{task} was simulated on machines that compute differently, and scores may differ "
                f"for that alone ({places}). Grade all runs on one machine to compare them."
            )
    return remarks


def check_results(results: pl.DataFrame, *, partial: bool = False) -> None:
    """Refuse results that do not belong together or are not whole.

    Args:
        results: columns `NEEDED`.
        partial: whether tasks may lack as a whole.

    Raises:
        ResultsError: two releases, two versions of a grader, tasks that the catalogue does not
            know, a score given twice or not at all, one that cannot be, or one beside a status that
            has none.
    """
    rows = results.filter(pl.col("instance_hash").is_not_null())
    if rows.is_empty():
        raise ResultsError("the results hold no row of their release")
    _one_release(rows)
    _known_tasks(rows)
    one_grader(rows)
    _sound_scores(rows)
    _sound_statuses(rows)
    _nothing_twice(rows)
    _nothing_lost(rows, partial=partial)


def _one_release(rows: pl.DataFrame) -> None:
    releases = (
        rows.select("release", "release_hash").unique().sort("release", "release_hash")
    )
    if releases.height > 1:
        names = {own_name(name): name for name in releases["release"]}
        mixed = releases.filter(_REWORDED)["release"].to_list()
        if mixed and len(names) == 1 == releases["release_hash"].n_unique():
            what = (
                "of terse prompts" if mixed[0].endswith(PLUS_TERSE) else "of pictures"
            )
            raise ResultsError(
                f"the results are of full prompts and {what}, which share no table; `scbench "
                "compare` says what the difference is worth"
            )
        listed = ", ".join(f"{row[0]} ({row[1][:12]})" for row in releases.iter_rows())
        raise ResultsError(
            f"the results are of {releases.height} releases: {listed}; scores of different "
            "releases cannot be compared, grade all predictions against one"
        )


def _known_tasks(rows: pl.DataFrame) -> None:
    tasks = all_tasks()
    unknown = sorted(set(rows["task"].unique()) - tasks.keys())
    if unknown:
        raise ResultsError(
            f"unknown task {', '.join(map(repr, unknown[:_MAX_NAMES]))} in the results."
            f"{did_you_mean(unknown[0], tasks)}"
        )


def one_grader(rows: pl.DataFrame) -> None:
    """Refuse rows of a task that were graded by two versions of its grader.

    Raises:
        ResultsError: there are such; the message names them.
    """
    versions = rows.group_by("task").agg(pl.col("grader_version").unique().sort())
    mixed = versions.filter(pl.col("grader_version").list.len() > 1).sort("task")
    if mixed.height:
        names = "; ".join(
            f"{task} by versions {', '.join(map(str, numbers))}"
            for task, numbers in mixed.head(_MAX_NAMES).iter_rows()
        )
        raise ResultsError(
            f"the results were graded by different graders: {names}; grade them anew with one "
            "version of scbench"
        )


def _refuse_rows(bad: pl.DataFrame, message: str) -> None:
    """Refuse rows that cannot be: the message is filled in with their number and the first."""
    if bad.height:
        raise ResultsError(message.format(rows=bad.height, **bad.row(0, named=True)))


def _sound_scores(rows: pl.DataFrame) -> None:
    score = pl.col("score")
    binary = [task.id for task in all_tasks().values() if task.scoring == "binary"]
    is_partial = pl.col("task").is_in(binary) & ((score - score.round()).abs() > _EXACT)
    impossible = (~score.is_between(0.0, 1.0) | is_partial).fill_null(value=True)
    _refuse_rows(
        rows.filter(score.is_not_null() & impossible),
        "{rows} scores cannot be: {id} (subtask {subtask}) of model {model!r} has {score}",
    )
    if "floor" in rows.columns:
        _refuse_rows(
            rows.filter(~pl.col("floor").is_between(0.0, 1.0)),
            "{id} has the floor {floor}; a floor is from 0 to 1",
        )


def _sound_statuses(rows: pl.DataFrame) -> None:
    """A status that is scored must have a score, any other none: else coverage would be wrong."""
    scored = [status.value for status in Status if status.scored]
    fits = pl.col("status").is_in(scored) == pl.col("score").is_not_null()
    valid = pl.col("status").is_in([status.value for status in Status])
    _refuse_rows(
        rows.filter(~(fits & valid).fill_null(value=False)),
        "{rows} scores do not fit their status: {id} (subtask {subtask}) of model {model!r} is "
        "{status!r} with the score {score}",
    )


def _nothing_twice(rows: pl.DataFrame) -> None:
    key = [*RUN, "sample", *ITEM]
    # Rows with different hashes are different, and hashes are quickly counted.
    if rows.select(key).hash_rows().n_unique() == rows.height:
        return
    _refuse_rows(
        rows.group_by(key).len().filter(pl.col("len") > 1).sort(key),
        "{rows} scores are there more than once: {id} (subtask {subtask}, sample {sample}) of "
        "model {model!r} {len} times; is a file named twice, or a model's name used for two runs?",
    )


def _nothing_lost(rows: pl.DataFrame, *, partial: bool) -> None:
    """Every sample of every run must have a row, scored or not, for every score expected."""
    occurring = rows.select("task", *ITEM).unique().group_by("task").len()
    expected = expected_scores(rows) or dict(occurring.iter_rows())
    runs = rows.group_by(*RUN, "sample", "task").agg(found=pl.len().cast(pl.Int64))
    counts = pl.col("task").replace_strict(expected, default=0, return_dtype=pl.Int64)
    short = runs.with_columns(expected=counts).filter(
        pl.col("found") != pl.col("expected")
    )
    if short.height:
        row = short.sort(*RUN, "sample", "task").row(0, named=True)
        raise ResultsError(
            f"the results have holes: of {row['task']}, sample {row['sample']} of model "
            f"{row['model']!r} has {row['found']} of {row['expected']} scores"
            + (
                f", and there are {short.height - 1} more such gaps"
                if short.height > 1
                else ""
            )
        )
    # Text tasks are graded when they are asked for, so a run may be without them.
    spatial = {task for task in expected if all_tasks()[task].bucket != MANIFOLDS}
    required = spatial or expected.keys()
    for row in (
        runs.group_by(*RUN, "sample")
        .agg("task")
        .sort(*RUN, "sample")
        .iter_rows(named=True)
    ):
        present = set(row["task"])
        lacking = (
            sorted(required - present) if present & required else []
        )  # text tasks may stand alone
        if lacking and not partial:
            further = (
                f" and {len(lacking) - _MAX_NAMES} more"
                if len(lacking) > _MAX_NAMES
                else ""
            )
            raise ResultsError(
                f"sample {row['sample']} of model {row['model']!r} has no row of "
                f"{', '.join(lacking[:_MAX_NAMES])}{further}, and no {SUMMARY} beside the "
                "results says that this is intended; grade with --partial, or with --tasks"
            )


def release_weights(rows: pl.DataFrame) -> dict[str, float]:
    """Return the weights of tasks in the rows' release; empty if it is not installed."""
    if rows.is_empty() or not expected_scores(rows):
        return {}
    version = rows["release"][0]
    return find_release(own_name(version)).fitting(version).weights()


def expected_scores(rows: pl.DataFrame) -> dict[str, int]:
    """Return the number of scores by task of the rows' release; empty if it is not installed."""
    release, release_hash = rows.select("release", "release_hash").row(0)
    folder = installed_releases().get(own_name(release))
    manifest = read_manifest(folder) if folder else None
    if manifest is None or manifest.rows_hash != release_hash:
        return {}
    if config_of(release):
        manifest = manifest.of_config(config_of(release))
    return {task: record.scores for task, record in manifest.tasks.items()}
