"""Charts, pictures and the HTML report."""

from typing import TYPE_CHECKING

from scbench.base.lazy import lazy_lookup

if TYPE_CHECKING:
    from scbench.report.page import write_report

__all__ = ["write_report"]

# Picture modules are imported by name and do not need the packages that reports use.
__getattr__ = lazy_lookup(__name__, {"scbench.report.page": ["write_report"]})
