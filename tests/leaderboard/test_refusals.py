"""Every kind of bad submission is refused with a message that names the place and the remedy."""

import io
import os
import struct
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard

from scbench.leaderboard import predictions
from scbench.leaderboard.archives import TooLargeError, check_count
from scbench.leaderboard.findings import (
    Finding,
    as_annotation,
    as_text,
    with_advice_once,
)
from scbench.leaderboard.folder import open_submission
from scbench.leaderboard.packing import pack

FILE, LINK = 0o100644, 0o120777


def at(entry, number: int, **change: object) -> None:
    """Change a field of a line; None removes the field."""

    def apply(rows: list[dict]) -> None:
        row = rows[number - 1] | change
        rows[number - 1] = {
            key: value for key, value in row.items() if value is not None
        }

    entry.lines(apply)


def bare(entry, number: int, **change: object) -> None:
    """Change a line and remove its answer."""
    at(entry, number, answer=None, **change)


def append_to_about(entry, text: str) -> None:
    entry.about.write_text(entry.about.read_text("utf-8") + text, "utf-8")


def replace_line(entry, number: int, data: bytes) -> None:
    rows = entry.predictions.read_bytes().splitlines(keepends=True)
    rows[number - 1] = data + b"\n"
    entry.predictions.write_bytes(b"".join(rows))


def packed(entry, name: str, data: bytes) -> None:
    entry.predictions.unlink()
    (entry.folder / name).write_bytes(data)


def link(entry) -> None:
    target = entry.folder.parent / "elsewhere.jsonl"
    entry.predictions.rename(target)
    entry.predictions.symlink_to(target)


BAD: dict[str, tuple[Callable[[SimpleNamespace], object], str, str, str, int | None]] = {
    # name: (fault, code, file, words of the message or remedy, line)
    "no submission.yaml": (
        lambda e: e.about.unlink(), "missing_file", "submission.yaml", "submission init", None),
    "a file that does not belong": (
        lambda e: (e.folder / "run.sh").write_text("#!/bin/sh\nrm -rf /\n"),
        "unexpected_file", "run.sh", "remove it; a submission has", None),
    "a symbolic link": (
        link, "not_a_file", "predictions.jsonl", "replace it with the file itself", None),
    "a pipe": (
        lambda e: os.mkfifo(e.folder / "README.md"), "not_a_file", "README.md", "pipe", None),
    "huge predictions": (
        lambda e: os.truncate(e.predictions, 100_000_001), "too_large", "predictions.jsonl",
        "compress it with zstd", None),
    "broken YAML": (
        lambda e: append_to_about(e, "notes: [1\n"), "not_yaml", "submission.yaml",
        "not valid YAML", 17),
    "YAML aliases": (
        lambda e: append_to_about(e, "notes: &a [x]\nmore: [*a, *a]\n"), "not_yaml",
        "submission.yaml", "anchors and aliases", 16),
    "YAML tags": (
        lambda e: append_to_about(e, "notes: !!python/object/apply:os.system ['id']\n"),
        "not_yaml", "submission.yaml", "tags are not supported", 16),
    "deep YAML": (
        lambda e: append_to_about(e, f"notes: {'[' * 60_000}\n"), "not_yaml", "submission.yaml",
        "nested deeper", 16),
    "a YAML key twice": (
        lambda e: append_to_about(e, "attempts: 2\n"), "not_yaml", "submission.yaml",
        "duplicate key 'attempts'", 16),
    "a model name that turns the page round": (
        lambda e: e.edit("Aurora", '"Aurora\\u202e"'), "bad_value", "submission.yaml",
        "model.name", 3),
    "a model name with a badge": (
        lambda e: e.edit("Aurora", '"Aurora \\U0001F947"'), "bad_value", "submission.yaml",
        "looks like a badge", 3),
    "a model that calls itself verified": (
        lambda e: e.edit("Aurora", '"Aurora (Verified)"'), "bad_value", "submission.yaml",
        "must not contain the word 'verified'", 3),
    "a model name with a score": (
        lambda e: e.edit("Aurora", '"Aurora (98.7 %)"'), "bad_value", "submission.yaml",
        "must not contain a score or a rank ('98.7 %')", 3),
    "a model name with a rank": (
        lambda e: e.edit("Aurora", '"Aurora, 1st"'), "bad_value", "submission.yaml",
        "must not contain a score or a rank ('1st')", 3),
    "a date to come": (
        lambda e: e.edit("date: 2026-01-02", "date: 2999-01-01"), "bad_value",
        "submission.yaml", "must be from 2020-01-01 to today", 7),
    "a link that runs a script": (
        lambda e: append_to_about(e, "links: {code: 'javascript:alert(1)'}\n"), "bad_value",
        "submission.yaml",
        "links.code: wrong format; write an address such as https://example.org/paper", 16),
    "a release that is not there": (
        lambda e: e.edit("release: 0.0.1", "release: 7.0.0"), "unknown_release",
        "submission.yaml", "7.0.0 is not installed", 8),
    "an unknown id": (
        lambda e: at(e, 5, id="enumerate_edge/04"), "unknown_id", "predictions.jsonl",
        "Did you mean 'enumerate_edges/04'?", 5),
    "a duplicate": (
        lambda e: e.lines(lambda rows: [*rows, rows[0]]), "duplicate", "predictions.jsonl",
        "line 1 already", None),
    "a missing id": (
        lambda e: e.lines(lambda rows: rows[1:]), "incomplete", "predictions.jsonl",
        "no line for 1 of", None),
    "a missing sample": (
        lambda e: e.edit("attempts: 1", "attempts: 2"), "incomplete", "predictions.jsonl",
        "sample 1 has no line for", None),
    "far too many lines": (
        lambda e: e.lines(lambda rows: rows * 100), "too_many_lines", "predictions.jsonl",
        "correct attempts", 1028),
    "ids of another release": (
        lambda e: at(e, 1, id="two_segments/00"), "not_in_release", "predictions.jsonl",
        "does not contain two_segments", 1),
    "another model": (
        lambda e: at(e, 6, model="gpt"), "other_model", "predictions.jsonl",
        "'gpt', not 'aurora-large'", 6),
    "a loop": (
        lambda e: at(
            e, 6, setting="retry", loop={"setting": "retry"}, turns=[], answer=None, response=None,
        ),
        "other_setting", "predictions.jsonl", "there is no board for answers in a loop", 6),
    "two budgets": (
        lambda e: at(e, 6, budget=1024), "other_budget", "predictions.jsonl", "1024", 6),
    "a bomb": (
        lambda e: packed(
            e, "predictions.jsonl.zst", zstandard.compress(bytes(3_000_000), 3)),
        "too_large", "predictions.jsonl.zst", "the unpacked file has more than", None),
    "a bomb of blank lines": (
        lambda e: packed(
            e, "predictions.jsonl.zst", zstandard.compress(b"\n" * 5_000_001, 3)),
        "too_large", "predictions.jsonl.zst", "or 5,000,000 lines", None),
    "a line beyond all": (
        lambda e: replace_line(e, 2, b" " * (16 * 2**20 + 5)), "line_too_long",
        "predictions.jsonl", "shorten", 2),
    "truncated but finished": (
        lambda e: bare(e, 7, status="truncated", finish_reason="stop"), "status_contradicts",
        "predictions.jsonl", "finish_reason is 'stop'", 7),
    "never run but billed": (
        lambda e: bare(e, 7, status="not_run", usage={"output_tokens": 900}),
        "status_contradicts", "predictions.jsonl", "output_tokens is 900", 7),
    "an answer behind a status": (
        lambda e: bare(e, 7, status="blocked", response='Answer: {"edges": [[0, 1]]}'),
        "status_hides_answer", "predictions.jsonl", "remove the status", 7),
    "no answer at all": (
        lambda e: e.lines(lambda rows: [
            {"id": row["id"], "model": row["model"], "status": "blocked"} for row in rows]),
        "nothing_scored", "predictions.jsonl", "no line has an answer", None),
    "tools in the usage": (
        lambda e: at(e, 8, usage={"server_tool_use": {"web_search_requests": 2}}),
        "usage_setting", "predictions.jsonl", "web_search_requests", 8),
    "more reasoning than output": (
        lambda e: at(e, 9, usage={"output_tokens": 5, "reasoning_tokens": 6}),
        "usage_contradicts", "predictions.jsonl",
        "reasoning_tokens is 6, which is more than output_tokens, 5", 9),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_submission_is_refused_with_the_right_message(
    entry, check, monkeypatch, name
):
    monkeypatch.setattr(
        predictions, "MOST_UNPACKED", 2_000_000 if name == "a bomb" else 10**9
    )
    spoil, code, file, words, line = BAD[name]
    spoil(entry)
    done = check(entry.folder)
    findings = [finding for finding in done.problems if finding.code == code]
    assert findings, done.findings
    assert {finding.file for finding in findings} == {file}
    text = as_text(findings[0], "x")
    assert words in text
    assert text.isprintable()
    assert findings[0].todo
    if line is not None:
        assert findings[0].line == line
    assert "\n" not in as_annotation(findings[0], "x")
    # One fault, one kind of finding, but for those that follow from it.
    follows = {
        "incomplete",
        "missing_key",
        "missing_file",
        "unexpected_file",
        "duplicate",
        "other_model",
    }
    assert {finding.code for finding in done.problems} <= {code} | follows


def test_all_problems_are_found_together_in_order(entry, check):
    entry.edit("organisation:", "organization:")
    (entry.folder / "notes.txt").write_text("x")
    done = check(entry.folder)
    assert [findings.code for findings in done.problems] == [
        "missing_key", "unknown_key", "unexpected_file",
    ]  # fmt: skip
    entry.edit("organization:", "organisation:")
    at(entry, 3, id="enumerate_edges/99")
    at(entry, 9, setting="tools")
    at(entry, 5, sample=4)
    done = check(entry.folder)
    assert [(findings.code, findings.line) for findings in done.problems] == [
        ("incomplete", None),
        ("unknown_id", 3),
        ("sample_out_of_range", 5),
        ("other_setting", 9),
        ("unexpected_file", None),
    ]


def zipped(entries: list[tuple[str, bytes, int]]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return file.getvalue()


def tarred(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b""


BAD_ARCHIVES: dict[str, tuple[str, bytes, str, str]] = {
    "up and away": (
        "x.zip", zipped([("../../etc/cron.d/x", b"a", FILE)]), "unsafe_path", "etc/cron.d"),
    "backslashes": ("x.zip", zipped([("a\\..\\b", b"a", FILE)]), "unsafe_path", "plain path"),
    "a nul": ("x.zip", zipped([("submission.yaml?.sh", b"a", FILE)]).replace(b"?", b"\0"),
        "unsafe_path", "x00"),
    "a name twice": (
        "x.zip", zipped([("README.md", b"a", FILE), ("readme.MD", b"b", FILE)]),
        "duplicate_entry", "twice"),
    "too many": (
        "x.zip", zipped([(f"{i}", b"", FILE) for i in range(101)]), "archive_bomb", "100 entries"),
    "a zip bomb": (
        "x.zip", zipped([("predictions.jsonl", bytes(20_000_000), FILE)]), "archive_bomb",
        "times its size"),
    "a link in a tar": (
        "x.tar.gz", tarred([special("README.md", tarfile.SYMTYPE, "/etc/passwd")]), "not_a_file",
        "symbolic link"),
    "a device": (
        "x.tar.gz", tarred([special("README.md", tarfile.CHRTYPE)]), "not_a_file", "device"),
    "a file that is named as a folder": (
        "x.zip", zipped([("README.md/", b"a", FILE)]), "unsafe_path", "README.md/"),
    "a file that is named as its folder": (
        "x.zip", zipped([("top/top", b"a", FILE), ("top/README.md", b"a", FILE)]),
        "unexpected_file", "top"),
    "a cut-off tar": (
        "x.tar.gz", tarred([(tarfile.TarInfo("README.md"), os.urandom(9000))])[:-900],
        "bad_archive", "cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_ARCHIVES)
def test_bad_archive_is_refused_and_nothing_is_extracted(check, tmp_path, name):
    file, data, code, words = BAD_ARCHIVES[name]
    path = tmp_path / file
    path.write_bytes(data)
    done = check(path)
    assert not done.opened.files
    findings = [finding for finding in done.problems if finding.code == code]
    assert findings, done.findings
    assert words in as_text(findings[0], "x")
    assert list(tmp_path.iterdir()) == [path]


def test_archive_may_have_100_entries():
    check_count(100)
    with pytest.raises(TooLargeError, match="more than 100 entries"):
        check_count(101)


def test_encrypted_zip_is_refused(check, tmp_path):
    data = bytearray(zipped([("README.md", b"a", FILE)]))
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):  # the flag is in both headers
        data[data.index(mark) + (6 if mark == b"PK\x03\x04" else 8)] |= 1
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    assert [found.code for found in check(path).problems][:1] == ["encrypted"]


def test_header_that_claims_gigabytes_takes_no_memory(check, tmp_path):
    info = tarfile.TarInfo("x")
    info.type = tarfile.XHDTYPE
    info.size = 8 * 2**30
    path = tmp_path / "x.tar"
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
    # From Python 3.14 on its library reads no more of a header than there is.
    code = "archive_bomb" if sys.version_info < (3, 14) else "bad_archive"
    assert [findings.code for findings in check(path).problems] == [code]


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_zip_files_of_other_methods_are_refused(check, tmp_path, method):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("submission.yaml", "x")
        archive.writestr("predictions.jsonl", "{}")
    (problem,) = check(path).problems
    assert problem.code == "bad_archive"
    assert "submission.yaml is not compressed with Deflate" in as_text(problem, "x")


def test_directory_of_a_zip_file_is_not_read_if_it_is_large(check, tmp_path):
    # The end of the file, and a directory of 2 MB that is never parsed.
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, 2_000_000, 0, 0)
    path = tmp_path / "x.zip"
    path.write_bytes(bytes(2_000_000) + end)
    found = check(path)
    assert [each.code for each in found.problems] == ["archive_bomb"]
    assert "2,000,000 bytes" in found.problems[0].message


def test_findings_about_many_budgets_are_short(entry, check):
    def give_budgets(rows):
        for i, row in enumerate(rows):
            row["budget"] = 1_000 + i

    entry.lines(give_budgets)
    messages = [found.message for found in check(entry.folder).problems]
    about_budgets = [text for text in messages if text.startswith("the budget is")]
    assert len(about_budgets) > 20
    assert max(map(len, about_budgets)) < 100


@pytest.mark.parametrize("suffix", [".zip", ".tar.gz", ".tar.zst"])
def test_compressed_submission_is_the_same_submission(entry, check, tmp_path, suffix):
    for name in ("one", "two"):
        with open_submission(entry.folder) as opened:
            pack(opened, tmp_path / f"{name}{suffix}")
    first, second = (Path(tmp_path / f"{name}{suffix}") for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    done, plain = check(first), check(entry.folder)
    assert not done.findings
    assert (done.about, done.checked) == (plain.about, plain.checked)
    assert not any(path.exists() for path in done.opened.files.values())


def test_archives_made_by_common_tools_are_read(entry, check, tmp_path):
    with tarfile.open(tmp_path / "dot.tar.gz", "w:gz") as archive:
        archive.add(entry.folder, ".")
    with tarfile.open(tmp_path / "top.tar", "w") as archive:
        archive.add(entry.folder, "aurora")
    with zipfile.ZipFile(tmp_path / "flat.zip", "w") as archive:
        for path in entry.folder.iterdir():
            archive.write(path, path.name)
    with zipfile.ZipFile(tmp_path / "top.zip", "w") as archive:
        archive.write(entry.folder, "aurora")
        for path in entry.folder.iterdir():
            archive.write(path, f"aurora/{path.name}")
    for name in ("dot.tar.gz", "top.tar", "flat.zip", "top.zip"):
        assert not check(tmp_path / name).findings, name


def test_equal_advice_for_several_lines_is_given_once():
    findings = [
        Finding("no_answer", "no answer found", "set the status", "p.jsonl", line)
        for line in (1, 2, 3)
    ]
    findings.append(Finding("empty", "no line", "add the predictions", "p.jsonl"))
    texts = [as_text(each, "p.jsonl") for each in with_advice_once(findings)]
    assert texts == [
        "p.jsonl:1: problem [no_answer] no answer found; set the status",
        "p.jsonl:2: problem [no_answer] no answer found",
        "p.jsonl:3: problem [no_answer] no answer found",
        "p.jsonl: problem [empty] no line; add the predictions",
    ]
