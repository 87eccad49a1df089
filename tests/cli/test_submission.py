"""Command-line tests of ``scbench submission`` and ``leaderboard``."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml

from scbench.catalog import get_task
from scbench.freezing.freeze import build_release
from scbench.release.load import find_release

ROOT = Path(__file__).resolve().parents[2]

WORKFLOWS = sorted((ROOT / "docs" / "workflows").glob("*.yml"))


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("small") / "0.0.1"
    build_release(
        "0.0.1", folder, [get_task("enumerate_edges"), get_task("classify_behaviour")]
    )
    return folder


def right_answers(release) -> list[dict]:
    tasks = release.manifest.default_tasks
    return [
        {"id": ref.id, "answer": json.loads(ref.answer)}
        for ref in release.references()
        if ref.kind == "reference" and ref.id.partition("/")[0] in tasks
    ]


@pytest.fixture
def entry(small, inside, tmp_path) -> Path:
    """A submission written by ``init``."""
    release = find_release(str(small))
    lines = right_answers(release)
    (tmp_path / "answers.jsonl").write_text(
        "".join(f"{json.dumps(line)}\n" for line in lines)
    )
    done = inside(
        "submission",
        "init",
        "subs/aurora",
        "--model",
        "Aurora",
        "--model-version",
        "2.0",
        "--organisation",
        "Lab: & Co",
        "--date",
        "2026-01-02",
        "--release",
        "0.0.1",
        "--setting",
        "tools",
        "--tool",
        "python",
        "--sampling",
        "temperature=0.7",
        "--sampling",
        "effort=high",
        "--contact",
        "a@example.org",
        "--outputs-licence",
        "CC-BY-4.0",
        "--predictions",
        "answers.jsonl",
    )
    assert done.returncode == 0, done.stderr
    assert "next: scbench submission validate subs/aurora" in done.stderr
    return tmp_path / "subs" / "aurora"


def test_init_writes_a_valid_submission(entry, inside, small):
    about = yaml.safe_load((entry / "submission.yaml").read_text("utf-8"))
    assert about["model"] == {"name": "Aurora", "version": "2.0"}
    assert about["sampling"] == {"temperature": 0.7, "effort": "high"}
    assert about["tools"] == ["python"]
    done = inside("submission", "validate", entry, "--release", small)
    assert (done.returncode, done.stdout) == (0, "")
    assert f"{entry}: valid (21 lines, 0 problems, 0 warnings)" in done.stderr
    again = inside("submission", "init", entry, "--model", "x")
    assert again.returncode == 2
    assert "missing --model-version, --organisation, --date, --setting" in again.stderr


def test_init_refuses_invalid_submissions(inside, tmp_path):
    answers = (
        "--model",
        "A",
        "--model-version",
        "1",
        "--organisation",
        "L",
        "--contact",
        "c",
    )
    answers += ("--outputs-licence", "CC0-1.0", "--setting", "no_tools")
    done = inside("submission", "init", "x", *answers, "--date", "2026-02-30")
    assert done.returncode == 2
    assert "date" in done.stderr
    done = inside(
        "submission", "init", "x", *answers, "--date", "2026-02-20", "--sampling", "hot"
    )
    assert done.returncode == 2
    assert "KEY=VALUE" in done.stderr
    assert not (tmp_path / "x").exists()
    done = inside("submission", "init", "x", *answers, "--date", "2026-02-20")
    assert done.returncode == 0
    assert (
        f'release: "{find_release().version}"'
        in (tmp_path / "x/submission.yaml").read_text()
    )
    done = inside("submission", "init", "x", *answers, "--date", "2026-02-20")
    assert done.returncode == 2
    assert "already exists; edit it" in done.stderr


def spoil(entry: Path) -> None:
    path = entry / "predictions.jsonl"
    lines = path.read_text("utf-8").splitlines()
    row = json.loads(lines[2])
    lines[2] = json.dumps(row | {"id": "enumerate_edges/77%,:x"})
    lines[4] = json.dumps(json.loads(lines[4]) | {"answer": {"no": "shape"}})
    path.write_text("\n".join(lines) + "\n", "utf-8")


def test_validate_prints_every_problem_in_three_formats(entry, inside, small):
    spoil(entry)
    common = ("submission", "validate", entry, "--release", small)
    done = inside(*common)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"{entry}/predictions.jsonl: problem [incomplete] ")
    assert lines[1].startswith(f"{entry}/predictions.jsonl:3: problem [unknown_id] ")
    assert ":5: warning [answer_schema] enumerate_edges/04: will score 0" in lines[2]
    assert "not valid (2 problems, 1 warning)\n" in done.stderr
    done = inside(*common, "--format", "json")
    assert done.returncode == 1
    (record,) = json.loads(done.stdout)
    assert record["valid"] is False
    assert [result["code"] for result in record["findings"]] == [
        "incomplete", "unknown_id", "answer_schema",
    ]  # fmt: skip
    assert record["findings"][1]["path"] == f"{entry}/predictions.jsonl"
    assert set(record["findings"][0]) == {
        "code", "file", "id", "level", "line", "message", "path", "todo",
    }  # fmt: skip
    done = inside(*common, "--format", "github")
    assert done.returncode == 1
    marked = done.stdout.splitlines()
    assert [line.partition(" ")[0] for line in marked] == [
        "::error",
        "::error",
        "::warning",
    ]
    form = re.compile(r"::(error|warning) file=[^:,]+(,line=\d+)?,title=\w+::[^\n]+")
    assert all(form.fullmatch(line) for line in marked)
    assert "77%25,:x" in marked[1]


def test_board_is_built_and_rebuilt(entry, inside, small, tmp_path):
    args = (
        "leaderboard",
        "build",
        "subs",
        "--out",
        "site",
        "--release",
        small,
        "--no-report",
    )
    args += ("--dataset", "scbench/scbench", "--workers", 1)
    done = inside(*args)
    assert done.returncode == 0, done.stderr
    assert "aurora: grading (no receipt yet)" in done.stderr
    assert (
        "1 submission on the leaderboard (0 with receipts, not graded again), 0 rejected"
        in done.stderr
    )
    first = (tmp_path / "site/index.html").read_bytes()
    done = inside(*args)
    assert (
        "1 submission on the leaderboard (1 with receipts, not graded again), 0 rejected"
        in done.stderr
    )
    assert (tmp_path / "site/index.html").read_bytes() == first
    assert pl.read_parquet(tmp_path / "site/leaderboard.parquet").height == 2 + 2
    assert (tmp_path / "site/eval_results/aurora.yaml").exists()
    spoil(entry)
    done = inside(*args)
    assert done.returncode == 1
    assert "subs/aurora/predictions.jsonl:3: problem [unknown_id]" in done.stdout
    assert "There are no submissions yet" in (tmp_path / "site/index.html").read_text(
        "utf-8"
    )


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_use_existing_options_and_no_foreign_text_in_scripts(path, inside):
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] is not None
    scripts = [
        step["run"]
        for job in workflow["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    assert scripts
    for script in scripts:
        assert "${{" not in script  # text inserted there would be run
        for command in re.findall(
            r"^\s*scbench (.+?)(?:$|[|>&])", script, re.MULTILINE
        ):
            words = command.split()
            output = inside(*words[:2], "--help")
            assert output.returncode == 0, command
            for option in (word for word in words if word.startswith("--")):
                assert option in output.stdout, command


def test_workflow_validates_the_changes_of_a_pull_request(tmp_path):
    """The workflow's own scripts: with a good entry, a removed one, and a bad one."""
    release = find_release()
    repository = tmp_path / "repository"
    entry = repository / "submissions" / "good one"
    lines = right_answers(release)

    def run(
        *args: object, code: int = 0, **env: str
    ) -> subprocess.CompletedProcess[str]:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            list(map(str, args)),
            cwd=repository,
            env={"PATH": path, "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"} | env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def commit(message: str) -> str:
        run("git", "add", "-A")
        name = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        run("git", *name, "commit", "-q", "-m", message)
        return run("git", "rev-parse", "HEAD").stdout.strip()

    (repository / "submissions" / "old").mkdir(parents=True)
    (repository / "submissions" / "old" / "x").write_text("x")
    reference = (
        '[[organisation]]\nname = "L"\ncontacts = ["c"]\nsubmitters = ["friend"]\n'
    )
    (repository / "organisations.toml").write_text(reference)
    run("git", "init", "-q")
    base = commit("before")
    answers = (
        "--model",
        "A",
        "--model-version",
        "1",
        "--organisation",
        "L",
        "--contact",
        "c",
    )
    answers += (
        "--outputs-licence",
        "CC0-1.0",
        "--setting",
        "no_tools",
        "--date",
        "2026-01-02",
    )
    run("scbench", "submission", "init", entry, *answers)
    (entry / "predictions.jsonl").write_text(
        "".join(f"{json.dumps(line)}\n" for line in lines)
    )
    (repository / "submissions" / "README.md").write_text("What this is.")
    shutil.rmtree(repository / "submissions" / "old")
    commit("a good one")
    workflow = yaml.safe_load(WORKFLOWS[-1].read_text("utf-8"))
    steps = {
        step.get("name"): step.get("run")
        for step in workflow["jobs"]["validate"]["steps"]
    }

    def step(name: str, code: int = 0, account: str = "friend") -> str:
        shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[name])
        return run(*shell, code=code, BASE=base, ACCOUNT=account).stdout

    assert step("Find the changed submissions") == "submissions/good one\n"
    (warned,) = step("Validate").splitlines()
    assert "title=references::146 of 146 answers" in warned
    assert "title=other_submitter::" in step("Validate", code=1, account="thief")
    (entry / "$(touch pwned)").write_text("x")
    commit("a bad one")
    step("Find the changed submissions")
    assert (
        "::error file=submissions/good one/$(touch pwned),title=unexpected_file::"
        in step("Validate", code=1)
    )
    assert not list(repository.rglob("pwned"))
