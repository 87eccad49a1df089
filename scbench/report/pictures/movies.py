"""Candidate films, and the points of each with the liked films."""

from string import ascii_uppercase

from scbench.base.wording import counted
from scbench.graders.movies import points_of
from scbench.graders.shared.named_options import option
from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.tables import (
    Cell,
    Row,
    table_panels,
    table_text,
    text_picture,
)
from scbench.schemas.movies import Answer, Params


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the films; with an answer, also the points of every pair and the best choice."""
    size = counted(len(params.choices), "film")
    task = f"Which of {size} has the most in common with the liked ones?"
    # A prompt with titles only has no points.
    if params.template != "titles":
        task += (
            f" A common genre gives {counted(params.genre_weight, 'point')}, a common theme "
            f"{counted(params.theme_weight, 'point')}."
        )
    caption = verdicts.caption(task)
    liked: list[Row] = [(i, film[0]) for i, film in enumerate(params.liked, 1)]
    head = ["", "choice"]
    if verdicts:
        head += [*(str(number) for number, _ in liked), "points"]
        choices = scored_choices(params, answer, verdicts)
    else:
        films = zip(ascii_uppercase, params.choices, strict=False)
        choices = [(letter, film[0]) for letter, film in films]
    panels = table_panels("choices", head, choices, caption)
    panels += table_panels("liked films", (), liked, caption)
    text = f"{table_text(head, choices)}\n\nliked films:\n{table_text((), liked)}"
    return text_picture(panels, caption, text)


def scored_choices(
    params: Params, answer: Answer | None, verdicts: Verdicts
) -> list[Row]:
    """Return a row for each choice: its points with every liked film, and their sum."""
    # Scoring one liked film at a time gives the points of each pair.
    points_by_liked = [
        points_of(params.model_copy(update={"liked": (film,)})) for film in params.liked
    ]
    sums = points_of(params)
    best = max(sums)
    answered = answered_choice(answer, params) if verdicts.wrong else None
    rows: list[Row] = []
    for i, film in enumerate(params.choices):
        role = ""
        if sums[i] == best:
            role = "right"
        elif i == answered:
            role = "wrong"
        pair_points = [points[i] or "·" for points in points_by_liked]
        name = Cell(film[0], role)
        total = Cell(sums[i], role)
        rows.append((ascii_uppercase[i], name, *pair_points, total))
    return rows


def answered_choice(answer: Answer | None, params: Params) -> int | None:
    """Return the position of the chosen film; None if the answer is not a candidate."""
    if answer is None:
        return None
    # Answers may add the year.
    names = [film[0] for film in params.choices]
    place = option(answer.answer, names)
    if place is None:
        names_and_years = [f"{film[0]} ({film[1]})" for film in params.choices]
        place = option(answer.answer, names_and_years)
    return place
