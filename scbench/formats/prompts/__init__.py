"""Prompts out: the instances of a release as requests that evaluation tools and providers take."""

from enum import StrEnum


class Form(StrEnum):
    """Whose lines are written."""

    SCBENCH = "scbench"
    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
