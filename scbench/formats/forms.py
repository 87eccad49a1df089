"""The forms of lines with requests, and the limits of their files."""

from enum import StrEnum
from typing import NamedTuple


class Form(StrEnum):
    """The forms of lines."""

    SCBENCH = "scbench"
    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    MISTRAL = "mistral"
    HARBOR = "harbor"


class Limits(NamedTuple):
    """A provider's limits of one file. Megabytes are counted as a million bytes each."""

    lines: int
    bytes: int
