"""Stage 1: what of a reply is visible, and so may hold the answer.

Hidden is reasoning, in the tags of a table (``words.toml``) and in the channel of analysis. A
closing tag hides back to its own opening tag, or to the start where it has none; an opening tag
that is never closed hides the rest. A tag between backticks is only spoken of.
"""

import re
from collections import Counter
from collections.abc import Iterator

from scbench.base.data import packaged_toml

WORDS = packaged_toml("scbench.scoring.answers", "words.toml")
"""Words of many languages and models, as regular expressions."""
_PAIRS = WORDS["hidden"]["pairs"]
_TAG = re.compile(
    rf"""
    (?=[<&\[\u25c1])
    (?: (?:<|&lt;) \|? (?P<slash>/)? \|? (?: (?!begin_|start_|end_) [a-z]{{1,12}} [:|_] )?
        (?P<edge> (?:begin|start|end)_ (?:of_)? )? (?P<name> {"|".join(WORDS["hidden"]["names"])} )
        (?P<late> _(?:begin|start|end) )? (?![\w-]) (?P<rest> [^<>&\n]{{0,200}} ) (?:>|&gt;)
    | {"|".join(f"(?P<open{i}>{pair[0]})|(?P<close{i}>{pair[1]})" for i, pair in enumerate(_PAIRS))}
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MARK = re.compile(r"<\|(start|end|return|call|channel|message|constrain)\|>")
_HEADERS = {"start", "channel", "constrain"}
_UNMARKED = re.compile(r"analysis(?=[A-Z{\n])")
_FINAL = re.compile(r"assistant\s?final")


def visible(reply: str) -> str:
    """Return a reply without its hidden reasoning."""
    text = _without_analysis(reply)
    regions = _hidden_regions(text)
    if not regions:
        return text
    shown, at = [], 0
    for start, end in sorted(regions):
        shown.append(text[at:start])
        at = max(at, end)
    return "\n".join(filter(None, [*shown, text[at:]]))


def _without_analysis(reply: str) -> str:
    """Return a reply in channels without the one of analysis, and without their headers."""
    if _UNMARKED.match(reply):  # the marks between channels were lost
        finals = [*_FINAL.finditer(reply)]
        return reply[finals[-1].end() :] if finals else ""
    if "<|channel|>" not in reply:
        return reply
    shown, header, channel, at = [], "", "", 0
    for mark in (*_MARK.finditer(reply), None):
        piece = reply[at : mark.start() if mark else None]
        if header == "channel":
            channel = piece.strip().partition(" ")[0].lower()
        elif not header and channel != "analysis":
            shown.append(piece)
        if mark:
            at, header = mark.end(), mark[1] if mark[1] in _HEADERS else ""
            channel = channel if mark[1] in {"message", "constrain", "channel"} else ""
    return "\n".join(piece for piece in shown if piece.strip())


def _tags(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Yield start and end of each tag, its name, and whether it closes."""
    for tag in _TAG.finditer(text):
        kind = tag.lastgroup or ""
        if tag["name"] is None:
            yield tag.start(), tag.end(), kind[-1], kind.startswith("close")
        elif not tag["rest"].endswith("/") and not _is_spoken_of(tag):
            closes = tag["slash"] or "end" in f"{tag['edge']}{tag['late']}".lower()
            yield tag.start(), tag.end(), tag["name"].lower(), bool(closes)


def _is_spoken_of(tag: re.Match[str]) -> bool:
    """Whether a tag stands between single backticks."""
    before = tag.string[max(0, tag.start() - 2) : tag.start()]
    after = tag.string[tag.end() : tag.end() + 2]
    return before[-1:] == after[:1] == "`" and "``" not in (before, after)


def _hidden_regions(text: str) -> list[tuple[int, int]]:
    """Return start and end of what tags hide."""
    regions: list[tuple[int, int]] = []
    opened: list[tuple[str, int]] = []
    waiting = Counter[str]()
    strays: list[int] = []
    closed_at: dict[str, int] = {}
    for start, end, name, closes in _tags(text):
        if not closes:
            opened.append((name, start))
            waiting[name] += 1
        elif not waiting[name]:
            strays.append(end)
        else:
            other = ""
            while other != name:  # what was opened or closed inside is hidden with it
                other, first = opened.pop()
                waiting[other] -= 1
            while strays and strays[-1] > first:
                strays.pop()
            regions.append((first, end))
            closed_at[name] = end
    first = max(strays, default=0)
    regions += [(0, first)] * bool(first)
    for name, start in opened:
        # Reasoning that speaks of its own tag opens it once more than it closes it.
        end = closed_at.get(name, -1)
        if start >= first:
            regions.append((start, end if end > start else len(text)))
    return regions
