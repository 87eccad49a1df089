"""Stage 1: what of a reply is visible, and so may hold the answer.

Hidden is reasoning, in the tags of a table (``words.toml``) and in the channel of analysis. A
closing tag hides back to its own opening tag, or to the start where it has none; an opening tag
that is never closed hides the rest. A tag between backticks is only spoken of.
"""

import html
import re
from collections import defaultdict
from collections.abc import Callable, Iterator

from scbench.base.data import packaged_toml
from scbench.scoring.answers.scan import parsed

WORDS = packaged_toml("scbench.scoring.answers", "words.toml")
_PAIRS = WORDS["hidden"]["pairs"]
_TAG = re.compile(
    rf"""
    (?: (?<!(?<!`)`) | (?=[^>\]\u25b7`]{{0,60}}[>\]\u25b7](?!`)) )
    (?: (?:<|&lt;) \|? (?P<slash>/)? \|? (?: (?!begin_|start_|end_) [a-z]{{1,12}} [:|_] )?
        (?P<edge> (?:begin|start|end)_ (?:of_)? )? (?P<name> {"|".join(WORDS["hidden"]["names"])} )
        (?P<late> _(?:begin|start|end) )? (?![\w-]) (?P<rest> [^<>&\n]{{0,200}} ) (?:>|&gt;)
    | {"|".join(f"(?P<open{i}>{pair[0]})|(?P<close{i}>{pair[1]})" for i, pair in enumerate(_PAIRS))}
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# How all tags begin: the engine skips other characters at once, as each choice is a
# letter.
_BEGINS = re.compile(r"<|&|\u25c1|\[(?=/?[Tt])|a(?<=\Aa)|a(?=ssi)")
_ENTITIES = re.compile(r"[{,\[]\s{0,100}&(?:quot|apos|ldquo|#0{0,3}3[49]|#x2[27]);")
_INVISIBLE = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_BLANK = re.compile("[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_QUOTE = re.compile(r"^[ \t]{0,3}(?:>[ \t]+)*>(?:[ \t]+|$)", re.MULTILINE)
_QUOTED = re.compile(r"^[ \t]{0,3}>[ \t]", re.MULTILINE)
_ANALYSIS = re.compile(
    r"(?:<\|channel\|>\s*|\A)analysis\b[^<]*(?:<(?!\|(?:end|return|call|start|channel)\|>)[^<]*)*"
)
_HEADER = re.compile(
    r"<\|(?:start|channel|constrain)\|>[^<]*|<\|(?:message|end|return|call)\|>"
)


def visible(reply: str) -> str:
    """Return what a reply shows, as plain text."""
    return shown(reply)[0]


def shown(reply: str) -> tuple[str, tuple[str, ...]]:
    """Return what a reply shows, and how it was made plain: each step is a repair."""
    text, repairs = reply, []
    for repair, step in _STEPS.items():
        before, text = text, step(text)
        if text != before:
            repairs.append(repair)
    return text, tuple(repairs)


def _unwrapped(text: str) -> str:
    """Return the text in a reply that is one JSON string, or one message of a chat."""
    whole = parsed(text) if text.lstrip()[:1] in {'"', "{"} else None
    if isinstance(whole, dict) and "role" in whole:
        whole = whole.get("content")
    return whole if isinstance(whole, str) else text


def _without_reasoning(reply: str) -> str:
    has_channels = "<|channel|>" in reply
    text = _HEADER.sub("\n", _ANALYSIS.sub("\n", reply)) if has_channels else reply
    if not _BEGINS.search(text):
        return text
    shown, at = [], 0
    for start, end in sorted(_hidden_regions(text)):
        shown.append(text[at:start])
        at = max(at, end)
    return "\n".join(filter(None, [*shown, text[at:]]))


_STEPS: dict[str, Callable[[str], str]] = {
    "unwrapped_string": _unwrapped,
    "dropped_reasoning": _without_reasoning,
    "html_entities": lambda text: (
        html.unescape(text) if "&" in text and _ENTITIES.search(text) else text
    ),
    "special_blanks": lambda text: (
        text if text.isascii() else _BLANK.sub(" ", _INVISIBLE.sub("", text))
    ),
    "quoted_lines": lambda text: (
        _QUOTE.sub("", text) if ">" in text and _QUOTED.search(text) else text
    ),
}


def _tags(text: str) -> Iterator[re.Match[str]]:
    """Yield the tags, none of which begins inside another."""
    at = 0
    for begin in _BEGINS.finditer(text):
        if begin.start() >= at and (tag := _TAG.match(text, begin.start())):
            at = tag.end()
            yield tag


def _hidden_regions(text: str) -> list[tuple[int, int]]:
    """Return start and end of what tags hide."""
    regions: list[tuple[int, int]] = []
    opened: list[tuple[str, int]] = []
    waiting: dict[str, int] = defaultdict(int)
    closed_at: dict[str, int] = defaultdict(int)
    for tag in _tags(text):
        kind, end, start = tag.lastgroup or "", tag.end(), tag.start()
        name = (tag["name"] or kind[-1]).lower()
        if (tag["rest"] or "").endswith("/"):
            continue
        ends = tag["slash"] or "end" in f"{tag['edge']}{tag['late']}".lower()
        if not ends and not kind.startswith("close"):
            opened.append((name, start))
            waiting[name] += 1
            continue
        closed_at[name if waiting[name] else ""] = end
        if not opened:
            regions.append((0, end))
        other = ""
        while (
            waiting[name] and other != name
        ):  # what was opened inside is hidden with it
            other, start = opened.pop()
            waiting[other] -= 1
        if other:
            regions.append((start, end))
    for name, start in opened:
        # Reasoning that speaks of its own tag opens it once more than it closes it.
        end = max(closed_at[name], closed_at[""])
        regions.append((start, end if end > start else len(text)))
    return regions
