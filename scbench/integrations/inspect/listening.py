"""Providers' raw responses, read before Inspect reduces them to its own format.

Inspect drops everything that does not fit its format: parts of a message, the provider's finish
reason, an error inside a successful response. Its log stores raw responses only for the
first calls, so a solver listens during each call. Source: inspect_ai 0.3.285
``model/_model.py`` ``ModelEventSink``.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ModelAPI
from inspect_ai.model._model import use_model_event_sink

from scbench.base.errors import FailedCallError
from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.batches import body_replies
from scbench.formats.imports.entries import Reply, dig, error_text
from scbench.formats.imports.inspect_logs import call_error
from scbench.formats.predictions import MAX_LINE_BYTES
from scbench.integrations.inspect.exhaustion import Watch

# Marks a method that already passes responses on.
_MARK = "hands_on_responses"
_LISTENER: "ContextVar[Listener | None]" = ContextVar("listener", default=None)


class Listener:
    """The last call of a model.

    Args:
        watch: the watch for failed calls.

    Attributes:
        body: the provider's response to it; None if there was no response, or an error.
        has_unreadable_response: whether Inspect or the provider's library could not read the
            response.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.body: Mapping[str, Any] | None = None
        self.has_unreadable_response = False
        # The raw response, which Inspect loses if it cannot read it.
        self.raw: Mapping[str, Any] | None = None

    # The two methods that Inspect calls. Events are passed on to the transcript, which would have
    # received them otherwise.
    def on_pending(self, event: ModelEvent) -> None:
        """Forget the previous call."""
        self.body = None
        self.raw = None
        self.has_unreadable_response = False
        transcript()._event(event)  # noqa: SLF001

    def on_complete(self, event: ModelEvent) -> None:
        """Store the response of a call."""
        call = event.call
        self.body = None if call is None or call.error else call.response
        if event.error is not None:
            self.body = self.raw
        self.has_unreadable_response = event.error is not None and self.raw is not None
        if event.error is None:
            self._watch.answered()
        else:
            self._watch.failed(call_error(event.error), last_try=False)
        transcript()._event_updated(event)  # noqa: SLF001

    @property
    def error(self) -> str:
        """The error inside a response that claims success; empty if there is none."""
        return error_text(self.body) if dig(self.body, "error") else ""

    def reply(self, request: RequestKey) -> Reply | None:
        """Return the reply in the response; None if there is none, or its format is unknown."""
        if self.body is None:
            return None
        return next(body_replies(request, self.body), None)


def keep_raw_responses(api: ModelAPI) -> None:
    """Make a provider pass its responses to the listener before anything reads them.

    Responses that are longer than any answer become failed calls.

    The providers that speak OpenAI's chat format to any endpoint have a method for that.
    """
    original = getattr(api, "on_response", None)
    if original is None or getattr(original, _MARK, False):
        return

    def on_response(response: dict[str, Any]) -> None:
        size = len(repr(response))
        if size > MAX_LINE_BYTES:
            # Inspect would write it several times, and then nobody could read the log.
            response.clear()
            raise FailedCallError(
                f"the response has {size:,} characters; the limit is {MAX_LINE_BYTES:,}"
            )
        listener = _LISTENER.get()
        if listener is not None:
            listener.raw = response
        original(response)

    setattr(on_response, _MARK, True)
    setattr(api, "on_response", on_response)  # noqa: B010  (no attribute of all providers)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Listen to the calls in the block.

    Raises:
        FailedCallError: a response contains an error that the provider's library could
            not read.
    """
    token = _LISTENER.set(listener)
    try:
        with use_model_event_sink(listener):
            yield
    except Exception as error:
        if listener.error:
            raise FailedCallError(listener.error) from error
        raise
    finally:
        _LISTENER.reset(token)
