"""``scbench report``, ``show`` and ``gallery``: reports and pictures of items."""

import sys
import tempfile
import time
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from scbench.analysis.results import read_results
from scbench.base.errors import ReleaseError, ResultsError
from scbench.base.model import Instance, task_of
from scbench.base.progress import listen
from scbench.base.wording import counted
from scbench.catalog import get_task
from scbench.cli.console import (
    NEEDS,
    is_whole_number,
    misused,
    plain,
    reported_errors,
    require,
    say,
)
from scbench.cli.options import HumanOption, QuietOption, ResultsArgument, ToolSetting
from scbench.cli.printing import write_file
from scbench.cli.progress import drawing_display, progress
from scbench.formats.predictions import Line
from scbench.grading.workers.live import MEMORY
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.limits import processors
from scbench.release.load import Release, find_release, release_in_results
from scbench.report import single
from scbench.report.contact_sheets import contact_sheet, right_and_wrong
from scbench.report.draw.solid_files import solid_file
from scbench.report.gallery import Look, write_gallery
from scbench.report.items import Item
from scbench.report.page import WrittenReport, write_report
from scbench.report.picture import draw_of, solids_of
from scbench.report.sheet import sheet_png, sheet_svg
from scbench.report.single import grade_line
from scbench.report.turns import transcript

# Items that a report shows.
ReportItems = Literal["all", "failed", "none"]

ShownReleaseOption = Annotated[
    str | None,
    typer.Option(
        help=(
            "Release: an installed version, a folder, a .zip file, or ORG/NAME@REVISION on the "
            "Hub. [default: the release of the results, or else the newest installed]"
        )
    ),
]
DarkOption = Annotated[
    bool,
    typer.Option(
        "--dark", help="Draw PNG and SVG files in colours for a dark background."
    ),
]

# How many items without a picture, and how many pages of a report, are named in messages.
MAX_FAILURES = 10
MAX_PAGES = 3
# File formats that `show` writes, by suffix.
PICTURE_FORMS = ("svg", "png", "html")
SOLID_FORMS = ("glb", "stl")
# Suffixes for which `gallery` draws a contact sheet instead of a folder.
SHEET_SUFFIXES = (".svg", ".png")

app = typer.Typer(rich_markup_mode=None)


@app.command()
def report(
    results: ResultsArgument,
    out: Annotated[Path, typer.Option(help="HTML file to write.")] = Path(
        "report.html"
    ),
    release: ShownReleaseOption = None,
    predictions: Annotated[
        str | None,
        typer.Option(
            help="Predictions file that was graded, to show the models' replies."
        ),
    ] = None,
    human: HumanOption = None,
    items: Annotated[
        ReportItems,
        typer.Option(
            help="Items to show: all, failed (those below full marks), or none."
        ),
    ] = "failed",
    workers: Annotated[
        int,
        typer.Option(
            min=0,
            help="Processes that draw pictures; 0 means one per available processor.",
        ),
    ] = 0,
    quiet: QuietOption = False,
) -> None:
    """Write an HTML report.

    The report has tables, charts, and every item below full marks with its picture and checks.

    It opens from disk and needs no network. Anything beyond 5 MB goes to further files next to it
    (report-2.html and so on). Numbers, checks and answers can be read without scripts.
    """
    with reported_errors("report", required=True):
        make_report(
            results,
            out,
            release=find_release(release) if release else None,
            predictions=predictions,
            people=human or (),
            items=items,
            workers=workers,
            quiet=quiet,
        )


def make_report(
    results: Sequence[Path],
    out: Path,
    *,
    release: Release | None,
    predictions: str | None = None,
    people: Sequence[Path] = (),
    items: ReportItems = "failed",
    workers: int = 0,
    quiet: bool = False,
) -> WrittenReport:
    """Write a report; print its pages and the items without a picture to standard error."""
    started = time.monotonic()
    with drawing_display(quiet=quiet) as on_item:
        output = write_report(
            results,
            out,
            release=release,
            predictions=predictions,
            people=people,
            items=items,
            # Even with one processor, drawing needs processes that can be stopped.
            workers=max(workers or processors(), 2),
            on_item=on_item,
        )
    failures = output.without_picture
    if failures:
        say(f"{len(failures)} of {counted(output.items, 'item')} could not be drawn:")
    for name, reason in failures[:MAX_FAILURES]:
        say(f"  {name}: {reason}")
    if len(failures) > MAX_FAILURES:
        say(
            f"  ... and {len(failures) - MAX_FAILURES} more; the report gives the reason "
            "for each item"
        )
    if not quiet:
        pages = ", ".join(map(str, output.pages[:MAX_PAGES]))
        if len(output.pages) > MAX_PAGES:
            pages += f" and {len(output.pages) - MAX_PAGES} more"
        seconds = time.monotonic() - started
        say(
            f"wrote {pages}: {counted(output.items, 'item')}, {output.bytes / 1e6:.1f} MB, "
            f"{seconds:.1f} s"
        )
    return output


@app.command()
def show(
    item: Annotated[str, typer.Argument(help="Id of an item, such as csg_union/12.")],
    predictions: Annotated[
        str | None,
        typer.Option(
            help="Grade and show the answer in this predictions file; - reads standard input."
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Show the stored result in this results.parquet, or the folder that contains "
                "it."
            )
        ),
    ] = None,
    reference: Annotated[
        bool,
        typer.Option(
            "--reference", help="Grade and show the release's reference answer."
        ),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(help="Model whose answer to show, if the file contains several."),
    ] = None,
    setting: Annotated[
        ToolSetting | None,
        typer.Option(
            help="Setting of the answer to show, if the file contains several."
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Output token limit of the answer to show, if the file contains several.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=0, help="Number of the sample to show, if the file contains several."
        ),
    ] = None,
    release: ShownReleaseOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Write the item to FILE.svg, FILE.png, or FILE.html (a 3D view); or its solids "
                "to FILE.glb or FILE.stl."
            )
        ),
    ] = None,
    scale: Annotated[
        float,
        typer.Option(
            min=0.2, max=8, help="Scale of a PNG file: pixels per unit of the picture."
        ),
    ] = 2.0,
    dark: DarkOption = False,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Print only the prompt of the item.")
    ] = False,
    text: Annotated[
        bool,
        typer.Option(
            "--text",
            help="Print the item only as text, even if the text omits the picture.",
        ),
    ] = False,
    open_page: Annotated[
        bool,
        typer.Option(
            "--open",
            help="Open the picture in the browser, even if the text includes it.",
        ),
    ] = False,
    allow_code: Annotated[
        bool,
        typer.Option("--allow-code", help="Run the answer if it is a Python program."),
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1, show_default=False, help="Time limit for grading, in seconds."
        ),
    ] = None,
) -> None:
    """Show one item, with an answer and its checks.

    Prints the item and every check as text. In a terminal, a picture that the text cannot show
    also opens in the browser. With --out, the picture is written to a file instead.
    """
    answer_sources = [predictions is not None, results is not None, reference]
    if sum(answer_sources) > 1:
        misused("choose one of --predictions, --results and --reference")
    shows_answer = any(answer_sources)
    has_form = out is not None or text or open_page
    if prompt and (shows_answer or has_form):
        misused(
            "--prompt prints only the prompt; leave out the options for answers and pictures"
        )
    if out is not None and text:
        misused("--text prints and --out writes a file; choose one")
    with reported_errors("report"):
        form = "" if out is None else checked_form(item, out)
        # Missing libraries are reported before an answer is graded, which can take minutes.
        if form in {"png", "html"} or open_page:
            require(*NEEDS["report"])
        if results is not None and not release:
            source = release_of_results(results).fitting(item)
        else:
            source = find_release(release).fitting(item)
        instance = single.find_instance(source, item)
        if prompt:
            print_prompt(instance)
            return
        run = single.RunChoice(model, setting, budget, sample)
        line: Line | None = None
        note = ""
        if predictions is not None:
            line, note = single.answered_by(predictions, instance, run)
        elif reference:
            line = single.reference_line(source, instance)
        response = None
        if line is not None:
            response = transcript(line.prediction)
            # In a worker, because answers may be hostile.
            limits = WorkerLimits(1, timeout, MEMORY, allow_code)
            with progress(None, quiet=False) as bar:
                view = grade_line(line, instance, source, limits, bar.waiting)
        elif results is not None:
            view, note = single.stored_by(results, instance, run)
        else:
            view = single.item_without_answer(instance)
        if note:
            say(note)
        if out is None:
            print_or_open(view, instance, response, text=text, open_page=open_page)
        elif form in SOLID_FORMS:
            write_file(out, solid_file(single.solids(view, instance), form))
        else:
            data = picture_bytes(view, instance, response, form, scale, dark=dark)
            write_file(out, data)


def print_prompt(instance: Instance) -> None:
    """Print an item's prompt; say on standard error if it also has pictures."""
    print(plain(instance.prompt.rstrip("\n")))  # noqa: T201
    if instance.images:
        pictures = counted(len(instance.images), "picture")
        say(f"the prompt also has {pictures}; `scbench prompts` includes pictures")


def checked_form(item: str, out: Path) -> str:
    """Return the format of the file to write, from its suffix.

    Raises:
        ResultsError: no such file can be written, or the item has no solids.
        ModuleNotFoundError: a library for solids is missing.
    """
    form = out.suffix.lower().removeprefix(".")
    if form in PICTURE_FORMS:
        return form
    if form not in SOLID_FORMS:
        raise ResultsError(
            "the file must end in .svg, .png or .html for a picture, or in .glb or .stl for "
            f"solids, not {out.name!r}"
        )
    task = get_task(task_of(item))
    if solids_of(task) is None:
        raise ResultsError(
            f"{task.title} has no solids; write FILE.svg, FILE.png or FILE.html"
        )
    require("trimesh")
    return form


def release_of_results(results: Path) -> Release:
    """Return the release named in results, which may cover only part of a run."""
    rows = read_results([results], partial=True)
    return release_in_results(rows["release"][0])


def print_or_open(
    item: Item, instance: Instance, response: str | None, *, text: bool, open_page: bool
) -> None:
    """Print an item; open it in the browser if asked to, or if its text cannot show the picture.

    Args:
        item: item with or without an answer.
        instance: instance of the item.
        response: response of the model, for the page.
        text: only print the item.
        open_page: always open it in the browser.
    """
    has_picture = draw_of(get_task(item.task)) is not None
    picture = single.picture(item, instance) if has_picture or open_page else None
    print(plain(single.as_text(item, instance, picture)))  # noqa: T201
    if picture is None or text:
        return
    has_text = picture.text is not None
    # Without a terminal, nobody may be there to look at a browser.
    if open_page or (not has_text and sys.stdout.isatty()):
        open_in_browser(item.id, single.single_page(item, instance, picture, response))
    elif not has_text:
        say(
            "the picture is not part of the text; add --open to see it in a browser, or "
            "--out FILE.svg to write it to a file"
        )


def picture_bytes(
    item: Item,
    instance: Instance,
    response: str | None,
    form: str,
    scale: float,
    *,
    dark: bool,
) -> bytes:
    """Return the picture of an item as a file: HTML, PNG or SVG."""
    picture = single.picture(item, instance)
    if form == "html":
        return single.single_page(item, instance, picture, response).encode()
    if form == "png":
        return sheet_png(sheet_svg(picture, item.id, dark=dark), scale)
    # Without --dark, an SVG follows the colour scheme of the page that shows it.
    return sheet_svg(picture, item.id, dark=dark or None).encode()


def open_in_browser(name: str, page: str) -> None:
    """Open a page in the browser, from a temporary folder that stays until the system cleans up."""
    folder = Path(tempfile.mkdtemp(prefix="scbench-show-"))
    path = folder / f"{name.replace('/', '-')}.html"
    path.write_text(page, "utf-8")
    if webbrowser.open(path.as_uri()):
        say(f"opened {path}")
    else:
        say(
            f"no browser could be opened; the page is {path}, and --out FILE.png writes the "
            "picture"
        )


@app.command()
def gallery(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder to create; or FILE.svg or FILE.png, for a single contact sheet."
        ),
    ],
    release: ShownReleaseOption = None,
    rungs: Annotated[
        str | None,
        typer.Option(
            help=(
                "For a contact sheet: rungs of the ladder to show, separated by commas, such as "
                "1,4,8."
            )
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            min=0.2,
            max=8,
            show_default=False,
            help=(
                "Scale of PNG files: pixels per unit of the picture. [default: 1 for a contact "
                "sheet, otherwise chosen to keep files small]"
            ),
        ),
    ] = None,
    dark: DarkOption = False,
) -> None:
    """Draw one item of every task.

    Writes PNG files with the reference answers, index.html to view them, and gallery.md to embed
    them in Markdown. A contact sheet is a single picture: a right and a wrong answer to every task,
    or some rungs of each.
    """
    with reported_errors("report"):
        is_sheet = folder.suffix.lower() in SHEET_SUFFIXES
        if rungs is not None and not is_sheet:
            raise ReleaseError(
                f"--rungs draws a contact sheet; give a .svg or .png file, not {folder.name!r}"
            )
        require(*NEEDS["report"])
        source = find_release(release)
        with progress(
            None,
            quiet=False,
            doing="drawing",
            done="drew",
            things="pictures",
            estimate=True,
        ) as bar:
            listen(lambda done, total: bar.done(done, done, total))
            if is_sheet:
                write_contact_sheet(source, folder, rungs, scale or 1, dark=dark)
            else:
                count = write_gallery(source, folder, processors(), Look(scale, dark))
                say(f"wrote {counted(count, 'picture')} to {folder}")
            listen(None)


def write_contact_sheet(
    release: Release, out: Path, rungs: str | None, scale: float, *, dark: bool
) -> None:
    """Draw right and wrong answers to every task, or rungs of the ladder, in one picture."""
    if rungs is None:
        svg = right_and_wrong(release, processors(), dark=dark)
    else:
        svg = contact_sheet(release, rungs_in(rungs), processors(), dark=dark)
    data = svg.encode() if out.suffix.lower() == ".svg" else sheet_png(svg, scale)
    write_file(out, data)


def rungs_in(text: str) -> list[int]:
    """Return the numbers in --rungs, without repeats, in the given order.

    Raises:
        ReleaseError: a value is not a number, or is too large for a rung.
    """
    rungs: list[int] = []
    for part in text.split(","):
        digits = part.strip()
        if not is_whole_number(digits) or len(digits) > 4:
            raise ReleaseError(
                f"--rungs must be whole numbers separated by commas, such as 1,4,8, not {text!r}"
            )
        rung = int(digits)
        if rung not in rungs:
            rungs.append(rung)
    return rungs
