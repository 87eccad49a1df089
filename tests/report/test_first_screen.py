"""The top of a report: scores, intervals, comparisons, and legibility."""

import re

import pytest

from scbench.report import write_report

LONG = "acme-large-reasoning-2026-11-preview"
NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}"

CHECKS = (
    '[{"id":"a_check","passed":false,"message":"Something is wrong.","details":{}}]'
)

BROKEN = """
const broken = [];
for (const cell of document.querySelectorAll('th.clip, td.clip, .name, .lead')) {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    for (const word of walker.currentNode.textContent.matchAll(/[A-Za-z0-9]{2,}/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, word.index);
      range.setEnd(walker.currentNode, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
      if (lines.size > 1) broken.push(word[0]);
    }
  }
}
return broken;
"""
"""Words that are broken over lines."""


@pytest.fixture
def report(make_results, stored, tmp_path):
    """A function that writes a report on rows."""

    def write(rows, name="results", **options):
        folder = stored(make_results(*rows), name)
        return write_report([folder], tmp_path / f"{name}.html", **options).pages[0]

    return write


def twenty():
    models = [NASTY, *(f"{LONG}-{number:02d}" for number in range(1, 20))]
    usual = {"checks": CHECKS, "answer": '{"n":' + "1" * 400 + "}"}
    rows = []
    for run, model in enumerate(models):
        for task in ("two_segments", "csg_union"):
            for item in range(6):
                score = float(item * run > 40)
                row = {"model": model, "subtask": item, "score": score, "task": task}
                rows.append(row | usual)
    return rows


def test_all_of_twenty_runs_have_columns_and_twelve_are_shown(report):
    text = report(twenty(), items="failed").read_text("utf-8")
    assert text.count('<input type="checkbox"') == 20
    assert text.count(" checked>") == 12
    heads = re.findall(r'<th scope="col"[^>]*data-of="(\d+)"( hidden)?', text)
    assert [bool(hidden) for _, hidden in heads] == [False] * 12 + [True] * 8
    assert text.count("<script") == 1, "the page's own"
    assert "<img" not in text


@pytest.mark.slow
def test_report_is_legible_at_every_width_and_runs_can_be_chosen_and_sorted(
    report, browser
):
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415  (wanted by few tests)

    page = report(twenty(), items="failed")
    browser.open(page)
    driver = browser.driver
    for item in driver.find_elements("css selector", ".item")[:3]:
        driver.execute_script("arguments[0].open = true", item)
    for width in (1360, 768, 390):
        for mode in ("light", "dark"):
            assert browser.looks(width, mode) == (0, []), (width, mode)
    with browser.sized(390, "light"):
        assert driver.execute_script(BROKEN) == []
    first = "return document.querySelector('.scores tbody th').textContent"
    best = driver.execute_script(first)
    overall = driver.find_element("css selector", ".scores th[aria-sort] > button")
    overall.send_keys(Keys.ENTER)
    assert driver.execute_script(first) != best
    assert overall.find_element("xpath", "..").get_attribute("aria-sort") == "ascending"
    shown = "return [...document.querySelectorAll('th[data-of]')].filter(th => !th.hidden).length"
    assert driver.execute_script(shown) == 12
    boxes = driver.find_elements("css selector", ".choose input")
    boxes[0].send_keys(Keys.SPACE)
    boxes[19].send_keys(Keys.SPACE)
    boxes[18].send_keys(Keys.SPACE)
    assert driver.execute_script(shown) == 13
    assert browser.errors() == []
    assert browser.requests() == []
