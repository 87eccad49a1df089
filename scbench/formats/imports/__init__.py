"""Any file in: what other programs write, as lines of predictions.

Outputs of providers' batches, logs of evaluation tools and tables are told by what is in them,
never by their names. `entries`, `inspect_logs` and `tables` read them, and `gather` tells them and
makes one stream of predictions of them. What a file holds never raises: an entry that cannot be
placed is a problem with its line, and the rest is read.
"""
