"""Tracebacks in Inspect's logs."""

from functools import partial

from inspect_ai._util import rich as inspect_rich

# Characters of a traceback. Inspect colours those that it does not shorten, which takes minutes if
# a provider's error has a word of 100,000 characters.
_MAX_CHARACTERS = 10_000
_SHORTEN = inspect_rich.truncate_traceback


def shorten_tracebacks() -> None:
    """Shorten the tracebacks that Inspect writes from now on, in this process.

    `inspect eval` formats the errors of samples outside of our code, so this cannot be undone after
    a call.
    """
    inspect_rich.truncate_traceback = partial(_SHORTEN, max_length=_MAX_CHARACTERS)
