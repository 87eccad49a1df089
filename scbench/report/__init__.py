"""What people look at: charts, pictures and the HTML report."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scbench.report.page import write_report

__all__ = ["write_report"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    # Picture modules are imported by name, and need nothing that reports need.
    if name == "write_report":
        from scbench.report.page import write_report  # noqa: PLC0415

        return write_report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
