"""``scbench submission``: create, validate, grade and pack a leaderboard submission."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scbench.analysis.score_sheets import overview_sheets
from scbench.base.canonical import canonical_json, parse_json
from scbench.base.errors import JsonError, PredictionsError
from scbench.base.wording import counted
from scbench.cli.console import (
    GRADER_ERRORS,
    PROBLEMS,
    USAGE,
    as_json,
    misused,
    need,
    plain,
    reported_errors,
    say,
    without_commands,
)
from scbench.cli.options import AllowCodeOption, ListForm, WorkersOption
from scbench.cli.progress import grading_display
from scbench.cli.run_report import render
from scbench.grading.workers.live import MEMORY
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.findings import (
    Finding,
    as_annotation,
    as_text,
    in_order,
    limit_findings,
    with_advice_once,
)
from scbench.machine.files import read_regular, write_whole
from scbench.machine.limits import processors
from scbench.release.load import find_release, installed_releases

if TYPE_CHECKING:
    from scbench.leaderboard.grade import GradedSubmission
    from scbench.leaderboard.submission import Submission
    from scbench.leaderboard.submission_files import Opened
    from scbench.leaderboard.validate import Releases, Validated


# Formats in which problems are printed.
ReportKind = Literal["text", "json", "github"]

OnlyReleaseOption = Annotated[
    str | None,
    typer.Option(
        "--release",
        help=(
            "Accept only this release: an installed version, a folder, a .zip file, or "
            "ORG/NAME@REVISION on the Hub. [default: the installed release that "
            "submission.yaml names]"
        ),
    ),
]

app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="""\
Prepare, check and grade a leaderboard submission.

A submission is a folder, or an archive of one (.zip, .tar.gz, .tar.zst). It contains
submission.yaml, predictions.jsonl (or .gz, .zst), and optionally claimed.json and README.md. It
covers one model in one setting on one release.

Exit codes: 0 valid, 1 problems, 2 wrong usage, 3 a grader failed.""",
)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Folder to create or add to.")],
    model: Annotated[
        str | None, typer.Option(help="Name of the model, as shown on the leaderboard.")
    ] = None,
    model_version: Annotated[
        str | None,
        typer.Option(help="Model version, to distinguish models with the same name."),
    ] = None,
    model_id: Annotated[
        str | None,
        typer.Option(
            help='Value of "model" in the predictions, if it differs from --model.'
        ),
    ] = None,
    organisation: Annotated[
        str | None, typer.Option(help="Organisation that submits it.")
    ] = None,
    date: Annotated[
        str | None, typer.Option(help="Date of the answers, as YYYY-MM-DD.")
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            help="Release that the answers are for. [default: newest installed]"
        ),
    ] = None,
    setting: Annotated[
        str | None, typer.Option(help="Setting of the run: no_tools or tools.")
    ] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(help="Tool that the model was offered. Repeat for more."),
    ] = None,
    sampling: Annotated[
        list[str] | None,
        typer.Option(
            help="Sampling parameter that was sent, as KEY=VALUE. Repeat for more."
        ),
    ] = None,
    attempts: Annotated[
        int, typer.Option(min=1, help="Number of answers to each item.")
    ] = 1,
    contact: Annotated[
        str | None, typer.Option(help="Contact, as an e-mail address or a web page.")
    ] = None,
    outputs_licence: Annotated[
        str | None, typer.Option(help="Licence of the predictions, such as CC-BY-4.0.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Predictions file to copy into the folder.")
    ] = None,
) -> None:
    """Write submission.yaml.

    In a terminal, prompts for values that are not given as options.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.leaderboard.about import write_about

        installed = [*installed_releases()]
        newest = installed[-1] if installed else None
        fields = ask_missing(
            {
                "model": model,
                "model-version": model_version,
                "organisation": organisation,
                "date": date,
                "release": release or newest,
                "setting": setting,
                "contact": contact,
                "outputs-licence": outputs_licence,
            }
        )
        tools = tool or []
        if fields["setting"] == "tools" and not tools:
            reply = ask("tool", "Tools, separated by commas")
            tools = [part.strip() for part in reply.split(",")]
        model_record = {"name": fields["model"], "version": fields["model-version"]}
        if model_id:
            model_record["id"] = model_id
        about = about_of(
            {
                "model": model_record,
                "organisation": fields["organisation"],
                "date": fields["date"],
                "release": fields["release"],
                "setting": fields["setting"],
                "tools": tools,
                "sampling": dict(map(sampling_parameter, sampling or [])),
                "attempts": attempts,
                "contact": fields["contact"],
                "outputs_licence": fields["outputs-licence"],
            }
        )
        if predictions is not None:
            copy_predictions(predictions, folder)
        path = write_about(folder, about)
        say(f"wrote {path}; next: scbench submission validate {folder}")


def ask_missing(options: Mapping[str, str | None]) -> dict[str, str]:
    """Return the values of options, asking for missing ones on the terminal."""
    missing = [name for name, value in options.items() if value is None]
    if missing and not sys.stdin.isatty():
        names = ", ".join(f"--{name}" for name in missing)
        misused(f"missing {names} (scbench prompts for these only in a terminal)")
    questions = {
        "date": "Date, as YYYY-MM-DD",
        "setting": "Setting, no_tools or tools",
    }
    values = {}
    for name, value in options.items():
        if value is not None:
            values[name] = value
        else:
            plain_question = name.capitalize().replace("-", " ")
            values[name] = ask(name, questions.get(name, plain_question))
    return values


def ask(name: str, question: str) -> str:
    """Ask for the value of an option on the terminal."""
    if not sys.stdin.isatty():
        misused(f"missing --{name} (scbench prompts for it only in a terminal)")
    return str(typer.prompt(question)).strip()


def sampling_parameter(text: str) -> tuple[str, Any]:
    """Return the name and value of --sampling; the value is JSON if it can be read as such."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        misused(f"--sampling must be KEY=VALUE, not {text!r}")
    try:
        return key.strip(), parse_json(value.encode())
    except JsonError:
        return key.strip(), value.strip()


def about_of(record: dict[str, Any]) -> "Submission":
    """Return the content of `submission.yaml`, or print its errors and exit with code 2."""
    from scbench.leaderboard.submission import read_submission

    # These are the checks of `scbench submission validate`.
    about, findings = read_submission(canonical_json(record).encode(), "")
    for finding in findings:
        say(f"error: {finding.message}; {finding.todo}")
    if about is None:
        raise typer.Exit(USAGE)
    return about


def copy_predictions(source: Path, folder: Path) -> None:
    """Copy a predictions file into the folder of a submission.

    Raises:
        PredictionsError: there are predictions already, or the file is too large.
    """
    from scbench.leaderboard.submission_files import MOST_PACKED, PREDICTIONS

    # A compressed file stays compressed.
    suffix = source.suffix if source.suffix in {".gz", ".zst"} else ""
    target = folder / f"{PREDICTIONS[0]}{suffix}"
    if any((folder / name).exists() for name in PREDICTIONS):
        raise PredictionsError(
            f"{folder} already contains predictions; remove them first"
        )
    data = read_regular(source, MOST_PACKED)
    if len(data) > MOST_PACKED:
        raise PredictionsError(
            f"{source} is larger than {MOST_PACKED:,} bytes; compress it with zstd"
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(target, lambda part: part.write_bytes(data))


@app.command("validate")
def validate_(
    paths: Annotated[
        list[Path], typer.Argument(help="Folders or archives of submissions.")
    ],
    release: OnlyReleaseOption = None,
    against: Annotated[
        Path | None,
        typer.Option(
            help="Folder of other submissions, to check for similar names and answers."
        ),
    ] = None,
    organisations: Annotated[
        Path | None,
        typer.Option(
            help="File organisations.toml, which lists who may submit for whom."
        ),
    ] = None,
    submitter: Annotated[
        str | None,
        typer.Option(
            help="Account that sends the submission; it must belong to the organisation."
        ),
    ] = None,
    style: Annotated[
        ReportKind,
        typer.Option(
            "--format", help="text, json, or github (annotations in a pull request)."
        ),
    ] = "text",
) -> None:
    """Validate submissions and print every problem.

    Prints file, line and id of each problem, and how to fix it. Grades nothing, so only `grade`
    checks claimed scores.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.leaderboard.answer_overlap import compare_with_others
        from scbench.leaderboard.folder import open_submission
        from scbench.leaderboard.names import (
            check_organisation,
            read_organisations,
        )
        from scbench.leaderboard.validate import validate

        releases, version = finder(release)
        registry = read_organisations(organisations) if organisations else None
        records = []
        any_problems = False
        for path in paths:
            with open_submission(path) as opened:
                validated = validate(opened, releases, version)
                findings = list(validated.findings)
                if validated.about and registry is not None:
                    findings += check_organisation(validated.about, registry, submitter)
                # Only valid submissions are compared with others.
                if against is not None and not validated.problems:
                    findings += compare_with_others(validated, against)
                validated.findings = in_order(findings)
            any_problems = any_problems or bool(validated.problems)
            records.append(validated.record())
            if style != "json":
                print_findings(validated.findings, opened, style)
                say(validity(validated))
        if style == "json":
            print(as_json(records))  # noqa: T201
        sys.stdout.flush()
        raise typer.Exit(PROBLEMS if any_problems else 0)


def finder(name: str | None) -> "tuple[Releases, str | None]":
    """Return a function that finds releases, and the only accepted version, if there is one."""
    from scbench.leaderboard.validate import release_finder

    if name is None:
        return release_finder(), None
    release = find_release(name)
    return release_finder([release]), release.version


def print_findings(
    findings: list[Finding], opened: "Opened", style: ReportKind
) -> None:
    """Print the findings in a submission, one per line."""
    shown: Iterable[Finding] = limit_findings(findings)
    write = as_annotation
    # Annotations of a pull request are read one at a time; text is read from the top.
    if style == "text":
        write = as_text
        shown = with_advice_once(shown)
    for finding in shown:
        line = write(finding, opened.where(finding.file))
        print(line if style == "github" else plain(line))  # noqa: T201


def validity(validated: "Validated") -> str:
    """Return the result of a validation as one line."""
    path = validated.opened.path
    warnings = len(validated.findings) - len(validated.problems)
    counts = (
        f"{counted(len(validated.problems), 'problem')}, {counted(warnings, 'warning')}"
    )
    if validated.problems:
        return f"{path}: not valid ({counts})"
    checked = validated.checked
    lines = counted(checked.lines, "line")
    if checked.scored != checked.expected:
        lines += f", {checked.scored} of {checked.expected} scores"
    return f"{path}: valid ({lines}, {counts})"


@app.command()
def grade(
    path: Annotated[Path, typer.Argument(help="Folder or archive of a submission.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results. [default: scbench-results/NAME]"),
    ] = None,
    release: OnlyReleaseOption = None,
    workers: WorkersOption = 0,
    allow_code: AllowCodeOption = False,
    report: Annotated[
        bool, typer.Option(help="Write report.html; needs scbench[report].")
    ] = True,
    style: Annotated[
        ListForm, typer.Option("--format", help="Format of the printed scores.")
    ] = "table",
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no progress.")
    ] = False,
) -> None:
    """Validate a submission, then grade it.

    Writes results.parquet, summary.json, a receipt and a report.

    The receipt names release, graders and hashes, and includes a hash of itself. If a claimed score
    differs from the graded one, no receipt is written.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.leaderboard.collect import name_of
        from scbench.leaderboard.folder import open_submission
        from scbench.leaderboard.grade import grade_submission, write_report_of
        from scbench.leaderboard.receipt import RECEIPT
        from scbench.leaderboard.validate import validate

        if report:
            need("report", instead="--no-report")
        releases, version = finder(release)
        folder = out or Path("scbench-results", name_of(path.resolve()))
        limits = WorkerLimits(workers or processors(), None, MEMORY, allow_code)
        with open_submission(path) as opened:
            validated = validate(opened, releases, version)
            if validated.problems:
                print_findings(validated.findings, opened, "text")
                say(validity(validated))
                raise typer.Exit(PROBLEMS)
            display = grading_display(quiet=quiet)
            graded = grade_submission(validated, folder, limits, display)
            if report:
                write_report_of(validated, folder, limits.workers)
        print_scores(graded, style)
        print_findings(graded.findings, opened, "text")
        sys.stdout.flush()
        if graded.report.grader_errors:
            failed_rows = counted(graded.report.grader_errors, "row")
            say(
                f"grader_error on {failed_rows}; the reasons are in {folder}/results.parquet"
            )
            raise typer.Exit(GRADER_ERRORS)
        if graded.findings:
            say(
                f"{path}: claimed scores differ from the graded ones, so no receipt was written"
            )
            raise typer.Exit(PROBLEMS)
        say(f"wrote {folder / RECEIPT}")


def print_scores(graded: "GradedSubmission", style: ListForm) -> None:
    """Print the scores of a submission."""
    from scbench.leaderboard.grade import as_json as graded_json
    from scbench.leaderboard.grade import markdown_table

    if style == "json":
        text = graded_json(graded)
    elif style == "markdown":
        text = markdown_table(graded)
    else:
        report = graded.report
        title = f"Scores, release {report.summary['release']['version']}"
        sheets = overview_sheets(title, report.tables["bucket"])
        text = render(sheets, "table", report.remarks)
    print(without_commands(text))  # noqa: T201


@app.command()
def pack(
    folder: Annotated[Path, typer.Argument(help="Folder of the submission.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Archive to write: .zip, .tar.gz or .tar.zst. [default: FOLDER.zip]"
        ),
    ] = None,
    release: OnlyReleaseOption = None,
) -> None:
    """Validate a submission, then pack it.

    The same folder always gives the same bytes.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.leaderboard.folder import open_submission
        from scbench.leaderboard.packing import pack as write
        from scbench.leaderboard.validate import validate

        releases, version = finder(release)
        target = out or Path(f"{folder.resolve().name}.zip")
        with open_submission(folder) as opened:
            validated = validate(opened, releases, version)
            print_findings(validated.findings, opened, "text")
            if validated.problems:
                say(validity(validated))
                raise typer.Exit(PROBLEMS)
            write(opened, target)
        say(f"wrote {target} ({target.stat().st_size:,} bytes)")
