"""Worker processes: the pool, the job queue, the scheduler, and the workers of a cluster."""

# Modules that every worker process needs. The first extracts and judges answers; the
# parent process never imports it.
IMPORTS = "scbench.grading.workers.worker", "scbench.grading.workers.pool"
