"""Matching of an answer to an option of the prompt: by label, by text, or in a sentence."""

import re
from collections.abc import Sequence
from itertools import islice

from scbench.graders.shared.answer_text import HEDGES, REASON, Value, first_read, tidy

# A label with its marks, and possibly more: "Option B", "(b)", "B) Paris".
_LABEL_FIRST = re.compile(
    r"""
    (?:(?:option|choice|letter|(?:the\s)?event)\s)?
    [(\[]?(\w{1,5})[)\]]?\s?[).:,\u2013\u2014-]?
    (?:\s(.*))?
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
# An answer whose first A or I may be an ordinary word, as in "A Star Is Born". "A because ..." and
# "I is ..." begin with a label.
_WORD_FIRST = re.compile(r"(?:A|I)\s(?!is\b|because\b|since\b|as\b)\w")
_LABEL_LAST = re.compile(r"(.*\S)\s?[(\[](\w{1,5})[)\]]", re.DOTALL)
# A label inside a sentence: after "option", in brackets, or before a bracket.
_LABELLED = re.compile(
    r"""
    (?:\b(?:option|choice|letter|event)\s+[(\[]? | [(\[]) (\w) [)\]]?(?!\w)
    | (?<!\w)(\w)\)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)
# Text next to a label is a comment if it has at least this many words; shorter text may be another
# option.
_COMMENT_WORDS = 3
# Marks after which an explanation may start.
_CUT = re.compile(r"[:;(]|\s[\u2013\u2014-]\s|,\s(?=because|since|as\b)")
_MAX_CUTS = 20


def option(
    value: Value,
    options: Sequence[str],
    labels: Sequence[str] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
) -> int | None:
    """Return the position of an option that is named by its label, its text, or both.

    ``B``, ``(b)``, ``B.``, ``Option B``, ``B) Paris``, ``Paris (B)``, ``B, because ...`` and
    ``paris`` are all the second option if that is Paris; ``B) Rome`` is not an option. Hyphens and
    underscores count as spaces. An article before the option, a plural, an explanation after it,
    and words that all options have in common are ignored. A sentence names the option that it
    begins with and explains, or else the only option that it mentions, unless it hedges.

    Args:
        value: the answer.
        options: texts of the options.
        labels: labels of the first options in the prompt; the other options have no label.
    """
    names = OptionNames(options, labels)
    return first_read(names.place_of, value)


class OptionNames:
    """Options with their labels, in the form used by answers."""

    def __init__(self, options: Sequence[str], labels: Sequence[str]) -> None:
        self._texts = [fold_text(text) for text in options]
        self._plurals = [plural(text) for text in self._texts]
        self._short = without_common_words(self._texts)
        self._labels: dict[str, int] = {}
        for place, label in enumerate(labels[: len(options)]):
            self._labels[label.casefold()] = place

    def place_of(self, text: str) -> int | None:
        """Return the position of the option that a text names; None if it names none or several."""
        place = self.place_by_text(text)
        if place is None:
            place = self.place_by_label(text)
        if place is None and not HEDGES.search(text):
            place = self.place_in_sentence(text)
        return place

    def place_by_text(self, text: str) -> int | None:
        """Return the option that has this text, with or without an article."""
        for name in (fold_text(text), fold_text(_ARTICLE.sub("", text, count=1))):
            for texts in (self._texts, self._short, self._plurals):
                if name and texts.count(name) == 1:
                    return texts.index(name)
        return None

    def place_by_label(self, text: str) -> int | None:
        """Return the option whose label begins or ends a text, if the other words allow it."""
        first = _LABEL_FIRST.fullmatch(text)
        if first:
            may_be_word = _WORD_FIRST.match(text) is not None
            place = self.place_of_label(
                first[1], first[2] or "", may_be_word=may_be_word
            )
            if place is not None:
                return place
        last = _LABEL_LAST.fullmatch(text)
        if last:
            return self.place_of_label(last[2], last[1], may_be_word=False)
        return None

    def place_of_label(
        self, label: str, comment: str, *, may_be_word: bool
    ) -> int | None:
        """Return the option with a label, if the words next to the label allow it.

        A label that may be an ordinary word must stand next to the text of its option.
        """
        place = self._labels.get(label.casefold())
        if place is None or self.is_named(place, comment):
            return place
        if may_be_word or not self.comment_fits(comment):
            return None
        return place

    def is_named(self, place: int, comment: str) -> bool:
        """Return whether the words next to an option's label are its text, perhaps explained."""
        words = without_brackets(comment)
        return place == self.place_by_text(words) or place == self.place_explained(
            words
        )

    def comment_fits(self, comment: str) -> bool:
        """Return whether the words next to a label are a reason, or a comment without options."""
        words = without_brackets(comment)
        if not words or REASON.match(words):
            return True
        if len(words.split()) < _COMMENT_WORDS or HEDGES.search(words):
            return False
        if self.is_list_of_labels(words):
            return False
        return not self.places_in(words)

    def is_list_of_labels(self, text: str) -> bool:
        """Return whether a text consists of labels, such as "B, C and D"; "or" is a hedge."""
        return all(
            word in self._labels or word == "and" for word in word_run(text).split()
        )

    def place_explained(self, text: str) -> int | None:
        """Return the option before the mark that starts an explanation.

        None if the text also names an option by its label.
        """
        if self.labelled_places(text):
            return None
        for cut in islice(_CUT.finditer(text), _MAX_CUTS):
            place = self.place_by_text(text[: cut.start()].strip())
            if place is not None:
                return place
        return None

    def place_in_sentence(self, text: str) -> int | None:
        """Return the option that a sentence explains, or the only option that it mentions."""
        explained = self.place_explained(text)
        if explained is not None:
            return explained
        places = self.places_in(text)
        return places.pop() if len(places) == 1 else None

    def labelled_places(self, text: str) -> set[int]:
        """Return the options that a sentence names by label."""
        places = set()
        for after_mark, before_bracket in _LABELLED.findall(text):
            label = (after_mark or before_bracket).casefold()
            if label in self._labels:
                places.add(self._labels[label])
        return places

    def places_in(self, text: str) -> set[int]:
        """Return the options that a sentence names by label or text."""
        places = self.labelled_places(text)
        sentence = f" {word_run(text)} "
        names = [word_run(option) for option in self._texts]
        # Longer texts first: "dark red" does not mention "red".
        by_length = sorted(
            range(len(names)), key=lambda place: -len(self._texts[place])
        )
        for place in by_length:
            name = names[place]
            if name and f" {name} " in sentence:
                sentence = sentence.replace(f" {name} ", " . ")
                places |= {i for i, twin in enumerate(names) if twin == name}
        return places


def without_brackets(comment: str) -> str:
    """Return a comment without blanks, marks and brackets around it."""
    words = tidy(comment)
    if words[:1] + words[-1:] in {"()", "[]"}:
        words = tidy(words[1:-1])
    return words


def fold_text(text: str) -> str:
    """Return text in lowercase, with spaces for hyphens and underscores, without a final mark."""
    blanks = re.sub(r"[-_\u2010\u2011]", " ", text)
    return " ".join(blanks.casefold().split()).rstrip(".,;:")


def word_run(text: str) -> str:
    """Return the words of a text in lowercase, separated by single spaces."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def plural(text: str) -> str:
    """Return the regular plural of a text."""
    ending = "es" if text.endswith(("s", "x", "ch", "sh")) else "s"
    return text + ending


def without_common_words(texts: Sequence[str]) -> list[str]:
    """Return texts without their common words; empty if a single letter remains."""
    words = [text.split() for text in texts]
    common: set[str] = set()
    if len(words) > 1:
        common = set.intersection(*map(set, words))
    short_texts = []
    for text_words in words:
        short = " ".join(word for word in text_words if word not in common)
        is_letter = len(short) == 1 and short.isalpha()
        short_texts.append("" if is_letter else short)
    return short_texts
