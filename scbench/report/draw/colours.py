"""Colours by what they mean, in light and dark mode, told apart by people who see them differently.

The hues are those of Okabe and Ito. No meaning rests on a hue alone: what is missing is hatched or
dashed, what is wrong is thick, circled or labelled.
"""

# Hues that only tell things apart, in the order in which they are used.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#E69F00",
    "#999999",
    "#000000",
)

ROLES: dict[str, tuple[str, str]] = {
    "paper": ("#ffffff", "#16181c"),
    "ink": ("#1d1f23", "#e9eaec"),
    "quiet": ("#6b7076", "#a0a6ad"),
    "faint": ("#d5d8dc", "#3c4148"),
    "given": ("#b4b9bf", "#6f767e"),
    "answer": ("#0072b2", "#56b4e9"),
    "right": ("#009e73", "#2fc79b"),
    "wrong": ("#d55e00", "#ff8534"),
    "missing": ("#d55e00", "#ff8534"),
    "surplus": ("#0072b2", "#56b4e9"),
    "target": ("#cc79a7", "#e3a3c6"),
    "note": ("#e69f00", "#f0b83c"),
    "water": ("#56b4e9", "#3f9bd0"),
    "rock": ("#8c6d46", "#a98a60"),
}
"""Colour of each role, in light and in dark mode.

``given`` is the instance; ``answer`` what a model gave, where that is neither right nor wrong by
itself; ``right``, ``wrong``, ``missing`` and ``surplus`` say what a verdict found; ``target`` is
what the instance marks out; ``note`` points at something.
"""

# Roles that only tell things apart.
SERIES = tuple(f"c{i}" for i in range(len(COLOURS)))

ROLES |= {
    name: (colour, "#e9eaec" if colour == "#000000" else colour)
    for name, colour in zip(SERIES, COLOURS, strict=True)
}


def series(i: int) -> str:
    """Return the role of the i-th of many alike things: a hue, neither grey nor ink."""
    return SERIES[i % (len(SERIES) - 2)]


def style_sheet(dark: bool | None = None) -> str:
    """Return rules of stroke (``s-ROLE``) and fill (``f-ROLE``); dark None follows the reader."""
    rules = (
        ".sb text{font-family:system-ui,sans-serif}"
        ".sb .halo{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}"
    )
    if dark is not None:
        return rules + _rules(int(dark))
    return f"{rules}{_rules(0)}@media (prefers-color-scheme:dark){{{_rules(1)}}}"


def _rules(mode: int) -> str:
    rules = [
        f".s-{role}{{stroke:{pair[mode]}}}.f-{role}{{fill:{pair[mode]}}}"
        for role, pair in ROLES.items()
    ]
    return "".join(rules) + f".sb .halo{{stroke:{ROLES['paper'][mode]}}}"
