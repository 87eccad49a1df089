"""What is put to a model: which instances, how often, and what cannot be sent.

A request is one try at one instance. Nothing here talks to anybody; see
`scbench.formats.prompts.forms` for the lines that providers take.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scbench.base.errors import PredictionsError, did_you_mean
from scbench.base.model import Instance, task_of
from scbench.formats.custom_id import RequestKey
from scbench.release.load import Release

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Request:
    """One try at one instance."""

    instance: Instance
    sample: int
    budget: int | None

    @property
    def key(self) -> RequestKey:
        """What its id carries."""
        return RequestKey(self.instance.id, self.sample, self.budget)


def chosen_instances(
    release: Release, names: Sequence[str] | None, ids: Collection[str] | None = None
) -> list[Instance]:
    """Return the instances that are to be put to a model, in the order of the release.

    Args:
        release: which holds them; its config ``terse`` or ``ladder`` if theirs are wanted.
        names: tasks and buckets; None for those of the default config, or for all of them where
            ids are named.
        ids: only these; None for all.

    Raises:
        ScbenchError: a task, bucket or id is not in the release.
    """
    if names is None and ids is not None:
        held = list(release.manifest.tasks)
        tasks = [task for task in held if task in {task_of(row_id) for row_id in ids}]
    else:
        tasks = release.manifest.named_tasks(names)
    found = release.instances(tasks)
    wanted = found.keys() if ids is None else {*ids}
    unknown = sorted(wanted - found.keys())
    if unknown:
        hint = did_you_mean(unknown[0], release.ids(release.manifest.tasks))
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise PredictionsError(
            f"{unknown[0]!r}{more} is not among what is chosen of release {release.version}.{hint}"
        )
    return [instance for row_id, instance in found.items() if row_id in wanted]


def requests(
    instances: Sequence[Instance], samples: int = 1, budgets: Sequence[int] = ()
) -> Iterator[Request]:
    """Yield every try: all instances once at each budget, and then all of them again.

    A batch that is cut off so lacks whole samples first, not whole tasks.
    """
    for sample in range(samples):
        for budget in budgets or (None,):
            for instance in instances:
                yield Request(instance, sample, budget)


def told_apart(instances: Sequence[Instance]) -> Mapping[bool, list[Instance]]:
    """Return the instances that need vision (True) and the others (False)."""
    return {
        needs: [one for one in instances if bool(one.images) == needs] for needs in (True, False)
    }


def ids_in_words(instances: Sequence[Instance]) -> str:
    """Return the ids of instances for a sentence; of many, the first."""
    ids = [instance.id for instance in instances]
    more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    return f"{', '.join(ids[:_MOST_NAMED])}{more}"
