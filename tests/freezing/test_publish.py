"""Publishing on the Hub, with the real clients and a local Hub."""

import json
import re
from pathlib import Path

import pytest
from folders import contents
from typer.testing import CliRunner

from scbench.base.canonical import sha256
from scbench.base.errors import HubError, ReleaseError
from scbench.catalog import get_task
from scbench.cli import main
from scbench.freezing.example import example_predictions
from scbench.freezing.freeze import build_release
from scbench.freezing.hub import plan_upload, publish_on_hub
from scbench.release.load import find_release, open_release
from scbench.release.manifest import CARD, EVAL, MANIFEST, data_file

# The client's own way of sending large files.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

REPO = "org/scbench"
READER = "hf_reader"
SCHEMA = "schemas/prediction.json"

LOAD = """
import json, socket
connect = socket.socket.connect
def only_here(self, address):
    assert address[0] == "127.0.0.1", address
    return connect(self, address)
socket.socket.connect = only_here
from datasets import get_dataset_config_names, load_dataset
where = {"path": "org/scbench", "revision": "v0.0.1", "split": "test"}
configs = get_dataset_config_names("org/scbench", revision="v0.0.1")
print(json.dumps({
    "rows": [[row["id"], row["prompt"]] for row in load_dataset(**where)],
    "streamed": {
        name: [row["id"] for row in load_dataset(**where, name=name, streaming=True)]
        for name in configs
    },
}))
"""

# Where an upload may be cut off, and how: everything after the fault is missing.
BREAKS = {
    "created, answer lost": ("POST", "/repos/create", "do and drop"),
    "a large file": ("PUT", "/store/", "drop"),
    "committing": ("POST", "/commit/", "drop"),
    "committed, answer lost": ("POST", "/commit/", "do and drop"),
    "tagged, answer lost": ("POST", "/tag/", "do and drop"),
    "downloading": ("GET", "/resolve/", "drop"),
}


def publish(root: Path, repo: str = REPO) -> list[str]:
    steps: list[str] = []
    release = open_release(root)
    publish_on_hub(release, plan_upload(release, repo), steps.append)
    return steps


def stored(hub, tag: str = "v0.0.1") -> dict[str, bytes]:
    repo = hub.repos[REPO]
    return repo.commits[repo.tags[tag]]


def sent(root: Path) -> dict[str, bytes]:
    """The files uploaded to the Hub, without the one that it refuses."""
    return {name: data for name, data in contents(root).items() if name != EVAL}


def assert_published(hub, root: Path) -> None:
    held = stored(hub)
    del held[".gitattributes"]
    assert held == sent(root)
    assert hub.repos[REPO].messages == ["initial commit", "Release 0.0.1"]


@pytest.fixture
def newer(tmp_path) -> Path:
    """A later release, without one of the tasks."""
    root = tmp_path / "newer"
    build_release("0.0.2", root, [get_task("shikaku_rectangles")])
    return root


def test_release_becomes_one_commit_with_a_tag(hub, sound):
    assert publish(sound) == [
        "creating org/scbench",
        "uploading to org/scbench",
        "tagging v0.0.1",
        "downloading v0.0.1",
    ]
    assert_published(hub, sound)
    # Parquet files go to the storage for large files, text files into the commit.
    assert hub.count("PUT", "/store/") == 7
    assert hub.count("POST", "/commit/") == 1


def test_large_files_use_xet_if_its_client_is_installed(hub, sound, monkeypatch):
    pytest.importorskip("hf_xet")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False)
    large = [
        data for name, data in contents(sound).items() if name.endswith(".parquet")
    ]
    hub.known.update({sha256(data): data for data in large})
    publish(sound)
    assert_published(hub, sound)
    assert hub.xorbs
    assert hub.shards
    assert hub.count("PUT", "/store/") == 0


def test_dry_run_changes_nothing(hub, sound):
    release = open_release(sound)
    lines = plan_upload(release, REPO).lines(release)
    assert lines[0] == "create the dataset repository org/scbench"
    assert "as tester, upload 20 files" in lines[1]
    assert lines[2].startswith(
        "leave out eval.yaml, which the Hub checks by its own rules"
    )
    assert lines[3:] == [
        "tag the commit v0.0.1",
        "download v0.0.1 and compare every byte",
    ]
    assert hub.repos == {}
    assert not hub.count("(POST|PUT)", "")


def test_next_release_replaces_the_files_and_keeps_the_tags(hub, sound, newer):
    publish(sound)
    release = open_release(newer)
    plan = plan_upload(release, REPO)
    assert data_file("enumerate_edges") in plan.deleted
    assert any(
        line.startswith("delete data/enumerate_edges.parquet")
        for line in plan.lines(release)
    )
    publish(newer)
    held = stored(hub, "v0.0.2")
    del held[".gitattributes"]
    assert held == sent(newer)
    assert stored(hub).keys() - {".gitattributes"} == sent(sound).keys()
    assert find_release(f"{REPO}@v0.0.1").version == "0.0.1"
    assert find_release(f"{REPO}@v0.0.2").version == "0.0.2"
    assert find_release(f"{REPO}@main").version == "0.0.2"


def test_tag_is_never_moved(hub, copy, forge, sound):
    publish(sound)
    before = dict(hub.repos[REPO].tags)
    (copy / CARD).write_text("# Better\n", "utf-8")
    forge(copy)
    with pytest.raises(
        ReleaseError, match=r"different release under v0\.0\.1 .*MANIFEST.json.*new ver"
    ):
        publish(copy)
    assert hub.repos[REPO].tags == before
    assert_published(hub, sound)


def test_foreign_data_set_is_not_replaced(hub, sound):
    hub.add_repo(REPO).commit({"train.csv": b"1,2\n", CARD: b"mine"}, "mine")
    with pytest.raises(
        HubError,
        match=r"contains files that do not belong to a release, such as train\.csv",
    ):
        publish(sound)
    assert hub.repos[REPO].tags == {}


@pytest.mark.parametrize("at", BREAKS)
def test_broken_upload_is_reported_and_completed_by_a_retry(hub, sound, at):
    method, path, how = BREAKS[at]
    hub.fail(method, path, how, times=50)
    message = ""
    try:
        publish(sound)
    except HubError as error:
        message = str(error)
    # Older clients of the Hub list nothing while they publish.
    unasked = at == "listing" and not hub.count(method, path)
    assert unasked or re.search(
        r"connection to the Hub failed.*run the same command", message
    )
    hub.faults.clear()
    publish(sound)
    assert_published(hub, sound)


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("hf_wrong", r"does not accept the token \(HTTP 401\).*HF_TOKEN"),
        (
            READER,
            r"no write access to org/scbench \(HTTP 403\).*rights to write he",
        ),
        (
            None,
            r"no Hugging Face token on this machine; set HF_TOKEN, or run `hf auth login`",
        ),
    ],
    ids=["wrong", "may only read", "none"],
)
def test_insufficient_token_is_reported(hub, sound, monkeypatch, tmp_path, token, text):
    if token is None:
        monkeypatch.delenv("HF_TOKEN")
        monkeypatch.setattr(
            "huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "none")
        )
    else:
        monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(HubError, match=text) as caught:
        publish(sound)
    assert "hf_" not in str(caught.value)
    assert hub.repos == {}


@pytest.mark.parametrize(
    ("method", "path", "status", "text"),
    [
        ("GET", "/whoami", 429, r"too many requests to the Hub \(HTTP 429\)"),
        ("POST", "/repos/create", 403, r"no write access to org/scbench \(HTTP 403\)"),
        ("PUT", "/store/", 500, r"internal error \(HTTP 500\)"),
        (
            "POST",
            "/commit/",
            412,
            r"changed by someone else in the meantime \(HTTP 412\)",
        ),
        ("POST", "/commit/", 418, r"refused the request for org/scbench \(HTTP 418\)"),
    ],
)
def test_hub_errors_are_reported_and_a_retry_completes(
    hub, sound, method, path, status, text
):
    hub.fail(method, path, status, times=50)
    with pytest.raises(HubError, match=text):
        publish(sound)
    hub.faults.clear()
    publish(sound)
    assert_published(hub, sound)


@pytest.mark.parametrize("name", [MANIFEST, CARD, SCHEMA, data_file("enumerate_edges")])
def test_bytes_changed_on_the_way_back_are_reported(hub, sound, monkeypatch, name):
    publish(sound)
    held = stored(hub)
    held[name] = changed = held[name].replace(b"e", b"f", 1)
    hub.objects[sha256(changed)] = changed
    with pytest.raises(
        ReleaseError, match=rf"different release under v0\.0\.1.*{name}"
    ):
        publish(sound)


def test_commands_publish_load_and_grade_end_to_end(hub, hub_command, sound, tmp_path):
    """Publish by command, load by tag in a new process, grade against the Hub: same scores."""
    done = hub_command(
        hub, "scbench", "release", "publish", sound, "--repo", REPO, "--dry-run"
    )
    assert done.returncode == 0, done.stderr
    assert "would: tag the commit v0.0.1" in done.stdout
    assert hub.repos == {}
    done = hub_command(hub, "scbench", "release", "publish", sound, "--repo", REPO)
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith("release 0.0.1 was published and verified\n")
    assert_published(hub, sound)

    done = hub_command(hub, "python", "-W", "error", "-c", LOAD)
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout)
    release = find_release(str(sound))
    rows = release.instances()
    assert loaded["rows"] == [[row.id, row.prompt] for row in rows.values()]
    assert list(loaded["streamed"]) == [
        "default", "axiomatic", "constructive", *release.manifest.tasks, "terse", "pictures",
        "references",
    ]  # fmt: skip
    assert loaded["streamed"]["default"] == list(rows)
    assert loaded["streamed"]["references"] == [ref.id for ref in release.references()]

    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text("\n".join(example_predictions(release)), "utf-8")
    summaries = []
    for name, cut in (
        (sound, {}),
        (f"{REPO}@v0.0.1", {}),
        (f"{REPO}@v0.0.1", {"HF_HUB_OFFLINE": "1"}),
    ):
        out = tmp_path / f"out{len(summaries)}"
        args = ("scbench-grade", predictions, "--release", name, "--out", out, "-q")
        done = hub_command(hub, *args, **cut)
        assert done.returncode == 0, done.stderr
        summaries.append(json.loads((out / "summary.json").read_text("utf-8")))
        assert (out / "results.parquet").read_bytes() == (
            tmp_path / "out0" / "results.parquet"
        ).read_bytes()
    assert summaries[0]["tasks"] == summaries[1]["tasks"] == summaries[2]["tasks"]


def test_unverified_release_is_not_published(hub, copy):
    (copy / SCHEMA).unlink()
    words = ["release", "publish", str(copy), "--repo", REPO]
    done = CliRunner().invoke(main.app, words)
    assert done.exit_code == 1
    assert f"{SCHEMA}: missing" in done.stdout
    assert "verification found" in done.stderr
    assert "not published" in done.stderr
    assert hub.log == []
