"""The README's outputs and figures are those of its commands and of the project."""

import json
import re
import shlex
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean

import commands
import pytest

import scbench
from scbench.catalog import BUCKETS
from scbench.freezing.example import example_predictions
from scbench.release.about import CITATION
from scbench.release.load import find_release
from tools import tool

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
COSTS = (ROOT / "docs" / "integrations.md").read_text("utf-8")
REGRADED = ROOT / "tests" / "data" / "paper" / "regraded.jsonl"

# First words of commands that change the environment, or run these tests.
NOT_RUN = {"pip", ".venv/bin/pip", "python3", ".venv/bin/pytest"}
# Traces of output that is not ours.
FOREIGN = re.compile(r"Traceback|Warning|nanobind|leaked|^  File ", re.MULTILINE)


def shell_commands(text: str) -> list[str]:
    """The commands of all shell blocks, in order, without those that are not run."""
    blocks = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    chosen = []
    for part in re.split(r" && |\n", blocks):
        words = shlex.split(part, comments=True)
        # Variables may be set in front of the program.
        names = [word for word in words if "=" not in word]
        if names and names[0] not in NOT_RUN:
            chosen.append(part.strip().replace(".venv/bin/", ""))
    return chosen


def test_output_and_table_are_up_to_date(tmp_path):
    """If they are not, run ``python tools/readme_parts.py``."""
    assert tool("readme_parts").updated_readme(README, tmp_path) == README


def test_printed_score_matches_the_rows():
    release = find_release()
    floors, weights = release.floors(), release.weights()
    heights = defaultdict(list)
    for line in example_predictions(release, ["axiomatic"]):
        row = json.loads(line)
        floor = floors[row["id"]]
        has_no_score = row.get("status") == "blocked" or "error" in row
        if row["model"] != "sloppy" or has_no_score or floor == 1:
            continue
        score = scbench.score(row["id"], row.get("answer", row.get("response"))) or 0
        task = row["id"].partition("/")[0]
        heights[task].append(max((score - floor) / (1 - floor), 0))
    total = weighted = 0
    for task, values in heights.items():
        total += weights[task]
        weighted += weights[task] * fmean(values)
    output = re.search(r"```text\n(.*?)```", README, re.DOTALL)[1]
    line = next(line for line in output.splitlines() if line.startswith("sloppy"))
    assert line.split()[2] == f"{100 * weighted / total:.1f}*"


def test_commands_run_in_order(tmp_path):
    """Commands that call models only compute their cost; nothing else is changed."""
    for command in shell_commands(README):
        if command.startswith("scbench gallery"):
            # Its own tests draw all pictures.
            continue
        asks = "scbench run" in command and "--dry-run" not in command
        line = command.partition("#")[0] + (" --dry-run" if asks else "")
        done = commands.run("bash", "-c", line, cwd=tmp_path, code=0)
        assert not FOREIGN.search(done.stderr), line
    for name in ("picture.svg", "report.html", "scores.png"):
        assert (tmp_path / name).stat().st_size > 1000


def test_figures_match_the_release():
    records = find_release().manifest.tasks
    spatial = [record for record in records.values() if record.bucket in BUCKETS]
    texts = [record for record in records.values() if record.bucket not in BUCKETS]
    scores = Counter()
    for record in spatial:
        scores[record.bucket] += record.scores
    items = sum(record.instances for record in spatial)
    text_items = sum(record.instances for record in texts)
    assert f"See all {len(records)} tasks" in README
    assert (
        f"**{len(spatial)} spatial tasks** with {items} items and "
        f"{scores.total()} scores"
    ) in README
    assert (
        f"axiomatic ({scores['axiomatic']} scores), constructive "
        f"({scores['constructive']}) and planning ({scores['planning']})"
    ) in README
    assert f"**{len(texts)} text tasks** with {text_items:,} items" in README
    ladder = find_release().ladder().instances(["csg_union"])
    rungs = {name.rpartition("-")[0] for name in ladder}
    assert len(rungs) == 8
    assert "eight rungs per task" in README


def test_costs_match_a_dry_run(tmp_path):
    for options, form in (
        ((), "{0} prompts with {1} characters: about {2} tokens"),
        (("--tasks", "ladder"), "{0} prompts with {1} characters"),
    ):
        words = ("scbench", "run", "openai/x", *options, "--dry-run")
        done = commands.run(*words, cwd=tmp_path, code=0)
        output = done.stdout + done.stderr
        prompts = re.search(r"([\d,]+) prompts", output)[1]
        amounts = re.search(r"([\d,]+) characters, about ([\d,]+) tokens", output)
        assert form.format(prompts, *amounts.groups()) in COSTS


def test_regraded_answers_are_counted():
    rows = [json.loads(line) for line in REGRADED.read_text("utf-8").splitlines()]
    same = sum(row["published"] == row["scbench_3_0_0"] for row in rows)
    runs = {row["run"] for row in rows}
    assert len(runs) == 6
    counts = f"{same} of {len(rows)} answers from the paper's six runs"
    assert counts in README
    assert f"The other {len(rows) - same} differ" in README
    published = 100 * fmean(row["published"] for row in rows)
    ours = 100 * fmean(row["scbench_3_0_0"] for row in rows)
    page = (ROOT / "docs" / "paper.md").read_text("utf-8")
    assert f"Of {len(rows)} published answers" in page
    assert f"is {published:.1f} as published and {ours:.1f} under these graders" in page
    table = tool("regraded_table").table_lines(rows)
    assert "\n".join(table) in page


def test_citation_matches_the_card():
    assert f"```bibtex\n{CITATION}\n```" in README


def test_badges_and_pictures_exist():
    """If they are not there, run ``python tools/badges.py``."""
    for name, svg in tool("badges").badges().items():
        assert (ROOT / "docs" / "badges" / f"{name}.svg").read_text("utf-8") == svg
        assert f"(docs/badges/{name}.svg)" in README
    for task in tool("picture_strip").PANELS:
        assert f'src="docs/strip/{task}.png"' in README


@pytest.mark.parametrize("limit", [25])
def test_sentences_are_short(limit):
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    lines = [line for line in prose.splitlines() if line and line[0] not in "|<#!["]
    sentences = re.split(r"[.:;] |\n", "\n".join(lines))
    assert [part for part in sentences if len(part.split()) > limit] == []
