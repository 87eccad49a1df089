"""The table of rooms in CONTRIBUTING.md, made from the layers that imports are held to.

Rooms and their order come from the contract in pyproject.toml, what they hold from the first
sentence of their docstrings, so the table cannot say what is not so::

    python tools/room_map.py           # print it
    python tools/room_map.py --write   # put it into CONTRIBUTING.md
"""

import argparse
import ast
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
START, END = (
    "<!-- rooms: python tools/room_map.py --write -->\n",
    "<!-- end of rooms -->\n",
)
# Folders that stand at the top of the repository; the package has links to them.
AT_THE_TOP = ("builders", "graders", "dataset_card", "releases")


def layers() -> list[list[str]]:
    """Return the rooms of each layer, from the top down.

    Raises:
        KeyError: pyproject.toml has no contract with layers.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"][
        "importlinter"
    ]
    (contract,) = (item for item in settings["contracts"] if item["type"] == "layers")
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def purpose(module: Path) -> str:
    """Return the first sentence of a module's docstring, without its full stop."""
    text = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    first = " ".join(text.partition("\n\n")[0].split()).removesuffix(".")
    return first.replace("``", "`").replace("|", r"\|")


def row(name: str) -> str | None:
    """Return the line of a room; None for one that holds no module."""
    folder = ROOT / "scbench" / name
    module = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    if not module.is_file():
        return None
    place = f"{'' if name in AT_THE_TOP else 'scbench/'}{name}{'/' if folder.is_dir() else '.py'}"
    return f"| `{place}` | {purpose(module)} |"


def room_map() -> str:
    """Return the table, as Markdown."""
    rows = (row(name) for layer in layers() for name in layer)
    return "\n".join(["| room | what it holds |", "|---|---|", *filter(None, rows), ""])


def page_with(table: str) -> str:
    """Return CONTRIBUTING.md with a table between its two marks.

    Raises:
        ValueError: a mark is missing.
    """
    before, start, remainder = PAGE.read_text("utf-8").partition(START)
    _, end, after = remainder.partition(END)
    if not (start and end):
        raise ValueError(f"{PAGE.name} has no place for the table: {START.strip()}")
    return f"{before}{START}{table}{END}{after}"


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--write", action="store_true", help="put it into CONTRIBUTING.md"
    )
    if parser.parse_args().write:
        PAGE.write_text(page_with(room_map()), "utf-8")
    else:
        sys.stdout.write(room_map())


if __name__ == "__main__":
    main()
