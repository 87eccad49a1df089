"""``scbench submission``: start, validate, grade and pack an entry for the leaderboard."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scbench.cli.asking import about_of, ask, asked, parameter
from scbench.cli.console import (
    GRADER_ERRORS,
    PROBLEMS,
    counted,
    need,
    reported_errors,
    say,
)
from scbench.cli.options import AllowCode, Workers
from scbench.machine.processes import processors

if TYPE_CHECKING:
    from scbench.leaderboard.findings import Finding
    from scbench.leaderboard.folder import Opened
    from scbench.leaderboard.validate import Releases, Validated

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help=(
        "Prepare, check and grade an entry for the leaderboard.\n\n"
        "A submission is a folder (or an archive of one: .zip, .tar.gz, .tar.zst) with "
        "submission.yaml, predictions.jsonl (or .gz, .zst), and if you like claimed.json and "
        "README.md. It is of one model, in one setting, on one release.\n\n"
        "Exit codes: 0 valid, 1 problems, 2 wrong usage, 3 a grader failed."
    ),
)


class ReportKind(StrEnum):
    """How problems are printed."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


class Shown(StrEnum):
    """How scores are printed."""

    TABLE = "table"
    MARKDOWN = "markdown"
    JSON = "json"


ReleaseName = Annotated[
    str | None,
    typer.Option(
        "--release",
        help="The only release to take: installed version, folder, .zip or ORG/NAME@REVISION. "
        "[default: the installed one that submission.yaml names]",
    ),
]


def finder(name: str | None) -> "tuple[Releases, str | None]":
    """Return where to find releases, and the version of the only one that is taken."""
    from scbench.leaderboard.validate import release_finder
    from scbench.release.load import find_release

    if name is None:
        return release_finder(), None
    release = find_release(name)
    return release_finder([release]), release.version


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Folder to make or to add to.")],
    model: Annotated[str | None, typer.Option(help="Name of the model, as on the board.")] = None,
    model_version: Annotated[
        str | None, typer.Option(help="What tells it from others of that name.")
    ] = None,
    model_id: Annotated[
        str | None, typer.Option(help='What "model" says in the predictions, if not the name.')
    ] = None,
    organisation: Annotated[str | None, typer.Option(help="Who submits it.")] = None,
    date: Annotated[
        str | None, typer.Option(help="When the answers were made, as YYYY-MM-DD.")
    ] = None,
    release: Annotated[
        str | None, typer.Option(help="Release that was answered. [default: newest installed]")
    ] = None,
    setting: Annotated[str | None, typer.Option(help="no_tools or tools.")] = None,
    tool: Annotated[
        list[str] | None, typer.Option(help="A tool that was offered. Repeat for more.")
    ] = None,
    sampling: Annotated[
        list[str] | None,
        typer.Option(help="KEY=VALUE of a parameter as it was sent. Repeat for more."),
    ] = None,
    attempts: Annotated[int, typer.Option(min=1, help="Answers per instance.")] = 1,
    contact: Annotated[str | None, typer.Option(help="E-mail address or page.")] = None,
    outputs_licence: Annotated[
        str | None, typer.Option(help="Licence of the predictions, such as CC-BY-4.0.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Predictions file to copy into the folder.")
    ] = None,
) -> None:
    """Write submission.yaml.

    Asks for what no option gives, if there is someone to ask.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.leaderboard.pack import write_about
        from scbench.release.load import installed_releases

        newest = [*installed_releases(), None][-2 if installed_releases() else -1]
        given = {
            "model": model,
            "model-version": model_version,
            "organisation": organisation,
            "date": date,
            "release": release or newest,
            "setting": setting,
            "contact": contact,
            "outputs-licence": outputs_licence,
        }
        said = asked(given)
        tools = tool or []
        if said["setting"] == "tools" and not tools:
            tools = [part.strip() for part in ask("tool", "Tools, by commas").split(",")]
        names = {"name": said["model"], "version": said["model-version"]}
        about = about_of(
            {
                "model": names | ({"id": model_id} if model_id else {}),
                "organisation": said["organisation"],
                "date": said["date"],
                "release": said["release"],
                "setting": said["setting"],
                "tools": tools,
                "sampling": dict(map(parameter, sampling or [])),
                "attempts": attempts,
                "contact": said["contact"],
                "outputs_licence": said["outputs-licence"],
            }
        )
        if predictions is not None:
            _copy_predictions(predictions, folder)
        say(f"{write_about(folder, about)} written; next: scbench submission validate {folder}")


def _copy_predictions(source: Path, folder: Path) -> None:
    from scbench.base.errors import PredictionsError
    from scbench.leaderboard.files import MOST_PACKED, PREDICTIONS
    from scbench.machine.files import write_whole

    suffix = source.suffix if source.suffix in {".gz", ".zst"} else ""
    target = folder / f"{PREDICTIONS[0]}{suffix}"
    if any((folder / name).exists() for name in PREDICTIONS):
        raise PredictionsError(f"{folder} holds predictions already; remove them first")
    if source.stat().st_size > MOST_PACKED:
        raise PredictionsError(f"{source} is larger than {MOST_PACKED:,} bytes; pack it with zstd")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(target, lambda part: part.write_bytes(source.read_bytes()))


@app.command("validate")
def validate_(
    paths: Annotated[list[Path], typer.Argument(help="Folders or archives of submissions.")],
    release: ReleaseName = None,
    against: Annotated[
        Path | None,
        typer.Option(help="Folder of other submissions: look for names and answers alike."),
    ] = None,
    organisations: Annotated[
        Path | None, typer.Option(help="organisations.toml: who may submit for whom.")
    ] = None,
    submitter: Annotated[
        str | None, typer.Option(help="Account that sends it, to be one of the organisation's.")
    ] = None,
    style: Annotated[
        ReportKind,
        typer.Option("--format", help="text, json, or github: marks lines of a pull request."),
    ] = ReportKind.TEXT,
) -> None:
    """Print everything that is wrong.

    File, line, id, and what to do; grades nothing.

    Whether claimed scores are right is seen by `grade`.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.cli.console import as_json
        from scbench.leaderboard.findings import in_order
        from scbench.leaderboard.folder import open_submission
        from scbench.leaderboard.organisations import check_organisation, read_organisations
        from scbench.leaderboard.validate import compare_with_others, validate

        releases, wanted = finder(release)
        known = read_organisations(organisations) if organisations else None
        records, unfit = [], False
        for path in paths:
            with open_submission(path) as opened:
                done = validate(opened, releases, wanted)
                more = (
                    [*check_organisation(done.about, known, submitter)]
                    if done.about and known is not None
                    else []
                )
                if against is not None and not done.problems:
                    more += compare_with_others(done, against)
                done.findings = in_order([*done.findings, *more])
            unfit = unfit or bool(done.problems)
            records.append(done.record())
            if style is not ReportKind.JSON:
                _print(done.findings, opened, style)
                say(_verdict(done))
        if style is ReportKind.JSON:
            print(as_json(records))  # noqa: T201
        sys.stdout.flush()
        raise typer.Exit(PROBLEMS if unfit else 0)


def _print(findings: "list[Finding]", opened: "Opened", style: ReportKind) -> None:
    from scbench.leaderboard.findings import WRITERS

    for found in findings:
        print(WRITERS[style.value](found, opened.where(found.file)))  # noqa: T201


def _verdict(done: "Validated") -> str:
    warnings = len(done.findings) - len(done.problems)
    count = f"{counted(len(done.problems), 'problem')}, {counted(warnings, 'warning')}"
    if done.problems:
        return f"{done.opened.path}: not valid: {count}"
    coverage = "" if done.scored == done.expected else f", {done.scored} of {done.expected} scores"
    return f"{done.opened.path}: valid, {counted(done.lines, 'line')}{coverage}, {count}"


@app.command()
def grade(
    path: Annotated[Path, typer.Argument(help="Folder or archive of a submission.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results. [default: scbench-results/NAME]"),
    ] = None,
    release: ReleaseName = None,
    workers: Workers = 0,
    allow_code: AllowCode = False,
    report: Annotated[
        bool, typer.Option(help="Also write report.html; needs scbench[report].")
    ] = True,
    style: Annotated[
        Shown, typer.Option("--format", help="How the scores are printed.")
    ] = Shown.TABLE,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Validate, then grade anew.

    Writes results.parquet, summary.json, a receipt and a report.

    The receipt names release, graders and hashes, and is sealed by a hash of its own; there is none
    if a claimed score differs from the graded one.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.cli.progress import progress
        from scbench.grading.workers.scheduler import WorkerLimits
        from scbench.leaderboard.folder import open_submission
        from scbench.leaderboard.grade import grade_submission, write_report_of
        from scbench.leaderboard.receipt import RECEIPT
        from scbench.leaderboard.validate import validate

        if report:
            need("report", instead="--no-report")
        releases, wanted = finder(release)
        folder = out or Path("scbench-results", path.resolve().name.partition(".")[0])
        limits = WorkerLimits(workers or processors(), None, 4 * 2**30, allow_code)
        with open_submission(path) as opened:
            done = validate(opened, releases, wanted)
            if done.problems:
                _print(done.findings, opened, ReportKind.TEXT)
                say(_verdict(done))
                raise typer.Exit(PROBLEMS)
            with progress(None, quiet=quiet) as shown:
                graded = grade_submission(done, folder, limits, shown.done, shown.waiting)
            if report:
                write_report_of(done, folder, limits.workers)
        _show(graded, style)
        _print(graded.findings, opened, ReportKind.TEXT)
        sys.stdout.flush()
        if graded.report.grader_errors:
            failed = counted(graded.report.grader_errors, "row")
            say(f"{failed} could not be graded; this is a fault of scbench")
            raise typer.Exit(GRADER_ERRORS)
        if graded.findings:
            say(f"{path}: claimed scores differ from the graded ones, so there is no receipt")
            raise typer.Exit(PROBLEMS)
        say(f"{folder / RECEIPT} written")


def _show(graded: Any, style: Shown) -> None:  # noqa: ANN401
    from scbench.cli.console import render
    from scbench.leaderboard.grade import as_json, markdown_table

    match style:
        case Shown.JSON:
            text = as_json(graded)
        case Shown.MARKDOWN:
            text = markdown_table(graded)
        case _:
            release = graded.report.summary["release"]["version"]
            title = f"Scores by bucket, release {release}"
            text = render({title: graded.report.tables["bucket"]}, "table", graded.report.remarks)
    print(text)  # noqa: T201


@app.command()
def pack(
    folder: Annotated[Path, typer.Argument(help="Folder of the submission.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Archive: .zip, .tar.gz or .tar.zst. [default: FOLDER.zip]"),
    ] = None,
    release: ReleaseName = None,
) -> None:
    """Validate, then pack.

    The same folder always gives the same bytes.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.leaderboard.folder import open_submission
        from scbench.leaderboard.pack import pack as write
        from scbench.leaderboard.validate import validate

        releases, wanted = finder(release)
        target = out or Path(f"{folder.resolve().name}.zip")
        with open_submission(folder) as opened:
            done = validate(opened, releases, wanted)
            _print(done.findings, opened, ReportKind.TEXT)
            if done.problems:
                say(_verdict(done))
                raise typer.Exit(PROBLEMS)
            write(opened, target)
        say(f"{target} written, {target.stat().st_size:,} bytes")
