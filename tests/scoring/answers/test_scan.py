"""Scanning text for values: parsed like Python literals, without deep recursion."""

import ast
import json
import re
import warnings

import pytest
from bounds import a_minute_of_work
from hypothesis import example, given
from hypothesis import strategies as st

from scbench.scoring.answers import scan as scan_module
from scbench.scoring.answers.scan import scan

displays = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=6), inner
        )
    ),
    max_leaves=12,
)
REJECTED = {
    "name": "[x]",
    "import": "__import__('os').system('true')",
    "power": "[9**9**9]",
    "sign run": "[--1]",
    "sign and space": "[- 1]",
    "complex": "[1j]",
    "hexadecimal": "[0x10]",
    "leading zero": "[01]",
    "Infinity": "[-Infinity]",
    "1e999": "[1e999]",
    "ellipsis": "[1, ...]",
    "set": "{1, 2}",
    "number as key": "{1: 2}",
    "key twice": "{'a': 1, 'a': 1}",
    "key twice, escaped": r"{'a': 1, '\x61': 1}",
    "colon in list": "[1: 2]",
    "bytes": "[b'a']",
    "neighbours": "['a' 'b']",
    "numbers side by side": "[1 2]",
    "comma first": "[,1]",
    "commas": "[1,,2]",
    "colon and comma": "{'a':,}",
    "two values": "[1] [2]",
    "subscript": "[[1][0]]  [0]",
    "crossed": "[(1])",
    "bracketed": "[(1)]",
    "unclosed": "[1",
    "unclosed text": "['a]",
    "line end in text": "['a\nb']",
    "high surrogate": r"['\ud800']",
    "beyond Unicode": r"['\U00110000\ud800']",
    "text after": "[1] done",
    "empty": "",
    "long integer": "[" + "9" * 5000 + "]",
}
FILL = 900_000
HOSTILE = {
    "signs": lambda: "[" + "-" * FILL + "1]",
    "brackets": lambda: "[" * FILL,
    "brackets and comments": lambda: "[#\n" * (FILL // 3),
    "texts that break off": lambda: "['" * (FILL // 2),
    "low quotes": lambda: "[\u201a" * (FILL // 2),
    "objects that break off": lambda: '{"' * (FILL // 2),
    "keys without a value": lambda: '{"a":x' * (FILL // 6),
    "closed brackets": lambda: "(" * (FILL // 2) + ")" * (FILL // 2),
    "objects": lambda: "{'a':" * (FILL // 5),
    "digits": lambda: "[" + "9" * FILL + "]",
    "text": lambda: "['" + "a" * FILL + "']",
    "text never closed": lambda: "['" + "a" * FILL,
    "backslashes": lambda: "['" + "\\" * FILL,
    "triple never closed": lambda: "['''" + "'' " * (FILL // 3),
    "escaped triple": lambda: '["""' + '\\"""' * (FILL // 4),
    "empty texts": lambda: "[" + "''," * (FILL // 3) + "]",
    "quotes": lambda: "[" + "'" * FILL,
    "comments": lambda: "[" + "#\n" * (FILL // 2) + "]",
    "numbers": lambda: "[" + "1," * (FILL // 2) + "]",
    "tuples": lambda: "[" + "(1)," * (FILL // 4) + "]",
}
REPAIRED = {
    "// comment": ('{"a": [1] // one\n}', "comment"),
    "/* comment */": ('{"a": /* all\nof it */ [1]}', "comment"),
    "bare key": ("{a: [1]}", "unquoted_key"),
    "equals sign": ('{"a" = [1]}', "equals_sign"),
    "curly quotes": ("{\u201ca\u201d: [1]}", "curly_quotes"),
    "single curly quotes": ("{\u2018a\u2019: [1]}", "curly_quotes"),
    "escaped quotes": ('{\\"a\\": [1]}', "escaped_quotes"),
    "LaTeX": ('\\{"a": [1]\\}', "latex_escapes"),
    "trailing comma": ('{"a": [1,],}', "trailing_comma"),
    "tuple": ('{"a": (1,)}', "python_literal"),
}
# Single tokens, whole values, and objects.
PIECES = [
    "[", "]", "{", "}", "(", ")", ",", " ", "\n", "1", "-2.5e3", "007", ".5", "x", ":", "'b'",
    '"path"', '"xy"', "[1,2]", "[3, 4]", ",[5]", "[[1,2],[3]]", "[1,]", "[]", r"\[", "# c\n",
    '{"xy": [1, 2]}', '{"Path":[1]}', '{"a_b": 1, "c": [2]}', '{"path": 1}', ',{"xy":3}', "{}",
]  # fmt: skip


def read(text: str):
    """Parse a text that consists of one value; return None for any other."""
    for span in scan(text, ()):
        if text[span.start : span.end] == text.strip():
            return span.parse()
    return None


@given(displays)
@example(((),))
@example(((1,),))
@example({"a": ("'", '"', "\\", "\n\t\x00\x7f", "é💥\u2028", "'\"")})
def test_python_reprs_are_read_back(value):
    assert json.dumps(read(repr([value]))) == json.dumps([value])


@given(displays)
def test_json_is_read_unchanged(value):
    assert json.dumps(read(json.dumps([value]))) == json.dumps([value])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(1,)", [1]),
        ("[(2,), ()]", [[2], []]),
        ("{'a': (1,)}", {"a": [1]}),
        ("{'a': 1,}", {"a": 1}),
        ('{"a": [1, 2,], "b": true, "c": null,}', {"a": [1, 2], "b": True, "c": None}),
        (
            "[.5, -.5, +.5, 1., -1., +1, 1.e2, 1E+2, -0]",
            [0.5, -0.5, 0.5, 1.0, -1.0, 1, 1e2, 1e2, 0],
        ),
        ("[1, # one\n 2]", [1, 2]),
        ("['# no comment', \"// nor this\"]", ["# no comment", "// nor this"]),
        (
            '[\'it\\\'s\', "a \\"b\\"", \'say "x"\', "don\'t"]',
            ["it's", 'a "b"', 'say "x"', "don't"],
        ),
        (r"['\x41\u00e9\U0001F4A5\n\0\q\/\1018']", ["Aé💥\n\0\\q/A8"]),
        (r"['\ud83d\ude00']", ["😀"]),
        ("['one\\\ntwo']", ["onetwo"]),
        ("['''a\n'b''c''', \"\"\"d\"e\n\"\"\"]", ["a\n'b''c", 'd"e\n']),
        ("['', \"\", '''''', '[{(', ')}]']", ["", "", "", "[{(", ")}]"]),
        ("['--------', '((((((((']", ["--------", "(((((((("]),
        (" \n[\r\n1\t]\n ", [1]),
    ],
)
def test_python_literals_and_slightly_wrong_json_are_read(text, value):
    assert json.dumps(read(text)) == json.dumps(value)


@pytest.mark.parametrize("text", REJECTED.values(), ids=REJECTED)
def test_other_text_is_rejected(text):
    assert read(text) is None


@given(
    st.lists(
        st.sampled_from(
            [*"[](){},:'\"-+.#\n\\ 1", "'''", '"""', "True", "'a'", "'a':", "1,"]
        )
    )
)
@example(["[", "'''", "'", "]"])
@example(["(", "(", ")", ",", ")"])
@example(["{", "'a':", "(", ")", ",", "}"])
@example(["[", "'''", "\\", "1", "'''", "]"])
@example(["'", "\\", "[", "'"])
def test_any_tokens_are_read_like_python_or_rejected(tokens):
    text = "".join(tokens)
    value = read(text)
    if value is not None:
        with warnings.catch_warnings(action="ignore"):  # about unknown escapes
            expected = ast.literal_eval(text.strip())
        assert json.dumps(value) == json.dumps(expected)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_scanned_quickly_without_deep_recursion(name):
    text = HOSTILE[name]()
    with a_minute_of_work():  # a second if linear, minutes if quadratic
        scan(text, {"a"})


@pytest.mark.parametrize("opener", ["{'b':(", '{"b":[', "{b:1} ", "(1,", 'push "{" '])
def test_only_the_last_value_is_read_at_the_limit(opener, monkeypatch):
    monkeypatch.setattr(scan_module, "_MAX_TOKENS", 1_000)
    monkeypatch.setattr(scan_module, "_LAST_BRACKETS", 10)
    before = '{"a": [1]} ' + opener * 1_000
    last = scan(before + ' So {"a": [2]}', {"a"})[-1]
    assert last.parse() == {"a": [2]}
    assert not [span for span in scan(before, {"a"}) if span.key_end]


def test_long_strict_json_takes_few_tokens(monkeypatch):
    monkeypatch.setattr(scan_module, "_MAX_TOKENS", 100)
    cells = [[number, number] for number in range(5_000)]
    last = scan(json.dumps({"a": cells}), {"a"})[-1]
    assert last.parse() == {"a": cells}


def test_values_beyond_the_limit_are_not_read(monkeypatch):
    monkeypatch.setattr(scan_module, "_MAX_TOKENS", 100)
    text = '{"a": [1]} {a: ' + str(tuple(range(200))) + "}"
    assert not [span for span in scan(text, {"a"}) if span.key_end]


def test_values_are_read_up_to_depth_200():
    assert read("(" * 200 + "1," + "),".join([""] * 200) + ")") is not None
    assert read("[" * 201 + "]" * 201) is None


@pytest.mark.parametrize(("text", "repair"), REPAIRED.values(), ids=REPAIRED)
def test_repairs_are_recorded(text, repair):
    (span,) = scan(f"see {text} there", {"a"})
    assert (span.parse(), span.repairs) == ({"a": [1]}, (repair,))


def test_repairs_of_other_values_are_not_recorded():
    found = scan('{"b": {a: 1}, "a": {"a": 2}}', {"a"})
    spans = {json.dumps(span.parse()): span.repairs for span in found}
    assert spans['{"a": 2}'] == ()
    assert spans['{"a": 1}'] == ("unquoted_key",)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ('{"a": [1, NaN]}', [(0, 4)]),
        ('{"a": [1', [(0, 4)]),
        ('{"b": [1', []),
        ('{"a": <number>}', []),
        ('see {"a": 1} and {"a": 1 2}', [(17, 21)]),
    ],
)
def test_incomplete_objects_end_after_their_last_key(text, starts):
    spans = [span for span in scan(text, {"a"}) if span.state in {"broken", "cut"}]
    assert [(span.start, span.end) for span in spans] == starts


def test_values_after_stray_brackets_and_quotes_are_found():
    for before in (
        '[0, 1) and 5" wide ',
        '[ "so ',
        "{ [ (",
        "{'",
        "[# ",
        "[// x ",
        "don't [",
        '{"',
    ):
        spans = scan(f'{before}{{"a": [1]}}', {"a"})
        assert {"a": [1]} in [span.parse() for span in spans], before


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.integers(0, 203))
def test_fast_path_for_items_matches_token_by_token(text, depth):
    text = "[" * depth + text + "]" * depth

    def scanned():
        spans = scan_module.scan(text, {"path"}, {"ab": "a_b"})
        return spans, [span.parse() for span in spans]

    fast_spans, fast_values = scanned()
    with pytest.MonkeyPatch.context() as patch:
        # A pattern that never matches turns the fast path off.
        patch.setattr(scan_module, "ITEMS", re.compile(r"(?!)()()"))
        slow_spans, slow_values = scanned()
    assert fast_values == slow_values
    fields = (
        "opening",
        "start",
        "end",
        "state",
        "keys",
        "key_end",
        "is_list",
        "repairs",
    )
    for fast, slow in zip(fast_spans, slow_spans, strict=True):
        for name in fields:
            assert getattr(fast, name) == getattr(slow, name)


@pytest.mark.parametrize(
    "item", ["[1,2],", '{"xy":[1,2]},', '{"path":[1,2]},', "[1,", '{"a":[1],']
)
def test_fast_path_matches_each_item_only_once(item, monkeypatch):
    looked = []

    class Counting:
        def match(self, text, at):
            result = items.match(text, at)
            looked.append(result.end() - at if result else 0)
            return result

    items = scan_module.ITEMS
    monkeypatch.setattr(scan_module, "ITEMS", Counting())
    text = "[" + item * 2000
    scan_module.scan(text, {"path"}, {})
    assert sum(looked) <= len(text)
