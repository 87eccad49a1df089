"""First names of people in stories. None is a common word, and no two differ in one letter."""

import json
from functools import cache
from importlib.resources import files


@cache
def names() -> tuple[str, ...]:
    """Return every name, in alphabetical order."""
    text = files(__package__).joinpath("names.json").read_text("utf-8")
    return tuple(sorted(json.loads(text)["names"]))
