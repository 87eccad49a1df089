"""Movies: choose the film that has the most in common with some liked films.

An example of the puzzle, with the answer B (2 points for each genre in common, 3 for each theme):

    - Rififi (1955); genres: crime, thriller; themes: robbery, loyalty
    - Heat (1995); genres: crime, thriller; themes: robbery, obsession

    (A) Alien (1979); genres: horror, thriller; themes: survival
    (B) Inside Man (2006); genres: crime, thriller; themes: robbery
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from math import prod
from operator import itemgetter
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
from scbench.builders.shared.text_task import TextBuilder, options_text, reply_short
from scbench.builders.shared.words import enumeration
from scbench.schemas.movies import Answer, Film, Params, Template

LABELS = "ABCDEFGHIJKL"
OPENINGS = (
    "A friend likes these films very much:",
    "A viewer has given these films top ratings:",
    "A film club enjoyed these films the most:",
    "A cinema visitor lists these films as favourites:",
    "Someone is looking for one more film like these:",
)
# Maximum number of selections that one draw tries.
_TRIES = 200
# Number of candidates similar to the liked films, and number of candidates from all films.
_NEAR = 8
# Fewer choices than this, not counting decoys, beat the right one if points are ignored.
_MOST_AHEAD = 4
# Maximum number of films tried as the right choice for some liked films.
_WINNERS = 60
# Genres that film guides give to many films, but not always to the same ones.
_VAGUE = {"drama", "thriller", "adventure", "action"}


class Space(Point):
    """Parameters of questions about films."""

    reference_count: int = parameter(4, "number of liked films", "scale", ge=4, le=12)
    choice_count: int = parameter(
        4, "number of films to choose from", "scale", ge=3, le=12
    )
    genre_weight: int = parameter(
        2, "points for each genre in common", "semantic", ge=0, le=10
    )
    theme_weight: int = parameter(
        3, "points for each theme in common", "semantic", ge=0, le=10
    )
    min_margin: int = parameter(
        1,
        "minimum difference in points between the right choice and the next best",
        "interference",
        ge=1,
        le=100,
    )
    template: Template = parameter(
        "list",
        "whether the prompt prints genres and themes in lists, in prose, or only titles",
        "semantic",
    )
    points_matter: bool = parameter(
        False,
        "whether another choice must win under each wrong rule: genres and themes count the same, "
        "only one of them counts, their points are swapped, or the two numbers are multiplied. If "
        "true, genres or themes (drawn at random) get the larger weight; the other weight is drawn "
        "from 1 up to the smaller weight",
        "interference",
        later=True,
    )

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if not self.genre_weight and not self.theme_weight:
            raise ValueError("genre_weight (0) and theme_weight (0) must not both be 0")
        if self.points_matter and self.template == "titles":
            raise ValueError(
                "points_matter needs a template that prints genres and themes"
            )
        least, most = sorted((self.genre_weight, self.theme_weight))
        if self.points_matter and not 0 < least < most:
            raise ValueError("points_matter needs two different weights of at least 1")
        return self


class MoviesCase(Case):
    """A case of choosing a film."""

    overlap: int = Field(ge=1, description="number of points of the right choice")
    margin: int = Field(
        ge=1,
        description="difference in points between the right choice and the next best",
    )


class Selection(NamedTuple):
    """The liked films, and the choices, with the right one first."""

    liked: list[Film]
    choices: list[Film]


class LikedTags(NamedTuple):
    """The number of liked films with each genre and with each theme."""

    genres: Counter[str]
    themes: Counter[str]


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Similar films, and choices of which one wins by at least a set margin.

    The next best choice is as near to that margin as the candidates allow. If only titles are
    printed, the liked films share exactly one genre. The right choice also has it; the other
    choices have nothing in common with the liked films.
    """

    task = "movies"
    version = 4
    draws = 3
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
        {"reference_count": 8, "choice_count": 9, "points_matter": True},
    )

    def prompt(self, params: Params) -> str:
        """Return the liked films, the choices and the rule of comparison."""
        template = params.template
        liked = [film_text(film, template) for film in params.liked]
        choices = [film_text(film, template) for film in params.choices]
        if template == "titles":
            rule = prompt_template(__package__, "prompt_titles.txt")
        else:
            rule = prompt_template(__package__, "prompt_points.txt").format(
                genre=_points_text(params.genre_weight),
                theme=_points_text(params.theme_weight),
            )
        if template == "prose":
            liked_text = " ".join(liked)
        else:
            liked_text = "\n".join(f"- {line}" for line in liked)
        text = prompt_template(__name__).format(
            opening=OPENINGS[params.opening],
            liked=liked_text,
            choices=options_text(choices),
            rule=rule,
        )
        last = LABELS[len(choices) - 1]
        return text + reply_short(f"the letter of one choice, A to {last}")

    def reference(self, params: Params) -> Answer:
        """Count each genre and theme of the liked films, and add up the points of each choice."""
        points = points_of_choices(params, params.genre_weight, params.theme_weight)
        return Answer(answer=label_of_largest(points))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the choices by other rules, and answers that are not a single choice."""
        points = points_of_choices(params, params.genre_weight, params.theme_weight)
        ranks = sorted(range(len(points)), key=lambda i: (-points[i], i))
        right = LABELS[ranks[0]]
        second = LABELS[ranks[1]]
        second_film = params.choices[ranks[1]]
        wrong: dict[str, JsonValue] = {
            "next_best": second,
            "last": LABELS[ranks[-1]],
        }
        weights_of_rules = {
            "weights_exchanged": (params.theme_weight, params.genre_weight),
            "only_genres": (1, 0),
            "only_themes": (0, 1),
        }
        # A rule that leads to the right choice is not a mistake.
        for name, weights in weights_of_rules.items():
            label = label_of_largest(points_of_choices(params, *weights))
            if label != right:
                wrong[name] = label
        title = second_film[0]
        wrong |= {
            "title_of_another": title,
            "title_and_year_of_another": film_text(second_film, "titles"),
            "letter_of_one_title_of_another": f"{right}) {title}",
            "two_letters": f"{right} or {second}",
            "liked_film": params.liked[0][0],
            "listed": [right],
        }
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the points of the right choice, and its margin."""
        points = points_of_choices(params, params.genre_weight, params.theme_weight)
        first, second = sorted(points, reverse=True)[:2]
        return {"overlap": first, "margin": first - second}

    def measure(self, params: Params) -> float:
        """Return the number of genres and themes of all choices times the number of liked films."""
        tags = 0
        for _, _, genres, themes in params.choices:
            tags += len(genres) + len(themes)
        return len(params.liked) * tags

    def blind_floor(self, params: Params) -> float:
        """Return the score of a guess, or of choosing the longest line if that is higher."""
        point: dict[str, JsonValue] = {
            "reference_count": len(params.liked),
            "choice_count": len(params.choices),
            "genre_weight": params.genre_weight,
            "theme_weight": params.theme_weight,
            "template": params.template,
        }
        return max(1 / len(params.choices), self.rule_floor(longest_line, **point))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw similar films, and choices among which one wins."""
        select = select_by_points
        if point.template == "titles":
            select = select_by_titles
        elif point.points_matter:
            # If points are ignored, the right choice must not always have the same rank.
            select = partial(select_with_decoys, ahead=rng.below(_MOST_AHEAD))
        drawn = point
        larger_first = point.points_matter and rng.below(2) == 1
        for _ in range(_TRIES):
            if point.points_matter:
                drawn = with_drawn_weights(point, rng, larger_first=larger_first)
            selection = select(drawn, rng)
            if selection is None:
                continue
            # The right choice can have any letter.
            rng.shuffle(selection.choices)
            return Params(
                liked=tuple(selection.liked),
                choices=tuple(selection.choices),
                genre_weight=drawn.genre_weight,
                theme_weight=drawn.theme_weight,
                template=point.template,
                opening=rng.below(len(OPENINGS)),
            )
        raise GenerationError(
            f"no film wins with a margin of {point.min_margin} in {_TRIES} draws; use a smaller "
            "min_margin, or a larger genre_weight or theme_weight"
        )


def select_by_points(point: Space, rng: Stream) -> Selection | None:
    """Draw films, and a choice that beats all others, the next best narrowly; None if none does."""
    relatives = similar_films(rng.choice(films()))
    liked, near = _draw_liked(relatives, point, rng)
    near += [rng.choice(films()) for _ in range(_NEAR)]
    pool = [film for film in dict.fromkeys(near) if film not in liked]
    tags = liked_tags(liked)
    points = {}
    for film in pool:
        points[film] = points_of(film, tags, point.genre_weight, point.theme_weight)
    # Films with equal points keep the order of the draw.
    pool.sort(key=lambda film: -points[film])
    beaten = point.choice_count - 1
    if len(liked) < point.reference_count or len(pool) <= beaten:
        return None
    # The right choice has to beat all other choices.
    threshold = points[pool[-beaten]] + point.min_margin
    able = [film for film in pool if points[film] >= threshold]
    if not able:
        return None
    right = rng.choice(able)
    most = points[right] - point.min_margin
    lower = [film for film in pool if points[film] <= most]
    # The next best choice is as near to the margin as the pool allows.
    return Selection(liked, [right, lower[0], *rng.sample(lower[1:], beaten - 1)])


def with_drawn_weights(point: Space, rng: Stream, *, larger_first: bool) -> Space:
    """Return a point with its larger weight and a weight drawn from 1 to its smaller one.

    Args:
        point: the point.
        rng: draws the smaller weight.
        larger_first: whether genres get the larger weight.
    """
    least, most = sorted((point.genre_weight, point.theme_weight))
    weights = (rng.between(1, least), most)
    genre, theme = weights[::-1] if larger_first else weights
    return point.model_copy(update={"genre_weight": genre, "theme_weight": theme})


def select_with_decoys(point: Space, rng: Stream, *, ahead: int) -> Selection | None:
    """Draw films and a choice that wins, although another one wins by each of the other rules.

    In addition, ``ahead`` choices beat it if genres and themes count the same.
    """
    relatives = similar_films(rng.choice(films()))
    liked, _ = _draw_liked(relatives, point, rng)
    if len(liked) < point.reference_count:
        return None
    tags = liked_tags(liked)
    pool = [film for film in films() if film not in liked]
    rng.shuffle(pool)
    weights = (point.genre_weight, point.theme_weight)
    common = {}
    points = {}
    for film in pool:
        counts = (points_of(film, tags, 1, 0), points_of(film, tags, 0, 1))
        common[film] = counts
        points[film] = _weighted(counts, weights)
    # The next best choice is as near to the margin as the pool allows.
    pool.sort(key=lambda film: -points[film])
    for right in pool[:_WINNERS]:
        most = points[right] - point.min_margin
        beaten = [film for film in pool if points[film] <= most]
        decoys = decoys_of(right, beaten, common, weights)
        if decoys is None:
            continue
        target = sum(common[right])
        in_front: list[Film] = []
        behind: list[Film] = []
        for film in beaten:
            if film in decoys:
                continue
            side = in_front if sum(common[film]) > target else behind
            side.append(film)
        number = point.choice_count - 1 - len(decoys) - ahead
        if len(in_front) < ahead or not 0 < number <= len(behind):
            continue
        choices = [right, *decoys, *rng.sample(in_front, ahead), behind[0]]
        choices += rng.sample(behind[1:], number - 1)
        return Selection(liked, choices)
    return None


def decoys_of(
    right: Film,
    beaten: Sequence[Film],
    common: Mapping[Film, tuple[int, int]],
    weights: tuple[int, int],
) -> list[Film] | None:
    """Return beaten films such that, by each other rule, one of them beats the right choice.

    Args:
        right: the right choice.
        beaten: films with fewer points, the best first.
        common: numbers of genres and themes in common with the liked films, by film.
        weights: points for a genre and for a theme.

    Returns:
        None if there is a rule by which no beaten film wins.
    """
    rules: tuple[Callable[[tuple[int, int]], int], ...] = (
        sum,
        itemgetter(0),
        itemgetter(1),
        prod,
        partial(_weighted, weights=weights[::-1]),
    )
    decoys: list[Film] = []
    for rule in rules:
        needed = rule(common[right])
        if any(rule(common[film]) > needed for film in decoys):
            continue
        for film in beaten:
            if rule(common[film]) > needed:
                decoys.append(film)
                break
        else:
            return None
    return decoys


def _weighted(common: tuple[int, int], weights: tuple[int, int]) -> int:
    return common[0] * weights[0] + common[1] * weights[1]


def select_by_titles(point: Space, rng: Stream) -> Selection | None:
    """Draw films with one common genre, another film of it, and films with nothing in common."""
    liked, near = _draw_liked(rng.choice(clear_genres()), point, rng)
    tags = liked_tags(liked)
    # A second common genre would leave open which one is meant.
    likes_of_genres = list(tags.genres.values())
    if likes_of_genres.count(len(liked)) > 1:
        return None
    weights = (point.genre_weight, point.theme_weight)
    winners = [f for f in near if points_of(f, tags, *weights) >= point.min_margin]
    strangers = [film for film in films() if _is_stranger(film, tags)]
    beaten = point.choice_count - 1
    if not winners or len(strangers) < beaten:
        return None
    return Selection(liked, [winners[0], *rng.sample(strangers, beaten)])


def _is_stranger(film: Film, tags: LikedTags) -> bool:
    """Return whether a film has neither a genre nor a theme in common with the liked ones."""
    _, _, genres, themes = film
    liked_genres = tags.genres.keys()
    liked_themes = tags.themes.keys()
    return liked_genres.isdisjoint(genres) and liked_themes.isdisjoint(themes)


def _draw_liked(
    relatives: Sequence[Film], point: Space, rng: Stream
) -> tuple[list[Film], list[Film]]:
    """Draw the liked films and similar ones; draw fewer of both if there are not enough."""
    # The right choice and the next best choices come from the similar films.
    near = max(_NEAR, point.choice_count)
    sample = rng.sample(relatives, min(len(relatives), point.reference_count + near))
    return sample[: point.reference_count], sample[point.reference_count :]


def liked_tags(liked: Sequence[Film]) -> LikedTags:
    """Count the genres and the themes of films."""
    tags = LikedTags(Counter(), Counter())
    for _, _, genres, themes in liked:
        tags.genres.update(genres)
        tags.themes.update(themes)
    return tags


def points_of(film: Film, tags: LikedTags, genre_weight: int, theme_weight: int) -> int:
    """Return the points of a choice: its tags count once for each liked film that has them."""
    _, _, genres, themes = film
    # A Counter is slow for missing keys; `get` is not.
    common_genres = sum([tags.genres.get(genre, 0) for genre in genres])
    common_themes = sum([tags.themes.get(theme, 0) for theme in themes])
    return genre_weight * common_genres + theme_weight * common_themes


def points_of_choices(
    params: Params, genre_weight: int, theme_weight: int
) -> list[int]:
    """Return the points of every choice under these weights."""
    tags = liked_tags(params.liked)
    return [
        points_of(film, tags, genre_weight, theme_weight) for film in params.choices
    ]


def label_of_largest(values: Sequence[int]) -> str:
    """Return the letter of the choice with the largest value; the first one in a tie."""
    return LABELS[values.index(max(values))]


def film_text(film: Film, template: Template) -> str:
    """Return a film as the prompt prints it."""
    title, year, genres, themes = film
    name = f"{title} ({year})"
    if template == "titles":
        return name
    if template == "list":
        return f"{name}; genres: {', '.join(genres)}; themes: {', '.join(themes)}"
    article = "an" if genres[0][0] in "aeiou" else "a"
    return (
        f"{name} is {article} {enumeration(genres)} film about {enumeration(themes)}."
    )


def longest_line(params: Params) -> str:
    """Return the letter of the choice with the longest text."""
    sizes = [len(film_text(film, params.template)) for film in params.choices]
    return label_of_largest(sizes)


def _points_text(n: int) -> str:
    """Return a number of points in words."""
    return "1 point" if n == 1 else f"{n} points"


@cache
def films() -> tuple[Film, ...]:
    """Return every film, with its genres and themes in the order of the data file."""
    items = []
    for film in data_file(__package__, "films.json")["films"]:
        genres = tuple(film["genres"])
        themes = tuple(film["themes"])
        items.append((film["title"], film["year"], genres, themes))
    return tuple(items)


@cache
def similar_films(film: Film) -> tuple[Film, ...]:
    """Return the other films that have a genre and a theme in common with a film."""
    _, _, own_genres, own_themes = film
    similar = []
    for candidate in films():
        _, _, genres, themes = candidate
        common_genres = set(own_genres).intersection(genres)
        common_themes = set(own_themes).intersection(themes)
        if candidate != film and common_genres and common_themes:
            similar.append(candidate)
    return tuple(similar)


@cache
def clear_genres() -> tuple[tuple[Film, ...], ...]:
    """Return the films of each genre on which film guides agree, in the order of the data file."""
    by_genre: dict[str, list[Film]] = {}
    for film in films():
        for genre in film[2]:
            if genre not in _VAGUE:
                by_genre.setdefault(genre, []).append(film)
    return tuple(map(tuple, by_genre.values()))
