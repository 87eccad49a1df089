"""A strict subset of YAML, read with the line of every part.

YAML is read as a stream of events, without tags, anchors or aliases, and only with
JSON's types. Dates, ``yes`` and ``0o17`` remain text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml
from pydantic import JsonValue

from scbench.base.errors import ScbenchError, printable

# Keys and indices from the root of a document to one of its parts.
Place = tuple[str | int, ...]

# Maximum nesting; submissions need less, and recursion can handle it.
_MOST_DEPTH = 12
_NUMBER = re.compile(
    r"""
    -?(0|[1-9]\d{0,17})        # a whole number of at most 18 digits, without leading zeros
    (?P<float>
        (\.\d{1,20})?          # decimals
        ([eE][+-]?\d{1,2})?    # exponent
    )
    """,
    re.ASCII | re.VERBOSE,
)
_WORDS: Mapping[str, JsonValue] = {
    "": None,
    "null": None,
    "~": None,
    "true": True,
    "false": False,
}


class DocumentError(ScbenchError):
    """A YAML file cannot be read at all.

    Attributes:
        line: number of the line, from 1.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def read_yaml(data: bytes) -> tuple[JsonValue, dict[Place, int]]:
    """Return the value in a YAML file, and the line of each of its parts.

    Raises:
        DocumentError: the file is not in this subset of YAML.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DocumentError("the file is not UTF-8 text", line) from None
    builder = ValueBuilder(yaml.parse(text, Loader=yaml.SafeLoader))
    try:
        return builder.read_document(), builder.lines
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise DocumentError("the file contains a control character", line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        message = printable(str(error.problem or error.context))
        raise DocumentError(f"not valid YAML: {message}", line) from None
    except DocumentError:
        raise
    except Exception as error:  # noqa: BLE001  (PyYAML raises others, such as for an escape above U+10FFFF)
        line = max(builder.lines.values(), default=1)
        message = printable(str(error)[:200])
        raise DocumentError(f"not valid YAML: {message}", line) from None


@dataclass(slots=True)
class ValueBuilder:
    """Builds a JSON value from YAML's events.

    Attributes:
        events: iterator of PyYAML's events, which have no type.
        lines: the line of each part so far, from 1; for an entry, the line of its key.
    """

    events: Any
    lines: dict[Place, int] = field(default_factory=dict)

    def read_document(self) -> JsonValue:
        """Return the value of the only document.

        Raises:
            DocumentError: there is no document, more than one, or one outside this
                subset.
        """
        next(self.events)  # the stream's start
        event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            raise DocumentError("the file is empty", 1)
        value = self.read_node(next(self.events), (), 0)
        next(self.events)  # the document's end
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            refuse(event, "the file contains a second document")
        return value

    def read_node(self, event: Any, place: Place, depth: int) -> JsonValue:  # noqa: ANN401
        """Return the value that starts with an event."""
        self.lines[place] = line_of(event)
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            refuse(event, "anchors and aliases (& and *) are not supported")
        if event.tag is not None:
            refuse(event, f"tags are not supported: {event.tag[:50]}")
        if depth > _MOST_DEPTH:
            refuse(event, f"nested deeper than {_MOST_DEPTH} levels")
        if isinstance(event, yaml.SequenceStartEvent):
            return self.read_sequence(place, depth)
        if isinstance(event, yaml.MappingStartEvent):
            return self.read_mapping(place, depth)
        # Words in quotes are text.
        is_plain = event.implicit[0]
        text = joined_text(event)
        return plain_value(text) if is_plain else text

    def read_sequence(self, place: Place, depth: int) -> JsonValue:
        """Return a list whose start has been read."""
        items: list[JsonValue] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.read_node(event, (*place, len(items)), depth + 1))
        return items

    def read_mapping(self, place: Place, depth: int) -> JsonValue:
        """Return a mapping whose start has been read."""
        mapping: dict[str, JsonValue] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                refuse(event, "a key must be plain text")
            if event.anchor is not None or event.tag is not None:
                refuse(event, "anchors (&) and tags (!) are not supported")
            key = joined_text(event)
            if key in mapping:
                refuse(event, f"duplicate key {key[:50]!r}")
            entry_place = (*place, key)
            mapping[key] = self.read_node(next(self.events), entry_place, depth + 1)
            self.lines[entry_place] = line_of(event)
        return mapping


def line_of(event: Any) -> int:  # noqa: ANN401
    """Return the line of an event, from 1."""
    return int(event.start_mark.line) + 1


def joined_text(event: Any) -> str:  # noqa: ANN401
    """Return the text of a word, with surrogate pairs joined into one character.

    Raises:
        DocumentError: a surrogate has no partner, so no file could store it.
    """
    text = str(event.value)
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        refuse(event, "half of a surrogate pair, such as \\ud800, is not a character")


def refuse(event: Any, message: str) -> NoReturn:  # noqa: ANN401
    """Raise an error at an event.

    Raises:
        DocumentError: always.
    """
    raise DocumentError(message, line_of(event))


def plain_value(text: str) -> JsonValue:
    """Return the value of an unquoted word."""
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return float(text) if number["float"] else int(text)
