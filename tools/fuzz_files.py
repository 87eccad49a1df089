"""Fuzz whole files from outside: replies in other formats, submissions, manifests."""

import gzip
import io
import json
import os
import tempfile
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import zstandard
from fuzz_inputs import Choices, Target, check_text

import scbench
from scbench.base.errors import PredictionsError, ReleaseError, ScbenchError, printable
from scbench.formats.imports.gather import ImportOptions, gather, is_own
from scbench.formats.imports.tables import read_mapping
from scbench.formats.predictions import parse_line
from scbench.leaderboard.claims import read_claims
from scbench.leaderboard.findings import as_annotation, as_text
from scbench.leaderboard.folder import open_submission
from scbench.leaderboard.packing import PACKED, pack
from scbench.leaderboard.submission import read_submission
from scbench.leaderboard.validate import release_finder, validate
from scbench.release.manifest import parse_manifest

# Replies in the formats of other programs.
_CHAT = {
    "model": "M",
    "choices": [{"finish_reason": "stop", "message": {"content": "{}"}}],
}
_OPENAI_ITEM = {"type": "message", "content": [{"type": "output_text", "text": "{}"}]}
_ANTHROPIC_MESSAGE = {
    "model": "M",
    "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "{}"}],
}
_PARTS = {"content": {"parts": [{"text": "{}"}, {"text": "t", "thought": True}]}}
_GEMINI_REPLY = {"candidates": [_PARTS | {"finishReason": "STOP"}], "modelVersion": "M"}
_ID = "two_segments-07-S2-B900"
_DOC = {"id": "two_segments/07", "query": "q"}
_ENTRIES: tuple[object, ...] = (
    {
        "id": "two_segments/07",
        "model": "M",
        "response": "{}",
        "usage": {"input_tokens": 3},
    },
    {"custom_id": _ID, "response": {"status_code": 200, "body": _CHAT}, "error": None},
    {
        "custom_id": _ID,
        "response": {"status_code": 200, "body": {"output": [_OPENAI_ITEM]}},
    },
    {
        "custom_id": _ID,
        "response": {"status_code": 429, "body": {"error": {"message": "slow"}}},
    },
    {"custom_id": _ID, "result": {"type": "succeeded", "message": _ANTHROPIC_MESSAGE}},
    {
        "custom_id": _ID,
        "result": {"type": "errored", "error": {"type": "x", "message": "m"}},
    },
    {"key": _ID, "response": _GEMINI_REPLY},
    [{"metadata": {"key": _ID}, "response": _GEMINI_REPLY}],
    {
        "dest": {
            "inlinedResponses": {
                "inlinedResponses": [{"key": _ID, "response": _GEMINI_REPLY}]
            }
        }
    },
    {"doc_id": 0, "doc": _DOC, "resps": [["{}"]], "filtered_resps": ["{}"]},
    {"doc": _DOC, "model_response": {"text": ["{}"], "input_tokens": [1]}},
    {
        "task": {"id": "two_segments/07"},
        "traces": [{"completion": [{"content": "{}"}]}],
    },
    {"custom_id": _ID, "status": "not_run", "error": "too long"},
)
# Replies in tables.
_TABLES = (
    b'id,response,sample\n"two_segments/07","a, ""b""\n",3\n',
    b"item;output\ntwo_segments/07;{}\n",
    b"id\tanswer\ntwo_segments/07\t{}\n",
)
# The files of a submission.
_ABOUT = b"""format: 1
model:
  name: Aurora
  version: "2026-01"
organisation: Example Lab
date: 2026-01-02
release: 4.0.0
setting: no_tools
sampling: {temperature: 0.7, effort: [high, ~]}
attempts: 1
contact: someone@example.org
outputs_licence: CC-BY-4.0
"""
_LINE = b'{"id": "two_segments/07", "model": "Aurora", "answer": {"segments": []}}\n'
_CLAIMS = b'{"scores": {"overall": 61.2, "csg_union": 1e1}}'


def scratch_folder() -> Path:
    """Return a new folder for temporary files."""
    return Path(tempfile.mkdtemp())


def _inspect_log() -> dict[str, Any]:
    """Return an Inspect log with one sample."""
    usage = {"input_tokens": 3, "output_tokens": 4}
    output = {"model": "M", "completion": "{}", "usage": usage, "choices": []}
    sample = {
        "id": "two_segments/07",
        "epoch": 1,
        "output": output,
        "model_usage": {"M": usage},
    }
    header = {"task": "t", "model": "p/M", "created": "", "dataset": {}, "config": {}}
    return {"version": 2, "status": "success", "eval": header, "samples": [sample]}


def _inspect_archive() -> bytes:
    """Return the same log as an archive, as Inspect writes it by default."""
    log = _inspect_log()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({**log, "samples": None}))
        sample = json.dumps(log["samples"][0])
        archive.writestr("samples/two_segments_epoch_1.json", sample)
    return file.getvalue()


def import_target() -> Target:
    """Return the target of files that other programs write, packed or not."""
    import polars as pl  # noqa: PLC0415  (heavy)

    path = scratch_folder() / "file"
    maps = (
        None,
        None,
        read_mapping("id=item,response=output"),
        read_mapping("id=doc.id"),
    )

    def run(data: bytes) -> None:
        choices = Choices(data)
        mapped = choices.pick(maps)
        form = choices.below(6)
        content = choices.remainder
        if form == 1:
            content = gzip.compress(content)
        elif form == 2:
            content = zstandard.compress(content)
        path.write_bytes(content)
        options = ImportOptions(mapped, "M" if form == 5 else None)
        sink = io.BytesIO()
        try:
            is_own(str(path), mapped)
            result = gather([str(path)], sink, options)
        except ModuleNotFoundError as error:
            # This extra's reader is fuzzed only where the extra is installed.
            if error.name != "inspect_ai":
                raise
            return
        except PredictionsError as error:
            check_text(printable(str(error)), 1500)
            return
        lines = sink.getvalue().split(b"\n")[:-1]
        check_text(result.recognised, 5000)
        for problem in result.problems:
            check_text(str(problem), 2500)
        for number, line in enumerate(lines, 1):
            parse_line(line + b"\n", number)
            assert result.origin(number)[0] == str(path)

    table = io.BytesIO()
    pl.DataFrame({"id": ["two_segments/07"], "response": ["{}"]}).write_parquet(table)
    lines = [json.dumps(entry).encode() + b"\n" for entry in _ENTRIES]
    lines += [*_TABLES, json.dumps(_inspect_log()).encode(), _inspect_archive()]
    lines += [table.getvalue(), json.dumps(_ENTRIES[:7], indent=1).encode()]
    tokens = tuple(
        f'"{key}":'.encode()
        for entry in _ENTRIES
        if isinstance(entry, dict)
        for key in entry
    )
    tokens += (
        b"null",
        b"[]",
        b"{}",
        b'""',
        b"NaN",
        b"[" * 99,
        b"\n",
        b",",
        b"\xff",
        b"PAR1",
    )
    return Target(
        run,
        [b"\0\0" + text for text in lines],
        tokens,
        6000,
        children=600,
        scratch=True,
    )


def archive_target() -> Target:
    """Return the target of submission archives of every kind."""
    home = scratch_folder()
    paths = [home / f"entry{suffix}" for suffix in (*PACKED, ".tar")]
    releases = release_finder()

    def run(data: bytes) -> None:
        choices = Choices(data)
        path = choices.pick(paths)
        is_spoilt_inside = choices.below(3) > 0
        content = choices.remainder
        # Either the content was changed before packing, or the packed bytes were changed.
        if is_spoilt_inside and path.suffix == ".gz":
            content = gzip.compress(content)
        elif is_spoilt_inside and path.suffix == ".zst":
            content = zstandard.compress(content)
        path.write_bytes(content)
        with open_submission(path) as opened:
            done = validate(opened, releases)
        for finding in done.findings:
            check_text(as_text(finding, "x"), 3000)
            as_annotation(finding, "x").encode()
        strays = [entry for entry in home.iterdir() if entry not in paths]
        assert not strays, f"{strays} was left"

    def packed(suffix: str) -> bytes:
        files = {
            "submission.yaml": _ABOUT,
            "predictions.jsonl": _LINE,
            "claimed.json": _CLAIMS,
        }
        for name, text in files.items():
            (home / name).write_bytes(text)
        paths = {name: home / name for name in files}
        out = home / f"made{suffix}"
        pack(SimpleNamespace(files=paths, path=home / "entry"), out)  # type: ignore[arg-type]
        data = out.read_bytes()
        for used in (*paths.values(), out):
            used.unlink()
        return data

    plain = gzip.decompress(packed(".tar.gz"))
    seeds = [bytes([i, 0]) + packed(suffix) for i, suffix in enumerate(PACKED)]
    seeds += [bytes([i, 1]) + plain for i in (1, 2, 3)]
    tokens = (
        b"../",
        b"/",
        b"\\",
        b"\0",
        b"0000777\0",
        b"ustar",
        b"PK\1\2",
        b"PK\5\6",
        b"2",
        b"L",
    )
    tokens += (b"path=", b"GNU.sparse.map=", b"size=", b"99999999999", b"\xff" * 8)
    return Target(run, seeds, tokens, 12_000, scratch=True)


def document_target() -> Target:
    """Return the target of submission.yaml and claimed.json."""

    def run(data: bytes) -> None:
        about, findings = read_submission(data, "submission.yaml")
        assert (about is None) == bool(findings)
        claims, wrong = read_claims(data, ["overall", "csg_union"], "claimed.json")
        assert not claims or all(0 <= claim <= 100 for claim in claims.values())
        for finding in (*findings, *wrong):
            check_text(as_text(finding, "x"), 3000)

    tokens = tuple(line.partition(b":")[0] + b": " for line in _ABOUT.splitlines())
    tokens += (
        b"&a ",
        b"*a",
        b"!!python/object:",
        b"- ",
        b"? ",
        b"|\n",
        b">\n",
        b"---\n",
        b"...\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b"%YAML 1.1\n",
        b"\t",
        b"\xe2\x80\xae",
        b"'",
        b'"',
        b"#",
    )
    return Target(run, [_ABOUT, _CLAIMS, b'{"buckets": [], "tasks": []}'], tokens, 5000)


def manifest_target() -> Target:
    """Return the target of a release manifest, reduced to two tasks."""
    record = json.loads(scbench.load_release().manifest.text())
    tasks = list(record["tasks"])[:2]
    small = {**record, "tasks": {name: record["tasks"][name] for name in tasks}}
    small["files"] = dict(list(record["files"].items())[:3])
    for name in ("experiment", "ladder", "terse", "withdrawn"):
        small.pop(name, None)
    experiment = {
        **small,
        "experiment": {"seed": 1, "prefix": "b001f663", "tasks": [{"id": tasks[0]}]},
    }
    seeds = [json.dumps(value).encode() for value in (small, experiment)]

    def run(data: bytes) -> None:
        try:
            manifest = parse_manifest(data, Path("x"), check_digest=False)
        except ReleaseError as error:
            check_text(printable(str(error)), 3000)
            return
        text = manifest.text().encode()
        assert parse_manifest(text, Path("x"), check_digest=False) == manifest
        for name in manifest.files:
            assert not os.path.isabs(name)  # noqa: PTH117
            assert ".." not in name.split("/")
        for part in (
            manifest.of_terse,
            manifest.of_ladder,
            lambda: manifest.named_tasks(["x"]),
        ):
            try:
                part()
            except ScbenchError as error:
                check_text(printable(str(error)), 3000)

    tokens = tuple(f'"{key}":'.encode() for key in experiment)
    tokens += (
        b"../",
        b"null",
        b"{}",
        b"[]",
        b"1e999",
        b"-1",
        b'"',
        b"\\u202e",
        b"[" * 99,
    )
    return Target(run, seeds, tokens, 9000)
