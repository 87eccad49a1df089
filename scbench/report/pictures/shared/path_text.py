"""Paths through cells, in the characters that draw boxes."""

from collections.abc import Collection

# Sides of a cell that a line leaves through: left, right, up, down.
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
    """Return the character that joins one or two sides of a cell; else the one passed for that."""
    return _JOINTS.get(frozenset(sides), otherwise)
