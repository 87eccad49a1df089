"""The page trusts no content, loads nothing, and works with the keyboard or without scripts.

The checks in a browser need Chromium; the others do not.
"""

import re
from pathlib import Path

import html_reader
import pytest

from scbench.leaderboard.board import make_board
from scbench.leaderboard.chart import score_marks
from scbench.leaderboard.publish import write_board
from scbench.report.html import environment

NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}"


@pytest.fixture(scope="module")
def page(small, synthetic, kit, tmp_path_factory) -> Path:
    """A board of hostile, incomplete and ordinary models, in both settings."""
    root = tmp_path_factory.mktemp("board")
    gap = lambda row, rng: None if row["subtask"] == 0 else float(rng.random() < 0.5)  # noqa: E731
    links = "links: {paper: 'https://example.org/a?b=c&d=e'}\nnotes: |\n  x\n"
    synthetic(
        root,
        small,
        {
            "alpha": {"scores": kit.skilled(0.9), "model": "Alpha 10", "more": links}
            | {"usage": {"output_tokens": 1500, "cost": 0.02}},
            "beta": {"scores": kit.skilled(0.5), "model": "alpha 9"},
            "gamma": {"scores": kit.skilled(0.1), "model": NASTY},
            "gap": {"scores": gap, "model": "Gap"},
            "armed": {"scores": kit.skilled(0.7), "setting": "tools"},
        },
    )
    report = root / "site/graded/alpha/report.html"
    report.write_text("<!doctype html><title>Report</title>", "utf-8")
    done = kit.collected(root, small)
    write_board(root / "site", make_board(done))
    return root / "site" / "index.html"


@pytest.fixture(scope="module")
def read(page) -> html_reader.Reader:
    return html_reader.read(page)


def test_best_model_comes_first(read):
    text = " ".join("".join(read.texts).split())
    best, _, after = text.partition("Best: Alpha 10, ")[2].partition(" of 100 (95")
    assert float(best) > 50
    assert "Next: alpha 9, " in after
    # Of both settings, and before each table.
    assert text.count(" Best: ") == 2


def test_hostile_names_are_text(read, page):
    assert [tag for tag, _ in read.elements].count("script") == 1
    assert not [
        tag for tag, _ in read.elements if tag in {"img", "iframe", "object", "form"}
    ]
    assert NASTY in "".join(read.texts)
    assert not [
        name for _, attrs in read.elements for name in attrs if name.startswith("on")
    ]
    assert "{{7*7}}" in page.read_text("utf-8")
    assert ">49<" not in page.read_text("utf-8")


def test_nothing_is_loaded_and_only_our_script_may_run(read):
    policy = next(
        attrs["content"] for tag, attrs in read.elements if "http-equiv" in attrs
    )
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "script-src 'unsafe" not in policy
    for tag, attrs in read.elements:
        assert "src" not in attrs, tag
        if tag == "link":
            assert attrs["href"] == "data:,"


def test_tables_have_captions_and_headers(read, page):
    tables = [tag for tag, _ in read.elements].count("table")
    assert [tag for tag, _ in read.elements].count("caption") == tables == 7
    assert all(
        attrs.get("scope") in {"col", "row"}
        for tag, attrs in read.elements
        if tag == "th"
    )
    ids = [attrs["id"] for _, attrs in read.elements if "id" in attrs]
    assert len(set(ids)) == len(ids)
    named = [a["aria-labelledby"] for _, a in read.elements if "aria-labelledby" in a]
    assert set(named) <= set(ids)
    text = re.sub(r"\s+", " ", "".join(read.texts))
    assert "Without tools, release 0.0.1: 3 ranked, 1 without a rank" in text
    assert "3 blocked" in text
    assert "td.h0{background:#ffffff}" in "".join(read.sources), (
        "without marks a cell has the page's colour"
    )


def column(browser, table: int, number: int) -> list[str]:
    script = (
        "return [...document.querySelectorAll('table.sortable')[arguments[0]].rows].slice(1)"
        ".map(row => row.cells[arguments[1]].textContent.trim().split('\\n')[0])"
    )
    return browser.driver.execute_script(script, table, number)


def models(browser) -> list[str]:
    return [
        re.sub(r"\s+", " ", name).removesuffix(" 2026-01")
        for name in column(browser, 0, 1)
    ]


def heads(browser):
    return browser.driver.find_elements(
        "css selector", "table.sortable thead th > button"
    )


def test_page_in_a_browser_requests_nothing_and_has_no_errors(page, browser):
    browser.open(page)
    assert browser.driver.title == "Spatial Competence Benchmark: leaderboard"
    for button in heads(browser)[:5]:
        button.click()
    for summary in browser.driver.find_elements("css selector", "summary"):
        summary.click()
    assert browser.errors() == []
    assert browser.requests() == []


def test_columns_sort_by_click_and_unranked_models_stay_last(page, browser):
    browser.open(page)
    assert models(browser) == ["Alpha 10", "alpha 9", NASTY, "Gap"]
    model, overall = heads(browser)[1], heads(browser)[2]
    overall.click()
    head = overall.find_element("xpath", "..")
    assert head.get_attribute("aria-sort") == "descending"
    assert models(browser) == ["Alpha 10", "alpha 9", NASTY, "Gap"]
    overall.click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert models(browser) == [NASTY, "alpha 9", "Alpha 10", "Gap"]
    model.click()
    assert head.get_attribute("aria-sort") is None
    assert models(browser) == [
        NASTY,
        "alpha 9",
        "Alpha 10",
        "Gap",
    ]  # numbers in names count
    message = browser.driver.find_element("id", "said").get_attribute("textContent")
    assert message == "Sorted by Model, ascending"


def test_text_is_legible_and_the_page_never_scrolls_sideways(page, browser):
    browser.open(page)
    for summary in browser.driver.find_elements("css selector", "summary"):
        summary.click()
    for width in (1360, 768, 390):
        for mode in ("light", "dark"):
            assert browser.looks(width, mode) == (0, []), (width, mode)


def test_marks_of_the_score_chart_are_in_points():
    score = {"normalized": 0.5, "normalized_low": 0.4, "normalized_high": 0.75}
    score |= {"scored": 9, "expected": 9}
    row = {"model": "a", "version": "1", "submission": "a", "ranked": True}
    (mark,) = score_marks([row | {"buckets": {"planning": score}}], {"planning": "P"})
    assert mark == ("P", "a", "50.0", 50, 40, 75)


def test_narrow_page_folds_the_buckets_of_many_models():
    overview = environment().get_template("overview.html.j2").module.overview
    drawings = [f"<svg>{number}</svg>" for number in range(4)]
    chart = {"wide": "<svg>wide</svg>", "narrow": drawings}
    few = overview(chart | {"rows": 10}, "Scores")
    many = overview(chart | {"rows": 11}, "Scores")
    for page_part in (few, many):
        assert [page_part.count(drawing) for drawing in drawings] == [1] * 4
    assert "<details>" not in few
    first, _, folded = many.partition("<details>")
    assert drawings[0] in first
    assert all(drawing in folded for drawing in drawings[1:])
    # Nothing that can be focused is hidden from screen readers.
    assert "aria-hidden" not in re.search(r"<details>.*?</summary>", many, re.DOTALL)[0]


def test_line_of_a_narrow_page_is_short(page, browser):
    """Rank and model share one line, and the figures follow below it."""
    browser.open(page)
    with browser.sized(390, "light"):
        places = browser.driver.execute_script(
            "return [...document.querySelectorAll('.board tbody tr')].map(row =>"
            " ['.rank', 'th', '[data-head=Overall]', '[data-head=Links]'].map(name =>"
            " { const box = row.querySelector(name).getBoundingClientRect();"
            " return [box.top, box.bottom]; }))"
        )
    assert places
    for rank, model, overall, links in places:
        assert rank[0] == pytest.approx(model[0], abs=3)
        assert overall[0] >= model[1] - 1
        assert links[0] - overall[0] < 160
