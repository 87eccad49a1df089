"""The progress display that shows nothing; all other displays extend it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scbench.grading.workers.pool import Waiting


class Quiet:
    """A display that shows nothing, and the methods of all displays."""

    def done(
        self, rows: int, size: int, total: int | None = None, cost: str = ""
    ) -> None:
        """Show the rows and work done so far, the total work if known, and the cost in words."""

    def waiting(self, items: "Sequence[Waiting]") -> None:
        """Show the items that take long; called about once a second."""

    def failing(self, error: str) -> None:
        """Report the message of a failure that is retried."""


def waiting_text(item: "Waiting") -> str:
    """Return the text for a slow item: its id, its steps if they are counted, and its seconds."""
    steps = f" step {item.done:,} of {item.total:,}," if item.total else ""
    return f"{item.instance_id}:{steps} {item.seconds:.0f} s"
