"""Paths through cells, drawn with box characters."""

from collections.abc import Collection

# Sides through which a line leaves a cell: left, right, up, down.
_JOINTS = {
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
    """Return the character that joins one or two sides of a cell, or else the fallback."""
    return _JOINTS.get(frozenset(sides), otherwise)
