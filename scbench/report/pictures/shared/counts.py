"""Numbers with their nouns, for captions."""


def counted(n: int, singular: str, plural: str = "") -> str:
    """Return a number and a noun, such as "1 box"; a plural is needed if it adds more than an s."""
    if n == 1:
        return f"1 {singular}"
    return f"{n} {plural or singular + 's'}"
