"""From lines to rows: reading, chunks, which line counts, and the columns of the results."""
