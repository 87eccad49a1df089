"""Which part of a reply is said to the reader, and which is reasoning that stays hidden."""

import re

_NAMES = "think|thinking|reasoning|analysis|scratchpad"
_TAG = re.compile(
    rf"(?:<|&lt;)\|?(?P<closing>/?)\|?(?:{_NAMES})\b(?P<rest>[^<>&\n]{{0,200}})(?:>|&gt;)"
    r"|\[(?P<ends>/?)THINK\]|\u25c1(?P<stops>/?)think\u25b7",
    re.IGNORECASE,
)
_OF_TAGS = ("<", "&lt;", "&LT;", "&Lt;", "&lT;", "\u25c1")
_IN_BRACKETS = re.compile(r"\[/?(?i:think)\]")
_CHANNEL = re.compile(
    r"<\|channel\|>\s{0,5}(\w+)[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>"
)
_CHANNEL_ENDS = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_PLAIN_CHANNEL = re.compile(r"analysis(?=[A-Z{])")
_PLAIN_FINAL = "assistantfinal"


def visible(reply: str) -> str:
    """Return a reply without its hidden reasoning.

    Hidden is all up to the last closing tag of think, thinking, reasoning, analysis or scratchpad,
    and all after such a tag that is opened and never closed. Of a reply in channels only the last
    ``final`` one is visible, also where the marks between them were taken out ("analysis...
    assistantfinal...").
    """
    return _outside_tags(_final_channel(reply))


def _final_channel(reply: str) -> str:
    if _PLAIN_CHANNEL.match(reply):
        return reply.rpartition(_PLAIN_FINAL)[2] if _PLAIN_FINAL in reply else ""
    if "<|channel|>" not in reply:
        return reply
    content = ""
    for channel in _CHANNEL.finditer(reply):
        if channel[1] == "final":
            end = _CHANNEL_ENDS.search(reply, channel.end())
            content = reply[channel.end() : end.start() if end else None]
    return content


def _outside_tags(text: str) -> str:
    if not any(sign in text for sign in _OF_TAGS) and not _IN_BRACKETS.search(text):
        return text  # most have none; to look for all forms takes ten times as long
    shown_from, opened_at = 0, None
    for tag in _TAG.finditer(text):
        if tag["closing"] or tag["ends"] or tag["stops"]:
            shown_from, opened_at = tag.end(), None
        elif opened_at is None and not (tag["rest"] or "").endswith("/"):
            opened_at = tag.start()
    return text[shown_from:opened_at]
