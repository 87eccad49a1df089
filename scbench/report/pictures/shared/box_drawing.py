"""Box-drawing characters for paths in plain text."""

from collections.abc import Collection

_SIGNS = {
    frozenset("l"): "╴",
    frozenset("r"): "╶",
    frozenset("u"): "╵",
    frozenset("d"): "╷",
    frozenset("lr"): "─",
    frozenset("ud"): "│",
    frozenset("ld"): "┐",
    frozenset("lu"): "┘",
    frozenset("rd"): "┌",
    frozenset("ru"): "└",
}


def joint(sides: Collection[str], otherwise: str) -> str:
    """Return the line that joins one or two sides of a cell: l, r, u and d; else what is given."""
    return _SIGNS.get(frozenset(sides), otherwise)
