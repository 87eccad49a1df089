"""Colours by role, in light and dark mode, distinguishable with any colour vision.

The hues are those of Okabe and Ito. No meaning depends on hue alone: missing things are hatched or
dashed; wrong things are thick, circled or labelled.
"""

# Hues without a meaning, in order of use.
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

# Roles of these hues.
SERIES = tuple(f"c{i}" for i in range(len(COLOURS)))
# The last two are a grey and black, which look like `given` and `ink`.
_SERIES_HUES = len(COLOURS) - 2

# Colour of each role, in light and in dark mode. `given` is the instance; `answer` is the part of
# an answer that is neither right nor wrong in itself; `right`, `wrong`, `missing` and `surplus` are
# findings of a verdict; `target` is marked by the instance; `note` points at something.
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
ROLES |= {role: (hue, hue) for role, hue in zip(SERIES[:-1], COLOURS[:-1], strict=True)}
# Black would vanish on a dark page.
ROLES[SERIES[-1]] = (COLOURS[-1], "#e9eaec")


def rgb_of(code: str) -> tuple[int, int, int]:
    """Return the red, green and blue of a colour such as "#d55e00", from 0 to 255."""
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def series(i: int) -> str:
    """Return the role of the i-th of many similar things: a hue, neither grey nor ink."""
    return SERIES[i % _SERIES_HUES]


def style_sheet(dark: bool | None = None) -> str:
    """Return rules for stroke (``s-ROLE``) and fill (``f-ROLE``); dark None follows the reader."""
    rules = (
        ".sb text{font-family:system-ui,sans-serif}"
        ".sb .halo{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}"
    )
    if dark is not None:
        return rules + role_rules(dark=dark)
    light_rules = role_rules(dark=False)
    dark_rules = role_rules(dark=True)
    return f"{rules}{light_rules}@media (prefers-color-scheme:dark){{{dark_rules}}}"


def role_rules(*, dark: bool) -> str:
    """Return the rules of all roles in one mode."""
    rules = []
    for role, colours in ROLES.items():
        colour = colours[dark]
        rules.append(f".s-{role}{{stroke:{colour}}}.f-{role}{{fill:{colour}}}")
    paper = ROLES["paper"][dark]
    return "".join(rules) + f".sb .halo{{stroke:{paper}}}"
