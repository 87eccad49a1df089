"""Tables for people in Markdown, LaTeX and terminals, with any model names."""

import html
import re

import pytest
from markdown_it import MarkdownIt

from scbench.analysis.compare import compare_runs, comparison_sheets
from scbench.analysis.layout import Column, Sheet, latex, markdown, sheet_of
from scbench.analysis.terminal_tables import terminal

NASTY = r"a|b\c & 50%_x^{y}~ <z> #1 $"
SHEET = Sheet(
    "Title & more",
    ["model", NASTY],
    [["[plain]", "1.0\n-2.0 to ±0.0"], [NASTY, "3.0†"]],
    notes=["A note."],
    breaks=frozenset({1}),
)


def test_markdown():
    lines = markdown(SHEET).splitlines()
    assert lines[0] == "**Title & more**"
    assert lines[3] == "|---|---:|"
    assert lines[4] == r"| \[plain\] | 1.0<br>-2.0 to ±0.0 |"
    assert "a\\|b\\\\c" in lines[2], "headings hold names of models, too"
    assert "a\\|b\\\\c" in lines[5]
    assert lines[-1] == "A note."
    bars = [
        line.replace("\\\\", "").replace("\\|", "").count("|") for line in lines[2:6]
    ]
    assert bars == [3, 3, 3, 3]


@pytest.mark.parametrize(
    "name",
    [
        "![a](/x.png)",
        "[a](/x)",
        "<img src=x>",
        "</td><script>",
        "&lt;b>",
        "&#60;b>",
        "`a`",
        "<!--",
        r"\<b>",
        r"\\[a](/x)",
        "[a]: /x",
    ],
)
def test_markdown_shows_names_as_they_are(name):
    page = (
        MarkdownIt("commonmark")
        .enable("table")
        .render(markdown(Sheet(name, [name], [[name]])))
    )
    cells = re.findall(r"<(?:td|th|strong)[^>]*>(.*?)</(?:td|th|strong)>", page)
    assert [html.unescape(cell) for cell in cells] == [name] * 3


def test_titles_quote_results_without_control_characters():
    sheet = Sheet("Scores, release \x1b[31m", ["model"], [["m"]])
    for text in (terminal(sheet), markdown(sheet), latex(sheet)):
        assert "\x1b" not in text


def test_latex():
    text = latex(SHEET)
    assert r"\caption{Title \& more. A note.}" in text
    assert (
        r"a\textbar{}b\textbackslash{}c \& 50\%\_x\textasciicircum{}\{y\}\textasciitilde{} "
        r"\textless{}z\textgreater{} \#1 \$"
    ) in text
    assert r"\shortstack[r]{1.0 \\ {\scriptsize -2.0 to $\pm$0.0}}" in text
    assert r"3.0\dag{}" in text
    assert "\n{}[plain] & " in text, (
        "a bracket after a line's end would be read as an option"
    )
    _, first, _ = text.split(r"\midrule")
    assert "[plain]" in first, "the break stands before the second row"
    assert text.splitlines()[0].startswith("%")
    assert latex(Sheet("T", ["task"], [])).count(r"\caption{T.}") == 1


def test_piped_table_is_never_cut_and_a_terminal_repeats_only_names(monkeypatch):
    width = Sheet(
        "t",
        ["task", *(f"model-number-{i}" for i in range(40))],
        [["x", *["99.9"] * 40]],
    )
    text = terminal(width)
    assert "…" not in text
    assert "model-number-39" in text
    assert text.count("99.9") == 40
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    text = terminal(width)
    assert max(map(len, text.splitlines())) <= 60
    assert text.count("99.9") == 40
    assert not sheet_of("t", [Column("a", "a")], [{"a": "b"}]).wraps


def test_model_names_cannot_control_a_terminal(make_results):
    rows = make_results(
        *(
            {"model": model, "score": score}
            for model, score in (("\x1b[31mA", 1.0), ("b\n", 0.0))
        )
    )
    for sheet in comparison_sheets(compare_runs(rows)):
        for form in (markdown, latex, terminal):
            assert "\x1b" not in form(sheet)
        assert sheet.title.endswith("\\x1b[31mA no_tools (first)")
        assert "\n" not in sheet.title


def test_column_is_hidden_only_if_no_table_has_space_for_it(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    heads = ["model", "mean", "setting", *(f"bucket number {i}" for i in range(4))]
    row = ["m", "50.0", "no_tools", "11.1", "22.2", "33.3", "44.4"]
    sheet = Sheet("t", heads, [row], drops=("mean", "setting"))
    # Three buckets fill the first table; the second has space for the fourth and more.
    text = terminal(sheet, width=60)
    assert text.count("─\n") == 2
    assert "Hidden" not in text
    assert all(cell in text for cell in row)
    # One table: "setting" is wide, so "mean" fits again without it.
    narrow = Sheet("t", heads[:4], [row[:4]], drops=("mean", "setting"))
    text = terminal(narrow, width=40 - len("  no_tools"))
    assert "50.0" in text
    assert "Hidden at this width: setting." in text.replace("\n", " ")
    assert "no_tools" not in text


def test_terminal_explains_only_the_comparison_columns_it_shows(
    make_results, monkeypatch
):
    rows = make_results({"model": "a", "score": 1.0}, {"model": "b", "score": 0.0})
    (sheet,) = comparison_sheets(compare_runs(rows))
    assert sheet.explanations.keys() <= {*sheet.heads}
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    for width in (60, 80, 100, 200):
        text = terminal(sheet, width=width)
        _, _, below = text.partition("Normalized:")
        sentences, _, hidden_names = below.replace("\n", " ").partition("Hidden")
        hidden = [
            head
            for head in sheet.explanations
            if f" {head}," in hidden_names or f" {head}." in hidden_names
        ]
        for head, note in sheet.explanations.items():
            assert (note in sentences) is (head not in hidden), (width, head)
        assert bool(hidden) is (width < 200)
        assert "the better run, if p corrected is at most 0.05" in sentences
    for note in sheet.explanations.values():
        assert note in markdown(sheet)


def test_terminal_shows_the_scores_of_both_runs_or_of_none(make_results, monkeypatch):
    rows = make_results({"model": "a", "score": 1.0}, {"model": "b", "score": 0.0})
    (sheet,) = comparison_sheets(compare_runs(rows))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    shown = set()
    for width in range(40, 161):
        heads = terminal(sheet, width=width).splitlines()[1:]
        heads = [line.split() for line in heads if "task" in line.split()]
        names = {word for line in heads for word in line}
        assert ("first" in names) == ("second" in names), width
        shown.add("first" in names)
    assert shown == {True, False}
