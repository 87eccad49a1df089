"""Charts: every form holds what it should, and pages work without a network."""

from html.parser import HTMLParser

import pytest

from scbench.analysis.usage import budget_sweep
from scbench.report.charts import budget_chart, draw

BUDGETS = (1024, 4096, 8192, 32768, 65536)


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


def test_an_svg_labels_every_budget(points):
    text = draw(budget_chart(points), "svg").decode()
    assert text.startswith("<svg")
    for budget in BUDGETS:
        assert text.count(f">{budget:,}</text>") >= 2, "once for each model"
    assert "mean output tokens" in text
    assert "truncated" in text
    assert "<b>" not in text


class Tags(HTMLParser):
    """Collects the tags of a page; what stands in scripts is none."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_a_page_needs_no_network(points):
    tags = Tags()
    tags.feed(draw(budget_chart(points), "html").decode())
    names = [tag for tag, _ in tags.found]
    assert names.count("script") == 2
    assert not {"b", "img", "iframe", "object"} & set(names)
    for tag, attributes in tags.found:
        assert not {"src", "href"} & attributes.keys(), tag
    assert "cdn.jsdelivr" not in str(tags.found)
