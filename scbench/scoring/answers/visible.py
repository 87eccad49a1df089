r"""Stage 1: what of a reply is visible, and so may hold the answer.

Hidden is reasoning, in the tags and channels of this table. Sources: sglang 0.5.23,
``srt/parser/reasoning_parser.py``; vllm 0.33, ``reasoning/``; the chat templates of the models.

- ``<think>``, ``<thinking>``, ``<|think|>``: DeepSeek, Qwen, GLM, Hunyuan, Nemotron, Claude;
  ``<seed:think>``, ``<mm:think>``, ``<ifm|think>``, ``<longcat_think>``: Seed, MiniMax, K2;
- ``<thought>``, ``<|begin_of_thought|>`` ``<|end_of_thought|>``: EXAONE, Marco, Sky-T1;
- ``<|START_THINKING|>`` ``<|END_THINKING|>``: Command; ``<|channel>thought`` ``<channel|>``: Gemma;
- ``<|inner_prefix|>`` ``<|inner_suffix|>``: Apertus; ``<|open|>think<|sep|>``: Kimi K3;
- ``[THINK]``: Magistral; ``\u25c1think\u25b7``: Kimi;
- ``<reasoning>``, ``<reflection>``, ``<analysis>``, ``<scratchpad>``: what prompts ask for;
- ``<|channel|>analysis<|message|>``: gpt-oss, also where the marks between channels were lost.

A closing tag hides back to its own opening tag, or to the start where it has none; an opening tag
that is never closed hides the rest. A tag between backticks is only spoken of.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

_NAMES = (
    r"think(?:ing|_fast|_faster)?|thoughts?|reason(?:ing)?(?:_content)?|reflections?|analysis"
    r"|scratch_?pad|chain_of_thought|cot|inner_(?:monologue|thoughts?)|monologue"
)
_TAG = re.compile(
    rf"""
    (?=[<&\[\u25c1])
    (?: (?:<|&lt;) \|? (?P<slash>/)? \|? (?: (?!begin_|start_|end_) [a-z]{{1,12}} [:|_] )?
        (?P<edge> (?:begin|start|end)_ (?:of_)? )? (?P<name> {_NAMES} )
        (?P<late> _(?:begin|start|end) )? (?![\w-]) (?P<rest> [^<>&\n]{{0,200}} ) (?:>|&gt;)
    | \[ (?P<brackets>/)? THINK \]
    | \u25c1 (?P<triangles>/)? think \u25b7
    | <\|channel>thoughts?\b | (?P<gemma> <channel\|> )
    | <\|inner_prefix\|> | (?P<apertus> <\|inner_suffix\|> )
    | <\|open\|>think<\|sep\|> | (?P<kimi> <\|close\|>think<\|sep\|> )
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SIGNS = ("<", "&lt;", "&LT;", "\u25c1", "[THINK]", "[/THINK]", "[think]", "[/think]")
_MARK = re.compile(r"<\|(start|end|return|call|channel|message|constrain)\|>")
_HEADERS = {"start", "channel", "constrain"}
_UNMARKED = re.compile(r"analysis(?=[A-Z{\n])")
_FINAL = re.compile(r"assistant\s?final")
_Region = tuple[int, int]


def visible(reply: str) -> str:
    """Return a reply without its hidden reasoning."""
    text = _without_analysis(reply)
    if not any(sign in text for sign in _SIGNS):
        return text
    regions, first, last = _hidden_regions(text)
    shown = []
    for start, end in sorted(regions):
        if start > first:
            shown.append(text[first : min(start, last)])
        first = max(first, end)
    shown.append(text[first:last])
    return "\n".join(filter(None, shown)) if regions else shown[0]


def _without_analysis(reply: str) -> str:
    """Return a reply in channels without the one of analysis, and without their headers."""
    if _UNMARKED.match(reply):
        finals = [*_FINAL.finditer(reply)]
        return reply[finals[-1].end() :] if finals else ""
    if "<|channel|>" not in reply:
        return reply
    shown, header, channel, at = [], "", "", 0
    for mark in _MARK.finditer(reply):
        piece, at = reply[at : mark.start()], mark.end()
        if header == "channel":
            channel = piece.strip().partition(" ")[0].lower()
        elif not header and channel != "analysis":
            shown.append(piece)
        header = mark[1] if mark[1] in _HEADERS else ""
        if mark[1] not in {"message", "constrain", "channel"}:
            channel = ""
    if not header and channel != "analysis":
        shown.append(reply[at:])
    return "\n".join(piece for piece in shown if piece.strip())


def _tags(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Yield start and end of each tag, its name, and whether it closes."""
    for tag in _TAG.finditer(text):
        name = (tag["name"] or tag.group()[: 4 if tag.group()[0] == "<" else 1]).lower()
        if tag["gemma"] or tag["apertus"] or tag["kimi"]:
            yield tag.start(), tag.end(), _OPENED_BY[tag.lastgroup or ""], True
        elif not (tag["rest"] or "").endswith("/") and not _is_spoken_of(tag):
            edge = f"{tag['edge']}{tag['late']}".lower()
            closes = tag["slash"] or tag["brackets"] or tag["triangles"] or "end" in edge
            yield tag.start(), tag.end(), name, bool(closes)


def _is_spoken_of(tag: re.Match[str]) -> bool:
    """Whether a tag stands between single backticks."""
    around = (
        tag.string[max(0, tag.start() - 2) : tag.start()],
        tag.string[tag.end() : tag.end() + 2],
    )
    return around[0][-1:] == around[1][:1] == "`" and "``" not in around


_OPENED_BY = {"gemma": "<|ch", "apertus": "<|in", "kimi": "<|op"}


def _hidden_regions(text: str) -> tuple[list[_Region], int, int]:
    """Return what closed tags hide, where what is visible begins, and where it ends."""
    regions: list[_Region] = []
    opened: dict[str, list[int]] = defaultdict(list)
    closed_at: dict[str, int] = {}
    strays: list[int] = []
    for start, end, name, closes in _tags(text):
        if not closes:
            opened[name].append(start)
            continue
        closed_at[name] = end
        if opened[name]:
            regions.append((opened[name].pop(), end))
        else:
            strays.append(end)
    never: list[int] = []
    for name, starts in opened.items():
        # Reasoning that speaks of its own tag opens it once more than it closes it.
        end = closed_at.get(name, -1)
        regions += [(start, end) for start in starts if start < end]
        never += [start for start in starts if start > end]
    outside = _Outside(regions)
    first = max(filter(outside, strays), default=0)
    return (
        regions,
        first,
        min((at for at in never if at >= first and outside(at)), default=len(text)),
    )


class _Outside:
    """Whether a place lies in none of some regions."""

    def __init__(self, regions: list[_Region]) -> None:
        self._edges: list[int] = []
        for start, end in sorted(regions):
            if self._edges and start <= self._edges[-1]:
                self._edges[-1] = max(self._edges[-1], end)
            else:
                self._edges += [start, end]

    def __call__(self, place: int) -> bool:
        return bisect_left(self._edges, place) % 2 == 0
