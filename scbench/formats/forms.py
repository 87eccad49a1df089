"""The formats of lines with requests, and the limits on their files."""

from enum import StrEnum
from typing import NamedTuple


class Form(StrEnum):
    """The formats of lines."""

    SCBENCH = "scbench"
    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    MISTRAL = "mistral"
    HARBOR = "harbor"


class Limits(NamedTuple):
    """A provider's limits for one file. A megabyte counts as a million bytes."""

    lines: int
    bytes: int
