"""Fresh cases of any task: at a point of its parameter space, or over a grid of points.

An experiment names tasks, points and counts, and one base seed. From it follow all cases, with the
same bytes on every machine and with any number of processes; the folder that holds them has the
shape of a release, so everything that reads releases reads it.

======================  ==========================================================
``generate.experiment`` what an experiment says, read from TOML
``generate.points``     the points of a task's space, and errors that name the knob
``generate.runner``     draws, drops what was drawn before, and proves graders on the rest
``generate.journal``    keeps finished points, so that a killed run goes on
``generate.folder``     writes the folder
``generate.redraw``     makes the rows of such a folder anew, to verify them
``generate.overlap``    counts what two folders share
======================  ==========================================================
"""
