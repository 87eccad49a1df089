"""Reading short answers: numbers, truth values, options, dates, lists and strings.

Each function takes the value under an answer's key ``answer`` and returns what it says, or None if
it cannot be read as what is asked for. An answer that says two things says nothing. Nothing longer
than `MOST` is looked at, and every step is linear in that.
"""

import html
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
# Longest string, in characters, and longest list, in entries, that is read.
MAX_LENGTH = 10_000
# What the types of `scbench.schemas.base` let through.
Value = bool | int | float | str | Sequence[int | str]
_LAYERS = 10
_MAX_DIGITS = 1_000
_MAX_QUOTED = 60
_PAIRS = (
    *(('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»")),
    *(("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")),
    *(
        (f"\\{name}{{", "}")
        for name in ("boxed", "text", "textbf", "mathrm", "mathbf", "texttt")
    ),
)
_MINUS = str.maketrans(dict.fromkeys("\u2012\u2013\u2212\ufe63\uff0d", "-"))
# Whole part, with or without something between groups of three digits; decimals;
# exponent.
_DECIMAL = re.compile(
    r"(\d{1,3}(?:[,\u00a0\u2009\u202f '\u2019]\d{3})+|\d+)?(?:\.(\d*))?(?:[eE]([-+]?\d{1,3}))?",
    re.ASCII,
)
_NUMERAL = re.compile(
    r"(?<![\w.,/+-])(?:(?<!\d[ ])-)?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:/\d+)?(?![\w/%]|[.,]\d)",
    re.ASCII,
)
_IN_BRACKETS = re.compile(r"([-+]?)\s*\(([^()]*)\)")
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}")
HEDGES = re.compile(
    r"\b(?:or|either|neither|nor|maybe|perhaps|possibly|probably|unsure|unless|not|versus|vs)\b"
    r"|n['\u2019]t\b|\?",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:about|around|approximately|approx|roughly|nearly|almost|between|least|most|more|less|"
    r"fewer|over|under|dozen|half)\b|\w\(|[*+^\u00d7\u00f7]|[\d)]\s*-\s*[\d(]|[~\u2248\u2264\u2265\u00b1<>%]",
    re.IGNORECASE,
)
_ANSWER_IS = re.compile(
    r"\A(?:so,?\s)?(?:(?:the|my|correct|right|final)\s){0,3}"
    r"answer(?:\s(?:is|would be)\b|\s?[:=]):?\s*",
    re.IGNORECASE,
)
_SECOND_THOUGHT = re.compile(
    r"\W*(?:or|but|maybe|perhaps|alternatively|actually|no|wait|hmm|instead|however|unless|not)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(.*?[^\s.])[.!](?:[*_`\"']{0,3}\s+)(?=\S)(.+)", re.DOTALL)
# A full stop behind these ends no sentence.
_ABBREVIATED = re.compile(
    r"(?:\b(?:mrs?|ms|dr|st|vs|jr|sr)|\b\w\.\w|[).:\]]\s\w)\Z", re.IGNORECASE
)
_BETWEEN = re.compile(r"->|[,;|\n>\u2192\u3001]|\s&\s")
_BULLET = re.compile(r"(?:[-*\u2022]|\d{1,3}[.)])\s")
# Closing brackets that stand by themselves, in quotes or at the end.
_CLOSING = re.compile(
    r"(?:^|(?<=[\s\"'`:]))[)\]}>](?:[\s,;'\"`\\]*[)\]}>])*(?=[\"'`]|[.!,;\s]*\Z)"
)
_LIST_INTRODUCTION = re.compile(
    r".{0,200}\b(?:words?|numbers?|terms?|events?|letters?|order|list|options?|sequence)\b"
    r"[^,;|\n\[\]:]{0,60}\b(?:is|are)\b:?\s+",
    re.IGNORECASE,
)
_AFTERTHOUGHT = re.compile(
    r"\s(?:\((?:since|because|as|in|by|which|that)\b[^()]*\)|(?:because|since)\s.*|[\u2013\u2014-]\s+\w+(?:\s+[\w']+){2,}.*)\Z",
    re.IGNORECASE,
)
_LEAD = re.compile(r"[^:,;|\n\[\]\"]*")
_VERDICT = re.compile(r"(true|false|yes|no)\b(?=\W|$)", re.IGNORECASE)
REASON = re.compile(
    r"[(,;:\u2013\u2014-]?\s*(?:because|since|as|for|i\.e\.|which)\b", re.IGNORECASE
)

# Words for a truth value, in small letters.
TRUTHS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}

_SMALL = (
    *(
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
    ),
    *(
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
    ),
    "nineteen",
)
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
WORDS: Mapping[str, int] = {
    **{word: value for value, word in enumerate(_SMALL)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
}
_WORD = re.compile(r"[^\W\d_]+")
_RUN = re.compile(
    r"(?<!\bthis )(?<!\bthat )(?<!\bthe )(?<!\bonly )\b(?P<minus>(?:minus|negative)\s+)?"
    rf"(?P<words>(?:an?\s+(?=hundred|thousand|million))?"
    rf"(?:{'|'.join(WORDS)})\b(?:(?:\s+and)?[\s-]+(?:{'|'.join(WORDS)})\b)*)",
    re.IGNORECASE,
)


_LABEL_FIRST = re.compile(
    r"(?:(?:option|choice|letter)\s)?[(\[]?(\w{1,5})[)\]]?\s?[).:,\u2013\u2014-]?(?:\s(.*))?",
    re.IGNORECASE | re.DOTALL,
)
# An article or a pronoun, where a label would have a mark behind it or a text of the
# prompt.
_WORD_FIRST = re.compile(r"(?:A|I)\s(?!is\b|because\b|since\b|as\b)[a-z]")
_LABEL_LAST = re.compile(r"(.*\S)\s?[(\[](\w{1,5})[)\]]", re.DOTALL)
_LABELLED = re.compile(
    r"(?:\b(?:option|choice|letter)\s+[(\[]?|[(\[])(\w)[)\]]?(?!\w)|(?<!\w)(\w)\)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)
# Fewest words beside a label that are taken for a comment, not for another option.
_COMMENT = 3
_CUT = re.compile(r"[:;(]|\s[\u2013\u2014-]\s|,\s(?=because|since|as\b)")
_MOST_CUTS = 20


def spoken_numbers(text: str) -> Iterator[int | None]:
    """Yield the whole numbers that a text holds as words; None for words that make no number."""
    for run in _RUN.finditer(text):
        value = _number_of_words(
            [word.casefold() for word in _WORD.findall(run["words"])]
        )
        yield -value if value is not None and run["minus"] else value


def spoken_number(text: str) -> int | None:
    """Return the whole number that all of a text is; None if it is none."""
    run = _RUN.fullmatch(text)
    return next(spoken_numbers(text)) if run else None


def _number_of_words(words: list[str]) -> int | None:
    total, part, smallest = 0, 0, 10**9
    for word in words:
        if word == "and":
            continue
        number = 1 if word in {"a", "an"} else WORDS[word]
        if number >= 1_000:
            if not 0 < part < 1_000 or number >= smallest:
                return None
            total, part, smallest = total + part * number, 0, number
        elif number == 100:
            if not 0 < part < 10:
                return None
            part *= 100
        elif not _follows(part, number) or (number == 0 and len(words) > 1):
            return None
        else:
            part += number
    return total + part


def _follows(part: int, number: int) -> bool:
    """Whether a number below 100 can be added in words: five to twenty, but not to fifteen."""
    below = part % 100
    return below == 0 or (below >= 20 and below % 10 == 0 and number < 10)


def tidy(text: str) -> str:
    """Return text without what merely surrounds it: blanks, quotes, emphasis, LaTeX, a full stop.

    Up to ten layers of it are taken off.
    """
    for _ in range(_LAYERS):
        before = text
        text = text.strip(" \t\r\n*_`").removesuffix(".")
        for opening, closing in _PAIRS:
            if (
                text.startswith(opening)
                and text.endswith(closing)
                and len(text) > len(opening)
            ):
                inside = text[len(opening) : -len(closing)]
                if _is_whole(inside, opening, closing):
                    text = inside
        if text == before:
            break
    return text


def readings(value: Value) -> Iterator[str]:
    """Yield the tidy text of a word or number: all of it, then its first sentence."""
    text = _plain_text(value)
    if text is not None:
        text = tidy(_ANSWER_IS.sub("", text, count=1))
        yield text
        sentences = _SENTENCE.fullmatch(text[:MAX_LENGTH])
        ends = sentences and not _ABBREVIATED.search(sentences[1])
        if sentences and ends and not _SECOND_THOUGHT.match(sentences[2]):
            yield tidy(sentences[1])


def first_read(read: Callable[[str], T | None], value: Value) -> T | None:
    """Return what is read of a value: of all of it, else of its first sentence."""
    return next(
        (result for text in readings(value) if (result := read(text)) is not None), None
    )


def _is_whole(inside: str, opening: str, closing: str) -> bool:
    """Whether the marks before and after a text belong together."""
    if closing != "}":
        return opening not in inside and closing not in inside
    depth = 0
    for character in inside:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def _plain_text(value: Value) -> str | None:
    """Return a word or whole number as tidy text."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    if isinstance(value, int):
        return str(value) if value.bit_length() < _MAX_DIGITS else None
    return tidy(value) if len(value) <= MAX_LENGTH else None


def number(value: Value) -> Fraction | None:
    """Return a number exactly: whole, decimal, or a fraction such as ``-2/3``.

    Signs of all kinds, groups of three digits, LaTeX fractions and brackets round the whole are
    understood; of an equation, the right side counts.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(repr(value)) if math.isfinite(value) else None
    return first_read(_read_number, value)


def _read_number(text: str) -> Fraction | None:
    text = _LATEX_FRACTION.sub(
        r"\1/\2", text.rpartition("=")[2].strip().translate(_MINUS)
    )
    bracketed = _IN_BRACKETS.fullmatch(text)
    outside, inside = bracketed.groups() if bracketed else ("", text)
    value = _read_fraction(inside)
    if value is not None:
        return -value if outside == "-" else value
    vague = HEDGES.search(text) or _VAGUE.search(text)
    return None if vague else _only_number(text)


def _read_fraction(text: str) -> Fraction | None:
    top, _, bottom = text.partition("/")
    above, below = (
        _read_decimal(top),
        _read_decimal(bottom) if bottom else Fraction("/" not in text),
    )
    return None if above is None or not below else above / below


def _only_number(text: str) -> Fraction | None:
    """Return the one number in a phrase such as "19 pears" or "nineteen (19)"."""
    numerals = _NUMERAL.findall(text)
    if sum(map(str.isdecimal, _NUMERAL.sub("", text))):
        return None
    values: set[Fraction | None] = {_read_fraction(numeral) for numeral in numerals}
    values |= {None if n is None else Fraction(n) for n in spoken_numbers(text)}
    return values.pop() if len(values) == 1 else None


def _read_decimal(text: str) -> Fraction | None:
    text = text.strip()
    sign, digits = (
        (text[0], text[1:].lstrip()) if text[:1] in {"+", "-"} else ("", text)
    )
    if len(digits) > _MAX_DIGITS:
        return None
    match = _DECIMAL.fullmatch(digits)
    if match is None or not (match[1] or match[2]):
        return None
    integer_part = re.sub(r"\D", "", match[1] or "0")
    value = Fraction(f"{integer_part}.{match[2] or 0}e{match[3] or 0}")
    return -value if sign == "-" else value


def integer(value: Value) -> int | None:
    """Return a whole number, in any form that `number` reads."""
    exact = number(value)
    return exact.numerator if exact is not None and exact.denominator == 1 else None


def truth(value: Value) -> bool | None:
    """Return a truth value: JSON's own, 0 or 1, or a word of any notation, in any case."""
    if isinstance(value, bool):
        return value
    return first_read(_read_truth, value)


def _read_truth(text: str) -> bool | None:
    plain = TRUTHS.get(text.casefold())
    if plain is not None:
        return plain
    verdicts = _VERDICT.findall(text)
    first = _VERDICT.match(text)
    tail = text[first.end() :].lstrip() if first else ""
    if first and (
        REASON.match(tail) or (tail[:1] in "(,;:\u2013\u2014-" and len(verdicts) == 1)
    ):
        hedged = HEDGES.search(
            re.sub(r"\bnot\b|n['\u2019]t\b", "", tail, flags=re.IGNORECASE)
        )
        return TRUTHS[first[1].casefold()] if REASON.match(tail) or not hedged else None
    text = text.rpartition("=")[2]
    last = re.fullmatch(rf"[^.]*?\b{_VERDICT.pattern}\W*", text, re.IGNORECASE)
    certain = len(_VERDICT.findall(text)) == 1 and not HEDGES.search(text)
    return TRUTHS[last[1].casefold()] if last and certain else None


def entries(value: Value) -> tuple[str, ...] | None:
    """Return the words of a list, in order and case as given.

    A string is split at commas, semicolons, bars, arrows and ends of lines; if it has none, at
    blanks. Brackets round the list, bullets, numbers of lines and an "and" before the last word are
    dropped.
    """
    if isinstance(value, str | int | float):
        text = _plain_text(value)
        return None if text is None else _split_list(text)
    texts = [_plain_text(item) for item in value[: MAX_LENGTH + 1]]
    words = tuple(word for word in texts if word is not None)
    return words if len(words) == len(texts) <= MAX_LENGTH else None


def _split_list(text: str) -> tuple[str, ...]:
    if text[:1] + text[-1:] in {"[]", "()", "{}"}:
        text = text[1:-1]
    text = _AFTERTHOUGHT.sub("", _ANSWER_IS.sub("", text, count=1), count=1)
    if lead := _LIST_INTRODUCTION.match(text):
        text = tidy(text[lead.end() :])
    text = re.sub(r"\A(?:only|just)\s", "", text, flags=re.IGNORECASE)
    head, colon, tail = text.partition(": ")
    if colon and " " in head and _LEAD.fullmatch(head):
        text = tail  # "Here they are: ..."
    separated = _BETWEEN.search(text) is not None
    words = [
        tidy(_BULLET.sub("", part.strip(), count=1))
        for part in (_BETWEEN.split(text) if separated else text.split())
    ]
    words = [word for word in words if word]
    if separated and words:
        before, _, last = words.pop().rpartition("and ")
        words += [word for word in (before.rstrip(), last) if word]
    return tuple(words)


def unspaced(value: Value) -> str | None:
    """Return a string, or the strings of a list, without blanks, commas and quotes."""
    if not isinstance(value, str | int | float):
        words = entries(value)
        return None if words is None else "".join(words)
    text = _plain_text(value)
    if text is None:
        return None
    text = _AFTERTHOUGHT.sub(
        "", re.sub(r"</?[a-z]+>", "", html.unescape(text)), count=1
    )
    if not re.search(r"[^\W_]", text):
        runs = [text]
    else:  # the one run of brackets that stands by itself in words
        runs = [] if HEDGES.search(text) else _CLOSING.findall(text)
    return re.sub(r"[\s,;'\"`\\]", "", runs[0] if len(runs) == 1 else text)


def quote(value: Value) -> str:
    """Return an answer as a message quotes it: short, on one line."""
    if isinstance(value, int) and value.bit_length() > _MAX_DIGITS:
        return f"a number of {value.bit_length()} bits"
    if not isinstance(value, int | float | str):
        return f"[{', '.join(map(quote, value[:5]))}{', ...' * (len(value) > 5)}]"
    text = repr(value[: _MAX_QUOTED + 1] if isinstance(value, str) else value)
    return text if len(text) <= _MAX_QUOTED + 2 else f"{text[:_MAX_QUOTED]}..."


def option(
    value: Value,
    options: Sequence[str],
    labels: Sequence[str] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
) -> int | None:
    """Return the position of an option that is named by its label, its text, or both.

    ``B``, ``(b)``, ``B.``, ``Option B``, ``B) Paris``, ``Paris (B)``, ``B, because ...`` and
    ``paris`` are all the second option if that is Paris; ``B) Rome`` is no option. Hyphens and
    underscores are blanks; an article before it, a plural, what the prompt prints behind a colon
    and words that all options have make no difference. A sentence names an option if it names no
    other and nothing in it takes that back. Labels are those of the prompt, at least as many.
    """
    names = _Options(options, labels)
    return first_read(names.place_of, value)


class _Options:
    """Options with their labels, as answers name them."""

    def __init__(self, options: Sequence[str], labels: Sequence[str]) -> None:
        self._texts = [_folded(text) for text in options]
        self._labels = {
            label.casefold(): i for i, label in enumerate(labels[: len(options)])
        }
        words = [text.split() for text in self._texts]
        common = set.intersection(*map(set, words)) if len(words) > 1 else set()
        short = [
            " ".join(word for word in text if word not in common) for text in words
        ]
        self._short = [
            "" if len(text) == 1 and text.isalpha() else text for text in short
        ]

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
            for texts in (
                self._texts,
                self._short,
                [_plural(text) for text in self._texts],
            ):
                if name and texts.count(name) == 1:
                    return texts.index(name)
        return None

    def _by_label(self, text: str) -> int | None:
        readings: list[tuple[str, str]] = []
        first = _LABEL_FIRST.fullmatch(text)
        if first and not _WORD_FIRST.match(text):
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
        inside = (
            tidy(beside[1:-1]) if beside[:1] + beside[-1:] in {"()", "[]"} else beside
        )
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
        places = {
            self._labels.get((a or b).casefold()) for a, b in _LABELLED.findall(text)
        }
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
        folded = f" {_word_run(text)} "
        by_length = sorted(
            range(len(self._texts)), key=lambda place: -len(self._texts[place])
        )
        for place in by_length:
            name = _word_run(self._texts[place])
            if name and f" {name} " in folded:
                folded = folded.replace(f" {name} ", " . ")
                places |= {
                    i for i, text in enumerate(self._texts) if _word_run(text) == name
                }
        return places


def _folded(text: str) -> str:
    return " ".join(re.sub(r"[-_\u2010\u2011]", " ", text).casefold().split()).rstrip(
        ".,;:"
    )


def _word_run(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _plural(text: str) -> str:
    return text + ("es" if text.endswith(("s", "x", "ch", "sh")) else "s")
