"""Pipe loops: lay straight pipes of 1 m as one closed loop on the floor of a square room.

An example of an answer, for 4 pipes and a room with a side of 1 m or more:

    {"points": [{"x": 0, "y": 0}, {"x": 1, "y": 0}, {"x": 1, "y": 1}, {"x": 0, "y": 1}]}

Fresh rooms have constraints that a known loop satisfies.
"""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.base.wording import counted
from scbench.builders.pipe_loop_fitting import solver
from scbench.builders.pipe_loop_fitting.constraints import (
    constraint_texts,
    draw_constraints,
)
from scbench.builders.pipe_loop_fitting.generic_loops import (
    generic_loops,
    moved_to_start,
)
from scbench.builders.pipe_loop_fitting.rivals import has_rival, rivals_of
from scbench.builders.pipe_loop_fitting.stars import Joints
from scbench.builders.pipe_loop_fitting.wrong_loops import pipes_of, wrong_loops
from scbench.builders.shared.builder import Builder, Point, parameter, under
from scbench.schemas.pipe_loop_fitting import Answer, Params

# Number of rules in the prompt before those of a room.
_COMMON_RULES = 7
# Maximum number of sets of constraints drawn for one loop if no rival may satisfy them.
_CONSTRAINT_DRAWS = 20
# Maximum number of characters in a line of the prompt.
_WIDTH = 100


class Space(Point):
    """Parameters of fresh rooms."""

    pipes: int = parameter(
        36,
        "number of pipes; loops with an odd number are not on the square lattice",
        ge=3,
        le=1_000,
    )
    vary: int = parameter(
        0, "maximum number of pairs of pipes that are added at random", ge=0, le=20
    )
    side: int = parameter(
        7,
        "side of the room in metres; the item is easy if pipes / (side + 1) ** 2 is 0.2, and "
        "tight if it is 0.8",
        ge=1,
        le=60,
    )
    crossings: int = parameter(0, "number of times the loop crosses itself", ge=0, le=4)
    constraints: int = parameter(
        2,
        "number of extra constraints; with 0, all rooms of the same size are identical",
        ge=0,
        le=4,
    )
    strictness: float = parameter(
        0.7,
        "how close the constraints are to the strictest that a known loop satisfies",
        ge=0.0,
        le=1.0,
    )
    length_tolerance: float = parameter(
        0.05,
        "how much longer or shorter than 1 m a pipe may be, in metres",
        ge=0.001,
        le=0.1,
    )
    generic: bool = parameter(
        True,
        "whether a ring or comb made for another room may be a right answer",
        later=True,
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Rooms for which a loop is known to exist."""

    task = "pipe_loop_fitting"
    version = 5
    draws = 4
    form = '{"points": [{"x": 0.0, "y": 0.0}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the room and the constraints, in full and in brief."""
        n = params.pipes
        rule = "The loop does not cross itself."
        brief_rule = "The loop does not cross or touch itself."
        if params.crossings:
            times = "once" if params.crossings == 1 else f"{params.crossings} times"
            rule = f"The loop crosses itself exactly {times}."
            brief_rule = rule
        texts = [constraint_texts(c, params.side) for c in params.constraints]
        constraints = ""
        if texts:
            rules = [
                fill(f"{i}. {text.full}", _WIDTH, subsequent_indent="   ")
                for i, text in enumerate(texts, _COMMON_RULES + 1)
            ]
            constraints = "\n".join(["", "RULES OF THIS ROOM", *rules, ""])
        return {
            "n": n,
            "last": n - 1,
            "side": params.side,
            "tolerance": params.length_tolerance,
            "crossings": rule,
            "constraints": constraints,
            "brief": "".join(f" {text.brief}" for text in texts),
            "times": brief_rule,
        }

    def reference(self, params: Params) -> Answer:
        """Search families of loops for one that follows every rule."""
        loop = solver.solve(params)
        if loop is None:
            raise GenerationError(
                f"no loop of {params.pipes} pipes found for this room"
            )
        return solver.to_answer(loop)

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return mistakes of models, and answers that older graders accepted."""
        joints = [(joint.x, joint.y) for joint in self.reference(params).points]
        n = params.pipes
        beyond = params.side + 1
        first, *tail = joints
        joints_and_middles: list[tuple[float, float]] = []
        for (x, y), (u, v) in pipes_of(joints):
            joints_and_middles += [(x, y), ((x + u) / 2, (y + v) / 2)]
        wrong: dict[str, Sequence[tuple[JsonValue, JsonValue]]] = {
            "empty": [],
            "not_a_number": [("NaN", "NaN")] * n,
            "infinite": [("Infinity", "-Infinity")] * n,
            "strings": [(str(x), str(y)) for x, y in joints],
            "booleans": [(False, True)] * n,
            "nulls": [(None, None), *tail],
            "start_repeated": [*joints, first],
            "one_missing": joints[:-1],
            "every_pipe_cut_in_two": joints_and_middles,
            "joint_used_twice": [*joints[:-1], joints[1]],
            "all_in_one_place": [first] * n,
            "pipes_too_long": [(1.2 * x, 1.2 * y) for x, y in joints],
            "pipes_too_short": [(0.8 * x, 0.8 * y) for x, y in joints],
            "outside": [(x + beyond, y) for x, y in joints],
            "below_zero": [(x, y - beyond) for x, y in joints],
            "far_away": [(x + 1e300, y) for x, y in joints],
        }
        answers = as_answers(wrong.items())
        answers["no_points"] = {}
        answers["pairs"] = {"points": [[x, y] for x, y in joints]}
        polyline = " ".join(f"{x},{y}" for x, y in joints)
        answers["polyline_as_text"] = {"points": polyline}
        return answers | as_answers(wrong_loops(params, joints))

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return rings, zig-zag rings and combs that begin at the required start."""
        return as_answers(generic_loops(params))

    def carried_over(
        self,
        answer: Answer,
        params: Params,  # noqa: ARG002
        onto: Params,
    ) -> JsonValue:
        """Return the loop, moved to the required start of the other room."""
        joints = tuple((joint.x, joint.y) for joint in answer.points)
        (points,) = as_answers([("moved", moved_to_start(joints, onto))]).values()
        return points

    def measure(self, params: Params) -> float:
        """Return pipes times crowding times rules: every pipe must fit the others and every rule.

        Crowding is the number of pipes per node of the square lattice in the room.
        """
        crowding = params.pipes / (params.side + 1) ** 2
        work = params.pipes * crowding * (1 + len(params.constraints))
        return work * (1 + params.crossings)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Choose a loop, then draw constraints that it satisfies."""
        pipes = point.pipes + 2 * rng.below(point.vary + 1)
        names = {"side", "length_tolerance", "crossings"}
        bare = Params(pipes=pipes, **point.model_dump(include=names), constraints=())
        families = families_of(point)
        rng.shuffle(families)
        rivals: tuple[Joints, ...] = ()
        # The solver finds this loop without constraints, so it would be too easy to find.
        plain: Joints | None = None
        if not point.generic:
            rivals = tuple(rivals_of(bare))
            plain = solver.solve(bare)
        for family in families:
            candidates = list(solver.loops(family, pipes, point.side, point.crossings))
            rng.shuffle(candidates)
            for loop in candidates:
                if loop == plain or not solver.is_accepted(bare, loop):
                    continue
                # If a rival satisfies these constraints, others for the same loop may exclude it.
                for _ in range(1 if point.generic else _CONSTRAINT_DRAWS):
                    constraints = draw_constraints(
                        loop, point.side, point.constraints, point.strictness, rng
                    )
                    if constraints is None:
                        break
                    params = bare.model_copy(update={"constraints": constraints})
                    if not has_rival(params, loop, rivals):
                        return params
        raise GenerationError(
            f"found no loop of {pipes} pipes with {counted(point.crossings, 'crossing')} and "
            f"{counted(point.constraints, 'constraint')} in a room with a side of {point.side} m; "
            "ask for another number of pipes, a larger side or fewer constraints"
        )


def families_of(point: Space) -> list[str]:
    """Return the families that a loop may come from."""
    # Stars of nearly the same radius satisfy the same constraints.
    if point.crossings:
        return ["crossed stars" if point.generic else "fingers"]
    if point.generic:
        return list(solver.FAMILIES)
    return [family for family in solver.FAMILIES if family != "stars"]


def as_answers(
    loops: Iterable[tuple[str, Sequence[tuple[JsonValue, JsonValue]]]],
) -> dict[str, JsonValue]:
    """Return named lists of joints as answers."""
    points = {name: [{"x": x, "y": y} for x, y in joints] for name, joints in loops}
    return under("points", points)
