"""Files of other programs as lines of predictions.

Outputs of providers' batches, logs of evaluation tools and tables are recognised by their content,
never by their names. `kinds` recognises a file and its entries. `batches`, `harnesses`,
`inspect_logs`, `harbor_jobs` and `tables` read them, by the parts in `entries`. `files` gives the
entries of one file, and `gather` makes one stream of predictions of several files.

Nothing raises for the contents of an entry: one that cannot be read is a problem with its line, and
the others are read.
"""
