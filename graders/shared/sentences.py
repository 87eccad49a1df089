"""Sentences about the first offender, with the total number of offenders."""


def with_total(sentence: str, number: int, plural: str) -> str:
    """Return a sentence about the first offender, with the total if there are several.

    >>> with_total("Pipes 1 and 4 touch", 1, "pairs")
    'Pipes 1 and 4 touch.'
    >>> with_total("Pipes 1 and 4 touch", 3, "pairs")
    'Pipes 1 and 4 touch (3 such pairs in total).'
    """
    if number == 1:
        return f"{sentence}."
    return f"{sentence} ({number} such {plural} in total)."
