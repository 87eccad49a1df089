r"""Words that mark a final answer, take one back, or decline to give one.

A mark is ``<answer>``, ``\boxed{``, "Answer:", "Final answer:", "The answer is", or a line that
says no more than "Answer". What stands right behind it is marked.
"""

import re

MARK = re.compile(
    r"""
    (?P<tag> <(?:final_?)?answer> )
    | (?P<boxed> \\boxed\s{0,5}\{ )
    | (?<![^\W_]) (?<!["'<]) (?<!\bno[ ]) (?<!other[ ]) (?<!any[ ]) (?P<final> final [ _]{1,3} )?
      (?: (?: answer | ans(?=[:.]) ) | (?(final) (?: result | solution | output ) | (?!) ) )
      (?![^\W_]) [*_`]{0,4}
      (?: [ \t]{0,20}
          (?P<sign> : | \uff1a | (?(final) (?: = | \u2192 | -> | [-\u2013\u2014][ ] ) | (?!) ) )
        | (?: [ \t]{1,20} | \s ) (?: is | would[ ]be ) (?![^\W_])
          [ \t]{0,20} (?P<colon> : )? )
      (?: [*_`]{1,4} (?=\s) )?
    | (?<!\w) (?: antwort | r\u00e9ponse | respuesta | resposta | risposta
        | \u043e\u0442\u0432\u0435\u0442
        | (?:\u6700\u7ec8)? \u7b54\u6848 | \u7b54\u3048 | \u6b63\u89e3 )
      [*_`]{0,4} [ \t]{0,5}
      (?P<foreign> [:\uff1a] | \u662f [:\uff1a]? ) (?: [*_`]{1,4} (?=\s) )?
    | ^ \#{4} [ ]? (?= -? [\d$] )
    | ^ [#>*_ \t]{0,12} (?: (?:my|the) [ ]{1,3} )? (?: final [ ]{1,3} )? answer [*_ \t]{0,12} $
    | ^ [>*_` \t]{0,12} answer [*_`]{0,4} [ \t]{0,20} (?P<equals> = )
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
CLOSING_TAG = re.compile("</(?:final_?)?answer>", re.IGNORECASE)

_CANNOT = (
    r"(?:i|we)(?:\s+am|\s+was|\s+were|['\u2019]m|['\u2019]re|\s+must|\s+have\s+to)?\s+"
    r"(?:can\s?not|can['\u2019]t|could\s?n['\u2019]t|could not|won['\u2019]t|will not|unable to|"
    r"not able to|was\s?n['\u2019]t able|do not have the ability|don['\u2019]t have the ability|"
    r"decline|refuse)\b"
)
_DECLINES = re.compile(rf"\b{_CANNOT}", re.IGNORECASE)
_THING = (
    r"(?:answer|solution|arrangement|path|loop|tour|cycle|packing|placement|partition|"
    r"triangulation|maze|function|polynomial|plan|route|assignment|configuration|tiling)s?"
)
_TAKES_BACK = re.compile(
    rf"""
    \b(?: no \s (?:(?:valid|possible|feasible|such|correct|exact) \s){{0,2}} {_THING} \s
          (?: exists? | is \s possible | are \s possible | can \s be \s (?:found|given) )
        | there \s (?: is | are | exists ) \s no \s
          (?:(?:valid|possible|feasible|such|correct) \s){{0,2}} {_THING} \s{{0,3}} (?: [.!,;] | $ )
        | (?: problem | puzzle | task | it | this | instance ) \s
          (?: (?:is | seems | appears) \s (?:to\sbe\s)?
              (?: impossible (?!\sto\b) | unsolvable | infeasible | not \s solvable )
            | has \s no \s {_THING} | (?:cannot|can\s?not|can['\u2019]t) \s be \s solved )
        | (?:i \s | we \s) give \s up
        | (?:i|we) \s (?:do \s not|don['\u2019]t) \s know
        | {_CANNOT} \s (?: \w+ \s )?
          (?: solve | find | determine | answer | give | provide | produce | complete | offer | help
            | do )
          \s{{0,3}} (?: (?: a | an | any | the | this | that | it | you | with ) \s{{0,3}} ){{0,2}}
          (?: (?: valid | correct | final | right | reliable | definite | such ) \s ){{0,2}}
          (?: {_THING} | puzzle | problem | question | task | request )? \s{{0,3}}
          (?: [.!,;] | $ | for\b | to\sthis | here\b )
        | (?P<ignore> ignore | disregard | discard | scrap | forget ) \s
          (?: the | that | my | this | all )? \s{{0,3}} (?: of \s )?
          (?: above | previous | earlier | answer | draft | attempt | last )
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LOOKED_AT = 20_000
_REFERS = re.compile(
    r"\b(?:above|previous(?:ly)?|earlier|preceding|before|given|shown|provided|stated|listed|this|"
    r"that|these|same|json|object|see|block)\b",
    re.IGNORECASE,
)


def declines(text: str) -> bool:
    """Whether a visible text without an answer says that it will not give one."""
    ends = (text[:_LOOKED_AT], text[-_LOOKED_AT:])
    return any(_DECLINES.search(part) for part in ends) or any(
        found is not None and not found["ignore"] for found in map(_TAKES_BACK.search, ends)
    )


def takes_back(text: str) -> bool:
    """Whether the text behind an answer says that there is none, or to ignore it."""
    return _TAKES_BACK.search(text) is not None


def refers_back(text: str) -> bool:
    """Whether the text behind a mark only points at what was said before."""
    return _REFERS.search(text[:200]) is not None
