import csv
import io

import polars as pl

from scbench.machine.tables import csv_bytes


def test_no_text_of_a_csv_file_is_a_formula():
    texts = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\n=x", "＝1", "x=1", "", None]
    table = pl.DataFrame(
        {
            "=model": texts,
            "n": [-1.5] * 11,
            "status": pl.Series(texts, dtype=pl.Categorical),
        }
    )
    rows = list(csv.reader(io.StringIO(csv_bytes(table).decode(), newline="")))
    safe = [
        "'=1+1",
        "'+1",
        "'-1",
        "'@x",
        "'\tx",
        "'\rx",
        "'\n=x",
        "'＝1",
        "x=1",
        "",
        "",
    ]
    assert rows == [
        ["'=model", "n", "status"],
        *([text, "-1.5", text] for text in safe),
    ]
