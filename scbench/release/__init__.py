"""Reading releases: find a release by name or folder, check its hashes, load its rows.

The code that builds, verifies and publishes releases is in `scbench.freezing`.

A release folder contains::

    README.md                     the dataset card; its YAML makes load_dataset work
    MANIFEST.json                 row hashes (identity), file hashes (transport), versions
    data/<task>.parquet           instances, one row each
    references/references.parquet reference and counter-reference answers, in a separate file
    schemas/*.json                JSON Schemas of params, answers, predictions and results
    croissant.json                files and columns for other tools, as Croissant
    eval.yaml                     leaderboards of the Hub

A release is never edited; corrections need a new version.
"""
