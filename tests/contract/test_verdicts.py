"""Golden verdicts: changing any verdict needs a new version of its grader."""

import runpy
from pathlib import Path
from statistics import mean
from types import SimpleNamespace

import pytest
from contract import newest_list, remember

from scbench.base.canonical import canonical_json
from scbench.base.errors import CannotGrade
from scbench.base.model import Status
from scbench.catalog import SECONDS, get_task, paper_tasks
from scbench.scoring.judge import judge
from scbench.scoring.outcomes import grade_prediction

TOOL = Path(__file__).resolve().parents[2] / "tools" / "golden_verdicts.py"
GOLDEN = SimpleNamespace(**runpy.run_path(str(TOOL)))
RENEW = "if that is meant, raise the grader's VERSION and run tools/golden_verdicts.py"


def params_of_items(task):
    """Return the parameters of the paper's items by id."""
    paper = task.builder().paper()
    return {f"{task.id}/{i:02d}": item.params for i, item in enumerate(paper)}


def test_stored_answers_get_golden_verdicts(task):
    version, written = GOLDEN.read(task.id)
    if not written and task.id not in newest_list():
        return  # before its first release, a task's grader may change
    assert version == task.grader_version, "run tools/golden_verdicts.py"
    params = params_of_items(task)
    keys = set()
    scores: dict[str, list[tuple[str, float]]] = {}
    for instance_id, name, answer in GOLDEN.stored_answers(task):
        key = GOLDEN.key(instance_id, name, answer)
        keys.add(key)
        assert key in written, f"{key} is new: run tools/golden_verdicts.py"
        if task.seconds > SECONDS and name == "reference":
            # Verifying the release grades it; once is enough.
            assert written[key].scores == (1.0,)
            continue
        verdicts = judge(task, params[instance_id], answer)
        assert GOLDEN.golden(verdicts).agrees(written[key]), f"{key} changed: {RENEW}"
        score = mean(verdict.score for verdict in verdicts)
        assert (score == 1) == (name == "reference"), key
        scores.setdefault(instance_id, []).append((canonical_json(answer), score))
    for instance_id, graded in scores.items():
        remember(task, params[instance_id], graded)
    missing = {key for key in written if "\treal\t" not in key} - keys
    assert not missing, (
        f"{len(missing)} answers are missing: run tools/golden_verdicts.py"
    )


@pytest.mark.parametrize("task", paper_tasks(), ids=str)
def test_real_answers_get_golden_verdicts_and_expected_scores(task, real_rows):
    _, written = GOLDEN.read(task.id)
    params = params_of_items(task)
    expected = []
    for prediction, row in real_rows:
        if prediction["id"].startswith(f"{task.id}/"):
            expected.append(row)
    assert expected
    lines = GOLDEN.real_lines(task)
    for (digest, prediction), row in zip(lines, expected, strict=True):
        key = f"{prediction.id}\treal\t{digest}"
        outcome = grade_prediction(prediction, task, params[prediction.id])
        if outcome.status is Status.NOT_RUN:
            raise CannotGrade(outcome.reason)
        golden = GOLDEN.golden(outcome.verdicts)
        assert golden.agrees(written[key]), f"{key} changed: {RENEW}"
        by_number = row.get("expected_scores", {"0": row.get("expected_score")})
        right = [by_number[number] for number in sorted(by_number, key=int)]
        scores = [verdict.score for verdict in outcome.verdicts]
        assert scores == pytest.approx(right, abs=row.get("tolerance") or 1e-9), row


def test_changed_verdicts_are_not_written_without_a_new_version(tmp_path, monkeypatch):
    task = get_task("two_segments")
    space = GOLDEN.write.__globals__
    monkeypatch.setitem(space, "FOLDER", tmp_path)
    assert "0 changed" in GOLDEN.write(task)
    path = tmp_path / "two_segments.tsv"
    before = path.read_text()
    lines = before.splitlines()
    lines[1] = lines[1].replace("\t0.0\t", "\t1.0\t")
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(SystemExit, match="raise VERSION"):
        GOLDEN.write(task)
    path.write_text("\n".join(["grader version 0", *lines[1:]]) + "\n")
    assert "1 changed" in GOLDEN.write(task)
    assert path.read_text() == before
