"""Collect the sources of the documentation site, which Sphinx builds.

::

    python tools/docs_site.py FOLDER
    sphinx-build -W --keep-going FOLDER SITE
    python tools/docs_site.py --check SITE     # list what pages would fetch from elsewhere

Pages of the repository are copied, so that links work both on a code forge and on the site. If the
text of a link is a file name, the site shows the title of that page. Pages on tasks, commands and
modules are generated from the cards, the commands' help and the docstrings. Nothing is fetched.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import typer
from typer.core import TyperCommand, TyperGroup

import scbench
from scbench.catalog import MANIFOLDS, Task, all_tasks
from scbench.cli.main import app
from scbench.release.load import Release, find_release

ROOT = Path(__file__).resolve().parents[1]

# The pages of the site by their place in its menu. Pages that do not exist are omitted.
NAV = {
    "Start": ("docs/tutorial", "docs/two_runs", "docs/faq", "docs/glossary"),
    "How to": (
        "docs/integrations",
        "docs/analyse",
        "docs/generate",
        "docs/ladder",
        "docs/pictures",
        "docs/environments",
        "docs/play",
        "docs/leaderboard",
        "docs/releases",
    ),
    "The benchmark": (
        "docs/tasks",
        "docs/answers",
        "docs/statistics",
        "docs/evidence",
        "docs/paper",
    ),
    "Reference": (
        "docs/predictions",
        "docs/files",
        "docs/commands",
        "docs/api",
        "docs/sandbox",
        "docs/performance",
    ),
    "The project": ("CONTRIBUTING", "SECURITY", "CHANGELOG"),
}

# Attributes whose address a browser fetches, by tag.
FETCHED = {"script": "src", "img": "src", "iframe": "src", "link": "href"}
API_PAGE = """# {name}

{title}.

```{{eval-rst}}
.. automodule:: {name}
   :members: {members}
```
"""
# Modules that have a page, generated from docstrings: its title, and its members if not all.
MODULES = {
    "scbench": ("Main functions", ""),
    "scbench.reward": ("Rewards for training loops", "for_trl, packed, unpacked"),
    "scbench.loop": ("Models in a loop", ""),
    "scbench.analysis": ("Tables and comparisons", ""),
    "scbench.release.load": ("Releases", ""),
    "scbench.catalog": ("Tasks", ""),
    "scbench.scoring.judge": ("Judging one answer", ""),
    "scbench.report.charts": ("Charts", ""),
}


def sources(folder: Path) -> None:
    """Write all sources of the site into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.move(folder / "docs" / "conf.py", folder / "conf.py")
    for path in (*ROOT.glob("*.md"), *ROOT.glob("*.cff"), ROOT / "LICENSE"):
        shutil.copyfile(path, folder / path.name)
    pages = {**task_pages(), **api_pages(), "docs/commands.md": command_page()}
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    gallery = find_release().root / "gallery"
    shutil.copytree(gallery, folder / "docs" / "tasks" / "pictures")
    for page in (*folder.glob("*.md"), *folder.glob("docs/*.md")):
        page.write_text(with_page_titles(page.read_text("utf-8")), "utf-8")
    shutil.move(folder / "README.md", folder / "index.md")
    with (folder / "index.md").open("a", encoding="utf-8") as file:
        for caption, names in NAV.items():
            file.write(
                toctree(
                    [name for name in names if any(folder.glob(f"{name}.*"))], caption
                )
            )


def with_page_titles(text: str) -> str:
    """Return a page whose links show page titles instead of file names."""
    return re.sub(r"\[`?[\w/-]+\.md`?\](\([^)\s]+\.md(#[\w-]+)?\))", r"[]\1", text)


def toctree(pages: list[str], caption: str = "") -> str:
    """Return a menu of pages that is hidden on the page itself."""
    lines = ["", "```{toctree}", ":hidden:"]
    if caption:
        lines.append(f":caption: {caption}")
    return "\n".join([*lines, "", *pages, "```", ""])


def task_page(task: Task, release: Release) -> str:
    """Return the page on a task: its card, its picture, and all checks or a fresh prompt."""
    record = release.manifest.tasks.get(task.id)
    scores = record.scores if record else "none"
    pictures = release.root / "gallery"
    kind = "0 or 1" if task.scoring == "binary" else "from 0 to 1"
    head = (
        f"`{task.id}`, bucket {task.bucket}. Scores are {kind}; release {release.version} "
        f"has {scores}. Grader version {task.grader_version}.\n"
    )
    lines = [f"# {task.title}\n"]
    if task.summary:
        lines.append(f"{task.summary}\n")
    lines.append(head)
    if (pictures / f"{task.id}.png").is_file():
        caption = f"One item of {task.title}, with a right answer"
        lines += [f"![{caption}](pictures/{task.id}.png)\n", f"*{caption}.*\n"]
    lines += [task.card_text, "\n## Checks\n"]
    lines += ["Every verdict states for each check whether it passed.\n"]
    lines += ["| check | what it asks |", "|---|---|"]
    for name, text in task.checks.items():
        # An unescaped vertical bar would end the cell.
        escaped = text.replace("|", r"\|")
        lines.append(f"| `{name}` | {escaped} |")
    if task.bucket == MANIFOLDS:
        (case,) = scbench.generate(task.id, count=1, seed=1)
        lines += [
            "\n## A prompt\n",
            "Generated for this page; no release contains it.\n",
        ]
        lines += ["````text", case.prompt, "````"]
    return "\n".join(lines) + "\n"


def task_pages() -> dict[str, str]:
    """Return a page for each task, and the page that shows all tasks, by path."""
    release = find_release()
    tasks = all_tasks().values()
    pages = {f"docs/tasks/{task.id}.md": task_page(task, release) for task in tasks}
    overview = (ROOT / "docs" / "tasks.md").read_text("utf-8")
    # On the site, cards are on the pages of tasks, and pictures are in a folder next to them.
    overview = overview.replace("](../dataset_card/tasks/", "](tasks/")
    overview = re.sub(
        r"\]\(\.\./releases/[^/]+/gallery/", "](tasks/pictures/", overview
    )
    menu = toctree([f"tasks/{task.id}" for task in tasks])
    pages["docs/tasks.md"] = overview + menu
    return pages


def command_page() -> str:
    """Return the help of all commands."""
    lines = ["# Commands\n", "The `--help` output of every command.\n"]
    for name, context in commands(typer.main.get_command(app), None, "scbench"):
        lines += [f"## {name}\n", "```text", context.get_help(), "```\n"]
    return "\n".join(lines)


def commands(
    command: TyperCommand | TyperGroup, parent: typer.Context | None, name: str
) -> Iterator[tuple[str, typer.Context]]:
    """Yield the name and the context of a command and of all its subcommands."""
    context = typer.Context(command, parent=parent, info_name=name.rpartition(" ")[2])
    yield name, context
    if isinstance(command, TyperGroup):
        for below in command.list_commands(context):
            subcommand = command.get_command(context, below)
            if subcommand is not None:
                yield from commands(subcommand, context, f"{name} {below}")


def api_pages() -> dict[str, str]:
    """Return a page for each module, and a page that lists them, by path."""
    pages = {}
    lines = ["# API\n", "| module | |", "|---|---|"]
    for name, (title, members) in MODULES.items():
        pages[f"docs/api/{name}.md"] = API_PAGE.format(
            name=name, title=title, members=members
        )
        lines.append(f"| [{name}](api/{name}.md) | {title} |")
    lines.append(toctree([f"api/{name}" for name in MODULES]))
    pages["docs/api.md"] = "\n".join(lines)
    return pages


class FetchedAddresses(HTMLParser):
    """Collects the addresses on other hosts that a browser fetches to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the addresses of scripts, styles, pictures and frames."""
        values = dict(attrs)
        address = values.get(FETCHED.get(tag, "")) or ""
        # The address has a host, with or without a scheme. A canonical link is not fetched.
        if re.match(r"(https?:)?//", address) and values.get("rel") != "canonical":
            self.addresses.append(address)


def fetched_from_elsewhere(site: Path) -> list[str]:
    """Return the addresses that pages and styles of a site would fetch from other hosts."""
    results = []
    for page in sorted(site.rglob("*.html")):
        parser = FetchedAddresses()
        parser.feed(page.read_text("utf-8"))
        name = page.relative_to(site)
        results += [f"{name}: {address}" for address in parser.addresses]
    for style in sorted(site.rglob("*.css")):
        # Addresses may be quoted.
        pattern = r"url\([\"']?((?:https?:)?//[^)\"']*)"
        addresses = re.findall(pattern, style.read_text("utf-8"))
        name = style.relative_to(site)
        results += [f"{name}: {address}" for address in addresses]
    return results


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        sys.exit("\n".join(fetched_from_elsewhere(Path(sys.argv[2]))) or 0)
    sources(Path(sys.argv[1]))
