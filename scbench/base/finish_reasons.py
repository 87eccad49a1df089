"""The meaning of the finish reasons of all providers, from ``finish_reasons.toml``."""

import re
from functools import lru_cache

from scbench.base.data import packaged_toml
from scbench.base.model import Status

_TABLE = packaged_toml("scbench.base", "finish_reasons.toml")
_STATUS = {word: Status(name) for name, words in _TABLE.items() for word in words}
_PREFIX = re.compile(
    r"^(?:finish_reason|stop_reason|block(?:ed)?_reason|finish|status)_(?=.)"
)
_CAMEL_CASE_GAP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@lru_cache(maxsize=4096)
def finish_status(finish: str | None) -> Status | None:
    """Return the status that a finish reason implies; None if the reason is unknown."""
    snake_case = _CAMEL_CASE_GAP.sub("_", (finish or "").strip()).lower()
    # Some providers write the name of an enumeration first: FinishReason.STOP.
    name = re.split(r"[.:/]", snake_case)[-1]
    word = re.sub(r"[\s_-]+", "_", name).strip("_")
    return _STATUS.get(word) or _STATUS.get(_PREFIX.sub("", word))


def status_without_answer(finish: str | None) -> Status | None:
    """Return the status of a reply in which no answer can be read, by its finish reason.

    None for a normal end, or if no reason is given. Providers add reasons for new
    failures, but all reasons for a normal end are known. So an unknown reason means
    that the call failed.
    """
    if not (finish or "").strip():
        return None
    status = finish_status(finish) or Status.API_ERROR
    return None if status is Status.ANSWERED else status
