"""Words in drawings and captions: numbers of things, and texts that are cut."""


def counted(n: int, noun: str) -> str:
    """Return a number of things, such as "1 cell" or "3 cells"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def shortened(words: str, limit: int) -> str:
    """Return a text of so many characters at most; an ellipsis takes the place of the end."""
    return words if len(words) <= limit else f"{words[: limit - 1]}…"
