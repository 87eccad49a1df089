"""The board: entries shown, reused or graded again, and releases never mixed."""

import errno
import json
import os
import shutil
from pathlib import Path

import polars as pl
import pytest

from scbench.analysis.paper import paper_table
from scbench.analysis.results import check_results
from scbench.base.canonical import sha256
from scbench.base.errors import (
    EngineError,
    FolderInUseError,
    MachineError,
    ResultsError,
    ScbenchError,
)
from scbench.catalog import get_task
from scbench.freezing.freeze import build_release
from scbench.grading.means import MEANS
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.board import make_board
from scbench.leaderboard.board_table import SCHEMA, flat_rows
from scbench.leaderboard.collect import board_entry, collect
from scbench.leaderboard.folder import open_submission
from scbench.leaderboard.grade import grade_submission
from scbench.leaderboard.packing import pack
from scbench.leaderboard.publish import write_board
from scbench.leaderboard.receipt import read_receipt, results_hash
from scbench.leaderboard.validate import release_finder, validate
from scbench.machine.work_folder import WorkFolder
from scbench.release.load import find_release

LIMITS = WorkerLimits(1, None, 0)


@pytest.fixture
def collected(small, tmp_path):
    """A function that collects the submissions below ``tmp_path``, and lists the graded ones."""

    def run(*releases, **options):
        messages: list[str] = []
        options = {"reports": False, "on_step": messages.append} | options
        finder = release_finder([small, *releases])
        folder, out = tmp_path / "submissions", tmp_path / "site"
        return collect(folder, out, finder, LIMITS, **options), messages

    return run


def test_graded_submission_is_known_by_its_receipt(entry, collected, tmp_path, small):
    done, messages = collected()
    assert not done.refused
    assert messages == ["aurora: grading (no receipt yet)"]
    (first,) = done.entries
    assert not first.reused
    receipt = first.receipt
    assert receipt == read_receipt(tmp_path / "site/graded/aurora/receipt.json")
    assert receipt.overall.model_dump() == {
        "n": 27,
        "expected": 27,
        "scored": 27,
        "normalized": 1.0,
        "mean": 1.0,
        "mean_missing_as_zero": 1.0,
    }
    assert receipt.graders == {
        task: get_task(task).grader_version for task in small.manifest.tasks
    }
    assert receipt.date == "2026-01-02"
    stamp = (tmp_path / "site/graded/aurora/receipt.json").read_bytes()
    done, messages = collected()
    assert messages == []
    assert done.entries[0].reused
    assert done.entries[0].results.equals(first.results)
    done, messages = collected(regrade=True)
    assert messages == ["aurora: grading (requested)"]
    assert (tmp_path / "site/graded/aurora/receipt.json").read_bytes() == stamp


@pytest.fixture(scope="module")
def graded_site(small, kit, tmp_path_factory):
    """A graded submission that is equal to ``entry``, and the folder with its site."""
    root = tmp_path_factory.mktemp("graded")
    about = kit.about.format(release="0.0.1")
    kit.submit(root / "submissions/aurora", about, kit.answers(small))
    (first,) = kit.collected(root, small).entries
    return first, root / "site"


@pytest.fixture
def graded_before(graded_site, tmp_path):
    """The graded submission, whose site is copied to where ``collected`` looks for it."""
    first, site = graded_site
    shutil.copytree(site, tmp_path / "site")
    return first


def change_predictions(entry, site):
    entry.predictions.write_bytes(entry.predictions.read_bytes() + b"\n")


def forge_receipt(entry, site):
    path = site / "receipt.json"
    path.write_text(
        path.read_text("utf-8").replace('"mean":1.0', '"mean":0.5'), "utf-8"
    )


def other_columns(entry, site):
    pl.DataFrame({"score": [1.0]}).write_parquet(site / "results.parquet")


def lose_results(entry, site):
    (site / "results.parquet").unlink()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (change_predictions, "the predictions have changed"),
        (forge_receipt, "was changed after it was written"),
        (other_columns, "does not have the columns"),
        (lose_results, "cannot be read"),
    ],
)
def test_mismatch_is_graded_again(
    entry, graded_before, collected, tmp_path, change, why
):
    change(entry, tmp_path / "site/graded/aurora")
    done, messages = collected()
    assert len(messages) == 1
    assert why in messages[0]
    assert not done.entries[0].reused
    assert done.entries[0].receipt.overall == graded_before.receipt.overall


def test_archives_and_folders_are_both_submissions(entry, collected, tmp_path):
    with open_submission(entry.folder) as opened:
        pack(opened, tmp_path / "submissions" / "boreal.tar.zst")
    done, _ = collected()
    # The board cannot decide between two submissions of the same name.
    assert done.entries == []
    for name in ("aurora", "boreal.tar.zst"):
        (found,) = done.refused[name]
        assert found.code == "duplicate_submission"
    shutil.rmtree(entry.folder)
    done, _ = collected()
    assert [item.name for item in done.entries] == ["boreal"]
    assert not done.refused


@pytest.mark.usefixtures("graded_before")
def test_bad_submission_does_not_hide_the_others(entry, collected, tmp_path):
    bad = tmp_path / "submissions" / "bad"
    shutil.copytree(entry.folder, bad)
    (bad / "run.sh").write_text("x")
    claimed = tmp_path / "submissions" / "claims"
    shutil.copytree(entry.folder, claimed)
    about = (
        (claimed / "submission.yaml")
        .read_text("utf-8")
        .replace('2026-01"', 'claiming"')
    )
    (claimed / "submission.yaml").write_text(about, "utf-8")
    (claimed / "claimed.json").write_text('{"scores": {"overall": 99.0}}')
    (tmp_path / "submissions" / "a b").mkdir()
    (tmp_path / "submissions" / "link").symlink_to(entry.folder)
    (tmp_path / "submissions" / "README.md").write_text("Submissions live here.")
    done, messages = collected()
    assert [item.name for item in done.entries] == ["aurora"]
    codes = {
        name: [found.code for found in findings]
        for name, findings in done.refused.items()
    }
    assert codes == {
        "a b": ["bad_name"],
        "bad": ["unexpected_file"],
        "claims": ["claim_differs"],
        "link": ["not_a_file"],
    }
    assert not (tmp_path / "site/graded/claims/receipt.json").exists()
    assert "claims: refused, 1 problem" in messages
    board = make_board(done)
    assert [part["submission"] for part in board["refused"]] == [
        "a b",
        "bad",
        "claims",
        "link",
    ]


@pytest.mark.usefixtures("graded_before")
def test_graded_submission_with_a_new_problem_is_refused(entry, collected):
    (entry.folder / "run.sh").write_text("x")
    done, _ = collected()
    assert done.entries == []
    assert [found.code for found in done.refused["aurora"]] == ["unexpected_file"]


@pytest.mark.parametrize("place", ["", "site", "a/../site"])
def test_receipts_are_never_read_from_the_folder_of_submissions(place, tmp_path, small):
    folder = tmp_path / "submissions"
    (folder / "a").mkdir(parents=True)
    with pytest.raises(ScbenchError, match="anybody could add a receipt"):
        collect(folder, folder / place, release_finder([small]), LIMITS)


@pytest.mark.usefixtures("graded_before")
def test_non_text_name_does_not_stop_the_board(entry, collected, tmp_path):
    (tmp_path / "submissions" / os.fsdecode(b"bad\xff")).mkdir()
    done, messages = collected()
    assert [item.name for item in done.entries] == [entry.folder.name]
    assert "bad\\udcff: refused, 1 problem" in messages
    (part,) = make_board(done)["refused"]
    assert part["submission"] == "bad\\udcff"
    json.dumps(make_board(done), ensure_ascii=False).encode()


@pytest.fixture(scope="module")
def nearly_perfect(small, kit, tmp_path_factory):
    """A submission with one wrong answer and without claims, and its graded score."""
    root = tmp_path_factory.mktemp("nearly")
    lines = kit.answers(small)
    for line in lines:
        if line["id"] == "classify_behaviour/00":
            line["answer"] = {"labels": ["no such label"]}
    folder = root / "submissions/aurora"
    kit.submit(folder, kit.about.format(release="0.0.1"), lines)
    (graded,) = kit.collected(root, small).entries
    return folder, graded.receipt.overall


@pytest.mark.parametrize(
    ("claims_of", "fits"),
    [
        (lambda score: {"scores": {"overall": round(100 * score, 1)}}, True),
        (lambda score: {"scores": {"overall": round(100 * score, 4)}}, True),
        (lambda score: {"scores": {"overall": round(100 * score, 1) + 0.1}}, False),
        (lambda score: {"scores": {"overall": round(100 * score, 4) - 0.001}}, False),
        (
            lambda _: {"scores": {"enumerate_edges": 100, "shikaku_rectangles": 100.0}},
            True,
        ),
        (
            lambda score: {"buckets": [{"bucket": "overall", "normalized": score}]},
            True,
        ),
        (
            lambda score: {
                "buckets": [{"bucket": "overall", "normalized": score + 0.01}]
            },
            False,
        ),
    ],
)
def test_claims_are_compared_to_their_last_digit(
    nearly_perfect, check, tmp_path, claims_of, fits
):
    submission, overall = nearly_perfect
    assert overall.normalized != overall.mean
    assert 0.9 < overall.normalized < 1
    folder = Path(shutil.copytree(submission, tmp_path / "aurora"))
    claims = claims_of(overall.normalized)
    (folder / "claimed.json").write_text(json.dumps(claims))
    graded = grade_submission(check(folder), tmp_path / "out", LIMITS)
    assert (graded.receipt is not None) is fits
    assert [found.code for found in graded.findings] == (
        [] if fits else ["claim_differs"]
    )
    assert (tmp_path / "out/receipt.json").exists() is fits


def test_receipt_does_not_outlive_a_failed_grading(entry, check, tmp_path):
    grade_submission(check(entry.folder), tmp_path / "out", LIMITS)
    assert (tmp_path / "out/receipt.json").exists()
    (entry.folder / "claimed.json").write_text('{"scores": {"overall": 1.0}}')
    grade_submission(check(entry.folder), tmp_path / "out", LIMITS)
    assert not (tmp_path / "out/receipt.json").exists()


def test_results_hash_covers_rows_and_not_files(entry, check, tmp_path):
    graded = grade_submission(check(entry.folder), tmp_path / "out", LIMITS)
    frame = pl.read_parquet(tmp_path / "out/results.parquet")
    frame.write_parquet(tmp_path / "again.parquet", compression="snappy")
    assert (
        results_hash(pl.read_parquet(tmp_path / "again.parquet"))
        == graded.receipt.results_sha256
    )
    check_results(frame)
    elsewhere = frame.with_columns(metrics=pl.lit('{"machine":"another"}'))
    assert results_hash(elsewhere) == graded.receipt.results_sha256
    assert results_hash(frame.reverse()) != graded.receipt.results_sha256


def test_invalid_submission_is_not_graded(entry, check, tmp_path):
    (entry.folder / "x").write_text("")
    with pytest.raises(ResultsError, match="is not valid"):
        grade_submission(check(entry.folder), tmp_path / "out", LIMITS)
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def whole_board(synthetic, kit, tmp_path_factory):
    """A board on the real release, with ties, a gap and both settings."""
    release, root = find_release(), tmp_path_factory.mktemp("whole")
    gap = lambda row, rng: (  # noqa: E731
        None if row["id"] == "two_segments/00" else float(rng.random() < 0.5)
    )
    synthetic(
        root,
        release,
        {
            "best": {"scores": kit.skilled(0.95)},
            "good": {"scores": kit.skilled(0.6)},
            "fine": {"scores": kit.skilled(0.58)},
            "poor": {"scores": kit.skilled(0.1)},
            "gap": {"scores": gap},
            "armed": {"scores": kit.skilled(0.7), "setting": "tools"},
        },
    )
    options = {"reports": False, "on_step": pytest.fail}
    done = collect(
        root / "submissions", root / "site", release_finder(), LIMITS, **options
    )
    return done, make_board(done), root / "site"


def test_settings_are_ranked_separately_and_gaps_come_last_without_a_rank(whole_board):
    _, board, _ = whole_board
    (part,) = board["boards"]
    scores = {"overall": 0}
    for task in find_release().manifest.default_records.values():
        scores["overall"] += task.scores
        scores[task.bucket] = scores.get(task.bucket, 0) + task.scores
    assert part["buckets"] == scores
    plain, tools = part["settings"]["no_tools"], part["settings"]["tools"]
    assert [row["submission"] for row in plain] == [
        "best",
        "good",
        "fine",
        "poor",
        "gap",
    ]
    places = [
        tuple(
            row["buckets"]["overall"][key] for key in ("rank", "rank_low", "rank_high")
        )
        for row in plain
    ]
    assert places == [(1, 1, 1), (2, 2, 3), (2, 2, 3), (4, 4, 4), (None, None, None)]
    assert [row["ranked"] for row in plain] == [True] * 4 + [False]
    assert plain[4]["buckets"]["overall"]["scored"] == scores["overall"] - 1
    assert plain[4]["statuses"] == {"answered": scores["overall"] - 1, "blocked": 1}
    assert tools[0]["buckets"]["overall"]["rank"] == 1
    assert tools[0]["tools"] == ["python"]


def test_figures_equal_those_of_the_tables(whole_board):
    _, board, site = whole_board
    name = "good"
    frame = pl.read_parquet(site / f"graded/{name}/results.parquet")
    table = paper_table(frame, "bucket")
    row = next(
        r for r in board["boards"][0]["settings"]["no_tools"] if r["submission"] == name
    )
    for expected in table.iter_rows(named=True):
        found = row["buckets"][expected["bucket"]]
        assert (found["n"], found["scored"]) == (expected["n"], expected["scored"])
        for key in MEANS:
            assert found[key] == pytest.approx(expected[key], abs=1e-12)


def test_all_board_files_agree(whole_board):
    done, board, site = whole_board
    files = write_board(site, board, done.entries, "scbench/scbench")
    names = {path.relative_to(site).as_posix() for path in files}
    assert {"index.html", "leaderboard.json", "leaderboard.parquet"} < names
    assert "eval_results/best.yaml" in names
    assert "eval_results/gap.yaml" not in names
    stored = json.loads((site / "leaderboard.json").read_text("utf-8"))
    assert stored == board
    table = pl.read_parquet(site / "leaderboard.parquet")
    assert table.columns == list(SCHEMA)
    assert table.equals(flat_rows(board))
    assert table.height == 6 * (4 + len(find_release().manifest.default_tasks))
    best = table.filter(
        pl.col("submission") == "best", pl.col("bucket") == "overall"
    ).row(0, named=True)
    assert (
        best["mean"]
        == stored["boards"][0]["settings"]["no_tools"][0]["buckets"]["overall"]["mean"]
    )
    assert (best["setting"], best["rank"], best["task"]) == ("no_tools", 1, None)
    before = {path: path.read_bytes() for path in files}
    write_board(site, make_board(done), done.entries, "scbench/scbench")
    assert {path: path.read_bytes() for path in files} == before
    assert not list(site.glob(".*"))


def test_releases_are_never_mixed_and_history_has_both(
    synthetic, small, kit, collected, tmp_path
):
    folder = tmp_path / "older"
    build_release("0.0.0", folder, [get_task("enumerate_edges")])
    older = find_release(str(folder))
    synthetic(tmp_path, older, {"a-old": {"scores": kit.skilled(1), "model": "A"}})
    models = {"a-new": {"scores": kit.skilled(0), "model": "A"}}
    synthetic(tmp_path, small, models | {"b": {"scores": kit.skilled(1), "model": "B"}})
    done, messages = collected(older)
    assert messages == []
    board = make_board(done)
    assert [part["release"]["version"] for part in board["boards"]] == [
        "0.0.1",
        "0.0.0",
    ]
    shown = [
        [row["submission"] for row in part["settings"]["no_tools"]]
        for part in board["boards"]
    ]
    assert shown == [["b", "a-new"], ["a-old"]]
    (a, b) = board["history"]
    assert [(part["release"], part["mean"]) for part in a["releases"]] == [
        ("0.0.1", 0.0),
        ("0.0.0", 1.0),
    ]
    assert [part["release"] for part in b["releases"]] == ["0.0.1"]


@pytest.mark.usefixtures("graded_before")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: Aurora", 'name: "\\U00110000"'),
        ("  effort: high", '  effort: "\\ud800"'),
    ],
)
def test_invalid_character_does_not_stop_the_board(
    entry, collected, tmp_path, old, new
):
    bad = tmp_path / "submissions" / "bad"
    shutil.copytree(entry.folder, bad)
    about = bad / "submission.yaml"
    about.write_text(about.read_text("utf-8").replace(old, new), "utf-8")
    done, _ = collected()
    assert [item.name for item in done.entries] == ["aurora"]
    assert [found.code for found in done.refused["bad"]] == ["not_yaml"]


def test_failure_in_one_submission_refuses_only_that_one(
    entry, collected, tmp_path, monkeypatch
):
    shutil.copytree(entry.folder, tmp_path / "submissions" / "bad")

    def fail(opened, job):
        if job.name == "bad":
            raise RecursionError("in a parser of others")
        return board_entry(opened, job)

    monkeypatch.setattr("scbench.leaderboard.collect.board_entry", fail)
    done, _ = collected()
    assert [item.name for item in done.entries] == ["aurora"]
    (refusal,) = done.refused["bad"]
    assert refusal.code == "not_graded"
    assert "in a parser of others" in refusal.message


@pytest.mark.parametrize("replacement", ["another file", "a pipe", "a link"])
def test_folder_that_changes_is_graded_as_it_was(entry, small, tmp_path, replacement):
    data = entry.predictions.read_bytes()
    with open_submission(entry.folder) as opened:
        entry.predictions.unlink()
        if replacement == "a pipe":
            os.mkfifo(entry.predictions)
        elif replacement == "a link":
            entry.predictions.symlink_to("/dev/zero")
        else:
            entry.predictions.write_bytes(data[: len(data) // 2])
        done = validate(opened, release_finder([small]))
        graded = grade_submission(done, tmp_path / "out", WorkerLimits(1, 120, 0))
    assert graded.receipt is not None
    assert graded.receipt.predictions.sha256 == sha256(data)
    (name,) = graded.report.summary["predictions"]["files"]
    assert (tmp_path / "out" / name).parent.resolve() == entry.folder.resolve()


@pytest.mark.parametrize("replacement", ["pipe", "link"])
def test_file_replaced_during_copying_is_refused(
    entry, monkeypatch, tmp_path, replacement
):
    """It is a regular file when checked, and something else when opened."""
    seen = entry.predictions.stat()
    entry.predictions.unlink()
    if replacement == "pipe":
        os.mkfifo(entry.predictions)
    else:
        entry.predictions.symlink_to("/etc/hostname")
    real = os.stat

    def stat(path, **options):
        return seen if path == entry.predictions.name else real(path, **options)

    monkeypatch.setattr(os, "stat", stat)
    with open_submission(entry.folder) as opened:
        assert "predictions.jsonl" not in opened.files
        codes = [found.code for found in opened.findings]
    assert codes in (["not_a_file"], ["unread_file"])


def test_many_findings_of_one_kind_are_counted(entry, collected):
    for number in range(300):
        (entry.folder / f"{number}.txt").touch()
    done, _ = collected()
    findings = done.refused["aurora"]
    assert {found.code for found in findings} == {"unexpected_file"}
    assert len(findings) == 21
    assert findings[-1].message == "more findings of this kind: 280"


@pytest.mark.parametrize("packed", [False, True])
def test_full_disk_stops_the_board_and_rejects_no_submission(
    entry, collected, tmp_path, monkeypatch, packed
):
    if packed:
        folder = tmp_path / "submissions/aurora"
        shutil.make_archive(str(folder), "zip", folder)
        shutil.rmtree(folder)

    def write_nothing(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("scbench.leaderboard.folder.write_at_most", write_nothing)
    monkeypatch.setattr("scbench.leaderboard.archives.write_at_most", write_nothing)
    with pytest.raises(MachineError, match=r"^aurora: the disk is full$"):
        collected()


def test_report_that_does_not_fit_on_the_disk_rejects_no_submission(
    entry, collected, monkeypatch
):
    def write_nothing(*_):
        disk_error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        raise ResultsError("cannot write the report") from disk_error

    monkeypatch.setattr("scbench.leaderboard.collect.write_report_of", write_nothing)
    with pytest.raises(MachineError, match=r"^aurora: the disk is full$"):
        collected(reports=True)


def test_message_that_quotes_an_error_number_does_not_stop_the_board(
    entry, collected, monkeypatch
):
    def fail(*_):
        raise ResultsError("the file says (os error 28)")

    monkeypatch.setattr("scbench.leaderboard.collect.read_about", fail)
    done, _ = collected()
    assert [finding.code for finding in done.refused["aurora"]] == ["not_graded"]


def test_board_that_another_process_builds_rejects_no_submission(
    entry, collected, tmp_path
):
    graded = tmp_path / "site/graded/aurora"
    graded.mkdir(parents=True)
    other_run = WorkFolder(graded / ".scbench")
    with pytest.raises(FolderInUseError, match="is writing to"):
        collected()
    other_run.remove()
    done, _ = collected()
    assert not done.refused


def test_folder_that_cannot_be_written_rejects_no_submission(
    entry, collected, tmp_path
):
    graded = tmp_path / "site/graded"
    graded.mkdir(parents=True)
    # Root may write to any folder, but nobody can make a folder below a file.
    (graded / "aurora").write_text("")
    with pytest.raises(MachineError, match=r"^cannot write to "):
        collected()


def test_package_that_changes_during_a_build_rejects_no_submission(
    entry, collected, monkeypatch
):
    def fail(*_):
        raise EngineError("the files of scbench changed while it was running")

    monkeypatch.setattr("scbench.leaderboard.collect.grade_submission", fail)
    with pytest.raises(EngineError, match="changed while it was running"):
        collected()
