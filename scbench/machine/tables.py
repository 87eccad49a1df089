"""Arrow and Parquet files opened by exact name; polars would treat names as patterns."""

import os
import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# The first character of a formula, according to OWASP's guide to CSV injection.
_FORMULA = r"^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]"


def scan_parquet(path: Path) -> "pl.LazyFrame":
    """Open a Parquet file without reading its rows yet.

    Raises:
        OSError: it cannot be opened.
        polars.exceptions.PolarsError: it is not a Parquet file, or it is damaged.
    """
    import polars as pl  # noqa: PLC0415  (heavy)

    return pl.scan_parquet(_source(path), glob=False, hive_partitioning=False)


def scan_arrow(paths: Sequence[Path]) -> "pl.LazyFrame":
    """Open Arrow files with equal columns as one, in this order; raises like `scan_parquet`."""
    import polars as pl  # noqa: PLC0415  (heavy)

    sources = [_source(path) for path in paths]
    return pl.scan_ipc(sources, glob=False, hive_partitioning=False)  # type: ignore[arg-type]


def _source(path: Path) -> str | bytes:
    """Return a path that polars does not treat as a pattern, or bytes if it is not UTF-8."""
    absolute = os.path.abspath(path)  # noqa: PTH100  (a leading ~ is a name, too)
    try:
        absolute.encode()
    except UnicodeEncodeError:
        return path.read_bytes()
    return absolute


def write_arrow(path: Path, table: "pl.DataFrame") -> None:
    """Write an Arrow file.

    Raises:
        OSError: it cannot be written.
    """
    with path.open("wb") as file:
        table.write_ipc(file, compression="lz4")


def csv_bytes(table: "pl.DataFrame") -> bytes:
    """Return a table as CSV in which spreadsheets see no formulas.

    Text that begins with ``= + - @`` (also in full width), a tab or a line break gets an
    apostrophe in front, also in the names of columns (OWASP's guide to CSV injection).
    Numbers stay unchanged.
    """
    import polars as pl  # noqa: PLC0415  (heavy)

    texts = pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String)
    safe = table.with_columns(texts.str.replace(_FORMULA, "'$0"))
    safe.columns = [re.sub(_FORMULA, r"'\g<0>", name) for name in safe.columns]
    data = BytesIO()
    safe.write_csv(data)
    return data.getvalue()
