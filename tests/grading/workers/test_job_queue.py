"""The order of jobs: slowest known job first, while no job waits behind light work."""

from scbench.grading.rows.chunks import Chunk
from scbench.grading.workers.jobs import GradingJob, WorkItem
from scbench.grading.workers.scheduler import JobQueue

HEAVY = {"bricks": 120.0, "water": 120.0, "blasts": 3600.0}


def job(work) -> GradingJob:
    return GradingJob(work, 1.0, not isinstance(work, Chunk))


def queue(chunks: int, held_back=lambda: False) -> JobQueue:
    return JobQueue(
        (Chunk(i, i + 1, 1, 1, b"{}") for i in range(chunks)), HEAVY, job, held_back
    )


def add(to: JobQueue, *tasks: str, size: int = 2) -> None:
    for line, task in enumerate(tasks):
        to.add(WorkItem(line, b"x" * size, f"{task}/00"), task)


def names(result) -> list[str]:
    return [
        "chunk" if isinstance(it.work, Chunk) else it.work[0].instance_id
        for it in result
    ]


def take(from_: JobQueue, count: int, *, vacant=True, light=2) -> list[str]:
    jobs = (from_.take(vacant=vacant, light=light) for _ in range(count))
    return names(it for it in jobs if it is not None)


def test_slowest_goes_first_then_the_later_in_the_catalogue():
    todo = queue(0)
    add(todo, "bricks", "water", "bricks", "blasts", "water")
    assert take(todo, 9) == [
        "blasts/00",
        "water/00",
        "water/00",
        "bricks/00",
        "bricks/00",
    ]


def test_some_chunks_are_read_before_any_slow_item_begins():
    todo = queue(100)
    assert take(todo, 3) == ["chunk"] * 3
    add(todo, "bricks", "blasts")
    assert take(todo, 61) == ["chunk"] * 61
    assert take(todo, 3) == ["blasts/00", "bricks/00", "chunk"]


def test_one_worker_stays_with_the_chunks():
    todo = queue(100)
    take(todo, 64)
    add(todo, *["blasts"] * 5)
    assert take(todo, 2, light=3) == ["blasts/00", "blasts/00"]
    assert take(todo, 2, light=1) == ["chunk", "chunk"]


def test_slow_item_never_waits_behind_another_job():
    todo = queue(1)
    add(todo, "blasts")
    assert take(todo, 3, vacant=False) == ["chunk"]
    assert take(todo, 1) == ["blasts/00"]


def test_no_chunk_begins_while_too_many_items_wait():
    todo = queue(10)
    add(todo, *["bricks"] * 1000)
    assert take(todo, 1, vacant=False) == []
    assert take(todo, 2) == ["bricks/00", "chunk"], (
        "one is gone, so there is room again"
    )


def test_no_chunk_begins_while_long_items_wait():
    todo = queue(10)
    add(todo, "bricks", "bricks", size=2**25)
    assert take(todo, 1, vacant=False) == []
    assert take(todo, 2) == ["bricks/00", "chunk"]
    todo = queue(10)
    add(todo, "bricks", size=2**26 - 1)
    assert take(todo, 1, vacant=False) == ["chunk"]


def test_finished_chunks_are_skipped_and_may_add_items():
    def chunks():
        yield None
        add(todo, "blasts")
        yield None

    todo = JobQueue(chunks(), HEAVY, job, lambda: False)
    assert take(todo, 2) == ["blasts/00"]
