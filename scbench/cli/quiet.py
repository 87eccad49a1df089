"""The display of progress that shows nothing, which all other displays extend."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scbench.grading.workers.pool import Waiting


class Quiet:
    """A display that shows nothing, and the methods of all displays."""

    def done(
        self, rows: int, size: int, total: int | None = None, cost: str = ""
    ) -> None:
        """Show rows and work done so far, its total, if known, and the cost so far in words."""

    def waiting(self, items: "Sequence[Waiting]") -> None:
        """Show the items that take long; called about once a second."""

    def failing(self, error: str) -> None:
        """Report the message of a failure that is retried."""


def waiting_text(item: "Waiting") -> str:
    """Return a slow item with its seconds, and its steps, if they are counted."""
    steps = f" step {item.done:,} of {item.total:,}," if item.total else ""
    return f"{item.instance_id}:{steps} {item.seconds:.0f} s"
