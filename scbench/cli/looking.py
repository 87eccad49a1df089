"""``scbench report``, ``show`` and ``gallery``: what there is to look at."""

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scbench.cli.analysis import Files, write_file
from scbench.cli.console import NEEDS, plain, reported_errors, require, say
from scbench.cli.options import Quiet, ReleaseName
from scbench.processes import processors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scbench.model import Instance
    from scbench.predictions import Line
    from scbench.release.load import Release
    from scbench.report.items import Item
    from scbench.report.page import Written
    from scbench.report.picture import Picture

_SHOWN = 10


class Which(StrEnum):
    """The items of a report."""

    ALL = "all"
    FAILED = "failed"
    NONE = "none"


GradedRelease = Annotated[
    str | None,
    typer.Option(
        help="Installed version, folder, .zip, or ORG/NAME@REVISION on the Hub. "
        "[default: that of the results, or the newest installed]"
    ),
]


def report(
    results: Files,
    out: Annotated[Path, typer.Option(help="HTML file to write.")] = Path("report.html"),
    release: GradedRelease = None,
    predictions: Annotated[
        str | None,
        typer.Option(help="The predictions file that was graded: shows the models' texts, too."),
    ] = None,
    items: Annotated[
        Which, typer.Option(help="Which items to show: all, those short of full marks, none.")
    ] = Which.FAILED,
    workers: Annotated[
        int, typer.Option(min=0, help="Processes that draw; 0 takes one per usable processor.")
    ] = 0,
    quiet: Quiet = False,
) -> None:
    """Write an HTML report.

    Tables, charts, and every item short of full marks with its picture and checks.

    It opens from disk and needs no network. What does not fit into 5 MB goes into further files
    beside it (report-2.html and so on). Numbers, checks and answers need no scripts.
    """
    with reported_errors("report"):
        require(*NEEDS["report"])
        from scbench.release.load import find_release

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
    results: "Sequence[Path]",
    out: Path,
    *,
    release: "Release | None",
    predictions: str | None = None,
    items: Which = Which.FAILED,
    workers: int = 0,
    quiet: bool = False,
) -> "Written":
    """Write a report, and say on standard error what was written."""
    from scbench.cli.progress import progress
    from scbench.report.page import write_report

    started = time.monotonic()
    with progress(
        None, quiet=quiet, doing="drawing", done="drew", things="items", estimate=True
    ) as shown:
        written = write_report(
            results,
            out,
            release=release,
            predictions=predictions,
            items=items.value,
            # Even with one processor, what draws must be a process that can be stopped.
            workers=max(workers or processors(), 2),
            on_item=lambda done, total: shown.done(done, done, total),
        )
    failed = written.without_picture
    if failed:
        say(f"no picture could be drawn for {len(failed)} of {written.items} items:")
    for name, reason in failed[:_SHOWN]:
        say(f"  {name}: {reason}")
    if len(failed) > _SHOWN:
        say(f"  ... and {len(failed) - _SHOWN} more; each item says it in its place")
    if not quiet:
        names = ", ".join(map(str, written.pages[:3]))
        more = f" and {len(written.pages) - 3} more" if len(written.pages) > 3 else ""
        say(
            f"{names}{more} written: {written.items} items, {written.bytes / 1e6:.1f} MB, "
            f"{time.monotonic() - started:.1f} s"
        )
    return written


def show(
    item: Annotated[str, typer.Argument(help="Id of an instance, such as csg_union/12.")],
    predictions: Annotated[
        str | None,
        typer.Option(help="Grade and show its answer in this predictions file; - for stdin."),
    ] = None,
    results: Annotated[
        Path | None, typer.Option(help="Show what this results.parquet, or folder, holds on it.")
    ] = None,
    reference: Annotated[
        bool, typer.Option("--reference", help="Grade and show the release's reference answer.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="Whose answer, if the file holds several.")
    ] = None,
    sample: Annotated[int | None, typer.Option(min=0, help="Which of its samples.")] = None,
    release: GradedRelease = None,
    out: Annotated[
        Path | None, typer.Option(help="Write it: FILE.svg, FILE.png, or FILE.html to turn in 3D.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print it, whatever it is.")] = False,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open it in the browser, even if it can be printed.")
    ] = False,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="Run a Python program among the answers.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(min=0.1, help="Seconds grading may take.", show_default=False),
    ] = None,
) -> None:
    """Show one item, and what an answer did to it.

    Prints the text form where there is one (grids, mazes), with every check. Otherwise the picture
    opens in the browser, if there is a terminal; with --out it is written to a file.
    """
    from scbench.cli.console import USAGE

    if (predictions is not None) + (results is not None) + reference > 1:
        say("error: choose one of --predictions, --results and --reference")
        raise typer.Exit(USAGE)
    form = out.suffix.lower().removeprefix(".") if out else ""
    if out is not None and form not in {"svg", "png", "html"}:
        say(f"error: pictures are written as .svg, .png or .html, not as {out.name!r}")
        raise typer.Exit(USAGE)
    with reported_errors("report"):
        if form in {"png", "html"} or open_page:
            require(*NEEDS["report"])
        from scbench.release.load import find_release
        from scbench.report import single
        from scbench.report.turns import transcript

        found = find_release(release or (_release_of(results) if results else None)).fitting(item)
        instance = single.find_instance(found, item)
        shown, response = single.alone(instance), None
        if results is not None:
            shown = single.stored_by(results, instance, model, sample)
        elif predictions is not None or reference:
            line = (
                single.reference_line(found, instance)
                if predictions is None
                else single.answered_by(predictions, instance, model, sample)
            )
            response = transcript(line.prediction)
            shown = _graded(line, instance, found, timeout, allow_code)
        _put(shown, instance, response, out, text=text, open_page=open_page)


def _release_of(results: Path) -> str:
    from scbench.analysis.results import read_results

    return str(read_results([results], partial=True)["release"][0])


def _graded(
    line: "Line",
    instance: "Instance",
    release: "Release",
    timeout: float | None,
    allow_code: bool,
) -> "Item":
    from scbench.cli.progress import progress
    from scbench.grading.workers.scheduler import WorkerLimits
    from scbench.report.single import grade_line

    limits = WorkerLimits(1, timeout, 4 * 2**30, allow_code)
    with progress(None, quiet=False) as shown:
        return grade_line(line, instance, release, limits, shown.waiting)


def _put(
    item: "Item",
    instance: "Instance",
    response: str | None,
    out: Path | None,
    *,
    text: bool,
    open_page: bool,
) -> None:
    """Write, print or open an item."""
    from scbench.catalog import get_task
    from scbench.report import single
    from scbench.report.picture import draw_of

    has_picture = draw_of(get_task(item.task)) is not None
    drawn = single.picture(item, instance) if has_picture or out or open_page else None
    if out is not None and drawn is not None:
        write_file(out, _written(item, instance, drawn, response, out))
        return
    as_words = drawn is None or drawn.text is not None or not sys.stdout.isatty()
    print(plain(single.as_text(item, instance, drawn)))  # noqa: T201
    if drawn is not None and not text and (open_page or not as_words):
        _open(item.id, single.single_page(item, instance, drawn, response))


def _written(
    item: "Item", instance: "Instance", drawn: "Picture", response: str | None, out: Path
) -> bytes:
    from scbench.report.sheet import sheet_png, sheet_svg
    from scbench.report.single import single_page

    match out.suffix.lower():
        case ".html":
            return single_page(item, instance, drawn, response).encode()
        case ".png":
            return sheet_png(sheet_svg(drawn, item.id, dark=False))
    return sheet_svg(drawn, item.id).encode()


def _open(name: str, page: str) -> None:
    """Open a page in the browser, from a folder that stays until the system cleans up."""
    import tempfile
    import webbrowser

    folder = Path(tempfile.mkdtemp(prefix="scbench-show-"))
    path = folder / f"{name.replace('/', '-')}.html"
    path.write_text(page, "utf-8")
    if webbrowser.open(path.as_uri()):
        say(f"opened {path}")
    else:
        say(f"no browser could be opened; the page is {path}")


def gallery(
    folder: Annotated[
        Path, typer.Argument(help="Folder to make; with --ladder, FILE.svg or FILE.png.")
    ],
    release: ReleaseName = None,
    ladder: Annotated[
        bool, typer.Option("--ladder", help="Draw a contact sheet of the ladder into one file.")
    ] = False,
    rungs: Annotated[
        str, typer.Option(help="Rungs on the contact sheet, separated by commas.")
    ] = "1,4,8",
) -> None:
    """Draw one instance of every task.

    With its reference answer, as PNG files.

    An index.html shows them all; gallery.md holds them for a page in Markdown. With --ladder, a few
    rungs of every task stand in one picture.
    """
    with reported_errors("report"):
        require(*NEEDS["report"])
        from scbench.release.load import find_release
        from scbench.report.gallery import write_gallery

        if ladder:
            _contact_sheet(find_release(release), folder, rungs)
            return
        count = write_gallery(find_release(release), folder, processors())
        say(f"{folder}: {count} pictures")


def _contact_sheet(release: "Release", out: Path, rungs: str) -> None:
    from scbench.errors import ReleaseError
    from scbench.report.contact_sheet import contact_sheet
    from scbench.report.sheet import sheet_png

    if out.suffix not in {".svg", ".png"}:
        raise ReleaseError(f"a contact sheet is written as .svg or .png, not as {out.name!r}")
    numbers = [part.strip() for part in rungs.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 5 for part in numbers):
        raise ReleaseError(f"--rungs takes numbers such as 1,4,8, not {rungs!r}")
    svg = contact_sheet(release, list(dict.fromkeys(map(int, numbers))), processors())
    write_file(out, svg.encode() if out.suffix == ".svg" else sheet_png(svg, 1))
    say(f"{out} written")
