"""The report's files: their contents, no trust in the data, and complete writing."""

import json
import re

import polars as pl
import pytest
from html_reader import read

from scbench.base.canonical import canonical_json
from scbench.base.errors import ResultsError
from scbench.report import write_report
from scbench.report.picture import draw_of

NASTY = "</script></pre><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u2028{{7*7}}"


@pytest.mark.slow
def test_report_has_an_item_of_every_task_with_its_picture(whole_report, small):
    page = read(whole_report)
    items = [attrs for tag, attrs in page.elements if attrs.get("class") == "item"]
    assert len(items) == 2 * len(small.held)
    assert {attrs["data-task"] for attrs in items} == {
        row.task for row in small.held.values()
    }
    text = " ".join(page.texts)
    assert "No picture: " not in text
    for row in small.held.values():
        assert row.prompt.strip()[:200].split("\n")[0] in text, row.id
    for words in (
        "right and wrong",
        "9.9.9",
        "no tools",
        "graders v2",
        "all axiomatic",
    ):
        assert words in text, words
    names = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(names) == len(set(names)), "an id stands twice"


def test_report_requests_nothing_and_runs_only_the_scripts_of_its_policy(
    rows, small, stored, tmp_path
):
    few = rows.filter(pl.col("task").is_in(["csg_union", "two_segments"]))
    write_report(
        [stored(few)], tmp_path / "r.html", release=small, workers=1, most_bytes=10**8
    )
    page = read(tmp_path / "r.html")
    for tag, attrs in page.elements:
        for name in ("src", "href", "xlink:href"):
            assert attrs.get(name, "#").startswith(("#", "data:", "r.html")), (
                tag,
                attrs,
            )
        assert not any(name.startswith("on") for name in attrs), attrs
        assert "style" not in attrs, "only sheets are read"
    policy = next(
        attrs["content"]
        for tag, attrs in page.elements
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
    assert "http" not in policy


def hostile(make_results, **more: object) -> pl.DataFrame:
    check = {"id": NASTY, "passed": False, "message": NASTY, "details": {"x": NASTY}}
    usual = {"score": 0.0, "model": NASTY, "failed_checks": [NASTY]}
    usual |= {
        "checks": canonical_json([check]),
        "metrics": canonical_json({NASTY: NASTY}),
    }
    usual |= {"answer": canonical_json({NASTY: [NASTY]}), "answer_source": NASTY}
    usual |= {
        "notes": [NASTY],
        "repairs": [NASTY],
        "reason": NASTY,
        "finish_reason": NASTY,
    }
    return make_results(usual | {"release": NASTY, "release_hash": NASTY} | more)


@pytest.mark.parametrize("field", ["id", "setting", "status", "bucket", None])
def test_nothing_in_the_results_is_trusted(make_results, stored, tmp_path, field):
    frame = hostile(make_results)
    if field == "status":
        frame = hostile(make_results, status="api_error", score=None)
    elif field:
        frame = frame.with_columns(pl.lit(NASTY).alias(field))
    folder = stored(frame)
    summary = {"scbench": NASTY, "predictions": {"file": NASTY, "sha256": NASTY}}
    summary |= {
        "problem_counts": {NASTY: 1},
        "not_in_release": [{"task": NASTY, "rows": 1}],
    }
    summary |= {"withdrawn": {"excluded": True, "instances": [NASTY]}}
    (folder / "summary.json").write_text(json.dumps(summary), "utf-8")
    write_report([folder], tmp_path / "report.html")
    page = read(tmp_path / "report.html")
    assert "alert(1)" in " ".join(page.texts)
    assert "49" not in re.findall(r"\d+", " ".join(page.texts).replace("{{7*7}}", ""))
    scripts = [attrs for tag, attrs in page.elements if tag == "script"]
    assert len(scripts) == 1, "the page's own"
    assert not any(tag == "img" for tag, _ in page.elements)
    assert not any(
        name.startswith("on") for _, attrs in page.elements for name in attrs
    )


def test_response_is_shown_as_text(small, rows, stored, write_lines, tmp_path):
    from scbench.base.canonical import sha256  # noqa: PLC0415

    line = json.dumps(
        {"id": "two_segments/00", "model": "right", "response": NASTY * 500}
    )
    frame = rows.filter(pl.col("id") == "two_segments/00", pl.col("model") == "right")
    frame = frame.with_columns(prediction_hash=pl.lit(sha256(line.encode())))
    path = write_lines(line)
    options = {"release": small, "predictions": str(path)}
    write_report([stored(frame)], tmp_path / "report.html", **options)
    text = " ".join(read(tmp_path / "report.html").texts)
    assert "Response (" in text
    assert "more characters not shown" in text
    assert text.count("alert(1)") > 10
    other = write_lines({"id": "two_segments/00", "model": "right"}, name="other.jsonl")
    with pytest.raises(ResultsError, match="is not the file that was graded"):
        write_report(
            [stored(frame, "again")],
            tmp_path / "r.html",
            **options | {"predictions": str(other)},
        )
    assert not (tmp_path / "r.html").exists()


def test_failed_picture_costs_only_itself(rows, small, stored, tmp_path, monkeypatch):
    def draw(task):
        if task.id != "shikaku_rectangles":
            return draw_of(task)
        raise ZeroDivisionError("no <b>picture</b>")

    monkeypatch.setattr("scbench.report.figures.draw_of", draw)
    few = rows.filter(pl.col("task").is_in(["shikaku_rectangles", "two_segments"]))
    written = write_report(
        [stored(few)], tmp_path / "report.html", release=small, workers=1
    )
    assert [name for name, _ in written.without_picture] == [
        "shikaku_rectangles/00"
    ] * 2
    text = " ".join(read(tmp_path / "report.html").texts)
    assert text.count("No picture: ZeroDivisionError: no <b>picture</b>") == 2
    assert "the frame" in text, "the other task has its picture"


def test_report_is_written_completely_or_not_at_all(many, tmp_path, monkeypatch):
    out = tmp_path / "out" / "r.html"
    write_report([many], out)
    before = out.read_bytes()

    def fail(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("scbench.report.paging.render_entry", fail)
    with pytest.raises(ResultsError, match="No space left on device"):
        write_report([many], out)
    assert [path.name for path in out.parent.iterdir()] == ["r.html"]
    assert out.read_bytes() == before


def test_warnings_come_first(make_results, stored, tmp_path):
    frame = make_results(
        {"score": 1.0},
        {"subtask": 1, "status": "blocked", "score": None},
        {"subtask": 2, "status": "grader_error", "score": None},
    )
    folder = stored(frame)
    (folder / "summary.json").write_text('{"problem_counts": {"not_json": 2}}')
    write_report([folder], tmp_path / "r.html")
    text = " ".join(read(tmp_path / "r.html").texts)
    for words in (
        "2 of 3 scores are missing (1 blocked, 1 grader_error)",
        "1 of the missing scores is a grader failure; grade the predictions again.",
        "Release 9.9.9 (rows h) is not installed",
        "2 problems in the predictions (2 not_json)",
    ):
        assert words in text, words
        assert text.index(words) < text.index("Normalized: 0 is")


def test_missing_scores_are_counted_once(make_results, stored, tmp_path):
    frame = make_results(
        {"score": 1.0}, {"subtask": 1, "status": "missing", "score": None}
    )
    write_report([stored(frame)], tmp_path / "r.html")
    text = " ".join(read(tmp_path / "r.html").texts)
    assert "1 of 2 scores are missing. Means cover" in text
