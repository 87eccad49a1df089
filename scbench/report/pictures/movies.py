"""Films to choose from, and the points that each has in common with those that are liked."""

from scbench.graders.movies import points_of
from scbench.graders.shared.short_answers import option
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
    """Draw the films; with an answer the points of every pair, the best and the chosen one."""
    caption = verdicts.caption(
        f"Which of {len(params.choices)} films is most like {len(params.liked)} that are liked? "
        f"{params.genre_weight} for a genre in common, {params.theme_weight} for a theme."
    )
    names = [film[0] for film in params.choices]
    liked: list[Row] = [(i, film[0]) for i, film in enumerate(params.liked, 1)]
    head = ["", "choice"]
    rows: list[Row] = [
        (letter, name) for letter, name in zip("ABCDEFGHIJKL", names, strict=False)
    ]
    if verdicts:
        # One liked film at a time gives the points of each pair.
        pairs = [
            points_of(params.model_copy(update={"liked": (film,)}))
            for film in params.liked
        ]
        sums = points_of(params)
        answered = _answered_choice(answer, params) if verdicts.wrong else None
        roles = [
            "right" if s == max(sums) else "wrong" if i == answered else ""
            for i, s in enumerate(sums)
        ]
        head += [*(str(i) for i in range(1, len(pairs) + 1)), "points"]
        rows = [
            (
                letter,
                Cell(name, role),
                *(pair[i] or "·" for pair in pairs),
                Cell(sums[i], role),
            )
            for i, ((letter, name), role) in enumerate(zip(rows, roles, strict=True))
        ]
    panels = table_panels("choices", head, rows, caption)
    panels += table_panels("liked", (), liked, caption)
    text = f"{table_text(head, rows)}\n\nliked:\n{table_text((), liked)}"
    return text_picture(panels, caption, text)


def _answered_choice(answer: Answer | None, params: Params) -> int | None:
    for names in (
        [f[0] for f in params.choices],
        [f"{f[0]} ({f[1]})" for f in params.choices],
    ):
        place = option(answer.answer, names) if answer else None
        if place is not None:
            return place
    return None
