"""Names of models that answered terse prompts, or pictures, next to those of full prompts."""

import polars as pl

from scbench.base.model import DRAWN, SYMBOLS, plain_id, style_of
from scbench.release.manifest import PLUS_PICTURES, PLUS_TERSE

# Ends the name of a model whose answers are to terse prompts.
ON_TERSE = " (terse prompts)"
# The same where the data of prompts was in pictures, by their style.
ON_PICTURES = {DRAWN: " (pictures)", SYMBOLS: " (pictures of symbols)"}


def is_reworded() -> pl.Expr:
    """Whether rows are of terse prompts, or of pictures."""
    release = pl.col("release").str
    return release.ends_with(PLUS_TERSE) | release.ends_with(PLUS_PICTURES)


def prompt_words(row_id: str) -> str:
    """Return the end of the name of a model whose answer has this id."""
    style = style_of(row_id)
    if style:
        return ON_PICTURES[style]
    return ON_TERSE if plain_id(row_id) != row_id else ""


def without_prompt(model: str) -> str:
    """Return a model's name without the end that says which prompts it answered."""
    for words in (ON_TERSE, *ON_PICTURES.values()):
        model = model.removesuffix(words)
    return model
