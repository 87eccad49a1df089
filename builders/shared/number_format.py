"""Numbers as prompts print them."""

from decimal import Decimal


def plain(value: float) -> str:
    """Return every digit of a number, without an exponent or a useless ``.0``.

    >>> plain(6.0), plain(0.5), plain(-1.902113), plain(1e-05)
    ('6', '0.5', '-1.902113', '0.00001')
    """
    return f"{Decimal(repr(value)):f}".removesuffix(".0")
