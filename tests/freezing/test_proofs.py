"""Stored proofs: made and judged once, never trusted when damaged, ignored on request."""

from base64 import b64decode, b64encode
from dataclasses import replace
from zlib import compress, decompress

import pytest

from scbench.base.canonical import canonical_json, parse_json, sha256
from scbench.base.errors import ReleaseError
from scbench.catalog import get_task
from scbench.freezing import floors, proofs
from scbench.freezing.experiment import experiment_of
from scbench.freezing.fresh import run
from scbench.freezing.frozen_task import freeze_task
from scbench.freezing.verify import verify_release

TASK = get_task("enumerate_edges")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "proofs" / "now.jsonl"


@pytest.fixture(autouse=True)
def forget():
    """Forget proofs in memory, as in a new process."""
    proofs.open_store.cache_clear()
    yield
    proofs.open_store.cache_clear()


@pytest.fixture
def judged(monkeypatch):
    """A list that grows with each judged answer."""
    calls = []
    real = floors.judge
    monkeypatch.setattr(floors, "judge", lambda *a: calls.append(a) or real(*a))
    return calls


def rewrite(path, score):
    """Change the first score of each reference, with a matching hash."""
    lines = []
    for line in path.read_bytes().splitlines():
        _, key, value = line.split(b" ", 2)
        scores = parse_json(decompress(b64decode(value)))
        if scores[0] == 1:
            scores[0] = score
        text = b64encode(compress(canonical_json(scores).encode()))
        lines.append(b" ".join([sha256(key + b" " + text).encode(), key, text]) + b"\n")
    path.write_bytes(b"".join(lines))
    proofs.open_store.cache_clear()


def test_judged_answer_is_not_judged_again(path, judged):
    first = freeze_task(TASK, proofs=path)
    assert len(judged) >= len(first.references) > 0
    judged.clear()
    proofs.open_store.cache_clear()
    assert freeze_task(TASK, proofs=path) == first
    assert not judged


def test_other_answer_is_judged(path, judged, monkeypatch):
    first = freeze_task(TASK, proofs=path)
    judged.clear()
    builder = type(TASK.builder())
    real = builder.counter_references
    monkeypatch.setattr(
        builder,
        "counter_references",
        lambda self, p: {**real(self, p), "extra": {"edges": "?"}},
    )
    monkeypatch.setattr(builder, "version", builder.version + 1)
    more = freeze_task(TASK, proofs=path)
    assert (
        len(more.references)
        == len(first.references) + len(first.instances)
        == len(judged)
    )


def test_drawn_and_solved_items_are_not_drawn_again(path, monkeypatch):
    experiment = experiment_of({"seed": 3, "task": [{"id": TASK.id, "count": 4}]})
    first = list(run(experiment, proofs=path))
    assert first == list(run(experiment))
    proofs.open_store.cache_clear()
    for name in ("rows_at", "reference", "counter_references", "baselines"):
        monkeypatch.setattr(type(TASK.builder()), name, None)
    assert list(run(experiment, proofs=path)) == first
    with pytest.raises(TypeError):
        list(run(experiment))


def test_damaged_lines_are_judged_again(path, judged):
    first = freeze_task(TASK, proofs=path)
    whole = path.read_bytes()
    for at in range(0, whole.index(b"\n"), 31):
        for bits in (1, 128):
            damaged = bytearray(whole)
            damaged[at] ^= bits
            path.write_bytes(bytes(damaged))
            judged.clear()
            proofs.open_store.cache_clear()
            assert freeze_task(TASK, proofs=path) == first
            assert judged


def test_stored_score_must_agree_too(path):
    freeze_task(TASK, proofs=path)
    rewrite(path, 0.5)
    with pytest.raises(
        ReleaseError, match=r"scores 0\.5, but a reference must score 1"
    ):
        freeze_task(TASK, proofs=path)


def test_forged_score_is_found_from_scratch(path, copy, monkeypatch):
    """A forged cache deceives a check that uses it, and no other check."""
    real = floors.judge

    def harsh(task, params, answer):
        verdicts = real(task, params, answer)
        return tuple(replace(verdict, score=0.25) for verdict in verdicts)

    verify_release(copy, proofs=path)
    monkeypatch.setattr(floors, "judge", harsh)
    proofs.open_store.cache_clear()
    assert verify_release(copy, proofs=path) == ()
    problems = verify_release(copy)
    assert any("must score 1" in line for line in problems), problems


def test_file_depends_on_code_libraries_and_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = proofs.proofs_file()
    assert first.parent == tmp_path / "scbench" / "proofs"
    names = {first.name}
    for change in (
        lambda patch: patch.setattr(proofs, "installed_version", lambda _: "99"),
        lambda patch: patch.setattr(proofs.platform, "node", lambda: "another"),
        lambda patch: patch.setattr(proofs, "_JUDGED_BY", ("graders",)),
    ):
        with monkeypatch.context() as patch:
            change(patch)
            proofs.code_state.cache_clear()
            names.add(proofs.proofs_file().name)
    proofs.code_state.cache_clear()
    assert len(names) == 4
    assert proofs.proofs_file() == first


def test_from_scratch_everything_is_judged_and_stored_again(
    judged, monkeypatch, tmp_path
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    counts = []
    for from_scratch in (False, True, False):
        judged.clear()
        proofs.open_store.cache_clear()
        freeze_task(TASK, proofs=proofs.proofs_file(from_scratch=from_scratch))
        counts.append(len(judged))
    assert counts[0] == counts[1] > counts[2] == 0
