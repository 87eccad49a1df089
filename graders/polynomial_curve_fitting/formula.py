"""Reads the text of one polynomial function f(x, y) without ever running it.

The language is the part of Python that polynomials need, with Python's precedence and layout. It is
read by a parser of its own: no nesting, length or character can exhaust or upset it, and it is the
same under every Python version.
"""

import re
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple

MAX_CHARACTERS = 400_000
MAX_BRACKETS = 150
MAX_EXPONENT = 512
MAX_DEGREE = 1_024
# Characters of one number.
MAX_NUMBER = 400
# What stands after e or E in a number, without its sign.
MAX_SCALE = 308
X_AXIS, Y_AXIS = 1, 2
_AXES = {"x": X_AXIS, "y": Y_AXIS}
_WORDS = frozenset({"def", "return", "f", "x", "y"})
_TOKEN = re.compile(
    r"(?P<space>[ \t\f]++)|(?P<newline>\n)"
    r"|(?P<number>(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)"
    r"|(?P<word>[A-Za-z_][A-Za-z_0-9]*+)|(?P<sign>\*\*|/(?!/)|[-+*(),:])|(?P<other>//|.)",
    re.DOTALL,
)
_HEAD = re.compile(
    r"def[ \t\f]++f[ \t\f]*+\([ \t\f\n]*+x[ \t\f\n]*+,[ \t\f\n]*+y[ \t\f\n]*+(?:,[ \t\f\n]*+)?\)"
    r"[ \t\f]*+:(?:[ \t\f\n]*\n[ \t\f]+|[ \t\f]*)return(?!\w)"
)
_OLD_OCTAL = re.compile(r"0+[1-9][0-9]*")


# A sign before an operand binds closer than * and less close than **.
_SIGN_RANK = 3


class Op(IntEnum):
    """What a node of a formula does with the values of its one or two children."""

    CONSTANT = 0
    NAME = 1
    NEGATE = 2
    ADD = 3
    SUBTRACT = 4
    MULTIPLY = 5
    DIVIDE = 6
    POWER = 7


class Node(NamedTuple):
    """One step of a formula.

    ``first`` and ``second`` are numbers of earlier nodes; a constant has its value in ``value``, a
    power its exponent in ``second``, a name its axis in ``axes``.
    """

    op: Op
    first: int
    second: int
    value: int | Fraction
    axes: int
    degree: int


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as steps, each after those it needs and none twice; the last gives the result.

    ``faults`` says why it is not a polynomial of permitted degree, if it is not.
    """

    nodes: list[Node]
    faults: list[str]

    @property
    def axes(self) -> int:
        """Which of x (1) and y (2) occur."""
        return self.nodes[-1].axes


class FormulaError(Exception):
    """The text is not one function f(x, y) with one return."""


def plain_lines(text: str) -> str:
    """Return text with every line break as one character, and those after a backslash as blanks.

    The functions below take such text.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\\\n", "  ")


def foreign_tokens(text: str) -> list[tuple[int, str]]:
    """Return what does not belong in the text of a polynomial, as position and what it is."""
    foreign = []
    for match in _TOKEN.finditer(text):
        piece = match.group()
        kind = match.lastgroup
        if kind == "other" or (kind == "word" and piece not in _WORDS):
            foreign.append((match.start(), repr(piece[:40])))
        elif kind == "number" and (why := _bad_number(piece)):
            foreign.append((match.start(), why))
    return foreign


def bracket_depth(text: str) -> int:
    """Return how deep round brackets are nested."""
    depth = deepest = 0
    for match in re.finditer(r"[()]", text):
        depth += 1 if match.group() == "(" else -1
        deepest = max(deepest, depth)
    return deepest


def parse(text: str) -> Formula:
    """Read a text in which `foreign_tokens` found nothing.

    Raises:
        FormulaError: the text does not have the form of one function with one return.
    """
    head = _HEAD.match(text)
    if head is None:
        raise FormulaError(
            "The text does not begin with 'def f(x, y):' and, indented if on a line of its own, "
            "'return'."
        )
    reader = _Reader()
    depth = 0
    ended = False
    for match in _TOKEN.finditer(text, head.end()):
        kind, piece, at = match.lastgroup, match[0], match.start()
        if kind == "space":
            continue
        if kind == "newline":
            ended = ended or depth == 0
            continue
        if ended:
            raise FormulaError(
                f"There is more text after the return line, at character {at}."
            )
        if piece == "(":
            depth += 1
        elif piece == ")":
            depth -= 1
        reader.take(kind, piece, at)
    return reader.finish()


def _bad_number(piece: str) -> str:
    if len(piece) > MAX_NUMBER:
        return f"a number of {len(piece)} characters"
    if _OLD_OCTAL.fullmatch(piece):
        return f"the whole number {piece[:40]} with a leading zero"
    if abs(int(piece.lower().partition("e")[2] or 0)) > MAX_SCALE:
        return f"the number {piece[:40]}, whose exponent is beyond {MAX_SCALE}"
    return ""


_BINARY = {
    "+": (1, Op.ADD),
    "-": (1, Op.SUBTRACT),
    "*": (2, Op.MULTIPLY),
    "/": (2, Op.DIVIDE),
    "**": (4, Op.POWER),
}


@dataclass(slots=True)
class _Reader:
    """Operator-precedence parsing with stacks of its own; equal steps are kept once."""

    nodes: list[Node] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    numbers: dict[tuple[object, ...], int] = field(default_factory=dict)
    leaves: dict[str, tuple[int, bool]] = field(default_factory=dict)
    """Operands by the text they were read from."""
    operands: list[tuple[int, bool]] = field(default_factory=list)
    """Numbers of nodes, and whether each is a plain whole number as it stands."""
    pending: list[tuple[int, str]] = field(default_factory=list)
    """Rank and text of operators still to be applied; rank 0 is an open bracket, 3 a sign."""
    wants_operand: bool = True

    def take(self, kind: str | None, piece: str, at: int) -> None:
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
            self.pending.append((0, piece))
        elif piece == ")":
            if self.wants_operand:
                raise FormulaError(
                    f"An operand is missing before the bracket at character {at}."
                )
            self._apply(above=0)
            if not self.pending:
                raise FormulaError(
                    f"The bracket closed at character {at} was never opened."
                )
            self.pending.pop()
        elif piece not in _BINARY:
            raise FormulaError(
                f"{piece!r} at character {at} does not belong in the formula."
            )
        elif not self.wants_operand:
            rank, op = _BINARY[piece]
            self._apply(above=rank - 1 if op is not Op.POWER else rank)
            self.pending.append((rank, piece))
            self.wants_operand = True
        elif piece in {"+", "-"}:
            self.pending.append((_SIGN_RANK, piece))
        else:
            raise FormulaError(
                f"An operand is missing before {piece!r}, character {at}."
            )

    def finish(self) -> Formula:
        if self.wants_operand:
            raise FormulaError("The formula ends where a number, x or y is expected.")
        self._apply(above=0)
        if self.pending:
            raise FormulaError("A bracket is opened but not closed.")
        return Formula(self.nodes, self.faults)

    def _apply(self, above: int) -> None:
        while self.pending and self.pending[-1][0] > above:
            rank, piece = self.pending.pop()
            if rank == _SIGN_RANK:
                child, _ = self.operands.pop()
                if piece == "-":
                    node = self.nodes[child]
                    child = self._node(Op.NEGATE, child, 0, 0, node.axes, node.degree)
                self.operands.append((child, False))
            else:
                self._push_binary(_BINARY[piece][1])

    def _push_leaf(self, piece: str) -> None:
        leaf = self.leaves.get(piece)
        if leaf is None:
            if piece in _AXES:
                leaf = self._node(Op.NAME, 0, 0, 0, _AXES[piece], 1), False
            else:
                value = int(piece) if piece.isdigit() else Fraction(piece)
                leaf = self._node(Op.CONSTANT, 0, 0, value, 0, 0), piece.isdigit()
            self.leaves[piece] = leaf
        self.operands.append(leaf)

    def _push_binary(self, op: Op) -> None:
        second, plain = self.operands.pop()
        first, _ = self.operands.pop()
        a, b = self.nodes[first], self.nodes[second]
        axes, degree = a.axes | b.axes, max(a.degree, b.degree)
        if op is Op.MULTIPLY:
            degree = a.degree + b.degree
        elif op is Op.DIVIDE:
            degree = a.degree
            if b.axes:
                self._fault("a divisor contains x or y")
        elif op is Op.POWER:
            exponent = int(b.value) if plain and b.value <= MAX_EXPONENT else 0
            if not plain or b.value > MAX_EXPONENT:
                self._fault(
                    f"an exponent is not a plain whole number from 0 to {MAX_EXPONENT}"
                )
            axes, degree, second = a.axes, a.degree * exponent, exponent
        if degree > MAX_DEGREE:
            self._fault(f"the degree is above {MAX_DEGREE}")
            degree = MAX_DEGREE
        self.operands.append((self._node(op, first, second, 0, axes, degree), False))

    def _fault(self, fault: str) -> None:
        if fault not in self.faults:
            self.faults.append(fault)

    def _node(
        self,
        op: Op,
        first: int,
        second: int,
        value: int | Fraction,
        axes: int,
        degree: int,
    ) -> int:
        key = (op, first, second, value, axes)
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.nodes)
            self.nodes.append(Node(op, first, second, value, axes, degree))
        return number
