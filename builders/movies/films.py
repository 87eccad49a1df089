"""Films with their years, genres and themes, and what any two have in common."""

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from scbench.schemas.movies import Film

_VAGUE = {"drama", "thriller", "adventure", "action"}
"""Genres that film guides give to many films, and not all to the same."""


class Marks(NamedTuple):
    """Genres and themes of a film as bits, to be compared quickly."""

    genres: int
    themes: int


@cache
def films() -> tuple[Film, ...]:
    """Return every film, with its genres and themes in the order of the data file."""
    text = files(__package__).joinpath("films.json").read_text("utf-8")
    return tuple(
        (film["title"], film["year"], tuple(film["genres"]), tuple(film["themes"]))
        for film in json.loads(text)["films"]
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
    genres = dict.fromkeys(genre for film in films() for genre in film[2] if genre not in _VAGUE)
    return tuple(tuple(i for i, film in enumerate(films()) if genre in film[2]) for genre in genres)
