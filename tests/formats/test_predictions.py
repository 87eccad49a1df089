"""Reading predictions: each bad line is one problem, and all other lines are used."""

import gzip
import hashlib
import io
import json
import os
import random
import sys
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from scbench.base.errors import PredictionsError
from scbench.formats.predictions import (
    MAX_LINE_BYTES,
    Line,
    Problem,
    open_predictions,
    parse_line,
    read_predictions,
    unread_keys,
)
from scbench.machine.files import read_regular

GOOD = b'{"id": "two_segments/00", "answer": {"segments": []}}'
MANY_DIGITS = b"9" * 1_000_000

SKIPPABLE = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
LINES = b"".join(
    b'{"id": "two_segments/%02d", "response": ""}\n' % i for i in range(3000)
)
HALF = LINES.index(b"\n", len(LINES) // 2) + 1

NOISE = b"".join(
    b'{"id": "%s"}\n' % random.Random(i).randbytes(60).hex().encode()
    for i in range(3000)
)


def read(data: bytes) -> list[Line | Problem]:
    return list(read_predictions(io.BytesIO(data), hashlib.sha256()))


def read_file(path, data: bytes) -> list[Line | Problem]:
    path.write_bytes(data)
    with open_predictions(str(path)) as stream:
        return list(read_predictions(stream, hashlib.sha256()))


def in_line(value: bytes) -> bytes:
    return b'{"id": "two_segments/00", "answer": ' + value + b"}"


JUNK = {
    "binary": (bytes(range(256)).replace(b"\n", b""), "not_json", "not UTF-8 text"),
    "nul in text": (in_line(b'"\x00"'), "not_json", "not UTF-8 text"),
    "prose": (
        b"hello, world",
        "not_json",
        "expected value, at column 1: ...hello, world...",
    ),
    "deep": (
        b"[" * 100_000 + b"]" * 100_000,
        "not_json",
        "nested deeper than 200 levels",
    ),
    "NaN": (in_line(b"[1, NaN]"), "not_json", "[1, NaN]"),
    "duplicate key": (
        b'{"id": "a/00", "id": "b/00"}',
        "not_json",
        'duplicate key "id"',
    ),
    "duplicate inside": (in_line(b'{"a": 1, "a": 1}'), "not_json", 'duplicate key "a"'),
    "long integer": (in_line(MANY_DIGITS), "not_json", "more than 4,300 digits"),
    "high surrogate": (in_line(b'"\\ud800"'), "not_json", "surrogate"),
    "cut off": (GOOD[:-3], "not_json", "the line ends too early"),
    "two on one line": (GOOD + GOOD, "not_json", "trailing characters"),
    "array": (
        b"[" + GOOD + b"]",
        "not_object",
        "but this line is an array; write one prediction per line",
    ),
    "1e999": (
        in_line(b"[-1e999]"),
        "not_json",
        "a number is too large for a 64-bit float",
    ),
    "long with point": (
        in_line(b"9" * 309 + b".5"),
        "not_json",
        "a number is too large",
    ),
    "no id": (b"{}", "bad_prediction", "id: is missing"),
    "id under another name": (
        b'{"prompt_id": "a/00", "answer": 1}',
        "bad_prediction",
        "id: is missing (is 'prompt_id' the id?)",
    ),
    "id is a number": (b'{"id": 3}', "bad_prediction", "id: must be a string; got 3"),
    "both": (
        b'{"id": "a/00", "answer": 1, "response": "1"}',
        "bad_prediction",
        "give either answer or response, not both",
    ),
    "status is ours": (
        b'{"id": "a/00", "status": "grader_error"}',
        "bad_prediction",
        "only the grader may give the status grader_error; use one of answered, api_error",
    ),
    "status with answer": (
        b'{"id": "a/00", "status": "missing", "answer": 1}',
        "bad_prediction",
        "means that there is no answer, but the line has one",
    ),
    "sample is text": (
        b'{"id": "a/00", "sample": "1"}',
        "bad_prediction",
        "sample: must be a whole",
    ),
}


@pytest.mark.parametrize(("data", "code", "message"), JUNK.values(), ids=JUNK)
def test_junk_line_is_one_problem_and_its_neighbours_are_used(data, code, message):
    first, problem, last = read(GOOD + b"\n" + data + b"\n" + GOOD + b"\n")
    assert isinstance(first, Line)
    assert isinstance(problem, Problem)
    assert (problem.code, problem.line) == (code, 2)
    assert message.lower() in problem.message.lower()
    assert str(problem).startswith("line 2: ")
    assert len(problem.message) < 1000
    assert isinstance(last, Line)
    assert last.number == 3


def test_messages_neither_flood_nor_control_a_terminal():
    key = json.dumps("\x1b[2J\u202e\n" + "k" * 1_000_000)
    problem = parse_line(f'{{"id": "a/00", {key}: 1, {key}: 2}}'.encode(), 1)
    assert problem.message.isprintable()
    assert "[2J" in problem.message
    assert len(problem.message) < 1000
    neighbour = parse_line(b'{"id": "a/00", "b": \x1b[2J}', 1)
    assert neighbour.message.isprintable()
    assert r"\x1b[2J" in neighbour.message


@pytest.mark.parametrize(
    "data",
    [
        GOOD + b"\n\n" + GOOD,
        GOOD + b"\r\n\r\n" + GOOD + b"\r\n",
        b"\xef\xbb\xbf" + GOOD + b"\n  \n\t" + GOOD + b"  \n",
        GOOD + b"\n\n\xef\xbb\xbf" + GOOD + b"\n",  # two files joined
    ],
)
def test_line_ends_blanks_and_byte_order_marks_do_not_matter(data):
    first, last = read(data)
    assert (first.number, last.number) == (1, 3)
    assert first.data == last.data == GOOD, "the journal knows a line by its bytes"
    assert first.prediction == last.prediction


def test_every_byte_is_hashed():
    data = b"\n".join([GOOD, b"junk", b"x" * (MAX_LINE_BYTES + 3_000_000), b"", GOOD])
    digest = hashlib.sha256()
    list(read_predictions(io.BytesIO(data), digest))
    assert digest.hexdigest() == hashlib.sha256(data).hexdigest()


def peak_while_reading(stream) -> tuple[int, list[Line | Problem]]:
    tracemalloc.start()
    try:
        entries = list(read_predictions(stream, hashlib.sha256()))
        return tracemalloc.get_traced_memory()[1], entries
    finally:
        tracemalloc.stop()


def test_line_of_exactly_the_allowed_length_is_read():
    pad = b" " * (MAX_LINE_BYTES - len(GOOD) - 1)
    entries = read(GOOD + pad + b"\n" + GOOD + pad + b" \n" + GOOD)
    assert [type(entry) for entry in entries] == [Line, Problem, Line]


@given(st.binary(max_size=300))
@example(b"\xef\xbb\xbf" + GOOD)
@example(b"{" + b'"a":' * 40)
def test_no_bytes_make_reading_fail(data):
    for entry in read(data):
        assert isinstance(entry, Line | Problem)
        if isinstance(entry, Problem):
            assert entry.message.isprintable()


# Compression.


def zst(data: bytes, **options) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(data)


PACKINGS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "gzip members": lambda data: (
        gzip.compress(data[:HALF]) + gzip.compress(data[HALF:])
    ),
    "zstd": zst,
    "zstd many frames": lambda data: b"".join(
        zst(data[i : i + 100]) for i in range(0, len(data), 100)
    ),
    "zstd skippable": lambda data: (
        SKIPPABLE + zst(data[:HALF]) + SKIPPABLE + zst(data[HALF:])
    ),
    "zstd long window": lambda data: zst(
        data, compression_params=zstandard.ZstdCompressionParameters(window_log=27)
    ),
}


@pytest.mark.parametrize("pack", PACKINGS.values(), ids=PACKINGS)
@pytest.mark.parametrize("name", ["p.jsonl", "p.gz", "p.zst"])
def test_compressed_files_are_detected_by_content(tmp_path, pack, name):
    entries = read_file(tmp_path / name, pack(LINES))
    assert [entry.number for entry in entries] == list(range(1, 3001))
    assert all(isinstance(entry, Line) for entry in entries)


@pytest.mark.parametrize("share", [0.002, 0.3, 0.9, 0.9999])
@pytest.mark.parametrize("pack", [gzip.compress, zst], ids=["gzip", "zstd"])
def test_truncated_file_gives_its_whole_lines_and_one_problem(tmp_path, pack, share):
    packed = pack(NOISE)
    *lines, problem = read_file(tmp_path / "cut", packed[: int(len(packed) * share)])
    assert all(isinstance(line, Line) for line in lines)
    assert (problem.code, problem.line) == ("unreadable", len(lines) + 1)
    assert "ended before the end-of-stream marker" in problem.message
    if share > 0.8:
        assert len(lines) > 1000


@given(
    st.binary(max_size=200),
    st.sampled_from([b"\x1f\x8b", b"\x28\xb5\x2f\xfd", SKIPPABLE]),
)
def test_no_bytes_after_a_magic_number_make_reading_fail(tmp_path_factory, data, magic):
    for entry in read_file(tmp_path_factory.getbasetemp() / "magic", magic + data):
        assert isinstance(entry, Line | Problem)


def test_excessive_window_is_refused(tmp_path):
    options = zstandard.ZstdCompressionParameters(
        window_log=29, write_content_size=False
    )
    packer = zstandard.ZstdCompressor(compression_params=options).compressobj()
    [problem] = read_file(tmp_path / "p", packer.compress(GOOD) + packer.flush())
    assert (problem.code, problem.line) == ("unreadable", 1)
    assert "memory" in problem.message


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_decompression_bomb_is_one_long_line_and_never_fills_memory(tmp_path, name):
    size = 2**28
    path = tmp_path / "bomb"
    if name == "gzip":
        with gzip.open(path, "wb") as file:
            for _ in range(size >> 20):
                file.write(bytes(2**20))
    else:
        packer = zstandard.ZstdCompressor()
        with path.open("wb") as file, packer.stream_writer(file) as writer:
            for _ in range(size >> 20):
                writer.write(bytes(2**20))
    assert path.stat().st_size < 2**19
    with open_predictions(str(path)) as stream:
        peak, [problem] = peak_while_reading(stream)
    assert peak < 6 * MAX_LINE_BYTES
    assert (
        problem.message == "the line is 268,435,456 bytes long; the limit is 16,777,216"
    )


# Opening.


@pytest.mark.parametrize(
    ("name", "reason"),
    [("missing.jsonl", "No such file"), (".", "Is a directory"), ("a\x00b", "null")],
)
def test_unreadable_file_is_an_error_with_the_reason(tmp_path, name, reason):
    with pytest.raises(PredictionsError, match=f"cannot read .*{reason}"):
        open_predictions(str(tmp_path / name))


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="no /proc")
def test_link_to_a_file_of_the_kernel_is_refused(tmp_path):
    path = tmp_path / "predictions.jsonl"
    path.symlink_to("/proc/version")
    with pytest.raises(PredictionsError, match="it is in /proc"):
        open_predictions(str(path))
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(path)


def test_a_device_that_may_never_end_is_refused():
    with pytest.raises(
        PredictionsError, match="cannot read '/dev/zero': it is a device"
    ):
        open_predictions("/dev/zero")


def test_standard_input_is_read(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(GOOD)))
    monkeypatch.setattr(sys, "stdin", stdin)
    with open_predictions("-") as stream:
        [line] = read_predictions(stream, hashlib.sha256())
    assert line.prediction.id == "two_segments/00"


@pytest.mark.parametrize("pack", [gzip.compress, zst, lambda data: data])
def test_pipe_that_gives_one_byte_at_a_time_is_read(pack):
    receiving, sending = os.pipe()

    def write() -> None:
        with os.fdopen(sending, "wb", buffering=0) as pipe:
            for byte in pack(GOOD + b"\n"):
                pipe.write(bytes([byte]))

    thread = threading.Thread(target=write)
    thread.start()
    with open_predictions(f"/dev/fd/{receiving}") as stream:
        [line] = read_predictions(stream, hashlib.sha256())
    thread.join()
    os.close(receiving)
    assert line.data == GOOD


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"input_tokens": 9, "output_tokens": 5, "reasoning_tokens": 2}, (9, 5, 2)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "total_tokens": 14,
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
            (9, 5, 2),
        ),
        (
            {
                "input_tokens": 9,
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 2},
            },
            (9, 5, 2),
        ),
        (
            {
                "input_tokens": 9,
                "cache_creation_input_tokens": 3,
                "cache_read_input_tokens": None,
                "output_tokens": 5,
                "output_tokens_details": {"thinking_tokens": 2},
            },
            (12, 5, 2),
        ),
        ({"prompt_tokens": 9, "completion_tokens_details": None}, (9, None, None)),
    ],
)
def test_usage_is_understood_under_the_names_of_providers(usage, counts):
    parsed = parse_line(json.dumps({"id": "a/00", "usage": usage}).encode(), 1)
    given = parsed.prediction.usage
    assert (given.input_tokens, given.output_tokens, given.reasoning_tokens) == counts


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16LE"),
        ("utf-16-be", "UTF-16BE"),
        ("utf-32", "UTF-32"),
        ("utf-32-le", "UTF-32LE"),
        ("utf-32-be", "UTF-32BE"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_other_encodings_are_named_and_nothing_is_guessed(
    tmp_path, encoding, name, pack
):
    path = tmp_path / "p.jsonl"
    path.write_bytes(pack('{"id": "a/00"}\n{"id": "a/01"}\n'.encode(encoding)))
    with open_predictions(str(path)) as stream:
        (parsed,) = read_predictions(stream, hashlib.sha256())
    assert (parsed.code, parsed.line) == ("unreadable", 1)
    assert f"the file is {name} text" in parsed.message


def test_unused_keys_are_kept_for_a_warning():
    parsed = parse_line(
        b'{"id": "a/00", "modell": "m", "finish_reson": "stop", "zzz": 1}', 1
    )
    assert parsed.unread == ("modell", "finish_reson", "zzz")
    warnings = list(
        unread_keys({"modell": 2, "finish_reson": 1, "instance_id": 1, "zzz": 1})
    )
    assert warnings[0].endswith("in 2 lines; did you mean 'model'?")
    assert [line.rpartition("; ")[2] for line in warnings[1:3]] == [
        "did you mean 'finish_reason'?",
        "did you mean 'id'?",
    ]
    assert warnings[3].endswith("unknown key 'zzz' ignored in 1 line")


def test_problem_has_the_fields_of_its_class_and_no_empty_file():
    problem = Problem("code", "message", 3, "x/00")
    fields = {"code": "code", "message": "message", "line": 3, "id": "x/00"}
    assert problem.fields() == fields
    assert replace(problem, file="a").fields() == {**fields, "file": "a"}
