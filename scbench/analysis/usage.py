"""Tokens, time and cost of runs per answer, and scores by token budget.

Tokens are as reported by the provider, including reasoning, and never estimated. A budget sweep
counts truncated, empty and unreadable answers separately from wrong ones.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import polars as pl

from scbench.analysis.columns import LINE_TYPES, RUN_TYPES, counts, figures, texts
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import Matrix, score_matrix
from scbench.analysis.runs import run_table
from scbench.analysis.sheets import (
    changes_of,
    interval_below,
    line_words,
    mean_cell,
    normalized_columns,
    number,
    points,
    run_words,
    share,
)
from scbench.base.errors import ResultsError
from scbench.base.finish_reasons import finish_status
from scbench.base.intervals import LEVEL
from scbench.base.model import Status
from scbench.grading.means import MEANS, RUN, means_of, usage

# Columns of the results that are needed in addition to
# `scbench.analysis.results.NEEDED`.
COLUMNS = ("usage", "finish_reason")
# The same, for a sweep of budgets.
SWEEP_COLUMNS = (*COLUMNS, "response_characters", "run_metadata", "prompt_sha256")

# Amounts per answer, and how they are printed.
_FORMS = {
    "input_tokens": ",.0f",
    "output_tokens": ",.0f",
    "reasoning_tokens": ",.0f",
    "seconds": ",.1f",
    "cost": ",.4f",
}
_AMOUNT_TYPES: dict[str, Any] = {}
for _name in _FORMS:
    _AMOUNT_TYPES |= figures(_name) | counts(f"{_name}_reported")
# Columns of `cost_table`.
SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | LINE_TYPES
    | counts("answers")
    | figures(*MEANS)
    | _AMOUNT_TYPES
    | figures("score_per_1000_tokens cut_off")
)

# Names of a line's figures in a sweep.
_SWEEP_NAMES = {name: name for name in MEANS} | {"mean": "accuracy"}
# Columns of shares in a sweep.
_SHARES = ("truncated", "empty", "cap_hit", "unparsed", "api_error")
# Columns of `budget_sweep`.
SWEEP_SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | texts("stated")
    | counts("n answers answered")
    | figures("coverage", *_SWEEP_NAMES.values(), "mean_output_tokens")
    | counts("token_observations")
    | figures(*_SHARES)
)


def was_cut_off() -> pl.Expr:
    """Whether the length limit ended the output."""
    reasons = pl.col("finish_reason").map_batches(_hit_a_limit, return_dtype=pl.Boolean)
    cut = reasons | (pl.col("status") == Status.TRUNCATED.value)
    return cut.fill_null(value=False)


def _hit_a_limit(reasons: pl.Series) -> pl.Series:
    # Providers name the limit differently, so each name is looked up once.
    limits = [
        word for word in reasons.unique() if finish_status(word) is Status.TRUNCATED
    ]
    return reasons.is_in(limits)


def was_answered() -> pl.Expr:
    """Whether the model was called and replied, even if cut off at a limit.

    A refusal or an unreadable answer is a reply; a prompt that was never sent, blocked or lost has
    none.
    """
    return pl.col("status").is_in([status.value for status in Status if status.scored])


def cost_table(results: pl.DataFrame) -> pl.DataFrame:
    """Return the usage of runs per answer, and the score per token.

    Args:
        results: as returned by `scbench.analysis.results.read_results`, with `COLUMNS`.

    Returns:
        One row per run, and per task, bucket and overall, with columns `SCHEMA`:

        - answers: lines with a reply; one answer may have several scores;
        - the figures of a line;
        - means of tokens, seconds and cost (US dollars) per answer, with the number of
          answers that report them;
        - score_per_1000_tokens: the sum of scores over the thousands of output tokens,
          both over answers that report output tokens;
        - cut_off: share of answers that the length limit ended.

    Raises:
        ResultsError: no row reports any usage.
    """
    if results["usage"].is_null().all():
        raise ResultsError(
            'no row reports usage; add the provider\'s usage to the predictions as "usage"'
        )
    matrix = score_matrix(results)
    amounts = {name: usage(name) for name in _FORMS}
    rows_of_answers = results.filter(was_answered()).with_columns(
        cut=was_cut_off(), **amounts
    )
    # An answer with several scores is paid for once.
    answers = (
        rows_of_answers.group_by(*RUN, "task", "sample", "id")
        .agg(pl.col("score").sort().sum(), pl.col("cut", *_FORMS).first())
        .sort(*RUN, "task", "sample", "id")
    )
    rows: list[dict[str, Any]] = []
    for r, run in enumerate(matrix.runs):
        labels = dict(zip(RUN, run, strict=True))
        rows += (labels | line for line in cost_lines(matrix, r, answers))
    return pl.DataFrame(rows, schema=SCHEMA)


def cost_lines(
    matrix: Matrix, run: int, answers: pl.DataFrame
) -> Iterator[dict[str, Any]]:
    """Yield the lines of a run.

    Args:
        matrix: matrix of the scores.
        run: position of the run.
        answers: answers of all runs.
    """
    names = matrix.runs[run]
    run_answers = answers.filter(
        pl.col(column).eq_missing(pl.lit(value))
        for column, value in zip(RUN, names, strict=True)
    )
    for bucket, task, tasks in matrix.lines("task"):
        line_answers = run_answers.filter(pl.col("task").is_in(tasks))
        if line_answers.is_empty():
            continue
        means = means_of([matrix.blocks[name] for name in tasks])
        row: dict[str, Any] = matrix.labels(bucket, task, run) | means.cells(run)
        row |= {"answers": line_answers.height, "cut_off": line_answers["cut"].mean()}
        for name in _FORMS:
            row[name] = line_answers[name].mean()
            row[f"{name}_reported"] = line_answers[name].count()
        # Scores of answers without token counts would raise the ratio.
        reporting = line_answers.filter(pl.col("output_tokens").is_not_null())
        tokens = float(reporting["output_tokens"].sum())
        if tokens:
            score = float(reporting["score"].sum())
            row["score_per_1000_tokens"] = 1000 * score / tokens
        yield row


def cost_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `cost_table`, without unreported amounts."""
    rows = frame.to_dicts()
    columns = [
        Column("model", run_words, is_words=True),
        Column("task", line_words, is_words=True),
        Column("answers", "answers"),
        *normalized_columns(),
        Column("mean", mean_cell),
    ]
    for name, form in _FORMS.items():
        if frame[f"{name}_reported"].sum():
            cell = partial(amount_cell, name, form)
            columns.append(Column(name.replace("_", " "), cell))
    columns += [
        Column("score / 1,000 tokens", number("score_per_1000_tokens", ".3f")),
        Column("cut off", share("cut_off")),
    ]
    breaks = changes_of([run_words(row) for row in rows])
    return sheet_of("Cost per answer", columns, rows, notes_of("cost"), breaks)


def amount_cell(name: str, form: str, row: Row) -> str:
    """Return an amount, with the number of answers that report it if some do not."""
    amount = number(name, form)(row)
    reported = row[f"{name}_reported"]
    if row[name] is None or reported >= row["answers"]:
        return amount
    return f"{amount}\nof {reported}"


def budget_sweep(results: pl.DataFrame, *, level: float = LEVEL) -> pl.DataFrame:
    """Return one point per model, setting and budget.

    Args:
        results: as returned by `scbench.analysis.results.read_results`, with `SWEEP_COLUMNS`; rows
            without a budget are left out.
        level: level of the intervals.

    Returns:
        Columns `SWEEP_SCHEMA`:

        - stated: whether the prompt stated the budget: yes, no, or null if unknown;
        - n and answers: rows and answers of the point; an answer may have several rows;
        - answered: answers with a reply;
        - coverage and the figures of a line; accuracy is the mean;
        - mean_output_tokens: over the token_observations answers that report them;
        - shares of the answered: truncated (the finish reason is a length limit), empty
          (no visible character), cap_hit (at least as many output tokens as the budget)
          and unparsed;
        - api_error: share of all answers.

        Rows are in order of model, setting and tokens used.

    Raises:
        ResultsError: no row has a budget.
    """
    rows = results.filter(pl.col("budget").is_not_null())
    if rows.is_empty():
        raise ResultsError(
            'no row has a budget; add the output-token limit to each prediction as "budget", and '
            'the provider\'s usage as "usage"'
        )
    stated = run_table(rows).select(*RUN, stated="budget_stated")
    tokens = usage("output_tokens")
    is_unparsed = pl.col("status") == Status.UNPARSED.value
    # An answer with several scores is paid for once.
    answers = rows.unique([*RUN, "task", "id", "sample"], maintain_order=True)
    points_of_sweep = answers.group_by(RUN).agg(
        answers=pl.len().cast(pl.Int64),
        answered=was_answered().sum().cast(pl.Int64),
        mean_output_tokens=tokens.mean(),
        token_observations=tokens.count().cast(pl.Int64),
        truncated=_share_of_answered(was_cut_off()),
        empty=_share_of_answered(is_silent()),
        cap_hit=_share_of_answered(tokens >= pl.col("budget")),
        unparsed=_share_of_answered(is_unparsed),
        api_error=(pl.col("status") == Status.API_ERROR.value).mean(),
    )
    sweep = (
        points_of_sweep.join(sweep_means(rows, level), on=RUN, nulls_equal=True)
        .join(stated, on=RUN, nulls_equal=True)
        .sort("model", "setting", "mean_output_tokens", "budget", nulls_last=True)
    )
    return sweep.select(list(SWEEP_SCHEMA))


def _share_of_answered(condition: pl.Expr) -> pl.Expr:
    return condition.fill_null(value=False).filter(was_answered()).mean()


def is_silent() -> pl.Expr:
    """Whether a reply has no visible character.

    A line without text is not an empty reply, unless it was cut off by the limit.
    """
    characters = pl.col("response_characters")
    is_truncated = pl.col("status") == Status.TRUNCATED.value
    return (characters == 0) | (characters.is_null() & is_truncated)


def sweep_means(rows: pl.DataFrame, level: float) -> pl.DataFrame:
    """Return rows, coverage and the figures of a line for each run, over all tasks together."""
    matrix = score_matrix(rows)
    totals = means_of(list(matrix.blocks.values()), level)
    means = []
    for r, run in enumerate(matrix.runs):
        cells: dict[str, Any] = dict(zip(RUN, run, strict=True))
        cells["n"] = int(totals.expected[r])
        cells["coverage"] = totals.scored[r] / totals.expected[r]
        for name, value in totals.cells(r).items():
            cells[_SWEEP_NAMES[name]] = value
        means.append(cells)
    types = RUN_TYPES | counts("n") | figures("coverage", *_SWEEP_NAMES.values())
    return pl.DataFrame(means, schema=types)


def budget_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `budget_sweep`."""
    columns = [
        Column("model", "model", is_words=True),
        Column("setting", "setting", is_words=True),
        Column("budget", number("budget", ",")),
        Column("stated", lambda row: row["stated"] or "-"),
        Column("N", "n"),
        *normalized_columns(),
        Column("mean", accuracy_cell),
        Column("mean tokens", number("mean_output_tokens", ",.1f")),
        Column("reported", lambda row: f"{row['token_observations']}/{row['answers']}"),
        Column("answered", "answered"),
    ]
    columns += [Column(name.replace("_", " "), share(name)) for name in _SHARES]
    return sheet_of(
        "Output-token budget sweep", columns, frame.to_dicts(), notes_of("budget")
    )


def accuracy_cell(row: Row) -> str:
    """Return a mean with its interval below."""
    return points(row["accuracy"]) + interval_below(row)
