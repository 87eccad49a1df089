"""Arrow and Parquet files by their very names: to polars a path is a pattern, to us it never is."""

import os
import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_FORMULA = r"^[=+\-@\t\r]"


def scan_parquet(path: Path) -> "pl.LazyFrame":
    """Look at a Parquet file without reading its rows yet.

    Raises:
        OSError: it cannot be opened.
        polars.exceptions.PolarsError: it is no Parquet file, or damaged.
    """
    import polars as pl  # noqa: PLC0415  (heavy)

    return pl.scan_parquet(_source(path), glob=False, hive_partitioning=False)


def scan_arrow(paths: Sequence[Path]) -> "pl.LazyFrame":
    """Look at Arrow files of equal columns as one, in this order; raises as `scan_parquet`."""
    import polars as pl  # noqa: PLC0415  (heavy)

    sources = [_source(path) for path in paths]
    return pl.scan_ipc(sources, glob=False, hive_partitioning=False)  # type: ignore[arg-type]


def write_arrow(path: Path, table: "pl.DataFrame") -> None:
    """Write an Arrow file.

    Raises:
        OSError: it cannot be written.
    """
    with path.open("wb") as file:
        table.write_ipc(file, compression="lz4")


def csv_bytes(table: "pl.DataFrame") -> bytes:
    """Return a table as CSV in which no text is a formula to a spreadsheet.

    Text that begins with ``= + - @``, a tab or a return gets an apostrophe in front, also in the
    names of columns (OWASP's guide to CSV injection). Numbers stay as they are.
    """
    import polars as pl  # noqa: PLC0415  (heavy)

    text = pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String)
    safe = table.with_columns(text.str.replace(_FORMULA, "'$0"))
    safe.columns = [re.sub(_FORMULA, r"'\g<0>", name) for name in safe.columns]
    data = BytesIO()
    safe.write_csv(data)
    return data.getvalue()


def _source(path: Path) -> str | bytes:
    """Return the path so that polars opens it as it stands; the bytes if its name is not UTF-8."""
    absolute = os.path.abspath(path)  # noqa: PTH100  (a leading ~ is a name, too)
    try:
        absolute.encode()
    except UnicodeEncodeError:
        return path.read_bytes()
    return absolute
