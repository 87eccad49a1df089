"""Private seeds from a file or standard input, because other users can see command lines."""

import sys
from typing import Annotated

import typer

from scbench.base.errors import ExperimentError
from scbench.machine.files import read_given

# Maximum characters read from a file; a seed has about 40 digits.
_MOST_CHARACTERS = 1000

SeedFileOption = Annotated[
    str | None,
    typer.Option(
        "--seed-file",
        help=(
            "Read the base seed from this file, or from standard input (-). A seed "
            "given on the command line is visible to other users."
        ),
    ),
]


def read_seed(seed: int | None, file: str | None) -> int | None:
    """Return the seed of an option or of a file; None if neither is given.

    Raises:
        ExperimentError: both are given, or the file cannot be read, or it contains no seed.
    """
    if file is None:
        return seed
    if seed is not None:
        raise ExperimentError("give --seed or --seed-file, not both")
    try:
        if file == "-":
            text = sys.stdin.read(_MOST_CHARACTERS + 1)
        else:
            text = read_given(file, _MOST_CHARACTERS).decode()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ExperimentError(f"--seed-file {file}: {reason}") from None
    digits = text.strip()
    is_short = len(text) <= _MOST_CHARACTERS
    if not (is_short and digits.isascii() and digits.isdecimal()):
        raise ExperimentError(
            f"--seed-file {file}: the file must contain one whole number and nothing else"
        )
    return int(digits)
