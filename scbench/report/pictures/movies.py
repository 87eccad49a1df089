"""Films to choose from, and the points that each shares with the liked films."""

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

LETTERS = "ABCDEFGHIJKL"


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the films; with an answer the points of every pair, the best and the chosen one."""
    caption = verdicts.caption(
        f"Which of {len(params.choices)} films is most like {len(params.liked)} that are liked? "
        f"{params.genre_weight} for a genre in common, {params.theme_weight} for a theme."
    )
    liked: list[Row] = [(i, film[0]) for i, film in enumerate(params.liked, 1)]
    head = ["", "choice"]
    if verdicts:
        head += [*(str(number) for number, _ in liked), "points"]
        choices = scored_choices(params, answer, verdicts)
    else:
        films = zip(LETTERS, params.choices, strict=False)
        choices = [(letter, film[0]) for letter, film in films]
    panels = table_panels("choices", head, choices, caption)
    panels += table_panels("liked", (), liked, caption)
    text = f"{table_text(head, choices)}\n\nliked:\n{table_text((), liked)}"
    return text_picture(panels, caption, text)


def scored_choices(
    params: Params, answer: Answer | None, verdicts: Verdicts
) -> list[Row]:
    """Return a row for each choice: its points with every liked film, and their sum."""
    # One liked film at a time gives the points of each pair.
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
        name, total = Cell(film[0], role), Cell(sums[i], role)
        rows.append((LETTERS[i], name, *pair_points, total))
    return rows


def answered_choice(answer: Answer | None, params: Params) -> int | None:
    """Return the position of the chosen film; None if the answer names none of the choices."""
    if answer is None:
        return None
    # Answers may add the year.
    names = [film[0] for film in params.choices]
    place = option(answer.answer, names)
    if place is None:
        names_and_years = [f"{film[0]} ({film[1]})" for film in params.choices]
        place = option(answer.answer, names_and_years)
    return place
