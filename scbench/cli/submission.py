"""``scbench submission``: start, validate, grade and pack an entry for the leaderboard."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from scbench.analysis.sheets import overview_sheets
from scbench.base.canonical import canonical_json, parse_json
from scbench.base.errors import JsonError, PredictionsError
from scbench.cli.console import (
    GRADER_ERRORS,
    PROBLEMS,
    USAGE,
    as_json,
    counted,
    misused,
    need,
    reported_errors,
    say,
)
from scbench.cli.options import Commands, ListForm
from scbench.cli.progress import progress
from scbench.cli.verdicts import render
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.findings import WRITERS, Finding, in_order
from scbench.machine.files import write_whole
from scbench.machine.processes import processors
from scbench.release.load import find_release, installed_releases

if TYPE_CHECKING:
    from scbench.leaderboard.submission_files import Opened
    from scbench.leaderboard.validate import Releases, Validated


app = Commands("submission", no_args_is_help=True)


# How problems are printed.
ReportKind = Literal["text", "json", "github"]


def finder(name: str | None) -> "tuple[Releases, str | None]":
    """Return where to find releases, and the version of the only one that is taken."""
    from scbench.leaderboard.validate import release_finder

    if name is None:
        return release_finder(), None
    release = find_release(name)
    return release_finder([release]), release.version


@app.command()
def init(
    folder: Path,
    model: str | None = None,
    model_version: str | None = None,
    model_id: str | None = None,
    organisation: str | None = None,
    date: str | None = None,
    release: str | None = None,
    setting: str | None = None,
    tool: list[str] | None = None,
    sampling: list[str] | None = None,
    attempts: int = 1,
    contact: str | None = None,
    outputs_licence: str | None = None,
    predictions: Path | None = None,
) -> None:
    """Write submission.yaml.

    Asks for what no option gives, if there is someone to ask.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.leaderboard.about import write_about

        newest = [*installed_releases(), None][-2 if installed_releases() else -1]
        options = {
            "model": model,
            "model-version": model_version,
            "organisation": organisation,
            "date": date,
            "release": release or newest,
            "setting": setting,
            "contact": contact,
            "outputs-licence": outputs_licence,
        }
        fields = ask_missing(options)
        tools = tool or []
        if fields["setting"] == "tools" and not tools:
            tools = [
                part.strip() for part in ask("tool", "Tools, by commas").split(",")
            ]
        names = {"name": fields["model"], "version": fields["model-version"]}
        about = about_of(
            {
                "model": names | ({"id": model_id} if model_id else {}),
                "organisation": fields["organisation"],
                "date": fields["date"],
                "release": fields["release"],
                "setting": fields["setting"],
                "tools": tools,
                "sampling": dict(map(parameter, sampling or [])),
                "attempts": attempts,
                "contact": fields["contact"],
                "outputs_licence": fields["outputs-licence"],
            }
        )
        if predictions is not None:
            _copy_predictions(predictions, folder)
        say(
            f"{write_about(folder, about)} written; next: scbench submission validate {folder}"
        )


def _copy_predictions(source: Path, folder: Path) -> None:
    from scbench.leaderboard.submission_files import MOST_PACKED, PREDICTIONS

    suffix = source.suffix if source.suffix in {".gz", ".zst"} else ""
    target = folder / f"{PREDICTIONS[0]}{suffix}"
    if any((folder / name).exists() for name in PREDICTIONS):
        raise PredictionsError(f"{folder} holds predictions already; remove them first")
    if source.stat().st_size > MOST_PACKED:
        raise PredictionsError(
            f"{source} is larger than {MOST_PACKED:,} bytes; pack it with zstd"
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(target, lambda part: part.write_bytes(source.read_bytes()))


@app.command("validate")
def validate_(
    paths: list[Path],
    release: str | None = None,
    against: Path | None = None,
    organisations: Path | None = None,
    submitter: str | None = None,
    style: ReportKind = "text",
) -> None:
    """Print everything that is wrong.

    File, line, id, and what to do; grades nothing.

    Whether claimed scores are right is seen by `grade`.
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
        records, unfit = [], False
        for path in paths:
            with open_submission(path) as opened:
                done = validate(opened, releases, version)
                extra = (
                    [*check_organisation(done.about, registry, submitter)]
                    if done.about and registry is not None
                    else []
                )
                if against is not None and not done.problems:
                    extra += compare_with_others(done, against)
                done.findings = in_order([*done.findings, *extra])
            unfit = unfit or bool(done.problems)
            records.append(done.record())
            if style != "json":
                _print_findings(done.findings, opened, style)
                say(_validity(done))
        if style == "json":
            print(as_json(records))  # noqa: T201
        sys.stdout.flush()
        raise typer.Exit(PROBLEMS if unfit else 0)


def _print_findings(
    findings: list[Finding], opened: "Opened", style: ReportKind
) -> None:
    for finding in findings:
        print(WRITERS[style](finding, opened.where(finding.file)))  # noqa: T201


def _validity(done: "Validated") -> str:
    warnings = len(done.findings) - len(done.problems)
    count = f"{counted(len(done.problems), 'problem')}, {counted(warnings, 'warning')}"
    if done.problems:
        return f"{done.opened.path}: not valid: {count}"
    scored, expected = done.checked.scored, done.checked.expected
    coverage = "" if scored == expected else f", {scored} of {expected} scores"
    return f"{done.opened.path}: valid, {counted(done.checked.lines, 'line')}{coverage}, {count}"


@app.command()
def grade(
    path: Path,
    out: Path | None = None,
    release: str | None = None,
    workers: int = 0,
    allow_code: bool = False,
    report: bool = True,
    style: ListForm = "table",
    quiet: bool = False,
) -> None:
    """Validate, then grade anew.

    Writes results.parquet, summary.json, a receipt and a report.

    The receipt names release, graders and hashes, and is sealed by a hash of its own; there is none
    if a claimed score differs from the graded one.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.leaderboard.folder import open_submission
        from scbench.leaderboard.grade import grade_submission, write_report_of
        from scbench.leaderboard.receipt import RECEIPT
        from scbench.leaderboard.validate import validate

        if report:
            need("report", instead="--no-report")
        releases, version = finder(release)
        folder = out or Path("scbench-results", path.resolve().name.partition(".")[0])
        limits = WorkerLimits(workers or processors(), None, 4 * 2**30, allow_code)
        with open_submission(path) as opened:
            done = validate(opened, releases, version)
            if done.problems:
                _print_findings(done.findings, opened, "text")
                say(_validity(done))
                raise typer.Exit(PROBLEMS)
            with progress(None, quiet=quiet) as bar:
                graded = grade_submission(done, folder, limits, bar.done, bar.waiting)
            if report:
                write_report_of(done, folder, limits.workers)
        _print_scores(graded, style)
        _print_findings(graded.findings, opened, "text")
        sys.stdout.flush()
        if graded.report.grader_errors:
            failed = counted(graded.report.grader_errors, "row")
            say(
                f"{failed} could not be graded; the reasons are in {folder}/results.parquet"
            )
            raise typer.Exit(GRADER_ERRORS)
        if graded.findings:
            say(
                f"{path}: claimed scores differ from the graded ones, so there is no receipt"
            )
            raise typer.Exit(PROBLEMS)
        say(f"{folder / RECEIPT} written")


def _print_scores(graded: Any, style: ListForm) -> None:  # noqa: ANN401
    from scbench.leaderboard.grade import as_json, markdown_table

    match style:
        case "json":
            text = as_json(graded)
        case "markdown":
            text = markdown_table(graded)
        case _:
            release = graded.report.summary["release"]["version"]
            sheets = overview_sheets(
                f"Scores, release {release}", graded.report.tables["bucket"]
            )
            text = render(sheets, "table", graded.report.remarks)
    print(text)  # noqa: T201


@app.command()
def pack(folder: Path, out: Path | None = None, release: str | None = None) -> None:
    """Validate, then pack.

    The same folder always gives the same bytes.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.leaderboard.folder import open_submission
        from scbench.leaderboard.packing import pack as write
        from scbench.leaderboard.validate import validate

        releases, version = finder(release)
        target = out or Path(f"{folder.resolve().name}.zip")
        with open_submission(folder) as opened:
            done = validate(opened, releases, version)
            _print_findings(done.findings, opened, "text")
            if done.problems:
                say(_validity(done))
                raise typer.Exit(PROBLEMS)
            write(opened, target)
        say(f"{target} written, {target.stat().st_size:,} bytes")


def ask_missing(options: Mapping[str, str | None]) -> dict[str, str]:
    """Return what was given, and ask for the rest."""
    missing = [name for name, value in options.items() if value is None]
    if missing and not sys.stdin.isatty():
        names = ", ".join(f"--{name}" for name in missing)
        misused(f"this is no terminal to ask at; give {names}")
    hints = {"date": "Date, as YYYY-MM-DD", "setting": "Setting, no_tools or tools"}
    return {
        name: value
        if value is not None
        else ask(name, hints.get(name, name.capitalize()))
        for name, value in options.items()
    }


def ask(name: str, words: str) -> str:
    """Ask for one value at the terminal."""
    if not sys.stdin.isatty():
        misused(f"this is no terminal to ask at; give --{name}")
    return str(
        typer.prompt(words.replace("-", " ") if name != "date" else words)
    ).strip()


def parameter(text: str) -> tuple[str, Any]:
    """Return a parameter's name and value; the value is JSON where it can be read so."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        misused(f"--sampling takes KEY=VALUE, not {text!r}")
    try:
        return key.strip(), parse_json(value.encode())
    except JsonError:
        return key.strip(), value.strip()


def about_of(record: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return what `submission.yaml` will say, or say what is wrong with it and end."""
    from scbench.leaderboard.submission import read_submission

    about, findings = read_submission(canonical_json(record).encode(), "")
    for finding in findings:
        say(f"error: {finding.message}; {finding.todo}")
    if about is None:
        raise typer.Exit(USAGE)
    return about
