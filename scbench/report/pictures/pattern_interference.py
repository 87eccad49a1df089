"""A sequence: its terms, by which rule each is made, and those that were given."""

from scbench.graders.pattern_interference import following
from scbench.graders.shared.short_answers import entries, integer
from scbench.report.picture import Picture, Verdicts, texts
from scbench.report.pictures.shared.tables import Cell, Row, table_picture
from scbench.schemas.pattern_interference import Answer, Params

_BASE_WORDS = {
    "add": "+ {}",
    "subtract": "- {}",
    "multiply": "x {}",
    "add_digits": "+ its digits",
}
_CHANGE_WORDS = texts("pattern_interference.changes")


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """List the terms with their rules; with an answer those given beside those that follow."""
    changes = [
        _CHANGE_WORDS[c.kind].format(n=c.n, amount=c.amount)
        for c in params.interference
    ]
    rules = "; ".join(changes) or "none"
    caption = verdicts.caption(
        f"Remainders by {params.modulus}. Changes in order: {rules}."
    )
    # All terms but the first, as if the prompt had shown that one alone.
    from_first = params.model_copy(
        update={"shown": 1, "asked": params.shown + params.asked - 1}
    )
    terms = (params.start, *following(from_first))
    answered = list((entries(answer.answer) if answer else None) or ())
    rows: list[Row] = []
    for i, term in enumerate(terms):
        base = params.base[(i - 1) % len(params.base)]
        rule = _BASE_WORDS[base.kind].format(base.amount) if i else "start"
        k = i - params.shown
        if k < 0:
            rows.append((i + 1, rule, term))
        elif not verdicts:
            rows.append((i + 1, rule, Cell("?", "target")))
        else:
            word = answered[k] if k < len(answered) else None
            role = (
                "right"
                if word and integer(word) == term
                else "wrong"
                if word
                else "missing"
            )
            rows.append((i + 1, rule, term, Cell(word or "-", role)))
    extra = answered[params.asked :][:5] if verdicts.wrong else []
    rows += [("", "", "-", Cell(word, "wrong")) for word in extra]
    head = ("", "rule", "term", *(["given"] if verdicts else []))
    return table_picture("the sequence", head, rows, caption)
