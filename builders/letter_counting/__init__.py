"""Letter counting: how often some letters stand in the marked words of a row."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

from pydantic import Field, JsonValue, model_validator

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Case, Composed, Point, parameter, under
from scbench.builders.shared.text_task import ComposingBuilder, reply_short
from scbench.builders.shared.words import CaseMode, in_case, word_list
from scbench.schemas.letter_counting import Answer, Params

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_CLOSING = reply_short("a whole number", quoted=False)


class Space(Point):
    """Parameters of rows of words."""

    words: int = parameter(8, "number of words that count", "scale", ge=3, le=150)
    confounders: int = parameter(
        4, "number of words that do not count", "interference", ge=0, le=150
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
        ge=1, description="letters in the words that count, of all kinds"
    )


class TaskBuilder(ComposingBuilder[Params, Answer, Space]):
    """Rows of words. Each letter asked for stands in a word that counts, or none of them does."""

    task = "letter_counting"
    version = 3
    case_model = LetterCountingCase
    extremes = (
        {"words": 3, "confounders": 0, "letters": 3},
        {"words": 24, "confounders": 16, "letters": 3, "case_mode": "mixed"},
        {"words": 3, "confounders": 24, "case_mode": "upper"},
    )

    def prompt(self, params: Params) -> str:
        """Return the row, the letters, and what counts."""
        return _word_row(params.words, params.letters)

    def reference(self, params: Params) -> Answer:
        """Count word by word."""
        return Answer(answer=_letter_count(params, counting=True))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return counts that miss or add something, and answers that are not counts."""
        right = _letter_count(params, counting=True)
        marked = [word.lower() for word, counts in params.words if counts]
        wrong: dict[str, JsonValue] = {
            "one_more": right + 1,
            "one_less": right - 1,
            "with_the_other_words": right + _letter_count(params, counting=False),
            "only_the_other_words": _letter_count(params, counting=False),
            "words_that_hold_one": sum(
                any(x in word for x in params.letters) for word in marked
            ),
            "first_letter_only": sum(word.count(params.letters[0]) for word in marked),
            "as_written": sum(
                sum(map(word.count, params.letters))
                for word, counts in params.words
                if counts
            ),
            "characters": sum(map(len, marked)),
        }
        return under(
            "answer",
            {name: value for name, value in wrong.items() if value != right}
            | {"two_numbers": f"{right} {right + 1}", "listed": [right]}
            | {"in_letters": params.letters},
        )

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return how many letters have to be looked at."""
        return {"characters": sum(len(word) for word, counts in params.words if counts)}

    def measure(self, params: Params) -> float:
        """Return the number of letters, those of words that count once for each that is counted."""
        sizes = [
            len(word) * (len(params.letters) if counts else 1)
            for word, counts in params.words
        ]
        return sum(sizes)

    def blind_floor(self, params: Params) -> float:
        """Return what the best constant earns for so many words that count and so many letters.

        Of more than 60 words it is taken to earn as much as of 60, which is hardly anything.
        """
        words = min(60, sum(counts for _, counts in params.words))
        return self.constant_floor(
            words=words, confounders=0, letters=len(params.letters)
        )

    def compose(self, point: Space, rng: Stream) -> Composed:
        """Draw words, then letters: as a rule all occur in what counts, and sometimes none does."""
        words = rng.sample(word_list(), point.words + point.confounders)
        if point.case_mode != "lower":
            words = [in_case(word, point.case_mode, rng) for word in words]
        row: list[Any] = [[word, True] for word in words[: point.words]]
        for size, word in enumerate(words[point.words :], point.words + 1):
            row.insert(rng.below(size), [word, False])
        counted = "".join(words[: point.words]).lower()
        # In one row of ten, if there are such letters, none of them occurs: 0 is an answer, too.
        absent = [letter for letter in _ALPHABET if letter not in counted]
        pool = (
            absent
            if rng.below(10) == 0 and len(absent) >= point.letters
            else sorted({*counted})
        )
        letters = "".join(sorted(rng.sample(pool, point.letters)))
        return (
            {"words": row, "letters": letters},
            _word_row(row, letters),
            str(sum(map(counted.count, letters))),
            {"characters": len(counted)},
        )


def _word_row(words: Iterable[tuple[str, bool]], letters: str) -> str:
    row = " ".join([f"[{word}]" if counts else word for word, counts in words])
    if len(letters) == 1:
        what, add = f'the letter "{letters}" occurs', ""
    else:
        quoted = [f'"{letter}"' for letter in letters]
        what = f"the letters {', '.join(quoted[:-1])} and {quoted[-1]} occur"
        add = " Add up the counts of the letters."
    return f"""\
Here is a row of words. Some of them stand in square brackets.

{row}

Count how often {what} in the words in square brackets. Every occurrence counts, also more than one
in the same word, and small letters and capitals are the same letter. Words without brackets do not
count.{add}

{_CLOSING}"""


def _letter_count(params: Params, *, counting: bool) -> int:
    text = "".join(
        [word for word, counts in params.words if counts is counting]
    ).lower()
    return sum(map(text.count, params.letters))
