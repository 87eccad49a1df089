r"""Stage 1: the visible text of a reply, which may contain the answer.

From ``<think>Maybe [1].</think>So {&quot;path&quot;: [2]}`` the first stage produces
``So {"path": [2]}``, with the repairs ``dropped_reasoning`` and ``html_entities``.

For a reply that is one JSON message, as returned by APIs, the visible text is the message's text.
Reasoning is hidden: in the tags listed in ``words.toml``, and in the analysis channel. A closing
tag hides everything back to its opening tag, or to the start if there is none. An opening tag that
is never closed hides the rest, except a fenced or tagged object that ends the reply. A tag between
backticks is only a mention.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from scbench.base.data import packaged_toml
from scbench.formats.imports.entries import (
    content_text,
    dig,
    joined_text,
    message_text,
    objects,
)
from scbench.graders.shared import answer_text
from scbench.scoring.answers.scan import parse_or_none

WORDS = packaged_toml("scbench.scoring.answers", "words.toml")

_NAMES = "|".join(WORDS["hidden"]["names"])
# Tags of other forms: a group for each opening and closing one, numbered by the row of the table.
_PAIRS = "|".join(
    f"(?P<open{row}>{opening})|(?P<close{row}>{closing})"
    for row, (opening, closing) in enumerate(WORDS["hidden"]["pairs"])
)
# No backtick directly before or after the tag; otherwise it is only a mention.
_NOT_MENTIONED = r"(?: (?<!(?<!`)`) | (?=[^>\]\u25b7`]{0,60}[>\]\u25b7](?!`)) )"
_TAG = re.compile(
    rf"""
    {_NOT_MENTIONED}
    (?: (?:<|&lt;) \|? (?P<slash>/)? \|?                       # <think>, </think>, <|think|>
        (?: (?!begin_|start_|end_) [a-z]{{1,12}} [:|_] )?      # <seed:think>
        (?P<edge> (?:begin|start|end)_ (?:of_)? )?             # <|begin_of_thought|>
        (?P<name> {_NAMES} )
        (?P<late> _(?:begin|start|end) )? (?![\w-])            # <think_start>
        (?P<rest> [^<>&\n]{{0,200}} ) (?:>|&gt;)               # attributes
    | {_PAIRS}
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# The beginnings of all tags. Each choice is a letter, so the engine skips other characters quickly.
_BEGINS = re.compile(r"<|&|\u25c1|\[(?=/?[Tt])|a(?<=\Aa)|a(?=ssi)")

# The analysis channel, from its header to the next header.
_ANALYSIS = re.compile(
    r"(?:<\|channel\|>\s*|\A)analysis\b"
    r"[^<]*(?:<(?!\|(?:end|return|call|start|channel)\|>)[^<]*)*"
)
_CHANNEL_MARK = re.compile(
    r"<\|(?:start|channel|constrain)\|>[^<]*|<\|(?:message|end|return|call)\|>"
)

# An escaped quote after a JSON delimiter: the whole text was escaped.
_ESCAPED_QUOTE = re.compile(
    r"[{,\[]\s{0,100}&(?:quot|apos|ldquo|#0{0,3}3[49]|#x2[27]);"
)
_INVISIBLE = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_SPECIAL_BLANK = re.compile("[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
# Full-width characters, and the minus sign, that have an ASCII equivalent; and digits of other
# scripts.
_TWIN_IN_ASCII = re.compile("[\u2212\uff01-\uff5e]|(?![0-9])\\d")
# Code point distance of a full-width character from its ASCII form.
_FULL_WIDTH = 0xFEE0
# A fence with an object, or a tag with one, at the end of a reply. A fence begins on a line of its
# own; nothing in it is another fence.
_FINAL_FENCE = re.compile(
    r"^[ \t]*```\w*[ \t\r]*\n\s*\{[^`]*\}\s*```\s*\Z", re.MULTILINE
)
_FINAL_TAG = re.compile(
    r"<((?:final_?)?answer|solution|final)>\s*\{[^<]*\}\s*</\1>\s*\Z", re.IGNORECASE
)
# A key of a message, which is searched for in the first characters of a reply.
_MESSAGE_KEY = re.compile(r'"(?:type|choices|parts|role|content|text)"\s*:')
_MESSAGE_START = 2000
# The keys of an object that is one part of a message, as Gemini writes it.
_PART_KEYS = {"text", "thought", "thoughtSignature"}
# The signs before a quoted line in Markdown, and before a quoted line with text.
_QUOTE_SIGNS = re.compile(r"^[ \t]{0,3}(?:>[ \t]+)*>(?:[ \t]+|$)", re.MULTILINE)
_QUOTED_LINE = re.compile(r"^[ \t]{0,3}>[ \t]", re.MULTILINE)


class VisibleText(NamedTuple):
    """The visible text of a reply, and the names of the repairs that changed it."""

    text: str
    repairs: tuple[str, ...]


class Tag(NamedTuple):
    """A tag of hidden reasoning.

    Attributes:
        name: the tag's name, or the number of its pair.
        is_closing: whether it closes.
        start: position of its first character.
        end: position after its last character.
    """

    name: str
    is_closing: bool
    start: int
    end: int


def visible_text(reply: str) -> str:
    """Return the visible text of a reply."""
    return visible_with_repairs(reply).text


def visible_with_repairs(reply: str) -> VisibleText:
    """Return the visible text of a reply with its repairs."""
    # The order matters: a string may contain tags, and hidden text must not be
    # unescaped first.
    steps = {
        "unwrapped_string": unwrapped_string,
        "unwrapped_message": unwrapped_message,
        "dropped_reasoning": without_reasoning,
        "html_entities": without_entities,
        "special_blanks": with_plain_blanks,
        "ascii_twins": with_ascii_twins,
        "quoted_lines": without_quote_signs,
    }
    text = reply
    repairs = []
    for repair, step in steps.items():
        plain = step(text)
        if plain != text:
            repairs.append(repair)
        text = plain
    return VisibleText(text, tuple(repairs))


def unwrapped_string(text: str) -> str:
    """Return the text in a reply that is one JSON string."""
    if text.lstrip()[:1] != '"':
        return text
    value = parse_or_none(text)
    return value if isinstance(value, str) else text


def unwrapped_message(text: str) -> str:
    """Return the text of the message that a reply consists of."""
    if text.lstrip()[:1] not in {"{", "["}:
        return text
    # Most answers are objects, too, so do not parse a long one twice.
    if not _MESSAGE_KEY.search(text, 0, _MESSAGE_START):
        return text
    message = text_in_message(parse_or_none(text))
    return text if message is None else message


def text_in_message(value: JsonValue) -> str | None:
    """Return the text of a message in the format of an API; None if it is not a message.

    Args:
        value: a list of parts, ``{"choices": [{"message": ...}]}``, ``{"role": ..., "content":
            ...}``, ``{"type": "message", "content": ...}``, ``{"parts": [{"text": ...}]}``, or
            an object with nothing but ``content`` or ``text``.
    """
    if isinstance(value, list):
        has_types = all(dig(part, "type") for part in value)
        return content_text(value) if has_types and value else None
    if not isinstance(value, dict):
        return None
    choices = objects(value.get("choices"))
    if choices:
        return message_text(choices[0].get("message"))
    parts = objects(value.get("parts"))
    if parts and all(part.keys() <= _PART_KEYS for part in parts):
        return joined_text(
            part.get("text") for part in parts if not part.get("thought")
        )
    is_only_key = len(value) == 1
    if "content" in value and ("role" in value or "type" in value or is_only_key):
        return message_text(value)
    content = value.get("text")
    if isinstance(content, str) and (is_only_key or value.get("type") == "text"):
        return content
    return None


def without_reasoning(reply: str) -> str:
    """Return a reply without its reasoning."""
    text = reply
    if "<|channel|>" in text:
        text = _ANALYSIS.sub("\n", text)
        text = _CHANNEL_MARK.sub("\n", text)
    if not _BEGINS.search(text):
        return text
    pieces = []
    position = 0
    for start, end in sorted(hidden_regions(text)):
        pieces.append(text[position:start])
        position = max(position, end)
    pieces.append(text[position:])
    return "\n".join(filter(None, pieces))


def hidden_regions(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each text that tags hide; regions may overlap."""
    regions: list[tuple[int, int]] = []
    opened: list[Tag] = []
    open_count: dict[str, int] = defaultdict(int)
    # Position after the last closing tag, by name; under "" if no tag of its name was
    # open.
    closed_at: dict[str, int] = defaultdict(int)
    for tag in tags(text):
        if not tag.is_closing:
            opened.append(tag)
            open_count[tag.name] += 1
            continue
        is_open = open_count[tag.name] > 0
        closed_at[tag.name if is_open else ""] = tag.end
        if not opened:
            regions.append((0, tag.end))
        while is_open:
            # Tags opened inside are hidden, too.
            opening = opened.pop()
            open_count[opening.name] -= 1
            if opening.name == tag.name:
                regions.append((opening.start, tag.end))
                break
    final_object = start_of_final_object(text) if opened else 0
    for tag in opened:
        # Reasoning that mentions its tag has one more opening than closing tag.
        end = max(closed_at[tag.name], closed_at[""])
        if end <= tag.start:
            end = max(tag.end, final_object)
        regions.append((tag.start, end))
    return regions


def start_of_final_object(text: str) -> int:
    """Return the start of a final fence or tag with an object, or the length of the text."""
    # The row of backticks that ends the text closes the last fence, and the row before it opens it.
    before_closing_row = text.rstrip().rstrip("`")
    opening_row = before_closing_row.rfind("```")
    line_start = text.rfind("\n", 0, max(opening_row, 0)) + 1
    final = _FINAL_FENCE.search(text, line_start)
    if final is None:
        closing_tag = text.rfind("</")
        opening_tag = text.rfind("<", 0, max(closing_tag, 0))
        final = _FINAL_TAG.match(text, max(opening_tag, 0))
    return final.start() if final else len(text)


def tags(text: str) -> Iterator[Tag]:
    """Yield the tags that do not start inside another tag."""
    position = 0
    for begin in _BEGINS.finditer(text):
        match = _TAG.match(text, begin.start()) if begin.start() >= position else None
        if match is None:
            continue
        position = match.end()
        name = match["name"]
        if name is None:
            # Groups of pairs are called open3 and close3.
            group = match.lastgroup or ""
            yield Tag(group[-1], group.startswith("close"), *match.span())
        elif not match["rest"].endswith("/"):  # <think/> is empty
            edges = f"{match['edge']}{match['late']}".lower()
            is_closing = match["slash"] is not None or "end" in edges
            yield Tag(name.lower(), is_closing, *match.span())


def without_entities(text: str) -> str:
    """Return text with HTML entities as characters, if its quotes are entities."""
    if "&" in text and _ESCAPED_QUOTE.search(text):
        return answer_text.without_entities(text)
    return text


def with_plain_blanks(text: str) -> str:
    """Return text with plain spaces instead of special ones, and without invisible characters."""
    if text.isascii():
        return text
    return _SPECIAL_BLANK.sub(" ", _INVISIBLE.sub("", text))


def with_ascii_twins(text: str) -> str:
    """Return text with ASCII instead of full-width characters, the minus sign and other digits."""
    return text if text.isascii() else _TWIN_IN_ASCII.sub(ascii_twin, text)


def ascii_twin(character: re.Match[str]) -> str:
    """Return the equivalent ASCII character."""
    original = character.group()
    if original == "\u2212":
        return "-"
    if original.isdecimal():
        return str(int(original))
    return chr(ord(original) - _FULL_WIDTH)


def without_quote_signs(text: str) -> str:
    """Return text without the signs before quoted lines, if any line is quoted."""
    if ">" in text and _QUOTED_LINE.search(text):
        return _QUOTE_SIGNS.sub("", text)
    return text
