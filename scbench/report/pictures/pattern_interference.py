"""A sequence: its terms, the rule for each, and the terms of the answer."""

from scbench.graders.pattern_interference import next_terms
from scbench.graders.shared.short_answers import entries, integer
from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.tables import Cell, Row, table_picture
from scbench.schemas.pattern_interference import Answer, Params

BASE_WORDS = {
    "add": "+ {}",
    "subtract": "- {}",
    "multiply": "x {}",
    "add_digits": "+ its digit sum",
}
CHANGE_WORDS = {
    "every": "if the number of the term is a multiple of {n}: {amount:+}",
    "divisible": "if divisible by {n}: {amount:+}",
    "repeat": "if equal to an earlier term: {amount:+}",
}
# Maximum number of surplus terms listed of an answer.
MOST_EXTRA = 5


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """List the terms with their rules; with an answer, its terms next to the right ones."""
    changes = [
        CHANGE_WORDS[change.kind].format(n=change.n, amount=change.amount)
        for change in params.interference
    ]
    caption = verdicts.caption(
        f"All terms are taken modulo {params.modulus}. "
        f"Changes, in order: {'; '.join(changes) or 'none'}."
    )
    answered = list((entries(answer.answer) if answer else None) or ())
    rows: list[Row] = []
    for i, term in enumerate(all_terms(params)):
        base = params.base[(i - 1) % len(params.base)]
        rule = BASE_WORDS[base.kind].format(base.amount) if i else "start"
        k = i - params.shown
        if k < 0:
            rows.append((i + 1, rule, term))
        elif not verdicts:
            rows.append((i + 1, rule, Cell("?", "target")))
        else:
            word = answered[k] if k < len(answered) else None
            rows.append((i + 1, rule, term, answer_cell(word, term)))
    head = ["", "rule", "term"]
    if verdicts:
        head.append("answer")
    if verdicts.wrong:
        extra = answered[params.asked :][:MOST_EXTRA]
        rows += [("", "", "-", Cell(word, "wrong")) for word in extra]
    return table_picture("the sequence", head, rows, caption)


def all_terms(params: Params) -> tuple[int, ...]:
    """Return the terms of the prompt and the requested ones."""
    # The grader's function continues a sequence; here it starts from the first term.
    from_first = params.model_copy(
        update={"shown": 1, "asked": params.shown + params.asked - 1}
    )
    return params.start, *next_terms(from_first)


def answer_cell(word: str | None, term: int) -> Cell:
    """Return the cell of a requested term with the answered word."""
    if not word:
        return Cell("-", "missing")
    return Cell(word, "right" if integer(word) == term else "wrong")
