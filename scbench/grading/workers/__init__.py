"""Worker processes: the pool, the job queue, the scheduler, and the workers of a cluster."""
