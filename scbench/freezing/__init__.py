"""Making releases and fresh instances: freeze, verify, describe, publish, mirror, draw.

``build.freeze`` turns builders into a release folder, ``build.verify`` makes it again to compare,
and ``build.fresh`` draws instances at points of a task's parameter space. What only reads a release
is in `scbench.release`.

An experiment names tasks, points and counts, and one base seed. From it follow all cases, with the
same bytes on every machine and with any number of processes; the folder that contains them has the
layout of a release, so everything that reads releases reads it.
"""
