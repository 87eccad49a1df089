"""Shortened texts in drawings and captions."""


def shortened(words: str, limit: int) -> str:
    """Return a text truncated to this many characters; an ellipsis replaces the end."""
    return words if len(words) <= limit else f"{words[: limit - 1]}…"
