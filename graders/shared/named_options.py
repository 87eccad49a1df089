"""Reading which of several options an answer names: by its label, its text, or both."""

import re
from collections.abc import Sequence
from itertools import islice

from scbench.graders.shared.short_answers import HEDGES, REASON, Value, first_read, tidy

_LABEL_FIRST = re.compile(
    r"(?:(?:option|choice|letter)\s)?[(\[]?(\w{1,5})[)\]]?\s?[).:,\u2013\u2014-]?(?:\s(.*))?",
    re.IGNORECASE | re.DOTALL,
)
_LABEL_LAST = re.compile(r"(.*\S)\s?[(\[](\w{1,5})[)\]]", re.DOTALL)
_LABELLED = re.compile(
    r"(?:\b(?:option|choice|letter)\s+[(\[]?|[(\[])(\w)[)\]]?(?!\w)|(?<!\w)(\w)\)", re.IGNORECASE
)
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)
_COMMENT = 3
"""Fewest words beside a label that are taken for a comment, not for another option."""
_CUT = re.compile(r"[:;(]|\s[\u2013\u2014-]\s|,\s(?=because|since|as\b)")
_MOST_CUTS = 20


def option(
    value: Value, options: Sequence[str], labels: Sequence[str] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
) -> int | None:
    """Return the position of an option that is named by its label, its text, or both.

    ``B``, ``(b)``, ``B.``, ``Option B``, ``B) Paris``, ``Paris (B)``, ``B, because ...`` and
    ``paris`` are all the second option if that is Paris; ``B) Rome`` is no option. Hyphens and
    underscores are blanks; an article before it, a plural, what the prompt prints behind a colon
    and words that all options have make no difference. A sentence names an option if it names no
    other and nothing in it takes that back.

    Args:
        value: the answer.
        options: texts of the options.
        labels: the label of each in the prompt; at least as many.
    """
    names = _Options(options, labels)
    return first_read(names.place_of, value)


class _Options:
    """Options with their labels, as answers name them."""

    def __init__(self, options: Sequence[str], labels: Sequence[str]) -> None:
        self._texts = [_folded(text) for text in options]
        self._labels = {label.casefold(): i for i, label in enumerate(labels[: len(options)])}
        words = [text.split() for text in self._texts]
        common = set.intersection(*map(set, words)) if len(words) > 1 else set()
        short = [" ".join(word for word in text if word not in common) for text in words]
        self._short = ["" if len(text) == 1 and text.isalpha() else text for text in short]

    def place_of(self, text: str) -> int | None:
        """Return the place of the option that a text names; None if it names none or several."""
        place = self._by_text(text)
        if place is None:
            place = self._by_label(text)
        if place is None and not HEDGES.search(text):
            place = self._mentioned(text)
        return place

    def _by_text(self, text: str) -> int | None:
        for name in (_folded(text), _folded(_ARTICLE.sub("", text, count=1))):
            for texts in (self._texts, self._short, [_plural(text) for text in self._texts]):
                if name and texts.count(name) == 1:
                    return texts.index(name)
        return None

    def _by_label(self, text: str) -> int | None:
        readings: list[tuple[str, str]] = []
        if first := _LABEL_FIRST.fullmatch(text):
            readings.append((first[1], first[2] or ""))
        if last := _LABEL_LAST.fullmatch(text):
            readings.append((last[2], last[1]))
        for label, comment in readings:
            place = self._labels.get(label.casefold())
            if place is not None and self._fits(place, comment):
                return place
        return None

    def _fits(self, place: int, beside: str) -> bool:
        """Whether words beside a label are of the option that it stands for."""
        beside = tidy(beside)
        inside = tidy(beside[1:-1]) if beside[:1] + beside[-1:] in {"()", "[]"} else beside
        if not inside or REASON.match(inside) or self._by_text(inside) == place:
            return True
        if self._explained(inside) == place:
            return True
        is_comment = len(inside.split()) >= _COMMENT and not HEDGES.search(inside)
        return is_comment and not self._places_in(inside)

    def _explained(self, text: str) -> int | None:
        """Return the option whose text is followed by a colon or bracket and more about it."""
        if self._labels_in(text):
            return None
        for cut in islice(_CUT.finditer(text), _MOST_CUTS):
            place = self._by_text(text[: cut.start()].strip())
            if place is not None:
                return place
        return None

    def _labels_in(self, text: str) -> set[int]:
        places = {self._labels.get((a or b).casefold()) for a, b in _LABELLED.findall(text)}
        return {place for place in places if place is not None}

    def _mentioned(self, text: str) -> int | None:
        explained = self._explained(text)
        if explained is not None:
            return explained
        places = self._places_in(text)
        return places.pop() if len(places) == 1 else None

    def _places_in(self, text: str) -> set[int]:
        """Return the options whose label or text occurs in a sentence."""
        places = self._labels_in(text)
        folded = f" {_words(text)} "
        by_length = sorted(range(len(self._texts)), key=lambda place: -len(self._texts[place]))
        for place in by_length:
            name = _words(self._texts[place])
            if name and f" {name} " in folded:
                folded = folded.replace(f" {name} ", " . ")
                places |= {i for i, text in enumerate(self._texts) if _words(text) == name}
        return places


def _folded(text: str) -> str:
    return " ".join(re.sub(r"[-_\u2010\u2011]", " ", text).casefold().split()).rstrip(".,;:")


def _words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _plural(text: str) -> str:
    return text + ("es" if text.endswith(("s", "x", "ch", "sh")) else "s")
