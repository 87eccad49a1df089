"""The documentation: its site has every page, its notebook runs."""

import re
import shutil
from pathlib import Path

import pytest
from commands import run
from later import Later

from scbench.grading.rows.columns import Row
from scbench.release.load import find_release
from tools import tool

nbformat = Later("nbformat")

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site():
    """The program that assembles the sources of the site."""
    return tool("docs_site")


@pytest.fixture(scope="module")
def sources(site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "sources"
    site.sources(folder)
    return folder


def test_every_page_is_in_the_menu(site):
    listed = {name for names in site.NAV.values() for name in names}
    written = {
        f"docs/{path.stem}"
        for path in DOCS.iterdir()
        if path.suffix in {".md", ".ipynb"}
    }
    written |= {path.stem for path in ROOT.glob("*.md")} - {"README"}
    assert written - listed == set()
    assert listed - written <= {"docs/commands", "docs/api"}


def test_tasks_page_is_up_to_date():
    """If it is not, run ``python tools/tasks_page.py``."""
    release = find_release()
    text = (DOCS / "tasks.md").read_text("utf-8")
    assert text == tool("tasks_page").page(release)
    # Every task has a picture, an example, a score and a floor.
    count = len(release.manifest.tasks)
    for part in ("![", "<details>", "- Score: ", " Floor: "):
        assert text.count(part) == count


def test_tasks_page_cuts_only_long_prompts():
    text = (DOCS / "tasks.md").read_text("utf-8")
    note = re.compile(r"Prompt of `\S+` \(the first [\d,]+ of ([\d,]+) characters\)")
    lengths = [int(length.replace(",", "")) for length in note.findall(text)]
    assert lengths
    assert min(lengths) > tool("tasks_page").WHOLE_PROMPT
    whole = re.findall(r"Prompt of `\S+`:\n\n```text\n(.+?)\n```", text, re.DOTALL)
    assert len(whole) + len(lengths) == text.count("Prompt of ")


def test_tasks_page_links_to_the_pages_of_the_site(sources):
    text = (sources / "docs" / "tasks.md").read_text("utf-8")
    targets = re.findall(
        r"\]\((tasks/[^)]*|[./]*releases[^)]*|[./]*dataset_card[^)]*)\)", text
    )
    assert len(targets) == 2 * len(find_release().manifest.tasks)
    assert [name for name in targets if not (sources / "docs" / name).is_file()] == []


def test_result_columns_are_documented():
    text = (DOCS / "files.md").read_text("utf-8")
    table = text.partition("## Results")[2].partition("\n## ")[0]
    cells = [
        line.split("|")[1] for line in table.splitlines() if line.startswith("| `")
    ]
    names = [name.strip(" `") for cell in cells for name in cell.split(",")]
    assert sorted(names) == sorted(Row.__dataclass_fields__)


def test_notebook_runs(tmp_path):
    stored = nbformat.read(DOCS / "two_runs.ipynb", as_version=4)
    assert not any(
        cell.get("outputs") for cell in stored.cells
    )  # generated for the site
    shutil.copy(DOCS / "two_runs.ipynb", tmp_path / "two_runs.ipynb")
    run("jupyter-execute", "--output=run.ipynb", "two_runs.ipynb", cwd=tmp_path, code=0)
    results = [
        output["data"]
        for cell in nbformat.read(tmp_path / "run.ipynb", as_version=4).cells
        for output in cell.get("outputs", ())
        if output.output_type == "execute_result"
    ]
    assert "oracle" in results[-2]["text/html"]  # who is better
    assert results[-1]["image/svg+xml"].startswith("<svg")
