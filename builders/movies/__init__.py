"""Movies: which choice has most in common with the films that somebody likes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from operator import and_, or_
from typing import NamedTuple, Self

from pydantic import Field, JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Case,
    Point,
    data_file,
    parameter,
    prompt_template,
    under,
)
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.builders.shared.words import enumeration
from scbench.schemas.movies import Answer, Film, Params, Template

LABELS = "ABCDEFGHIJKL"
OPENINGS = (
    "A friend likes these films very much:",
    "Somebody has given these films the best marks:",
    "These are the films that a film club has enjoyed most:",
    "A guest of a cinema names these as favourites:",
    "Somebody is looking for one more film like these:",
)
_TRIES = 200
# Candidates for choices that are alike to what is liked, and as many that are drawn
# from all.
_NEAR = 8
# Genres that film guides give to many films, and not all to the same.
_VAGUE = {"drama", "thriller", "adventure", "action"}


class Space(Point):
    """Parameters of questions about films."""

    reference_count: int = parameter(
        4, "number of films that are liked", "scale", ge=4, le=12
    )
    choice_count: int = parameter(
        4, "number of films to choose from", "scale", ge=3, le=12
    )
    genre_weight: int = parameter(
        2, "points for a genre in common", "semantic", ge=0, le=10
    )
    theme_weight: int = parameter(
        3, "points for a theme in common", "semantic", ge=0, le=10
    )
    min_margin: int = parameter(
        1,
        "least points between the right choice and the next",
        "interference",
        ge=1,
        le=100,
    )
    template: Template = parameter(
        "list",
        "whether the prompt tells genres and themes in lists, in prose, or only titles",
        "semantic",
    )

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if not self.genre_weight and not self.theme_weight:
            raise ValueError("genre_weight (0) and theme_weight (0) must not both be 0")
        return self


class MoviesCase(Case):
    """A case of choosing a film."""

    overlap: int = Field(ge=1, description="points of the right choice")
    margin: int = Field(
        ge=1, description="points between the right choice and the next"
    )


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Films that are alike, and choices of which one wins by at least a set margin.

    The next best choice is as near to that margin as the candidates allow. Where only titles are
    shown, the liked films have exactly one genre in common, which the right choice has too, and all
    other choices have nothing in common with them.
    """

    task = "movies"
    version = 3
    case_model = MoviesCase
    extremes = (
        {"reference_count": 6, "choice_count": 5, "template": "titles"},
        {
            "reference_count": 6,
            "choice_count": 5,
            "template": "prose",
            "min_margin": 12,
        },
        {"choice_count": 3, "genre_weight": 0, "theme_weight": 1, "template": "titles"},
        {"choice_count": 3, "genre_weight": 10, "theme_weight": 0},
    )

    def prompt(self, params: Params) -> str:
        """Return what is liked, the choices and how they are compared."""
        telling = params.template
        sentences = [_film_text(film, telling) for film in params.liked]
        options = [
            f"({label}) {_film_text(film, telling)}"
            for label, film in zip(LABELS, params.choices, strict=False)
        ]
        points_rule = prompt_template(__package__, "prompt_points.txt")
        rule = points_rule.format(
            genre=_points_text(params.genre_weight),
            theme=_points_text(params.theme_weight),
        )
        text = prompt_template(__name__).format(
            opening=OPENINGS[params.opening],
            liked=" ".join(sentences)
            if telling == "prose"
            else "\n".join(f"- {it}" for it in sentences),
            choices="\n".join(options),
            rule=prompt_template(__package__, "prompt_titles.txt")
            if telling == "titles"
            else rule,
        )
        return text + reply_short(
            f"the letter of one choice, A to {LABELS[len(options) - 1]}"
        )

    def reference(self, params: Params) -> Answer:
        """Count how often each genre and theme is liked, and add up those of each choice."""
        points = _points_of_choices(params, params.genre_weight, params.theme_weight)
        return Answer(answer=LABELS[points.index(max(points))])

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return what other rules lead to, and answers that are not one choice."""
        points = _points_of_choices(params, params.genre_weight, params.theme_weight)
        right = points.index(max(points))
        ranks = sorted(range(len(points)), key=lambda i: (-points[i], i))
        other_rules = {
            "weights_exchanged": (params.theme_weight, params.genre_weight),
            "only_genres": (1, 0),
            "only_themes": (0, 1),
        }
        wrong: dict[str, JsonValue] = {
            "next_best": LABELS[ranks[1]],
            "last": LABELS[ranks[-1]],
        }
        for name, weights in other_rules.items():
            rivals = _points_of_choices(params, *weights)
            if rivals.index(max(rivals)) != right:
                wrong[name] = LABELS[rivals.index(max(rivals))]
        title = params.choices[ranks[1]][0]
        wrong |= {
            "title_of_another": title,
            "title_and_year_of_another": _film_text(params.choices[ranks[1]], "titles"),
            "letter_of_one_title_of_another": f"{LABELS[right]}) {title}",
            "two_letters": f"{LABELS[right]} or {LABELS[ranks[1]]}",
            "liked_film": params.liked[0][0],
            "listed": [LABELS[right]],
        }
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the points of the right choice, and by how many it wins."""
        points = _points_of_choices(params, params.genre_weight, params.theme_weight)
        first, second = sorted(points, reverse=True)[:2]
        return {"overlap": first, "margin": first - second}

    def measure(self, params: Params) -> float:
        """Return the number of genres and themes of all choices, by the number of liked films."""
        return len(params.liked) * sum(
            len(film[2]) + len(film[3]) for film in params.choices
        )

    def blind_floor(self, params: Params) -> float:
        """Return one by the number of choices, or what the choice of which most is said earns."""
        point: dict[str, JsonValue] = {
            "reference_count": len(params.liked),
            "choice_count": len(params.choices),
            "genre_weight": params.genre_weight,
            "theme_weight": params.theme_weight,
            "template": params.template,
        }
        return max(1 / len(params.choices), self.rule_floor(_longest_line, **point))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw films that are alike, and choices among which one wins."""
        catalogue = films()
        choose = _by_titles if point.template == "titles" else _by_points
        for _ in range(_TRIES):
            liked, choices = choose(point, rng)
            if choices:
                rng.shuffle(choices)
                return Params(
                    liked=tuple(catalogue[i] for i in liked),
                    choices=tuple(catalogue[i] for i in choices),
                    genre_weight=point.genre_weight,
                    theme_weight=point.theme_weight,
                    template=point.template,
                    opening=rng.below(len(OPENINGS)),
                )
        raise GenerationError(
            f"no choice of films with a margin of {point.min_margin} points in {_TRIES} tries; use "
            "a smaller min_margin, or a larger genre_weight or theme_weight"
        )


def _by_points(point: Space, rng: Stream) -> tuple[list[int], list[int]]:
    """Return what is liked, and a choice that beats others, the first narrowly, if one does."""
    liked, near = _draw_liked(alike(rng.below(len(films()))), point, rng)
    candidates = near + [rng.below(len(films())) for _ in range(_NEAR)]
    pool = [i for i in dict.fromkeys(candidates) if i not in liked]
    points = {i: _likeness(i, liked, point) for i in pool}
    pool.sort(key=lambda i: -points[i])  # films with equal points stay in drawn order
    beaten = point.choice_count - 1
    if len(liked) < point.reference_count or len(pool) <= beaten:
        return liked, []
    threshold = points[pool[-beaten]] + point.min_margin
    able = [i for i in pool if points[i] >= threshold]
    if not able:
        return liked, []
    right = rng.choice(able)
    lower = [i for i in pool if points[i] <= points[right] - point.min_margin]
    return liked, [right, lower[0], *rng.sample(lower[1:], beaten - 1)]


def _by_titles(point: Space, rng: Stream) -> tuple[list[int], list[int]]:
    """Return films with just one genre in common, and one more of it with strangers, if any."""
    catalogue = marks()
    liked, near = _draw_liked(rng.choice(clear_genres()), point, rng)
    if reduce(and_, (catalogue[i].genres for i in liked)).bit_count() > 1:
        return liked, []
    right = [i for i in near if _likeness(i, liked, point) >= point.min_margin]
    union = reduce(or_, (catalogue[i].genres | catalogue[i].themes for i in liked))
    strange = [
        i for i, mine in enumerate(catalogue) if not union & (mine.genres | mine.themes)
    ]
    if not right or len(strange) < point.choice_count - 1:
        return liked, []
    return liked, [right[0], *rng.sample(strange, point.choice_count - 1)]


def _draw_liked(
    kin: Sequence[int], point: Space, rng: Stream
) -> tuple[list[int], list[int]]:
    """Return films that are liked, as many as there are up to the number wanted, and others."""
    near = max(_NEAR, point.choice_count)
    relatives = rng.sample(kin, min(len(kin), point.reference_count + near))
    return relatives[: point.reference_count], relatives[point.reference_count :]


def _likeness(film: int, liked: Sequence[int], point: Space) -> int:
    catalogue = marks()
    genres, themes = catalogue[film]
    return sum(
        point.genre_weight * (genres & catalogue[favourite].genres).bit_count()
        + point.theme_weight * (themes & catalogue[favourite].themes).bit_count()
        for favourite in liked
    )


def _points_of_choices(
    params: Params, genre_weight: int, theme_weight: int
) -> list[int]:
    genres = Counter(tag for film in params.liked for tag in film[2])
    themes = Counter(tag for film in params.liked for tag in film[3])
    return [
        genre_weight * sum(genres[tag] for tag in film[2])
        + theme_weight * sum(themes[tag] for tag in film[3])
        for film in params.choices
    ]


def _film_text(film: Film, telling: Template) -> str:
    title, year, genres, themes = film
    name = f"{title} ({year})"
    if telling == "titles":
        return name
    if telling == "list":
        return f"{name}; genres: {', '.join(genres)}; themes: {', '.join(themes)}"
    article = "an" if genres[0][0] in "aeiou" else "a"
    return (
        f"{name} is {article} {enumeration(genres)} film about {enumeration(themes)}."
    )


def _longest_line(params: Params) -> str:
    sizes = [len(_film_text(film, params.template)) for film in params.choices]
    return LABELS[sizes.index(max(sizes))]


def _points_text(n: int) -> str:
    return f"{n} point{'' if n == 1 else 's'}"


class Marks(NamedTuple):
    """Genres and themes of a film as bits, to be compared quickly."""

    genres: int
    themes: int


@cache
def films() -> tuple[Film, ...]:
    """Return every film, with its genres and themes in the order of the data file."""
    return tuple(
        (film["title"], film["year"], tuple(film["genres"]), tuple(film["themes"]))
        for film in data_file(__package__, "films.json")["films"]
    )


@cache
def marks() -> tuple[Marks, ...]:
    """Return the bits of every film, at the film's place."""
    bits: dict[str, int] = {}
    return tuple(
        Marks(
            *(sum(bits.setdefault(f"{kind} {tag}", 1 << len(bits)) for tag in tags)
              for kind, tags in (("genre", genres), ("theme", themes)))
        )
        for _, _, genres, themes in films()
    )  # fmt: skip


@cache
def alike(film: int) -> tuple[int, ...]:
    """Return the places of the films with a genre and a theme in common with that at a place."""
    catalogue = marks()
    mine = catalogue[film]
    return tuple(
        i
        for i, (genres, themes) in enumerate(catalogue)
        if i != film and genres & mine.genres and themes & mine.themes
    )


@cache
def clear_genres() -> tuple[tuple[int, ...], ...]:
    """Return the places of the films of each genre that film guides agree on."""
    genres = dict.fromkeys(
        genre for film in films() for genre in film[2] if genre not in _VAGUE
    )
    return tuple(
        tuple(i for i, film in enumerate(films()) if genre in film[2])
        for genre in genres
    )
