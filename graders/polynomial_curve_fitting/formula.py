"""Parsing of one polynomial function f(x, y), which is never run.

The language is the part of Python that polynomials need, with Python's precedence and layout. Its
parser behaves the same under every Python version, and no nesting, length or character can exhaust
or break it.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from scbench.graders.polynomial_curve_fitting.nodes import Node, Op

# Maximum length of a formula, depth of its brackets, exponent of a power, and degree.
MAX_CHARACTERS = 400_000
MAX_BRACKETS = 150
MAX_EXPONENT = 512
MAX_DEGREE = 1_024
# Maximum number of characters of a number.
MAX_NUMBER = 400
# Largest number after e or E in a number, without its sign.
MAX_SCALE = 308
# Bits of `Node.axes`.
X_AXIS = 1
Y_AXIS = 2
_AXES = {"x": X_AXIS, "y": Y_AXIS}
_WORDS = frozenset({"def", "return", "f", "x", "y"})
# Repeats are possessive, so that no text causes backtracking.
_TOKEN = re.compile(
    r"""
    (?P<space> [ \t\f]++ )
    | (?P<newline> \n )
    # Digits with or without a point, and maybe an exponent.
    | (?P<number> (?: [0-9]++ (?: \. [0-9]*+ )? | \. [0-9]++ ) (?: [eE] [+-]? [0-9]++ )? )
    | (?P<word> [A-Za-z_] [A-Za-z_0-9]*+ )
    | (?P<sign> \*\* | / (?! / ) | [-+*(),:] )
    | (?P<other> // | . )
    """,
    re.DOTALL | re.VERBOSE,
)
_HEAD = re.compile(
    r"""
    def [ \t\f]++ f [ \t\f]*+
    # Brackets may go over several lines and end with a comma.
    \( [ \t\f\n]*+ x [ \t\f\n]*+ , [ \t\f\n]*+ y [ \t\f\n]*+ (?: , [ \t\f\n]*+ )? \)
    [ \t\f]*+ :
    # The body follows on the same line, or indented on the next.
    (?: [ \t\f\n]* \n [ \t\f]+ | [ \t\f]* )
    return (?! \w )
    """,
    re.VERBOSE,
)
_OLD_OCTAL = re.compile(r"0+[1-9][0-9]*")
# Operators of higher rank bind closer. A sign before an operand binds closer than * but
# less closely than **. An open bracket delays all operators before it.
_BRACKET_RANK = 0
_SIGN_RANK = 3
_POWER_RANK = 4
_RANKS = {"+": 1, "-": 1, "*": 2, "/": 2, "**": _POWER_RANK}
_OPS = {
    "+": Op.ADD,
    "-": Op.SUBTRACT,
    "*": Op.MULTIPLY,
    "/": Op.DIVIDE,
    "**": Op.POWER,
}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as distinct steps, each after the steps it needs; the last gives the result.

    ``faults`` has the reasons why it is not a polynomial of permitted degree, if any.
    """

    nodes: list[Node]
    faults: list[str]

    @property
    def axes(self) -> int:
        """The variables that occur: x (1) and y (2)."""
        return self.nodes[-1].axes

    @property
    def degree(self) -> int:
        """Largest total degree of any part, as written."""
        return max(node.degree for node in self.nodes)


class FormulaError(Exception):
    """The text is not one function f(x, y) with one return."""


def plain_lines(text: str) -> str:
    """Return text with single-character line breaks, and spaces for escaped ones.

    The functions below expect such text.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\\\n", "  ")


def bracket_depth(text: str) -> int:
    """Return the nesting depth of round brackets."""
    depth = 0
    deepest = 0
    for match in re.finditer(r"[()]", text):
        depth += 1 if match.group() == "(" else -1
        deepest = max(deepest, depth)
    return deepest


def foreign_tokens(text: str) -> list[tuple[int, str]]:
    """Return pieces that are not allowed in a polynomial: their positions and names."""
    foreign = []
    for match in _TOKEN.finditer(text):
        piece = match.group()
        kind = match.lastgroup
        if kind == "other" or (kind == "word" and piece not in _WORDS):
            foreign.append((match.start(), repr(piece[:40])))
        elif kind == "number":
            fault = number_fault(piece)
            if fault:
                foreign.append((match.start(), fault))
    return foreign


def number_fault(piece: str) -> str:
    """Return why a number is not permitted; empty if it is."""
    if len(piece) > MAX_NUMBER:
        return f"a number of {len(piece)} characters"
    if _OLD_OCTAL.fullmatch(piece):
        return f"the whole number {piece[:40]} with a leading zero"
    _, _, scale = piece.lower().partition("e")
    if abs(int(scale or 0)) > MAX_SCALE:
        return f"the number {piece[:40]}, whose exponent is beyond {MAX_SCALE}"
    return ""


def parse(text: str) -> Formula:
    """Parse a text in which `foreign_tokens` found nothing.

    Raises:
        FormulaError: the text does not have the form of one function with one return.
    """
    head = _HEAD.match(text)
    if head is None:
        raise FormulaError(
            "The text does not begin with 'def f(x, y):' and 'return' (indented if on a separate "
            "line)."
        )
    reader = Reader()
    depth = 0
    ended = False
    for match in _TOKEN.finditer(text, head.end()):
        kind = match.lastgroup
        piece = match[0]
        at = match.start()
        if kind == "space":
            continue
        if kind == "newline":
            # Line breaks inside brackets are ignored.
            ended = ended or depth == 0
            continue
        if ended:
            raise FormulaError(
                f"More text follows the return statement, at character {at}."
            )
        if piece == "(":
            depth += 1
        elif piece == ")":
            depth -= 1
        reader.take(kind, piece, at)
    return reader.finish()


class Operand(NamedTuple):
    """A value that no operator has used yet."""

    node: int
    is_plain: bool
    """Whether it is written as a plain whole number."""


class Pending(NamedTuple):
    """An operator that has not been applied yet, or an open bracket."""

    rank: int
    piece: str


@dataclass(slots=True)
class Reader:
    """An operator-precedence parser with explicit stacks; equal steps are stored once."""

    nodes: list[Node] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    numbers: dict[tuple[object, ...], int] = field(default_factory=dict)
    """Numbers of nodes by all their fields except the degree."""
    leaves: dict[str, Operand] = field(default_factory=dict)
    """Operands by the text they were read from."""
    operands: list[Operand] = field(default_factory=list)
    pending: list[Pending] = field(default_factory=list)
    wants_operand: bool = True

    def take(self, kind: str | None, piece: str, at: int) -> None:
        """Read the next token, of a kind of ``_TOKEN``, at a character of the text.

        Raises:
            FormulaError: the token cannot follow the previous ones.
        """
        if kind == "number" or piece in _AXES:
            if not self.wants_operand:
                raise FormulaError(
                    f"An operator is missing before {piece[:40]!r}, character {at}."
                )
            self._push_leaf(piece)
            self.wants_operand = False
        elif piece == "(":
            if not self.wants_operand:
                raise FormulaError(
                    f"An operator is missing before the bracket at character {at}."
                )
            self.pending.append(Pending(_BRACKET_RANK, piece))
        elif piece == ")":
            self._close_bracket(at)
        elif piece not in _RANKS:
            raise FormulaError(
                f"{piece!r} at character {at} does not belong in the formula."
            )
        elif not self.wants_operand:
            rank = _RANKS[piece]
            # Operators of equal rank are applied from left to right, powers from right
            # to left.
            is_power = rank == _POWER_RANK
            self._apply(above=rank if is_power else rank - 1)
            self.pending.append(Pending(rank, piece))
            self.wants_operand = True
        elif piece in {"+", "-"}:
            self.pending.append(Pending(_SIGN_RANK, piece))
        else:
            raise FormulaError(
                f"An operand is missing before {piece!r}, character {at}."
            )

    def finish(self) -> Formula:
        """Return the formula of all tokens.

        Raises:
            FormulaError: the formula is incomplete.
        """
        if self.wants_operand:
            raise FormulaError("The formula ends where a number, x or y is expected.")
        self._apply(above=_BRACKET_RANK)
        if self.pending:
            raise FormulaError("A bracket is opened but not closed.")
        return Formula(self.nodes, self.faults)

    def _close_bracket(self, at: int) -> None:
        if self.wants_operand:
            raise FormulaError(
                f"An operand is missing before the bracket at character {at}."
            )
        self._apply(above=_BRACKET_RANK)
        if not self.pending:
            raise FormulaError(
                f"The bracket closed at character {at} was never opened."
            )
        self.pending.pop()

    def _apply(self, above: int) -> None:
        """Apply the last operators while their rank is above this one."""
        while self.pending and self.pending[-1].rank > above:
            rank, piece = self.pending.pop()
            if rank != _SIGN_RANK:
                self._push_binary(_OPS[piece])
                continue
            child = self.operands.pop().node
            if piece == "-":
                node = self.nodes[child]
                child = self._number(
                    Node(Op.NEGATE, child, 0, 0, node.axes, node.degree)
                )
            # A number with a sign is no longer plain.
            self.operands.append(Operand(child, False))

    def _push_leaf(self, piece: str) -> None:
        leaf = self.leaves.get(piece)
        if leaf is None:
            if piece in _AXES:
                node = Node(Op.NAME, 0, 0, 0, _AXES[piece], 1)
            else:
                value = int(piece) if piece.isdigit() else Fraction(piece)
                node = Node(Op.CONSTANT, 0, 0, value, 0, 0)
            leaf = Operand(self._number(node), piece.isdigit())
            self.leaves[piece] = leaf
        self.operands.append(leaf)

    def _push_binary(self, op: Op) -> None:
        second, is_plain = self.operands.pop()
        first = self.operands.pop().node
        a = self.nodes[first]
        b = self.nodes[second]
        axes = a.axes | b.axes
        degree = max(a.degree, b.degree)
        if op is Op.MULTIPLY:
            degree = a.degree + b.degree
        elif op is Op.DIVIDE:
            degree = a.degree
            if b.axes:
                self._fault("a divisor contains x or y")
        elif op is Op.POWER:
            exponent = 0
            if is_plain and b.value <= MAX_EXPONENT:
                exponent = int(b.value)
            else:
                self._fault(
                    f"an exponent is not a plain whole number from 0 to {MAX_EXPONENT}"
                )
            axes = a.axes
            degree = a.degree * exponent
            second = exponent
        if degree > MAX_DEGREE:
            self._fault(f"the degree is above {MAX_DEGREE}")
            degree = MAX_DEGREE
        node = Node(op, first, second, 0, axes, degree)
        self.operands.append(Operand(self._number(node), False))

    def _fault(self, fault: str) -> None:
        if fault not in self.faults:
            self.faults.append(fault)

    def _number(self, node: Node) -> int:
        """Return the number of a node; equal nodes share the first one's number."""
        key = node[:-1]
        number = self.numbers.get(key)
        if number is None:
            number = len(self.nodes)
            self.numbers[key] = number
            self.nodes.append(node)
        return number
