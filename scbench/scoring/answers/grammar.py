r"""The grammar of values that are nearly JSON: patterns of tokens, and their spelling in JSON.

Models write ``{'path': (1, .5), valid: True,}  # done`` where they mean
``{"path": [1, 0.5], "valid": true}``. The patterns accept both; the functions return JSON and the
name of the repair.

Early releases of Python 3.11 match possessive groups wrongly, so only single characters are
repeated possessively. No pattern has two ways to match from one position, so none backtracks.
"""

import ast
import json
import re

# An alternative with an empty branch is faster than an optional group.
_NUMBER = r"-?\d++(?:\.\d++|)(?:[eE][-+]?\d++|)"
_VALUE = rf'(?:{_NUMBER}|"[^"\\\x00-\x1f]*+")'
_SPACE = r"[ \t\r\n]*+"
_COMMA = f"{_SPACE},{_SPACE}"
# Values in a row, as in [1, 2, "a"].
_VALUES = f"{_VALUE}(?:{_COMMA}{_VALUE})*"
_LIST = rf"\[{_SPACE}(?:\]|{_VALUES}{_SPACE}\])"
# A list of values, or of lists of values, as in [[1, 2], [3]].
_LISTS = rf"\[{_SPACE}(?:\]|(?:{_VALUES}|{_LIST}(?:{_COMMA}{_LIST})*){_SPACE}\])"
_PAIR = rf'"[A-Za-z]\w*+"{_SPACE}:{_SPACE}(?:{_LIST}|{_VALUE})'
# An object of values and lists, as in {"x": 1, "size": [2, 3]}.
_OBJECT = rf"\{{{_SPACE}{_PAIR}(?:{_COMMA}{_PAIR})*{_SPACE}\}}"
_ITEM = f"(?:{_LISTS}|{_OBJECT})"

# Strict JSON in arrays, matched in one step because most answers consist of it. Both
# give the same result as matching tokens. A group captures the values; in ITEMS, a
# second group captures all but the first.
RUN = re.compile(rf"{_SPACE}({_VALUES})(?={_SPACE}[,\]])")
ITEMS = re.compile(rf"({_ITEM}((?:{_COMMA}{_ITEM})*))(?={_SPACE}[,\])])")

# A bracket that may begin a value.
START = re.compile(
    r"""
    [\[({]
    (?: (?<=\{)                            # an opening brace, if
        (?= \s*+ (?: ["'\\\#/\u2018-\u201e]   # a quote or a comment follows,
          | [^\W\d]\w*+ \s*+ [:=] ))          # or a name with a colon or equals sign;
      | (?<=[\[(])                         # another opening bracket, if
        (?<! [A-Za-z0-9_\])] . )              # it is no index and no call,
        (?= \s*+ (?: ["'\\\#/\u2018-\u201e\[({TFNtfn]   # and a value or a comment follows
          | [-+]?\.?\d ))                               # (an empty list is no answer)
    )
    """,
    re.VERBOSE,
)
# Consecutive brackets, with whitespace and comment markers.
BRACKETS = re.compile(r"[\[{(\s\#]++")

_TRIPLE_SINGLE = r"'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*'''"
_TRIPLE_DOUBLE = r'"{3}[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*"{3}'
_SINGLE = r"'[^'\\\n]*+(?:\\.[^'\\\n]*+)*'"
# May contain line breaks.
_DOUBLE = r'"[^"\\]*+(?:\\.[^"\\]*+)*"'
_CURLY_DOUBLE = (
    r"[\u201c-\u201e][^\u201c-\u201e\\\n]*+(?:\\.[^\u201c-\u201e\\\n]*+)*[\u201c\u201d]"
)
_CURLY_SINGLE = (
    r"[\u2018\u2019][^\u2018\u2019\\\n]*+(?:\\.[^\u2018\u2019\\\n]*+)*[\u2018\u2019]"
)
# As in a string of JSON inside a string of JSON: \"path\".
_ESCAPED_DOUBLE = r'\\"[^"\\]*+(?:\\[^"][^"\\]*+)*\\"'
# The matching group is the kind of token. Backslashes before brackets are LaTeX.
TOKEN = re.compile(
    rf"""
    {_SPACE}
    (?: (?P<open> \\?[\[{{] | \( )
      | (?P<close> \\?[\]}}] | \) )
      | (?P<comma> , )
      | (?P<colon> [:=] )
      | (?P<text> {_TRIPLE_SINGLE} | {_TRIPLE_DOUBLE} | {_SINGLE} | {_DOUBLE}
                | {_CURLY_DOUBLE} | {_CURLY_SINGLE} | {_ESCAPED_DOUBLE} )
      | (?P<number> [-+]? (?: \d++(?:\.\d*+)? | \.\d++ ) (?:[eE][-+]?\d++)? (?![\w.]) )
      | (?P<word> [^\W\d]\w*+ )
      | (?P<comment> \#[^\n]*+ | //[^\n]*+ | /\*[^*]{{0,999}}\*/ )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
# The beginning of a comment.
COMMENT_SIGN = re.compile(rf"{_SPACE}[#/]")
# Tokens of one character.
SIGNS = {
    "(": "open",
    "[": "open",
    "{": "open",
    ")": "close",
    "]": "close",
    "}": "close",
    ",": "comma",
    ":": "colon",
}
CLOSING = {"(": ")", "[": "]", "{": "}"}
LITERALS = {"true": "true", "false": "false", "null": "null", "none": "null"}

# The placeholder of a value in a prompt's format, {"answer": ...}, or in code that
# creates an answer, {"answer": result} or {answer}.
PLACEHOLDER = re.compile(
    r"\s*+(?:\.{2,}|\u2026|[<$%*?,}]|-?(?!nan\b|inf)[^\W\d]\w*+(?!\Z))", re.IGNORECASE
)
# What the end of the text cuts off: a string in double quotes, which may contain line breaks; a
# string in other quotes, if no line break follows (first group); or a word or a number.
CUT = re.compile(
    r"""\s*+ (?: " | (['\u2018-\u201e]) | [\w.+-]*+ \Z )""",
    re.VERBOSE,
)
# A key that the end of the text cuts off, after its first letter.
CUT_KEY = re.compile(r"\s*+[\"'\u201c](\w{1,60})\s*+\Z")

# A string that needs no change except its quotes.
_PLAIN_STRING = re.compile(r"""(["'])[^"'\\\x00-\x1f]*+\1""")
_ESCAPE = re.compile(
    r"""
    \\ (?: ["\\/bfnrt] | u[\da-fA-F]{4} )           # JSON has it: no group
    | ( \\ (?: x[\da-fA-F]{2}                       # first group: only Python has it
             | U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}
             | [0-3]?[0-7]{1,2}
             | [av'\n] ) )
    | ( ["\\\x00-\x1f] )                            # second group: must be escaped in JSON
    """,
    re.VERBOSE,
)
# By the first character of a string; any other is a curly quote.
_STRING_REPAIRS = {'"': "line_breaks", "'": "python_literal", "\\": "escaped_quotes"}
# A decimal point without a digit before it (first group) or after it.
_BARE_POINT = re.compile(r"((?<!\d)\.)|\.(?!\d)")


def json_number(token: str) -> str:
    """Return a number as JSON writes it: 0.5 for .5, 1.0 for 1., 2 for +2."""
    return _BARE_POINT.sub(_with_zero, token.lstrip("+"))


def _with_zero(point: re.Match[str]) -> str:
    return "0." if point[1] else ".0"


def json_string(token: str) -> tuple[str, str]:
    """Return a string in any quotes as JSON, and the name of the repair, or empty text."""
    is_plain = _PLAIN_STRING.fullmatch(token)
    if is_plain and token[0] == '"':
        return token, ""
    quote_length = 1
    if token.startswith(("'''", '"""')):
        quote_length = 3
    elif token[0] == "\\":
        quote_length = 2
    text = token[quote_length:-quote_length]
    if token[0] == "\\":
        # Everything in such a string is escaped twice.
        text = text.replace("\\\\", "\\")
    if not is_plain:
        text = _ESCAPE.sub(_json_escape, text)
    json_text = f'"{text}"'
    if json_text == token:
        return json_text, ""
    return json_text, _STRING_REPAIRS.get(token[0], "curly_quotes")


def _json_escape(match: re.Match[str]) -> str:
    python_escape, character = match.groups()
    if python_escape:
        character = ast.literal_eval(f'"{python_escape}"')
    if character is None:
        return match.group()
    return json.dumps(character)[1:-1]
