"""Stops a run whose calls all fail in the same way, for example without credit.

Inspect retries a call for minutes before it moves on, which takes hours for a whole
run. A watch counts failures that retries do not fix, and stops the run at the tenth in
a row.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from anyio import CancelScope

from scbench.base.errors import FailedCallError

# Number of consecutive failures with the same message that stop a run.
MAX_FAILURES = 10
# Providers' messages about keys without credit, with any status. Retrying does not
# help.
_NO_CREDIT = re.compile(
    r"^40[12]\b | insufficient_quota | exceeded\ your\ current\ quota | credit | billing",
    re.VERBOSE | re.IGNORECASE,
)
# Errors of the endpoint, not of the request. A call fails with one of these after all
# its retries.
_OF_ENDPOINT = re.compile(r"^(?:403|404|408|429|5\d\d)\b|connect", re.IGNORECASE)
# Numbers, which may differ from call to call.
_NUMBER = re.compile(r"\d+")


class Watch:
    """The failures of a run.

    Attributes:
        latest: message of the last failure; empty after a success.
        verdict: message of the failures that stopped the run; empty while it continues.
    """

    def __init__(self) -> None:
        self.latest = ""
        self.verdict = ""
        self._kind = ""
        self._failures = 0
        # Tasks of the waiting calls.
        self._scopes: set[CancelScope] = set()

    def answered(self) -> None:
        """Record an answered call."""
        self.latest = ""
        self._failures = 0

    def failed(self, words: str, *, last_try: bool) -> None:
        """Record the message of a failure.

        Args:
            words: see `scbench.formats.imports.inspect_logs.call_error`.
            last_try: whether this was the last attempt of the call.
        """
        self.latest = words
        counts = _NO_CREDIT.search(words) or (last_try and _OF_ENDPOINT.search(words))
        if not counts or self.verdict:
            return
        kind = _NUMBER.sub("", words)
        self._failures = self._failures + 1 if kind == self._kind else 1
        self._kind = kind
        if self._failures >= MAX_FAILURES:
            self.verdict = words
            for scope in tuple(self._scopes):
                scope.cancel()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Make calls in this block, which is cancelled when the run stops.

        Raises:
            FailedCallError: the run was stopped.
        """
        self._raise_verdict()
        with CancelScope() as scope:
            self._scopes.add(scope)
            try:
                yield
            finally:
                self._scopes.discard(scope)
        if scope.cancelled_caught:
            self._raise_verdict()

    def _raise_verdict(self) -> None:
        if self.verdict:
            raise FailedCallError(
                f"not sent, because {MAX_FAILURES} calls in a row failed: {self.verdict}"
            )


class _Current:
    """The watch of the run in this process."""

    watch: Watch | None = None


def current_watch() -> Watch | None:
    """Return the watch of the run in `watching`; None outside of it."""
    return _Current.watch


@contextmanager
def watching() -> Iterator[Watch]:
    """Watch the run in this block."""
    _Current.watch = Watch()
    try:
        yield _Current.watch
    finally:
        _Current.watch = None
