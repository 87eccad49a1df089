"""What the finish reasons of all providers say, in one table (``finish_reasons.toml``)."""

import re
from functools import lru_cache

from scbench.base.data import packaged_toml
from scbench.base.model import Status

_TABLE = packaged_toml("scbench.base", "finish_reasons.toml")
_STATUS = {word: Status(name) for name, words in _TABLE.items() for word in words}
_PREFIX = re.compile(
    r"^(?:finish_reason|stop_reason|block(?:ed)?_reason|finish|status)_(?=.)"
)


@lru_cache(maxsize=4096)
def finish_status(finish: str | None) -> Status | None:
    """Return what a finish reason says of a reply without an answer; None if it is not known."""
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", (finish or "").strip()).lower()
    word = re.sub(r"[\s_-]+", "_", re.split(r"[.:/]", word)[-1]).strip("_")
    return _STATUS.get(word) or _STATUS.get(_PREFIX.sub("", word))
