"""Building, verifying and publishing releases, and drawing new instances.

`freeze` writes a release folder with the builders, `verify` rebuilds and compares it,
and `fresh` draws instances at points of a task's parameter space. Code that only reads
releases is in `scbench.release`.

An experiment names tasks, points and counts, and one base seed. These determine all
cases, with the same bytes on every machine and with any number of processes. The folder
with the cases has the layout of a release, so all commands can read it.
"""
