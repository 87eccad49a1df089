"""Is this the list of all corner patterns that force the classes to meet?

Patterns are compared up to renaming of the classes, so any labels will do; the set must be equal to
the one that follows from the winding rule, with nothing twice.
"""

from collections import Counter
from functools import lru_cache

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.corner_labels import (
    Labels,
    agrees,
    canonical,
    meeting_patterns,
)
from scbench.schemas.topology_enumeration import POLYGONS, Answer, Params

VERSION = 2

CHECKS = {
    "corners": "Every pattern has one label for each corner.",
    "repeats": "No pattern is listed twice, under the same or other names.",
    "all_classes": "Every pattern shows all the classes, and no more.",
    "known": "Every pattern agrees with what is known of it.",
    "forced": "Every pattern that shows all the classes forces them to meet.",
    "complete": "Every pattern that forces the classes to meet is listed.",
}
OWN_FAULTS = ("corners", "repeats", "all_classes", "known")

# Patterns read at most; no question has as many as a tenth of this.
_LIMIT = 2000


@lru_cache(maxsize=256)
def _forcing_patterns(params: Params) -> tuple[frozenset[Labels], frozenset[Labels]]:
    """Return all forcing patterns, and those of them that agree with what is known."""
    ring = POLYGONS[len(params.corner_order)]
    forcing = meeting_patterns(params.n_classes, params.corner_order, ring)
    return (
        frozenset(forcing),
        frozenset(pattern for pattern in forcing if agrees(pattern, params.known)),
    )


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the patterns are exactly those asked for, each once, else 0."""
    checks = Checklist(CHECKS)
    forcing, right = _forcing_patterns(params)
    k, n = len(params.corner_order), params.n_classes
    if len(answer.configs) > _LIMIT:
        return checks.too_large(
            f"{len(answer.configs)} patterns are listed; at most {_LIMIT} are read."
        )

    bad = [i for i, labels in enumerate(answer.configs) if len(labels) != k]
    checks.forbid(
        "corners",
        bad,
        lambda i: (
            f"{len(bad)} patterns do not have {k} labels; the first, at position {i}, has "
            f"{len(answer.configs[i])}."
        ),
    )
    counts = Counter(canonical(labels) for labels in answer.configs if len(labels) == k)
    checks.forbid(
        "repeats",
        sorted(pattern for pattern, count in counts.items() if count > 1),
        lambda pattern: f"Pattern {list(pattern)} is listed {counts[pattern]} times.",
    )
    surplus = sorted(counts.keys() - right)
    miscounted = [pattern for pattern in surplus if max(pattern) + 1 != n]
    fault = f"patterns do not show exactly {n} classes"
    checks.forbid_many(
        "all_classes", miscounted, fault, lambda pattern: f"is {list(pattern)}"
    )
    strange = [pattern for pattern in surplus if not agrees(pattern, params.known)]
    if params.known:
        fault = f"patterns do not agree with ({', '.join(params.known)})"
        checks.forbid_many(
            "known", strange, fault, lambda pattern: f"is {list(pattern)}"
        )
    loose = [p for p in surplus if max(p) + 1 == n and p not in forcing]
    fault = f"patterns can be drawn without a common point of all {n} classes"
    checks.forbid_many("forced", loose, fault, lambda pattern: f"is {list(pattern)}")
    missing = sorted(right - counts.keys())
    fault = f"of {len(right)} patterns are missing"
    checks.forbid_many(
        "complete", missing, fault, lambda pattern: f"is {list(pattern)}"
    )
    return checks.binary(
        missing=[list(p) for p in missing], surplus=[list(p) for p in surplus]
    )
