"""Tables for people: Markdown, LaTeX, terminals, whatever a model is called."""

import polars as pl
import pytest

from scbench.analysis.compare import compare_runs, comparison_sheets
from scbench.analysis.layout import Sheet, latex, markdown, terminal
from scbench.analysis.samples import pass_at_k, samples_sheet
from scbench.analysis.sheets import score_sheet
from scbench.grading.score_tables import score_table

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
    assert lines[4] == "| [plain] | 1.0<br>-2.0 to ±0.0 |"
    assert "a\\|b\\\\c" in lines[2], "headings hold names of models, too"
    assert "a\\|b\\\\c" in lines[5]
    assert lines[-1] == "A note."
    bars = [line.replace("\\\\", "").replace("\\|", "").count("|") for line in lines[2:6]]
    assert bars == [3, 3, 3, 3]


def test_latex():
    text = latex(SHEET)
    assert r"\caption{Title \& more. A note.}" in text
    assert (
        r"a\textbar{}b\textbackslash{}c \& 50\%\_x\textasciicircum{}\{y\}\textasciitilde{} "
        r"\textless{}z\textgreater{} \#1 \$"
    ) in text
    assert r"\shortstack[r]{1.0 \\ {\scriptsize -2.0 to $\pm$0.0}}" in text
    assert r"3.0\dag{}" in text
    assert "\n{}[plain] & " in text, "a bracket after a line's end would be read as an option"
    _, first, _ = text.split(r"\midrule")
    assert "[plain]" in first, "the break stands before the second row"
    assert text.splitlines()[0].startswith("%")
    assert latex(Sheet("T", ["task"], [])).count(r"\caption{T.}") == 1


def test_terminal(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = terminal(SHEET)
    assert "\x1b" not in text
    lines = text.splitlines()
    assert lines[0].startswith("Title & more")
    assert lines[-1] == "A note."
    assert any(line.lstrip().startswith("[plain]") for line in lines)
    assert all(line == line.rstrip() for line in lines)


def test_what_is_piped_is_never_cut():
    width = Sheet("t", ["task", *(f"model-number-{i}" for i in range(40))], [["x", *["99.9"] * 40]])
    text = terminal(width)
    assert "…" not in text
    assert "model-number-39" in text
    assert text.count("99.9") == 40


def test_a_sheet_of_scores_leaves_out_columns_that_say_nothing(make_results):
    rows = make_results(
        {"score": 1.0, "setting": None}, {"subtask": 1, "score": 0.0, "setting": None}
    )
    sheet = score_sheet("t", score_table(rows, "task"))
    figures = ["normalized", "normalized, 95 %", "readable", "below floor", "mean", "mean, 95 %"]
    assert sheet.heads == ["model", "task", "N", *figures, "coverage", "status"]
    ends = "2.0 to 98.0"
    shown = ["50.0", ends, "100.0", "0.0", "50.0", ends]
    assert sheet.rows == [["m", "two_segments", "2", *shown, "2/2", "2 answered"]]
    gaps = pl.concat([rows, make_results({"subtask": 2, "status": "blocked", "setting": None})])
    sheet = score_sheet("t", score_table(gaps, "bucket"))
    assert sheet.rows[0] == [
        *("m", "axiomatic", "3", "50.0*", ends, "100.0", "0.0", "50.0*", ends, "33.3", "2/3"),
        "2 answered, 1 blocked",
    ]


def test_names_of_models_cannot_steer_a_terminal(make_results):
    rows = make_results(
        *({"model": model, "score": score} for model, score in (("\x1b[31mA", 1.0), ("b\n", 0.0)))
    )
    for sheet in comparison_sheets(compare_runs(rows)):
        for form in (markdown, latex, terminal):
            assert "\x1b" not in form(sheet)
        assert sheet.title.startswith("\\x1b[31mA")
        assert "\n" not in sheet.title


def test_a_comparisons_sheet(make_results):
    rows = [{"model": m, "subtask": i, "score": float(m == "b")} for m in "ab" for i in range(20)]
    (sheet,) = comparison_sheets(compare_runs(make_results(*rows)))
    assert sheet.title == "a no_tools (first) against b no_tools (second)"
    name, n, first, second, difference, *tests, verdict, of_means = sheet.rows[0]
    assert (name, n, first, second) == ("Two Segments", "20", "0.0", "100.0")
    assert difference == of_means == "+100.0\n+67.8 to +100.0"
    assert tests[:4] == ["0", "20", "<0.001", "<0.001"]
    assert verdict == "b no_tools is better"


def test_a_sheet_of_samples(make_results):
    rows = [
        {"subtask": i, "sample": s, "score": float(i + s > 1)} for i in range(3) for s in (0, 1)
    ]
    sheet = samples_sheet(pass_at_k(make_results(*rows), (1, 2)))
    assert sheet.heads[-2:] == ["pass@1", "pass@2"]
    first = ["m no_tools", "Two Segments", "3", "2"]
    assert sheet.rows[0][:4] == first
    assert sheet.rows[0][6:7] + sheet.rows[0][8:11] == ["± 32.7", "-", "0.167", "0.167"]
    assert [cell.partition("\n")[0] for cell in sheet.rows[0][11:]] == ["50.0", "66.7"]


@pytest.mark.parametrize("form", [markdown, latex, terminal])
def test_an_empty_table_can_be_printed(form):
    assert form(Sheet("none", ["task", "N"], []))
