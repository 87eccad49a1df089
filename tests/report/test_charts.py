"""Charts: the contents of every format, and pages that work without a network."""

import re
from html.parser import HTMLParser

import polars as pl
import pytest

from scbench.analysis.compare import compare_runs
from scbench.analysis.failure_modes.shares import SHARES
from scbench.analysis.items import item_table
from scbench.analysis.paper import paper_table
from scbench.analysis.usage import budget_sweep
from scbench.report.charts import (
    ScoreMark,
    budget_chart,
    difference_chart,
    draw,
    failure_chart,
    item_chart,
    overview_charts,
    score_chart,
)

BUDGETS = (1024, 4096, 8192, 32768, 65536)

TASKS = ("csg_union", "hamiltonian_loop", "hyper_snake")

LONG_NAME = "an-organization/a-model-with-a-long-name"


@pytest.fixture(scope="module")
def points(make_results):
    rows = (
        {"model": model, "budget": budget, "subtask": i, "score": float(i < k)}
        | {"usage": f'{{"output_tokens": {budget // 2 + i}}}'}
        for model in ("first", "</script><b>second")
        for k, budget in enumerate(BUDGETS)
        for i in range(6)
    )
    return budget_sweep(make_results(*rows))


def test_svg_labels_every_budget(points):
    text = draw(budget_chart(points), "svg").decode()
    assert text.startswith("<svg")
    for budget in BUDGETS:
        assert text.count(f">{budget:,}</text>") >= 2, "once for each model"
    assert "mean output tokens" in text
    assert "truncated" in text
    assert "<b>" not in text


class Tags(HTMLParser):
    """Collects the tags of a page, except those inside scripts."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_page_needs_no_network(points):
    tags = Tags()
    tags.feed(draw(budget_chart(points), "html").decode())
    names = [tag for tag, _ in tags.found]
    assert names.count("script") == 2
    assert not {"b", "img", "iframe", "object"} & set(names)
    for tag, attributes in tags.found:
        assert not {"src", "href"} & attributes.keys(), tag
    assert "cdn.jsdelivr" not in str(tags.found)


@pytest.fixture(scope="module")
def partial_run(make_results):
    """Results of two models that answered some tasks only."""
    return make_results(
        *(
            {"model": model, "task": task, "subtask": i, "score": float(i % 2)}
            for model in ("first", "second")
            for task in TASKS
            for i in range(4)
        )
    )


class Texts(HTMLParser):
    """Collects the lines of text of a chart."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def handle_data(self, data):
        self.lines.append(data)


def svg_texts(spec) -> list[str]:
    texts = Texts()
    texts.feed(draw(spec, "svg").decode())
    return texts.lines


@pytest.mark.parametrize("kind", ["scores", "differences"])
def test_names_of_partial_runs_are_whole(partial_run, kind):
    if kind == "scores":
        spec = score_chart(paper_table(partial_run))
    else:
        table = compare_runs(partial_run)
        spec = difference_chart(table.filter(pl.col("task").is_null()))
    lines = svg_texts(spec)
    text = " ".join(lines)
    assert "constructive (only csg_union, hamiltonian_loop)" in text
    assert "overall (only csg_union, hamiltonian_loop, hyper_snake)" in text
    assert not any("…" in line for line in lines)


def test_long_names_are_whole_on_narrow_pages():
    marks = [
        ScoreMark("overall", name, "50.0", 50, 40, 60) for name in (LONG_NAME, "other")
    ]
    _, (narrow,) = overview_charts(marks)
    lines = svg_texts(narrow)
    assert LONG_NAME in "".join(lines)
    assert LONG_NAME not in lines
    assert not any("…" in line for line in lines)


@pytest.mark.parametrize(
    "name", ["constructor", "toString", "__proto__", "__defineGetter__"]
)
def test_model_may_be_named_like_an_object_member(name):
    marks = [ScoreMark("all", model, "5.0", 5.0, 1.0, 9.0) for model in (name, "other")]
    wide, (narrow,) = overview_charts(marks)
    for spec in (wide, narrow):
        drawn = draw(spec, "svg").decode()
        assert f">{name}" in drawn
        assert ">other" in drawn
    assert name in draw(wide, "html").decode()


def test_narrow_chart_of_failure_modes_fits_a_phone():
    row = dict.fromkeys(SHARES) | {"model": LONG_NAME, "setting": "no_tools"}
    row |= {"failure_mode": "near_miss", "count": 1, "judged": 1, "share": 1.0}
    table = pl.DataFrame([row], schema=SHARES)
    spec = failure_chart(table, narrow=True)
    width = re.search(r'width="([\d.]+)"', draw(spec, "svg").decode())
    assert width
    # Beyond this the page would shrink it, and its text.
    assert float(width[1]) <= 362
    lines = svg_texts(spec)
    assert LONG_NAME in "".join(lines)
    assert not any("…" in line for line in lines)


def test_chart_of_items_names_its_axes(partial_run):
    lines = svg_texts(item_chart(item_table(partial_run)))
    assert lines.count("item") == len(TASKS)
    assert "mean of 2 runs" in lines
    single = partial_run.filter(pl.col("model") == "first")
    lines = svg_texts(item_chart(item_table(single)))
    assert "score" in lines
