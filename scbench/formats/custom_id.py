"""The one id that every batch interface carries: instance, sample and budget in 64 characters.

Providers give it back with each reply, in any order, and take letters, digits, "_" and "-". No id
of an instance has a capital letter, so capitals mark what belongs to the request::

    csg_union/03, sample 0                                 csg_union-03
    csg_union/03-terse, sample 2                           csg_union-03-terse-S2
    b001f663:csg_union/ladder-03-2, budget 32000           b001f663X-csg_union-ladder-03-2-B32000
"""

import re
from typing import NamedTuple

from scbench.base.errors import PredictionsError

MOST_CHARACTERS = 64
_PARTS = re.compile(
    r"(?:(?P<prefix>[0-9a-z_]{1,64})X-)?(?P<task>[a-z][0-9a-z_]*)-(?P<name>[0-9a-z_]+(?:-[0-9a-z_]+)*)"
    r"(?:-S(?P<sample>[1-9][0-9]{0,15}))?(?:-B(?P<budget>0|[1-9][0-9]{0,15}))?",
    re.ASCII,
)


class RequestKey(NamedTuple):
    """What a request asked for: an instance, which of several tries, and the token budget."""

    id: str
    sample: int = 0
    budget: int | None = None

    @property
    def custom_id(self) -> str:
        """The id of the request, see above.

        Raises:
            PredictionsError: it would be too long, or could not be read back.
        """
        prefix, colon, name = self.id.rpartition(":")
        text = f"{prefix}{'X-' * bool(colon)}{name.replace('/', '-', 1)}"
        text += f"-S{self.sample}" * bool(self.sample)
        text += "" if self.budget is None else f"-B{self.budget}"
        if len(text) > MOST_CHARACTERS or read_custom_id(text) != self:
            raise PredictionsError(
                f"no batch can carry {self.id!r}, sample {self.sample}, budget {self.budget}: a "
                f"custom_id has at most {MOST_CHARACTERS} characters, and ids of items none "
                "but a to z, 0 to 9, _ and -"
            )
        return text


def read_custom_id(text: str) -> RequestKey | None:
    """Return what a request's id stands for; None if it is not one of ours."""
    parts = _PARTS.fullmatch(text) if len(text) <= MOST_CHARACTERS else None
    if parts is None:
        return None
    prefix = f"{parts['prefix']}:" if parts["prefix"] else ""
    budget = None if parts["budget"] is None else int(parts["budget"])
    return RequestKey(
        f"{prefix}{parts['task']}/{parts['name']}", int(parts["sample"] or 0), budget
    )
