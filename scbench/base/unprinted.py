"""What a grader needs of an instance though its prompt does not print it.

Rows of a release hold none of it: it stands with the references, and is joined to the row again
where an answer is graded. A task's `Params` says of which lists the items go on unprinted::

    unprinted = {"entries": 3}  # of every entry, what comes after the first three values

and its parameter space which parameters would tell the answer; what is found out about a case when
it is drawn, its facts, is never in a row.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue

from scbench.base.canonical import canonical_json

Values = Mapping[str, JsonValue]


class Parted(NamedTuple):
    """An instance in two: what its row holds, and what stands with the references.

    Attributes:
        params: parameters that the prompt prints, as canonical JSON.
        point: where it was drawn, as canonical JSON; None if it was not.
        unprinted: the rest of both, as canonical JSON; None if there is none.
    """

    params: str
    point: str | None
    unprinted: str | None


def part(
    params: Values, point: Values | None, lists: Mapping[str, int], names: Collection[str]
) -> Parted:
    """Take apart what a row may hold and what it may not.

    Args:
        params: all parameters that the grader uses.
        point: parameters of the space and facts; None if it was not drawn.
        lists: how many values of each item are printed, by name of the list.
        names: parameters and facts in ``point`` that no row may hold.
    """
    items: dict[str, Any] = {name: params[name] for name in lists}
    ends = {name: [item[lists[name] :] for item in entries] for name, entries in items.items()}
    begins = {name: [item[: lists[name]] for item in entries] for name, entries in items.items()}
    in_row = None if point is None else {k: v for k, v in point.items() if k not in names}
    hidden = {} if point is None else {k: v for k, v in point.items() if k in names}
    remainder = {key: value for key, value in (("params", ends), ("point", hidden)) if value}
    return Parted(
        canonical_json({**params, **begins}),
        None if in_row is None else canonical_json(in_row),
        canonical_json(remainder) if remainder else None,
    )


def all_params(params: str, unprinted: str | None) -> str:
    """Return all parameters that the grader uses, as canonical JSON."""
    ends = json.loads(unprinted).get("params") if unprinted else None
    if not ends:
        return params
    full = json.loads(params)
    for name, tails in ends.items():
        pairs = zip(full[name], tails, strict=True)
        full[name] = [[*begin, *end] for begin, end in pairs]
    return canonical_json(full)


def whole_point(point: str, unprinted: str | None) -> dict[str, JsonValue]:
    """Return where an instance was drawn, with all that is known of the case."""
    hidden = json.loads(unprinted).get("point", {}) if unprinted else {}
    return {**json.loads(point), **hidden}
