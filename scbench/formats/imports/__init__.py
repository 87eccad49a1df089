"""Files of other programs as lines of predictions.

Outputs of providers' batches, logs of evaluation tools and tables are recognised by
content, never by file name. `kinds` recognises a file and its entries. `batches`,
`harnesses`, `inspect_logs`, `harbor_jobs` and `tables` read them, using `entries`.
`files` yields the entries of one file, and `gather` combines several files into one
stream of predictions.

Invalid entries never raise: an unreadable entry becomes a problem with its line, and
reading continues.
"""
