"""Results in a notebook: as text, table and chart."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from typing_extensions import override

from scbench.analysis.paper import paper_table
from scbench.analysis.results import NEEDED
from scbench.analysis.results import read_results as rows_of
from scbench.base.errors import ResultsError
from scbench.grading.means import RUN
from scbench.report.charts import Spec, draw, score_chart

# Columns of the table.
_TABLE = (
    *RUN,
    "bucket",
    "n",
    "normalized",
    "normalized_low",
    "normalized_high",
    "mean",
)


class Chart:
    """A chart that a notebook shows, and that `save` writes as SVG, PNG or HTML."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def save(self, path: str | Path, *, dark: bool = False) -> None:
        """Write the chart to a file; the suffix sets the format."""
        form = Path(path).suffix.lower().removeprefix(".")
        Path(path).write_bytes(draw(self.spec, form, dark=dark))

    def _repr_svg_(self) -> str:
        return draw(self.spec, "svg").decode()


class Runs(pl.DataFrame):
    """Rows of results, which a notebook shows as the scores of their runs."""

    @override
    def __repr__(self) -> str:
        if not self._is_whole():
            return super().__repr__()
        runs = self.select(RUN).n_unique()
        noun = "run" if runs == 1 else "runs"
        release = self["release"][0]
        return f"<Runs: {runs} {noun}, {self.height} rows, release {release}>"

    @override
    def _repr_html_(self, *, _from_series: bool = False) -> str:
        if not self._is_whole():
            return super()._repr_html_(_from_series=_from_series)
        return paper_table(self).select(_TABLE)._repr_html_()

    @override
    def to_pandas(self, **options: Any) -> Any:
        """Return the rows as a pandas DataFrame.

        If pandas is not installed, the error says how to install it.
        """
        try:
            return super().to_pandas(**options)
        except ModuleNotFoundError:
            raise ResultsError("this needs `pip install pandas pyarrow`") from None

    @override
    def plot(self, by: str = "bucket") -> Chart:  # type: ignore[override]
        """Return the chart of normalized scores, by bucket or by task."""
        return Chart(score_chart(paper_table(self, by)))

    def _is_whole(self) -> bool:
        """Return whether these are complete results: all columns, and at least one row."""
        return self.height > 0 and set(NEEDED) <= set(self.columns)


def read_results(
    paths: str | Path | Sequence[str | Path],
    columns: Sequence[str] = (),
    **options: bool,
) -> Runs:
    """Return the rows of `scbench.analysis.results.read_results` for display."""
    return Runs(rows_of(paths, columns, **options))
