"""Self-contained HTML pages, which load and send nothing.

The content security policy of a page names each of its scripts by hash, so nothing else in it can
run, whatever a model's name or answer contains. The templates also escape all texts.
"""

import base64
import gzip
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import distribution
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from scbench.base import __version__
from scbench.report.draw.colours import style_sheet

if TYPE_CHECKING:
    from jinja2 import Environment

# Packages with templates; those after the first may have none.
_ROOMS = ("scbench.report", "scbench.leaderboard")


def asset(name: str, package: str = "scbench.report") -> str:
    """Return the text of a file among a package's ``assets``."""
    return files(package).joinpath("assets", name).read_text("utf-8")


@cache
def environment() -> "Environment":
    """Return the environment of all pages' templates; it escapes by default."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

    rooms = [room for room in _ROOMS if files(room).joinpath("templates").is_dir()]
    loaders = [PackageLoader(room) for room in rooms]
    return Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_page(
    template: str,
    *,
    title: str,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    later: Sequence[str] = (),
    images: str = "data: blob:",
    **values: object,
) -> str:
    """Return a page of a template that extends ``base.html.j2``.

    The scripts are part of scbench and are not escaped; ``later`` are scripts they may
    add. ``images`` is the content security policy's source list for images.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    from markupsafe import Markup  # noqa: PLC0415  (comes with Jinja2, an extra)

    style = "\n".join((asset("page.css"), style_sheet(), *styles))
    page = environment().get_template(template)
    return page.render(
        title=title,
        version=__version__,
        style=Markup(style),  # noqa: S704  (part of scbench)
        scripts=[Markup(script) for script in scripts],  # noqa: S704  (part of scbench)
        csp=content_security_policy((*scripts, *later), images),
        **values,
    )


def content_security_policy(scripts: Sequence[str], images: str) -> str:
    """Return the policy of a page that runs these scripts and no others."""
    sources = []
    for text in scripts:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest())
        sources.append(f"'sha256-{digest.decode()}'")
    script_source = " ".join(sources) or "'none'"
    return (
        f"default-src 'none'; script-src {script_source}; style-src 'unsafe-inline'; "
        f"img-src {images}; base-uri 'none'; form-action 'none'"
    )


def page_parts(*, in_3d: bool) -> dict[str, Any]:
    """Return the arguments of `render_page` for items; the script for pictures in 3D is large.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    script = asset("sortable.js") + asset("report.js")
    styles = [asset("report.css")]
    if not in_3d:
        return {"styles": styles, "scripts": [script], "plotly": "", "licence": ""}
    plotly = plotly_script()
    licence = distribution("plotly").read_text("licenses/LICENSE.txt")
    return {
        "styles": styles,
        "scripts": [asset("viewer.js"), script],
        "later": [plotly],
        "plotly": packed_plotly(),
        "licence": licence or "MIT licence",
    }


def plotly_script() -> str:
    """Return the library that draws in 3D."""
    folder = files("plotly").joinpath("package_data")
    return folder.joinpath("plotly.min.js").read_text("utf-8")


@cache
def packed_plotly() -> str:
    """Return that library packed; packing takes a second."""
    return packed(plotly_script())


def packed(text: str) -> str:
    """Return text as base64 of gzip, which scripts unpack when needed."""
    # Without a timestamp, the same text gives the same bytes.
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
