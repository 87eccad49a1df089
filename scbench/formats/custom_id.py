"""The custom_id of a request: instance, sample and budget in 64 characters.

Providers return it with each reply, in any order, and accept letters, digits, "_" and
"-". Instance ids contain no capital letters, so capitals mark the parts that belong to
the request::

    csg_union/03, sample 0                                 csg_union-03
    csg_union/03-terse, sample 2                           csg_union-03-terse-S2
    b001f663:csg_union/ladder-03-2, budget 32000           b001f663X-csg_union-ladder-03-2-B32000
"""

import re
from typing import NamedTuple

from scbench.base.errors import PredictionsError

MOST_CHARACTERS = 64
_PARTS = re.compile(
    r"""
    (?: (?P<prefix>[0-9a-z_]{1,64}) X- )?           # of a fresh instance
    (?P<task>[a-z][0-9a-z_]*) -
    (?P<name>[0-9a-z_]+ (?:-[0-9a-z_]+)*)
    (?: -S (?P<sample>[1-9][0-9]{0,15}) )?          # sample 0 is left out
    (?: -B (?P<budget>0 | [1-9][0-9]{0,15}) )?
    """,
    re.ASCII | re.VERBOSE,
)


class RequestKey(NamedTuple):
    """The content of a custom_id.

    Attributes:
        id: id of the instance.
        sample: sample number, starting at 0.
        budget: limit of output tokens; None for none.
    """

    id: str
    sample: int = 0
    budget: int | None = None

    @property
    def custom_id(self) -> str:
        """The id of the request, in the form above.

        Raises:
            PredictionsError: the id would be too long, or could not be read back.
        """
        prefix, colon, name = self.id.rpartition(":")
        text = name.replace("/", "-", 1)
        if colon:
            text = f"{prefix}X-{text}"
        if self.sample:
            text += f"-S{self.sample}"
        if self.budget is not None:
            text += f"-B{self.budget}"
        if len(text) > MOST_CHARACTERS or read_custom_id(text) != self:
            raise PredictionsError(
                f"batches cannot contain {self.id!r}, sample {self.sample}, budget "
                f"{self.budget}: a custom_id may have at most {MOST_CHARACTERS} "
                "characters, and an item's id may contain only a to z, 0 to 9, _ and -"
            )
        return text


def read_custom_id(text: str) -> RequestKey | None:
    """Return the request that a custom_id names; None if it is not one of ours."""
    parts = _PARTS.fullmatch(text) if len(text) <= MOST_CHARACTERS else None
    if parts is None:
        return None
    row_id = f"{parts['task']}/{parts['name']}"
    if parts["prefix"]:
        row_id = f"{parts['prefix']}:{row_id}"
    budget = None if parts["budget"] is None else int(parts["budget"])
    return RequestKey(row_id, int(parts["sample"] or 0), budget)
