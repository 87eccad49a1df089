"""``scbench report``, ``show`` and ``gallery``: what there is to look at."""

import sys
import tempfile
import time
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from scbench.analysis.results import read_results
from scbench.base.errors import ReleaseError, ResultsError
from scbench.base.model import Instance, task_of
from scbench.base.progress import listen
from scbench.catalog import get_task
from scbench.cli.console import NEEDS, misused, plain, reported_errors, require, say
from scbench.cli.options import Commands, ToolSetting
from scbench.cli.printing import Files, write_file
from scbench.cli.progress import progress
from scbench.formats.predictions import Line
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.processes import processors
from scbench.release.load import Release, find_release
from scbench.report import single
from scbench.report.contact_sheets import contact_sheet, right_and_wrong
from scbench.report.draw.solids import solid_file
from scbench.report.gallery import Look, write_gallery
from scbench.report.items import Item
from scbench.report.page import WrittenReport, write_report
from scbench.report.picture import draw_of, solids_of
from scbench.report.sheet import sheet_png, sheet_svg
from scbench.report.single import grade_line
from scbench.report.turns import transcript

app = Commands()


_MAX_FAILURES = 10
_PICTURES = ("svg", "png", "html")
_SOLIDS = ("glb", "stl")


# The items of a report.
Which = Literal["all", "failed", "none"]


@app.command()
def report(
    results: Files,
    out: Path = Path("report.html"),
    release: str | None = None,
    predictions: str | None = None,
    items: Which = "failed",
    workers: int = 0,
    quiet: bool = False,
) -> None:
    """Write an HTML report.

    Tables, charts, and every item short of full marks with its picture and checks.

    It opens from disk and needs no network. What does not fit into 5 MB goes into further files
    beside it (report-2.html and so on). Numbers, checks and answers need no scripts.
    """
    with reported_errors("report", required=True):
        make_report(
            results,
            out,
            release=find_release(release) if release else None,
            predictions=predictions,
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
    items: Which = "failed",
    workers: int = 0,
    quiet: bool = False,
) -> WrittenReport:
    """Write a report, and say on standard error what was written."""
    started = time.monotonic()
    with progress(
        None, quiet=quiet, doing="drawing", done="drew", things="items", estimate=True
    ) as bar:
        output = write_report(
            results,
            out,
            release=release,
            predictions=predictions,
            items=items,
            # Even with one processor, what draws must be a process that can be stopped.
            workers=max(workers or processors(), 2),
            on_item=lambda done, total: bar.done(done, done, total),
        )
    failed = output.without_picture
    if failed:
        say(f"no picture could be drawn for {len(failed)} of {output.items} items:")
    for name, reason in failed[:_MAX_FAILURES]:
        say(f"  {name}: {reason}")
    if len(failed) > _MAX_FAILURES:
        say(
            f"  ... and {len(failed) - _MAX_FAILURES} more; each item says it in its place"
        )
    if not quiet:
        names = ", ".join(map(str, output.pages[:3]))
        suffix = f" and {len(output.pages) - 3} more" if len(output.pages) > 3 else ""
        say(
            f"{names}{suffix} written: {output.items} items, {output.bytes / 1e6:.1f} MB, "
            f"{time.monotonic() - started:.1f} s"
        )
    return output


@app.command()
def show(
    item: str,
    predictions: str | None = None,
    results: Path | None = None,
    reference: bool = False,
    model: str | None = None,
    setting: ToolSetting | None = None,
    budget: int | None = None,
    sample: int | None = None,
    release: str | None = None,
    out: Path | None = None,
    scale: float = 2.0,
    dark: bool = False,
    text: bool = False,
    open_page: bool = False,
    allow_code: bool = False,
    timeout: float | None = None,
) -> None:
    """Show one item, and what an answer did to it.

    Prints the text form where there is one (text tasks, grids), with every check. Otherwise the
    picture opens in the browser, if there is a terminal; with --out it is written to a file.
    """
    if (predictions is not None) + (results is not None) + reference > 1:
        misused("choose one of --predictions, --results and --reference")
    if out is not None and text:
        misused("--text prints and --out writes: choose one")
    with reported_errors("report"):
        form = _file_form(item, out)
        if form in {"png", "html"} or open_page:
            require(*NEEDS["report"])
        source = find_release(
            release or (_release_of_results(results) if results else None)
        ).fitting(item)
        instance = single.find_instance(source, item)
        view, response = single.unanswered(instance), None
        filters = single.RunChoice(model, setting, budget, sample)
        if results is not None:
            view = single.stored_by(results, instance, filters)
        elif predictions is not None or reference:
            line = (
                single.reference_line(source, instance)
                if predictions is None
                else single.answered_by(predictions, instance, filters)
            )
            response = transcript(line.prediction)
            view = _graded_item(line, instance, source, timeout, allow_code)
        if out is not None:
            write_file(out, _file_bytes(view, instance, response, form, scale, dark))
        else:
            _print_or_open(view, instance, response, text=text, open_page=open_page)


def _file_form(item: str, out: Path | None) -> str:
    """Return the kind of file to write; say before any work if it cannot be written."""
    if out is None:
        return ""
    form = out.suffix.lower().removeprefix(".")
    if form not in {*_PICTURES, *_SOLIDS}:
        raise ResultsError(
            f"pictures are written as .svg, .png or .html, solids as .glb or .stl, not as "
            f"{out.name!r}"
        )
    if form in _SOLIDS:
        task = get_task(task_of(item))
        if solids_of(task) is None:
            raise ResultsError(
                f"{task.title} has no solids; write FILE.svg, FILE.png or FILE.html"
            )
        require("trimesh")
    return form


def _release_of_results(results: Path) -> str:
    return str(read_results([results], partial=True)["release"][0])


def _graded_item(
    line: Line,
    instance: Instance,
    release: Release,
    timeout: float | None,
    allow_code: bool,
) -> Item:
    limits = WorkerLimits(1, timeout, 4 * 2**30, allow_code)
    with progress(None, quiet=False) as bar:
        return grade_line(line, instance, release, limits, bar.waiting)


def _print_or_open(
    item: Item, instance: Instance, response: str | None, *, text: bool, open_page: bool
) -> None:
    """Print or open an item."""
    has_picture = draw_of(get_task(item.task)) is not None
    picture = single.picture(item, instance) if has_picture or open_page else None
    as_words = picture is None or picture.text is not None or not sys.stdout.isatty()
    print(plain(single.as_text(item, instance, picture)))  # noqa: T201
    if picture is not None and not text and (open_page or not as_words):
        _open_page(item.id, single.single_page(item, instance, picture, response))


def _file_bytes(
    item: Item,
    instance: Instance,
    response: str | None,
    form: str,
    scale: float,
    dark: bool,
) -> bytes:
    if form in _SOLIDS:
        return solid_file(single.solids(item, instance), form)
    picture = single.picture(item, instance)
    match form:
        case "html":
            return single.single_page(item, instance, picture, response).encode()
        case "png":
            return sheet_png(sheet_svg(picture, item.id, dark=dark), scale)
    return sheet_svg(picture, item.id, dark=dark or None).encode()


def _open_page(name: str, page: str) -> None:
    """Open a page in the browser, from a folder that stays until the system cleans up."""
    folder = Path(tempfile.mkdtemp(prefix="scbench-show-"))
    path = folder / f"{name.replace('/', '-')}.html"
    path.write_text(page, "utf-8")
    if webbrowser.open(path.as_uri()):
        say(f"opened {path}")
    else:
        say(f"no browser could be opened; the page is {path}")


@app.command()
def gallery(
    folder: Path,
    release: str | None = None,
    rungs: str | None = None,
    scale: float | None = None,
    dark: bool = False,
) -> None:
    """Draw one item of every task.

    With its reference answer, as PNG files. An index.html shows them all; gallery.md holds them for
    a page in Markdown. A contact sheet has a right and a wrong answer to every task in one picture,
    or a few rungs of each.
    """
    with reported_errors("report"):
        sheet = rungs is not None or folder.suffix.lower() in {".svg", ".png"}
        if sheet and folder.suffix.lower() not in {".svg", ".png"}:
            raise ReleaseError(
                f"a contact sheet is written as .svg or .png, not as {folder.name!r}"
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
            if sheet:
                _contact_sheet(source, folder, rungs, scale or 1, dark)
            else:
                count = write_gallery(source, folder, processors(), Look(scale, dark))
                say(f"{folder}: {count} pictures")
            listen(None)


def _contact_sheet(
    release: Release, out: Path, rungs: str | None, scale: float, dark: bool
) -> None:
    if rungs is None:
        svg = right_and_wrong(release, processors(), dark=dark)
    else:
        numbers = [part.strip() for part in rungs.split(",")]
        if not all(
            part.isascii() and part.isdecimal() and len(part) < 5 for part in numbers
        ):
            raise ReleaseError(f"--rungs takes numbers such as 1,4,8, not {rungs!r}")
        rung_numbers = list(dict.fromkeys(map(int, numbers)))
        svg = contact_sheet(release, rung_numbers, processors(), dark=dark)
    write_file(
        out, svg.encode() if out.suffix.lower() == ".svg" else sheet_png(svg, scale)
    )
