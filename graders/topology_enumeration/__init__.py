"""Checks whether an answer lists exactly the corner patterns that force the classes to meet.

Patterns are compared up to renaming of the classes, so any labels are accepted. The
list must have all patterns that follow from the winding rule, no others, and no
duplicates.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from scbench.base.model import Verdict
from scbench.base.wording import counted
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
    "repeats": "No pattern is listed twice, not even with other labels.",
    "all_classes": "Every pattern has exactly the required number of classes.",
    "known": "Every pattern agrees with the known part.",
    "forced": "Every pattern with the right number of classes forces the classes to meet.",
    "complete": "Every pattern that forces the classes to meet is listed.",
}
OWN_FAULTS = ("corners", "repeats", "all_classes", "known")

# Maximum number of patterns read in an answer; right answers have less than a tenth of
# this.
MOST_PATTERNS = 2000


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the patterns are exactly the right ones, each once, else 0."""
    checks = Checklist(CHECKS)
    forcing, right = forcing_patterns(params)
    k = len(params.corner_order)
    n = params.n_classes
    if len(answer.configs) > MOST_PATTERNS:
        return checks.too_large(
            f"{len(answer.configs):,} patterns are listed; at most {MOST_PATTERNS:,} are read."
        )

    bad = [i for i, labels in enumerate(answer.configs) if len(labels) != k]
    misfits = counted(len(bad), "pattern does", "patterns do")
    checks.forbid(
        "corners",
        bad,
        lambda i: (
            f"{misfits} not have {k} labels; the first, at position {i} (counting from 0), has "
            f"{len(answer.configs[i])}."
        ),
    )
    complete = [labels for labels in answer.configs if len(labels) == k]
    counts = Counter(map(canonical, complete))
    checks.forbid(
        "repeats",
        sorted(pattern for pattern, count in counts.items() if count > 1),
        lambda pattern: f"Pattern {list(pattern)} is listed {counts[pattern]} times.",
    )
    surplus = sorted(counts.keys() - right)
    missing = sorted(right - counts.keys())

    def forbid_patterns(
        check_id: str, patterns: Sequence[Labels], singular: str, plural: str
    ) -> None:
        fault = counted(len(patterns), singular, plural)
        checks.forbid(check_id, patterns, lambda p: f"{fault}; the first is {list(p)}.")

    # Labels start from 0.
    miscounted = [pattern for pattern in surplus if max(pattern) + 1 != n]
    condition = f"not have exactly {n} classes"
    forbid_patterns(
        "all_classes",
        miscounted,
        f"pattern does {condition}",
        f"patterns do {condition}",
    )
    if params.known:
        strange = [pattern for pattern in surplus if not agrees(pattern, params.known)]
        condition = f"not agree with the known part ({', '.join(params.known)})"
        forbid_patterns(
            "known", strange, f"pattern does {condition}", f"patterns do {condition}"
        )
    loose = [p for p in surplus if max(p) + 1 == n and p not in forcing]
    condition = f"can be drawn without a point common to all {n} classes"
    forbid_patterns("forced", loose, f"pattern {condition}", f"patterns {condition}")
    total = len(right)
    forbid_patterns(
        "complete",
        missing,
        f"of {total} patterns is missing",
        f"of {total} patterns are missing",
    )
    return checks.binary(
        missing=[list(p) for p in missing], surplus=[list(p) for p in surplus]
    )


@lru_cache(maxsize=256)
def forcing_patterns(params: Params) -> tuple[frozenset[Labels], frozenset[Labels]]:
    """Return all patterns that force a meeting, and those that agree with the known part."""
    ring = POLYGONS[len(params.corner_order)]
    forcing = meeting_patterns(params.n_classes, params.corner_order, ring)
    right = frozenset(pattern for pattern in forcing if agrees(pattern, params.known))
    return frozenset(forcing), right
