"""Words of messages that depend on numbers."""


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun, such as "1 box" or "2 boxes".

    Args:
        number: how many there are.
        singular: the noun for one.
        plural: the noun for other numbers, if it is more than the singular with an s.
    """
    if number == 1:
        return f"1 {singular}"
    return f"{number} {plural or singular + 's'}"
