"""Pages: HTML files that hold all they need, load nothing and send nothing.

A page's content security policy names each of its scripts by hash, so nothing else in it can run,
whatever a model's name or answer holds; the templates escape all of that as well.
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


def asset(name: str, package: str = "scbench.report") -> str:
    """Return the text of a file among a package's ``assets``."""
    return files(package).joinpath("assets", name).read_text("utf-8")


@cache
def environment() -> "Environment":
    """Return the environment of all pages' templates; it escapes by default."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

    rooms = ("scbench.report", "scbench.leaderboard")
    return Environment(
        loader=ChoiceLoader(
            [
                PackageLoader(room)
                for room in rooms
                if files(room).joinpath("templates").is_dir()
            ]
        ),
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

    The scripts are texts of our own, so they are not escaped; ``later`` are those that they may
    add. ``images`` is where images may come from, as a content security policy says it.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    from markupsafe import Markup  # noqa: PLC0415  (comes with Jinja2, an extra)

    style = "\n".join((asset("page.css"), style_sheet(), *styles))
    return (
        environment()
        .get_template(template)
        .render(
            title=title,
            version=__version__,
            style=Markup(style),  # noqa: S704  (ours)
            scripts=[Markup(script) for script in scripts],  # noqa: S704  (ours)
            csp=_policy((*scripts, *later), images),
            **values,
        )
    )


def _policy(scripts: Sequence[str], images: str) -> str:
    hashes = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in scripts
    )
    sources = " ".join(f"'sha256-{digest.decode()}'" for digest in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {sources}; style-src 'unsafe-inline'; "
        f"img-src {images}; base-uri 'none'; form-action 'none'"
    )


def page_parts(*, in_3d: bool) -> dict[str, Any]:
    """Return what `render_page` wants for items; the script for pictures in 3D is large.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    script = asset("sortable.js") + asset("report.js")
    parts: dict[str, Any] = {"styles": [asset("report.css")], "scripts": [script]}
    if not in_3d:
        return parts | {"plotly": "", "licence": ""}
    plotly = (
        files("plotly").joinpath("package_data", "plotly.min.js").read_text("utf-8")
    )
    return parts | {
        "scripts": [asset("viewer.js"), script],
        "later": [plotly],
        "plotly": _packed_script(plotly),
        "licence": distribution("plotly").read_text("licenses/LICENSE.txt")
        or "MIT licence",
    }


def packed(text: str) -> str:
    """Return text as base64 of gzip, for scripts to unpack when it is wanted."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


_packed_script = cache(packed)
