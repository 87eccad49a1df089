"""Pages of items: their length, their contents, and the removal of old ones."""

import re

import polars as pl
import pytest

from scbench.report import figures as figures_module
from scbench.report import write_report
from scbench.report.figures import Figure, FigureJob, draw_all
from scbench.report.html import page_parts


def items(page) -> list[str]:
    return re.findall(r'class="item" id="([^"]+)"', page.read_text("utf-8"))


def test_many_items_are_split_into_pages(many, tmp_path):
    out = tmp_path / "out" / "r.html"
    written = write_report([many], out, most_items=6)
    names = ["r.html", "r-2.html", "r-3.html", "r-4.html", "r-5.html"]
    assert [path.name for path in written.pages] == names
    assert sorted(path.name for path in out.parent.iterdir()) == sorted(names)
    by_page = list(map(items, written.pages))
    assert [len(names_of_items) for names_of_items in by_page] == [0, 6, 6, 6, 2]
    assert len(set().union(*by_page)) == 20
    for page in written.pages:
        text = page.read_text("utf-8")
        assert re.findall(r'<td><a href="([^"]+)"', text) == names
        assert re.findall(r'<a href="([^"]+)" aria-current="page"', text) == [page.name]
        # Only the first page has tables.
        assert ("Scores by run" in text) == (page == out)
    bare = re.sub(r"<[^>]+>|\s+", " ", written.pages[2].read_text("utf-8"))
    words = "3 (this page) 6 Two Segments (4), CSG Union (2) 4 6 CSG Union (6) 5 2 CSG"
    assert words in re.sub(r" +", " ", bare)
    # A shorter report removes the pages of the longer one, and nothing else.
    (out.parent / "r-6.html").write_text("of another program")
    write_report([many], out)
    assert sorted(path.name for path in out.parent.iterdir()) == ["r-6.html", "r.html"]


def test_no_page_exceeds_its_limit(make_results, stored, tmp_path):
    usual = {"score": 0.0, "answer": '{"n":' + "1" * 1_500 + "}"}
    rows = []
    for item in range(200):
        rows += [{"subtask": item, "model": model, **usual} for model in ("a", "b")]
    folder = stored(make_results(*rows))
    written = write_report([folder], tmp_path / "r.html", most_bytes=500_000)
    sizes = [path.stat().st_size for path in written.pages]
    assert max(sizes) <= 500_000
    assert len(sizes) > 3
    assert sum(len(items(page)) for page in written.pages) == 400
    assert written.bytes == sum(sizes)


@pytest.mark.slow
def test_script_for_3d_counts_and_is_only_where_it_is_needed(
    rows, small, stored, tmp_path
):
    tasks = ["two_segments", "csg_union", "lego_hemispherical_shell"]
    few = rows.filter(pl.col("task").is_in(tasks))
    script = len(page_parts(in_3d=True)["plotly"])
    most = script + 210_000
    written = write_report(
        [stored(few)], tmp_path / "r.html", release=small, most_bytes=most
    )
    texts = [page.read_text("utf-8") for page in written.pages]
    assert max(map(len, texts)) <= most
    for text in texts:
        assert ('id="plotly"' in text) == ('class="turn"' in text)
    assert 'id="plotly"' not in texts[0]


def test_equal_answers_to_an_instance_are_drawn_once(monkeypatch):
    drawn = []

    def draw(job):
        drawn.append(job)
        return Figure(caption=str(job))

    monkeypatch.setattr(figures_module, "draw", draw)
    job = FigureJob("two_segments", "{}", "1", ())
    other_answer = job._replace(answer="2")
    other_params = job._replace(params="{ }")
    jobs = [job, other_answer, job, None, None, other_params, job]
    captions = ["" if one is None else str(one) for one in jobs]
    assert [figure.caption for figure in draw_all(jobs, 1)] == captions
    # Another instance comes in between, after which a figure is no longer kept.
    assert drawn == [job, other_answer, other_params, job]


def test_items_without_an_answer_start_no_process_and_have_no_picture(
    small, stored, make_results, tmp_path, monkeypatch
):
    def refuse(*_, **__):
        raise AssertionError("a process or a picture")

    monkeypatch.setattr(figures_module, "draw", refuse)
    monkeypatch.setattr("scbench.machine.processes.WorkerProcesses.submit", refuse)
    instance = small.held["two_segments/00"]
    unscored = {
        "task": instance.task,
        "release_hash": small.manifest.rows_hash,
        "release": small.version,
        "instance_hash": instance.content_hash,
        "score": None,
        "answer": None,
    }
    statuses = ("not_run", "blocked", "api_error")
    models = [f"model {i}" for i in range(20)]
    rows = []
    for model in models:
        for sample, status in enumerate(statuses):
            row = {"model": model, "status": status, "sample": sample}
            rows.append(unscored | row)
    folder = stored(make_results(*rows))
    written = write_report(
        [folder], tmp_path / "r.html", release=small, items="failed", workers=2
    )
    assert written.items == len(models) * len(statuses)
    assert not written.without_picture
    page = "".join(path.read_text("utf-8") for path in written.pages)
    assert page.count("No answer (blocked).") == len(models)
    assert 'class="views"' not in page
