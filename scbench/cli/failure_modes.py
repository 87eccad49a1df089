"""``scbench failure-modes``: why answers score low, judged by rules, by a model or by people."""

import sys
from pathlib import Path

import polars as pl
import typer

from scbench.analysis.failure_modes.agreement import agreement, agreement_sheet
from scbench.analysis.failure_modes.cards import card as task_card
from scbench.analysis.failure_modes.exchange import export as bundle
from scbench.analysis.failure_modes.exchange import import_decisions, read_outputs
from scbench.analysis.failure_modes.judge_prompts import PROMPT_VERSION
from scbench.analysis.failure_modes.label_files import (
    labelled,
    labels_file,
    read_labels,
)
from scbench.analysis.failure_modes.labels import COLUMNS, candidates
from scbench.analysis.failure_modes.rules import JUDGE, VERSION, judge_by_rules
from scbench.analysis.failure_modes.shares import label_shares, shares_sheet, states
from scbench.analysis.failure_modes.transitions import (
    deltas_sheets,
    matrix_sheets,
    run_pairs,
    state_deltas,
    transitions,
)
from scbench.analysis.results import read_results
from scbench.base.errors import ResultsError
from scbench.catalog import get_task
from scbench.cli.console import PROBLEMS, counted, reported_errors, say
from scbench.cli.options import Commands
from scbench.cli.printing import (
    Files,
    Out,
    Plot,
    Result,
    Style,
    table_command,
    write_file,
)
from scbench.formats.predictions import open_predictions
from scbench.release.load import find_release
from scbench.report.charts import failure_chart

app = Commands("failure_modes", no_args_is_help=True)


def _rows_to_judge(results: list[Path], threshold: float) -> pl.DataFrame:
    return candidates(read_results(results, COLUMNS), threshold)


def _labelled_states(
    labels: list[Path], results: list[Path], threshold: float
) -> pl.DataFrame:
    rows = read_results(results, COLUMNS)
    return states(rows, read_labels(labels), threshold)


@app.command()
def card(task: str) -> None:
    """Print a task's card: what a judge is told of it."""
    with reported_errors():
        sys.stdout.write(task_card(get_task(task)))
        sys.stdout.flush()


@app.command()
def judge(results: Files, out: Path, threshold: float = 0.6) -> None:
    """Label candidates by rules, without a model.

    The rules look at status, answer and checks alone: the same results, the same labels.
    """
    with reported_errors():
        rows = _rows_to_judge(results, threshold)
        labels = labelled(rows, judge_by_rules(rows), JUDGE, VERSION)
        write_file(out, labels_file(labels))
        say(f"{labels.height} candidates labelled")


@app.command()
def export(
    results: Files,
    out: Path,
    predictions: list[str] | None = None,
    release: str | None = None,
    threshold: float = 0.6,
) -> None:
    """Write a prompt per candidate, for any judge.

    The judge may be a model or a person. Each line is a JSON object; "prompt" is all that a judge
    is to read, "reply_schema" the JSON Schema of its decision. Collect the decisions, one per line,
    and hand them to import. Prompts name neither the model nor its setting.
    """
    with reported_errors():
        rows = _rows_to_judge(results, threshold)
        outputs = read_outputs(rows, predictions) if predictions else None
        lines: list[str] = []
        if rows.height:
            graded = find_release(release or rows["release"][0])
            lines = [f"{line}\n" for line in bundle(rows, graded, outputs)]
        write_file(out, "".join(lines).encode())
        say(f"{counted(len(lines), 'candidate')} to judge")


@app.command("import")
def import_(
    decisions: str, results: list[Path], out: Path, judge: str, threshold: float = 0.6
) -> None:
    """Read decisions back and write them as labels.

    There must be exactly one for each candidate. Everything that is wrong is listed with its line,
    and nothing is written if anything is.
    """
    with reported_errors():
        if not judge.strip():
            raise ResultsError("--judge must name who judged")
        rows = _rows_to_judge(results, threshold)
        with open_predictions(decisions) as stream:
            decided, problems = import_decisions(stream, rows)
        for problem in problems:
            say(f"problem: {problem}")
        if problems:
            say(f"{counted(len(problems), 'problem')}; nothing was written")
            raise typer.Exit(PROBLEMS)
        write_file(out, labels_file(labelled(rows, decided, judge, PROMPT_VERSION)))
        say(f"{decided.height} candidates labelled")


@table_command(app)
def shares(
    labels: list[Path],
    results: list[Path],
    by_task: bool = False,
    style: Style = "table",
    out: Out = None,
    plot: Plot = None,
    threshold: float = 0.6,
) -> Result:
    """Show labels by run, with status counts beside.

    Shares are of the judged candidates: a share can rise while its count falls.
    """
    row_states = _labelled_states(labels, results, threshold)
    table = label_shares(row_states, by_task=by_task)
    return Result(
        table, [shares_sheet(table)], lambda: failure_chart(label_shares(row_states))
    )


@table_command(app)
def deltas(
    labels: list[Path],
    results: list[Path],
    first: str | None = None,
    second: str | None = None,
    threshold: float = 0.6,
) -> Result:
    """Show how rates of labels differ between runs.

    By default: for each model, what tools change.
    """
    row_states = _labelled_states(labels, results, threshold)
    table = state_deltas(row_states, run_pairs(row_states, first, second))
    return Result(table, deltas_sheets(table))


@table_command(app)
def matrix(
    labels: list[Path],
    results: list[Path],
    first: str | None = None,
    second: str | None = None,
    threshold: float = 0.6,
) -> Result:
    """Show what became of each score between runs.

    A square matrix of states: pass, the five labels, and statuses where there is none.
    """
    row_states = _labelled_states(labels, results, threshold)
    table = transitions(row_states, run_pairs(row_states, first, second))
    return Result(table, matrix_sheets(table))


@table_command(app)
def agree(
    labels_a: Path,
    labels_b: Path | None = None,
    results: list[Path] | None = None,
    threshold: float = 0.6,
) -> Result:
    """Compare two judges, or one with the rules: kappa, confusion."""
    if (labels_b is None) == (not results):
        raise ResultsError("name a second file of labels, or --results for the rules")
    first = read_labels([labels_a])
    if labels_b is not None:
        second = read_labels([labels_b])
    else:
        rows = _rows_to_judge(results or [], threshold)
        second = labelled(rows, judge_by_rules(rows), JUDGE, VERSION)
    table = agreement(first, second)
    names = (", ".join(sorted(set(frame["judge"]))) for frame in (first, second))
    return Result(table, [agreement_sheet(table, *names)])
