"""Legends of tours: one entry for each mark, and no others."""

TASK = "hamiltonian_loop"


def tour(answers) -> list:
    return answers(TASK)["right"]["steps"]


def drawn_legend(drawn, steps) -> tuple[str, dict[str, str]]:
    picture = drawn(TASK, {"steps": steps})
    return picture.panels[0].view.render(""), dict(picture.legend)


def test_tour_that_ends_on_its_first_cell_has_no_dashed_line(drawn, answers):
    steps = tour(answers)
    text, legend = drawn_legend(drawn, [*steps, steps[0]])
    assert "stroke-dasharray" not in text
    assert "wrong dashed" not in legend
    assert legend["wrong cross"] == "the tour repeats its first cell at the end"
    assert legend["wrong ring"] == "visited more than once"


def test_tour_that_stops_early_has_a_dashed_line(drawn, answers):
    text, legend = drawn_legend(drawn, tour(answers)[:4])
    assert "stroke-dasharray" in text
    assert legend["wrong dashed"] == "the tour does not close"
    assert "wrong ring" not in legend
