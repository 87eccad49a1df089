"""``scbench failure-modes``: labels for the causes of low scores, by rules, a model or people."""

import sys
from pathlib import Path
from typing import Annotated

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
from scbench.base.wording import counted
from scbench.catalog import get_task
from scbench.cli.console import PROBLEMS, reported_errors, say
from scbench.cli.options import (
    PlotOption,
    ResultsArgument,
    TableFormOption,
    TableOutOption,
)
from scbench.cli.printing import Result, write_file, write_result
from scbench.formats.predictions import open_predictions
from scbench.release.load import release_in_results
from scbench.report.charts import Spec, failure_chart

app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="""\
Label the causes of low scores.

There are five labels, from evasion to near miss. Labels do not change scores.

`judge` assigns labels by rules, without a model. For model or human judges, `export` writes one
prompt per candidate and `import` reads the decisions. `shares`, `deltas` and `matrix` show
the labels of each run; `agree` compares two judges.

Exit codes: 0 done, 1 problems in the decisions, 2 wrong usage.""",
)

LabelsOutOption = Annotated[
    Path, typer.Option("--out", help="Output file for the labels (Parquet).")
]
ThresholdOption = Annotated[
    float,
    typer.Option(
        min=0, max=1, help="Answers that score below this get a label; all others pass."
    ),
]
LabelledResultsOption = Annotated[
    list[Path],
    typer.Option(
        "--results",
        help="Labelled results: results.parquet or its folder. Repeat for more.",
    ),
]
LabelFiles = Annotated[
    list[Path], typer.Argument(help="Label files, as written by `judge` or `import`.")
]
FirstRunOption = Annotated[
    str | None,
    typer.Option(
        help='First run, such as "my-model no_tools". [default: each model without tools]'
    ),
]
SecondRunOption = Annotated[
    str | None,
    typer.Option(help="Second run. [default: the same model with tools]"),
]


@app.command()
def card(
    task: Annotated[
        str, typer.Argument(help="Id of a task; `scbench tasks` lists them.")
    ],
) -> None:
    """Print a task's card: the description that judges get."""
    with reported_errors():
        sys.stdout.write(task_card(get_task(task)))
        sys.stdout.flush()


@app.command()
def judge(
    results: ResultsArgument, out: LabelsOutOption, threshold: ThresholdOption = 0.6
) -> None:
    """Label candidates by rules, without a model.

    The rules use only status, answer and checks, so the same results always give the same labels.
    """
    with reported_errors():
        rows = rows_to_judge(results, threshold)
        labels = labels_by_rules(rows)
        write_file(out, labels_file(labels))
        say(f"labelled {counted(labels.height, 'candidate')}")


@app.command()
def export(
    results: ResultsArgument,
    out: Annotated[
        Path, typer.Option("--out", help="Output file for the prompts (JSON Lines).")
    ],
    predictions: Annotated[
        list[str] | None,
        typer.Option(
            help="The graded predictions, so that judges can see the raw replies."
        ),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            help="Release that contains the prompts. [default: the release that was graded]"
        ),
    ] = None,
    threshold: ThresholdOption = 0.6,
) -> None:
    """Write a prompt per candidate, for any judge.

    The judge may be a model or a person. Each line is a JSON object: "prompt" is everything the
    judge should read, "reply_schema" the JSON Schema of the decision. Collect the decisions, one
    per line, and pass them to import. Prompts do not name the model or its setting.
    """
    with reported_errors():
        rows = rows_to_judge(results, threshold)
        outputs = read_outputs(rows, predictions) if predictions else None
        lines: list[str] = []
        # Without rows, the release is unknown.
        if rows.height:
            graded = release_in_results(rows["release"][0], release)
            lines = [f"{line}\n" for line in bundle(rows, graded, outputs)]
        write_file(out, "".join(lines).encode())
        say(f"{counted(len(lines), 'candidate')} to judge")


@app.command("import")
def import_(
    decisions: Annotated[
        str,
        typer.Argument(
            help="Decisions as JSON Lines, one per candidate; - reads standard input."
        ),
    ],
    results: LabelledResultsOption,
    out: LabelsOutOption,
    judge: Annotated[
        str,
        typer.Option(
            "--judge", help="Name of the judge, which is stored with every label."
        ),
    ],
    threshold: ThresholdOption = 0.6,
) -> None:
    """Read decisions and write them as labels.

    Every candidate needs exactly one decision. If there are problems, each is printed with its line
    and nothing is written.
    """
    with reported_errors():
        if not judge.strip():
            raise ResultsError("--judge must not be empty")
        rows = rows_to_judge(results, threshold)
        with open_predictions(decisions) as stream:
            decided, problems = import_decisions(stream, rows)
        for problem in problems:
            say(f"problem: {problem}")
        if problems:
            say(f"{counted(len(problems), 'problem')}; nothing was written")
            raise typer.Exit(PROBLEMS)
        write_file(out, labels_file(labelled(rows, decided, judge, PROMPT_VERSION)))
        say(f"labelled {counted(decided.height, 'candidate')}")


@app.command()
def shares(
    labels: LabelFiles,
    results: LabelledResultsOption,
    by_task: Annotated[
        bool, typer.Option("--by-task", help="Show each task separately.")
    ] = False,
    style: TableFormOption = "table",
    out: TableOutOption = None,
    plot: PlotOption = None,
    threshold: ThresholdOption = 0.6,
) -> None:
    """Show labels by run, with counts of statuses.

    Shares are relative to the judged candidates, so a share can rise while its count falls.
    """
    with reported_errors():
        row_states = labelled_states(labels, results, threshold)
        table = label_shares(row_states, by_task=by_task)

        def chart() -> Spec:
            # The chart has a bar for each run, even if the table has a line for each task.
            return failure_chart(label_shares(row_states))

        write_result(Result(table, [shares_sheet(table)], chart), style, out, plot)


@app.command()
def deltas(
    labels: LabelFiles,
    results: LabelledResultsOption,
    first: FirstRunOption = None,
    second: SecondRunOption = None,
    style: TableFormOption = "table",
    out: TableOutOption = None,
    threshold: ThresholdOption = 0.6,
) -> None:
    """Show how label rates differ between runs.

    By default, compares each model with and without tools.
    """
    with reported_errors():
        row_states = labelled_states(labels, results, threshold)
        table = state_deltas(row_states, run_pairs(row_states, first, second))
        write_result(Result(table, deltas_sheets(table)), style, out)


@app.command()
def matrix(
    labels: LabelFiles,
    results: LabelledResultsOption,
    first: FirstRunOption = None,
    second: SecondRunOption = None,
    style: TableFormOption = "table",
    out: TableOutOption = None,
    threshold: ThresholdOption = 0.6,
) -> None:
    """Show how each item's state changes between runs.

    Prints a square matrix of states: pass, the five labels, and the statuses without a label.
    """
    with reported_errors():
        row_states = labelled_states(labels, results, threshold)
        table = transitions(row_states, run_pairs(row_states, first, second))
        write_result(Result(table, matrix_sheets(table)), style, out)


@app.command()
def agree(
    labels_a: Annotated[Path, typer.Argument(help="Labels of the first judge.")],
    labels_b: Annotated[
        Path | None,
        typer.Argument(
            show_default=False,
            help=(
                "Labels of the second judge for the same candidates. [default: the rules' labels "
                "for --results]"
            ),
        ),
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(
            "--results",
            help=(
                "Labelled results, to compare the judge's labels with the rules' labels. "
                "Repeat for more."
            ),
        ),
    ] = None,
    style: TableFormOption = "table",
    out: TableOutOption = None,
    threshold: ThresholdOption = 0.6,
) -> None:
    """Compare two judges, or a judge with the rules.

    Prints Cohen's kappa and the confusion matrix.
    """
    with reported_errors():
        if (labels_b is None) == (not results):
            raise ResultsError("give either a second file of labels or --results")
        first = read_labels([labels_a])
        if labels_b is not None:
            second = read_labels([labels_b])
        else:
            second = labels_by_rules(rows_to_judge(results or [], threshold))
        table = agreement(first, second)
        sheet = agreement_sheet(table, judges_of(first), judges_of(second))
        write_result(Result(table, [sheet]), style, out)


def rows_to_judge(results: list[Path], threshold: float) -> pl.DataFrame:
    """Return the rows of results whose scores are below a threshold."""
    return candidates(read_results(results, COLUMNS), threshold)


def labels_by_rules(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the labels that the rules give to candidates."""
    return labelled(rows, judge_by_rules(rows), JUDGE, VERSION)


def labelled_states(
    labels: list[Path], results: list[Path], threshold: float
) -> pl.DataFrame:
    """Return the state of every row of results: pass, a label, or a status."""
    rows = read_results(results, COLUMNS)
    return states(rows, read_labels(labels), threshold)


def judges_of(labels: pl.DataFrame) -> str:
    """Return the names of the judges of labels, for a heading."""
    return ", ".join(sorted(set(labels["judge"])))
