"""A square or cube of halved boxes: the target, and the boxes that were named as its neighbours."""

from collections.abc import Sequence

from scbench.base.model import Verdict
from scbench.report.picture import Panel, Picture, failures, fraction
from scbench.report.pictures.half_subdivision_neighbours.halved_boxes import (
    MISSING,
    RIGHT,
    SURPLUS,
    TARGET,
    Box,
    Sorted,
    around,
    cube,
    plan,
    pulled_apart,
    section,
    unit_boxes,
)
from scbench.schemas.half_subdivision_neighbours import AXES, Answer, Params

_SMALL = 0.2
"""A target with a shorter side than this gets a close view of its own."""
_WORDS = {
    TARGET: "the target",
    RIGHT: "named, and a neighbour",
    "answer": "named",
    MISSING: "a neighbour, but not named",
    SURPLUS: "named, but no neighbour",
}


def draw(params: Params, answer: Answer | None, verdicts: Sequence[Verdict]) -> Picture:
    """Draw the target in its tree; with an answer its neighbours, right, missing and surplus."""
    axes = AXES[params.dimension]
    groups = _sorted(params, answer, verdicts)
    labels = dict.fromkeys((*params.leaves, *groups.strangers))
    places = unit_boxes(labels, params.axis_cycle, axes)
    caption = _caption(params, answer, groups, verdicts)
    panels = (_flat if len(axes) == 2 else _solid)(params, places, groups, caption)
    legend = [(part, words) for part, words in _WORDS.items() if groups.parts.get(part)]
    if groups.strangers:
        legend.append((SURPLUS, "hatched or dashed: named, but no leaf of the tree"))
    if groups.marked:
        legend.append((SURPLUS, "thick edges: named twice, or the target itself"))
    return Picture(tuple(panels), caption, tuple(legend), _text(params, groups))


def _sorted(params: Params, answer: Answer | None, verdicts: Sequence[Verdict]) -> Sorted:
    parts: dict[str, Sequence[str]] = {TARGET: (params.target,)}
    if answer is None:
        return Sorted(parts)
    metrics = verdicts[0].metrics if verdicts else {}
    leaves = set(params.leaves) - {params.target}
    answered = [label for label in dict.fromkeys(answer.neighbors) if label in leaves]
    if "surplus" not in metrics:
        return Sorted(parts | {"answer": answered})
    surplus = set(metrics["surplus"])
    failed = failures(verdicts)
    parts[RIGHT] = [label for label in answered if label not in surplus]
    parts[MISSING] = list(metrics["missing"])
    parts[SURPLUS] = list(metrics["surplus"])
    strangers = (*failed.get("tree", ()), *failed.get("leaves", ()))
    marked = [label for label in failed.get("repeats", ()) if label in leaves]
    marked += [params.target] * ("target" in failed)
    return Sorted(parts, strangers, marked)


def _flat(params: Params, places: dict[str, Box], groups: Sorted, caption: str) -> list[Panel]:
    target = places[params.target]
    small = min(high - low for low, high in target) < _SMALL
    square = plan(places, groups, (-0.01, -0.01, 1.01, 1.01), 340)
    panels = [Panel("the square", square, caption)]
    if small:
        frame = around(target, 1.6)
        close = plan(places, groups, frame, 340)
        panels.append(Panel("close to the target", close, f"The same, larger. {caption}"))
    return panels


def _solid(params: Params, places: dict[str, Box], groups: Sorted, caption: str) -> list[Panel]:
    panels = [Panel("in the cube", cube(places, groups), caption)]
    if len(groups.parts) > 1:
        apart = pulled_apart(places, groups, params.target)
        panels.append(Panel("close to the target, pulled apart", apart, f"The same. {caption}"))
        return panels
    for axis, name in enumerate(AXES["3D"]):
        low, high = places[params.target][axis]
        cut = section(places, groups, axis, (low + high) / 2)
        right, up = (direction for direction in AXES["3D"] if direction != name)
        title = f"cut at {name} = {(low + high) / 2:.4g} ({right} right, {up} up)"
        panels.append(Panel(title, cut, f"The boxes in a cut through the target across {name}."))
    return panels


def _caption(
    params: Params, answer: Answer | None, groups: Sorted, verdicts: Sequence[Verdict]
) -> str:
    shape = "square" if params.dimension == "2D" else "cube"
    if answer is None:
        return (
            f"A {shape} halved into {len(params.leaves)} boxes (along {' '.join(params.axis_cycle)}"
            f", over and over): which share a {'side' if shape == 'square' else 'face'} with "
            f"{params.target}?"
        )
    if not verdicts:
        return f"{len(answer.neighbors)} boxes named."
    if not groups.parts.get(RIGHT) and "missing" not in verdicts[0].metrics:
        return f"{len(answer.neighbors)} boxes named, far too many; {fraction(verdicts)}."
    right, missing, surplus = (len(groups.parts[part]) for part in (RIGHT, MISSING, SURPLUS))
    parts = [f"{right} of {right + missing} neighbours named"]
    grazing = len(verdicts[0].metrics.get("grazing", ()))
    if surplus:
        touch = f" ({grazing} touch at a corner or edge only)" if grazing else ""
        parts.append(f"{surplus} that {'are' if surplus > 1 else 'is'} no neighbour{touch}")
    for check in verdicts[0].failed:
        count = check.details.get("count", 0)
        if check.id in {"tree", "leaves"}:
            parts.append(f"{count} that {'are' if count > 1 else 'is'} no leaf")
        elif check.id == "repeats":
            parts.append(f"{count} named twice")
        elif check.id == "target":
            parts.append("the target itself named")
    return f"{'; '.join(parts)}; {fraction(verdicts)}."


def _text(params: Params, groups: Sorted) -> str:
    cycle = " ".join(params.axis_cycle)
    lines = [
        f"{params.dimension}, halved along {cycle}, over and over: {len(params.leaves)} leaves"
    ]
    rows = [(_WORDS[part], groups.parts.get(part, ())) for part in _WORDS]
    rows.append(("named, but no leaf", groups.strangers))
    for words, labels in rows:
        if labels:
            lines.append(f"{words}:")
            lines += [f"  {label}" for label in labels[:50]]
            lines += [f"  and {len(labels) - 50} more"] if len(labels) > 50 else []
    return "\n".join(lines)
