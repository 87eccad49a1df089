"""From lines to rows: chunks, parsed lines, coverage, and the columns of the results."""
