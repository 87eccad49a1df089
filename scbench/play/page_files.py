"""The files of the page, for the server and for static sites."""

from importlib.resources import files

from scbench.report.draw.colours import style_sheet
from scbench.report.html import asset

ROOM = "scbench.play"
# Styles that all pages of the package share.
SHARED_STYLES = "page.css"


def asset_names() -> list[str]:
    """Return the names of all scripts and style sheets, as in the page's addresses."""
    folder = files(ROOM).joinpath("assets")
    names = [file.name for file in folder.iterdir() if file.is_file()]
    names.remove("index.html")
    names += [f"editors/{task}.js" for task in editor_names()]
    return [SHARED_STYLES, *sorted(names)]


def editor_names() -> list[str]:
    """Return the ids of the tasks that have an editor."""
    folder = files(ROOM).joinpath("assets", "editors")
    return sorted(file.name.removesuffix(".js") for file in folder.iterdir())


def page_file(name: str) -> str:
    """Return the text of a file of the page."""
    if name == SHARED_STYLES:
        return asset(SHARED_STYLES) + style_sheet()
    return asset(name, ROOM)
