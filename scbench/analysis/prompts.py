"""Names of models that answered terse prompts or pictures, in tables with full prompts."""

import polars as pl

from scbench.base.model import DRAWN, SYMBOLS, plain_id, style_of
from scbench.release.manifest import PLUS_PICTURES, PLUS_TERSE

# Suffix of the name of a model that answered terse prompts.
ON_TERSE = " (terse prompts)"
# Suffixes for models that answered pictures, by their style.
ON_PICTURES = {DRAWN: " (pictures)", SYMBOLS: " (pictures of symbols)"}


def is_reworded() -> pl.Expr:
    """Whether rows belong to terse prompts or pictures."""
    release = pl.col("release").str
    return release.ends_with(PLUS_TERSE) | release.ends_with(PLUS_PICTURES)


def prompt_words(row_id: str) -> str:
    """Return the suffix of a model's name for an answer with this id."""
    style = style_of(row_id)
    if style:
        return ON_PICTURES[style]
    return ON_TERSE if plain_id(row_id) != row_id else ""


def without_prompt(model: str) -> str:
    """Return a model's name without the suffix for its prompts."""
    for words in (ON_TERSE, *ON_PICTURES.values()):
        model = model.removesuffix(words)
    return model
