"""Worker processes: the pool, the job queue, the scheduler, and the workers of a cluster."""

# What worker processes need. The first finds and judges answers: their parent goes
# without it.
IMPORTS = "scbench.grading.workers.worker", "scbench.grading.workers.pool"
