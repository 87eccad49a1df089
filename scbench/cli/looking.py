"""``scbench report``, ``show`` and ``gallery``: what there is to look at."""

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scbench.cli.analysis import Files, write_file
from scbench.cli.console import NEEDS, plain, reported_errors, require, say
from scbench.cli.options import Quiet
from scbench.machine.processes import processors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scbench.base.model import Instance
    from scbench.formats.predictions import Line
    from scbench.release.load import Release
    from scbench.report.items import Item
    from scbench.report.page import WrittenReport

_SHOWN = 10
_PICTURES = ("svg", "png", "html")
_SOLIDS = ("glb", "stl")


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

Model = Annotated[str | None, typer.Option(help="Whose answer, if the file holds several.")]
Setting = Annotated[
    Literal["no_tools", "tools"] | None,
    typer.Option(help="In which setting, if there are several."),
]
Budget = Annotated[
    int | None, typer.Option(min=0, help="With which limit of output tokens, of a sweep.")
]
Sample = Annotated[int | None, typer.Option(min=0, help="Which of its samples.")]
Scale = Annotated[
    float, typer.Option(min=0.2, max=8, help="Pixels of a PNG file for one of the picture.")
]
Dark = Annotated[
    bool, typer.Option("--dark", help="Colours for a dark page, in PNG and SVG files.")
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
    with reported_errors("report", required=True):
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
) -> "WrittenReport":
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
    model: Model = None,
    setting: Setting = None,
    budget: Budget = None,
    sample: Sample = None,
    release: GradedRelease = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write it: FILE.svg, FILE.png, FILE.html to turn in 3D; its solids: FILE.glb, "
            "FILE.stl."
        ),
    ] = None,
    scale: Scale = 2.0,
    dark: Dark = False,
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

    Prints the text form where there is one (text tasks, grids), with every check. Otherwise the
    picture opens in the browser, if there is a terminal; with --out it is written to a file.
    """
    from scbench.cli.console import USAGE

    if (predictions is not None) + (results is not None) + reference > 1:
        say("error: choose one of --predictions, --results and --reference")
        raise typer.Exit(USAGE)
    with reported_errors("report"):
        form = _form(item, out)
        if form in {"png", "html"} or open_page:
            require(*NEEDS["report"])
        from scbench.release.load import find_release
        from scbench.report import single
        from scbench.report.turns import transcript

        found = find_release(release or (_release_of(results) if results else None)).fitting(item)
        instance = single.find_instance(found, item)
        shown, response = single.unanswered(instance), None
        wanted = single.RunChoice(model, setting, budget, sample)
        if results is not None:
            shown = single.stored_by(results, instance, wanted)
        elif predictions is not None or reference:
            line = (
                single.reference_line(found, instance)
                if predictions is None
                else single.answered_by(predictions, instance, wanted)
            )
            response = transcript(line.prediction)
            shown = _graded(line, instance, found, timeout, allow_code)
        if out is not None:
            write_file(out, _written(shown, instance, response, form, scale, dark))
        else:
            _put(shown, instance, response, text=text, open_page=open_page)


def _form(item: str, out: Path | None) -> str:
    """Return the kind of file to write; say before any work if it cannot be written."""
    from scbench.base.errors import ResultsError
    from scbench.base.model import task_of
    from scbench.catalog import get_task
    from scbench.report.picture import solids_of

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
            raise ResultsError(f"{task.title} has no solids; write FILE.svg, FILE.png or FILE.html")
        require("trimesh")
    return form


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
    item: "Item", instance: "Instance", response: str | None, *, text: bool, open_page: bool
) -> None:
    """Print or open an item."""
    from scbench.catalog import get_task
    from scbench.report import single
    from scbench.report.picture import draw_of

    has_picture = draw_of(get_task(item.task)) is not None
    drawn = single.picture(item, instance) if has_picture or open_page else None
    as_words = drawn is None or drawn.text is not None or not sys.stdout.isatty()
    print(plain(single.as_text(item, instance, drawn)))  # noqa: T201
    if drawn is not None and not text and (open_page or not as_words):
        _open(item.id, single.single_page(item, instance, drawn, response))


def _written(
    item: "Item", instance: "Instance", response: str | None, form: str, scale: float, dark: bool
) -> bytes:
    from scbench.report import single
    from scbench.report.draw.solids import solid_file
    from scbench.report.sheet import sheet_png, sheet_svg

    if form in _SOLIDS:
        return solid_file(single.solids(item, instance), form)
    drawn = single.picture(item, instance)
    match form:
        case "html":
            return single.single_page(item, instance, drawn, response).encode()
        case "png":
            return sheet_png(sheet_svg(drawn, item.id, dark=dark), scale)
    return sheet_svg(drawn, item.id, dark=dark or None).encode()


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
        Path, typer.Argument(help="Folder to make; or FILE.svg or FILE.png, for one contact sheet.")
    ],
    release: GradedRelease = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Draw what this results.parquet, or folder, holds: what failed first."),
    ] = None,
    model: Model = None,
    setting: Setting = None,
    budget: Budget = None,
    sample: Sample = None,
    ladder: Annotated[
        bool, typer.Option("--ladder", help="A contact sheet of rungs of the ladder.")
    ] = False,
    rungs: Annotated[
        str, typer.Option(help="Rungs on the contact sheet, separated by commas.")
    ] = "1,4,8",
    scale: Annotated[
        float | None,
        typer.Option(
            min=0.2,
            max=8,
            help="Pixels of a PNG file for one of the picture. [default: few bytes; of a contact "
            "sheet 1]",
            show_default=False,
        ),
    ] = None,
    dark: Dark = False,
) -> None:
    """Draw one instance of every task.

    With its reference answer, as PNG files; with --results, with a model's answer.

    An index.html shows them all; gallery.md holds them for a page in Markdown. A contact sheet has
    a right and a wrong answer to every task in one picture, or a few rungs of each.
    """
    with reported_errors("report"):
        sheet = ladder or folder.suffix.lower() in {".svg", ".png"}
        if sheet:
            _check_sheet(folder, results)
        require(*NEEDS["report"])
        from scbench.release.load import find_release
        from scbench.report.gallery import Look, run_cases, write_gallery

        found = find_release(release or (_release_of(results) if results else None))
        if sheet:
            _contact_sheet(found, folder, rungs if ladder else None, scale or 1, dark)
            return
        cases = None
        if results is not None:
            from scbench.report.single import RunChoice

            cases = run_cases(found, results, RunChoice(model, setting, budget, sample))
        count = write_gallery(found, folder, processors(), Look(scale, dark), cases)
        say(f"{folder}: {count} pictures")


def _check_sheet(out: Path, results: Path | None) -> None:
    from scbench.base.errors import ReleaseError

    if out.suffix.lower() not in {".svg", ".png"}:
        raise ReleaseError(f"a contact sheet is written as .svg or .png, not as {out.name!r}")
    if results is not None:
        raise ReleaseError("a contact sheet holds stored answers; with --results name a folder")


def _contact_sheet(
    release: "Release", out: Path, rungs: str | None, scale: float, dark: bool
) -> None:
    from scbench.base.errors import ReleaseError
    from scbench.report.gallery import contact_sheet, right_and_wrong
    from scbench.report.sheet import sheet_png

    if rungs is None:
        svg = right_and_wrong(release, processors(), dark=dark)
    else:
        numbers = [part.strip() for part in rungs.split(",")]
        if not all(part.isascii() and part.isdecimal() and len(part) < 5 for part in numbers):
            raise ReleaseError(f"--rungs takes numbers such as 1,4,8, not {rungs!r}")
        chosen = list(dict.fromkeys(map(int, numbers)))
        svg = contact_sheet(release, chosen, processors(), dark=dark)
    write_file(out, svg.encode() if out.suffix.lower() == ".svg" else sheet_png(svg, scale))
