"""Letter counting: how often some letters occur in the marked words of a row.

An example of the puzzle, with the answer 4:

    Count how often the letters "b", "l" and "n" occur in total in the words in square brackets:

    [banana] cat tree [Alps] cellar
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Self

from pydantic import Field, JsonValue, model_validator

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Case,
    Composed,
    Point,
    parameter,
    under,
    without_right,
)
from scbench.builders.shared.text_task import ComposingBuilder, reply_short
from scbench.builders.shared.words import CaseMode, in_case, word_list
from scbench.schemas.letter_counting import Answer, Params

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_CLOSING = reply_short("a whole number", quoted=False)
# With more words, the best constant answer scores close to 0.
_FLOOR_WORDS = 60


class Space(Point):
    """Parameters of rows of words."""

    words: int = parameter(8, "number of words in brackets", "scale", ge=3, le=150)
    confounders: int = parameter(
        4, "number of words without brackets", "interference", ge=0, le=150
    )
    letters: int = parameter(
        1, "number of different letters to count", "semantic", ge=1, le=3
    )
    case_mode: CaseMode = parameter("lower", "how words are written", "interference")

    @model_validator(mode="after")
    def _fits_one_row(self) -> Self:
        self._not_above(200, "words", "confounders")
        return self


class LetterCountingCase(Case):
    """A case of letter counting."""

    characters: int = Field(
        ge=1, description="number of characters in the words in brackets"
    )


class TaskBuilder(ComposingBuilder[Params, Answer, Space]):
    """Rows of words. Either every requested letter occurs in marked words, or none of them does."""

    task = "letter_counting"
    version = 4
    draws = 3
    case_model = LetterCountingCase
    extremes = (
        {"words": 3, "confounders": 0, "letters": 3},
        {"words": 24, "confounders": 16, "letters": 3, "case_mode": "mixed"},
        {"words": 3, "confounders": 24, "case_mode": "upper"},
    )

    def prompt(self, params: Params) -> str:
        """Return the row, the letters, and the rules of counting."""
        return prompt_text(params.words, params.letters)

    def reference(self, params: Params) -> Answer:
        """Count the letters in all marked words together."""
        return Answer(answer=letter_count(marked_text(params.words), params.letters))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return counts that are too low or too high, and answers that are not counts."""
        letters = params.letters
        marked_words: list[str] = []
        plain_words: list[str] = []
        for word, is_marked in params.words:
            words = marked_words if is_marked else plain_words
            words.append(word)
        text = marked_text(params.words)
        right = letter_count(text, letters)
        in_plain_words = letter_count("".join(plain_words).lower(), letters)
        # Words with any of the letters, each counted once.
        with_a_letter = [word for word in marked_words if {*letters} & {*word.lower()}]
        counts = {
            "one_more": right + 1,
            "one_less": right - 1,
            "with_the_other_words": right + in_plain_words,
            "only_the_other_words": in_plain_words,
            "words_that_contain_one": len(with_a_letter),
            "first_letter_only": text.count(letters[0]),
            "as_written": letter_count("".join(marked_words), letters),
            "characters": len(text),
        }
        wrong = without_right(counts, right)
        wrong["two_numbers"] = f"{right} {right + 1}"
        wrong["listed"] = [right]
        wrong["in_letters"] = letters
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the number of characters in marked words."""
        return {"characters": len(marked_text(params.words))}

    def measure(self, params: Params) -> float:
        """Return the number of characters; in marked words, they count once for each letter."""
        characters = 0
        for word, is_marked in params.words:
            looks = len(params.letters) if is_marked else 1
            characters += len(word) * looks
        return characters

    def blind_floor(self, params: Params) -> float:
        """Return the score of the better of two fixed answers, by marked words and letters.

        One is a constant; the other is the expected count for words of these lengths.
        """
        words = min(_FLOOR_WORDS, sum(is_marked for _, is_marked in params.words))
        letters = len(params.letters)
        constant = self.constant_floor(words=words, confounders=0, letters=letters)
        expected = self.rule_floor(
            expected_count, words=words, confounders=0, letters=letters
        )
        return max(constant, expected)

    def compose(self, point: Space, rng: Stream) -> Composed:
        """Draw words, then letters that all occur in marked words, or sometimes none."""
        words = rng.sample(word_list(), point.words + point.confounders)
        if point.case_mode != "lower":
            words = [in_case(word, point.case_mode, rng) for word in words]
        row: list[Any] = [[word, True] for word in words[: point.words]]
        # A plain word can go before, between or after the words of the row so far.
        for word in words[point.words :]:
            row.insert(rng.below(len(row) + 1), [word, False])
        text = "".join(words[: point.words]).lower()
        # In one row in ten, none of the letters occurs, so that 0 can also be the answer.
        pool = [letter for letter in _ALPHABET if letter not in text]
        if rng.below(10) != 0 or len(pool) < point.letters:
            pool = sorted({*text})
        letters = "".join(sorted(rng.sample(pool, point.letters)))
        return (
            {"words": row, "letters": letters},
            prompt_text(row, letters),
            str(letter_count(text, letters)),
            {"characters": len(text)},
        )


def prompt_text(words: Sequence[tuple[str, bool]], letters: str) -> str:
    """Return the prompt for a row of words, marked or not, and for letters."""
    row = " ".join([f"[{word}]" if is_marked else word for word, is_marked in words])
    target = f'the letter "{letters}" occurs'
    if len(letters) > 1:
        quoted = [f'"{letter}"' for letter in letters]
        target = f"the letters {', '.join(quoted[:-1])} and {quoted[-1]} occur in total"
    rules = ["Count every occurrence, including several in the same word."]
    if not row.islower():
        rules.append("Case is ignored.")
    if not all(is_marked for _, is_marked in words):
        rules.append("Ignore words without brackets.")
    rules_text = "\n".join(rules)
    return f"""\
Count how often {target} in the words in square brackets:

{row}

{rules_text}

{_CLOSING}"""


def marked_text(words: Iterable[tuple[str, bool]]) -> str:
    """Return the marked words of a row in lowercase, without spaces."""
    return "".join([word for word, is_marked in words if is_marked]).lower()


def expected_count(params: Params) -> str:
    """Return the expected count, from the frequency of the letters in the word list."""
    frequencies = letter_frequencies()
    share = sum(frequencies[letter] for letter in params.letters)
    return str(round(share * len(marked_text(params.words))))


@cache
def letter_frequencies() -> dict[str, float]:
    """Return the share of each letter in the letters of all words of the list."""
    text = "".join(word_list())
    return {letter: text.count(letter) / len(text) for letter in _ALPHABET}


def letter_count(text: str, letters: str) -> int:
    """Count the occurrences of some letters in a text; case matters."""
    return sum(map(text.count, letters))
